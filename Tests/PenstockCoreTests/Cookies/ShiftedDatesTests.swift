import Foundation
import Testing

@testable import PenstockCore

/// The fields of a recorded response, moved to another time.
@Suite struct ShiftedDatesTests {
    /// Field, value, and the value a day later.
    static let fields: [(HTTPFieldName, String, String)] = [
        ("Date", "Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"),
        ("Expires", "Sunday, 06-Nov-94 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"),
        ("Expires", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 02 Jan 1970 00:00:00 GMT"),
        ("Expires", "0", "0"), ("Expires", "-1", "-1"), ("Date", "yesterday", "yesterday"),
        ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"),
        ("Retry-After", "120", "120"), ("Age", "7", "7"),
        ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("X-Date", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        (
            "Set-Cookie", "a=1; Path=/; Expires=Sun, 06-Nov-1994 08:49:37 GMT; Secure",
            "a=1; Path=/; Expires=Mon, 07 Nov 1994 08:49:37 GMT; Secure"
        ),
        ("Set-Cookie", "a=b=c ;expires=06 Nov 94 08:49:37", "a=b=c ;expires=Mon, 07 Nov 1994 08:49:37 GMT"),
        (
            "Set-Cookie", "Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=60",
            "Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=60"
        ),
        ("Set-Cookie", "a=1; Expires=soon; Expires", "a=1; Expires=soon; Expires"),
        (
            "Set-Cookie", "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT, b=2; Path=/",
            "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT, b=2; Path=/"
        ), ("Set-Cookie", "‹redacted›", "‹redacted›"),
    ]

    @Test("Dates that count from now are moved, and what is none or names a version stays", arguments: fields)
    func moved(_ name: HTTPFieldName, _ value: String, _ later: String) throws {
        let recorded = Date(timeIntervalSince1970: 784_111_777)
        let fields = HTTPFields([HTTPField(name: name, value: value), HTTPField(name: name, value: value)])
        let expected = HTTPFields([HTTPField(name: name, value: later), HTTPField(name: name, value: later)])
        #expect(fields.shifted(by: 86_400, recorded: recorded) == expected)
    }

    @Test("However far a date is moved, it is one")
    func far() {
        let fields: HTTPFields = ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(fields.shifted(by: 1e300, recorded: Date())["Date"] == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(fields.shifted(by: -1e300, recorded: Date())["Date"] == "Mon, 01 Jan 0001 00:00:00 GMT")
        #expect(fields.shifted(by: -86_400, recorded: Date())["Date"] == "Sat, 05 Nov 1994 08:49:37 GMT")
    }
}
