import Foundation
import PenstockCore

extension TransportConformance {
    /// An end of TLS that nobody announced may be an attacker's: content that it cuts short, or may have, is not whole
    /// (RFC 9112 §9.8).
    public static let secureContent: [Rule] = [
        Rule(
            "Content that ends with a connection of TLS is whole where the end is announced", over: .tls,
            server: { unframed($0, ending: .close) }
        ) { probe in
            for path in ["/1.1", "/1.0", "/close"] {
                try expect(await probe.send(.get, path, timeouts: soon).body, is: Data("to the end".utf8), "content")
            }
        },
        Rule(
            "Content that ends with a connection of TLS is cut short where the end is not announced", over: .tls,
            server: { unframed($0, ending: .drop) }
        ) { probe in
            for path in ["/1.1", "/1.0", "/close", "/empty"] {
                let error = try await probe.failure(.get, path, timeouts: soon)
                try expect(error, .connectionLost, sendState: .answered)
                try expect(error.partialResponse?.status, is: 200, "status of the partial response")
            }
        },
        Rule(
            "Content that ends with a reset of its connection is cut short over TLS", over: .tls,
            server: { unframed($0, ending: .reset) }
        ) { probe in
            try await expect(probe.failure(timeouts: soon), .connectionLost)
        },
        Rule(
            "A stream of content that is cut off without a word fails after what came", over: .tls,
            and: .streamedResponses,
            server: { unframed($0, ending: .drop) }
        ) { probe in
            let content = try await probe.open(timeouts: soon).content
            var received = Data()
            do throws(TransportError) {
                while let piece = try await content.next() { received.append(piece) }
                throw TransportError(.other, sendState: .answered, message: "it ended well")
            } catch { try expect(error, .connectionLost, sendState: .answered) }
            try expect(Data("to the end".utf8).starts(with: received), "other bytes came")
        },
        Rule(
            "Content shorter than its length is lost over TLS, announced or not", over: .tls,
            server: { request in
                .short(Data("abc".utf8), declared: 10, ending: request.path == "/goodbye" ? .close : .drop)
            }
        ) { probe in
            for path in ["/goodbye", "/silent"] {
                let error = try await probe.failure(.get, path, timeouts: soon)
                try expect(error, .connectionLost, sendState: .answered)
                try expect(error.partialResponse?.status, is: 200, "status of the partial response")
            }
        },
        Rule(
            "Chunks without their last are lost over TLS, announced or not", over: .tls,
            server: { request in
                .raw(
                    Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n".utf8),
                    ending: request.path == "/goodbye" ? .close : .drop)
            }
        ) { probe in
            for path in ["/goodbye", "/silent"] {
                try await expect(
                    probe.failure(.get, path, timeouts: soon), .connectionLost, .protocolViolation, sendState: .answered
                )
            }
        },
        Rule(
            "Content that has its length needs no announced end", over: .tls,
            server: { _ in .text("whole").ending(.drop) }
        ) { probe in
            for _ in 1...2 {
                try expect(await probe.send(timeouts: soon).body, is: Data("whole".utf8), "content")
            }
        },
        Rule(
            "A response that has no content needs no announced end", over: .tls,
            server: { request in
                let head = request.path == "/204" ? "HTTP/1.1 204 No Content" : "HTTP/1.1 304 Not Modified"
                return .raw(Data("\(head)\r\nConnection: close\r\n\r\n".utf8), ending: .drop)
            }
        ) { probe in
            for path in ["/204", "/304"] {
                try expect(await probe.send(.get, path, timeouts: soon).body, is: Data(), "content")
            }
            try expect(await probe.send(.head, "/304", timeouts: soon).status, is: 304, "status")
        },
        Rule(
            "A head that is cut off is no response over TLS", over: .tls,
            server: { request in
                .raw(Data("HTTP/1.1 200 OK\r\nX-Half: a".utf8), ending: request.path == "/goodbye" ? .close : .drop)
            }
        ) { probe in
            for path in ["/goodbye", "/silent"] {
                let error = try await probe.failure(.post, path, timeouts: soon)
                try expect(error, .connectionLost, .protocolViolation)
                try expect(error.sendState >= .maybeProcessed, "send state \(error.sendState)")
            }
            try expect(probe.server.requestCount, is: 2, "requests")
        },
        Rule(
            "HTTP/2 in a status line is a lie where TLS has agreed on HTTP/1.1", over: .tls,
            server: { request in
                let fields = request.path == "/length" ? "Content-Length: 2\r\n" : ""
                return .raw(Data("HTTP/2 200 OK\r\n\(fields)\r\nok".utf8), ending: .drop)
            }
        ) { probe in
            for path in ["/length", "/close"] {
                try await expect(probe.failure(.get, path, timeouts: soon), .protocolViolation, sendState: .answered)
            }
        },
        Rule("A large body comes intact over TLS, and goes", over: .tls, server: { .init(body: $0.body) }) { probe in
            let body = noise(3 << 20)
            let reply = try await probe.send(.post, body: .bytes(body), timeouts: soon)
            try expect(sum(reply.body), is: sum(body), "sum")
        },
    ]

    private static func unframed(
        _ request: LoopbackServer.Request, ending: LoopbackServer.Response.Ending
    ) -> LoopbackServer.Response {
        let (version, text) = (request.path == "/1.0" ? "1.0" : "1.1", request.path == "/empty" ? "" : "to the end")
        let field = request.path == "/close" ? "Connection: close\r\n" : ""
        return .raw(Data("HTTP/\(version) 200 OK\r\n\(field)\r\n\(text)".utf8), ending: ending)
    }
}
