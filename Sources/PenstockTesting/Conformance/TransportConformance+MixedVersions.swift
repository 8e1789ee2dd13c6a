import Foundation
import PenstockCore

extension TransportConformance {
    /// Hosts that speak HTTP/2 on some connections and HTTP/1.1 on others, as a name behind which there are several servers
    /// may: whatever a connection speaks, every response belongs to its request.
    public static let mixedVersions: [Rule] = [
        Rule(
            "A connection of HTTP/1.1 takes no request before the last one is answered, although another speaks HTTP/2",
            over: .mixed,
            server: { .text($0.path).delayed(by: $0.path == "/slow" ? .milliseconds(700) : .zero) }
        ) { probe in
            for round in 1...3 {
                async let slow = probe.send(.get, "/slow", timeouts: soon)
                try await probe.server.waitForRequests(count: round * 4 - 3)
                for index in 1...3 { try await expectAnswer(to: "/\(index)", probe) }
                try expect(await slow.body, is: Data("/slow".utf8), "content of the slow one")
            }
            let served = probe.server.requests
            try expect(served.count, is: 12, "requests")
            for round in 0..<3 {
                let slow = served[round * 4].connection
                let others = served[(round * 4 + 1)...(round * 4 + 3)].filter { $0.stream == nil }
                try expect(
                    others.allSatisfy { $0.connection != slow }, "a connection of HTTP/1.1 took two requests at a time")
            }
        },
        Rule(
            "Connections of both versions are used again, one call after the other", over: .mixed,
            server: { .text($0.path).delayed(by: $0.path == "/slow" ? .milliseconds(300) : .zero) }
        ) { probe in
            async let slow = probe.send(.get, "/slow", timeouts: soon)
            try await probe.server.waitForRequests(count: 1)
            try await expectAnswer(to: "/other", probe)
            _ = try await slow
            let connections = probe.server.connectionCount
            for index in 1...50 { try await expectAnswer(to: "/\(index)", probe) }
            try expect(probe.server.connectionCount, is: connections, "connections")
        },
        burst(.get, body: .none), burst(.post, body: .bytes(Data("abcdef".utf8))),
    ]

    /// Connections of HTTP/2 end after a few streams.
    private static func burst(_ method: HTTPMethod, body: HTTPBody) -> Rule {
        Rule(
            "Calls at the same time to a host of both versions each get their own answer: \(method)", over: .mixed,
            server: { request in
                guard let stream = request.stream, stream % 6 == 5 else {
                    return .text(request.path).delayed(by: .milliseconds(3))
                }
                return Frames(for: request).goAway(lastStream: stream).head().data(request.path).response
            }
        ) { probe in
            for round in 1...4 {
                try await atOnce(40) { index in
                    let path = "/\(round)-\(index)"
                    let exchange = try probe.exchange(method, path, body: body, timeouts: soon)
                    switch await probe.outcome(of: exchange) {
                    case .success(let answer): try expect(answer.response.body, is: Data(path.utf8), "content")
                    // Its connection may end meanwhile, and what is not idempotent is not sent again.
                    case .failure(let error): try expect(error, .connectionLost)
                    }
                }
            }
        }
    }

    private static func expectAnswer(to path: String, _ probe: Probe) async throws {
        try expect(await probe.send(.get, path, timeouts: soon).body, is: Data(path.utf8), "content")
    }
}
