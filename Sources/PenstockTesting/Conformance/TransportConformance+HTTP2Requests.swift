import Foundation
import PenstockCore

extension TransportConformance {
    /// What HTTP/2 asks of a request (RFC 9113 §8.2, §8.3). The server refuses what is malformed: names in upper case, fields
    /// of the connection, pseudo-fields in the wrong place, content that contradicts its length.
    public static let http2Requests: [Rule] = [
        Rule("A request over HTTP/2 names its scheme, its authority and its whole target", over: .http2) { probe in
            let target = "/a%20b/%2F;x=1,2/(c)?q=%26&z=a+b&e=&p=/?"
            let response = try await probe.send(.get, target)
            try expect(response.version, is: .http2, "version")
            let request = try probe.lastRequest()
            try expect(request.stream != nil, "it came by HTTP/1.1")
            try expect(request.target, is: target, "target")
            try expect(request.scheme, is: "https", "scheme")
            try expect(request.fields.values(of: .host), is: ["127.0.0.1:\(probe.server.url.port)"], "authority")
        },
        Rule("Every method reaches a server of HTTP/2 as it is", over: .http2) { probe in
            for name in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE"] {
                guard let method = HTTPMethod(rawValue: name) else { continue }
                try expect(await probe.send(method).status, is: 200, "status of \(name)")
                try expect(probe.lastRequest().method, is: method, "method")
                guard method.expectsContent else { continue }
                try expect(
                    probe.lastRequest().fields.values(of: .contentLength), is: ["0"], "Content-Length of \(name)")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Names of fields are in lower case over HTTP/2, and values as they were", over: .http2) { probe in
            try await probe.send(fields: ["X-Mixed-CASE": "As It Is", "X-Empty": "", "X-Wide": "žluť"])
            let fields = try probe.lastRequest().fields
            for field in fields where field.name != .host {
                try expect(field.name.text == field.name.text.lowercased(), "name \(field.name.text)")
            }
            try expect(fields["x-mixed-case"], is: "As It Is", "value")
            try expect(fields["x-empty"], is: "", "an empty value")
            try expect(fields["x-wide"], is: "žluť", "a value beyond ASCII")
        },
        Rule("Fields of one name arrive in their order over HTTP/2", over: .http2) { probe in
            try await probe.send(
                fields: HTTPFields(["1", "2", "1"].map { HTTPField(name: "X-Many", value: $0) }))
            try expect(probe.lastRequest().fields.values(of: "X-Many"), is: ["1", "2", "1"], "values")
        },
        Rule("What is the connection's stays off HTTP/2", over: .http2) { probe in
            let names = ["Connection", "Keep-Alive", "Proxy-Connection", "Upgrade", "Transfer-Encoding"]
            for name in names {
                let value = name == "Connection" ? "keep-alive" : "x"
                try await probe.send(fields: HTTPFields([HTTPField(name: .init(name), value: value)]))
                try expect(!probe.lastRequest().fields.contains(.init(name)), "\(name) was sent")
            }
        },
        Rule("TE says nothing but trailers over HTTP/2", over: .http2) { probe in
            for value in ["gzip", "trailers", "gzip, trailers;q=0.5", "deflate;q=0.5, trailers", "trailersx"] {
                try await probe.send(fields: ["TE": value])
                let sent = try probe.lastRequest().fields.values(of: "TE")
                try expect(sent.isEmpty || sent == ["trailers"], "TE: \(sent)")
                if value == "trailers" { try expect(sent, is: ["trailers"], "TE") }
            }
        },
        Rule("A cookie arrives whole over HTTP/2, in however many crumbs", over: .http2) { probe in
            let cookie = "a=1; b=\"2,3\"; c=" + String(repeating: "x", count: 3_000) + "; d="
            try await probe.send(fields: [.cookie: cookie])
            try expect(probe.lastRequest().fields.values(of: .cookie).joined(separator: "; "), is: cookie, "cookie")
        },
        Rule("Content arrives intact over HTTP/2, with its length", over: .http2) { probe in
            for count in [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 200_000] {
                for method in [HTTPMethod.post, .put] {
                    try await probe.send(method, body: .bytes(allBytes.prefix(count)))
                    let request = try probe.lastRequest()
                    try expect(
                        request.body == allBytes.prefix(count), "\(request.body.count) other bytes than \(count)")
                    try expect(request.fields.values(of: .contentLength), is: ["\(count)"], "Content-Length")
                }
            }
        },
        Rule("A stream of unknown length arrives intact where HTTP/2 is spoken", over: .http2, and: .streamedRequests) {
            probe in
            let body = HTTPBody.stream(length: nil) {
                let (chunks, continuation) = HTTPBody.Chunks.makeStream()
                for start in stride(from: 0, to: allBytes.count, by: 30_000) {
                    continuation.yield(allBytes[start..<min(start + 30_000, allBytes.count)])
                }
                continuation.finish()
                return chunks
            }
            try await probe.send(.post, body: body)
            try expect(probe.lastRequest().body == allBytes, "other bytes arrived")
        },
        Rule("A head of many kilobytes goes over HTTP/2", over: .http2) { probe in
            let value = String(repeating: "v", count: 3_000)
            try await probe.send(fields: HTTPFields((0..<14).map { HTTPField(name: .init("X-\($0)"), value: value) }))
            let fields = try probe.lastRequest().fields
            for index in 0..<14 { try expect(fields[.init("X-\(index)")], is: value, "field \(index)") }
        },
        Rule("A header field that was rejected keeps its request unsent over HTTP/2", over: .http2) { probe in
            for value in ["a\r\nX-Evil: 1", "a\nb", "a\0b"] {
                try expect(await probe.failure(fields: ["X-Bad": value]).sendState, is: .unsent, "send state")
            }
            try expect(probe.server.requestCount, is: 0, "requests")
        },
        Rule("A server that does not know HTTP/2 is spoken to in HTTP/1.1", over: .tls) { probe in
            for _ in 1...2 {
                let response = try await probe.send(.post, body: .bytes(Data("abc".utf8)))
                try expect(response.version, is: .http11, "version")
                try expect(probe.lastRequest().stream == nil && probe.lastRequest().text == "abc", "the request")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("HTTP/1.1 is spoken where the server prefers it", over: .http2.with { $0.protocols = [.http1, .http2] }) {
            probe in
            try expect(await probe.send().version, is: .http11, "version")
        },
        Rule("In the clear nobody is taken to speak HTTP/2", needsWire: true) { probe in
            try await probe.send()
            let request = try probe.lastRequest()
            try expect(request.stream == nil && !request.fields.contains("Upgrade"), "HTTP/2 was asked for")
        },
    ]
}
