import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Code of the app's that does not return when it is told to.
@Suite(.timeLimit(.minutes(5))) struct UnendingCodeTests {
    /// Where the code stands.
    enum Place: CaseIterable, Sendable {
        case callInterceptor, attemptInterceptor, afterResponse, signer, sealer, opener, refresh, vault, store,
            transport
    }

    /// What ends the call.
    enum End: CaseIterable, Sendable {
        case task, scope, scopeCancelled, cancelAll, signOut, total
    }

    /// How the call is made.
    enum Form: CaseIterable, Sendable {
        case send, raw, stream, lines, events, handle, closure, actorClosure, delegate, updates, responses

        /// What can end it. Whoever awaits a call holds the scope meanwhile, so that it cannot go.
        var ends: [End] {
            switch self {
            case .updates, .responses: [.task, .cancelAll, .signOut, .total]
            case .send, .raw, .stream, .lines: End.allCases.filter { $0 != .scope }
            case .events, .handle, .closure, .actorClosure, .delegate: End.allCases
            }
        }
    }

    static let cases = Form.allCases.flatMap { form in form.ends.map { (form, $0) } }

    @Test("Whatever an interceptor does, every form of a call ends at once", .covers("H38"), arguments: cases)
    func everyForm(form: Form, end: End) async throws {
        let stuck = Stuck()
        defer { stuck.leave.open() }
        let rig = StuckRig(stuck, at: .callInterceptor)
        try await rig.expectEnd(of: form, by: end)
    }

    @Test(
        "Whatever a transport of the app's does, every form of a call ends at once", .covers("H38"), arguments: cases)
    func everyFormOverTransport(form: Form, end: End) async throws {
        let stuck = Stuck()
        defer { stuck.leave.open() }
        let rig = StuckRig(stuck, at: .transport)
        try await rig.expectEnd(of: form, by: end)
    }

    @Test(
        "Content that a transport of the app's does not end is not waited for", .covers("H38"),
        arguments: [End.task, .scopeCancelled, .scope, .cancelAll])
    func content(end: End) async throws {
        let stuck = Stuck()
        defer { stuck.leave.open() }
        let client = CallSupport.client(StuckTransport(stuck: stuck, answers: true))
        var scope: CallScope? = CallScope()
        let response = try await client.stream(Hello(), in: scope)
        let reading = Task { await failure { for try await _ in response {} } }
        await stuck.entered.waitUnlessCancelled { $0 == 1 }
        switch end {
        case .task: reading.cancel()
        case .scope: scope = nil
        case .scopeCancelled: scope?.cancelAll()
        default: client.cancelAll()
        }
        defer { withExtendedLifetime(scope) {} }
        let error = await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            stuck.leave.open()
        }
        #expect(error?.kind == .cancelled)
        #expect(stuck.wasCancelled == false)
    }

    @Test("A connection that a transport of the app's does not make is not waited for", .covers("H38"))
    func preconnection() async throws {
        let stuck = Stuck()
        defer { stuck.leave.open() }
        let client = CallSupport.client(StuckTransport(stuck: stuck))
        let connecting = Task { await client.preconnect(to: .main) }
        await stuck.entered.waitUnlessCancelled { $0 == 1 }
        client.cancelAll()
        let isConnected = await withTaskCancellationHandler {
            await connecting.value
        } onCancel: {
            stuck.leave.open()
        }
        #expect(!isConnected)
        #expect(stuck.wasCancelled == false)
    }

    @Test(
        "Wherever the app's code stands, the call ends at once", .covers("H38"),
        arguments: Place.allCases.flatMap { place in
            [End.task, .cancelAll, .scopeCancelled, .total].map { (place, $0) }
        })
    func everyPlace(place: Place, end: End) async throws {
        for form in [Form.send, .handle] {
            let stuck = Stuck()
            defer { stuck.leave.open() }
            let rig = StuckRig(stuck, at: place)
            if place == .refresh {
                try await rig.client.signIn(Credential("old", expiresIn: .zero, obtained: rig.clock.timeSource.date()))
            }
            try await rig.expectEnd(of: form, by: end)
        }
    }

    @Test("The error tells whose code had not returned", .covers("H38"))
    func blame() async throws {
        let stuck = Stuck()
        let rig = StuckRig(stuck, at: .signer)
        let error = try #require(await rig.end(of: .send, by: .total))
        #expect(error.stage == .sign)
        #expect(error.debugMessage.contains("Stuck"))
        stuck.leave.open()
    }

    @Test("What code brings after the end of its call reaches nobody, and it sends nothing any more", .covers("H38"))
    func late() async throws {
        let stuck = Stuck()
        let rig = StuckRig(stuck, at: .callInterceptor)
        _ = await rig.end(of: .send, by: .cancelAll)
        #expect(stuck.wasCancelled == false)
        stuck.leave.open()
        await stuck.left.wait()
        #expect(stuck.wasCancelled == true)
        #expect(rig.stub.requests.isEmpty)
        #expect(rig.events.grammarViolations == [])
    }

    @Test(
        "A wait through the call ends with it, as its interceptor can see",
        arguments: [UnendingCodeTests.End.cancelAll, .total])
    func sleeping(end: End) async throws {
        let clock = TestClock()
        let seen = Box<APIError?>(nil)
        let waiting = Intercepting { request, call, next in
            do { try await call.sleep(for: .seconds(30)) } catch {
                seen.value = error as? APIError
                throw error
            }
            return try await next(request)
        }
        let client = CallSupport.client(CallSupport.answering()) {
            $0.callInterceptors = [waiting]
            $0.time = clock.timeSource
        }
        let call = client.start(Hello(), options: .timeout(.seconds(10)))
        await clock.waitForSleepers(count: 2)
        if end == .total { clock.advance(by: .seconds(10)) } else { client.cancelAll() }
        let kind = await call.result.failure?.kind
        #expect(kind == (end == .total ? .timeout(.total) : .cancelled))
        while !Task.isCancelled, seen.value == nil { await Task.yield() }
        #expect(seen.value?.kind == kind)
    }

    @Test("A wait through the call is over in time, and the call goes on")
    func slept() async throws {
        let clock = TestClock()
        let waiting = Intercepting { request, call, next in
            try await call.sleep(for: .seconds(3))
            return try await next(request)
        }
        let client = CallSupport.client(CallSupport.answering()) {
            $0.callInterceptors = [waiting]
            $0.time = clock.timeSource
            $0.options.timeouts = Timeouts(total: nil)
        }
        let call = client.start(Hello())
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3))
        #expect(try await call.value == Message(text: "hello"))
    }
}

