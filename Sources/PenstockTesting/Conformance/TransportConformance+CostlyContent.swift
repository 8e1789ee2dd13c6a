import Foundation
import PenstockCore

extension TransportConformance {
    /// Content that is a burden though it is not large on the wire: it expands, is coded over and over, or trickles in.
    public static let costlyContent: [Rule] = [
        Rule(
            "Content that expands beyond the ratio is cut off", needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: bomb) }
        ) { probe in
            try await expectTooExpanded(probe)
        },
        Rule(
            "Content in chunks that expands beyond the ratio is cut off", requires: .expansionRatio, needsWire: true,
            server: { _ in
                var response = LoopbackServer.Response.chunks([bomb])
                response.fields[.contentEncoding] = "gzip"
                return response
            }
        ) { probe in
            try await expectTooExpanded(probe)
        },
        Rule(
            "Content that expands is held to the limit on its size, whatever its framing", needsWire: true,
            server: { _ in
                var response = LoopbackServer.Response.chunks([bomb])
                response.fields[.contentEncoding] = "gzip"
                return response
            }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.bodyBytes = 1 << 20
            exchange.limits.expansionRatio = 1_000
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
        },
        Rule(
            "The first mebibyte may expand as it likes", needsWire: true,
            server: { _ in .init(fields: [.contentEncoding: "gzip"], body: zipped) }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.expansionRatio = 1
            let text = String(repeating: "penstock ", count: 100)
            try expect(
                String(decoding: await probe.transport.perform(exchange).response.body, as: UTF8.self), is: text,
                "content")
        },
        tooManyCodings("one line") {
            "Content-Encoding: \(Array(repeating: "gzip", count: $0).joined(separator: ", "))\r\n"
        },
        tooManyCodings("lines of their own") { String(repeating: "Content-Encoding: gzip\r\n", count: $0) },
        Rule(
            "Content that comes too slowly is given up, though it keeps coming", needsWire: true,
            server: { _ in drip(bytes: 1, pause: .milliseconds(50)) }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .seconds(20), total: .seconds(40))
            var exchange = try probe.exchange(timeouts: limits)
            exchange.limits.minimumThroughput = .init(bytes: 1_000, per: .seconds(1))
            try await expect(probe.failure(of: exchange), .limitExceeded(.minimumThroughput), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Content that stops altogether is given up by its throughput too", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: .total(.seconds(40)))
            exchange.limits.minimumThroughput = .init(bytes: 4, per: .seconds(1))
            try await expect(probe.failure(of: exchange), .limitExceeded(.minimumThroughput), sendState: .answered)
        },
        Rule(
            "Content that is slow but not too slow is taken for as long as it comes", needsWire: true,
            server: { _ in .chunks(Array(repeating: Data(count: 1_000), count: 30), pause: .milliseconds(50)) }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.minimumThroughput = .init(bytes: 100, per: .milliseconds(500))
            try expect(await probe.transport.perform(exchange).response.body.count, is: 30_000, "bytes")
        },
        Rule(
            "The total time holds for content that comes fast enough", needsWire: true,
            server: { _ in drip(bytes: 1_000, pause: .milliseconds(20)) }
        ) { probe in
            var exchange = try probe.exchange(timeouts: .total(.seconds(2)))
            exchange.limits.minimumThroughput = .init(bytes: 100, per: .milliseconds(500))
            try await expect(probe.failure(of: exchange), .timeout(.total), sendState: .answered)
        },
        Rule(
            "Time before the response does not count as slow content", needsWire: true,
            server: { _ in .text("late").delayed(by: .milliseconds(1_500)) }
        ) { probe in
            var exchange = try probe.exchange()
            exchange.limits.minimumThroughput = .init(bytes: 1_000, per: .seconds(1))
            try expect(await probe.transport.perform(exchange).response.body.count, is: 4, "bytes")
        },
    ]

    private static func expectTooExpanded(_ probe: Probe) async throws {
        var exchange = try probe.exchange()
        exchange.limits.expansionRatio = 50
        try await expect(probe.failure(of: exchange), .limitExceeded(.expansionRatio), sendState: .answered)
    }

    private static func tooManyCodings(_ place: String, lines: @escaping @Sendable (Int) -> String) -> Rule {
        Rule(
            "Content with more than five codings in \(place) is refused", needsWire: true,
            server: { request in
                let lines = lines(Int(request.path.dropFirst()) ?? 0)
                return .wire("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 2\r\n\r\nok", .keepAlive)
            }
        ) { probe in
            for count in [6, 10] {
                let error = try await probe.failure(.get, "/\(count)")
                try expect(error, .limitExceeded(.contentCodings))
                try expect(error.sendState > .unsent, "the request counts as unsent")
            }
            // Five are taken off, or would be, if the content were what it says.
            try await expect(probe.failure(.get, "/5"), .protocolViolation, sendState: .answered)
        }
    }

    private static func drip(bytes: Int, pause: Duration) -> LoopbackServer.Response {
        var response = LoopbackServer.Response()
        response.body = .produced(pause: pause) { _ in Data(count: bytes) }
        return response
    }

    /// "penstock " a hundred times over.
    private static let zipped = Data(base64Encoded: "H4sIAAAAAAACAytIzSsuyU/OVigYZYwyRhkDwQAAF+aiBYQDAAA=") ?? Data()

    /// gzip of 8 MiB of zeros, without its end: a 160th of that. One block with the fixed code (RFC 1951 §3.2.6): a zero, and
    /// then, over and over, a copy of 258 bytes from one byte before.
    private static let bomb: Data = {
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        var bits = (value: 0, count: 0)
        func write(_ text: String) {
            for bit in text.utf8 {
                bits.value |= Int(bit & 1) << bits.count
                bits.count += 1
                if bits.count == 8 {
                    data.append(UInt8(bits.value))
                    bits = (0, 0)
                }
            }
        }
        write("1" + "10" + "00110000")
        let copies = (8 << 20) / 258
        for _ in 0..<copies { write("11000101" + "00000") }
        return data
    }()
}
