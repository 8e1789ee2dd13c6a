import Foundation
import PenstockCore

extension TransportConformance {
    /// Responses that are malformed (RFC 9113 §8.1.1): each fails its own exchange, and the connection goes on.
    public static let http2Malformed: [Rule] =
        malformed.map { name, frames in
            Rule(
                "Malformed over HTTP/2: \(name)", over: .http2,
                server: { request in
                    request.path == "/bad" ? frames(Frames(for: request)).response : .text("ok")
                }
            ) { probe in
                try await probe.send()
                let error = try await probe.failure(.post, "/bad", timeouts: soon)
                try expect(error, .protocolViolation)
                try expect(error.sendState >= .maybeProcessed, "send state \(error.sendState)")
                try await probe.send(timeouts: soon)
                try expect(probe.server.connectionCount, is: 1, "connections")
            }
        } + [
            Rule(
                "A value that holds a line break is not handed up over HTTP/2", over: .http2,
                server: { Frames(for: $0).head([("x-evil", "a\r\nx-b: 1"), ("x-nul", "a\0b")]).data("ok").response }
            ) { probe in
                let exchange = try probe.exchange(timeouts: soon)
                do throws(TransportError) {
                    let fields = try await probe.transport.perform(exchange).response.fields
                    try expectAbsent(["X-Evil", "X-B", "X-Nul"], fields)
                } catch { try expect(error, .protocolViolation) }
            },
            Rule(
                "A response is over when its stream says so, whatever follows", over: .http2,
                server: { request in
                    request.path == "/more"
                        ? Frames(for: request).ok().data("more").head(status: 500).response : .text("ok")
                }
            ) { probe in
                try expect(await probe.send(.get, "/more", timeouts: soon).body, is: Data("ok".utf8), "content")
                try expect(await probe.send(timeouts: soon).body, is: Data("ok".utf8), "content of the next")
            },
        ]

    private static let malformed: [(name: String, frames: @Sendable (Frames) -> Frames)] = [
        ("no status", { $0.headers([("x-a", "1")]).data("ok") }),
        ("two statuses", { $0.headers([(":status", "200"), (":status", "404")]).data("ok") }),
        ("a status of letters", { $0.headers([(":status", "abc")]).data("ok") }),
        ("a status of two digits", { $0.headers([(":status", "20")]).data("ok") }),
        ("a status of four digits", { $0.headers([(":status", "2000")]).data("ok") }),
        ("an empty status", { $0.headers([(":status", "")]).data("ok") }),
        ("a status after a field", { $0.headers([("x-a", "1"), (":status", "200")]).data("ok") }),
        ("a pseudo-field of requests", { $0.head([(":path", "/")]).data("ok") }),
        ("a pseudo-field that nobody knows", { $0.head([(":x", "/")]).data("ok") }),
        ("a name in upper case", { $0.head([("X-Upper", "1")]).data("ok") }),
        ("Connection", { $0.head([("connection", "close")]).data("ok") }),
        ("Transfer-Encoding", { $0.head([("transfer-encoding", "chunked")]).data("ok") }),
        ("Keep-Alive", { $0.head([("keep-alive", "timeout=5")]).data("ok") }),
        ("Proxy-Connection", { $0.head([("proxy-connection", "close")]).data("ok") }),
        ("Upgrade", { $0.head([("upgrade", "h2c")]).data("ok") }),
        ("less content than its length", { $0.head([("content-length", "5")]).data("abc") }),
        ("more content than its length", { $0.head([("content-length", "3")]).data("abcde") }),
        ("no content though it has a length", { $0.head([("content-length", "5")], isLast: true) }),
        ("two lengths", { $0.head([("content-length", "2"), ("content-length", "3")]).data("ok") }),
        ("a length with a sign", { $0.head([("content-length", "+2")]).data("ok") }),
        ("a length in hexadecimal", { $0.head([("content-length", "0x2")]).data("ok") }),
        ("content with 204", { $0.head(status: 204).data("ok") }),
        ("content with 304", { $0.head(status: 304).data("ok") }),
        ("a stream that ends with an interim response", { $0.head(status: 103, isLast: true) }),
        ("a change of protocols", { $0.head(status: 101).data("ok") }),
        ("content between an interim response and the head", { $0.head(status: 103).data("a", isLast: false).ok() }),
        (
            "a pseudo-field among trailers",
            { $0.head().data("ok", isLast: false).headers([(":status", "200")], isLast: true) }
        ),
        ("trailers that do not end the stream", { $0.head().data("ok", isLast: false).headers([("x-a", "1")]) }),
        ("a window of a stream that overflows", { $0.head().window(0x7FFF_FFFF) }),
    ]

    private static func expectAbsent(_ names: [HTTPFieldName], _ fields: HTTPFields) throws(TransportError) {
        for name in names where fields.contains(name) {
            throw TransportError(.other, sendState: .answered, message: "\(name.text) was handed up")
        }
    }
}