/// Code that waits for a test and for nothing else, cancelled or not.
final class Stuck: Interceptor, Signer, Sealer {
    let entered = Monitor(0)
    let leave = Latch()
    let left = Latch()
    private let cancelled = Box<Bool?>(false)

    /// Whether its task was cancelled while it waited.
    var wasCancelled: Bool? { cancelled.value }

    func wait() async {
        entered.withLock { $0 += 1 }
        await leave.wait()
        cancelled.value = Task.isCancelled
    }

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        defer { left.open() }
        await wait()
        return try await next(request)
    }

    func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        await wait()
        return request
    }

    func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        await wait()
        return request
    }

    func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse { response }
}

/// A transport of an app's that does not return, or not with its content.
struct StuckTransport: Transport {
    let stuck: Stuck
    var answers = false

    var capabilities: TransportCapabilities { .all }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        await stuck.wait()
        return TransportResponse(CallSupport.greeting)
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        if !answers { await stuck.wait() }
        return TransportStream(HTTPResponse(status: 200), content: Content(stuck: stuck))
    }

    func preconnect(_ request: TransportRequest) async throws(TransportError) {
        await stuck.wait()
    }

    func shutdown() async {}

    private final class Content: TransportContent {
        private let stuck: Stuck

        init(stuck: Stuck) {
            self.stuck = stuck
        }

        let completion = TransportCompletion()

        func next() async throws(TransportError) -> Data? {
            await stuck.wait()
            return nil
        }

        func discard() {}
    }
}

/// A client whose calls never come past a certain place.
struct StuckRig: Sendable {
    let stuck: Stuck
    let stub = CallSupport.answering()
    let clock = TestClock()
    let events = EventRecorder()
    let client: APIClient

    init(_ stuck: Stuck, at place: UnendingCodeTests.Place) {
        self.stuck = stuck
        let (clock, events) = (clock, events)
        let transport: any Transport = place == .transport ? StuckTransport(stuck: stuck) : stub
        client = CallSupport.client(transport) { configuration in
            configuration.time = clock.timeSource
            configuration.sinks = [events]
            configuration.identity = { "alice" }
            configuration.options.timeouts = Timeouts(total: .seconds(1))
            var service = Service(.main, [.development: "https://api.example.com"])
            switch place {
            case .callInterceptor: configuration.callInterceptors = [stuck]
            case .attemptInterceptor: configuration.attemptInterceptors = [stuck]
            case .afterResponse: configuration.callInterceptors = [After(stuck: stuck)]
            case .signer: service.signer = stuck
            case .sealer: service.sealer = stuck
            case .opener: service.sealer = Opening(stuck: stuck)
            case .refresh: service.authenticator = Renewing(stuck: stuck)
            case .vault:
                service.authenticator = Renewing(stuck: stuck)
                configuration.vault = Vault(stuck)
            case .store:
                configuration.cache = .store(Shelf(stuck: stuck))
                configuration.options.cache = .http
            case .transport: break
            }
            configuration.services = ServiceRegistry([service])
        }
    }

