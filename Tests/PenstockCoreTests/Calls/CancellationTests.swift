import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Who may end a call, and what is heard of it.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    @Test("Cancelling a handle ends its call once, as cancelled", .covers("S0.7", "S0.21"))
    @MainActor func cancelEndsOnce() async throws {
        let transport = CallSupport.holding()
        let mailbox = Mailbox<Result<Message, APIError>>()
        let call = CallSupport.client(transport).start(Hello(), completion: mailbox.put)
        await transport.waitForExchanges(count: 1)
        call.cancel()
        call.cancel()
        #expect(await call.result.failure?.kind == .cancelled)
        await mailbox.wait(for: 1)
        await drainMainActor()
        #expect(mailbox.values.map { $0.failure?.kind } == [.cancelled])
        #expect(transport.openExchangeCount == 0)
    }

    @Test("A suspended call waits; resumed, it completes", .covers("S0.7"))
    func suspendAndResume() async throws {
        let transport = CallSupport.answering()
        let client = CallSupport.client(transport) { $0.callInterceptors = [Pause()] }
        let call = client.start(Hello())
        await Pause.entered.wait()
        call.suspend()
        Pause.leave.open()
        for _ in 0..<50 { await Task.yield() }
        #expect(transport.requests.isEmpty)
        call.resume()
        #expect(try await call.value == Message(text: "hello"))
    }

    @Test("Cancelling the task that sends ends the exchange", .covers("S0.19"))
    func taskCancellationReachesTheTransport() async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport)
        let task = Task { try await client.send(Hello()) }
        await transport.waitForExchanges(count: 1)
        task.cancel()
        let error = await #expect(throws: APIError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(transport.openExchangeCount == 0)
        #expect(client.callCount == 0)
    }

    /// The sequences that hear of a call.
    enum Sequence: CaseIterable {
        case owningUpdates, owningResponses, updates, responses

        func drain(_ client: APIClient) async throws {
            switch self {
            case .owningUpdates: for try await _ in client.updates(of: Hello()) {}
            case .owningResponses: for try await _ in client.responses(to: Hello()) {}
            case .updates: for try await _ in client.start(Hello()).updates {}
            case .responses: for try await _ in client.start(Hello()).responses {}
            }
        }
    }

    @Test(
        "A sequence that is cut off throws an error that is mapped as the call's own is", arguments: Sequence.allCases)
    func mapped(sequence: Sequence) async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport) {
            $0.errorMapper = ErrorMapper { .init(code: $0.kind == .cancelled ? 42 : 0, userText: "Cancelled.") }
        }
        let task = Task { try await sequence.drain(client) }
        await transport.waitForExchanges(count: 1)
        task.cancel()
        let error = await #expect(throws: APIError.self) { try await task.value }
        #expect(error?.kind == .cancelled && error?.presentation == .init(code: 42, userText: "Cancelled."))
        client.cancelAll()
    }

    @Test("A call whose task is cancelled before it begins sends nothing", .covers("S0.19"))
    func cancelledBeforeItBegins() async throws {
        let transport = CallSupport.answering()
        let client = CallSupport.client(transport)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await client.send(Hello())
        }
        task.cancel()
        let error = await #expect(throws: APIError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "A call that is ended tells of the attempt that its server may have, also where that has a context of its own",
        arguments: ["plain", "hedged", "joined"])
    func attemptsOfTheEnded(kind: String) async throws {
        let busy = ScriptedTransport.Step.respond(.init(status: 503))
        let script = ScriptedTransport([busy, .held(.product)])
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.random = RandomSource { 0 }
        configuration.cache = .none
        if kind == "joined" { configuration.options.inFlight = .join }
        let hedging = kind == "hedged" ? HedgingPolicy(after: .seconds(60)) : nil
        configuration.options.retry = RetryPolicy(limit: 1, backoff: .init(base: .zero), hedging: hedging)
        let client = APIClient(configuration, transport: script)
        let call = client.start(GetProduct())
        await script.waitForExchanges(count: 2)
        call.cancel()
        let error = await call.result.failure
        #expect(error?.kind == .cancelled)
        #expect(error?.attempts.map(\.status) == [503, nil])
        let last = error?.attempts.last
        #expect(last?.outcome == .cancelled && last?.sendState == .maybeProcessed)
        #expect(last?.url == script.requests.last?.request.url)
    }

    @Test("Cancelling one call leaves the others", .covers("S2.25"))
    func cancelOne() async throws {
        let transport = CallSupport.holding(2)
        let client = CallSupport.client(transport)
        let first = client.start(Hello(name: "first"))
        await transport.waitForExchanges(count: 1)
        let second = client.start(Hello(name: "second"))
        await transport.waitForExchanges(count: 2)
        client.cancel(first.id)
        #expect(await first.result.failure?.kind == .cancelled)
        #expect(client.callCount == 1)
        transport.release()
        #expect(try await second.value == Message(text: "hello"))
    }

    @Test("Cancelling an API ends its calls and no others", .covers("S2.32"))
    func cancelByEndpoint() async throws {
        struct Other: Endpoint {
            typealias Output = Message
            var route: Route { .get("/other") }
        }
        let transport = CallSupport.holding(2)
        let client = CallSupport.client(transport)
        let hello = client.start(Hello())
        await transport.waitForExchanges(count: 1)
        let other = client.start(Other())
        await transport.waitForExchanges(count: 2)
        client.cancel(Hello.self)
        #expect(await hello.result.failure?.kind == .cancelled)
        transport.release()
        #expect(try await other.value == Message(text: "hello"))
    }

    @Test("Cancelling all ends fifty calls, and the next one succeeds", .covers("S2.26"))
    func cancelAll() async throws {
        let transport = ScriptedTransport(
            Array(repeating: .held(.respond(CallSupport.greeting)), count: 50) + [.respond(CallSupport.greeting)])
        let client = CallSupport.client(transport)
        let started = (0..<25).map { _ in client.start(Hello()) }
        let sent = (0..<25).map { _ in Task { try await client.send(Hello()) } }
        await transport.waitForExchanges(count: 50)
        client.cancelAll()
        for call in started { #expect(await call.result.failure?.kind == .cancelled) }
        for task in sent {
            let error = await #expect(throws: APIError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
        #expect(client.callCount == 0)
        #expect(try await client.send(Hello()) == Message(text: "hello"))
    }

    @Test("A scope that goes ends its calls, and nothing of them is delivered", .covers("S1.17", "S2.33"))
    @MainActor func scopesEndTheirCalls() async throws {
        let transport = CallSupport.holding(2)
        let client = CallSupport.client(transport)
        let mailbox = Mailbox<Result<Message, APIError>>()
        var page: CallScope? = CallScope()
        let owned = client.start(Hello(), in: page, completion: mailbox.put)
        await transport.waitForExchanges(count: 1)
        let free = client.start(Hello())
        await transport.waitForExchanges(count: 2)
        page = nil
        #expect(await owned.result.failure?.kind == .cancelled)
        await drainMainActor()
        #expect(mailbox.values.isEmpty)
        transport.release()
        #expect(try await free.value == Message(text: "hello"))
    }

    @Test("What arrived before the scope went, but was not delivered yet, is not delivered", .covers("S1.17"))
    @MainActor func nothingIsDeliveredAfterTheScope() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let mailbox = Mailbox<Result<Message, APIError>>()
        var page: CallScope? = CallScope()
        let end = CallEnd()
        let observed = client.with { $0.sinks = [end] }
        observed.start(Hello(), in: page, completion: mailbox.put)
        // The main actor is held here until the call is over, so the delivery can only come after the scope.
        end.wait()
        page = nil
        await drainMainActor()
        #expect(mailbox.values.isEmpty)
    }

    @Test(
        "A call that ended with its scope is not delivered, also where the scope was still there at the last look",
        .covers("S1.17"))
    @MainActor func goneAtTheLastLook() async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport)
        let mailbox = Mailbox<Result<Message, APIError>>()
        let page = CallScope()
        let call = client.start(Hello(), in: page, completion: mailbox.put)
        await transport.waitForExchanges(count: 1)
        // What the scope does when it goes.
        call.context.end(.ownerGone)
        #expect(await call.result.failure?.kind == .cancelled)
        await drainMainActor()
        #expect(mailbox.values.isEmpty)
        withExtendedLifetime(page) {}
    }

    @Test("Cancelling a scope tells its callers and leaves it usable", .covers("S2.25"))
    @MainActor func cancelledScopesGoOn() async throws {
        let transport = ScriptedTransport([.held(.respond(CallSupport.greeting)), .respond(CallSupport.greeting)])
        let client = CallSupport.client(transport)
        let page = CallScope()
        let mailbox = Mailbox<Result<Message, APIError>>()
        let call = client.start(Hello(), in: page, completion: mailbox.put)
        await transport.waitForExchanges(count: 1)
        #expect(page.callCount == 1)
        page.cancelAll()
        await mailbox.wait(for: 1)
        #expect(mailbox.values.first?.failure?.kind == .cancelled)
        _ = await call.result
        #expect(page.callCount == 0)
        #expect(try await client.send(Hello(), in: page) == Message(text: "hello"))
    }

    /// Of calls, some of which are over.
    private struct WeakContext {
        weak var context: CallContext?
    }

    @Test(
        "A thousand calls that begin and are cancelled side by side are each found by their number, and leave nothing",
        .covers("S3.9"))
    func thousandCalls() async throws {
        let contexts = Locked<[WeakContext]>([])
        let clients = try await thousandCalls(contexts)
        #expect(clients.allSatisfy { $0.callCount == 0 && $0.calls.isEmpty })
        // The last task of a call may let go of it a moment after its end.
        while !Task.isCancelled, contexts.withLock({ $0.contains { $0.context != nil } }) { await Task.yield() }
        #expect(contexts.withLock { $0.count { $0.context == nil } } == 1_000)
    }

    /// Half of them are cancelled: some at once, while others begin, and the rest when all others wait for their answers.
    private func thousandCalls(_ contexts: Locked<[WeakContext]>) async throws -> [APIClient] {
        let transport = CallSupport.holding(1_000)
        let clients = (0..<4).map { _ in CallSupport.client(transport) }
        let calls = await withTaskGroup(of: (Int, Call<Message>).self) { group in
            for index in 0..<1_000 {
                group.addTask {
                    let client = clients[index % 4]
                    let call = client.start(Hello())
                    let found = client.call(call.id)
                    #expect(found?.id == call.id)
                    #expect(clients[(index + 1) % 4].call(call.id) == nil)
                    contexts.withLock { $0.append(WeakContext(context: found)) }
                    if index.isMultiple(of: 8) { client.cancel(call.id) }
                    return (index, call)
                }
            }
            return await group.reduce(into: [Int: Call<Message>]()) { $0[$1.0] = $1.1 }
        }
        #expect(Set(calls.values.map(\.id)).count == 1_000)
        for (index, call) in calls where index.isMultiple(of: 8) {
            #expect(await call.result.failure?.kind == .cancelled)
        }
        while !Task.isCancelled, transport.openExchangeCount != 875 { await Task.yield() }
        #expect(clients.reduce(0) { $0 + $1.callCount } == 875)
        await withTaskGroup(of: Void.self) { group in
            for (index, call) in calls where index.isMultiple(of: 2) {
                group.addTask {
                    clients[index % 4].cancel(call.id)
                    #expect(await call.result.failure?.kind == .cancelled)
                    #expect(clients[index % 4].call(call.id) == nil)
                }
            }
        }
        while !Task.isCancelled, transport.openExchangeCount != 500 { await Task.yield() }
        for _ in 0..<500 { transport.release() }
        for (index, call) in calls where !index.isMultiple(of: 2) {
            #expect(try await call.value == Message(text: "hello"))
        }
        return clients
    }

    /// Holds a call in the app's code until the test lets it go.
    private struct Pause: Interceptor {
        static let entered = Latch()
        static let leave = Latch()

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            Self.entered.open()
            await Self.leave.wait()
            return try await next(request)
        }
    }
}

/// Opens once; everybody who waits goes on.
final class Latch: Sendable {
    private let state = Locked<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Blocks whoever waits until a call has ended, at no cost to the tests beside it.
private final class CallEnd: EventSink {
    private let semaphore = DispatchSemaphore(value: 0)

    func receive(_ event: Event, _ context: EventContext) {
        if case .callEnded = event { semaphore.signal() }
    }

    func wait() {
        semaphore.wait()
    }
}
