import Foundation
import PenstockCore

extension TransportConformance {
    /// A call is suspended while its answer is awaited, and resumed when the answer is there: the answer is read as if
    /// nothing had been.
    static let suspension: [Rule] = [
        flickers("of many lines", "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: 2\r\nContent-Length: 2\r\n\r\nok"),
        flickers("of one line", "HTTP/1.1 200 OK\r\n\r\nok", .drop),
        flickers("that ends its lines with LF alone", "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok"),
        flickers(
            "after interim responses",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"),
        flickers(
            "with trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n"),
        Rule(
            "A connection is not used again on which bytes come behind an answer while its call is resumed and suspended at once",
            requires: [.suspension, .exactHeads, .idleChecks], needsWire: true,
            server: { request in
                guard request.path.hasPrefix("/tap-") else { return .text("ok") }
                holds.waitUntilClosed(request.path)
                return .wire(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP", .keepAlive)
            }
        ) { probe in
            try await flicker(probe)
            try await probe.server.waitForOpenConnections(atMost: 1)
        },
        Rule(
            "An answer of HTTP/2 that comes while its call is resumed and suspended at once is read whole",
            over: .http2,
            and: .suspension,
            server: { request in
                holds.waitUntilClosed(request.path)
                return .text("ok", fields: ["X-A": "1", "X-B": "2"])
            }
        ) { probe in try await flicker(probe) },
    ]

    private static let holds = RunningTaps()

    private static func flickers(
        _ what: String, _ reply: String, _ ending: LoopbackServer.Response.Ending = .keepAlive
    ) -> Rule {
        Rule(
            "An answer \(what) that comes while its call is resumed and suspended at once is read whole",
            requires: [.suspension, .exactHeads], needsWire: true,
            server: { request in
                guard request.path.hasPrefix("/tap-") else { return .text("ok") }
                holds.waitUntilClosed(request.path)
                return .wire(reply, ending)
            }
        ) { probe in try await flicker(probe) }
    }

    private static func flicker(_ probe: Probe) async throws {
        let hold = holds.open()
        defer { holds.close(hold) }
        let control = ExchangeControl()
        async let response = probe.send(.get, hold, timeouts: soon, control: control)
        try await probe.server.waitForRequests(count: 1)
        control.suspend()
        // Whoever performs this one has seen to the suspension before.
        try await probe.send(.get, "/other")
        let connection = try probe.lastRequest().connection
        let before = probe.server.bytesSent(onAllBut: connection)
        holds.close(hold)
        let end = ContinuousClock.now + .seconds(10)
        while !isShared(probe), probe.server.bytesSent(onAllBut: connection) == before {
            try expect(ContinuousClock.now < end, "the server did not answer")
            try await Task.sleep(for: .milliseconds(1))
        }
        // A report comes on the transport's own thread, which therefore sees both at once.
        let flickering = ExchangeControl { _ in
            control.resume()
            control.suspend()
        }
        for _ in 1...3 { try await probe.send(.get, "/other", control: flickering) }
        try await probe.send(.get, "/other")
        control.resume()
        let answer = try await response
        try expect(answer.status, is: 200, "status")
        try expect(answer.body, is: Data("ok".utf8), "content")
    }

    /// Whether all exchanges go over one connection, so that the answer cannot be told from what else is sent.
    private static func isShared(_ probe: Probe) -> Bool {
        probe.server.connectionCount == 1
    }
}

extension LoopbackServer {
    fileprivate func bytesSent(onAllBut number: Int) -> Int {
        connections.filter { $0.number != number }.map(\.bytesSent).reduce(0, +)
    }
}
