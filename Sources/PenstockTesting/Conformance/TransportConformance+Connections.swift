import PenstockCore

extension TransportConformance {
    /// How connections are made, used again and kept apart.
    public static let connections: [Rule] = [
        Rule("A hundred calls in turn use one connection", needsWire: true) { probe in
            for _ in 1...100 { try await probe.send() }
            try expect(probe.server.requestCount, is: 100, "requests")
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "A connection that the server closes is not used again", needsWire: true,
            server: { _ in .text("ok").ending(.close) }
        ) { probe in
            for _ in 1...3 { try await probe.send() }
            try expect(probe.server.connectionCount, is: 3, "connections")
        },
        Rule("Calls at the same time each get their own answer", server: { .text($0.target) }) { probe in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 1...100 {
                    group.addTask {
                        let response = try await probe.send(.get, "/\(index)")
                        try expect(String(decoding: response.body, as: UTF8.self), is: "/\(index)", "content")
                    }
                }
                try await group.waitForAll()
            }
        },
        Rule("Two partitions share no connection", requires: .partitions, needsWire: true) { probe in
            var exchange = try probe.exchange()
            for environment in ["", "test", "production"] {
                exchange.isolation.environment = environment
                for identity in ["", "anna", "bert"] {
                    exchange.isolation.identity = identity
                    for _ in 1...2 { _ = try await probe.transport.perform(exchange) }
                }
            }
            try expect(probe.server.connectionCount, is: 9, "connections")
        },
        Rule(
            "A connection made beforehand sends nothing, and carries the first request", requires: .preconnection,
            needsWire: true
        ) { probe in
            try await probe.transport.preconnect(probe.exchange())
            try expect(probe.server.requestCount, is: 0, "requests")
            try await probe.send()
            try expect(probe.server.connectionCount, is: 1, "connections")
        },
        Rule(
            "A request through a proxy names its whole target, and shares no connection with others",
            requires: [.proxies, .timings], needsWire: true
        ) { probe in
            var exchange = try probe.exchange(.get, "/path")
            exchange.proxy = .http(probe.server.url)
            for isReused in [false, true] {
                let connection = try await probe.transport.perform(exchange).connection
                try expect(connection.isReused, is: isReused, "use again")
            }
            try await probe.send()
            let targets = probe.server.requests.map(\.target)
            let whole = try probe.server.url.resolving("/path").absoluteString
            try expect(targets, is: [whole, whole, "/"], "targets")
            try expect(probe.server.connectionCount, is: 2, "connections")
        },
        Rule("The facts of the connection and the times are told", requires: .timings, needsWire: true) { probe in
            let first = try await probe.transport.perform(probe.exchange())
            let second = try await probe.transport.perform(probe.exchange())
            try expect(first.connection.isReused, is: false, "the first use")
            try expect(second.connection.isReused, is: true, "the second use")
            try expect(first.connection.remotePort, is: probe.server.url.port, "port")
            let times = [
                first.timings.connected, first.timings.requestStart, first.timings.responseStart, first.timings.total,
            ]
            let known = times.compactMap { $0 }
            try expect(known.count, is: times.count, "times told")
            try expect(known == known.sorted(), "the times are out of order: \(known)")
        },
    ]
}
