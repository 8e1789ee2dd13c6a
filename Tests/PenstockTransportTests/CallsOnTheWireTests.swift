import Foundation
import PenstockCore
import PenstockCurl
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a client's calls do on real sockets, on every transport that has one.
@Suite(.timeLimit(.minutes(5))) struct CallsOnTheWireTests {
    @Test("Cancelling the task closes the wire", .covers("S0.19"), arguments: TransportUnderTest.withWire)
    func taskCancellationClosesTheWire(transport: TransportUnderTest) async throws {
        try await Shop.run(transport, answering: { _ in .hold }) { server, client in
            let task = Task { try await client.send(Ping()) }
            try await server.waitForRequests(count: 1)
            task.cancel()
            let error = await #expect(throws: APIError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
            try await server.waitForAborts(count: 1)
        }
    }

    @Test(
        "A scope that goes closes the wire, and the request that waited gets the slot", .covers("S1.17"),
        arguments: TransportUnderTest.withOneSlot)
    func deadScopesFreeTheirSlot(transport: TransportUnderTest) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            request.path == "/held" ? .hold : .text("pong")
        }
        try await Shop.run(transport, answering: answer) { server, client in
            var page: CallScope? = CallScope()
            let delivered = Locked(0)
            let held = client.start(Held(), in: page) { _ in delivered.withLock { $0 += 1 } }
            try await server.waitForRequests(count: 1)
            let waiting = client.start(Ping())
            page = nil
            try await server.waitForAborts(count: 1)
            #expect(String(decoding: try await waiting.value, as: UTF8.self) == "pong")
            _ = await held.result
            #expect(delivered.withLock { $0 } == 0)
            #expect(server.requests.map(\.path) == ["/held", "/ping"])
        }
    }

    @Test(
        "A suspended call gets no bytes; resumed, it completes", .covers("S0.7"),
        arguments: TransportUnderTest.withWire.filter { $0.capabilities.contains(.suspension) })
    func suspendStopsBytes(transport: TransportUnderTest) async throws {
        let given = Locked(0)
        let isOver = Locked(false)
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
            var response = LoopbackServer.Response()
            response.body = .produced(pause: .milliseconds(1)) { _ in
                if isOver.withLock({ $0 }) { return nil }
                given.withLock { $0 += 1 }
                return Data([7])
            }
            return response
        }
        try await Shop.run(transport, answering: answer) { _, client in
            let call = client.start(Ping())
            let received = Locked(0)
            let watcher = Task {
                for try await case .progress(let progress) in call.updates {
                    received.withLock { $0 = progress.received }
                }
            }
            while received.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
            call.suspend()
            try await Self.waitForStillness(of: received, behind: given)
            isOver.withLock { $0 = true }
            call.resume()
            #expect(try await call.value.count == given.withLock { $0 })
            watcher.cancel()
        }
    }

    @Test(
        "Fifty calls are cancelled together; the next one succeeds", .covers("S2.26"),
        arguments: TransportUnderTest.withWire)
    func cancelAllOnTheWire(transport: TransportUnderTest) async throws {
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            request.path == "/held" ? .hold : .text("pong")
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let calls = (0..<50).map { _ in client.start(Held()) }
            try await server.waitForRequests(count: 50)
            client.cancelAll()
            for call in calls {
                let result = await call.result
                #expect(throws: APIError.self) { try result.get() }
            }
            try await server.waitForAborts(count: 50)
            #expect(String(decoding: try await client.send(Ping()), as: UTF8.self) == "pong")
            #expect(client.callCount == 0)
        }
    }

    @Test("A request that libcurl sent again by itself counts as an attempt each time")
    func resendsAreAttempts() async throws {
        let libcurl = TransportUnderTest("libcurl") { _ in CurlTransport() }
        let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { request in
            request.path == "/dies" || request.number == 2 ? .close : .text("pong")
        }
        try await Shop.run(libcurl, answering: answer) { server, client in
            _ = try await client.send(Ping())
            let response = try await client.send(HTTPRequest(method: .get, url: try server.url.resolving("/ping")))
            #expect(server.requestCount == 3)
            #expect(response.attempts.map(\.status) == [nil, 200])
            // The connection died after the request was sent, so the server may have acted on it.
            #expect(response.attempts.map(\.sendState) == [.maybeProcessed, .answered])
            let error = await #expect(throws: APIError.self) {
                let url = try server.url.resolving("/dies")
                return try await client.send(HTTPRequest(method: .get, url: url), options: .retry(.none))
            }
            #expect(server.requestCount == 5)
            #expect(error?.kind == .transport(.connectionLost))
            #expect(error?.attempts.map(\.sendState) == [.maybeProcessed, .maybeProcessed])
        }
    }

    #if os(Linux)
        @Test(
            "What the server provably did not process counts as unprocessed where libcurl sent it again")
        func resendsOfTheUnprocessed() async throws {
            let libcurl = TransportUnderTest("libcurl") { _ in CurlTransport() }
            let authority = try TestCertificateAuthority()
            let heads = Locked(0)
            let server = try LoopbackServer(
                .init(tls: .init(try authority.issue(), protocols: [.http2])),
                onHead: { _ in
                    let number = heads.withLock { heads in
                        heads += 1
                        return heads
                    }
                    let refusal = LoopbackServer.Fault.Effect.closeStream(.refusedStream)
                    return number == 1 ? .fault(refusal, at: .requestBody(after: 1_000)) : .proceed
                },
                handler: { _ in .text("pong") })
            try await Shop.run(
                libcurl, on: server, configured: { $0.options.trust = .authorities(authority.file) }
            ) { server, client in
                let response = try await client.send(
                    HTTPRequest(method: .post, url: server.url, body: .bytes(Data(count: 10))), options: .retry(.none))
                #expect(response.attempts.map(\.status) == [nil, 200])
                #expect(response.attempts.map(\.sendState) == [.unprocessed, .answered])
            }
        }
    #endif

    /// Returns once `received` has stayed the same while the server gave a hundred bytes more.
    private static func waitForStillness(of received: Locked<Int>, behind given: Locked<Int>) async throws {
        var (seen, start) = (received.withLock { $0 }, given.withLock { $0 })
        while given.withLock({ $0 }) < start + 100 {
            try await Task.sleep(for: .milliseconds(1))
            let now = received.withLock { $0 }
            if now != seen { (seen, start) = (now, given.withLock { $0 }) }
        }
    }

    private struct Ping: Endpoint {
        typealias Output = Data
        var route: Route { .get("/ping") }
    }

    private struct Held: Endpoint {
        typealias Output = Data
        var route: Route { .get("/held") }
    }

    @Test(
        "A call of 100 ms ends by its time-out, and one of 5 s at the same time gets its answer after 1 s",
        .covers("S0.11"), arguments: TransportUnderTest.withWire)
    func timeouts(transport: TransportUnderTest) async throws {
        let answer = { @Sendable (request: LoopbackServer.Request) -> LoopbackServer.Response in
            request.path == "/held" ? .hold : .text("late").delayed(by: .seconds(1))
        }
        try await Shop.run(transport, answering: answer) { server, client in
            let start = ContinuousClock.now
            async let patient = client.send(Page("/late"), options: .timeout(.seconds(5)))
            let error = await client.failure(Page("/held"), options: .timeout(.milliseconds(100)))
            #expect(error?.kind == .timeout(.total))
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            let answer = try await patient
            #expect(answer == Data("late".utf8))
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
    }

    /// Without that limit Foundation tells of a response now and then before its connection is free for the next one.
    @Test(
        "A hundred calls in sequence open one connection, where a host may have one", .covers("S1.10"),
        arguments: TransportUnderTest.withOneSlot)
    func oneConnection(transport: TransportUnderTest) async throws {
        try await Shop.run(transport, answering: { .text($0.path) }) { server, client in
            for number in 1...100 {
                let answer = try await client.send(Page("/\(number)"))
                #expect(answer == Data("/\(number)".utf8))
            }
            #expect(server.requestCount == 100 && server.connectionCount == 1)
        }
    }
}
