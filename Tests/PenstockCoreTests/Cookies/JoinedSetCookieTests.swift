import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite struct JoinedSetCookieTests {
    /// What servers send in several lines; each list is joined as Foundation joins it, and must come apart again.
    static let lists: [[String]] = [
        ["a=1"],
        ["a=1", "b=2"],
        ["a=1; Path=/", "b=2; Path=/; HttpOnly", "c=3"],
        ["session=s3cret; Path=/; HttpOnly", "old=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/"],
        ["old=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/", "session=s3cret; Path=/; HttpOnly"],
        [
            "old=; Path=/; Expires=Thu, 01-Jan-1970 00:00:00 GMT", "session=s3cret",
            "b=2; expires=Wed, 09 Jun 2027 10:18:14 GMT",
        ],
        ["a=1; expires=Wednesday, 09-Jun-27 10:18:14 GMT", "b=2; EXPIRES = Wed Jun  9 10:18:14 2027", "c=3"],
        ["a=1; Expires=0", "b=2; Expires=never", "c=3; Expires=", "d=4"],
        ["a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT Path=/", "b=2"],
        ["a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "b c=2; Path=/", "d=3"],
        ["a=x,y", "b=x,y=z", "c=,", "d=1,2,3; Path=/a,b"],
        ["a=hello, world", "b=2"],
        ["a=one, two, three; Path=/", "b=2"],
        ["a=\"x, b=2\"; Path=/", "c=\"3\"", "d=\"4, 5\""],
        ["a=\"open", "b=2; Path=\"/"],
        ["a=\"open; Path=/", "b=\"2, c=3\""],
        ["last=Wed, 09 Jun 2027 10:18:14 GMT; Path=/", "b=2"],
        ["a=1; Secure", "flag; Path=/", "b=2; HttpOnly", "plain", "c=3; SameSite=Lax", "more", "d=4"],
        [
            "a=1; Max-Age=60", "flag", "b=2; Domain=a.example", "flag2", "c=3; Partitioned", "flag3",
            "d=; Priority=High", "flag4",
        ],
        ["a=1; Path=/x, y", "b=2"],
        ["a==1, 2", "b==", "c=3=4"],
        ["a[b]=1; Path=/", "a,b=2; Path=/"],
        ["é=ü, ß", "ñ1=2"].dropLast() + ["n=2"],
        ["$Version=1", "__Host-a=1; Secure; Path=/", "!#$%&'*+-.^_`|~=x"],
    ]

    @Test(arguments: lists) func `lines that were joined come apart as they were`(list: [String]) {
        #expect(JoinedSetCookie.split(list.joined(separator: ", ")) == list)
    }

    static let single: [(String, [String])] = [
        ("", []), (" ", []), (",", [","]), (", ", []), ("a=1, ", ["a=1"]), (", a=1", ["a=1"]),
        ("a=1, , b=2", ["a=1", "b=2"]),
        ("a=1,b=2", ["a=1,b=2"]), ("a=1,  b=2", ["a=1", "b=2"]), ("a=1 , b=2", ["a=1", "b=2"]),
        ("a=1, =2", ["a=1, =2"]), ("a=1, b c=2", ["a=1, b c=2"]), ("a=1; Path=/, b c=2", ["a=1; Path=/", "b c=2"]),
        ("a=1; Path=/, b", ["a=1; Path=/, b"]), ("a=1; x, b", ["a=1; x, b"]), ("a=1; x, b=2", ["a=1; x", "b=2"]),
        ("a=1; Expires=Wed, 09 Jun 2027", ["a=1; Expires=Wed, 09 Jun 2027"]),
        ("a=1; Expires=Wed, b=2", ["a=1; Expires=Wed", "b=2"]),
        ("a=1; Expires, b=2", ["a=1; Expires", "b=2"]), ("a=1; Expires, b", ["a=1; Expires, b"]),
        ("a=1; Expires", ["a=1; Expires"]), ("a=1; Secure,b", ["a=1; Secure,b"]), ("a=1; Secure,", ["a=1; Secure,"]),
    ]

    @Test(arguments: single) func `a comma ends a line only where another begins`(joined: String, lines: [String]) {
        #expect(JoinedSetCookie.split(joined) == lines)
    }

    @Test(arguments: [(100, true), (101, false)])
    func `a comma stands in a date as far as the longest date reaches`(bytes: Int, isOne: Bool) {
        // Counted from the equals sign of the attribute.
        let (before, date) = ("a=1; Expires=Wed", "09 Jun 2027 10:18:14 GMT p=")
        let rest = date + String(repeating: "x", count: bytes - "=Wed, ".utf8.count - date.utf8.count)
        let joined = "\(before), \(rest)"
        #expect(JoinedSetCookie.split(joined) == (isOne ? [joined] : [before, rest]))
    }

    @Test(arguments: [(30, true), (31, false)])
    func `an attribute is known as far as the longest name reaches`(bytes: Int, isKnown: Bool) {
        let attribute = " Secure".padding(toLength: bytes, withPad: " ", startingAt: 0)
        let joined = "a=1;\(attribute), flag"
        #expect(JoinedSetCookie.split(joined) == (isKnown ? ["a=1; Secure", "flag"] : [joined]))
    }

    /// Each pattern is one that a scan from every comma would take quadratic time for.
    @Test(
        .timeLimit(.minutes(5)), .covers("H33"),
        arguments: [
            "a=\"x, ", "a=\"x\", ", ", ", ",", "a, ", "=, ", "a=1; Expires=Wed, ", "; x, ", " , ", "\"", "a=\"\"\"",
        ])
    func `what is four times as long takes about four times as long`(pattern: String) {
        for prefix in ["", "a=1; Expires=", "a=1; n", "a=\""] {
            LinearWork.expect("lines joined", head: prefix, unit: pattern, limit: 0.5) {
                _ = JoinedSetCookie.split($0)
            }
        }
    }
}
