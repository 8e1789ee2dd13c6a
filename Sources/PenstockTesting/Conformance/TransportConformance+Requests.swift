import Foundation
import PenstockCore

extension TransportConformance {
    /// What is asked for is what reaches the server.
    public static let requests: [Rule] = [
        Rule("Every method reaches the server as it is") { probe in
            for name in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE", "M-SEARCH"] {
                guard let method = HTTPMethod(rawValue: name) else { continue }
                let response = try await probe.send(method)
                try expect(response.status, is: 200, "status of \(name)")
                try expect(probe.lastRequest().method, is: method, "method")
            }
        },
        Rule("The target arrives byte for byte") { probe in
            let target = "/a%20b/%2F;x=1,2/(c)?q=%26&z=a+b&q=%C3%BC&e=&p=/?"
            try await probe.send(.get, target)
            try expect(probe.lastRequest().target, is: target, "target")
        },
        Rule("Bytes arrive intact, with their length") { probe in
            for method in [HTTPMethod.post, .put, .patch, .delete] {
                try await probe.send(method, body: .bytes(allBytes))
                try expectBody(probe.lastRequest(), allBytes, hasLength: true)
            }
        },
        Rule("A request without a body has none") { probe in
            for method in [HTTPMethod.get, .post, .put, .delete] {
                try await probe.send(method)
                let request = try probe.lastRequest()
                try expect(request.body.count, is: 0, "bytes of content")
                try expect(!request.fields.contains(.transferEncoding), "\(method) without a body came in chunks")
            }
        },
        Rule("A file arrives intact, with its length") { probe in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try allBytes.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await probe.send(.put, body: .file(file))
            try expectBody(probe.lastRequest(), allBytes, hasLength: true)
        },
        Rule("A stream of unknown length arrives intact, in chunks", requires: .streamedRequests) { probe in
            try await probe.send(.post, body: stream(length: nil))
            try expectBody(probe.lastRequest(), allBytes, hasLength: false)
        },
        Rule("A stream of known length arrives intact, with its length", requires: .streamedRequests) { probe in
            try await probe.send(.post, body: stream(length: allBytes.count))
            try expectBody(probe.lastRequest(), allBytes, hasLength: true)
        },
        Rule("A stream that cannot be sent is refused unsent", excludes: .streamedRequests) { probe in
            try await expectRefusal(probe, probe.exchange(.post, body: stream(length: nil)))
        },
        Rule("Header values arrive, an empty one too") { probe in
            try await probe.send(fields: ["X-Plain": "a b,c;d=\"e\"", "X-Empty": "", "X-Wide": "žluť"])
            let fields = try probe.lastRequest().fields
            try expect(fields["X-Plain"], is: "a b,c;d=\"e\"", "a plain value")
            try expect(fields["X-Empty"], is: "", "an empty value")
            try expect(fields["X-Wide"], is: "žluť", "a value beyond ASCII")
        },
        Rule("Values of one name arrive in their order") { probe in
            try await probe.send(fields: repeated)
            let values = try probe.lastRequest().fields.values(of: "X-Many").flatMap { $0.split(separator: ",") }
            try expect(values.map { HTTPSyntax.trimmed(String($0)) }, is: ["1", "2", "1"], "values")
        },
        Rule("Header lines of one name stay apart and in order", requires: .separateFieldLines) { probe in
            try await probe.send(fields: repeated)
            let lines = try probe.lastRequest().fields.filter { $0.name.text.hasPrefix("X-") }
            try expect(lines, is: Array(repeated), "lines")
        },
        Rule("There is one Host, the URL's") { probe in
            try await probe.send()
            let hosts = try probe.lastRequest().fields.values(of: .host)
            try expect(hosts, is: ["127.0.0.1:\(probe.server.url.port)"], "Host")
        },
        Rule("A header field that was rejected keeps its request unsent") { probe in
            for value in ["a\r\nX-Evil: 1", "a\nb", "a\0b"] {
                let error = try await probe.failure(fields: ["X-Bad": value])
                try expect(error.sendState, is: .unsent, "send state")
            }
            try expect(probe.server.requestCount, is: 0, "requests that reached the server")
        },
        Rule("A trust policy that cannot be enforced is refused unsent", excludes: .trustPolicy) { probe in
            var exchange = try probe.exchange()
            exchange.trust = .authorities(URL(fileURLWithPath: "/nowhere.pem"))
            try await expectRefusal(probe, exchange)
        },
        Rule("A proxy that cannot be used is refused unsent", excludes: .proxies) { probe in
            var exchange = try probe.exchange()
            exchange.proxy = .http(probe.server.url)
            try await expectRefusal(probe, exchange)
        },
    ]

    private static let repeated = HTTPFields([
        HTTPField(name: "X-Many", value: "1"), HTTPField(name: "X-Other", value: "o"),
        HTTPField(name: "X-Many", value: "2"), HTTPField(name: "X-Many", value: "1"),
    ])

    private static func stream(length: Int?) -> HTTPBody {
        .stream(length: length) {
            let (chunks, continuation) = HTTPBody.Chunks.makeStream()
            for start in stride(from: 0, to: allBytes.count, by: 50_000) {
                continuation.yield(allBytes[start..<(start + 50_000)])
            }
            continuation.finish()
            return chunks
        }
    }

    private static func expectBody(_ request: LoopbackServer.Request, _ body: Data, hasLength: Bool) throws {
        try expect(request.body == body, "\(body.count) bytes were sent, \(request.body.count) other ones arrived")
        let lengths = request.fields.values(of: .contentLength)
        try expect(lengths, is: hasLength ? ["\(body.count)"] : [], "Content-Length")
        let codings = request.fields.values(of: .transferEncoding).map { $0.lowercased() }
        try expect(codings, is: hasLength ? [] : ["chunked"], "Transfer-Encoding")
    }

    private static func expectRefusal(_ probe: Probe, _ request: TransportRequest) async throws {
        let error = try await probe.failure(of: request)
        guard case .unsupported = error.kind else { throw Unmet(description: "failed with \(error.kind)") }
        try expect(error.sendState, is: .unsent, "send state")
        try expect(probe.server.connectionCount, is: 0, "connections")
    }
}
