import Foundation
import PenstockCore

extension TransportConformance {
    /// Servers that send more than is good: each ends at a limit.
    public static let http2Limits: [Rule] = [
        limit("A head of many fields", .headerCount) { frames in
            frames.head((0..<1_001).map { ("x-\($0)", "v") }).data("ok")
        },
        limit("A head of many kilobytes", .headerBytes) { frames in large(frames, pieces: 9) },
        Rule(
            "A head of some kilobytes is handed up", over: .http2,
            server: { request in
                request.path == "/large"
                    ? large(Frames(for: request), pieces: 2).response
                    : Frames(for: request).head((0..<4).map { ("x-\($0)", String(repeating: "v", count: 3_000)) })
                        .data("ok").response
            }
        ) { probe in
            for (path, count) in [("/", 4), ("/large", 8)] {
                let response = try await probe.send(.get, path, timeouts: soon)
                try expect(response.fields.count, is: count, "fields")
                try expect(response.body, is: Data("ok".utf8), "content")
            }
        },
        limit("A head that goes on in CONTINUATION without end", .headerBytes, .headerCount) { frames in
            frames.frame(.headers, Frames.block([(":status", "200")]))
                .repeated(200) { frames, index in
                    frames.frame(.continuation, Frames.block([("x-\(index)", String(repeating: "v", count: 16_000))]))
                }
        },
        limit("A head of empty CONTINUATION frames without end", .headerBytes, .headerCount) { frames in
            frames.frame(.headers, Frames.block([(":status", "200")]))
                .repeated(20_000) { frames, _ in frames.frame(.continuation) }
        },
        limit("A block that expands beyond measure", .headerBytes, .headerCount) { frames in
            frames.frame(.headers, flags: Frames.endHeaders, bomb(references: 12_000)).data("ok")
        },
        limit("Trailers of many fields", .headerCount) { frames in
            frames.head().data("ok", isLast: false)
                .headers((0..<1_001).map { ("x-\($0)", "v") }, isLast: true)
        },
        limit("Trailers of many bytes", .headerBytes, small: true) { frames in
            frames.head().data("ok", isLast: false)
                .headers([("x-long", String(repeating: "v", count: 9_000))], isLast: true)
        },
        limit("A head beyond the exchange's own limit", .headerBytes, small: true) { frames in
            frames.head([("x-long", String(repeating: "v", count: 9_000))]).data("ok")
        },
        Rule(
            "Content up to the limit is accepted over HTTP/2, one byte more is not", over: .http2,
            server: { _ in .text("12345") }
        ) { probe in
            var exchange = try probe.exchange(timeouts: soon)
            exchange.limits.bodyBytes = 5
            try expect(await probe.transport.perform(exchange).response.body.count, is: 5, "bytes")
            exchange.limits.bodyBytes = 4
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
            try await probe.send(timeouts: soon)
        },
        Rule(
            "Endless content is cut off at the limit over HTTP/2", over: .http2,
            server: { _ in
                var response = LoopbackServer.Response()
                response.body = .produced(pause: .milliseconds(1)) { _ in Data(repeating: 0, count: 64 << 10) }
                return response
            }
        ) { probe in
            var exchange = try probe.exchange(timeouts: soon)
            exchange.limits.bodyBytes = 1 << 20
            try await expect(probe.failure(of: exchange), .limitExceeded(.bodyBytes), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
    ]

    /// - Parameter small: with limits of 1,000 bytes in place of the default.
    private static func limit(
        _ name: String, _ limits: ResponseLimits.Limit..., small: Bool = false,
        frames: @escaping @Sendable (Frames) -> Frames
    ) -> Rule {
        Rule(
            "\(name) ends at a limit over HTTP/2", over: .http2,
            server: { request in
                request.path == "/bad" ? frames(Frames(for: request)).response : .text("ok")
            }
        ) { probe in
            try await probe.send()
            var exchange = try probe.exchange(.get, "/bad", timeouts: soon)
            if small { exchange.limits.headerBytes = 1_000 }
            let error = try await probe.failure(of: exchange)
            let isExpected = limits.contains { error.kind == .limitExceeded($0) }
            try expect(isExpected, "expected one of \(limits), failed with \(error.kind): \(error.message)")
            try await probe.send(timeouts: soon)
        }
    }

    private static func large(_ frames: Frames, pieces: Int) -> Frames {
        var frames = frames.frame(.headers, Frames.block([(":status", "200")]))
        for index in 0..<pieces {
            let isLast = index == pieces - 1
            frames = frames.frame(
                .continuation, flags: isLast ? Frames.endHeaders : 0,
                Frames.block((0..<4).map { ("x-\(index)-\($0)", String(repeating: "v", count: 4_070)) }))
        }
        return frames.data("ok")
    }

    /// One field of 4,000 bytes goes into the table (RFC 7541 §6.2.1), and is then referred to by one byte each time.
    private static func bomb(references: Int) -> Data {
        var entry = Frames.block([("x-bomb", String(repeating: "v", count: 3_900))])
        entry[entry.startIndex] = 0x40
        return Frames.block([(":status", "200")]) + entry + Data(repeating: 0xBE, count: references)
    }
}
