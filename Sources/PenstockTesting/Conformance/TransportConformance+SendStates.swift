import Foundation
import PenstockCore

extension TransportConformance {
    /// Every failure tells how far its request got: each thing that can go wrong, at each point of an exchange.
    public static let sendStates =
        faults + [
            Rule("A name that nobody knows is unreachable, and nothing was sent", needsWire: true) { probe in
                let url = try HTTPURL("http://penstock.invalid:\(probe.server.url.port)/")
                let error = try await probe.failure(of: lone(url))
                try expect(
                    error.kind == .unreachable(.nameNotResolved) || error.kind == .timeout(.connect)
                        || error.kind == .timeout(.total), "failed with \(error.kind)")
                try expect(error.sendState, is: .unsent, "send state")
            },
            Rule("A connection beforehand that is refused sent nothing", requires: .preconnection, needsWire: true) {
                probe in
                let gone = try LoopbackServer { _ in .init() }
                gone.stop()
                do throws(TransportError) {
                    try await probe.transport.preconnect(lone(gone.url))
                } catch {
                    return try expect(error, .unreachable(.connectionRefused), sendState: .unsent)
                }
                throw Unmet(description: "expected a failure")
            },
            Rule(
                "A request that was sent again by itself says so", requires: [.sendsOnce, .timings],
                starting: {
                    try LoopbackServer(faults: [nil, .init(.close, at: .responseStart)]) {
                        $0.path == "/dies" ? .close : .text("ok")
                    }
                }
            ) { probe in
                try await probe.send()
                let answer = try await probe.transport.perform(probe.exchange(.put, body: .bytes(allBytes)))
                let resends = Array(repeating: SendState.maybeProcessed, count: probe.server.requestCount - 2)
                try expect(answer.connection.resends, is: resends, "resends")
                let exchange = try probe.exchange(.put, "/dies", body: .bytes(allBytes))
                let error = try await probe.failure(of: exchange)
                try expect(error, .connectionLost, sendState: .maybeProcessed)
                let deaths = probe.server.requests.count { $0.path == "/dies" }
                try expect(error.connection.resends.count, is: deaths - 1, "resends of the one that failed")
            },
            onlyOnce(.close), onlyOnce(.reset), onlyOnce(.shutDown),
            Rule(
                "A request that may be sent again is, at most once, when the connection it was to use again dies",
                requires: .sendsOnce,
                starting: { try LoopbackServer(faults: [nil, .init(.close, at: .responseStart)]) { _ in .text("ok") } }
            ) { probe in
                try await probe.send()
                let outcome = try await probe.outcome(of: probe.exchange(.put, body: .bytes(allBytes)))
                if case .failure(let error) = outcome { try expect(error, .connectionLost, sendState: .maybeProcessed) }
                try expect(probe.server.requestCount <= 3, "\(probe.server.requestCount) requests")
            },
        ]

    // MARK: Every effect at every trigger

    private static let effects: [(String, LoopbackServer.Fault.Effect)] = [
        ("closes", .close), ("ends its side", .shutDown), ("resets", .reset), ("stalls", .stall),
    ]

    private static let triggers: [(String, LoopbackServer.Fault.Trigger)] = [
        ("when the request begins", .requestStart), ("within the request's content", .requestBody(after: 1_000)),
        ("before the response", .responseStart), ("within the response's content", .responseBody(after: 100_000)),
        ("before the response's end", .responseBody(after: 200_000)), ("after the response", .responseEnd),
    ]

    private static let faults: [Rule] = effects.flatMap { effect in
        triggers.map { trigger in
            Rule(
                "A server that \(effect.0) \(trigger.0) leaves no doubt about the request",
                starting: {
                    try LoopbackServer(faults: [.init(effect.1, at: trigger.1)]) { _ in
                        .chunks([allBytes.prefix(100_000), allBytes.dropFirst(100_000)])
                    }
                }
            ) { probe in
                if trigger.1 == .responseEnd { return try await survives(effect.1, probe) }
                try await fails(effect.1, trigger.1, probe)
            }
        }
    }

    private static func fails(
        _ effect: LoopbackServer.Fault.Effect, _ trigger: LoopbackServer.Fault.Trigger, _ probe: Probe
    ) async throws {
        let error = try await probe.failure(.post, body: .bytes(allBytes), timeouts: patient)
        try expect(error, effect == .stall ? .timeout(.idle) : .connectionLost)
        try expect(expected(effect, trigger).contains(error.sendState), "the request counts as \(error.sendState)")
        try await probe.server.waitForFaults(count: 1)
        // What a server that stalls has not read hides from it that the client has gone.
        if effect != .stall { try await probe.server.waitForOpenConnections(atMost: 0) }
        try expect(await probe.send(.get, "/next").status, is: 200, "status of the next exchange")
        try expect(probe.server.connectionCount, is: 2, "connections")
        probe.server.stop()
    }

    private static func expected(
        _ effect: LoopbackServer.Fault.Effect, _ trigger: LoopbackServer.Fault.Trigger
    ) -> [SendState] {
        guard case .responseBody = trigger else { return [.maybeProcessed] }
        // A reset may overtake what was sent before it.
        return effect == .reset ? [.answered, .maybeProcessed] : [.answered]
    }

    /// The response is whole, whatever becomes of its connection.
    private static func survives(_ effect: LoopbackServer.Fault.Effect, _ probe: Probe) async throws {
        let outcome = try await probe.outcome(of: probe.exchange(.post, body: .bytes(allBytes)))
        switch outcome {
        case .success(let response): try expect(response.response.body == allBytes, "other content came")
        case .failure(let error):
            // A reset may overtake what was sent before it.
            guard effect == .reset else { throw error }
            try expect(error, .connectionLost)
        }
        try await probe.server.waitForFaults(count: 1)
        guard effect != .stall else { return }
        try await probe.server.waitForOpenConnections(atMost: 0)
        try expect(await probe.send(.get, "/next").status, is: 200, "status of the next exchange")
        try expect(probe.server.connectionCount, is: 2, "connections")
    }

    /// The second request goes over the connection of the first, which dies before the answer.
    private static func onlyOnce(_ effect: LoopbackServer.Fault.Effect) -> Rule {
        Rule(
            "A request that may be sent only once is, when the connection it was to use again dies by \(effect)",
            requires: .sendsOnce,
            starting: { try LoopbackServer(faults: [nil, .init(effect, at: .responseStart)]) { _ in .text("ok") } }
        ) { probe in
            try await probe.send()
            try await expect(probe.failure(.post, body: .bytes(allBytes)), .connectionLost, sendState: .maybeProcessed)
            try expect(probe.server.requestCount, is: 2, "requests")
        }
    }

    private static let patient = Timeouts(connect: nil, firstByte: nil, idle: .seconds(2), total: .seconds(30))

    private static func lone(_ url: HTTPURL) -> TransportRequest {
        TransportRequest(
            HTTPRequest(method: .post, url: url, body: .bytes(allBytes)),
            timeouts: Timeouts(connect: .seconds(5), firstByte: nil, idle: nil, total: .seconds(10)))
    }
}
