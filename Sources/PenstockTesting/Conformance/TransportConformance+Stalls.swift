import Foundation
import PenstockCore

extension TransportConformance {
    /// A peer that stops ends its own exchange, by the time-out of the phase that it stopped in, and the wire is closed.
    public static let stalls: [Rule] = [
        stall(
            "as soon as it has accepted", .firstByte, .maybeProcessed,
            starting: { try LoopbackServer(onConnect: { _ in .init(.stall, at: .accept) }) { _ in .text("ok") } }),
        stall(
            "when the first bytes have come", .firstByte, .maybeProcessed,
            starting: { try LoopbackServer(onConnect: { _ in .init(.stall, at: .firstBytes) }) { _ in .text("ok") } }),
        stall("after the request", .firstByte, .maybeProcessed, starting: { try LoopbackServer { _ in .hold } }),
        stall(
            "after an interim response", .idle, nil,
            starting: { try LoopbackServer { _ in .hold.preceded(by: [.init(103)]) } }),
        stalls("in the status line", "HTTP/1.1 2", nil),
        stalls("after the status line", "HTTP/1.1 200 OK\r\n", nil),
        stalls("in a field", "HTTP/1.1 200 OK\r\nContent-Le", nil),
        stalls("between two fields", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", nil),
        stalls("before the content", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .answered),
        stalls("in the content", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", .answered),
        stalls("in content without a length", "HTTP/1.1 200 OK\r\n\r\nhel", .answered),
        stalls("before the first chunk", chunked, .answered),
        stalls("in the size of a chunk", "\(chunked)5", .answered),
        stalls("in a chunk", "\(chunked)5\r\nhel", .answered),
        stalls("before the last chunk", "\(chunked)5\r\nhello\r\n", .answered),
        stalls("before the trailers", "\(chunked)5\r\nhello\r\n0\r\n", .answered),
        stalls("in a trailer", "\(chunked)5\r\nhello\r\n0\r\nX-A: 1", .answered),
        Rule(
            "A server that stops in the request is idle, not late", requires: .timings,
            starting: {
                try LoopbackServer(faults: [.init(.stall, at: .requestBody(after: 1_000))]) { _ in .text("ok") }
            }
        ) { probe in
            let body = HTTPBody.bytes(Data(count: 32 << 20))
            let limits = Timeouts(connect: nil, firstByte: .milliseconds(100), idle: .seconds(1), total: .seconds(30))
            try await expect(
                probe.failure(.put, body: body, timeouts: limits), .timeout(.idle), sendState: .maybeProcessed)
            try expect(probe.server.requestCount, is: 0, "requests")
            // What it has not read hides from the server that the client has gone.
            probe.server.stop()
        },
        Rule(
            "The phase that stood still is the one that is named", needsWire: true,
            server: { $0.path == "/late" ? .hold : .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            let late = Timeouts(connect: nil, firstByte: .seconds(2), idle: .seconds(3), total: .seconds(30))
            async let first = probe.failure(.get, "/late", timeouts: late)
            async let second = probe.failure(.get, "/slow", timeouts: late)
            try await expect(first, .timeout(.firstByte), sendState: .maybeProcessed)
            try await expect(second, .timeout(.idle), sendState: .answered)
        },
        drips("A header that drips is ended by the total time", "HTTP/1.1 200 OK\r\n") { "X-\($0): 1\r\n" },
        drips("A header that drips is ended by the first byte's time", "HTTP/1.1 200 OK\r\n", .firstByte) {
            "X-\($0): 1\r\n"
        },
        drips(
            "Interim responses that drip are ended by the first byte's time", requires: .interimLimit, "", .firstByte
        ) { _ in "HTTP/1.1 102 Processing\r\n\r\n" },
        drips("Content that drips is ended by the total time", "HTTP/1.1 200 OK\r\n\r\n") { _ in "x" },
        drips("Trailers that drip are ended by the total time", "\(chunked)0\r\n") { "X-\($0): 1\r\n" },
        drips("Interim responses that drip are ended by the total time", "") { _ in "HTTP/1.1 102 Processing\r\n\r\n" },
        drips("What is said beside a chunk's size cannot go on for ever", "\(chunked)5;") { _ in "x" },
        Rule(
            "A stalled exchange holds up no other", needsWire: true,
            server: { $0.path == "/stall" ? .hold : .text("ok") }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: .seconds(1), idle: nil, total: .seconds(30))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...20 {
                    group.addTask {
                        try await expect(probe.failure(.get, "/stall", timeouts: limits), .timeout(.firstByte))
                    }
                    group.addTask { try await probe.send(.get, "/other") }
                }
                try await group.waitForAll()
            }
            try await probe.server.waitForAborts(count: 20)
        },
    ]

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// - Parameter sendState: `nil` where it depends on how much of a head the transport is shown.
    private static func stall(
        _ when: String, _ phase: TimeoutPhase, _ sendState: SendState?,
        starting start: @escaping @Sendable () throws -> LoopbackServer
    ) -> Rule {
        let wait = Duration.seconds(1)
        let limits = Timeouts(
            connect: nil, firstByte: phase == .firstByte ? wait : nil, idle: phase == .idle ? wait : nil,
            total: .seconds(30))
        return Rule("A server that stops \(when) is given up by the \(phase.rawValue) time-out", starting: start) {
            probe in
            let error = try await probe.failure(.post, body: .bytes(Data("x".utf8)), timeouts: limits)
            try expect(error, .timeout(phase), sendState: sendState)
            try expect(error.sendState > .unsent, "the request counts as unsent")
            try await probe.server.waitForOpenConnections(atMost: 0)
        }
    }

    private static func stalls(_ when: String, _ reply: String, _ sendState: SendState?) -> Rule {
        stall(when, .idle, sendState, starting: { try LoopbackServer { _ in .wire(reply, .hold) } })
    }

    private static func drips(
        _ name: String, requires capabilities: TransportCapabilities = [], _ start: String,
        _ phase: TimeoutPhase = .total, _ next: @escaping @Sendable (Int) -> String
    ) -> Rule {
        Rule(
            name, requires: capabilities, needsWire: true,
            server: { _ in
                .wire(start, .hold).followed {
                    // As slow as a client that waits for silence would put up with.
                    Thread.sleep(forTimeInterval: 0.05)
                    return Data(next($0).utf8)
                }
            }
        ) { probe in
            let (soon, late) = (Duration.seconds(1), Duration.seconds(20))
            var exchange = try probe.exchange(
                timeouts: Timeouts(
                    connect: nil, firstByte: phase == .firstByte ? soon : nil, idle: .seconds(10),
                    total: phase == .total ? soon : late))
            exchange.limits.interimResponses = 10_000
            try await expect(probe.failure(of: exchange), .timeout(phase))
            try await probe.server.waitForAborts(count: 1)
        }
    }
}
