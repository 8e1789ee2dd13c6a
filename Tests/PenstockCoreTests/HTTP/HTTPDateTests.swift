import Foundation
import PenstockCore
import Testing

@Suite struct HTTPDateTests {
    static let dates: [(String, TimeInterval?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 3_155_760_000),
        ("Tuesday, 31-Dec-69 23:59:59 GMT", 3_155_759_999),
        ("Sun, 06 NOV 1994 08:49:37 GMT", 784_111_777),
        ("Thu, 29 Feb 2023 00:00:00 GMT", nil),
        ("Thu, 29 Feb 1900 00:00:00 GMT", nil),
        ("Sun, 31 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
        ("Sun, 06 Nov 1994 08:60:00 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:61 GMT", nil),
        ("Sun, 06 Nov 1994 08:49 GMT", nil),
        ("Sun, 06 Nov 1600 08:49:37 GMT", nil),
        ("Sun, 06 Nov 994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 19940 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 8:-9:37 GMT", nil),
        ("Sun, +6 Nov 1994 08:49:37 GMT", nil),
        ("Tue, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
        ("Sun Nov 06 08:49:37 1994", 784_111_777),
        ("Tuesday, 31-Dec-76 23:59:59 GMT", 220_924_799),
        ("Sun, 06 Nov 1994 08:49:37 UTC", nil),
        ("Sun, 06 Nov 1994 08:49:37 +0000", nil),
        ("Sun, 06 Nov 1994 08:49:37", nil),
        ("Sun, 06 Nov 94 08:49:37 GMT", nil),
        ("Sun, 06-Nov-1994 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-1994 08:49:37 GMT", nil),
        ("Sun, 06-Nov-94 08:49:37 GMT", nil),
        ("Sunday, 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 8:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08.49.37 GMT", nil),
        ("Day, 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun Nov  6 08:49:37 1994 GMT", nil),
        // Spacing to the letter.
        ("Sun,  06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06  Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994  08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37  GMT", nil),
        ("Sun,06 Nov 1994 08:49:37 GMT", nil),
        (" Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37 GMT ", nil),
        ("Sun, 06 Nov 1994\t08:49:37 GMT", nil),
        ("sun,  06 nov 1994 08:49:37 gmt", nil),
        ("Sunday,  06-Nov-94 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-94  08:49:37 GMT", nil),
        ("Sunday, 06-Nov-94 08:49:37 GMT ", nil),
        ("Sunday, 6-Nov-94 08:49:37 GMT", nil),
        ("Sun Nov 6 08:49:37 1994", nil),
        ("Sun Nov  06 08:49:37 1994", nil),
        ("Sun Nov   6 08:49:37 1994", nil),
        ("Sun  Nov 06 08:49:37 1994", nil),
        ("Sun Nov  6  08:49:37 1994", nil),
        ("Sun Nov 16 08:49:37 1994", 784_975_777),
        // The preferred form with another character in each place in turn.
        ("Sun. 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06!Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov!1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994!08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08;49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49;37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37!GMT", nil),
        ("Sun, 0: Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:3: GMT", nil),
        ("Sun, 0/ Nov 1994 08:49:37 GMT", nil),
        ("\0\0n\0 06 \0\0v 1994 08:49:37\0\0\0T", nil),
        ("\0\0\0\0\006 \0\0\0 1994 08:49:37\0\0\0\0", nil),
        // The first year that is read.
        ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
        ("mon, 01 jan 1601 00:00:00 gmt", -11_644_473_600),
        ("Sun, 31 Dec 1600 23:59:59 GMT", nil),
        ("sun, 31 dec 1600 23:59:59 gmt", nil),
        // Two digits each.
        ("Sun Nov  6 8:049:37 1994", nil),
        ("Sunday, 06-Nov-94 08:4:937 GMT", nil),
        ("Sunday, 06-Nov-94 008:9:37 GMT", nil),
        ("sun, 06 nov 1994 08:49:3: gmt", nil),
        // Each place of the preferred form has the one character that the grammar has there.
        ("Sun. 06 Nov 1994 08:49:37 GMT", nil),
        ("Sun,-06 Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06-Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06!Nov 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov-1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov!1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994-08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994!08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08.49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08;49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49.37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49;37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37-GMT", nil),
        ("Sun, 0: Nov 1994 08:49:37 GMT", nil),
        ("Sun, 0/ Nov 1994 08:49:37 GMT", nil),
        // The first and the last of the calendar and of the clock, in the preferred form and in lower case.
        ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
        ("mon, 01 jan 1601 00:00:00 gmt", -11_644_473_600),
        ("sun, 31 dec 1600 23:59:59 gmt", nil),
        ("Sun, 06 Nov 1994 23:59:60 GMT", 784_166_400),
        ("sun, 06 nov 1994 23:59:60 gmt", 784_166_400),
        ("Fri, 31 Dec 1993 00:00:00 GMT", 757_296_000),
        ("fri, 31 dec 1993 00:00:00 gmt", 757_296_000),
        ("Sun\0, 6 Nov 1994 08:49:37 GMT", nil),
        // Only what each form has: the name of a day, its parts, and GMT where it stands.
        ("Sun Nov x 6 08:49:37 1994", nil),
        ("Day Nov  6 08:49:37 1994", nil),
        ("Day Nov 06 08:49:37 1994", nil),
        ("Sun, Nov 06 08:49:37 1994", nil),
        ("Day, 06-Nov-94 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-94 08:49:37 UTC", nil),
        ("Sunday 06-Nov-94 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-94-x 08:49:37 GMT", nil),
        ("Sunday, 06--Nov-94 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-9x 08:49:37 GMT", nil),
        ("Sunday, 06-Nov-+4 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:3 GMT", nil),
        ("sun, 06 nov 1994 08:49:3 gmt", nil),
        ("sun, 06 nov 1994 08:4x:37 gmt", nil),
        ("sun, 06 nov 1994 +8:49:37 gmt", nil),
        ("sun, +6 nov 1994 08:49:37 gmt", nil),
        ("sun, 06 nov +994 08:49:37 gmt", nil),
        ("sun, 0: nov 1994 08:49:37 gmt", nil),
        ("sun, 06 nov 1994 24:00:00 gmt", nil),
        ("sun, 06 nov 1994 23:60:00 gmt", nil),
        ("sun, 06 nov 1994 23:59:61 gmt", nil),
        ("784111777", nil),
        ("0", nil),
        ("", nil),
        (",,,,,", nil),
        (": : : : : :", nil),
    ]

    /// Fri, 06 Feb 2026 13:46:40 GMT.
    static let now = Date(timeIntervalSince1970: 1_770_385_600)

    @Test(arguments: dates) func `three forms are read, and nothing else`(text: String, seconds: TimeInterval?) {
        #expect(HTTPDate.parse(text, at: Self.now)?.timeIntervalSince1970 == seconds)
    }

    /// On 2026-02-06 at 13:46:40, and at the beginning of 2060.
    static let centuries: [(String, TimeInterval, TimeInterval)] = [
        ("Thursday, 06-Feb-76 16:46:40 GMT", 1_770_385_600, 3_348_233_200),
        ("Thursday, 06-Feb-76 16:46:41 GMT", 1_770_385_600, 192_473_201),
        ("Thursday, 01-Jan-05 00:00:00 GMT", 2_840_140_800, 4_260_211_200),
        ("Wednesday, 01-Jan-10 00:00:00 GMT", 2_840_140_800, 4_417_977_600),
    ]

    @Test(arguments: centuries) func `a year of two digits is at most 50 years ahead`(
        text: String, now: TimeInterval, seconds: TimeInterval
    ) {
        let date = HTTPDate.parse(text, at: Date(timeIntervalSince1970: now))
        #expect(date?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        (784_111_777.0, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_399.9, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (86_400, "Fri, 02 Jan 1970 00:00:00 GMT"),
        (36_000, "Thu, 01 Jan 1970 10:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"), (-1e300, "Mon, 01 Jan 0001 00:00:00 GMT"),
        (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"), (-62_135_596_799, "Mon, 01 Jan 0001 00:00:01 GMT"),
        (-11_644_473_600, "Mon, 01 Jan 1601 00:00:00 GMT"),
    ]) func `the preferred form is written`(seconds: TimeInterval, text: String) {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func `what is written is read again`() {
        for day in stride(from: -130_000, to: 200_000, by: 37) {
            let date = Date(timeIntervalSince1970: TimeInterval(day) * 86_400 + 4_321)
            #expect(HTTPDate.parse(HTTPDate.format(date), at: Self.now) == date)
        }
    }
}
