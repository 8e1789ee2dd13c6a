import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is done to a client reaches it and the clients derived from it, and never the client it was derived from.
@Suite(.timeLimit(.minutes(5))) struct DerivedClientTests {
    private let script = ScriptedTransport(Array(repeating: .held(.respond(CallSupport.greeting)), count: 9))
    private let parent: APIClient
    private let child: APIClient
    private let grandchild: APIClient
    private let sibling: APIClient

    init() {
        parent = CallSupport.client(script)
        child = parent.with { $0.headers = ["X": "1"] }
        grandchild = child.with { $0.headers = ["X": "2"] }
        sibling = parent.with { _ in }
    }

    private var everyone: [APIClient] { [parent, child, grandchild, sibling] }

    /// One call of each, in the order of `everyone`, all under way.
    private func startAll() async -> [Call<Message>] {
        let calls = everyone.map { $0.start(Hello()) }
        await script.waitForExchanges(count: 4)
        return calls
    }

    private func finish(_ calls: [Call<Message>]) async {
        for _ in calls { script.release() }
        for call in calls { _ = await call.result }
    }

    @Test(.covers("S2.26")) func `cancelAll ends its own calls and those of its descendants, no others`() async {
        let calls = await startAll()
        child.cancelAll()
        #expect(calls.map(\.context.isCancelled) == [false, true, true, false])
        parent.cancelAll()
        #expect(calls.map(\.context.isCancelled) == [true, true, true, true])
        await finish(calls)
    }

    @Test(.covers("S3.9")) func `a call is found by its id in the record of its client and of the clients above`() async
    {
        let calls = await startAll()
        #expect(everyone.map(\.callCount) == [4, 2, 1, 1])
        #expect(everyone.map { $0.calls.count } == [4, 2, 1, 1])
        #expect(parent.calls.map(\.id) == calls.map(\.id))
        for (index, call) in calls.enumerated() {
            let found = everyone.map { $0.call(call.id) != nil }
            let expected = [
                [true, false, false, false], [true, true, false, false], [true, true, true, false],
                [true, false, false, true],
            ]
            #expect(found == expected[index])
            #expect(parent.call(call.id) === call.context)
        }
        #expect(parent.call(calls[1].id)?.endpoint == "Hello")
        await finish(calls)
        #expect(calls.allSatisfy { parent.call($0.id) == nil })
        #expect(parent.calls.isEmpty)
    }

    @Test(.covers("S2.25")) func `cancelling by id or by API reaches down, never up`() async {
        let calls = await startAll()
        child.cancel(calls[0].id)
        child.cancel(calls[3].id)
        #expect(calls.allSatisfy { !$0.context.isCancelled })
        child.cancel(Hello.self)
        #expect(calls.map(\.context.isCancelled) == [false, true, true, false])
        parent.cancel(calls[3].id)
        #expect(calls.map(\.context.isCancelled) == [false, true, true, true])
        await finish(calls)
    }

    @Test(.covers("S1.22")) func `a switch of the environment moves a client and its descendants`() throws {
        #expect(everyone.map(\.environment) == [.development, .development, .development, .development])
        try child.switchEnvironment(to: .test)
        #expect(everyone.map(\.environment) == [.development, .test, .test, .development])
        try parent.switchEnvironment(to: .production)
        #expect(everyone.map(\.environment) == [.production, .test, .test, .production])
        #expect(child.with { _ in }.environment == .test)
    }

    @Test func `an environment set while deriving is the derived client's own`() async throws {
        let rig = Rig()
        let tested = rig.client.with { $0.environment = .test }
        _ = try await tested.send(GetProduct())
        try rig.client.switchEnvironment(to: .production)
        _ = try await tested.send(GetProduct())
        _ = try await rig.client.send(GetProduct())
        #expect(
            rig.hosts == ["test.shop.example.com", "test.shop.example.com", "production.shop.example.com"])
        #expect(tested.with { $0.headers = [:] }.environment == .test)
    }

    @Test func `set to what it was anyway it is its own as well, and what is read is what holds at the moment`() throws
    {
        let rig = Rig()
        try rig.client.switchEnvironment(to: .test)
        var seen: ServerEnvironment?
        let pinned = rig.client.with {
            seen = $0.environment
            $0.environment = .test
        }
        let following = rig.client.with { _ in }
        try rig.client.switchEnvironment(to: .production)
        #expect(seen == .test)
        #expect(pinned.environment == .test)
        #expect(following.environment == .production)
    }

    @Test(.covers("S3.7")) func `a call of a derived client is held against those of the client it was derived from`()
        async throws
    {
        let script = CallSupport.holding()
        let parent = CallSupport.client(script) {
            $0.options.inFlight = .ignoreNew
            $0.cache = .none
        }
        let derived = parent.with { $0.headers = ["X": "1"] }
        let call = parent.start(Hello())
        await script.waitForExchanges(count: 1)
        #expect(await derived.start(Hello()).result.failure?.kind == .dropped(.alreadyLoading))
        script.release()
        _ = try await call.value
    }

    @Test(.covers("S2.6")) func `headers, interceptors and options of a derived client are its own`() async throws {
        let rig = Rig()
        let derived = rig.client.with {
            $0.headers = ["X-D": "1"]
            $0.callInterceptors = [Intercepting.setting("X-I", "1")]
            $0.options = .headers(["X-O": "1"])
        }
        _ = try await derived.send(GetProduct())
        _ = try await rig.client.send(GetProduct())
        for name in ["X-D", "X-I", "X-O"] as [HTTPFieldName] {
            #expect(rig.sent.map { $0.fields[name] } == ["1", nil])
        }
        #expect(derived.transport as? StubTransport === rig.stub)
    }
}

