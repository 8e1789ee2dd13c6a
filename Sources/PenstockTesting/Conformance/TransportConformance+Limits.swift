import Foundation
import PenstockCore

extension TransportConformance {
    /// What is too much ends the exchange at its limit, and the wire with it.
    public static let limits: [Rule] = [
        endless("A header of 257 KiB in a thousand lines", .headerBytes) { _ in
            Data((0..<999).map { "X-\($0): \(String(repeating: "v", count: 257))\r\n" }.joined().utf8)
        },
        endless("A field of 257 KiB", .headerBytes) {
            $0 == 0 ? Data("X-A: \(String(repeating: "v", count: 257 << 10))\r\n\r\n".utf8) : nil
        },
        endless("Fields without number", .headerCount, requires: .exactHeads) { _ in Data("X-A: 1\r\n".utf8) },
        endless("A header without end", .headerBytes) { _ in
            Data("X-A: \(String(repeating: "v", count: 4_096))\r\n".utf8)
        },
        endless("A field without end", .headerBytes) {
            Data(($0 == 0 ? "X-A: " : String(repeating: "v", count: 4_096)).utf8)
        },
        endless("A name without end", .headerBytes) { _ in Data(String(repeating: "n", count: 4_096).utf8) },
        endless("A value that is continued without end", .headerBytes) {
            Data(($0 == 0 ? "X-A: 1\r\n" : " \(String(repeating: "v", count: 4_096))\r\n").utf8)
        },
        endless("A reason without end", .headerBytes, after: "HTTP/1.1 200 ") { _ in
            Data(String(repeating: "r", count: 4_096).utf8)
        },
        endless("Trailers without number", .headerCount, after: "\(chunked)0\r\n", requires: .trailers) { _ in
            Data("X-A: 1\r\n".utf8)
        },
        endless("Trailers without end", .headerBytes, after: "\(chunked)0\r\n", requires: .trailers) { _ in
            Data("X-A: \(String(repeating: "v", count: 2_000))\r\n".utf8)
        },
        endless("A trailer without end", .headerBytes, after: "\(chunked)0\r\nX-A: ", requires: .trailers) { _ in
            Data(String(repeating: "v", count: 4_096).utf8)
        },
        endless("What is said beside the size of a chunk", .headerBytes, after: "\(chunked)5;a", requires: .exactHeads)
        {
            _ in
            Data(String(repeating: "v", count: 4_096).utf8)
        },
        endless("Interim responses without end", .interimResponses, after: "", requires: .interimLimit) { _ in
            Data("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8)
        },
        endless("100 Continue without end", .interimResponses, after: "", requires: .interimLimit) { _ in
            Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        },
        endless("Chunks without end", .bodyBytes, after: chunked) { _ in
            Data("10000\r\n\(String(repeating: "x", count: 0x10000))\r\n".utf8)
        },
        endless("Content without length or end", .bodyBytes, after: "HTTP/1.1 200 OK\r\n\r\n") { _ in
            Data(count: 0x10000)
        },
        Rule(
            "A header at its limits is accepted", needsWire: true,
            server: { _ in
                let lines = (100..<199).map { "X-\($0): \(String(repeating: "v", count: 91))\r\n" }
                return .wire("HTTP/1.1 200 OK\r\n\(lines.joined())Content-Length: 2\r\n\r\nok", .keepAlive)
            }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.headerCount = 100
            exchange.limits.headerBytes = 17 + 99 * 100 + 19 + 2
            try expect(await probe.transport.perform(exchange).response.fields.count, is: 100, "fields")
            exchange.limits.headerCount = 99
            try await expect(probe.failure(of: exchange), .limitExceeded(.headerCount), sendState: .answered)
        },
        Rule(
            "So many interim responses are accepted, and not one more", requires: .interimLimit, needsWire: true,
            server: { .text("ok").preceded(by: Array(repeating: .init(103), count: Int($0.path.dropFirst()) ?? 0)) }
        ) { probe in
            try expect(await probe.send(.get, "/32").status, is: 200, "status")
            try await expect(probe.failure(.get, "/33"), .limitExceeded(.interimResponses), sendState: .answered)
        },
        Rule(
            "A length beyond the limit is refused before the content comes", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 1_000_000, ending: .hold) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: .total(.seconds(20)))
            exchange.limits.bodyBytes = 999_999
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Content in chunks is accepted up to the limit, and not a byte more", needsWire: true,
            server: { _ in .chunks([Data("123".utf8), Data("45".utf8)]) }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.bodyBytes = 5
            try expect(await probe.transport.perform(exchange).response.body.count, is: 5, "bytes")
            exchange.limits.bodyBytes = 4
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
        },
        neverDecoded(302), neverDecoded(401), neverDecoded(500),
        Rule(
            "Content that is coded and let go of is not decoded", requires: .streamedResponses, needsWire: true,
            server: { _ in .init(status: 500, fields: [.contentEncoding: "gzip"], body: noGzip) }
        ) { probe in
            for _ in 1...3 {
                let stream = try await probe.open()
                stream.content.discard()
                try expect(await stream.content.next(), is: nil, "content")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Content of a success is wanted, whatever is said of it") { probe in
            var exchange = try probe.exchange()
            exchange.skipsContent = { _ in true }
            try expect(try await probe.transport.perform(exchange).response.body, is: Data("ok".utf8), "content")
        },
        Rule(
            "Content that is coded and broken is an error where it is wanted", needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: noGzip) }
        ) { probe in
            let error = try await probe.failure()
            try expect(error.sendState, is: .answered, "send state")
        },
    ]

    /// Says that it is gzip, and is not: who decoded it would see an error.
    private static let noGzip = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Array(repeating: 0xFF, count: 5_000))
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func neverDecoded(_ status: Int) -> Rule {
        Rule(
            "Content of a \(status) that nobody looks at is not decoded", requires: .skipsContent, needsWire: true,
            server: { _ in .init(status: status, fields: [.contentEncoding: "gzip", .location: "/"], body: noGzip) }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.skipsContent = { $0.status == status }
            let response = try await probe.transport.perform(exchange).response
            try expect(response.status, is: status, "status")
            try expect(response.body.count, is: 0, "bytes of content")
        }
    }

    /// A reply that goes on for as long as the client takes it.
    private static func endless(
        _ name: String, _ limit: ResponseLimits.Limit, after start: String = "HTTP/1.1 200 OK\r\n",
        requires: TransportCapabilities = [], next: @escaping @Sendable (Int) -> Data?
    ) -> Rule {
        Rule(
            "\(name) is cut off at the limit", requires: requires, needsWire: true,
            server: { _ in .wire(start, .hold).followed(by: next) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: .total(.seconds(30)))
            exchange.limits.bodyBytes = 1 << 20
            let error = try await probe.failure(of: exchange)
            try expect(error, .limitExceeded(limit))
            try expect(error.sendState > .unsent, "the request counts as unsent")
            try await probe.server.waitForAborts(count: 1)
        }
    }
}
