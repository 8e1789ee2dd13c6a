import Foundation
import PenstockCore

extension TransportConformance {
    /// Many exchanges on one connection: none is in the way of another, and none gets what is another's.
    public static let http2Streams: [Rule] = [
        Rule("A hundred calls in turn use one connection of HTTP/2", over: .http2) { probe in
            for _ in 1...100 { try await probe.send(timeouts: soon) }
            try expect(probe.server.requestCount, is: 100, "requests")
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Calls at the same time share one connection of HTTP/2", over: .http2,
            server: { .text($0.path).delayed(by: .milliseconds(20)) }
        ) { probe in
            try await atOnce(100) { index in
                let body = try await probe.send(.get, "/\(index)", timeouts: soon).body
                try expect(body, is: Data("/\(index)".utf8), "content")
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Contents of streams at the same time are not mixed, either way", over: .http2,
            server: { request in
                .init(fields: ["X-Sum": "\(sum(request.body))"], body: noise(request.body.count * 3 + 1))
            }
        ) { probe in
            try await atOnce(60) { index in
                let body = noise(index * 997)
                let reply = try await probe.send(.post, "/\(index)", body: .bytes(body), timeouts: soon)
                try expect(reply.fields["X-Sum"], is: "\(sum(body))", "sum of what was sent")
                try expect(sum(reply.body), is: sum(noise(body.count * 3 + 1)), "sum of what came")
            }
        },
        Rule(
            "Streams whose frames come by turns are put together again", over: .http2,
            server: { request in
                .chunks((0..<50).map { _ in Data(request.path.utf8) }, pause: .milliseconds(1))
            }
        ) { probe in
            try await atOnce(20) { index in
                let body = try await probe.send(.get, "/\(index)", timeouts: soon).body
                try expect(body, is: Data(String(repeating: "/\(index)", count: 50).utf8), "content")
            }
        },
        Rule(
            "Cancelling a stream ends it alone", over: .http2,
            server: {
                $0.path == "/hold" ? .hold : .chunks([Data("a".utf8), Data("b".utf8)], pause: .seconds(2))
            }
        ) { probe in
            try await probe.send()
            let control = ExchangeControl()
            async let held = probe.failure(.get, "/hold", timeouts: soon, control: control)
            try await probe.server.waitForRequests(count: 2)
            async let others: Void = atOnce(10) { _ in
                try expect(await probe.send(timeouts: soon).body, is: Data("ab".utf8), "content")
            }
            try await probe.server.waitForRequests(count: 12)
            control.cancel()
            try await expect(held, .cancelled, sendState: .maybeProcessed)
            try await others
            try await probe.server.waitForAborts(count: 1)
            try await probe.send(timeouts: soon)
            try expect(probe.server.connectionCount, is: 1, "connections")
            let stream = probe.server.requests.first { $0.path == "/hold" }?.stream
            let frames = probe.server.connections.flatMap(\.frames)
            try expect(frames.contains { $0.kind == .resetStream && $0.stream == stream }, "it was not reset")
            try expect(probe.server.abortCount, is: 1, "streams that were broken off")
        },
        Rule(
            "The server sees that its only stream is cancelled", over: .http2,
            server: { $0.path == "/hold" ? .hold : .text("ok") }
        ) { probe in
            try await probe.send()
            let control = ExchangeControl()
            async let held = probe.failure(.get, "/hold", timeouts: soon, control: control)
            try await probe.server.waitForRequests(count: 2)
            control.cancel()
            try await expect(held, .cancelled, sendState: .maybeProcessed)
            try await probe.server.waitForAborts(count: 1)
            try await probe.send(timeouts: soon)
        },
        Rule(
            "Cancelling in the middle of the content of a stream ends it", over: .http2,
            server: { _ in .text("0123456789").fault(.stall, at: .responseBody(after: 3)) }
        ) { probe in
            let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
            let control = ExchangeControl { if $0.received == 3 { arrival.yield() } }
            async let error = probe.failure(timeouts: soon, control: control)
            for await _ in arrived { break }
            control.cancel()
            try await expect(error, .cancelled, sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Silence of one stream ends it alone", over: .http2,
            server: { request in
                request.path == "/stall"
                    ? .text("0123456789").fault(.stall, at: .responseBody(after: 3))
                    : .chunks(Array(repeating: Data("x".utf8), count: 30), pause: .milliseconds(50))
            }
        ) { probe in
            async let steady = probe.send(timeouts: soon)
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .milliseconds(700), total: .seconds(20))
            try await expect(probe.failure(.get, "/stall", timeouts: limits), .timeout(.idle), sendState: .answered)
            try expect(await steady.body.count, is: 30, "bytes of the other")
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Each time-out of a stream has its kind", over: .http2,
            server: { request in
                switch request.path {
                case "/hold": .hold
                case "/head": Frames(for: request).head().response
                default: .text("ok")
                }
            }
        ) { probe in
            try await probe.send()
            let first = Timeouts(connect: nil, firstByte: .milliseconds(500), idle: nil, total: .seconds(20))
            try await expect(
                probe.failure(.post, "/hold", timeouts: first), .timeout(.firstByte), sendState: .maybeProcessed)
            let idle = Timeouts(connect: nil, firstByte: nil, idle: .milliseconds(500), total: .seconds(20))
            try await expect(probe.failure(.post, "/head", timeouts: idle), .timeout(.idle), sendState: .answered)
            let total = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .milliseconds(500))
            try await expect(
                probe.failure(.post, "/hold", timeouts: total), .timeout(.total), sendState: .maybeProcessed)
            try await probe.send(timeouts: soon)
        },
        Rule(
            "A connection that is lost fails each of its streams once, with its own send state", over: .http2,
            server: { request in
                switch request.path {
                case "/held": .hold
                case "/begun": .text("0123456789").fault(.stall, at: .responseBody(after: 3))
                case "/break": .text("x").fault(.close, at: .responseStart)
                default: .text("ok")
                }
            }
        ) { probe in
            try await probe.send()
            async let held = failures(20, of: probe, "/held")
            async let begun = failures(20, of: probe, "/begun")
            try await probe.server.waitForRequests(count: 41)
            // Time enough for the heads of the second kind: they come in the order of the requests.
            for _ in 1...5 { try await probe.send(timeouts: soon) }
            try await expect(
                probe.failure(.post, "/break", timeouts: soon), .connectionLost, sendState: .maybeProcessed)
            for error in try await held { try expect(error, .connectionLost, sendState: .maybeProcessed) }
            for error in try await begun { try expect(error, .connectionLost, sendState: .answered) }
            try await probe.send(timeouts: soon)
            try expect(probe.server.requestCount, is: 48, "requests")
        },
        Rule(
            "What nobody reads of a stream stays on the wire, and others go on", over: .http2, and: .streamedResponses,
            server: http2Floods.answer
        ) { probe in
            let flood = http2Floods.open()
            defer { http2Floods.close(flood) }
            let stream = try await probe.open(.get, flood)
            try await waitForStillness(of: flood, http2Floods, probe)
            let before = http2Floods.count(flood)
            while http2Floods.count(flood) < before + 10 { _ = try await stream.content.next() }
            stream.content.discard()
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "What a suspended stream has not taken comes to no other", over: .http2, and: .suspension,
            server: { request in
                switch request.path {
                case "/hold": .hold
                case "/b", "/c", "/y": pieces(request.path)
                default: .init(body: letters(request.path))
                }
            }
        ) { probe in
            let held = ExchangeControl()
            async let beside = probe.failure(.get, "/hold", timeouts: soon, control: held)
            try await probe.server.waitForRequests(count: 1)
            for path in ["/a", "/b", "/c"] {
                let brake = Brake()
                async let error = probe.failure(.get, path, timeouts: soon, control: brake.control)
                try await brake.pulled()
                for _ in 1...3 { try await probe.send(.get, "/", timeouts: soon) }
                brake.control.cancel()
                try await expect(error, .cancelled, sendState: .answered)
            }
            for path in ["/x", "/y", "/z"] {
                let brake = Brake()
                async let response = probe.send(.get, path, timeouts: soon, control: brake.control)
                try await brake.pulled()
                try await probe.send(timeouts: soon)
                brake.control.resume()
                try expect(runs(await response.body), is: runs(letters(path)), "content")
            }
            held.cancel()
            try await expect(beside, .cancelled)
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Two partitions share no connection of HTTP/2", over: .http2, and: .partitions) { probe in
            for identity in ["", "anna", "bert", "anna", ""] {
                var exchange = try probe.exchange(timeouts: soon)
                exchange.isolation.identity = identity
                _ = try await probe.transport.perform(exchange)
            }
            try expect(probe.server.connectionCount, is: 3, "connections")
            let resumed = probe.server.connections.compactMap(\.handshake).filter(\.isResumed)
            try expect(resumed.count, is: 0, "sessions of TLS that went on")
        },
        Rule("Partitions share no connection of HTTP/2 at the same time either", over: .http2, and: .partitions) {
            probe in
            try await atOnce(60) { index in
                var exchange = try probe.exchange(.get, "/\(index % 3)", timeouts: soon)
                exchange.isolation.identity = "\(index % 3)"
                _ = try await probe.transport.perform(exchange)
            }
            for connection in Set(probe.server.requests.map(\.connection)) {
                let paths = Set(probe.server.requests.filter { $0.connection == connection }.map(\.path))
                try expect(paths.count, is: 1, "identities on connection \(connection)")
            }
        },
        Rule(
            "A connection of HTTP/2 that was made beforehand sends nothing, and carries the first request",
            over: .http2, and: .preconnection
        ) { probe in
            try await probe.transport.preconnect(probe.exchange())
            try expect(probe.server.requestCount, is: 0, "requests")
            // libcurl 7.88 takes a connection for dead on which a session of TLS has come and nothing else yet.
            try await probe.waitForSettings()
            try await probe.send(timeouts: soon)
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule("Shutting down ends every stream and refuses new ones", over: .http2, server: { _ in .hold }) { probe in
            async let errors = failures(20, of: probe, "/held")
            try await probe.server.waitForRequests(count: 20)
            await probe.transport.shutdown()
            for error in try await errors { try expect(error, .cancelled) }
            try await expect(probe.failure(), .cancelled, sendState: .unsent)
        },
        onlyOnce(.close), onlyOnce(.reset), onlyOnce(.shutDown),
    ]

    /// The request that opened the connection is no newer to it than those that have joined.
    private static func onlyOnce(_ effect: LoopbackServer.Fault.Effect) -> Rule {
        Rule(
            "A request that may be sent only once is, when others had joined its connection that dies by \(effect)",
            over: .http2, and: .sendsOnce,
            server: { request in
                switch request.path {
                case "/first": .hold
                case "/break": .text("x").fault(effect, at: .responseStart)
                default: .text("ok")
                }
            }
        ) { probe in
            async let first = probe.failure(.post, "/first", timeouts: soon)
            try await probe.server.waitForRequests(count: 1)
            try await probe.send(timeouts: soon)
            try await expect(
                probe.failure(.post, "/break", timeouts: soon), .connectionLost, sendState: .maybeProcessed)
            try await expect(first, .connectionLost, sendState: .maybeProcessed)
            try expect(probe.server.requestCount, is: 3, "requests")
        }
    }

    /// The name of a path, so many times that a transport takes it in several pieces.
    private static func letters(_ path: String) -> Data {
        Data(repeating: path.utf8.last ?? 0, count: 300_000)
    }

    /// The same, a little at a time.
    private static func pieces(_ path: String) -> LoopbackServer.Response {
        .chunks(Array(repeating: letters(path).prefix(10_000), count: 30), pause: .milliseconds(1))
    }

    /// What comes how often in a row.
    private static func runs(_ content: Data) -> [String] {
        var runs: [(byte: UInt8, count: Int)] = []
        for byte in content {
            if runs.last?.byte == byte { runs[runs.count - 1].count += 1 } else { runs.append((byte, 1)) }
        }
        return runs.map { "\($0.count) \(Character(Unicode.Scalar($0.byte)))" }
    }

    /// Suspends an exchange as soon as content comes.
    private final class Brake: Sendable {
        let control: ExchangeControl
        private let hasPulled: AsyncStream<Void>

        init() {
            let suspended = Locked<ExchangeControl?>(nil)
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            control = ExchangeControl { progress in
                guard progress.received > 0, let control = suspended.withLock({ $0.take() }) else { return }
                control.suspend()
                continuation.finish()
            }
            hasPulled = stream
            suspended.withLock { $0 = control }
        }

        func pulled() async throws {
            for await _ in hasPulled {}
            try Task.checkCancellation()
        }
    }

    private static let http2Floods = RunningTaps(piece: Data(count: 64 << 10), pause: .zero)

    /// Bytes without a pattern, the same each time.
    static func noise(_ count: Int) -> Data {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(count)
        return bytes(count) { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    static func failures(_ count: Int, of probe: Probe, _ path: String) async throws -> [TransportError] {
        try await withThrowingTaskGroup(of: TransportError.self) { group in
            for _ in 0..<count { group.addTask { try await probe.failure(.post, path, timeouts: soon) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
