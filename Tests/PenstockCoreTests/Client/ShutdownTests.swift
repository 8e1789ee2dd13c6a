import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A client that was told to end.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    private static let refusal = APIError.Kind.blocked(reason: "this client was shut down")

    /// A client over a transport that holds each exchange, and its clock.
    private static func held(_ count: Int = 1) -> (client: APIClient, transport: ScriptedTransport, clock: TestClock) {
        let (transport, clock) = (CallSupport.holding(count), TestClock())
        return (CallSupport.client(transport) { $0.time = clock.timeSource }, transport, clock)
    }

    @Test func `calls that begin after it fail at once, and say why`() async throws {
        let transport = CallSupport.answering()
        let client = CallSupport.client(transport)
        #expect(await client.shutdown(draining: .seconds(10)))
        #expect(await failure { try await client.send(Hello()) }?.kind == Self.refusal)
        #expect(await failure { try await client.stream(Hello()) }?.kind == Self.refusal)
        #expect(await client.start(Hello()).result.failure?.kind == Self.refusal)
        #expect(await client.preconnect(to: .main) == false)
        #expect(transport.requests.isEmpty)
        #expect(client.callCount == 0)
    }

    @Test func `calls under way come to their end, and nothing new begins meanwhile`() async throws {
        let (client, transport, clock) = Self.held()
        let call = client.start(Hello())
        await transport.waitForExchanges(count: 1)
        let shutdown = Task { await client.shutdown(draining: .seconds(10)) }
        while !Task.isCancelled, !client.state.lineage.isShutDown { await Task.yield() }
        #expect(await failure { try await client.send(Hello()) }?.kind == Self.refusal)
        clock.advance(by: .milliseconds(9_999))
        transport.release()
        #expect(try await call.value == Message(text: "hello"))
        #expect(await shutdown.valueOfTest)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `what has not ended when the time is up is cancelled, and that is said`() async throws {
        let (client, transport, clock) = Self.held(2)
        let calls = [client.start(Hello()), client.with { $0.headers = [:] }.start(Hello())]
        await transport.waitForExchanges(count: 2)
        let shutdown = Task { await client.shutdown(draining: .seconds(10)) }
        while !Task.isCancelled, !client.state.lineage.isShutDown { await Task.yield() }
        // Its own alarm, beside those of the calls.
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(9_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(client.callCount == 2)
        clock.advance(by: .milliseconds(1))
        #expect(await shutdown.valueOfTest == false)
        for call in calls { #expect(await call.result.failure?.kind == .cancelled) }
        #expect(transport.openExchangeCount == 0)
    }

    @Test func `who waits for it and is cancelled ends the calls at once`() async throws {
        let (client, transport, _) = Self.held()
        let call = client.start(Hello())
        await transport.waitForExchanges(count: 1)
        let shutdown = Task { await client.shutdown(draining: .seconds(10)) }
        shutdown.cancel()
        #expect(await shutdown.valueOfTest == false)
        #expect(await call.result.failure?.kind == .cancelled)
    }

    @Test func `the transport is shut down after the calls, once or twice`() async throws {
        let transport = CallSupport.answering()
        let client = CallSupport.client(transport)
        for _ in 0..<2 { #expect(await client.shutdown(draining: .zero)) }
        let other = CallSupport.client(transport)
        #expect(await failure { try await other.send(Hello()) } != nil)
    }

    @Test func `a derived client ends with its descendants, and leaves the others their transport`() async throws {
        let transport = CallSupport.answering()
        let parent = CallSupport.client(transport)
        let child = parent.with { $0.headers = ["X": "1"] }
        let grandchild = child.with { $0.headers = ["X": "2"] }
        let sibling = parent.with { $0.headers = ["X": "3"] }
        #expect(await child.shutdown(draining: .seconds(10)))
        for client in [child, grandchild, child.with { $0.headers = [:] }] {
            #expect(await failure { try await client.send(Hello()) }?.kind == Self.refusal)
        }
        for client in [parent, sibling] { #expect(try await client.send(Hello()) == Message(text: "hello")) }
        #expect(await parent.shutdown(draining: .zero))
        #expect(await failure { try await sibling.send(Hello()) }?.kind == Self.refusal)
    }

    @Test func `what a derived client has not ended in time is ended, and no call of another`() async throws {
        let (client, transport, _) = Self.held(2)
        let derived = client.with { $0.headers = [:] }
        let calls = [client.start(Hello()), derived.start(Hello())]
        await transport.waitForExchanges(count: 2)
        #expect(await derived.shutdown(draining: .zero) == false)
        #expect(calls.map(\.context.isCancelled) == [false, true])
        client.cancelAll()
        for call in calls { #expect(await call.result.failure?.kind == .cancelled) }
    }

    @Test func `a call of another client is not waited for`() async throws {
        let (client, transport, _) = Self.held()
        let call = client.start(Hello())
        await transport.waitForExchanges(count: 1)
        #expect(await client.with { $0.headers = [:] }.shutdown(draining: .seconds(10)))
        transport.release()
        _ = try await call.value
    }

    @Test func `a call under way is sent again with the credential that is renewed for it`() async throws {
        let clock = TestClock()
        let desk = TokenDesk()
        let authenticator = BearerAuthenticator { old, context in
            await desk.refresh(old)
            _ = try await context.client.send(GetProduct(id: "token"), options: .anonymous)
            return Credential("new", refreshToken: "r2", expiresIn: .seconds(3_600), obtained: clock.timeSource.date())
        }
        let rig = AuthRig(authenticator, desk: desk, clock: clock) { request in
            request.url.path.hasSuffix("token") ? .product : desk.answer(request)
        }
        try await rig.signIn("old")
        desk.close()
        let call = rig.client.start(GetProduct())
        await desk.untilRefreshed()
        let shutdown = Task { await rig.client.shutdown(draining: .seconds(10)) }
        while !Task.isCancelled, !rig.client.state.lineage.isShutDown { await Task.yield() }
        desk.open()
        #expect(try await call.value == Product(id: 7, name: "tea"))
        #expect(await shutdown.valueOfTest)
    }
}
