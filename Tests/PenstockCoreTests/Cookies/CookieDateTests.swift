import Foundation
import Testing

@testable import PenstockCore

@Suite struct CookieDateTests {
    /// 1994-11-06 08:49:37 in as many ways as servers have found.
    static let oneMoment = [
        // The forms of HTTP.
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        // Between them.
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 6-Nov-1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994 GMT", "Sun Nov 6 1994 08:49:37 GMT",
        "Sun,06-Nov-94 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT",
        // The name of the day is wrong, strange or missing, and so is the zone.
        "Mon, 06 Nov 1994 08:49:37 GMT", "Payday  , 06-Nov-94 08:49:37", ", 06-Nov-1994 08:49:37 GMT",
        "06-Nov-1994 08:49:37 GMT", " 06 Nov 1994 08:49:37 ", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 -0500", "Sun, 06 Nov 1994 08:49:37 GMT+0200 (CEST)",
        "Sun Nov 06 1994 08:49:37 GMT-0800 (PST)", "Sun, 06 Nov 1994 08:49:37 (local)",
        // Names of months are known by three letters, in any case.
        "6 November 1994 08:49:37", "6 nove 94 08:49:37", "6-NOVEMBRE-1994 08:49:37", "06 nOv 1994 08:49:37",
        // Any order.
        "08:49:37 Sun Nov 6 1994 GMT", "Sun 08:49:37 Nov 6 1994", "Sun Nov 08:49:37 6 1994", "1994 November 6 08:49:37",
        "6 94 Nov 08:49:37", "Nov 6 94 08:49:37", "06-Sun, Nov 08:49:37 GMT 94", "Nov 6 08:49:37 94",
        // Any delimiter.
        "Sun, 06/Nov\\1994 08:49:37", "\"Sun, 06-Nov-94\\\"08:49:37\\\"GMT\"", "06_Nov_1994_08:49:37",
        "06.Nov.94@08:49:37",
        "{06}[Nov]<1994>?08:49:37", "06\tNov\t1994\t08:49:37", "6 - Nov - 94, 08:49:37",
        // Numbers of one digit, and numbers with something behind them.
        "Sun, 6 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37GMT", "Sun, 06th Nov 1994 08:49:37",
        "6: Nov 1994 08:49:37", "6Sun Nov 1994AD 08:49:37", "06 Nov 1994 08:49:37.123Z", "06 Nov 1994 8:49:37pm",
        "06 Nov 1994 08:49:37:00",
        // The first that fits is taken.
        "Sun, 06 Nov 1994 08:49:37 12:00:00", "Sun, 06 Nov 1994 ::00 08:49:37", "Sun, 06 Nov 1994 at:noon 08:49:37",
        "06 Nov 1994 08:49:37 07 Dec 1995", "06 Nov 1994 00:00 08:49:37",
    ]

    @Test(arguments: oneMoment) func `one moment is read in all its forms`(text: String) {
        #expect(CookieDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    static let others: [(String, TimeInterval)] = [
        ("Thu, 01-Jan-1970 00:00:00 GMT", 0), ("Thu, 01-Jan-70 00:00:00 GMT", 0), ("Thu, 1 Jan 1970 0:0:0 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:1 GMT", 1), ("Wed, 31-Dec-69 23:59:59 GMT", 3_155_759_999),
        ("01 Jan 00 00:00:00", 946_684_800), ("01 Jan 99 00:00:00", 915_148_800),
        ("01 Jan 1601 00:00:00", -11_644_473_600),
        ("29 Feb 2000 00:00:00", 951_782_400), ("29 Feb 2024 12:00:00", 1_709_208_000),
        ("31 Dec 9999 23:59:59", 253_402_300_799), ("Wed, 09 Jun 2027 10:18:14 GMT", 1_812_536_294),
        // The second number is the year, whatever comes later.
        ("01 02 Jan 2003 00:00:00", 1_009_843_200), ("06 00:00 Nov 1994 08:49:37", 973_500_577),
    ]

    @Test(arguments: others) func `years, days and edges are read by the rule`(text: String, seconds: TimeInterval) {
        #expect(CookieDate.parse(text)?.timeIntervalSince1970 == seconds)
    }

    static let refused = [
        "", " ", "0", "-1", "never", "session", "tomorrow 08:49:37", "784111777", ",,,,", ": : : :", "::",
        // One of the four is missing.
        "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "Sun Nov 08:49:37",
        // No time: seconds are missing, or a part is too long, or broken up.
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49: GMT", "Sun, 06 Nov 1994 08: 49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 008:49:37 GMT", "Sun, 06 Nov 1994 :08:49:37 GMT",
        "Sun, 06 Nov 1994 08::49:37 GMT", "Sun, 06 Nov 1994 :49:37 GMT",
        "Sun, 06 Nov 1994 08:049:37 GMT",
        "Sun, 06 Nov 1994 08:49:037 GMT", "Sun, 06 Nov 1994 8h:49:37 GMT", "Sun, 06 Nov 1994 08:4x:37 GMT",
        "Sun, 06 Nov 1994 +:49:37 GMT",
        // What looks like a day comes before it.
        "00:00 06 Nov 1994 08:49:37",
        // Not on the clock; the first time counts, also when it is none.
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
        "Sun, 06 Nov 1994 91:22:33 08:49:37",
        // Not in the calendar.
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "29 Feb 2023 00:00:00", "29 Feb 1900 00:00:00", "98 Nov 17 08:49:37",
        // Numbers that are too long or too short, or out of range.
        "Sun, 006 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 4 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
        "Sun, 06 Nov 9999999999 08:49:37 GMT", "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1600 08:49:37 GMT", "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 100 08:49:37 GMT",
        // No month.
        "Sun, 06 No 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 11 1994 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sun, 06 Ño\u{301}v 1994 08:49:37 GMT",
    ]

    @Test(arguments: refused) func `what lacks a part, or is on no calendar, is no date`(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test func `words end at every byte of ASCII but digits, letters, colons and control characters, and at a tab`() {
        for byte in UInt8(0)..<128 {
            let text = ["06", "Nov", "1994", "08:49:37"].joined(separator: String(UnicodeScalar(byte)))
            let isDelimiter: Bool =
                switch UnicodeScalar(byte) {
                case "0"..."9", "A"..."Z", "a"..."z", ":", "\u{7F}": false
                case "\t": true
                default: byte >= 0x20
                }
            #expect((CookieDate.parse(text) != nil) == isDelimiter, "\(byte)")
        }
    }

    @Test func `every month is known`() {
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let starts = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        for (name, start) in zip(names, starts) {
            #expect(CookieDate.parse("1 \(name) 1970 00:00:00")?.timeIntervalSince1970 == TimeInterval(start * 86_400))
        }
    }
}
