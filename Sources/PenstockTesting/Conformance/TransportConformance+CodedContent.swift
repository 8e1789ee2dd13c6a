import Foundation
import PenstockCore

extension TransportConformance {
    /// Content that is more than it seems, or comes too slowly: each limit ends the exchange, and the wire with it.
    public static let contentLimits: [Rule] = [
        Rule(
            "Content that is coded six times over is refused", requires: .skipsContent, needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: repeatElement("gzip", count: 6).joined(separator: ", ")]) }
        ) { probe in try await expectBoth(probe, .contentCodings) { _ in } },
        Rule(
            "Content that is coded six times over, a field for each, is refused", requires: .skipsContent,
            needsWire: true,
            server: { _ in
                .wire(
                    "HTTP/1.1 200 OK\r\n\(String(repeating: "Content-Encoding: br\r\n", count: 6))"
                        + "Content-Length: 2\r\n\r\nok", .hold)
            }
        ) { probe in try await expectBoth(probe, .contentCodings) { _ in } },
        Rule(
            "Content is measured without its coding", requires: .skipsContent, needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: bomb(pieces: 100)) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: soon)
            exchange.limits.bodyBytes = 25_801
            // The bomb has no end, which is told once everything before it was accepted.
            try await expect(probe.failure(of: exchange), .connectionLost, sendState: .answered)
            exchange.limits.bodyBytes = 25_800
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
        },
        Rule(
            "Content that expands beyond its ratio is refused", requires: .skipsContent, needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: bomb(pieces: 80_000)) }
        ) { probe in try await expectBoth(probe, .expansionRatio) { $0.expansionRatio = 20 } },
        drip("Content that comes too slowly is given up", over: nil),
        drip("Content that comes too slowly over HTTP/2 is given up", over: .http2),
        Rule(
            "Content that comes as fast as it must is not given up", requires: .noticesAll, needsWire: true,
            server: { _ in .chunks(Array(repeating: Data(count: 100), count: 30), pause: .milliseconds(100)) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: soon)
            exchange.limits.minimumThroughput = .init(bytes: 1, per: .seconds(1))
            try expect(await probe.transport.perform(exchange).response.body.count, is: 3_000, "bytes")
        },
    ]

    // MARK: Slowness

    /// A byte every twenty milliseconds, for ever, where three hundred a second are the least.
    private static func drip(_ name: String, over security: Security?) -> Rule {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            var response = LoopbackServer.Response()
            response.body = .produced(pause: .milliseconds(20)) { _ in Data([1]) }
            return response
        }
        let check: @Sendable (Probe) async throws -> Void = { probe in
            try await expectBoth(probe, .minimumThroughput) {
                $0.minimumThroughput = .init(bytes: 300, per: .seconds(1))
            }
            // The total time is kept all the same.
            var exchange = try probe.exchange(
                timeouts: Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, total: .seconds(1)))
            exchange.limits.minimumThroughput = .init(bytes: 300, per: .seconds(10))
            try await expect(probe.failure(of: exchange), .timeout(.total), sendState: .answered)
        }
        guard let security else {
            return Rule(name, requires: .noticesAll, needsWire: true, server: answer, check: check)
        }
        return Rule(name, over: security, and: .noticesAll, server: answer, check: check)
    }

    // MARK: Both forms of an exchange

    /// Expects that the response ends at the limit, collected and streamed.
    private static func expectBoth(
        _ probe: Probe, _ limit: ResponseLimits.Limit, _ change: (inout ResponseLimits) -> Void
    ) async throws {
        var exchange = try probe.exchange(timeouts: soon)
        change(&exchange.limits)
        try await expect(probe.failure(of: exchange), .limitExceeded(limit), sendState: .answered)
        guard probe.transport.capabilities.contains(.streamedResponses) else { return }
        exchange = try probe.exchange(timeouts: soon)
        change(&exchange.limits)
        try await expect(failure(streaming: exchange, on: probe.transport), .limitExceeded(limit), sendState: .answered)
    }

    private static func failure(
        streaming exchange: TransportRequest, on transport: any Transport
    ) async throws -> TransportError {
        do throws(TransportError) {
            let stream = try await transport.open(exchange)
            while try await stream.content.next() != nil {}
        } catch {
            return error
        }
        throw Unmet(description: "the stream ended well")
    }

    // MARK: Bombs

    /// The beginning of gzip content (RFC 1952) of so many times 258 zeros, each run of which takes thirteen bits: one
    /// block with fixed codes (RFC 1951 §3.2.6) that begins with a zero and repeats what came before. It has no end.
    private static func bomb(pieces: Int) -> Data {
        // The bits of the block: not the last, fixed codes, the literal zero.
        var bits: [UInt8] = [0, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        // The longest length, 258, and the nearest distance, 1.
        for _ in 0..<pieces { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
        bits += repeatElement(0, count: (8 - bits.count % 8) % 8)
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<(start + 8)].reversed().reduce(0) { $0 << 1 | $1 }
        }
        return Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bytes)
    }
}
