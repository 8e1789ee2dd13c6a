import Foundation
import PenstockCore

extension TransportConformance {
    /// What the server says about the connection is kept to (RFC 9113 §5.2, §6).
    public static let http2Settings: [Rule] = [
        Rule(
            "No more streams are open at a time than the server allows",
            over: .http2.with { $0.settings.concurrentStreams = 1 },
            server: { _ in .text("ok").delayed(by: .milliseconds(2)) }
        ) { probe in
            // Before the first response a client may not know the limit yet, and be refused twice.
            try await probe.send()
            try await atOnce(20) { _ in try await probe.send(timeouts: soon) }
            try expect(probe.server.requestCount, is: 21, "requests")
        },
        Rule(
            "The number of streams may change on the way", over: .http2,
            server: { request in
                // Once each for all requests that are under way together: who is refused, since the client had not heard of it
                // yet, is not refused again.
                guard let limit = ["/5": 1, "/15": 50][request.path] else { return .text(request.path) }
                var settings = LoopbackServer.HTTP2Settings()
                settings.concurrentStreams = limit
                return .text(request.path).announcing(settings)
            }
        ) { probe in
            try await probe.send()
            for _ in 1...3 {
                try await atOnce(20) { index in
                    let body = try await probe.send(.get, "/\(index)", timeouts: soon).body
                    try expect(body, is: Data("/\(index)".utf8), "content")
                }
            }
        },
        Rule(
            "An upload keeps to a window of one byte", over: .http2.with { $0.settings.initialWindow = 1 }
        ) { probe in
            // Before the first response a client may not know the window yet.
            try await probe.send()
            try await probe.send(.post, body: .bytes(allBytes.prefix(300)), timeouts: soon)
            try expect(probe.lastRequest().body == allBytes.prefix(300), "other bytes arrived")
            let longest = probe.server.connections.first?.frames.filter { $0.kind == .data }.map(\.length).max()
            try expect(longest ?? 0 <= 1, "a frame of \(longest ?? 0) bytes")
        },
        Rule(
            "An upload waits for a window of nothing to open", over: .http2.with { $0.settings.initialWindow = 0 },
            server: { request in
                guard request.path == "/open" else { return .text("ok") }
                var settings = LoopbackServer.HTTP2Settings()
                settings.initialWindow = 65_535
                return .text("ok").announcing(settings)
            }
        ) { probe in
            try await probe.send()
            async let upload = probe.send(.post, "/upload", body: .bytes(allBytes.prefix(50_000)), timeouts: soon)
            // The reply to another request opens the windows of all.
            try await probe.send(.get, "/open", timeouts: soon)
            try expect(await upload.status, is: 200, "status")
            let request = probe.server.requests.first { $0.path == "/upload" }
            try expect(request?.body == allBytes.prefix(50_000), "other bytes arrived")
        },
        Rule(
            "Uploads at the same time keep to their windows, and arrive as they are",
            over: .http2.with { $0.settings.initialWindow = 1_000 },
            server: { .init(body: Data("\(sum($0.body))".utf8)) }
        ) { probe in
            try await atOnce(30) { index in
                let body = allBytes[index..<(index + 40_000)]
                let reply = try await probe.send(.post, "/\(index)", body: .bytes(Data(body)), timeouts: soon)
                try expect(reply.body, is: Data("\(sum(Data(body)))".utf8), "digest of the content")
            }
        },
        Rule(
            "A window that shrinks below nothing holds an upload until it opens again", over: .http2,
            server: { request in
                var settings = LoopbackServer.HTTP2Settings()
                settings.initialWindow = request.path == "/shrink" ? 0 : 65_535
                return .text("ok").announcing(settings)
            }
        ) { probe in
            try await probe.send(.get, "/shrink", timeouts: soon)
            async let upload = probe.send(.post, "/upload", body: .bytes(allBytes.prefix(60_000)), timeouts: soon)
            try await probe.send(.get, "/grow", timeouts: soon)
            try expect(await upload.status, is: 200, "status")
        },
        Rule(
            "A table for header fields of nothing is kept to", over: .http2.with { $0.settings.headerTableBytes = 0 }
        ) { probe in
            for index in 1...5 {
                try await probe.send(fields: ["X-Same": "the same each time", "X-Number": "\(index)"], timeouts: soon)
                try expect(probe.lastRequest().fields["X-Number"], is: "\(index)", "field")
                try expect(probe.lastRequest().fields["X-Same"], is: "the same each time", "field")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "The table for header fields may change on the way", over: .http2,
            server: { request in
                var settings = LoopbackServer.HTTP2Settings()
                settings.headerTableBytes = [0, 4_096, 100, 65_536][request.number % 4]
                return .text("ok").announcing(settings)
            }
        ) { probe in
            for index in 1...12 {
                try await probe.send(fields: ["X-Same": "the same each time", "X-Number": "\(index)"], timeouts: soon)
                try expect(probe.lastRequest().fields["X-Number"], is: "\(index)", "field")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Frames are no longer than the server takes", over: .http2) { probe in
            try await probe.send(.post, body: .bytes(allBytes.prefix(65_000)), timeouts: soon)
            let lengths = probe.server.connections.flatMap(\.frames).map(\.length)
            try expect(lengths.max() ?? 0 <= 16_384, "a frame of \(lengths.max() ?? 0) bytes")
        },
        Rule("Settings are acknowledged", over: .http2) { probe in
            for _ in 1...2 { try await probe.send() }
            let frames = probe.server.connections.first?.frames ?? []
            try expect(frames.contains { $0.kind == .settings && $0.isAcknowledgement }, "no acknowledgement came")
        },
        Rule(
            "A PING is answered", over: .http2,
            server: { request in
                request.path == "/ping"
                    ? Frames(for: request).frame(.ping, on: 0, Data("penstock".utf8)).ok().response : .text("ok")
            }
        ) { probe in
            try await probe.send(.get, "/ping", timeouts: soon)
            try await probe.send(timeouts: soon)
            let frames = probe.server.connections.first?.frames ?? []
            try expect(frames.contains { $0.kind == .ping && $0.isAcknowledgement }, "no answer came")
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        harmless("PRIORITY of any stream") { $0.frame(.priority, on: 99, Data([0, 0, 0, 1, 7])).ok() },
        harmless("A frame of no known type") { $0.frame(UInt8(0xEE), flags: 0xFF, Data("?".utf8)).ok() },
        harmless("A frame of no known type for the connection") { $0.frame(UInt8(0x42), on: 0, Data(count: 100)).ok() },
        harmless("A frame of no known type without content") { $0.frame(UInt8(0xEE), on: 0).ok() },
        harmless("ORIGIN and ALTSVC") {
            $0.frame(UInt8(0xC), on: 0, Data([0, 1, 0x78])).frame(UInt8(0xA), on: 0, Data([0, 1, 0x78])).ok()
        },
        harmless("A window that grows") { $0.window(1_000, on: 0).window(1_000).ok() },
        harmless("Bits that are reserved") { $0.frame(.windowUpdate, on: 0, Data([0x80, 0, 0, 1])).ok() },
        harmless("Flags that mean nothing") { $0.head().frame(.data, flags: 0xF1 & ~8, Data("ok".utf8)) },
        Rule(
            "A thousand empty frames are put up with, or refused", over: .http2,
            server: { request in
                Frames(for: request).head().repeated(1_000) { frames, _ in frames.data("", isLast: false) }
                    .data("ok").response
            }
        ) { probe in
            let exchange = try probe.exchange(timeouts: soon)
            do throws(TransportError) { _ = try await probe.transport.perform(exchange) } catch {
                try expect(error, .protocolViolation, .connectionLost)
            }
        },
        Rule(
            "A flood of PING and SETTINGS does not fill the memory", over: .http2,
            server: { request in
                guard request.path == "/flood" else { return .text("ok") }
                return Frames(for: request).repeated(5_000) { frames, _ in
                    frames.frame(.ping, on: 0, Data(count: 8))
                }.ok().response
            }
        ) { probe in
            let exchange = try probe.exchange(.get, "/flood", timeouts: soon)
            do throws(TransportError) { _ = try await probe.transport.perform(exchange) } catch {
                try expect(error, .protocolViolation, .connectionLost)
            }
            try await probe.send(timeouts: soon)
        },
    ]

    /// Tells bytes apart by their order too.
    static func sum(_ bytes: Data) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var sum: UInt64 = 14_695_981_039_346_656_037
            for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 1_099_511_628_211 }
            return sum
        }
    }

    /// Frames that change nothing about the response that follows, nor about the connection.
    private static func harmless(_ name: String, frames: @escaping @Sendable (Frames) -> Frames) -> Rule {
        Rule(
            "Passed over by a client of HTTP/2: \(name)", over: .http2,
            server: { request in
                request.path == "/odd" ? frames(Frames(for: request)).response : .text("ok")
            }
        ) { probe in
            for path in ["/odd", "/", "/odd", "/"] {
                try expect(await probe.send(.get, path, timeouts: soon).body, is: Data("ok".utf8), "content")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        }
    }
}
