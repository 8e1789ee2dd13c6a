import Foundation
import PenstockCore

extension TransportConformance {
    /// The head of a response, line by line (RFC 9112 §4 and §5).
    public static let syntax: [Rule] = [goodHeads, badStatusLines, badFieldLines].flatMap(\.self)

    // MARK: What has a meaning

    private static let goodHeads: [Rule] = [
        .accepts("A status line may leave its reason out", "HTTP/1.1 200 \r\n\(two)"),
        .accepts(
            "A status line may leave the space before its reason out", "HTTP/1.1 200\r\n\(two)", requires: .exactHeads),
        .accepts("A reason may be any words", "HTTP/1.1 200 All: is well, HTTP/1.1 404\r\n\(two)"),
        .accepts("A reason may be of any bytes", "HTTP/1.1 200 žluť\r\n\(two)"),
        .accepts("A reply of HTTP/1.0 is read", "HTTP/1.0 200 OK\r\n\(two)", ending: .drop),
        .accepts(
            "Lines may end with LF alone", "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok", requires: .exactHeads
        ) {
            try expect($0.fields["X-A"], is: "1", "value")
        },
        .accepts("White space around a value is not part of it", "HTTP/1.1 200 OK\r\nX-A: \t a  b \t\r\n\(two)") {
            try expect($0.fields["X-A"], is: "a  b", "value")
        },
        .accepts("A value may follow its colon at once", "HTTP/1.1 200 OK\r\nX-A:b\r\n\(two)", requires: .exactHeads) {
            try expect($0.fields["X-A"], is: "b", "value")
        },
        .accepts("Names of fields are known in any case", "HTTP/1.1 200 OK\r\nx-a: 1\r\ncOnTeNt-LeNgTh: 2\r\n\r\nok") {
            try expect($0.fields["X-A"], is: "1", "value")
        },
        .accepts(
            "A value may hold colons, quotes and commas",
            "HTTP/1.1 200 OK\r\nX-A: \"a:b\", c=\"d;e\", http://x/?y\r\n\(two)"
        ) { try expect($0.fields["X-A"], is: "\"a:b\", c=\"d;e\", http://x/?y", "value") },
        .accepts("A value may hold UTF-8", "HTTP/1.1 200 OK\r\nX-A: žluť\r\n\(two)") {
            try expect($0.fields["X-A"], is: "žluť", "value")
        },
        .accepts("Every mark that a name may hold is read", "HTTP/1.1 200 OK\r\n!#$%&'*+-.^_`|~9: 1\r\n\(two)") {
            try expect($0.fields["!#$%&'*+-.^_`|~9"], is: "1", "value")
        },
        .accepts("A long value is read", "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "v", count: 60_000))\r\n\(two)") {
            try expect($0.fields["X-A"]?.utf8.count, is: 60_000, "length of the value")
        },
        .accepts("A value that is continued on the next line is one", "HTTP/1.1 200 OK\r\nX-A: a\r\n \t b\r\n\(two)") {
            try expect($0.fields["X-A"], is: "a b", "value")
        },
        Rule(
            "Bytes that are no UTF-8 are handed up one by one", requires: .exactHeads, needsWire: true,
            server: { _ in .raw(Data("HTTP/1.1 200 OK\r\nX-A: ".utf8) + [0xE9, 0xFF] + Data("\r\n\(two)".utf8)) }
        ) { probe in
            try expect(await probe.send().fields["X-A"], is: "éÿ", "value")
        },
        Rule(
            "Many cookies stay apart, and fields in their order", requires: .separateFieldLines, needsWire: true,
            server: { _ in
                let cookies = (0..<50).map { "Set-Cookie: c\($0)=a, b; Expires=Wed, 09 Jun 2027 10:18:14 GMT\r\n" }
                return .wire("HTTP/1.1 200 OK\r\nDate: d\r\n\(cookies.joined())Age: 1\r\n\(two)")
            }
        ) { probe in
            let fields = try await probe.send().fields
            try expect(fields.values(of: .setCookie).count, is: 50, "cookies")
            try expect(fields.values(of: .setCookie)[7].hasPrefix("c7=a, b;"), "the cookies are in another order")
            try expect(fields.map(\.name.text).first, is: "Date", "the first field")
            try expect(fields.map(\.name.text).suffix(2), is: ["Age", "Content-Length"], "the last fields")
        },
        Rule(
            "Any final status is handed up", needsWire: true,
            server: { .wire("HTTP/1.1 \($0.path.dropFirst()) X\r\n\(two)", .keepAlive) }
        ) { probe in
            for status in [200, 226, 299, 306, 399, 418, 451, 499, 511, 599, 600, 666, 999] {
                try expect(await probe.send(.get, "/\(status)").status, is: status, "status")
            }
        },
    ]

