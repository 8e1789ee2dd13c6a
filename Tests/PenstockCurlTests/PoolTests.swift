#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    private let second: UInt64 = 1_000_000_000

    /// How many connections are kept, when quiet exchanges are looked at, and how much of a body leaves at a time: as
    /// functions of the time.
    @Suite struct PoolDecisionTests {
        @Test("By default 1,024 connections are kept for 90 s while nothing uses them, and callers drive the loop")
        func defaults() {
            let configuration = CurlTransport.Configuration()
            #expect(configuration.maxConnectionsPerHost == nil && configuration.maxConnections == nil)
            #expect(configuration.maxIdleConnections == 1_024 && configuration.idleConnectionLifetime == .seconds(90))
            #expect(configuration.drivesOnCallersThreads)
        }

        /// Saying it of a request that the connection has processed would have it sent, and done, twice.
        @Test("A server that leaves speaks for the later streams of its own connection alone", .covers("X8", "H14"))
        func leaving() {
            let (first, second) = (CurlConnectionUse(), CurlConnectionUse())
            var carriage = CurlCarriage()
            carriage.begins(15)
            #expect(!carriage.isLeftOut(after: 1, of: first))
            carriage.meets(first)
            #expect(!carriage.isLeftOut(after: 1, of: first))
            carriage.begins(15)
            #expect(carriage.isLeftOut(after: 13, of: first) && carriage.isLeftOut(after: 14, of: first))
            #expect(!carriage.isLeftOut(after: 15, of: first) && !carriage.isLeftOut(after: 17, of: first))
            #expect(!carriage.isLeftOut(after: 1, of: second))
            // To send it again another connection was found, and then it was not sent.
            carriage.meets(second)
            #expect(!carriage.isLeftOut(after: 1, of: first) && !carriage.isLeftOut(after: 1, of: second))
            carriage.begins(3)
            #expect(carriage.isLeftOut(after: 1, of: second) && !carriage.isLeftOut(after: 1, of: first))
            carriage.leaves()
            #expect(!carriage.isLeftOut(after: 1, of: second))
            carriage.meets(nil)
            carriage.begins(3)
            #expect(!carriage.isLeftOut(after: 1, of: first))
        }

        @Test func aLullKeepsWhatTheMomentBeforeNeeded() {
            var limit = CurlIdleLimit()
            #expect(limit.limit(active: 500, most: 1_024, 0) == 500 + CurlIdleLimit.floor)
            #expect(limit.limit(active: 3, most: 1_024, second / 2) == 500)
            #expect(limit.limit(active: 499, most: 1_024, second / 2) == 499 + CurlIdleLimit.floor)
        }

        @Test("Thirty-two connections rest in any case, if so many may, and no more beside those in use")
        func leastIdle() {
            for (active, most, kept) in [(0, 1_024, 32), (1, 1_024, 33), (40, 1_024, 72), (0, 31, 31), (5, 0, 5)] {
                var limit = CurlIdleLimit()
                #expect(limit.limit(active: active, most: most, 0) == kept)
            }
        }

        @Test("A connection rests for one second at least, however short its life was to be")
        func leastLife() {
            for (life, seconds) in [(Duration.zero, 1), (.seconds(-5), 1), (.seconds(1), 1), (.seconds(90), 90)] {
                #expect(CurlLoop(.init(idleConnectionLifetime: life)).idleSeconds == seconds)
            }
        }

        @Test func whatIsNotNeededIsForgottenLittleByLittle() {
            var limit = CurlIdleLimit()
            _ = limit.limit(active: 500, most: 1_024, 0)
            let limits = (1...60).map { limit.limit(active: 0, most: 1_024, UInt64($0) * second) }
            #expect(limits == limits.sorted(by: >))
            #expect((400...450).contains(limits[0]))
            #expect((80...150).contains(limits[9]))
            #expect(limits.last == CurlIdleLimit.floor)
        }

        @Test func aPeakAfterALongPauseIsForgottenNoSooner() {
            var limit = CurlIdleLimit()
            _ = limit.limit(active: 10, most: 1_024, 0)
            _ = limit.limit(active: 500, most: 1_024, 1_000 * second)
            #expect(limit.limit(active: 0, most: 1_024, 1_000 * second + second / 2) == 500)
        }

        @Test(arguments: [(0, 10), (5, 15), (-1, 10), (1_000, 500)])
        func theMostIsNeverExceeded(most: Int, expected: Int) {
            var limit = CurlIdleLimit()
            _ = limit.limit(active: 500, most: most, 0)
            #expect(limit.limit(active: 10, most: most, 1) == expected)
        }

        @Test func `Buffers are as large as responses were lately`() {
            var sizes = CurlReceiveBufferSize()
            #expect(sizes.buffer == CurlReceiveBufferSize.least)
            sizes.note(1_025)
            #expect(sizes.buffer == 2_048)
            sizes.note(16_384)
            #expect(sizes.buffer == CurlReceiveBufferSize.most)
            sizes.note(.max)
            sizes.note(0)
            #expect(sizes.buffer == CurlReceiveBufferSize.most, "one small response tells nothing of the next")
            for _ in 1...1_000 { sizes.note(0) }
            #expect(sizes.buffer == CurlReceiveBufferSize.least)
        }

        @Test func aQuietExchangeIsAskedEverMoreSeldom() {
            var backoff = CurlProbeBackoff()
            var asked: [UInt64] = []
            for now in stride(from: second, through: 5 * second, by: 1_000_000) where backoff.advance(second, now).isDue
            {
                asked.append((now - second) / 1_000_000)
            }
            #expect(asked == [5, 15, 35, 75, 155, 315, 635, 1_275, 2_555, 3_835])
            #expect(!backoff.advance(5 * second, 5 * second).isDue)
            #expect(backoff.advance(5 * second, 5 * second + CurlStallProbes.delay).isDue)
        }

        @Test func aFastConnectionIsGivenLargerPieces() {
            var pace = CurlUploadPace()
            let sizes = (0..<6).map { pace.next(second + $0 * 1_000_000) }
            #expect(sizes == [1, 2, 4, 8, 8, 8].map { $0 * CurlUploadPace.least })
            #expect(CurlUploadPace.most == 8 * CurlUploadPace.least)
        }

        @Test func aConnectionThatBecomesSlowIsGivenSmallerPieces() {
            var pace = CurlUploadPace()
            for _ in 0..<5 { _ = pace.next(second) }
            let sizes = (1..<6).map { pace.next(second + $0 * 10_000_000) }
            #expect(sizes == [4, 2, 1, 1, 1].map { $0 * CurlUploadPace.least })
        }

        @Test func onlyExchangesThatShareConnectionsAreLookedAt() {
            var probes = CurlStallProbes()
            probes.transferEnded(isMultiplexed: false, left: 5, 1)
            #expect(probes.moment == nil)
            probes.transferEnded(isMultiplexed: true, left: 0, 1)
            #expect(probes.moment == nil)
            probes.transferEnded(isMultiplexed: true, left: 5, 1)
            #expect(probes.moment == (CurlFault.heldStream.isPresent ? 1 + CurlStallProbes.delay : nil))
            probes.transferEnded(isMultiplexed: true, left: 0, 2)
            #expect(probes.moment == nil)
        }
    }

    /// Connections on real sockets.
    @Suite(.timeLimit(.minutes(5))) struct PoolTests {
        private func get(_ server: WireServer, _ path: String = "/") throws -> TransportRequest {
            TransportRequest(HTTPRequest(method: .get, url: try server.url(path)))
        }

        private func post(_ server: WireServer) throws -> TransportRequest {
            let request = HTTPRequest(method: .post, url: try server.url(), body: .bytes(Data("once".utf8)))
            return TransportRequest(request)
        }

        @Test func tenThousandCallsTakeAsManyConnectionsAsAreUsedAtOnce() async throws {
            try await withServer(.answering(okay)) { transport, server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<500 {
                        group.addTask { for _ in 0..<20 { _ = try await transport.perform(get(server)) } }
                    }
                    try await group.waitForAll()
                }
                #expect(server.requests.count == 10_000)
                // More than 500 on a machine so busy that a wave is not over when the next begins; a pool that keeps none
                // takes 10,000. How many are kept is CurlIdleLimit's, whose tests are exact.
                #expect(server.connections <= 1_500)
            }
        }

        @Test func theTotalCapHoldsOverAllHosts() async throws {
            let gate = Gate()
            defer { gate.open() }
            let servers = try (0..<4).map { _ in
                try WireServer { connection, _ in
                    while connection.readRequest() != nil {
                        gate.wait()
                        connection.send(okay)
                    }
                }
            }
            defer { for server in servers { server.stop() } }
            try await withServer(.answering(okay), .init(maxConnections: 2)) { transport, other in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<80 {
                        group.addTask { _ = try await transport.perform(get(servers[number % 4])) }
                    }
                    try await until { servers.map(\.requests.count).reduce(0, +) == 2 }
                    for _ in 0..<5 { try await goAround(transport, other) }
                    #expect(servers.map(\.connections).reduce(0, +) == 2)
                    gate.open()
                    try await group.waitForAll()
                }
                #expect(servers.map(\.requests.count) == [20, 20, 20, 20])
            }
        }

        /// Another partition has a cap of its own, and the same loop.
        private func goAround(_ transport: CurlTransport, _ server: WireServer) async throws {
            var order = try get(server)
            order.isolation.identity = "other"
            _ = try await transport.perform(order)
        }

        @Test(arguments: [false, true])
        func `A response far larger than those before it comes whole`(isChunked: Bool) async throws {
            let content = String((0..<40_000).map { _ in "0123456789abcdef".randomElement() ?? "0" })
            let (pieces, line) = (stride(from: 0, to: 40_000, by: 1_600), String(repeating: "l", count: 20_000))
            let server = try WireServer { connection, _ in
                while let request = connection.readRequest() {
                    guard request.head.hasPrefix("GET /large ") else {
                        connection.send(okay)
                        continue
                    }
                    connection.send("HTTP/1.1 200 OK\r\nX-Long: \(line)\r\n")
                    guard isChunked else {
                        connection.send("Content-Length: 40000\r\n\r\n\(content)")
                        continue
                    }
                    connection.send("Transfer-Encoding: chunked\r\n\r\n")
                    for piece in pieces { connection.send("640\r\n\(content.dropFirst(piece).prefix(1_600))\r\n") }
                    connection.send("0\r\nX-Trailer: end\r\n\r\n")
                }
            }
            try await withServer(server) { transport, server in
                for _ in 1...150 { _ = try await transport.perform(get(server)) }
                for _ in 1...2 {
                    let large = try get(server, "/large")
                    let response = try await transport.perform(large).response
                    #expect(response.fields["X-Long"] == line)
                    #expect(response.body == Data(content.utf8))
                    #expect(response.trailers["X-Trailer"] == (isChunked ? "end" : nil))
                }
                #expect(server.connections == 1)
            }
        }

        @Test func anIdleConnectionIsNotUsedBeyondItsLifeAndThenClosed() async throws {
            try await withServer(.answering(okay), .init(idleConnectionLifetime: .seconds(1))) { transport, server in
                // On a slow machine its life may end between two exchanges.
                try await until { try await transport.perform(get(server)).connection.isReused == true }
                try await until { try openSockets(to: server.port).isEmpty }
                let before = server.connections
                #expect(try await transport.perform(get(server)).connection.isReused == false)
                #expect(server.connections == before + 1)
            }
        }

        /// The other host is used all the time, so only the age of the idle connection tells.
        @Test func anIdleConnectionBesideBusyOnesIsNotUsedBeyondItsLifeEither() async throws {
            let busy = try WireServer.answering(okay)
            defer { busy.stop() }
            try await withServer(.answering(okay), .init(idleConnectionLifetime: .seconds(1))) { transport, server in
                _ = try await transport.perform(get(server))
                let end = ContinuousClock.now + .seconds(3)
                while ContinuousClock.now < end {
                    _ = try await transport.perform(get(busy))
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(try await transport.perform(get(server)).connection.isReused == false)
            }
        }

        @Test func aConnectionThatTheServerClosedWhileItWasIdleFailsNoRequest() async throws {
            let closing = Gate()
            let server = try WireServer { connection, number in
                guard connection.readRequest() != nil else { return }
                connection.send(okay)
                if number == 0 { closing.wait() } else { connection.untilClosed() }
            }
            try await withServer(server) { transport, server in
                _ = try await transport.perform(get(server))
                closing.open()
                try await until { try closedByPeer(server.port) == 1 }
                let answer = try await transport.perform(post(server))
                #expect(answer.response.status == 200)
                #expect(answer.connection.isReused == false)
                #expect(server.requests.map { $0.head.prefix(4) } == ["GET ", "POST"])
            }
        }

        @Test func openConnectionsAreKeptAliveByTheSystem() async throws {
            try await withServer(.answering(okay)) { transport, server in
                _ = try await transport.perform(get(server))
                let options = try openSockets(to: server.port).map { descriptor in
                    var value: Int32 = 0
                    var length = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &value, &length)
                    return value
                }
                #expect(options == [1])
            }
        }

        // MARK: Timings

        @Test func aNewConnectionHasPhasesThatAReusedOneHasNot() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let new = try await transport.perform(get(server))
                let reused = try await transport.perform(get(server))
                #expect(new.timings.nameLookup != nil)
                #expect(new.timings.connected != nil)
                #expect(reused.timings.nameLookup == nil)
                for timings in [new.timings, reused.timings] {
                    #expect(timings.secured == nil)
                    let phases = [timings.connected, timings.requestStart, timings.responseStart, timings.total]
                    let known = phases.compactMap { $0 }
                    #expect(known == known.sorted())
                    #expect(timings.total != nil)
                }
                #expect([new, reused].map(\.connection.isReused) == [false, true])
                #expect([new, reused].map(\.connection.remotePort) == [Int(server.port), Int(server.port)])
            }
        }

        // MARK: Preconnecting

        @Test func aPreconnectedConnectionIsTheOneThatIsUsed() async throws {
            try await withServer(.answering(okay)) { transport, server in
                try await transport.preconnect(get(server))
                #expect(server.requests.isEmpty)
                try await until { server.connections == 1 }
                let answer = try await transport.perform(post(server))
                #expect(answer.connection.isReused == true)
                #expect(server.connections == 1)
            }
        }

        @Test func anotherPartitionGetsNothingOfIt() async throws {
            try await withServer(.answering(okay)) { transport, server in
                var other = try get(server)
                other.isolation.identity = "alice"
                try await transport.preconnect(other)
                #expect(try await transport.perform(get(server)).connection.isReused == false)
                #expect(try await transport.perform(other).connection.isReused == true)
            }
        }

        @Test func preconnectingFailsAsTheExchangeWould() async throws {
            let server = try WireServer.answering(okay)
            let order = try get(server)
            server.stop()
            try await withServer(.answering(okay)) { transport, _ in
                let error = await #expect(throws: TransportError.self) { try await transport.preconnect(order) }
                #expect(error?.kind == .unreachable(.connectionRefused))
                #expect(error?.sendState == .unsent)
            }
        }

        // MARK: Proxies

        @Test(arguments: ["", "a b", "host/path", "user@host", "::1::"])
        func aNameThatIsNoneIsNoProxy(_ host: String) async throws {
            try await withServer(.answering(okay)) { transport, server in
                var order = try get(server)
                order.proxy = .socks5(host)
                let error = try await failure(transport, order)
                guard case .unsupported = error.kind else { return #expect(Bool(false), "\(error.kind)") }
                #expect(error.sendState == .unsent)
            }
        }

        @Test func aProxyThatAnswersTheTunnelWithAnErrorLeavesTheRequestUnsent() async throws {
            for answer in [
                "HTTP/1.1 502 Bad Gateway\r\nX-Secret: 1\r\nContent-Length: 4\r\n\r\nnope", "garbage\r\n\r\n", "",
            ] {
                let proxy = try WireServer { connection, _ in
                    if connection.readHead() != nil { connection.send(answer) }
                }
                try await withServer(proxy) { transport, proxy in
                    let request = HTTPRequest(
                        method: .post, url: try HTTPURL("https://origin.invalid/"), fields: [.authorization: "Bearer x"]
                    )
                    let order = TransportRequest(request, isolation: IsolationKey(proxy: .http(try proxy.url())))
                    let error = try await failure(transport, order)
                    #expect(error.kind == .unreachable(.proxy))
                    #expect(error.sendState == .unsent)
                    #expect(error.partialResponse == nil)
                }
            }
        }

        @Test func aTunnelIsAskedForWithNothingOfTheRequest() async throws {
            let heads = Locked<[String]>([])
            let proxy = try WireServer { connection, _ in
                if let head = connection.readHead() { heads.withLock { $0.append(head) } }
            }
            try await withServer(proxy) { transport, proxy in
                let request = HTTPRequest(
                    method: .post, url: try HTTPURL("https://origin.invalid/path?query"),
                    fields: [.authorization: "Bearer x", .cookie: "a=b", .userAgent: "Test"])
                let credentials = ProxyCredentials(user: "me", password: "p%41")
                let order = TransportRequest(
                    request, isolation: IsolationKey(proxy: .http(try proxy.url(), credentials: credentials)))
                _ = try await failure(transport, order)
                let token = Data("me:p%41".utf8).base64EncodedString()
                #expect(
                    heads.withLock { $0 } == [
                        "CONNECT origin.invalid:443 HTTP/1.1\r\nHost: origin.invalid:443\r\n"
                            + "Proxy-Authorization: Basic \(token)\r\n\r\n"
                    ])
            }
        }

        @Test func aRequestInTheClearNamesItsWholeTargetAndAsksAgainForNothing() async throws {
            let answer = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n"
            let proxy = try WireServer.answering(answer + "Content-Length: 2\r\n\r\nno")
            try await withServer(proxy) { transport, proxy in
                let request = HTTPRequest(method: .get, url: try HTTPURL("http://origin.invalid/path?query"))
                let credentials = ProxyCredentials(user: "me", password: "word")
                let order = TransportRequest(
                    request, isolation: IsolationKey(proxy: .http(try proxy.url(), credentials: credentials)))
                let error = try await failure(transport, order)
                #expect(error.kind == .unreachable(.proxyAuthentication))
                #expect(error.sendState == .unprocessed)
                #expect(error.partialResponse == nil)
                #expect(proxy.requests.count == 1)
                #expect(proxy.requests[0].head.hasPrefix("GET http://origin.invalid/path?query HTTP/1.1\r\n"))
                #expect(!proxy.requests[0].head.contains("Proxy-Connection"))
            }
        }

        // MARK: Helpers

        /// Waits for what other processes or the kernel do.
        private func until(_ condition: () async throws -> Bool) async throws {
            while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
        }

        /// Sockets of ours whose peer at a port has closed its end: there is nothing to read, and the end of it.
        private func closedByPeer(_ port: UInt16) throws -> Int {
            var byte: UInt8 = 0
            return try openSockets(to: port).filter {
                recv($0, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
            }
            .count
        }
    }
#endif