/// Answers whether or not the call has been ended meanwhile.
private struct Unheeding: Transport {
    let capabilities = TransportCapabilities.all
    let answer: @Sendable () -> HTTPResponse

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        TransportResponse(answer())
    }

    func shutdown() async {}
}

@Suite(.timeLimit(.minutes(5))) struct SignOutTests {
    private static func jar(_ cookies: MemoryCookieStore, _ identity: String, _ environment: String) -> String? {
        cookies.field(
            for: URLSet.url("https://shop.example.com/"), in: .init(environment: environment, identity: identity))
    }

    @Test(.covers("S4.13")) func `a sign-out removes a user's cookies and nobody's in every environment, no other's`()
        async throws
    {
        let cookies = MemoryCookieStore()
        let url = URLSet.url("https://shop.example.com/")
        for identity in ["u-1", "u-2", ""] {
            for environment in ["development", "test"] {
                cookies.receive(["c=\(identity)"], from: url, in: .init(environment: environment, identity: identity))
            }
        }
        let rig = Rig { $0.cookies = cookies }
        #expect(await rig.client.signOut("u-1"))
        #expect(["development", "test"].map { Self.jar(cookies, "u-1", $0) } == [nil, nil])
        #expect(["development", "test"].map { Self.jar(cookies, "u-2", $0) } == ["c=u-2", "c=u-2"])
        #expect(["development", "test"].map { Self.jar(cookies, "", $0) } == [nil, nil])
    }

    @Test(.covers("H28"), arguments: [true, false])
    func `a cookie of a response that comes after the call was ended is not kept`(isEnded: Bool) async {
        let cookies = MemoryCookieStore()
        let client = Box<APIClient?>(nil)
        let transport = Unheeding {
            if isEnded { client.value?.cancelAll() }
            return HTTPResponse(status: 200, fields: [.setCookie: "late=1"], body: HTTPResponse.product.body)
        }
        var configuration = APIClient.Configuration(services: [.shop(host: "example.com")], build: .debug)
        configuration.cookies = cookies
        client.value = APIClient(configuration, transport: transport)
        let error = await failure { try await client.value?.send(GetProduct()) }
        #expect(error?.kind == (isEnded ? .cancelled : nil))
        let kept = cookies.field(
            for: URLSet.url("https://development.example.com/api/products/7"), in: .init(environment: "development"))
        #expect(kept == (isEnded ? nil : "late=1"))
        client.value = nil
    }

    @Test func `a derived client that forgets a user ends that user's calls everywhere`() async {
        let script = CallSupport.holding(2)
        let who = Box("u-1")
        let parent = CallSupport.client(script) { $0.identity = { who.value } }
        let first = parent.start(Hello())
        await script.waitForExchanges(count: 1)
        who.value = "u-2"
        let second = parent.start(Hello())
        await script.waitForExchanges(count: 2)
        await parent.with { _ in }.signOut("u-1")
        #expect(first.context.isCancelled)
        #expect(!second.context.isCancelled)
        second.cancel()
        _ = await (first.result, second.result)
    }
}
