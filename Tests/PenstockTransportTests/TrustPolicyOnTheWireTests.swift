#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What a client's calls make of a trust policy on real sockets: whatever makes a connection keeps it, and what changes it
    /// leaves nothing behind of the old one.
    @Suite(.timeLimit(.minutes(5)))
    struct TrustPolicyOnTheWireTests {
        private static let nobodys = [PublicKeyPin(ofKey: "nobody".utf8), PublicKeyPin(ofKey: "no one".utf8)]

        /// A server with TLS, and what a client needs to know of it.
        private struct Bank {
            let authority: TestCertificateAuthority
            let identity: TLSIdentity
            let server: LoopbackServer
            let reports = Locked<[PinReport]>([])

            init(
                clientAuthority: TestCertificateAuthority? = nil, isForged: Bool = false,
                answering: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in .text("ok")
                }
            ) throws {
                authority = try TestCertificateAuthority()
                var identity = try authority.issue()
                if isForged { identity.certificates = try ForgedSignature.on(identity.certificates) }
                self.identity = identity
                var tls = LoopbackServer.TLS(identity)
                tls.clientAuthorities = clientAuthority?.root
                server = try LoopbackServer(.init(tls: tls), handler: answering)
            }

            /// With pins that nobody has, unless others are given.
            func trust(_ keys: [PublicKeyPin] = nobodys, mode: PinSet.Mode = .enforced) throws -> TrustPolicy {
                let reporter = PinReporter(every: .zero) { [reports] report in reports.withLock { $0.append(report) } }
                return try TrustPolicy.authorities(authority.file).pinned(
                    [PinSet("127.0.0.1", keys: keys, mode: mode)], reporter: reporter)
            }

            var url: String { "https://127.0.0.1:\(server.url.port)" }
        }

        // MARK: Every kind of connection

        enum Connection: CaseIterable {
            case first, redirect, refresh, preconnect, stream, events, webSocket, tcp
        }

        /// Makes one connection to the bank, by way of a server in the clear where it takes one to get there.
        private func connect(
            _ kind: Connection, to bank: Bank, under trust: TrustPolicy, through proxy: ProxyPolicy = .none
        ) async throws -> APIError? {
            let lobby = try LoopbackServer { request in
                kind == .redirect
                    ? .text("moved", status: 307, fields: [.location: "\(bank.url)/page"]) : .text("who?", status: 401)
            }
            defer { lobby.stop() }
            let bankService = Service("bank", BaseURLs(bank.url))
            var main = Service(.main, BaseURLs(lobby.url.absoluteString))
            let refresh = BearerAuthenticator { _, context in
                _ = try await context.client.send(HTTPRequest(method: .get, url: HTTPURL("\(bank.url)/token")))
                return Credential("new")
            }
            if kind == .refresh { main.authenticator = refresh }
            var configuration = APIClient.Configuration(services: [main, bankService])
            configuration.options = .trust(trust).cleartext(.loopback).proxy(proxy)
            configuration.cache = .none
            let client = APIClient(configuration, transport: CurlTransport())
            if kind == .refresh { try await client.signIn(Credential("old", refreshToken: "r"), to: .main) }
            let error = await run(kind, client, bank)
            await client.transport.shutdown()
            return error
        }

        private func run(_ kind: Connection, _ client: APIClient, _ bank: Bank) async -> APIError? {
            do {
                let there = CallOptions.with { $0.baseURL = bank.url }
                switch kind {
                case .first: _ = try await client.send(Page(), options: there)
                case .redirect, .refresh: _ = try await client.send(Page())
                case .preconnect: _ = await client.preconnect(to: "bank")
                case .stream: for try await _ in try await client.stream(Page(), options: there) {}
                case .events:
                    var iterator = client.events(of: Page(), options: there).makeAsyncIterator()
                    _ = try await iterator.next()
                case .webSocket:
                    let socket = client.webSocket("/chat", options: there)
                    try await socket.open()
                    await socket.close()
                case .tcp:
                    let channel = client.tcp("127.0.0.1", port: bank.server.url.port, codec: LineCodec())
                    try await channel.open()
                    await channel.close()
                }
                return nil
            } catch {
                return error
            }
        }

        @Test(
            "Every kind of connection, directly or by a tunnel, is held to the pins, once, and sends nothing without them",
            .covers("S4.23", "S3.38", "H19"), arguments: Connection.allCases, ProxyRelay.Kind.ways)
        func everyConnection(kind: Connection, way: ProxyRelay.Kind?) async throws {
            let (bank, proxy) = (try Bank(), try way.map(ProxyRelay.init))
            defer {
                bank.server.stop()
                proxy?.stop()
            }
            let error = try await connect(kind, to: bank, under: bank.trust(), through: proxy?.policy ?? .none)
            #expect(proxy.map { $0.connections(to: bank.server) } ?? 1 == 1)
            #expect(bank.reports.withLock(\.count) == 1)
            #expect(bank.server.connectionCount == 1)
            #expect(bank.server.requestCount == 0)
            switch kind {
            case .preconnect: #expect(error == nil)
            case .refresh: #expect(error != nil)
            default: #expect(error?.kind == .tls(.pinMismatch))
            }
        }

        @Test(
            "A signature that does not fit is refused for what it is by every kind of connection, and tried once",
            .covers("H18"), arguments: Connection.allCases, [true, false])
        func forged(kind: Connection, isPinned: Bool) async throws {
            let bank = try Bank(isForged: true)
            defer { bank.server.stop() }
            let pin = try PublicKeyPin(digest: bank.identity.publicKeyHash())
            let trust = isPinned ? try bank.trust([pin, Self.nobodys[0]]) : .authorities(bank.authority.file)
            let error = try await connect(kind, to: bank, under: trust)
            #expect(bank.server.connectionCount == 1)
            #expect(bank.server.requestCount == 0)
            #expect(bank.reports.withLock(\.isEmpty))
            switch kind {
            case .preconnect: #expect(error == nil)
            case .refresh: #expect(error != nil)
            default: #expect(error?.kind == .tls(.untrusted))
            }
        }

        @Test("A client's certificate that OpenSSL does not use is told as such, and nothing is sent")
        func weakIdentity() async throws {
            let bank = try Bank()
            defer { bank.server.stop() }
            let trust = TrustPolicy.authorities(bank.authority.file).identified(by: WeakIdentity.pem)
            let error = try await connect(.first, to: bank, under: trust)
            #expect(error?.kind == .tls(.clientCertificate))
            #expect(error?.sendState == .unsent)
            #expect(bank.server.connectionCount == 0)
        }

        @Test(
            "Pins that are only reported on are asked on every kind of connection, and break none",
            arguments: Connection.allCases, ProxyRelay.Kind.ways)
        func reported(kind: Connection, way: ProxyRelay.Kind?) async throws {
            let bank = try Bank { request in
                request.fields["Upgrade"] == nil
                    ? .text("data: x\n\n", fields: [.contentType: "text/event-stream"])
                    : .webSocket(request) { $0.echo() }
            }
            let proxy = try way.map(ProxyRelay.init)
            defer {
                bank.server.stop()
                proxy?.stop()
            }
            let error = try await connect(
                kind, to: bank, under: bank.trust(mode: .reportOnly), through: proxy?.policy ?? .none)
            #expect(proxy.map { $0.connections(to: bank.server) } ?? 1 == 1)
            #expect(error == nil || kind == .refresh)
            #expect(bank.reports.withLock { $0.map(\.isRefused) } == [false])
            try await bank.server.waitForHandshakes(count: 1)
            #expect(bank.server.handshakeCount == 1)
            #expect(bank.server.requestCount == (kind == .preconnect || kind == .tcp ? 0 : 1))
        }

        @Test("A refresh in the background is held to the pins, once, and what is stored stays", .covers("S4.23"))
        func refreshInTheBackground() async throws {
            let bank = try Bank()
            defer { bank.server.stop() }
            let reports = Monitor<[PinReport]>([])
            let reporter = PinReporter(every: .zero) { report in reports.withLock { $0.append(report) } }
            let pins = [try PinSet("127.0.0.1", keys: Self.nobodys)]
            let trust = try TrustPolicy.authorities(bank.authority.file).pinned(pins, reporter: reporter)
            let store = MemoryCacheStore()
            func client(_ transport: any Transport) -> APIClient {
                var configuration = APIClient.Configuration(
                    BaseURLs(bank.url), options: .trust(trust).cache(.http))
                configuration.cache = .store(store)
                return APIClient(configuration, transport: transport)
            }
            let fields: HTTPFields = ["Cache-Control": "max-age=0, stale-while-revalidate=600"]
            let stored = HTTPResponse(status: 200, fields: fields, body: Data("stored".utf8))
            _ = try await client(ScriptedTransport([.respond(stored)])).send(Page())
            let asking = client(CurlTransport())
            #expect(try await asking.send(Page()) == Data("stored".utf8))
            await reports.waitUnlessCancelled { !$0.isEmpty }
            await asking.transport.shutdown()
            #expect(reports.withLock { $0.map(\.isRefused) } == [true])
            #expect(bank.server.connectionCount == 1 && bank.server.requestCount == 0)
        }

        @Test("A connection that is made again is asked again", .covers("S4.23"))
        func again() async throws {
            let bank = try Bank { _ in .text("ok").ending(.close) }
            defer { bank.server.stop() }
            let trust = try bank.trust(mode: .reportOnly)
            let client = APIClient(BaseURLs(bank.url), options: .trust(trust), transport: CurlTransport())
            for _ in 1...4 { _ = try await client.send(Page(), options: .cache(.reload)) }
            await client.transport.shutdown()
            // A session that goes on is that of a chain that was judged.
            let judged = bank.server.connections.filter { $0.handshake?.isResumed == false }.count
            #expect(bank.server.connectionCount == 4 && judged >= 1)
            #expect(bank.reports.withLock(\.count) == judged)
        }

        @Test(
            "A refused certificate is not tried again", .covers("H18", "H19"),
            arguments: [
                TestCertificate.expired, .notYetValid, .wrongHost, .commonNameOnly("127.0.0.1"), .hosts(["*"]),
                .hosts(["127.0.0.1.elsewhere.test"]),
            ])
        func neverRetried(certificate: TestCertificate) async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue(certificate)))) { _ in .text("ok") }
            defer { server.stop() }
            let client = APIClient(
                BaseURLs("https://127.0.0.1:\(server.url.port)"), options: .trust(.authorities(authority.file)),
                transport: CurlTransport())
            let error = await client.failure(Page())
            await client.transport.shutdown()
            #expect(error?.kind == .tls(.expired) || error?.kind == .tls(.wrongHost))
            #expect(server.connectionCount == 1 && server.requestCount == 0)
            #expect(error?.attempts.count == 1)
        }

        @Test(
            "A wildcard stands for one label of a host, never below a top-level domain alone, and who is refused is not asked again",
            .covers("H18"),
            arguments: [
                ("*.test", "shop.test", false), ("*.test.", "shop.test", false), ("*.*", "shop.test", false),
                ("*.shop.test", "shop.test", false), ("*.shop.test", "a.b.shop.test", false),
                ("*.shop.test", "www.shop.test", true),
            ])
        func wildcard(name: String, host: String, isGood: Bool) async throws {
            let authority = try TestCertificateAuthority()
            let identity = try authority.issue(.hosts([name]))
            let server = try LoopbackServer(.init(tls: .init(identity))) { _ in .text("ok") }
            defer { server.stop() }
            let resolver = HostResolver([try StaticHosts([host: ["127.0.0.1"]])], fallsBackToSystem: false)
            let client = APIClient(
                BaseURLs("https://\(host):\(server.url.port)"),
                options: .with {
                    $0.trust = .authorities(authority.file)
                    $0.resolver = resolver
                }, transport: CurlTransport())
            let error = await client.failure(Page())
            await client.transport.shutdown()
            #expect(error?.kind == (isGood ? nil : .tls(.wrongHost)))
            #expect(server.connectionCount == 1 && server.requestCount == (isGood ? 1 : 0))
            #expect(isGood || error?.attempts.count == 1)
        }

        @Test(
            "A certificate that the system does not know is refused by every transport that nobody has told more",
            .covers("H18", "S4.22", "S2.30"), arguments: TransportUnderTest.withWire, [true, false])
        func unknown(transport: TransportUnderTest, signsItself: Bool) async throws {
            let authority = try TestCertificateAuthority()
            let identity = try signsItself ? TestCertificateAuthority.selfSigned() : authority.issue()
            let server = try LoopbackServer(.init(tls: .init(identity))) { _ in .text("ok") }
            try await Shop.run(transport, on: server) { server, client in
                let error = await client.failure(Page())
                guard case .tls = error?.kind else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(error?.attempts.count == 1)
                #expect(server.requestCount == 0)
            }
        }

        // MARK: What changes

        @Test("A file of authorities that is written anew ends what was trusted under the old one", .covers("H20"))
        func changedFile() async throws {
            let bank = try Bank()
            defer { bank.server.stop() }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
            defer { try? FileManager.default.removeItem(at: file) }
            try bank.authority.root.write(to: file)
            let client = APIClient(BaseURLs(bank.url), options: .trust(.authorities(file)), transport: CurlTransport())
            for _ in 1...2 { _ = try await client.send(Page(), options: .cache(.reload)) }
            #expect(bank.server.connectionCount == 1)
            let other = try TestCertificateAuthority(name: "Somebody else")
            try other.root.write(to: file)
            for _ in 1...2 {
                #expect(await client.failure(Page(), options: .cache(.reload))?.kind == .tls(.untrusted))
            }
            try (other.root + bank.authority.root).write(to: file)
            _ = try await client.send(Page(), options: .cache(.reload))
            try FileManager.default.removeItem(at: file)
            #expect(await client.failure(Page(), options: .cache(.reload))?.kind == .tls(.trustMaterial))
            await client.transport.shutdown()
            #expect(bank.server.requestCount == 3)
            let resumed = bank.server.connections.filter { $0.handshake?.isResumed == true }
            #expect(resumed.isEmpty)
        }

        @Test(
            "Another certificate, key, authority or pin makes another connection, and resumes nothing", .covers("H20"))
        func changedPolicy() async throws {
            let people = try TestCertificateAuthority(name: "People")
            let bank = try Bank(clientAuthority: people)
            defer { bank.server.stop() }
            let pin = try PublicKeyPin(digest: bank.identity.publicKeyHash())
            let (anna, bert) = (try people.issue(.client("anna")), try people.issue(.client("bert")))
            let renewed = try people.issue(.client("anna"))
            let base = TrustPolicy.authorities(bank.authority.file)
            let copy = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
            defer { try? FileManager.default.removeItem(at: copy) }
            try bank.authority.root.write(to: copy)
            func pem(_ identity: TLSIdentity) -> ClientIdentity {
                .pem(certificates: identity.certificates, key: identity.privateKey)
            }
            let policies: [(String, TrustPolicy)] = [
                ("anna", base.identified(by: pem(anna))), ("bert", base.identified(by: pem(bert))),
                // The same name with another key.
                ("anna", base.identified(by: pem(renewed))),
                ("anna", TrustPolicy.authorities(copy).identified(by: pem(anna))),
                (
                    "anna",
                    try base.identified(by: pem(anna)).pinned([PinSet("127.0.0.1", keys: [pin, Self.nobodys[0]])])
                ),
                (
                    "anna",
                    try base.identified(by: pem(anna)).pinned([PinSet("127.0.0.1", keys: [pin, Self.nobodys[1]])])
                ),
            ]
            let client = APIClient(BaseURLs(bank.url), transport: CurlTransport())
            for (_, trust) in policies + policies {
                _ = try await client.send(Page(), options: .trust(trust).cache(.reload))
            }
            await client.transport.shutdown()
            let handshakes = bank.server.connections.compactMap(\.handshake)
            #expect(handshakes.map(\.clientName) == policies.map(\.0))
            #expect(handshakes.allSatisfy { !$0.isResumed })
            #expect(bank.server.requestCount == 2 * policies.count)
        }

        @Test(
            "Two identities on one host have connections and sessions of their own", .covers("H21"),
            arguments: [true, false])
        func identities(keepsAlive: Bool) async throws {
            let bank = try Bank { _ in keepsAlive ? .text("ok") : .text("ok").ending(.close) }
            defer { bank.server.stop() }
            let user = Locked("anna")
            var configuration = APIClient.Configuration(
                BaseURLs(bank.url), options: .trust(.authorities(bank.authority.file)))
            configuration.identity = { user.withLock { $0 } }
            let client = APIClient(configuration, transport: CurlTransport())
            for name in ["anna", "bert", "anna", "bert"] {
                user.withLock { $0 = name }
                _ = try await client.send(Page(), options: .cache(.reload).headers(["X-User": name]))
            }
            await client.transport.shutdown()
            let connections = bank.server.connections
            #expect(connections.count == (keepsAlive ? 2 : 4))
            let resumed = connections.prefix(2).filter { $0.handshake?.isResumed != false }
            #expect(resumed.isEmpty)
            let carried = Dictionary(grouping: bank.server.requests, by: \.connection).values
            #expect(carried.allSatisfy { Set($0.map { $0.fields["X-User"] }).count == 1 })
        }
    }
#endif
