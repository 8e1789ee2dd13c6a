import Foundation
import PenstockCore

extension TransportConformance {
    /// Connections and sessions of TLS are used again, and kept apart.
    public static let secureConnections: [Rule] = [
        Rule("A hundred calls in turn use one connection of TLS", over: .tls) { probe in
            for _ in 1...100 { try await probe.send(timeouts: soon) }
            try expect(probe.server.requestCount, is: 100, "requests")
            try expect(probe.server.handshakeCount, is: 1, "handshakes")
        },
        Rule(
            "Calls at the same time over TLS each get their own answer", over: .tls,
            server: { .init(fields: ["X-Sum": "\(sum($0.body))"], body: noise($0.body.count + 1)) }
        ) { probe in
            try await atOnce(40) { index in
                let body = noise(index * 1_009)
                let reply = try await probe.send(.post, body: .bytes(body), timeouts: soon)
                try expect(reply.fields["X-Sum"], is: "\(sum(body))", "sum of what was sent")
                try expect(sum(reply.body), is: sum(noise(body.count + 1)), "sum of what came")
            }
        },
        Rule(
            "Bytes behind an answer in the same record of TLS are never taken for the next answer", over: .tls,
            and: .idleChecks,
            server: { request in
                guard request.connection == 1, request.number == 1 else { return .text("true") }
                // What a transport may read at a time, and no more, is the answer.
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\nX-Padding: "
                let answer =
                    head + String(repeating: "a", count: 120 - head.utf8.count) + "\r\n\r\n"
                    + String(repeating: "a", count: 900)
                return .wire(answer + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", .keepAlive)
            }
        ) { probe in
            let body = HTTPBody.bytes(noise(100_000))
            try expect(await probe.send(.post, body: body, timeouts: soon).body.count, is: 900, "bytes")
            try expect(await probe.send(.post, body: body, timeouts: soon).body, is: Data("true".utf8), "content")
            try expect(probe.server.connectionCount, is: 2, "connections")
        },
        Rule("Two partitions share no connection of TLS", over: .tls, and: .partitions) { probe in
            for identity in ["anna", "bert", "anna", "bert", ""] {
                var exchange = try probe.exchange(timeouts: soon)
                exchange.isolation.identity = identity
                _ = try await probe.transport.perform(exchange)
            }
            try expect(probe.server.connectionCount, is: 3, "connections")
        },
        Rule(
            "A session of TLS goes on for its own identity only", over: .tls, and: .partitions,
            server: { _ in .text("ok").ending(.close) }
        ) { probe in
            var known: Set<String> = []
            for identity in ["anna", "bert", "anna", "", "bert", "carl"] {
                var exchange = try probe.exchange(timeouts: soon)
                exchange.isolation.identity = identity
                _ = try await probe.transport.perform(exchange)
                let isResumed = probe.server.connections.last?.handshake?.isResumed ?? false
                try expect(!isResumed || known.contains(identity), "\(identity) goes on with another's session")
                known.insert(identity)
            }
        },
        Rule(
            "A session of TLS 1.2 goes on for its own identity only",
            over: .tls.with { $0.versions = .tls12 ... .tls12 }, and: .partitions,
            server: { _ in .text("ok").ending(.close) }
        ) { probe in
            for identity in ["anna", "bert"] {
                var exchange = try probe.exchange(timeouts: soon)
                exchange.isolation.identity = identity
                _ = try await probe.transport.perform(exchange)
                try expect(probe.server.connections.last?.handshake?.isResumed, is: false, "a session went on")
            }
        },
        Rule(
            "A connection of TLS that the server closes is not used again", over: .tls,
            server: { _ in .text("ok").ending(.close) }
        ) { probe in
            for _ in 1...3 { try await probe.send(.post, timeouts: soon) }
            try expect(probe.server.connectionCount, is: 3, "connections")
            try expect(probe.server.requestCount, is: 3, "requests")
        },
        Rule(
            "A connection of TLS made beforehand sends nothing, and carries the first request", over: .tls,
            and: .preconnection
        ) { probe in
            try await probe.transport.preconnect(probe.exchange())
            try expect(probe.server.requestCount, is: 0, "requests")
            try await probe.send(timeouts: soon)
            try expect(probe.server.handshakeCount, is: 1, "handshakes")
        },
        Rule("The time of the handshake is told", over: .tls, and: .timings) { probe in
            let timings = try await probe.transport.perform(probe.exchange(timeouts: soon)).timings
            let times = [timings.connected, timings.secured, timings.requestStart].compactMap { $0 }
            try expect(times.count, is: 3, "times told")
            try expect(times == times.sorted(), "the times are out of order: \(times)")
        },
        Rule(
            "Cancelling a call over TLS closes its connection", over: .tls, server: { _ in .hold }
        ) { probe in
            let control = ExchangeControl()
            async let error = probe.failure(.post, timeouts: soon, control: control)
            try await probe.server.waitForRequests(count: 1)
            control.cancel()
            try await expect(error, .cancelled, sendState: .maybeProcessed)
            try await probe.server.waitForAborts(count: 1)
        },
    ]
}
