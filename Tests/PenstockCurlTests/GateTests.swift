#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockCurl

    /// Who goes at once, and who waits.
    @Suite struct GateTests {
        private let loop = CurlLoop(.init())

        private func exchange(_ url: String = "https://a.example/", head: String? = nil) throws -> CurlExchange {
            let request = HTTPRequest(method: .get, url: try HTTPURL(url))
            let order = TransportRequest(request, timeouts: Timeouts(total: .seconds(60)))
            let exchange = CurlExchange(order, loop: loop)
            exchange.place = 0
            if let head { give(head, to: exchange) }
            return exchange
        }

        private func admit(_ exchange: CurlExchange, _ gate: inout CurlGate) -> Bool {
            gate.admits(exchange, 1)
        }

        private func give(_ line: String, to exchange: CurlExchange) {
            for line in [line + "\r\n", "\r\n"] {
                _ = Array(line.utf8).withUnsafeBytes { exchange.head.take($0, ResponseLimits(), nil) }
            }
        }

        private func fill(_ gate: inout CurlGate, _ count: Int) throws -> [CurlExchange] {
            let exchanges = try (0..<count).map { _ in try exchange() }
            for exchange in exchanges { _ = gate.admits(exchange, 1) }
            return exchanges
        }

        @Test func theHundredAndFirstWaitsUntilOneEnds() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 102)
            #expect(exchanges.map(\.isAdmitted) == Array(repeating: true, count: 100) + [false, false])
            #expect(gate.ended(exchanges[7]).map(ObjectIdentifier.init) == [ObjectIdentifier(exchanges[100])])
            #expect(exchanges[100].isAdmitted)
            #expect(!exchanges[101].isAdmitted)
        }

        @Test func anOriginWithoutHTTP2LetsAllGo() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 300)
            give("HTTP/1.1 200 OK", to: exchanges[0])
            #expect(gate.headCame(for: exchanges[0]).count == 200)
            #expect(gate.admits(try exchange(), 2))
        }

        @Test func anOriginWithHTTP2LetsNoMoreGo() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 300)
            give("HTTP/2 200", to: exchanges[0])
            #expect(gate.headCame(for: exchanges[0]).isEmpty)
            #expect(gate.moment == 1 + CurlGate.patience)
        }

        @Test func whereNothingEndsOneOpensTheNextConnection() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 300)
            give("HTTP/2 200", to: exchanges[0])
            _ = gate.headCame(for: exchanges[0])
            #expect(gate.impatient(CurlGate.patience).isEmpty)
            let pioneers = gate.impatient(1 + CurlGate.patience)
            #expect(pioneers.map(ObjectIdentifier.init) == [ObjectIdentifier(exchanges[100])])
            #expect(gate.moment == nil)
            #expect(gate.impatient(10 * CurlGate.patience).isEmpty)
            give("HTTP/2 200", to: exchanges[100])
            #expect(gate.headCame(for: exchanges[100]).count == 99)
            #expect(gate.moment == 1 + CurlGate.patience)
        }

        @Test func thoseThatEndedWhileTheyWaitedArePassedOver() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 103)
            exchanges[100].place = nil
            exchanges[101].place = nil
            #expect(gate.ended(exchanges[0]).map(ObjectIdentifier.init) == [ObjectIdentifier(exchanges[102])])
            #expect(gate.ended(exchanges[1]).isEmpty)
        }

        @Test func originsDoNotWaitForEachOther() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            _ = try fill(&gate, 150)
            #expect(gate.admits(try exchange("https://b.example/"), 1))
        }

        @Test func `Over HTTP/1_1 as many go as there may be connections`() throws {
            var gate = CurlGate(most: 3, isShared: true)
            let plain = try (0..<5).map { _ in try exchange("http://a.example/") }
            #expect(plain.map { gate.admits($0, 1) } == [true, true, true, false, false])
            #expect(
                plain.allSatisfy { $0.clock.expired(.max - 1) == .timeout(.total) }, "none waits for its connection")
            #expect(gate.ended(plain[1]) === [plain[3]])
            #expect(gate.moment == nil)
        }

        @Test func `Of an unknown origin no more go than there may be connections`() throws {
            var gate = CurlGate(most: 7, isShared: true)
            let exchanges = try (0..<20).map { _ in try exchange() }
            #expect(exchanges.count { gate.admits($0, 1) } == 7)
            #expect(gate.learned(true, from: exchanges[0]).count == 13, "HTTP/2 needs one connection for all of them")
        }

        @Test("The first handshake tells the protocol, so nobody waits for an answer", .covers("H13"))
        func handshakeTells() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 300)
            #expect(gate.learned(false, from: exchanges[0]).count == 200)
            #expect(gate.present == 300)
        }

        @Test("Who waits for an unknown origin's connection has its time to connect, and who waits for a place has not")
        func clocks() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 102)
            let late = 11 * 1_000_000_000 as UInt64
            #expect(exchanges[101].clock.expired(late) == .timeout(.connect))
            _ = gate.learned(true, from: exchanges[0])
            #expect(exchanges[101].clock.expired(late) == nil)
            let later = try exchange()
            #expect(!admit(later, &gate))
            #expect(later.clock.expired(late) == nil)
        }

        @Test func `A server that takes fewer exchanges is given fewer`() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let exchanges = try fill(&gate, 100)
            _ = gate.learned(true, from: exchanges[0])
            let lane = try #require(exchanges[0].lane)
            #expect(lane.mayConnect(exchanges[0]), "there is no connection yet")
            for exchange in exchanges[..<10] {
                lane.sends()
                exchange.attempts = 1
            }
            #expect(!lane.mayConnect(exchanges[10]))
            #expect(lane.mayConnect(exchanges[3]), "its connection was lost")
            lane.isFull(10)
            lane.isFull(12)
            for exchange in exchanges[10...] { gate.takeBack(exchange, 5) }
            #expect(gate.ended(exchanges[0]) === [exchanges[10]], "in their turn")
            #expect(gate.ended(exchanges[1]) === [exchanges[11]])
            #expect(lane.places == 10)
            #expect(gate.impatient(5 + CurlGate.patience) === [exchanges[12]], "one opens the next connection")
            #expect(lane.mayConnect(exchanges[12]))
        }

        @Test func `What a server took once is forgotten when nothing is under way`() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let first = try exchange()
            #expect(admit(first, &gate))
            _ = gate.learned(true, from: first)
            let lane = try #require(first.lane)
            lane.isFull(0)
            #expect(lane.places == 1)
            _ = gate.ended(first)
            #expect(lane.places == 100)
        }

        @Test func `Further connections end at the limit of connections`() throws {
            var gate = CurlGate(most: 2, isShared: true)
            let first = try exchange()
            #expect(admit(first, &gate))
            _ = gate.learned(true, from: first)
            let others = try (0..<250).map { _ in try exchange() }
            for other in others { _ = gate.admits(other, 1) }
            let pioneer = try #require(gate.impatient(1 + CurlGate.patience).first)
            give("HTTP/2 200", to: pioneer)
            #expect(gate.headCame(for: pioneer).count == 99)
            #expect(gate.impatient(100 * CurlGate.patience).isEmpty)
            #expect(gate.moment == nil)
        }

        @Test func `Those that gave up in the queue are not kept`() throws {
            var gate = CurlGate(most: 1, isShared: true)
            let first = try exchange("http://a.example/")
            _ = gate.admits(first, 1)
            weak var forgotten: CurlExchange?
            for number in 0..<100 {
                let waiting = try exchange("http://a.example/")
                #expect(!admit(waiting, &gate))
                waiting.place = nil
                _ = gate.ended(waiting)
                if number == 0 { forgotten = waiting }
            }
            #expect(forgotten == nil)
            #expect(gate.present == 1)
        }

        @Test func `What an origin speaks is known as long as its pool, within bounds`() throws {
            var gate = CurlGate(most: 1_000, isShared: true)
            let known = try exchange()
            _ = gate.admits(known, 1)
            _ = gate.learned(false, from: known)
            _ = gate.ended(known)
            #expect(try fill(&gate, 300).allSatisfy(\.isAdmitted))
        }

        @Test func `The number of streams is read from libcurl's text`() {
            func streams(_ text: String) -> Int? { CurlTexts.streams(in: text) }
            #expect(streams("MAX_CONCURRENT_STREAMS reached, skip (17)\n") == 17)
            #expect(streams("client side MAX_CONCURRENT_STREAMS reached, skip (100)") == 100)
            #expect(streams("MAX_CONCURRENT_STREAMS reached, skip (x)") == nil)
            #expect(streams("Connected to a.example") == nil)
        }
    }

    private func === (left: [CurlExchange], right: [CurlExchange]) -> Bool {
        left.map(ObjectIdentifier.init) == right.map(ObjectIdentifier.init)
    }

    /// Who goes, on real connections.
    @Suite(.timeLimit(.minutes(5))) struct GateOnTheWireTests {
        private func get(_ server: LoopbackServer, _ trust: TrustPolicy) -> TransportRequest {
            TransportRequest(HTTPRequest(method: .get, url: server.url), isolation: IsolationKey(trust: trust))
        }

        @Test("Three hundred calls to a server that answers none are all sent")
        func unanswered() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .hold }
            let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 1_000))
            let trust = TrustPolicy.authorities(authority.file)
            let tasks = (0..<300).map { _ in Task { try await transport.perform(get(server, trust)) } }
            try await server.waitForRequests(count: 300)
            await transport.shutdown()
            for task in tasks { _ = await task.result }
            server.stop()
        }

        @Test("A server that takes ten streams is not asked for a connection for each ten", arguments: [1, 10])
        func fewStreams(_ streams: Int) async throws {
            let authority = try TestCertificateAuthority()
            var configuration = LoopbackServer.Configuration(tls: .init(try authority.issue(), protocols: [.http2]))
            configuration.http2.concurrentStreams = streams
            let server = try LoopbackServer(configuration) { _ in
                Thread.sleep(forTimeInterval: 0.001)
                return .text("ok")
            }
            let transport = CurlTransport()
            let trust = TrustPolicy.authorities(authority.file)
            _ = try await transport.perform(get(server, trust))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await transport.perform(get(server, trust)).response.status }
                }
                for try await status in group { #expect(status == 200) }
            }
            // One that is there, one that finds out how many streams there are, and on a slow machine those that are begun
            // before it has. One for each ten calls would be ten.
            #expect(server.connectionCount <= 4)
            await transport.shutdown()
            server.stop()
        }

        @Test("Calls beyond the default number of connections wait, and all are answered")
        func crowd() async throws {
            let server = try WireServer.answering(okay)
            let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 8))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: server.url())))
                            .response.status
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(server.connections <= 8)
            await transport.shutdown()
            server.stop()
        }

        @Test("A call that never gets a connection ends in its own time and says what it waited for")
        func never() async throws {
            let server = try WireServer { connection, _ in connection.untilClosed() }
            let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 1))
            let url = try server.url()
            let first = Task { try await transport.perform(TransportRequest(HTTPRequest(method: .get, url: url))) }
            while server.connections == 0 { try await Task.sleep(for: .milliseconds(2)) }
            let timeouts = Timeouts(connect: .milliseconds(20), firstByte: nil, idle: nil, total: .milliseconds(150))
            let error = try await failure(
                transport, TransportRequest(HTTPRequest(method: .get, url: url), timeouts: timeouts))
            #expect(error.kind == .timeout(.total))
            #expect(error.sendState == .unsent)
            #expect(error.message.contains("in use"))
            await transport.shutdown()
            _ = await first.result
            server.stop()
        }
    }
#endif
