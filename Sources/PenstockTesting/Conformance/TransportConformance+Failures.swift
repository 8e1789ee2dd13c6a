import Foundation
import PenstockCore

extension TransportConformance {
    /// A broken exchange fails with its kind and its send state, and never succeeds.
    public static let failures: [Rule] = [
        Rule("A closed connection without a reply is lost", needsWire: true, server: { _ in .close }) { probe in
            try await expect(probe.failure(.post), .connectionLost, sendState: .maybeProcessed)
        },
        Rule("A reset connection without a reply is lost", needsWire: true, server: { _ in .reset }) { probe in
            try await expect(probe.failure(.post), .connectionLost, sendState: .maybeProcessed)
        },
        Rule(
            "Content shorter than its length is lost", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10) }
        ) { probe in
            let error = try await probe.failure()
            try expect(error, .connectionLost, sendState: .answered)
            try expect(error.partialResponse?.status, is: 200, "status of the partial response")
        },
        Rule(
            "Chunks that break off are an error", needsWire: true,
            server: { _ in .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n".utf8)) }
        ) { probe in
            try await expect(probe.failure(), .connectionLost, .protocolViolation, sendState: .answered)
        },
        Rule(
            "Chunks of no readable size are an error", needsWire: true,
            server: { _ in
                .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n".utf8))
            }
        ) { probe in
            try await expect(probe.failure(), .connectionLost, .protocolViolation, sendState: .answered)
        },
        Rule(
            "A reply that is not HTTP breaks the protocol", needsWire: true,
            server: { _ in .raw(Data("220 smtp ready\r\n\r\n".utf8)) }
        ) { probe in
            let error = try await probe.failure()
            try expect(error, .protocolViolation)
            try expect(error.sendState > .unsent, "the request counts as unsent")
        },
        Rule(
            "A reply that contradicts itself about its length breaks the protocol", needsWire: true,
            server: { request in
                let lines =
                    request.path == "/two"
                    ? "Content-Length: 2\r\nContent-Length: 3" : "Content-Length: 2\r\nTransfer-Encoding: chunked"
                return .raw(Data("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n2\r\nab\r\n0\r\n\r\n".utf8))
            }
        ) { probe in
            for path in ["/two", "/both"] {
                try await expect(probe.failure(.get, path), .protocolViolation)
            }
        },
        Rule("A refused connection is unreachable, and nothing was sent", needsWire: true) { probe in
            let gone = try LoopbackServer { _ in .init() }
            gone.stop()
            let request = HTTPRequest(method: .post, url: gone.url, body: .bytes(allBytes))
            let error = try await probe.failure(of: TransportRequest(request, timeouts: Probe.patience))
            try expect(error, .unreachable(.connectionRefused), sendState: .unsent)
        },
        Rule("A file that is gone is the request's own fault") { probe in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try allBytes.write(to: file)
            let body = HTTPBody.file(file)
            try FileManager.default.removeItem(at: file)
            try await expect(probe.failure(.put, body: body), .requestBody)
            try expect(probe.server.requestCount, is: 0, "requests")
        },
        Rule("Content up to the limit is accepted, one byte more is not", server: { _ in .text("12345") }) { probe in
            var exchange = try probe.exchange()
            exchange.limits.bodyBytes = 5
            try expect(await probe.transport.perform(exchange).response.body.count, is: 5, "bytes")
            exchange.limits.bodyBytes = 4
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
        },
        Rule(
            "Endless content is cut off at the limit", needsWire: true,
            server: { _ in
                var response = LoopbackServer.Response()
                response.body = .produced(pause: .milliseconds(1)) { _ in Data(repeating: 0, count: 64 << 10) }
                return response
            }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.bodyBytes = 1 << 20
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "A header beyond its limits is refused",
            server: { request in
                let count = request.path == "/many" ? 60 : 1
                let value = String(repeating: "v", count: request.path == "/long" ? 5_000 : 1)
                return .init(fields: HTTPFields((0..<count).map { HTTPField(name: .init("X-\($0)"), value: value) }))
            }
        ) { probe in
            for (path, limit) in [("/many", ResponseLimits.Limit.headerCount), ("/long", .headerBytes)] {
                var exchange = try probe.exchange(.get, path)
                exchange.limits.headerCount = 50
                exchange.limits.headerBytes = 4_000
                try await expect(probe.failure(of: exchange), .limitExceeded(limit))
            }
        },
    ]
}