    private struct After: Interceptor {
        let stuck: Stuck

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let exchange = try await next(request)
            _ = try await stuck.sign(request, call: call)
            return exchange
        }
    }

    private struct Opening: Sealer {
        let stuck: Stuck

        func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest { request }

        func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse {
            _ = try await stuck.seal(HTTPRequest(method: .get, url: HTTPURL("https://a.example/")), call: call)
            return response
        }
    }

    private struct Renewing: Authenticator {
        let stuck: Stuck

        func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest { request }

        func canRefresh(_ credential: Credential) -> Bool { true }

        func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
            await stuck.wait()
            return credential
        }
    }

    private final class Vault: CredentialVault {
        private let stuck: Stuck
        private let memory = MemoryVault()

        init(_ stuck: Stuck) {
            self.stuck = stuck
        }

        func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
            await stuck.wait()
            return try await memory.load(key)
        }

        func save(
            _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
        ) async throws(VaultError) -> Bool {
            try await memory.save(item, for: key, over: condition)
        }

        func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
            try await memory.delete(key, where: condition)
        }

        func keys() async throws(VaultError) -> [CredentialKey] { try await memory.keys() }
    }

    private struct Shelf: MemoryBackedStore {
        let stuck: Stuck
        let memory = MemoryCacheStore()

        func responses(for key: CacheKey) async -> [StoredResponse] {
            await stuck.wait()
            return await memory.responses(for: key)
        }
    }

    func expectEnd(of form: UnendingCodeTests.Form, by end: UnendingCodeTests.End) async throws {
        let error = await self.end(of: form, by: end)
        #expect(error?.kind == (end == .total ? .timeout(.total) : .cancelled), "\(form) by \(end)")
        // The end of a call that nobody waits for is told just after the call has left the client.
        let isOpen = { client.callCount > 0 || events.grammarViolations.contains { $0.contains("no end") } }
        while !Task.isCancelled, isOpen() { await Task.yield() }
        #expect(events.grammarViolations == [])
        // Only now: the calls have ended while the code still waits.
        #expect(stuck.wasCancelled == false)
    }

    /// Makes a call, waits until it is stuck, and ends it.
    func end(of form: UnendingCodeTests.Form, by end: UnendingCodeTests.End) async -> APIError? {
        let before = stuck.entered.withLock { $0 }
        var scope: CallScope? = CallScope()
        let task = await form.begin(client, in: scope)
        await stuck.entered.waitUnlessCancelled { $0 > before }
        switch end {
        case .task: task.cancel()
        case .scope: scope = nil
        case .scopeCancelled: scope?.cancelAll()
        case .cancelAll: client.cancelAll()
        case .signOut: await client.signOut("alice")
        case .total:
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }
        defer { withExtendedLifetime(scope) {} }
        // A call that does not end fails its test, but does not hold it up for ever.
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            stuck.leave.open()
        }
    }
}

extension UnendingCodeTests.Form {
    /// Begins a call, in a task that gives its error.
    func begin(_ client: APIClient, in scope: CallScope?) async -> Task<APIError?, Never> {
        switch self {
        case .send: return Self.task(scope) { scope in try await client.send(Hello(), in: scope) }
        case .raw:
            return Self.task(scope) { scope in
                try await client.send(
                    HTTPRequest(method: .get, url: HTTPURL("https://api.example.com/")),
                    options: .timeout(.seconds(1)), in: scope)
            }
        case .stream: return Self.task(scope) { scope in try await client.stream(Hello(), in: scope) }
        case .lines: return Self.task(scope) { scope in try await client.lines(of: Hello(), in: scope) }
        case .events:
            let events = client.events(of: Hello(), in: scope)
            return Task { await failure { for try await _ in events {} } }
        case .handle: return Self.task(client.start(Hello(), in: scope))
        case .closure: return Self.task(client.start(Hello(), in: scope) { _ in })
        case .actorClosure: return Self.task(client.start(Hello(), in: scope, on: MainActor.shared) { _, _ in })
        case .delegate:
            let delegate = Silent()
            let call = client.start(Hello(), delegate: delegate, in: scope)
            return Task {
                defer { withExtendedLifetime(delegate) {} }
                return await call.result.failure
            }
        case .updates:
            let updates = client.updates(of: Hello())
            return Task { await failure { for try await _ in updates {} } }
        case .responses:
            let responses = client.responses(to: Hello())
            return Task { await failure { for try await _ in responses {} } }
        }
    }

    private static func task(_ call: Call<Message>) -> Task<APIError?, Never> {
        Task { await call.result.failure }
    }

    private static func task<Output: Sendable>(
        _ scope: CallScope?, _ body: @escaping @Sendable (CallScope?) async throws -> Output
    ) -> Task<APIError?, Never> {
        Task { await failure { try await body(scope) } }
    }

    @MainActor private final class Silent: CallDelegate {
        func call(_ id: CallID, didFinishWith result: Result<Message, APIError>) {}
    }
}
