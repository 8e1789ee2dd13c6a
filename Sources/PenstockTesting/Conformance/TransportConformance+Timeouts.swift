import Foundation
import PenstockCore

extension TransportConformance {
    /// Each time-out ends its own exchange, says which it was, and closes the wire. The limits are long enough for a slow
    /// machine to send a request within them.
    public static let timeouts: [Rule] = [
        Rule(
            "The total time ends a call, and no other", needsWire: true,
            server: { $0.path == "/hold" ? .hold : .text("late").delayed(by: .seconds(2)) }
        ) { probe in
            async let slower = probe.send(.get, "/slow")
            let error = try await probe.failure(.get, "/hold", timeouts: .total(.seconds(1)))
            try expect(error, .timeout(.total), sendState: .maybeProcessed)
            try expect(await slower.status, is: 200, "status of the slower call")
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "The total time holds though bytes keep coming", needsWire: true,
            server: { _ in
                var response = LoopbackServer.Response()
                response.body = .produced(pause: .milliseconds(20)) { _ in Data("drip".utf8) }
                return response
            }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .seconds(5), total: .seconds(1))
            try await expect(probe.failure(timeouts: limits), .timeout(.total), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule("Waiting for the first byte has its own limit", needsWire: true, server: { _ in .hold }) { probe in
            let limits = Timeouts(connect: nil, firstByte: .milliseconds(500), idle: nil, total: .seconds(20))
            try await expect(probe.failure(timeouts: limits), .timeout(.firstByte), sendState: .maybeProcessed)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "Silence in the middle has its own limit", needsWire: true,
            server: { _ in .short(Data("abc".utf8), declared: 10, ending: .hold) }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .seconds(1), total: .seconds(20))
            try await expect(probe.failure(timeouts: limits), .timeout(.idle), sendState: .answered)
            try await probe.server.waitForAborts(count: 1)
        },
        Rule(
            "A slow but steady reply is not idle", needsWire: true,
            server: { _ in .chunks(Array(repeating: Data("x".utf8), count: 25), pause: .milliseconds(100)) }
        ) { probe in
            let limits = Timeouts(connect: nil, firstByte: nil, idle: .seconds(2), total: .seconds(20))
            try expect(await probe.send(timeouts: limits).body.count, is: 25, "bytes")
        },
    ]
}
