#if os(Linux)
    import Foundation
    import Penstock
    import PenstockCore
    import PenstockCurl
    import PenstockTesting
    import PenstockURLSession

    /// Makes the exchanges of a soak, through everything that a call passes by default.
    struct SoakCaller: Sendable {
        /// On connections that share one multi handle, or one session.
        private let curl = CurlTransport()
        private let session = URLSessionTransport()
        private let stub: StubTransport
        private let servers: SoakServers
        private let clients = Locked<[ClientKey: APIClient]>([:])

        private struct ClientKey: Hashable {
            let wire: SoakWire
            let isDoor: Bool
            /// Exchanges whose connections must not be harmed by others', or harm theirs.
            let company: String
        }

        init(_ servers: SoakServers) {
            self.servers = servers
            stub = StubTransport(answeredBy: servers.clear)
        }

        /// Closes everything.
        func shutdown() async {
            await curl.shutdown()
            await session.shutdown()
            await stub.shutdown()
        }

        /// Calls that are not over.
        var callCount: Int { clients.withLock { $0.values.reduce(0) { $0 + $1.callCount } } }

        // MARK: One exchange

        func perform(_ plan: SoakPlan) async -> (SoakOutcome, SoakWitness) {
            let witness = SoakWitness()
            let (client, script) = client(for: plan)
            var outcome = plan.isStreamed ? await stream(plan, client) : await collect(plan, client, witness)
            outcome.leftOpen = script?.openExchangeCount ?? 0
            return (outcome, witness)
        }

        private func collect(_ plan: SoakPlan, _ client: APIClient, _ witness: SoakWitness) async -> SoakOutcome {
            let call = client.start(SoakEndpoint(plan: plan), on: witness) { witness, result in
                witness.complete(result)
            }
            let canceller = plan.cancelAfter.map { patience in
                Task {
                    try await Task.sleep(for: patience)
                    await witness.cancel(call)
                }
            }
            await witness.untilEnded()
            canceller?.cancel()
            _ = await canceller?.result
            let result = await witness.end ?? .failure(APIError(.cancelled, stage: .transport))
            let isCancelled = await witness.isCancelled
            return SoakOutcome(result: result, isCancelled: isCancelled, isLate: isCancelled)
        }

        private func stream(_ plan: SoakPlan, _ client: APIClient) async -> SoakOutcome {
            let reading = Task { await read(plan, client) }
            let canceller = plan.cancelAfter.map { patience in
                Task {
                    try await Task.sleep(for: patience)
                    reading.cancel()
                }
            }
            let outcome = await reading.value
            canceller?.cancel()
            _ = await canceller?.result
            return outcome
        }

        private func read(_ plan: SoakPlan, _ client: APIClient) async -> SoakOutcome {
            var outcome = SoakOutcome(result: .success(Data()))
            do throws(APIError) {
                let response = try await client.stream(SoakEndpoint(plan: plan))
                try await read(response, plan, &outcome)
            } catch {
                outcome.result = .failure(error)
                outcome.isCancelled = Task.isCancelled
            }
            return outcome
        }

        private func read(
            _ response: StreamedResponse, _ plan: SoakPlan, _ outcome: inout SoakOutcome
        ) async throws(APIError) {
            var pieces = response.makeAsyncIterator()
            while outcome.received.count <= plan.abandonAfter ?? .max {
                outcome.isLate = Task.isCancelled
                guard let piece = try await pieces.next() else {
                    outcome.result = .success(outcome.received)
                    return
                }
                outcome.received += piece
                guard !outcome.isLate else { return }
            }
            outcome.isAbandoned = true
        }

        // MARK: Clients

        private func client(for plan: SoakPlan) -> (APIClient, ScriptedTransport?) {
            if plan.wire == .scripted {
                let script = ScriptedTransport([SoakScript.step(for: plan)])
                return (make(plan, script, company: ""), script)
            }
            let company = company(of: plan)
            let key = ClientKey(wire: plan.wire, isDoor: plan.trouble == .handshake, company: company)
            let client = clients.withLock { clients in
                if let known = clients[key] { return known }
                let new = make(plan, transport(for: plan.wire), company: company)
                clients[key] = new
                return new
            }
            return (client, nil)
        }

        /// On HTTP/2 what ends a connection ends all that goes over it, and on HTTP/1.1 a server that stalls after a response
        /// stalls the exchange that comes next.
        private func company(of plan: SoakPlan) -> String {
            if plan.isApart { return "apart" }
            if plan.trouble.isStall { return "stalling" }
            return plan.trouble.endsConnections ? "harmful" : ""
        }

        private func transport(for wire: SoakWire) -> any Transport {
            switch wire {
            case .http1, .http2: curl
            case .urlSession: session
            case .scripted, .stub: stub
            }
        }

        private func make(_ plan: SoakPlan, _ transport: any Transport, company: String) -> APIClient {
            let service = Service(.main, [.test: servers.server(for: plan).url.absoluteString])
            var configuration = APIClient.Configuration(services: [service])
            configuration.environment = .test
            configuration.identity = { company }
            configuration.options.cleartext = .loopback
            if plan.wire == .http2 { configuration.options.trust = .authorities(servers.authority.file) }
            configuration.cookies = MemoryCookieStore()
            configuration.cache = .none
            // What is told of one exchange, of very many that fail: another attempt, or none at all, would tell of something else.
            configuration.options.retry = RetryPolicy.none
            configuration.circuitBreaker = nil
            return APIClient(configuration, transport: transport)
        }
    }

    /// The call that a plan is about.
    private struct SoakEndpoint: Endpoint {
        typealias Output = Data
        let plan: SoakPlan

        var route: Route { Route(plan.method, "/\(plan.index)") }
        var envelope: EnvelopeChoice { .none }
        var options: CallOptions { .with { $0.timeouts = plan.timeouts } }

        var body: HTTPBody {
            guard !plan.request.isEmpty else { return .none }
            return plan.isRequestStreamed ? stream : .bytes(plan.request)
        }

        /// Of a known length or not.
        private var stream: HTTPBody {
            let content = plan.request
            return .stream(length: plan.index.isMultiple(of: 2) ? content.count : nil) {
                HTTPBody.Chunks { chunks in
                    for start in stride(from: 0, to: content.count, by: 10_000) {
                        chunks.yield(content[start..<min(start + 10_000, content.count)])
                    }
                    chunks.finish()
                }
            }
        }
    }

    /// What a script plays in place of a server.
    private enum SoakScript {
        static func step(for plan: SoakPlan) -> ScriptedTransport.Step {
            let good = HTTPResponse(status: 200, body: plan.content)
            guard plan.trouble != .handshake else { return .fail(TransportError(.tls(.handshake), sendState: .unsent)) }
            guard let fault = plan.trouble.fault else { return .respond(good) }
            if fault.effect == .stall { return .held(.respond(good)) }
            switch fault.trigger {
            case .responseEnd: return .respond(good)
            case .responseBody(let count): return .stream(HTTPResponse(status: 200), pieces(plan, count), failure: cut)
            default: return .fail(TransportError(.connectionLost, sendState: .maybeProcessed))
            }
        }

        private static let cut = TransportError(.connectionLost, sendState: .answered)

        private static func pieces(_ plan: SoakPlan, _ count: Int) -> [Data] {
            let sent = plan.content.prefix(count)
            return [Data(sent.prefix(count / 2)), Data(sent.dropFirst(count / 2))]
        }
    }
#endif