    // MARK: What has none

    private static let badStatusLines: [Rule] = [
        .refuses("A status of two digits is none", "HTTP/1.1 20 OK\r\n\(two)", requires: .exactHeads),
        .refuses("A status of four digits is none", "HTTP/1.1 2000 OK\r\n\(two)", requires: .exactHeads),
        .refuses("A status below 100 is none", "HTTP/1.1 099 OK\r\n\(two)", requires: .exactHeads),
        .refuses("A status of letters is none", "HTTP/1.1 2xx OK\r\n\(two)", requires: .exactHeads),
        .refuses("A negative status is none", "HTTP/1.1 -20 OK\r\n\(two)", requires: .exactHeads),
        .refuses("A status line needs its status", "HTTP/1.1\r\n\(two)", requires: .exactHeads),
        .refuses("HTTP/2 is not spoken in lines", "HTTP/2.0 200 OK\r\n\(two)", requires: .exactHeads),
        .refuses("HTTP/2 in a status line is a lie", "HTTP/2 200 OK\r\n\(two)", requires: .exactHeads),
        .refuses("HTTP/3 in a status line is a lie", "HTTP/3 200 OK\r\n\(two)", requires: .exactHeads),
        .refuses("A version that nobody knows is refused", "HTTP/7.1 200 OK\r\n\(two)", requires: .exactHeads),
        .refuses("The name of the protocol is in upper case", "http/1.1 200 OK\r\n\(two)", requires: .exactHeads),
        .refuses("Content without a head is no reply", "<html>hello</html>\r\n\r\n", requires: .exactHeads),
        .refuses("Another protocol's greeting is no reply", "SSH-2.0-OpenSSH_9.2p1\r\n", requires: .exactHeads),
        .refuses(
            "An alert of TLS is no reply", bytes: Data([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28, 0x0A]),
            requires: .exactHeads),
        .refuses(
            "Frames of HTTP/2 are no reply", bytes: Data([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0x0A]),
            requires: .exactHeads),
    ]

    private static let badFieldLines: [Rule] = [
        refusesLine("White space before the colon is refused", "X-A : 1"),
        refusesLine("A name is not empty", ": 1"),
        refusesLine("A name holds no space", "X A: 1"),
        refusesLine("A name holds no control character", "X\u{1}A: 1"),
        refusesLine("A name holds no bytes beyond ASCII", "X-ž: 1"),
        refusesLine("A name holds no separators", "X(A): 1"),
        refusesLine("A line needs a colon", "nonsense"),
        refusesLine("A value holds no NUL", "X-A: a\0b"),
        refusesLine("A value holds no CR", "X-A: a\rb"),
        refusesLine("A value holds no CR before its line end", "X-A: a\r"),
        .refuses("The first field continues nothing", "HTTP/1.1 200 OK\r\n X-A: 1\r\n\(two)", requires: .exactHeads),
        Rule(
            "A head that begins with a continued line is refused behind one that did not, each time",
            requires: .exactHeads, needsWire: true,
            server: { $0.path == "/" ? .wire("HTTP/1.1 200 OK\r\n X-A: 1\r\n\(two)", .hold) : .text("ok") }
        ) { probe in
            for _ in 1...4 {
                for _ in 1...2 { try expect(await probe.send(.get, "/good").status, is: 200, "status") }
                try expect(await probe.failure().kind, is: .protocolViolation, "kind")
            }
        },
        .refuses(
            "A length is not continued on the next line", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n 0\r\n\r\nok",
            requires: .exactHeads),
        .refuses(
            "A coding is not continued on the next line",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n , gzip\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            requires: .exactHeads),
    ]

    private static func refusesLine(_ name: String, _ line: String) -> Rule {
        .refuses(name, "HTTP/1.1 200 OK\r\n\(line)\r\n\(two)", requires: .exactHeads)
    }

    /// The end of a head, and its content.
    private static let two = "Content-Length: 2\r\n\r\nok"
}
