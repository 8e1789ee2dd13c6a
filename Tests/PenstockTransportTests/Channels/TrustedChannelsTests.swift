#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What channels make of a trust policy on real sockets. It is what calls make of it: a server that the policy refuses gets
    /// nothing of the app's.
    @Suite(.timeLimit(.minutes(5)))
    struct TrustedChannelsTests {
        enum Kind: CaseIterable {
            case webSocket, tcp
        }

        /// A channel, and the proxy on its way to the server.
        struct Road: Sendable, CustomTestStringConvertible {
            let kind: Kind
            let way: ProxyRelay.Kind?

            var testDescription: String { "\(kind), \(way.map { "\($0)" } ?? "direct")" }

            static let all = Kind.allCases.flatMap { kind in
                ProxyRelay.Kind.ways.map { Road(kind: kind, way: $0) }
            }
        }

        // MARK: The server

        /// What a server shows and asks for, under which policy a channel meets it, and what comes of that.
        struct Setting: Sendable, CustomTestStringConvertible {
            enum Signature: Sendable {
                case known, unknown, own, forged
            }

            let testDescription: String
            var certificate = TestCertificate.localhost
            var signature = Signature.known
            /// Whether a certificate of somebody else's stands behind the server's own chain.
            var isAppended = false
            var versions: ClosedRange<LoopbackServer.TLS.Version> = .tls12 ... .tls13
            var asksForClient = false
            var host = "127.0.0.1"
            let trust: @Sendable (Bank) throws -> TrustPolicy
            /// Why the channel does not open; `nil` where it does.
            var failure: TransportError.TLSFailure?
            /// Whether a connection is made at all.
            var connects = true
            /// Of each report on pins, whether the connection was refused.
            var reports: [Bool] = []

            init(
                _ name: String, _ trust: @escaping @Sendable (Bank) throws -> TrustPolicy,
                _ change: (inout Self) -> Void = { _ in }
            ) {
                testDescription = name
                self.trust = trust
                change(&self)
            }
        }

        /// A server for one kind of channel, which gives every message back and closes the connection at `die`.
        struct Bank: Sendable {
            let authority: TestCertificateAuthority
            let identity: TLSIdentity
            let stranger: TLSIdentity
            let server: LoopbackServer
            private let relay: ProxyRelay?
            let messages = Locked<[String]>([])
            let reports = Locked<[PinReport]>([])

            init(_ road: Road, _ setting: Setting = Setting("", { $0.own })) throws {
                relay = try road.way.map(ProxyRelay.init)
                authority = try TestCertificateAuthority()
                stranger = try TestCertificateAuthority.selfSigned()
                var identity =
                    switch setting.signature {
                    case .known, .forged: try authority.issue(setting.certificate)
                    case .unknown: try TestCertificateAuthority(name: "Nobody's").issue(setting.certificate)
                    case .own: try TestCertificateAuthority.selfSigned(setting.certificate)
                    }
                if setting.signature == .forged {
                    identity.certificates = try ForgedSignature.on(identity.certificates)
                }
                self.identity = identity
                var shown = identity
                if setting.isAppended { shown.certificates += stranger.certificates }
                var tls = LoopbackServer.TLS(shown)
                tls.versions = setting.versions
                if setting.asksForClient { tls.clientAuthorities = authority.root }
                server =
                    switch road.kind {
                    case .tcp: try Self.lines(.init(tls: tls), messages)
                    case .webSocket: try Self.sockets(.init(tls: tls), messages)
                    }
            }

            private static func lines(
                _ configuration: LoopbackServer.Configuration, _ messages: Locked<[String]>
            ) throws -> LoopbackServer {
                try LoopbackServer.serving(configuration) { wire, _ in
                    var (codec, input) = (LineCodec(), FrameInput())
                    while let bytes = wire.receive() {
                        input.append(bytes)
                        while let line = try? codec.decode(&input) {
                            messages.withLock { $0.append(line) }
                            guard line != "die", wire.send(Data("\(line)\n".utf8)) else { return }
                        }
                    }
                }
            }

            private static func sockets(
                _ configuration: LoopbackServer.Configuration, _ messages: Locked<[String]>
            ) throws -> LoopbackServer {
                try LoopbackServer(configuration) { request in
                    .webSocket(request) { socket in
                        while let message = socket.message(), let text = message.text {
                            messages.withLock { $0.append(text) }
                            guard text != "die", socket.send(message) else { return }
                        }
                    }
                }
            }

            func stop() {
                server.stop()
                relay?.stop()
            }

            /// The way to it.
            var proxy: ProxyPolicy { relay?.policy ?? .none }

            /// How many connections were made to it, as the proxy says; as itself does, where there is none.
            var connectionCount: Int { relay?.connections(to: server) ?? server.connectionCount }

            // MARK: Policies

            /// Its own authority alone is trusted.
            var own: TrustPolicy { .authorities(authority.file) }

            var pin: PublicKeyPin { get throws { try PublicKeyPin(digest: identity.publicKeyHash()) } }

            func pinned(
                _ keys: PublicKeyPin..., to host: String = "127.0.0.1", mode: PinSet.Mode = .enforced
            ) throws -> TrustPolicy {
                let reporter = PinReporter(every: .zero) { [reports] report in reports.withLock { $0.append(report) } }
                let set = try PinSet(host, keys: keys + [PublicKeyPin(ofKey: "spare".utf8)], mode: mode)
                return try own.pinned([set], reporter: reporter)
            }

            /// As a person that its authority knows.
            func identified(as name: String) throws -> TrustPolicy {
                let person = try authority.issue(.client(name))
                return own.identified(by: .pem(certificates: person.certificates, key: person.privateKey))
            }
        }

        private static let nobodys = PublicKeyPin(ofKey: "nobody".utf8)

        // MARK: The client

        private enum Channel: Sendable {
            case webSocket(WebSocket)
            case tcp(TCPChannel<LineCodec>)

            /// Sends a text, and returns the next that comes.
            func ask(_ text: String) async throws -> String? {
                switch self {
                case .webSocket(let socket):
                    try await socket.send(.text(text))
                    var messages = socket.messages.makeAsyncIterator()
                    return try await messages.next()?.text
                case .tcp(let channel):
                    try await channel.send(text)
                    var messages = channel.messages.makeAsyncIterator()
                    return try await messages.next()
                }
            }

            func close() async {
                switch self {
                case .webSocket(let socket): await socket.close()
                case .tcp(let channel): await channel.close()
                }
            }
        }

        /// - Parameter isKept: whether the channel connects again by itself.
        private func channel(
            _ kind: Kind, to bank: Bank, at host: String = "127.0.0.1", under trust: TrustPolicy, isKept: Bool = false,
            _ transport: CurlTransport
        ) -> Channel {
            let port = bank.server.url.port
            var options = CallOptions.trust(trust).proxy(bank.proxy)
            // A proxy leads everywhere by itself.
            if bank.proxy == .none, let names = Self.names { options.resolver = names }
            let client = APIClient(BaseURLs("https://\(host):\(port)"), options: options, transport: transport)
            let reconnection =
                isKept ? ChannelReconnection(backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(1))) : nil
            switch kind {
            case .webSocket:
                return .webSocket(client.webSocket("/chat", WebSocketOptions(reconnection: reconnection)))
            case .tcp:
                let settings = TCPOptions<String>(reconnection: reconnection)
                return .tcp(client.tcp(host, port: port, codec: LineCodec(), settings))
            }
        }

        private static let names = (try? StaticHosts(["shop.test": ["127.0.0.1"]])).map { HostResolver([$0]) }

        private func withTransport(_ body: (CurlTransport) async throws -> Void) async throws {
            let transport = CurlTransport()
            do {
                try await body(transport)
            } catch {
                await transport.shutdown()
                throw error
            }
            await transport.shutdown()
        }

        // MARK: Opened

        private static let opened = [
            Setting("the server's own authority", { $0.own }),
            Setting("a pin of the server's key", { try $0.pinned($0.pin) }),
            Setting(
                "a pin of the authority's key",
                { try $0.pinned(PublicKeyPin(digest: $0.authority.identity.publicKeyHash())) }),
            Setting("pins of another host", { try $0.pinned(nobodys, to: "elsewhere.test") }),
            Setting("pins that are only reported on", { try $0.pinned(nobodys, mode: .reportOnly) }) {
                $0.reports = [false]
            },
            Setting("a chain with a stranger's certificate behind it, without pins", { $0.own }) {
                $0.isAppended = true
            },
            Setting("TLS 1.2 where that is enough", { $0.own }) { $0.versions = .tls12 ... .tls12 },
            Setting("TLS 1.3 where no less is", { $0.own.minimumVersion(.tls13) }),
            Setting("a client's certificate in PEM", { try $0.identified(as: "anna") }) { $0.asksForClient = true },
            Setting(
                "a client's certificate in PKCS#12",
                {
                    let container = try $0.authority.issue(.client("anna")).pkcs12(passphrase: "open sesame")
                    return $0.own.identified(by: .pkcs12(container, passphrase: "open sesame"))
                }
            ) { $0.asksForClient = true },
        ]

        @Test(
            "A channel opens to a server that the policy trusts", .covers("S4.23", "S3.38"), arguments: Road.all, opened
        )
        func opens(road: Road, setting: Setting) async throws {
            let bank = try Bank(road, setting)
            defer { bank.stop() }
            try await withTransport { transport in
                let channel = channel(road.kind, to: bank, under: try setting.trust(bank), transport)
                #expect(try await channel.ask("hello") == "hello")
                await channel.close()
            }
            let handshakes = bank.server.connections.map(\.handshake)
            #expect(handshakes.count == 1 && bank.connectionCount == 1)
            #expect(handshakes.first??.version == (setting.versions.upperBound == .tls12 ? "TLSv1.2" : "TLSv1.3"))
            #expect(handshakes.first??.clientName == (setting.asksForClient ? "anna" : nil))
            #expect(bank.reports.withLock { $0.map(\.isRefused) } == setting.reports)
        }

        // MARK: Refused

        private static let refused =
            certificates + [
                Setting("a wrong pin", { try $0.pinned(nobodys) }) {
                    ($0.failure, $0.reports) = (.pinMismatch, [true])
                },
                Setting(
                    "a pinned certificate behind another chain",
                    { try $0.pinned(PublicKeyPin(digest: $0.stranger.publicKeyHash())) }
                ) {
                    $0.isAppended = true
                    ($0.failure, $0.reports) = (.pinMismatch, [true])
                },
                Setting("a pin that fits, of an unknown authority", { try $0.pinned($0.pin) }) {
                    ($0.signature, $0.failure) = (.unknown, .untrusted)
                },
                Setting("a pin that fits, with a signature that does not", { try $0.pinned($0.pin) }) {
                    ($0.signature, $0.failure) = (.forged, .untrusted)
                },
                Setting("a version of TLS that is too old", { $0.own.minimumVersion(.tls13) }) {
                    ($0.versions, $0.failure) = (.tls12 ... .tls12, .handshake)
                },
                Setting("no word on revocation where one is asked for", { $0.own.revocation(.stapled) }) {
                    $0.failure = .revocationUnknown
                },
                Setting("no revocation list in the file", { $0.own.revocation(.lists($0.authority.file)) }) {
                    ($0.failure, $0.connects) = (.trustMaterial, false)
                },
                Setting(
                    "no file of authorities",
                    { TrustPolicy.authorities($0.authority.file.appendingPathExtension("gone")) }
                ) { ($0.failure, $0.connects) = (.trustMaterial, false) },
                Setting(
                    "a client's certificate with another's key",
                    {
                        let people = (try $0.authority.issue(.client("anna")), try $0.authority.issue(.client("bert")))
                        let mixed = ClientIdentity.pem(certificates: people.0.certificates, key: people.1.privateKey)
                        return $0.own.identified(by: mixed)
                    }
                ) { ($0.failure, $0.connects) = (.clientCertificate, false) },
                Setting("a client's certificate that is too weak", { $0.own.identified(by: WeakIdentity.pem) }) {
                    ($0.failure, $0.connects) = (.clientCertificate, false)
                },
            ]

        private static let certificates = [
            Setting("an expired certificate", { $0.own }) { ($0.certificate, $0.failure) = (.expired, .expired) },
            Setting("one that is not valid yet", { $0.own }) {
                ($0.certificate, $0.failure) = (.notYetValid, .expired)
            },
            Setting("a self-signed one", { $0.own }) { ($0.signature, $0.failure) = (.own, .untrusted) },
            Setting("one of an unknown authority", { $0.own }) { ($0.signature, $0.failure) = (.unknown, .untrusted) },
            Setting("one with a signature that does not fit", { $0.own }) {
                ($0.signature, $0.failure) = (.forged, .untrusted)
            },
            Setting("one of an authority that the system does not know", { _ in .system }) { $0.failure = .untrusted },
            wrongHost("one for another host", .wrongHost, at: "localhost"),
            wrongHost("one for another address", .wrongHost, at: "127.0.0.1"),
            wrongHost("one with the host as its common name only", .commonNameOnly("localhost"), at: "localhost"),
            wrongHost("a wildcard for every name", .hosts(["*"]), at: "localhost"),
            wrongHost("a wildcard for a top-level domain", .hosts(["*.test"]), at: "shop.test"),
            wrongHost("a lookalike", .hosts(["localhost.elsewhere.test"]), at: "localhost"),
        ]

        private static func wrongHost(_ name: String, _ certificate: TestCertificate, at host: String) -> Setting {
            Setting(name, { $0.own }) { ($0.certificate, $0.host, $0.failure) = (certificate, host, .wrongHost) }
        }

        @Test(
            "A server that the policy refuses gets nothing of a channel's, and is not tried again",
            .covers("H18", "H19", "S4.22", "S2.30", "S4.23", "S3.38"), arguments: Road.all, refused)
        func refuses(road: Road, setting: Setting) async throws {
            let bank = try Bank(road, setting)
            defer { bank.stop() }
            let failure = try #require(setting.failure)
            try await withTransport { transport in
                // A handshake that fails may go better the next time, and the others may not.
                let channel = channel(
                    road.kind, to: bank, at: setting.host, under: try setting.trust(bank),
                    isKept: failure != .handshake, transport)
                let error = await #expect(throws: APIError.self) { try await channel.ask("secret") }
                #expect(error?.kind == .tls(failure))
                #expect(error?.sendState == .unsent)
            }
            try await bank.server.waitForOpenConnections(atMost: 0)
            #expect(bank.server.connectionCount == (setting.connects ? 1 : 0))
            #expect(bank.connectionCount == bank.server.connectionCount)
            #expect(bank.server.requestCount == 0)
            #expect(bank.messages.withLock { $0 }.isEmpty)
            #expect(bank.reports.withLock { $0.map(\.isRefused) } == setting.reports)
        }

        @Test(
            "Without the certificate that the server asks for no message comes through", arguments: Road.all,
            [LoopbackServer.TLS.Version.tls12, .tls13])
        func nameless(road: Road, version: LoopbackServer.TLS.Version) async throws {
            let setting = Setting("", { $0.own }) { ($0.versions, $0.asksForClient) = (version...version, true) }
            let bank = try Bank(road, setting)
            defer { bank.stop() }
            try await withTransport { transport in
                let channel = channel(road.kind, to: bank, under: bank.own, transport)
                let error = await #expect(throws: APIError.self) { try await channel.ask("secret") }
                // A client of TLS 1.3 is through with the handshake before the server has looked (RFC 8446 §4.6.2).
                let kinds: [APIError.Kind] = [.tls(.handshake), .transport(.connectionLost)]
                #expect(error.map { kinds.contains($0.kind) } == true)
            }
            try await bank.server.waitForOpenConnections(atMost: 0)
            #expect(bank.server.failedHandshakeCount == 1 && bank.server.requestCount == 0)
            #expect(bank.messages.withLock { $0 }.isEmpty)
        }

        @Test("A refusal of the client's certificate is told as such, also behind the handshake")
        func refusedClient() async throws {
            let bank = try Bank(Road(kind: .tcp, way: nil), Setting("", { $0.own }) { $0.asksForClient = true })
            defer { bank.stop() }
            let people = try TestCertificateAuthority(name: "Other people").issue(.client("anna"))
            let unknown = ClientIdentity.pem(certificates: people.certificates, key: people.privateKey)
            for trust in [bank.own, bank.own.identified(by: unknown)] {
                try await withTransport { transport in
                    guard case .tcp(let channel) = channel(.tcp, to: bank, under: trust, transport) else { return }
                    // Nothing is written, so that the alert alone ends the connection.
                    let error = await #expect(throws: APIError.self) { for try await _ in channel.messages {} }
                    #expect(error?.kind == .tls(.handshake))
                }
            }
            #expect(bank.server.failedHandshakeCount == 2)
        }

        // MARK: What changes

        @Test(
            "Each channel is of the client that its policy names, and goes on with no session of another",
            .covers("H20", "H21"), arguments: Road.all)
        func sessions(road: Road) async throws {
            let bank = try Bank(road, Setting("", { $0.own }) { $0.asksForClient = true })
            defer { bank.stop() }
            let (anna, bert) = (try bank.identified(as: "anna"), try bank.identified(as: "bert"))
            let pins = try PinSet("127.0.0.1", keys: [bank.pin, Self.nobodys])
            let policies = [anna, bert, try anna.pinned([pins])]
            try await withTransport { transport in
                for trust in policies + policies {
                    let channel = channel(road.kind, to: bank, under: trust, transport)
                    let answer = try await channel.ask("hello")
                    #expect(answer == "hello")
                    await channel.close()
                }
            }
            let handshakes = bank.server.connections.compactMap(\.handshake)
            #expect(handshakes.map(\.clientName) == ["anna", "bert", "anna", "anna", "bert", "anna"])
            #expect(!handshakes.contains { $0.isResumed })
            #expect(bank.connectionCount == 6)
        }

        @Test(
            "A channel that connects again is held to the file of authorities as it is by then", .covers("H20"),
            arguments: Road.all)
        func changedFile(road: Road) async throws {
            let bank = try Bank(road)
            defer { bank.stop() }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
            defer { try? FileManager.default.removeItem(at: file) }
            try bank.authority.root.write(to: file)
            let other = try TestCertificateAuthority(name: "Somebody else")
            try await withTransport { transport in
                let channel = channel(road.kind, to: bank, under: .authorities(file), isKept: true, transport)
                #expect(try await channel.ask("hello") == "hello")
                try other.root.write(to: file)
                let error = await #expect(throws: APIError.self) { try await channel.ask("die") }
                #expect(error?.kind == .tls(.untrusted))
            }
            try await bank.server.waitForOpenConnections(atMost: 0)
            #expect(bank.server.connectionCount == 2 && bank.server.failedHandshakeCount == 1)
            #expect(bank.connectionCount == 2)
            #expect(bank.messages.withLock { $0 } == ["hello", "die"])
        }
    }
#endif
