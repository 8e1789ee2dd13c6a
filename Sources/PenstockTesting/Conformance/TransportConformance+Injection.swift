import Foundation
import PenstockCore

extension TransportConformance {
    /// Nothing of a request can become a line, a field or a request of its own (RFC 9110 §5.5, RFC 9112 §11).
    public static let injection: [Rule] = [badValues, badNames, targets, framings, hosts].flatMap(\.self)

    private static let badValues: [Rule] = [
        ("CR and LF", "a\r\nX-Evil: 1"), ("LF", "a\nX-Evil: 1"), ("CR", "a\rX-Evil: 1"), ("NUL", "a\0b"),
        ("a line end at its end", "a\r\n"), ("an empty line", "a\r\n\r\nGET /evil HTTP/1.1"), ("DEL", "a\u{7F}b"),
        ("an escape", "a\u{1B}[2Jb"),
    ].map { what, value in refusesField("A value with \(what) keeps its request unsent", "X-Bad", value) }

    private static let badNames: [Rule] = [
        ("is empty", ""), ("holds a space", "X Bad"), ("holds a colon", "X-Bad:"), ("holds a line end", "X\r\nX-Evil"),
        ("holds NUL", "X\0Bad"), ("holds a tab", "X\tBad"), ("holds more than ASCII", "X-Bäd"),
        ("begins with a space", " X"), ("holds parentheses", "X(Bad)"),
    ].map { what, name in refusesField("A name that \(what) keeps its request unsent", name, "1") }

    private static func refusesField(_ rule: String, _ name: String, _ value: String) -> Rule {
        Rule(rule) { probe in
            let fields = HTTPFields([HTTPField(name: HTTPFieldName(name), value: value)])
            for body in [HTTPBody.none, .bytes(allBytes)] {
                let error = try await probe.failure(.post, fields: fields, body: body)
                try expect(error.sendState, is: .unsent, "send state")
            }
            try expect(probe.server.connectionCount, is: 0, "connections")
            try expect(probe.server.requestCount, is: 0, "requests")
        }
    }

    private static let targets: [Rule] = [
        Rule("A method that is no token cannot be made") { probe in
            for name in ["", "GET /evil HTTP/1.1\r\n", "GE T", "GET\n", "GET\0", "GÉT", "GET:", "G(E)T"] {
                try expect(HTTPMethod(rawValue: name) == nil, "\(String(reflecting: name)) became a method")
            }
            try await probe.send(.get)
        },
        Rule("A line end in a URL makes it none") { probe in
            for target in ["/a\r\nX-Evil: 1", "/a\nb", "/a\rb", "/a\0b", "/?q=\r\n", "/#\n"] {
                try expect((try? probe.server.url.resolving(target)) == nil, "\(String(reflecting: target)) was parsed")
            }
            try await probe.send(.get)
        },
        Rule("An escaped line end stays escaped") { probe in
            for target in ["/a%0d%0aX-Evil:%201", "/%00", "/?q=%0D%0A%0D%0AGET%20/evil"] {
                try await probe.send(.get, target)
                try expect(probe.lastRequest().target, is: target, "target")
                try expect(!probe.lastRequest().fields.contains("X-Evil"), "the target became a field")
            }
            try expect(probe.server.refusalCount, is: 0, "malformed requests")
        },
        Rule("What a URL may not hold goes out escaped") { probe in
            for (text, target) in [
                ("/a b", "/a%20b"), ("/\u{FC}?\u{20AC}", "/%C3%BC?%E2%82%AC"),
                ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
            ] {
                try await probe.send(.get, text)
                try expect(probe.lastRequest().target, is: target, "target")
            }
        },
        Rule("A fragment is not sent") { probe in
            try await probe.send(.get, "/a?b#c?d")
            try expect(probe.lastRequest().target, is: "/a?b", "target")
        },
        Rule("Dots and slashes in a target are not tidied up on the way") { probe in
            for target in ["//a//b/", "/a;..;/b", "/...", "/a%2f..%2fb", "/?..//."] {
                let url = try HTTPURL("\(probe.server.url.origin.text)\(target)")
                _ = try await probe.transport.perform(
                    TransportRequest(HTTPRequest(method: .get, url: url), timeouts: Probe.patience))
                try expect(probe.lastRequest().target, is: target, "target")
            }
        },
        Rule("A very long target arrives whole") { probe in
            let target = "/?q=" + String(repeating: "0123456789", count: 6_000)
            try await probe.send(.get, target)
            try expect(probe.lastRequest().target.utf8.count, is: target.utf8.count, "length of the target")
        },
        Rule("A very long value arrives whole") { probe in
            let value = String(repeating: "0123456789", count: 5_000)
            try await probe.send(fields: ["X-Long": value])
            try expect(probe.lastRequest().fields["X-Long"]?.utf8.count, is: value.utf8.count, "length of the value")
        },
        Rule("Hundreds of fields arrive") { probe in
            try await probe.send(
                fields: HTTPFields((0..<500).map { HTTPField(name: .init("X-\($0)"), value: "\($0)") }))
            let count = try probe.lastRequest().fields.count { $0.name.text.hasPrefix("X-") }
            try expect(count, is: 500, "fields")
        },
        Rule(
            "A password in a field arrives as it is, and in no message of a failure", needsWire: true,
            server: { _ in .close }
        ) {
            probe in
            let error = try await probe.failure(fields: [.authorization: "Bearer s3cret", .cookie: "k=s3cret"])
            try expect(!"\(error.message)\(error.kind)".contains("s3cret"), "the failure tells the secret")
            try expect(probe.lastRequest().fields[.authorization], is: "Bearer s3cret", "Authorization")
        },
    ]

    /// A request's own framing either is the truth or keeps it unsent.
    private static let framings: [Rule] = [
        ("A length", [.contentLength: "3"]), ("A longer length", [.contentLength: "300"]),
        ("A coding", [.transferEncoding: "chunked"]),
        ("A coding and a length", [.transferEncoding: "chunked", .contentLength: "3"]),
    ].map { (what: String, fields: HTTPFields) in
        Rule("\(what) of the request's own cannot contradict its content", needsWire: true) { probe in
            if case .failure(let error) = await probe.outcome(of: own(fields, probe)) {
                return try expect(error.sendState, is: .unsent, "send state")
            }
            let request = try probe.lastRequest()
            try expect(request.body, is: Data("five!".utf8), "content")
            try expect(request.fields.values(of: .contentLength), is: ["5"], "Content-Length")
            try expect(request.fields.values(of: .transferEncoding), is: [], "Transfer-Encoding")
            try await probe.send(.get, "/next")
            try expect(probe.server.requestCount, is: 2, "requests")
        }
    }

    private static let hosts: [Rule] = [
        Rule("There is one Host, whatever the request holds") { probe in
            let fields = HTTPFields(["a.test", "b.test"].map { HTTPField(name: .host, value: $0) })
            if case .failure(let error) = await probe.outcome(of: own(fields, probe)) {
                return try expect(error.sendState, is: .unsent, "send state")
            }
            try expect(probe.lastRequest().fields.values(of: .host).count, is: 1, "Host lines")
        }
    ]

    private static func own(_ fields: HTTPFields, _ probe: Probe) -> TransportRequest {
        let body = HTTPBody.bytes(Data("five!".utf8))
        let request = HTTPRequest(method: .post, url: probe.server.url, fields: fields, body: body)
        return TransportRequest(request, timeouts: Probe.patience)
    }
}
