import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sunday, 6 November 1994, 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func delay(_ value: String) -> Duration? { RetryAfter.delay(value, at: Self.now) }

    @Test("A whole number is seconds, and no number is more than a day")
    func seconds() {
        #expect(delay("0") == .zero)
        #expect(delay("1") == .seconds(1))
        #expect(delay("120") == .seconds(120))
        #expect(delay(" 7\t") == .seconds(7))
        #expect(delay("007") == .seconds(7))
        #expect(delay("86399") == .seconds(86_399))
        #expect(delay("86400") == .seconds(86_400))
        #expect(delay("86401") == .seconds(86_400))
        #expect(delay("1000000000") == .seconds(86_400))
        #expect(delay("9223372036854775807") == .seconds(86_400))
        #expect(delay("9223372036854775808") == .seconds(86_400))
        #expect(delay(String(repeating: "9", count: 10_000)) == .seconds(86_400))
    }

    @Test("Each of HTTP's three dates is a wait until then, and one of the past is none")
    func dates() {
        for text in [
            "Sun, 06 Nov 1994 08:49:47 GMT", "Sunday, 06-Nov-94 08:49:47 GMT", "Sun Nov  6 08:49:47 1994",
        ] { #expect(delay(text) == .seconds(10), "\(text)") }
        #expect(delay("Sun, 06 Nov 1994 08:49:38 GMT") == .seconds(1))
        #expect(delay("Sun, 06 Nov 1994 08:49:37 GMT") == .zero)
        #expect(delay("Sun, 06 Nov 1994 08:49:36 GMT") == .zero)
        #expect(delay("Thu, 01 Jan 1970 00:00:00 GMT") == .zero)
        #expect(delay("Mon, 07 Nov 1994 08:49:36 GMT") == .seconds(86_399))
        #expect(delay("Mon, 07 Nov 1994 08:49:37 GMT") == .seconds(86_400))
        #expect(delay("Mon, 07 Nov 1994 08:49:38 GMT") == .seconds(86_400))
        #expect(delay("Fri, 31 Dec 9999 23:59:59 GMT") == .seconds(86_400))
    }

    @Test(
        "What is neither a number nor a date is as if it were not there",
        arguments: [
            "", " ", "-1", "+1", "1.5", "1e9", "0x10", "１", "soon", "1 s", "1,2", "1;q=1", "Sun, 06 Nov 1994", "NaN",
            "inf",
            "Sun, 06 Nov 1994 08:49:47 CET", "1994-11-06T08:49:47Z", "\u{0}", "😀",
        ])
    func garbage(_ text: String) {
        #expect(delay(text) == nil)
    }

    @Test("A date is compared with the server's own clock, where it tells it", .covers("S0.10"))
    func serverClock() {
        let hint = "Sun, 06 Nov 1994 08:49:47 GMT"
        // The server's clock is an hour behind the client's, or ahead of it.
        for (date, wait) in [
            ("Sun, 06 Nov 1994 08:49:40 GMT", Duration.seconds(7)), ("Sun, 06 Nov 1994 07:49:47 GMT", .seconds(3_600)),
            ("Sun, 06 Nov 1994 09:49:47 GMT", .zero), ("garbage", .seconds(10)),
        ] {
            #expect(RetryAfter.delay(in: ["Retry-After": hint, "Date": date], at: Self.now) == wait)
        }
        #expect(RetryAfter.delay(in: ["Retry-After": hint], at: Self.now) == .seconds(10))
        #expect(RetryAfter.delay(in: ["Retry-After": "5", "Date": "garbage"], at: Self.now) == .seconds(5))
        #expect(RetryAfter.delay(in: ["Date": hint], at: Self.now) == nil)
    }
}
