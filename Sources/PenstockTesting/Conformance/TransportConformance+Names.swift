import PenstockCore

extension TransportConformance {
    /// Where the names of hosts lead: where the resolver of the exchange says, or nothing is sent.
    public static let names: [Rule] = [
        Rule(
            "A name leads where the resolver says, and stays the name", requires: .hostResolvers, needsWire: true,
            server: { request in .text(request.fields[.host] ?? "") }
        ) { probe in
            for _ in 1...2 {
                let response = try await probe.transport.perform(probe.exchange(to: "127.0.0.1"))
                let host = "api.shop.test:\(probe.server.url.port)"
                try expect(String(decoding: response.response.body, as: UTF8.self), is: host, "host")
            }
        },
        Rule(
            "Without the system, a name that no source knows is not found", requires: .hostResolvers, needsWire: true
        ) { probe in
            var exchange = try probe.exchange(to: "127.0.0.1")
            exchange.request.url = try HTTPURL("http://other.shop.test:\(probe.server.url.port)/")
            try await expect(probe.failure(of: exchange), .unreachable(.nameNotResolved), sendState: .unsent)
            try expect(probe.server.connectionCount, is: 0, "connections")
        },
        Rule(
            "A look-up that does not end is ended by the time to connect, sent nothing, and holds up nobody else",
            requires: [.hostResolvers, .connectTimeout], needsWire: true
        ) { probe in
            let (silence, end) = AsyncStream.makeStream(of: Void.self)
            defer { end.finish() }
            let silent = HostResolver(
                [SilentSource(until: silence)], fallsBackToSystem: false, patience: .seconds(60))
            var patient = try probe.exchange(to: "127.0.0.1")
            patient.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(60))
            patient.resolver = silent
            let control = patient.control
            var brief = try probe.exchange(to: "127.0.0.1")
            brief.timeouts.connect = .milliseconds(300)
            brief.resolver = silent
            async let error = probe.failure(of: brief)
            async let last = probe.failure(of: patient)
            for _ in 1...3 {
                let response = try await probe.transport.perform(probe.exchange(to: "127.0.0.1"))
                try expect(response.response.status, is: 200, "status of another exchange with the name")
                try expect(await probe.send().status, is: 200, "status of one with an address")
            }
            try await expect(error, .timeout(.connect), sendState: .unsent)
            control.cancel()
            try await expect(last, .cancelled, sendState: .unsent)
            try expect(probe.server.requestCount, is: 6, "requests")
        },
        Rule("Who cannot go by a resolver says so, and sends nothing", excludes: .hostResolvers, needsWire: true) {
            probe in
            let error = try await probe.failure(of: probe.exchange(to: "127.0.0.1"))
            guard case .unsupported = error.kind, error.sendState == .unsent else {
                throw Unmet(description: "failed with \(error.kind), \(error.sendState)")
            }
            try expect(probe.server.connectionCount, is: 0, "connections")
        },
    ]
}

extension TransportConformance.Probe {
    /// A request to a name that only its resolver knows.
    fileprivate func exchange(to address: String) throws -> TransportRequest {
        var exchange = try exchange(timeouts: TransportConformance.soon)
        exchange.request.url = try HTTPURL("http://api.shop.test:\(server.url.port)/")
        exchange.resolver = HostResolver(
            [try StaticHosts(["api.shop.test": [address]])], fallsBackToSystem: false)
        return exchange
    }
}

/// A source that answers nothing before a moment, and does not end where it is told to.
private struct SilentSource: HostSource {
    private let silence: Task<Void, Never>

    init(until end: AsyncStream<Void>) {
        silence = Task { for await _ in end {} }
    }

    func answer(for host: String, port: Int) async throws -> HostAnswer? {
        await silence.value
        return nil
    }
}
