import Foundation
import PenstockCore

extension TransportConformance {
    /// Cancelling closes the wire whatever the exchange is doing, and nothing is handed over afterwards.
    public static let cancellation: [Rule] = [
        cancels("before a byte of the answer", ""),
        cancels("in the status line", "HTTP/1.1 2"),
        cancels("in the header", "HTTP/1.1 200 OK\r\nX-A: 1\r\n"),
        cancels("before the content", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        cancels("in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
        cancels("in content without a length", "HTTP/1.1 200 OK\r\n\r\nhel"),
        cancels("after an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n"),
        Rule(
            "Cancelling an upload closes the wire",
            starting: {
                var slow = LoopbackServer.Configuration()
                slow.receiving = .init(bytes: 64 << 10, per: .milliseconds(20))
                return try LoopbackServer(slow) { _ in .text("ok") }
            }
        ) { probe in
            let control = ExchangeControl()
            async let error = probe.failure(.put, body: .bytes(Data(count: 64 << 20)), control: control)
            while probe.server.connections.first?.bytesReceived ?? 0 < 256 << 10 {
                try await Task.sleep(for: .milliseconds(1))
            }
            control.cancel()
            try await expect(error, .cancelled, sendState: .maybeProcessed)
            try await probe.server.waitForAborts(count: 1)
            try expect(probe.server.requestCount, is: 0, "requests")
        },
        Rule(
            "No progress is told after the end", needsWire: true,
            server: { _ in
                var response = LoopbackServer.Response()
                response.body = .produced(pause: .milliseconds(1)) { _ in Data("x".utf8) }
                return response
            }
        ) { probe in
            let (reports, isOver) = (Locked(0), Locked(false))
            let control = ExchangeControl { _ in
                if isOver.withLock({ $0 }) {
                    reports.withLock { $0 += 1_000_000 }
                } else {
                    reports.withLock { $0 += 1 }
                }
            }
            async let error = probe.failure(control: control)
            while reports.withLock({ $0 }) < 10 { try await Task.sleep(for: .milliseconds(1)) }
            control.cancel()
            try await expect(error, .cancelled, sendState: .answered)
            isOver.withLock { $0 = true }
            try await probe.server.waitForAborts(count: 1)
            try expect(reports.withLock { $0 } < 1_000_000, "progress was told after the end")
        },
        Rule("Cancelling what is over does nothing", needsWire: true) { probe in
            for _ in 1...3 {
                let control = ExchangeControl()
                try await probe.send(control: control)
                control.cancel()
                control.suspend()
                control.resume()
            }
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "Cancelling one exchange leaves the others alone", needsWire: true,
            server: { $0.path == "/held" ? .hold : .text("late").delayed(by: .milliseconds(300)) }
        ) { probe in
            let control = ExchangeControl()
            async let held = probe.failure(.get, "/held", control: control)
            async let first = probe.send(.get, "/1")
            async let second = probe.send(.get, "/2")
            try await probe.server.waitForRequests(count: 3)
            control.cancel()
            try await expect(held, .cancelled)
            try expect(await [first.status, second.status], is: [200, 200], "status of the others")
        },
        Rule(
            "One control ends every exchange that comes to it", needsWire: true, server: { _ in .hold }
        ) { probe in
            let control = ExchangeControl()
            async let held = probe.failure(control: control)
            try await probe.server.waitForRequests(count: 1)
            control.cancel()
            try await expect(held, .cancelled, sendState: .maybeProcessed)
            try await expect(probe.failure(control: control), .cancelled, sendState: .unsent)
            try expect(probe.server.requestCount, is: 1, "requests")
        },
        Rule(
            "Exchanges that are cancelled at any moment end once, and leave nothing open", needsWire: true,
            server: { _ in .chunks([Data("a".utf8), Data("b".utf8)], pause: .milliseconds(1)) }
        ) { probe in
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    let control = ExchangeControl()
                    group.addTask { _ = try? await probe.send(.post, body: .bytes(allBytes), control: control) }
                    group.addTask {
                        try? await Task.sleep(for: .microseconds(index * 100))
                        control.cancel()
                    }
                }
            }
            try expect(await probe.send().body, is: Data("ab".utf8), "content")
        },
        Rule(
            "Shutting down in the middle of content closes the wire", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            async let first = probe.failure()
            async let second = probe.failure()
            try await probe.server.waitForRequests(count: 2)
            await probe.transport.shutdown()
            try await expect(first, .cancelled)
            try await expect(second, .cancelled)
            try await probe.server.waitForAborts(count: 2)
        },
    ]

    private static func cancels(_ when: String, _ reply: String) -> Rule {
        Rule(
            "Cancelling \(when) closes the wire", needsWire: true,
            server: { $0.path == "/next" ? .text("ok") : .wire(reply, .hold) }
        ) { probe in
            let control = ExchangeControl()
            async let error = probe.failure(.post, body: .bytes(Data("x".utf8)), control: control)
            try await probe.server.waitForRequests(count: 1)
            try await probe.waitForBytes(reply.utf8.count)
            control.cancel()
            try await expect(error, .cancelled)
            try expect(await error.sendState > .unsent, "the request counts as unsent")
            try await probe.server.waitForAborts(count: 1)
            try await probe.send(.get, "/next")
        }
    }
}
