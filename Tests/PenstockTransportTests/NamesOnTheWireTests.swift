#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import PenstockURLSession
    import Testing

    /// Where a resolver's addresses lead on real sockets. Nobody listens at 127.0.0.2.
    @Suite(.timeLimit(.minutes(5)))
    struct NamesOnTheWireTests {
        private static let host = "api.shop.test"

        /// A source that counts.
        private final class Source: HostSource {
            let asked = Locked(0)
            private let addresses: [HostAddress]
            private let lifetime: Duration

            init(_ addresses: [String], lifetime: Duration = .zero) {
                self.addresses = addresses.compactMap { HostAddress($0) }
                self.lifetime = lifetime
            }

            func answer(for host: String, port: Int) async -> HostAnswer? {
                asked.withLock { $0 += 1 }
                return HostAnswer(addresses, lifetime: lifetime)
            }
        }

        /// A listener that takes no connection: its queue is full, so that nothing answers those who come.
        private final class BlackHole {
            private var descriptors: [Int32] = []

            init?(_ host: String, port: Int) {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = in_port_t(port).bigEndian
                inet_pton(AF_INET, host, &address.sin_addr)
                let length = socklen_t(MemoryLayout<sockaddr_in>.size)
                func call(_ body: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
                    withUnsafePointer(to: &address) {
                        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
                    }
                }
                let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                descriptors.append(listener)
                guard call({ bind(listener, $0, length) }) == 0, listen(listener, 0) == 0 else { return nil }
                for _ in 0..<4 {
                    let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    descriptors.append(filler)
                    _ = call { connect(filler, $0, length) }
                }
            }

            /// From now on whoever connects is connected at once.
            func fillUp() {
                for descriptor in descriptors.dropFirst() { close(descriptor) }
                descriptors.removeLast(descriptors.count - 1)
                listen(descriptors[0], 64)
                while isAsked { close(accept(descriptors[0], nil, nil)) }
            }

            private var isAsked: Bool {
                var wish = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
                return poll(&wish, 1, 0) > 0
            }

            deinit {
                for descriptor in descriptors { close(descriptor) }
            }
        }

        private func client(
            _ resolver: HostResolver, _ server: LoopbackServer, host: String = Self.host,
            _ change: (inout APIClient.Configuration) -> Void = { _ in }
        ) -> APIClient {
            let origin = "\(server.url.scheme.rawValue)://\(host):\(server.url.port)"
            var configuration = APIClient.Configuration(BaseURLs(origin))
            configuration.options = .resolver(resolver).cleartext(.everywhere)
            configuration.options.timeouts = Timeouts(connect: .seconds(8))
            configuration.cache = .none
            change(&configuration)
            return APIClient(configuration, transport: CurlTransport())
        }

        private func list(_ addresses: [String], host: String = Self.host) throws -> StaticHosts {
            try StaticHosts([host: addresses])
        }

        @Test(
            "The URL, Host, SNI, certificate and cookies stay the name's, whatever is connected to", .covers("S3.28"))
        func names() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue(.hosts([Self.host]))))) { request in
                .text(request.fields[.cookie] ?? "none", fields: [.setCookie: "a=1; Secure"])
            }
            defer { server.stop() }
            let jar = MemoryCookieStore()
            let client = client(HostResolver([try list(["127.0.0.1"])]), server) {
                $0.options.trust = .authorities(authority.file)
                $0.cookies = jar
            }
            let first = try await client.response(for: Page())
            let second = try await client.response(for: Page())
            await client.transport.shutdown()
            #expect(first.connection.remoteAddress == "127.0.0.1")
            #expect(first.request.url.host == Self.host)
            #expect(String(decoding: first.data, as: UTF8.self) == "none")
            #expect(String(decoding: second.data, as: UTF8.self) == "a=1")
            #expect(server.requests.allSatisfy { $0.fields[.host] == "\(Self.host):\(server.url.port)" })
            #expect(server.connections.first?.handshake?.serverName == Self.host)
            #expect(server.connectionCount == 1)
        }

        @Test("A map to a host with another certificate is refused, and nothing falls back", .covers("S3.28"))
        func otherCertificate() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue(.hosts(["other.test"]))))) { _ in
                .text("ok")
            }
            defer { server.stop() }
            let client = client(HostResolver([try list(["127.0.0.1"])]), server) {
                $0.options.trust = .authorities(authority.file)
            }
            let error = await client.failure(Page())
            await client.transport.shutdown()
            #expect(error?.kind == .tls(.wrongHost))
            #expect(server.connectionCount == 1 && server.requestCount == 0)
        }

        @Test("A stored answer is found by the name, under whatever addresses", .covers("S3.28"))
        func cacheKey() async throws {
            let server = try LoopbackServer { _ in .text("ok", fields: ["Cache-Control": "max-age=600"]) }
            defer { server.stop() }
            let store = MemoryCacheStore()
            for addresses in [["127.0.0.1"], ["127.0.0.2", "127.0.0.1"]] {
                let client = client(HostResolver([try list(addresses)]), server) { $0.cache = .store(store) }
                _ = try await client.send(Page(), options: .cache(.http))
                await client.transport.shutdown()
            }
            #expect(server.requestCount == 1)
        }

        // MARK: Addresses that do not answer

        @Test("A dead address falls back to the next, and rests", .covers("S3.28"))
        func dead() async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let resolver = HostResolver([try list(["127.0.0.2", "127.0.0.1"])])
            let client = client(resolver, server)
            for _ in 1...3 {
                let response = try await client.response(for: Page())
                #expect(response.connection.remoteAddress == "127.0.0.1")
            }
            await client.transport.shutdown()
            let ranked = await resolver.addresses(of: Self.host, port: server.url.port)
            #expect(ranked?.map(\.text) == ["127.0.0.1", "127.0.0.2"])
        }

        @Test("An address that never answers falls back within the deadline, and is not tried again", .covers("S3.28"))
        func blackHole() async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let hole = try #require(BlackHole("127.0.0.3", port: server.url.port))
            let resolver = HostResolver([try list(["127.0.0.3", "127.0.0.1"])])
            let client = client(resolver, server)
            let start = ContinuousClock.now
            // Much more than it takes, for a machine that has much else to do.
            let first = try await client.response(for: Page(), options: .timeout(.seconds(20)))
            #expect(first.connection.remoteAddress == "127.0.0.1")
            let tried = ContinuousClock.now - start
            #expect(tried >= .seconds(1) && tried < .seconds(20))
            let ranked = await resolver.addresses(of: Self.host, port: server.url.port)
            #expect(ranked?.map(\.text) == ["127.0.0.1", "127.0.0.3"])
            // Whoever tried the other address now would be connected to it.
            hole.fillUp()
            let second = try await client.response(for: Page(), options: .timeout(.seconds(20)))
            #expect(second.connection.remoteAddress == "127.0.0.1")
            await client.transport.shutdown()
            withExtendedLifetime(hole) {}
        }

        @Test("Where all addresses are dead the system's are connected to", .covers("S3.28"), arguments: [true, false])
        func system(isSilent: Bool) async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let address = isSilent ? "127.0.0.3" : "127.0.0.2"
            let hole = isSilent ? BlackHole(address, port: server.url.port) : nil
            #expect((hole != nil) == isSilent)
            let resolver = HostResolver([try list([address], host: "localhost")])
            let client = client(resolver, server, host: "localhost")
            for _ in 1...3 {
                let response = try await client.response(for: Page())
                #expect(response.connection.remoteAddress == "127.0.0.1")
            }
            await client.transport.shutdown()
            #expect(await resolver.addresses(of: "localhost", port: server.url.port) == [])
            withExtendedLifetime(hole) {}
        }

        @Test("Calls at the same time all fall back", .covers("S3.28"))
        func manyAtOnce() async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let client = client(HostResolver([try list(["127.0.0.2"], host: "localhost")]), server, host: "localhost")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await client.send(Page()) } }
                try await group.waitForAll()
            }
            await client.transport.shutdown()
            #expect(server.requestCount == 20)
        }

        @Test func `without the system a dead address is a failure, and a name that nobody knows another`() async throws
        {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            for (host, kind) in [
                ("localhost", APIError.Kind.unreachable(.connectionRefused)),
                ("other.test", .unreachable(.nameNotResolved)),
            ] {
                let list = try list(["127.0.0.2"], host: "localhost")
                let client = client(HostResolver([list], fallsBackToSystem: false), server, host: host) {
                    $0.options.retry = RetryPolicy.none
                }
                #expect(await client.failure(Page())?.kind == kind)
                await client.transport.shutdown()
            }
        }

        // MARK: Channels

        @Test("A channel's dead address falls back to the next, and to the system where all are dead", .covers("S3.28"))
        func channels() async throws {
            let server = try LoopbackServer.serving { wire, _ in wire.waitForHangUp() }
            defer { server.stop() }
            let port = server.url.port
            for addresses in [["127.0.0.2", "127.0.0.1"], ["127.0.0.2"]] {
                let resolver = HostResolver([try list(addresses, host: "localhost")])
                let client = client(resolver, server)
                for _ in 1...2 {
                    let line = client.tcp("localhost", port: port, codec: LineCodec(), isSecure: false)
                    try await line.open()
                    await line.close()
                }
                await client.transport.shutdown()
                let ranked = await resolver.addresses(of: "localhost", port: port)
                #expect(ranked?.map(\.text) == (addresses.count == 2 ? ["127.0.0.1", "127.0.0.2"] : []))
            }
            let resolver = HostResolver([try list(["127.0.0.2"], host: "localhost")], fallsBackToSystem: false)
            let client = client(resolver, server)
            let error = await #expect(throws: APIError.self) {
                try await client.tcp("localhost", port: port, codec: LineCodec(), isSecure: false).open()
            }
            #expect(error?.kind == .unreachable(.connectionRefused))
            await client.transport.shutdown()
        }

        @Test("A channel's silent address leaves half of the time to the system", .covers("S3.28"))
        func silentChannel() async throws {
            let server = try LoopbackServer.serving { wire, _ in wire.waitForHangUp() }
            defer { server.stop() }
            let hole = try #require(BlackHole("127.0.0.3", port: server.url.port))
            let resolver = HostResolver([try list(["127.0.0.3"], host: "localhost")])
            let client = client(resolver, server) { $0.options.timeouts = Timeouts(connect: .seconds(4)) }
            let line = client.tcp("localhost", port: server.url.port, codec: LineCodec(), isSecure: false)
            try await line.open()
            await line.close()
            await client.transport.shutdown()
            #expect(await resolver.addresses(of: "localhost", port: server.url.port) == [])
            withExtendedLifetime(hole) {}
        }

        @Test("Datagrams go to the addresses in turn until one answers, which is measured; the others rest")
        func datagrams() async throws {
            let echo = try DatagramsOnTheWireTests.Echo()
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let resolver = HostResolver([try list(["127.0.0.2", "127.0.0.1"])])
            let client = client(resolver, server) { $0.options.timeouts = Timeouts(connect: .seconds(60)) }
            for _ in 1...2 {
                let peer = client.datagrams(Self.host, port: echo.port)
                var iterator = peer.messages.makeAsyncIterator()
                try await peer.send(Data([1, 2, 3]))
                #expect(try await iterator.next() == Data([3, 2, 1]))
                await peer.close()
                let ranked = await resolver.addresses(of: Self.host, port: echo.port)
                #expect(ranked?.map(\.text) == ["127.0.0.1", "127.0.0.2"])
            }
            // Nobody is at any of them: they rest, and the system is asked the next time.
            // Their rest does not end while the test has to wait for its turn.
            let clock = TestClock()
            let dead = HostResolver(
                [try list(["127.0.0.2", "127.0.0.4"], host: "localhost")], time: clock.timeSource)
            let lost = client.with { $0.options.resolver = dead }
            let options = CallOptions.with { $0.timeouts.connect = .milliseconds(700) }
            let error = await #expect(throws: APIError.self) {
                try await lost.datagrams("localhost", port: echo.port, options: options).open()
            }
            #expect(error?.kind == .timeout(.connect))
            try await lost.datagrams("localhost", port: echo.port).open()
            await echo.stop()
            await client.transport.shutdown()
            await lost.transport.shutdown()
        }

        // MARK: Which address

        @Test("The fastest address that was measured is connected to", .covers("S3.28"))
        func fastest() async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let resolver = HostResolver([try list(["127.0.0.2", "127.0.0.1"])])
            for (address, time) in [("127.0.0.2", 40), ("127.0.0.1", 20)] {
                resolver.connected(to: try #require(HostAddress(address)), in: .milliseconds(time))
            }
            let client = client(resolver, server)
            #expect(try await client.response(for: Page()).connection.remoteAddress == "127.0.0.1")
            await client.transport.shutdown()
            // It was the first, so that the other was not tried and does not rest.
            resolver.connected(to: try #require(HostAddress("127.0.0.1")), in: .seconds(100))
            #expect(await resolver.addresses(of: Self.host, port: server.url.port)?.first?.text == "127.0.0.2")
        }

        @Test func `connecting is measured, for an address that was never connected to`() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let resolver = HostResolver([try list(["127.0.0.1", "127.0.0.2"])])
            let client = client(resolver, server)
            _ = try await client.send(Page())
            await client.transport.shutdown()
            // What nothing is known of comes before what was measured.
            let ranked = await resolver.addresses(of: Self.host, port: server.url.port)
            #expect(ranked?.map(\.text) == ["127.0.0.2", "127.0.0.1"])
        }

        @Test("A source is asked for each connection when its answer holds for no time, and once while it holds")
        func lifetimes() async throws {
            let server = try LoopbackServer { _ in .text("ok").ending(.close) }
            defer { server.stop() }
            let (each, once) = (Source(["127.0.0.1"]), Source(["127.0.0.1"], lifetime: .seconds(600)))
            for source in [each, once] {
                let client = client(HostResolver([source]), server)
                for _ in 1...4 { _ = try await client.send(Page()) }
                await client.transport.shutdown()
            }
            #expect(each.asked.withLock { $0 } == 4 && once.asked.withLock { $0 } == 1)
        }

        @Test func `two resolvers share no connection, and a numeric host asks nobody`() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let source = Source(["127.0.0.1"])
            let (one, other) = (HostResolver([source]), HostResolver([source]))
            let client = client(one, server)
            for resolver in [one, other, one, other] { _ = try await client.send(Page(), options: .resolver(resolver)) }
            #expect(server.connectionCount == 2)
            let asked = source.asked.withLock { $0 }
            let numeric = CallOptions.with { $0.baseURL = "http://127.0.0.1:\(server.url.port)" }
            _ = try await client.send(Page(), options: numeric)
            await client.transport.shutdown()
            #expect(asked == 2 && source.asked.withLock { $0 } == 2)
        }

        @Test("URLSession refuses a resolver before anything is sent", .covers("S3.28"))
        func refused() async throws {
            let server = try LoopbackServer { _ in .text("ok") }
            defer { server.stop() }
            let transport = URLSessionTransport()
            var exchange = TransportRequest(HTTPRequest(method: .get, url: server.url))
            exchange.resolver = HostResolver([try list(["127.0.0.1"])])
            await #expect(throws: TransportError.self) { try await transport.perform(exchange) }
            let options = CallOptions.resolver(exchange.resolver).cleartext(.everywhere)
            let client = APIClient(BaseURLs(server.url.absoluteString), options: options, transport: transport)
            #expect(await client.failure(Page())?.kind == .unsupported(feature: "a resolver of the client's own"))
            await transport.shutdown()
            #expect(server.connectionCount == 0)
        }
    }
#endif
