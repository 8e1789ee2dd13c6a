import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The same call by every style of delivery.
@Suite(.timeLimit(.minutes(5))) struct DeliveryStyleTests {
    @Test("async, closure, delegate and sequence each deliver one value", .covers("S0.18", "S3.14"))
    func everyStyleDeliversOnce() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let expected = Message(text: "hello")

        #expect(try await client.send(Hello()) == expected)
        #expect(try await client.start(Hello()).value == expected)
        #expect(await closureResults(client, Hello()).map { try? $0.get() } == [expected])
        #expect(await delegateResults(client, Hello()).map { try? $0.get() } == [expected])
        #expect(try await updates(client, Hello()).compactMap(\.response?.value) == [expected])
    }

    @Test("async, closure, delegate and sequence each deliver one failure", .covers("S0.18", "S3.14"))
    func everyStyleFailsOnce() async throws {
        let client = CallSupport.client(StubTransport { _ throws(TransportError) in HTTPResponse(status: 404) })
        let expected = APIError.Kind.httpStatus(404)

        await #expect(throws: APIError.self) { try await client.send(Hello()) }
        #expect(await client.start(Hello()).result.failure?.kind == expected)
        #expect(await closureResults(client, Hello()).map { $0.failure?.kind } == [expected])
        #expect(await delegateResults(client, Hello()).map { $0.failure?.kind } == [expected])
        let error = await #expect(throws: APIError.self) { try await updates(client, Hello()) }
        #expect(error?.kind == expected)
    }

    @Test("A closure is called on the main actor, or on the actor that was named", .covers("S4.5"))
    func deliveredOnTheDeclaredActor() async throws {
        let client = CallSupport.client(CallSupport.answering())
        let counter = Counter()
        try await delivered { done in
            client.start(Hello()) { _ in
                MainActor.preconditionIsolated()
                done(())
            }
        }
        try await delivered { done in
            client.start(Hello(), on: counter) { counter, _ in
                counter.preconditionIsolated()
                counter.count += 1
                done(())
            }
        }
        #expect(await counter.count == 1)
    }

    /// The forms in which a closure hears of a call.
    enum Form: CaseIterable {
        case completion, completionOnActor, onResult, onResultOnActor, onCached, target, path, pathForNothing
    }

    @Test(
        "What a closure captured is let go of after completion and after cancellation", .covers("S1.2"),
        arguments: Form.allCases)
    @MainActor func closuresMakeNoCycle(form: Form) async throws {
        weak var completed: Token?
        weak var cancelled: Token?
        let mailbox = Mailbox<Bool>()
        let target = Counter()
        let finished: any AnyEnding
        let ended: any AnyEnding
        do {
            let token = Token()
            completed = token
            finished = start(form, CallSupport.client(CallSupport.answering()), target) { mailbox.put(token.isHere) }
        }
        do {
            let token = Token()
            cancelled = token
            ended = start(form, CallSupport.client(CallSupport.holding()), target) { mailbox.put(token.isHere) }
        }
        #expect(cancelled != nil)
        ended.cancel()
        // Nothing stored comes to the one who waits for it.
        await mailbox.wait(for: form == .onCached ? 0 : 2)
        await finished.ends()
        await ended.ends()
        await drainMainActor()
        withExtendedLifetime(target) {}
        #expect(completed == nil)
        #expect(cancelled == nil)
    }

    @MainActor
    private func start(
        _ form: Form, _ client: APIClient, _ target: Counter, _ hear: @escaping @MainActor @Sendable () -> Void
    ) -> any AnyEnding {
        switch form {
        case .completion: client.start(Hello()) { _ in hear() }
        case .completionOnActor:
            client.start(Hello(), on: MainActor.shared) { _, _ in MainActor.assumeIsolated { hear() } }
        case .onResult: client.start(Hello()).onResult { _ in hear() }
        case .onResultOnActor:
            client.start(Hello()).onResult(on: MainActor.shared) { _, _ in MainActor.assumeIsolated { hear() } }
        case .onCached: client.start(Hello()).onCached { _ in hear() }
        case .target: client.start(Hello()).deliver(to: target) { _ in { _ in hear() } }
        case .path: client.start(path: "/hello", as: Message.self) { _ in hear() }
        case .pathForNothing: client.start(path: "/hello") { _ in hear() }
        }
    }

    @Test("Nothing is delivered to a delegate that is gone", .covers("S2.33"))
    @MainActor func deadDelegatesHearNothing() async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport)
        let mailbox = Mailbox<Result<Message, APIError>>()
        var listener: Listener? = Listener(mailbox)
        let call = client.start(Hello(), delegate: listener!)
        await transport.waitForExchanges(count: 1)
        listener = nil
        transport.release()
        _ = await call.result
        await drainMainActor()
        #expect(mailbox.values.isEmpty)
        #expect(client.callCount == 0)
    }

    @Test("A listener who comes late gets the end")
    func lateListenersGetTheEnd() async throws {
        let call = CallSupport.client(CallSupport.answering()).start(Hello())
        _ = try await call.value
        var seen: [CallUpdate<Message>] = []
        for try await update in call.updates { seen.append(update) }
        #expect(seen.last?.response?.value == Message(text: "hello"))
        #expect(seen.compactMap(\.response).count == 1)
    }

    @Test("Ending the iteration over a call's updates ends the call", .covers("S0.18"))
    func leavingTheSequenceCancels() async throws {
        let transport = CallSupport.holding()
        let client = CallSupport.client(transport)
        let reader = Task { for try await _ in client.updates(of: Hello()) {} }
        await transport.waitForExchanges(count: 1)
        reader.cancel()
        _ = await reader.result
        while !Task.isCancelled, client.callCount > 0 { await Task.yield() }
        #expect(transport.openExchangeCount == 0)
    }

    @MainActor
    private func closureResults<E: Endpoint>(_ client: APIClient, _ endpoint: E) async -> [Result<E.Output, APIError>] {
        let mailbox = Mailbox<Result<E.Output, APIError>>()
        _ = await client.start(endpoint, completion: mailbox.put).result
        await mailbox.wait(for: 1)
        await drainMainActor()
        return mailbox.values
    }

    @MainActor
    private func delegateResults(_ client: APIClient, _ endpoint: Hello) async -> [Result<Message, APIError>] {
        let mailbox = Mailbox<Result<Message, APIError>>()
        let listener = Listener(mailbox)
        _ = await client.start(endpoint, delegate: listener).result
        await mailbox.wait(for: 1)
        await drainMainActor()
        return withExtendedLifetime(listener) { mailbox.values }
    }

    private func updates<E: Endpoint>(_ client: APIClient, _ endpoint: E) async throws -> [CallUpdate<E.Output>] {
        var seen: [CallUpdate<E.Output>] = []
        for try await update in client.updates(of: endpoint) { seen.append(update) }
        return seen
    }

    private actor Counter {
        var count = 0
    }

    private final class Token: Sendable {
        let isHere = true
    }
}

@MainActor
final class Listener: CallDelegate {
    private let mailbox: Mailbox<Result<Message, APIError>>

    init(_ mailbox: Mailbox<Result<Message, APIError>>) {
        self.mailbox = mailbox
    }

    func call(_ id: CallID, didFinishWith result: Result<Message, APIError>) {
        mailbox.put(result)
    }

    func hear(_ result: Result<Message, APIError>) {
        mailbox.put(result)
    }
}

extension Listener: APIManagerDelegate {
    func managerDidSucceed(_ manager: any AnyAPIManager) {
        if let response = (manager as? APIManager<Hello>)?.response { mailbox.put(.success(response.value)) }
    }

    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError) {
        mailbox.put(.failure(error))
    }
}

/// A call whatever it gives.
protocol AnyEnding: Sendable {
    func cancel()
    /// Returns when it has its result.
    func ends() async
}

extension Call: AnyEnding {
    func ends() async { _ = await result }
}

extension CallUpdate {
    var response: APIResponse<Output>? {
        if case .response(let response) = self { response } else { nil }
    }
}
