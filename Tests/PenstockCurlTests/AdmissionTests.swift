#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl
    @testable import PenstockTesting

    /// Who goes at once, and who waits.
    @Suite struct AdmissionTests {
        private let loop = CurlLoop(.init())

        private func transfer(_ url: String = "https://a.example/", head: String? = nil) throws -> CurlTransfer {
            let request = HTTPRequest(method: .get, url: try HTTPURL(url))
            let order = TransportRequest(request, timeouts: Timeouts(total: .seconds(60)))
            let transfer = CurlTransfer(order, loop: loop)
            transfer.state.heapIndex = 0
            if let head { give(head, to: transfer) }
            return transfer
        }

        private func admit(_ transfer: CurlTransfer, _ admission: inout CurlAdmission) -> Bool {
            admission.admit(transfer, 1)
        }

        private func give(_ line: String, to transfer: CurlTransfer) {
            for line in [line + "\r\n", "\r\n"] {
                _ = Array(line.utf8).withUnsafeBytes { transfer.state.head.take($0, ResponseLimits(), nil) }
            }
        }

        private func fill(_ admission: inout CurlAdmission, _ count: Int) throws -> [CurlTransfer] {
            let transfers = try (0..<count).map { _ in try transfer() }
            for transfer in transfers { _ = admission.admit(transfer, 1) }
            return transfers
        }

        @Test func theHundredAndFirstWaitsUntilOneEnds() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 102)
            #expect(transfers.map(\.state.isAdmitted) == Array(repeating: true, count: 100) + [false, false])
            #expect(admission.ended(transfers[7]).map(ObjectIdentifier.init) == [ObjectIdentifier(transfers[100])])
            #expect(transfers[100].state.isAdmitted)
            #expect(!transfers[101].state.isAdmitted)
        }

        @Test func anOriginWithoutHTTP2LetsAllGo() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 300)
            give("HTTP/1.1 200 OK", to: transfers[0])
            #expect(admission.headCame(for: transfers[0]).count == 200)
            #expect(admission.admit(try transfer(), 2))
        }

        @Test func anOriginWithHTTP2LetsNoMoreGo() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 300)
            give("HTTP/2 200", to: transfers[0])
            #expect(admission.headCame(for: transfers[0]).isEmpty)
            #expect(admission.moment == 1 + CurlAdmission.patience)
        }

        @Test func whereNothingEndsOneOpensTheNextConnection() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 300)
            give("HTTP/2 200", to: transfers[0])
            _ = admission.headCame(for: transfers[0])
            #expect(admission.impatient(CurlAdmission.patience).isEmpty)
            let openers = admission.impatient(1 + CurlAdmission.patience)
            #expect(openers.map(ObjectIdentifier.init) == [ObjectIdentifier(transfers[100])])
            #expect(admission.moment == nil)
            #expect(admission.impatient(10 * CurlAdmission.patience).isEmpty)
            give("HTTP/2 200", to: transfers[100])
            #expect(admission.headCame(for: transfers[100]).count == 99)
            #expect(admission.moment == 1 + CurlAdmission.patience)
        }

        @Test func thoseThatEndedWhileTheyWaitedArePassedOver() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 103)
            transfers[100].state.heapIndex = nil
            transfers[101].state.heapIndex = nil
            #expect(admission.ended(transfers[0]).map(ObjectIdentifier.init) == [ObjectIdentifier(transfers[102])])
            #expect(admission.ended(transfers[1]).isEmpty)
        }

        @Test func originsDoNotWaitForEachOther() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            _ = try fill(&admission, 150)
            #expect(admission.admit(try transfer("https://b.example/"), 1))
        }

        @Test func `Over HTTP/1_1 as many go as there may be connections`() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let plain = try (0..<5).map { _ in try transfer("http://a.example/") }
            #expect(plain.map { admission.admit($0, 1) } == [true, true, true, false, false])
            #expect(
                plain.allSatisfy { $0.state.clock.expired(.max - 1) == .timeout(.total) },
                "none waits for its connection")
            #expect(admission.ended(plain[1]) === [plain[3]])
            #expect(admission.moment == nil)
        }

        @Test func `Of an unknown origin no more go than there may be connections`() throws {
            var admission = CurlAdmission(most: 7, isShared: true)
            let transfers = try (0..<20).map { _ in try transfer() }
            #expect(transfers.count { admission.admit($0, 1) } == 7)
            #expect(
                admission.learned(true, from: transfers[0]).count == 13, "HTTP/2 needs one connection for all of them")
        }

        @Test("Where a host turns out to speak HTTP/1.1 too, no more go alone than there may be connections")
        func goesAlone() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let first = try transfer(head: "HTTP/2 200")
            #expect(admit(first, &admission))
            #expect(admission.headCame(for: first).isEmpty)
            let others = try fill(&admission, 5)
            #expect(
                others.map(\.state.isAdmitted) == [Bool](repeating: true, count: 5),
                "one connection carries all of them")

            #expect(admission.learned(false, from: others[0]).isEmpty)
            var goesAlone = others.map { admission.mayGoAlone($0, 2) }
            #expect(goesAlone == [false, false, false, true, true])
            #expect(others.map(\.state.isAdmitted) == [false, false, false, true, true])
            #expect(admission.ended(first) === [others[0]])
            goesAlone = [admission.mayGoAlone(others[0], 3)]
            #expect(goesAlone == [true], "it has its place")
            #expect(admission.ended(others[3]) === [others[1]])
            #expect(admission.ended(others[4]) === [others[2]])
        }

        /// Transfers whose requests go that way.
        private func send(_ way: CurlWay, _ count: Int, _ admission: inout CurlAdmission) throws -> [CurlTransfer] {
            let transfers = try fill(&admission, count)
            for transfer in transfers {
                transfer.state.originQueue?.sends(transfer, way)
                transfer.state.attempts = 1
            }
            return transfers
        }

        @Test(
            "Streams without end take one of the connections that there may be, answered or not",
            arguments: [true, false])
        func streamsBesideHTTP1(isAnswered: Bool) throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let first = try transfer(head: "HTTP/2 200")
            #expect(admit(first, &admission))
            _ = admission.headCame(for: first)
            for stream in try send(.stream, 9, &admission) where isAnswered {
                give("HTTP/2 200", to: stream)
                _ = admission.headCame(for: stream)
            }
            let others = try fill(&admission, 3)
            #expect(others.map(\.state.isAdmitted) == [true, true, true])
            _ = admission.learned(false, from: others[0])
            var goesAlone = others.map { admission.mayGoAlone($0, 2) }
            #expect(goesAlone == [false, true, true])
            #expect(admission.ended(others[1]) === [others[0]])
            goesAlone = [admission.mayGoAlone(others[0], 3)]
            #expect(goesAlone == [true])
        }

        @Test("Where streams without end have the only connection that there may be, one goes beside them all the same")
        func streamsOnTheOnlyConnection() throws {
            var admission = CurlAdmission(most: 1, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            first.state.originQueue?.sends(first, .stream)
            let others = try fill(&admission, 2)
            _ = admission.learned(false, from: others[0])
            let goesAlone = others.map { admission.mayGoAlone($0, 2) }
            #expect(goesAlone == [false, true])
            #expect(admission.ended(others[1]) === [others[0]])
        }

        @Test("An answer over HTTP/1.1 lets those go that streams without end held back")
        func answerOverHTTP1() throws {
            var admission = CurlAdmission(most: 2, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            let originQueue = try #require(first.state.originQueue)
            originQueue.lowerPlaces(to: 5)
            _ = try send(.stream, 3, &admission)
            let alone = try #require(try send(.unknown, 1, &admission).first)
            originQueue.sends(first, .stream)
            let waiting = try transfer()
            #expect(!admit(waiting, &admission))
            give("HTTP/1.1 200 OK", to: alone)
            #expect(admission.headCame(for: alone).isEmpty, "it has the second connection")
            #expect(admission.ended(alone) === [waiting])
        }

        @Test("Those that turn out to go over HTTP/2 give way at once to one that needs a connection of its own")
        func givesWay() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let alone = try #require(try send(.alone, 1, &admission).first)
            _ = admission.learned(true, from: alone)
            let others = try fill(&admission, 3)
            _ = admission.learned(false, from: others[2])
            let goesAlone = [admission.mayGoAlone(others[2], 2)]
            #expect(goesAlone == [false])
            #expect(admission.impatient(2).isEmpty)
            for other in others[..<2] { other.state.originQueue?.sends(other, .stream) }
            #expect(admission.impatient(2) === [others[2]])
            #expect(admission.impatient(.max).isEmpty)
        }

        @Test("A further connection that turns out to speak HTTP/1.1 is none of HTTP/2")
        func openerOverHTTP1() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            first.state.originQueue?.lowerPlaces(to: 4)
            first.state.originQueue?.sends(first, .stream)
            _ = try send(.stream, 3, &admission)
            let waiting = try transfer()
            #expect(!admit(waiting, &admission))
            #expect(admission.impatient(1 + CurlAdmission.patience) === [waiting])
            give("HTTP/1.1 200 OK", to: waiting)
            _ = admission.headCame(for: waiting)
            let isAdmitted = try [admit(transfer(), &admission), admit(transfer(), &admission)]
            #expect(isAdmitted == [true, false], "the third connection is theirs, and there is no fourth")
        }

        @Test(
            "Nobody waits for streams without end where the host has spoken HTTP/1.1, while it may have another connection"
        )
        func noPatience() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let alone = try #require(try send(.alone, 1, &admission).first)
            _ = admission.learned(false, from: alone)
            let stream = try #require(try send(.unknown, 1, &admission).first)
            stream.state.originQueue?.lowerPlaces(to: 1)
            give("HTTP/2 200", to: stream)
            #expect(admission.headCame(for: stream).isEmpty)
            let waiting = [try transfer(), try transfer()]
            for transfer in waiting { #expect(!admit(transfer, &admission)) }
            #expect(admission.impatient(1) === [waiting[0]])
            #expect(admission.impatient(1).isEmpty, "it may find that there is room")
            give("HTTP/1.1 200 OK", to: waiting[0])
            #expect(admission.headCame(for: waiting[0]).isEmpty, "all three connections carry something")
            #expect(admission.ended(alone) === [waiting[1]])

            // With two alone there is no third.
            give("HTTP/2 200", to: stream)
            _ = admission.learned(true, from: stream)
            waiting[1].state.originQueue?.sends(waiting[1], .alone)
            let last = try transfer()
            #expect(!admit(last, &admission))
            #expect(admission.impatient(1).isEmpty)
            #expect(admission.impatient(1 + CurlAdmission.patience) === [last])
        }

        @Test("One that was to open a connection, and was taken back, keeps nobody from opening it")
        func openerTakenBack() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            first.state.originQueue?.lowerPlaces(to: 1)
            first.state.originQueue?.sends(first, .stream)
            let opener = try transfer()
            #expect(!admit(opener, &admission))
            #expect(admission.impatient(1 + CurlAdmission.patience) === [opener])
            admission.takeBack(opener, 2)
            #expect(admission.impatient(2 + CurlAdmission.patience) === [opener])
        }

        @Test("What goes over HTTP/1.1 takes no place on an HTTP/2 connection")
        func placesBesideHTTP1() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let alone = try send(.alone, 2, &admission)
            _ = admission.learned(false, from: alone[0])
            let stream = try #require(try send(.unknown, 1, &admission).first)
            stream.state.originQueue?.lowerPlaces(to: 2)
            let waiting = try transfer()
            #expect(!admit(waiting, &admission))
            give("HTTP/2 200", to: stream)
            #expect(admission.headCame(for: stream) === [waiting])
            #expect(!admit(try transfer(), &admission))
        }

        @Test("One that was sent, was taken back and gave up in the queue is counted as sent no more")
        func endsTakenBack() throws {
            var admission = CurlAdmission(most: 3, isShared: true)
            let transfers = try send(.stream, 2, &admission)
            _ = admission.learned(true, from: transfers[0])
            let originQueue = try #require(transfers[0].state.originQueue)
            #expect(originQueue.carriesSeveral)
            admission.takeBack(transfers[1], 2)
            #expect(!originQueue.carriesSeveral)
            transfers[1].state.heapIndex = nil
            _ = admission.ended(transfers[1])
            _ = admission.ended(transfers[0])
            #expect(originQueue.mayConnect(try transfer()), "nothing is on the wire")
        }

        @Test("The first handshake tells the protocol, so nobody waits for an answer", .covers("H13"))
        func handshakeTells() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 300)
            #expect(admission.learned(false, from: transfers[0]).count == 200)
            #expect(admission.present == 300)
        }

        @Test("Who waits for an unknown origin's connection has its time to connect, and who waits for a place has not")
        func clocks() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 102)
            let late = 11 * 1_000_000_000 as UInt64
            #expect(transfers[101].state.clock.expired(late) == .timeout(.connect))
            _ = admission.learned(true, from: transfers[0])
            #expect(transfers[101].state.clock.expired(late) == nil)
            let later = try transfer()
            #expect(!admit(later, &admission))
            #expect(later.state.clock.expired(late) == nil)
        }

        @Test func `A server that takes fewer exchanges is given fewer`() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let transfers = try fill(&admission, 100)
            _ = admission.learned(true, from: transfers[0])
            let originQueue = try #require(transfers[0].state.originQueue)
            #expect(originQueue.mayConnect(transfers[0]), "there is no connection yet")
            for transfer in transfers[..<10] {
                originQueue.sends(transfer, .stream)
                transfer.state.attempts = 1
            }
            #expect(!originQueue.mayConnect(transfers[10]))
            #expect(originQueue.mayConnect(transfers[3]), "its connection was lost")
            originQueue.lowerPlaces(to: 10)
            originQueue.lowerPlaces(to: 12)
            for transfer in transfers[10...] { admission.takeBack(transfer, 5) }
            #expect(admission.ended(transfers[0]) === [transfers[10]], "in their turn")
            #expect(admission.ended(transfers[1]) === [transfers[11]])
            #expect(originQueue.places == 10)
            #expect(
                admission.impatient(5 + CurlAdmission.patience) === [transfers[12]], "one opens the next connection")
            #expect(originQueue.mayConnect(transfers[12]))
        }

        @Test func `What a server took once is forgotten when nothing is under way`() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            let originQueue = try #require(first.state.originQueue)
            originQueue.lowerPlaces(to: 0)
            #expect(originQueue.places == 1)
            _ = admission.ended(first)
            #expect(originQueue.places == 100)
        }

        @Test func `Further connections end at the limit of connections`() throws {
            var admission = CurlAdmission(most: 2, isShared: true)
            let first = try transfer()
            #expect(admit(first, &admission))
            _ = admission.learned(true, from: first)
            let others = try (0..<250).map { _ in try transfer() }
            for other in others { _ = admission.admit(other, 1) }
            let opener = try #require(admission.impatient(1 + CurlAdmission.patience).first)
            give("HTTP/2 200", to: opener)
            #expect(admission.headCame(for: opener).count == 99)
            #expect(admission.impatient(100 * CurlAdmission.patience).isEmpty)
            #expect(admission.moment == nil)
        }

        @Test func `Those that gave up in the queue are not kept`() throws {
            var admission = CurlAdmission(most: 1, isShared: true)
            let first = try transfer("http://a.example/")
            _ = admission.admit(first, 1)
            weak var forgotten: CurlTransfer?
            for number in 0..<100 {
                let waiting = try transfer("http://a.example/")
                #expect(!admit(waiting, &admission))
                waiting.state.heapIndex = nil
                _ = admission.ended(waiting)
                if number == 0 { forgotten = waiting }
            }
            #expect(forgotten == nil)
            #expect(admission.present == 1)
        }

        @Test func `What an origin speaks is known as long as its pool, within bounds`() throws {
            var admission = CurlAdmission(most: 1_000, isShared: true)
            let known = try transfer()
            _ = admission.admit(known, 1)
            _ = admission.learned(false, from: known)
            _ = admission.ended(known)
            #expect(try fill(&admission, 300).allSatisfy(\.state.isAdmitted))
        }

        @Test func `The number of streams is read from libcurl's text`() {
            func streams(_ text: String) -> Int? { CurlDebugText.streams(in: text) }
            #expect(streams("MAX_CONCURRENT_STREAMS reached, skip (17)\n") == 17)
            #expect(streams("client side MAX_CONCURRENT_STREAMS reached, skip (100)") == 100)
            #expect(streams("MAX_CONCURRENT_STREAMS reached, skip (x)") == nil)
            #expect(streams("Connected to a.example") == nil)
        }
    }

    private func === (left: [CurlTransfer], right: [CurlTransfer]) -> Bool {
        left.map(ObjectIdentifier.init) == right.map(ObjectIdentifier.init)
    }

    /// Who goes, on real connections.
    @Suite(.timeLimit(.minutes(5))) struct AdmissionOnTheWireTests {
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

        @Test("The only connection that there may be goes from one transfer to the next at once, and is not made anew")
        func handedOn() async throws {
            let authority = try TestCertificateAuthority()
            let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { .text($0.path) }
            let transport = CurlTransport(configuration: .init(maxConnections: 1))
            let trust = TrustPolicy.authorities(authority.file)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask {
                        var request = get(server, trust)
                        request.request.url = try server.url.resolving("/\(index)")
                        let answer = try await transport.perform(request).response
                        #expect(answer.body == Data("/\(index)".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.connectionCount == 1)
            await transport.shutdown()
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

        @Test("On a host that speaks both versions a call does not wait for the streams of HTTP/2, which have no end")
        func bothVersions() async throws {
            let authority = try TestCertificateAuthority()
            var tls = LoopbackServer.TLS(try authority.issue(), protocols: [.http2])
            tls.others = [.http1]
            var configuration = LoopbackServer.Configuration(tls: tls)
            configuration.http2.concurrentStreams = 4
            let server = try LoopbackServer(configuration) { request in
                guard request.path == "/events" else { return .text("ok") }
                var events = LoopbackServer.Response()
                events.body = .produced(pause: .seconds(600)) { $0 < 2 ? Data("event\n".utf8) : nil }
                return events
            }
            let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 3))
            let trust = TrustPolicy.authorities(authority.file)
            var events = get(server, trust)
            events.request.url = try server.url.resolving("/events")
            var streams: [TransportStream] = []
            for _ in 0..<5 { streams.append(try await transport.open(events)) }
            #expect(streams.map(\.response.version) == [.http2, .http2, .http2, .http2, .http11])

            // No place is left over HTTP/2, and libcurl takes it to the connection that speaks HTTP/1.1, which is in use.
            var call = get(server, trust)
            call.timeouts = Timeouts(total: .seconds(10))
            let answer = try await transport.perform(call)
            #expect(answer.response.status == 200)
            #expect(server.connectionCount == 3)
            withExtendedLifetime(streams) {}
            await transport.shutdown()
            server.stop()
        }

        @Test(
            "On a host that speaks both versions connections of HTTP/1.1 that rest are used, and none is made beside them"
        )
        func restingConnections() async throws {
            let authority = try TestCertificateAuthority()
            var tls = LoopbackServer.TLS(try authority.issue(), protocols: [.http2])
            tls.others = [.http1]
            var configuration = LoopbackServer.Configuration(tls: tls)
            configuration.http2.concurrentStreams = 2
            let server = try LoopbackServer(configuration) { request in
                guard request.path == "/events" else { return .text("ok") }
                var events = LoopbackServer.Response()
                events.body = .produced(pause: .seconds(600)) { $0 < 2 ? Data("event\n".utf8) : nil }
                return events
            }
            let transport = CurlTransport(configuration: .init(maxConnectionsPerHost: 4))
            let trust = TrustPolicy.authorities(authority.file)
            var events = get(server, trust)
            events.request.url = try server.url.resolving("/events")
            var streams: [TransportStream] = []
            for _ in 0..<2 { streams.append(try await transport.open(events)) }
            for _ in 0..<40 {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            var call = get(server, trust)
                            call.timeouts = Timeouts(total: .seconds(60))
                            return try await transport.perform(call).response.status
                        }
                    }
                    for try await status in group { #expect(status == 200) }
                }
            }
            #expect(server.connectionCount <= 6)
            withExtendedLifetime(streams) {}
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
