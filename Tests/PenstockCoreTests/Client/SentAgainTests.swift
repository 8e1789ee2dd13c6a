import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Interceptors that send more than once, or wait for what they have sent no longer than they like.
@Suite(.timeLimit(.minutes(5))) struct SentAgainTests {
    struct Export: Endpoint {
        typealias Output = Data
        var route: Route { .get("/export") }
    }

    /// Sends once more after a 503.
    private static let again = Intercepting { request, _, next in
        let first = try await next(request)
        return first.response.status == 503 ? try await next(request) : first
    }

    // MARK: Streams

    @Test("A streamed call that an interceptor has sent twice ends with the client, its scope, its task and its handle")
    func streamedTwice() async throws {
        for way in ["client", "scope", "task", "stream"] {
            let streams = HeldStreams([503, 200])
            let client = CallSupport.client(streams) { $0.callInterceptors = [Self.again] }
            let scope = CallScope()
            let stream = try await client.stream(Export(), in: scope)
            let reader = Task { await Result { () async throws(APIError) in try await stream.collect() } }
            switch way {
            case "client": client.cancelAll()
            case "scope": scope.cancelAll()
            case "task": reader.cancel()
            default: stream.cancel()
            }
            #expect(await reader.value.failure?.kind == .cancelled)
            #expect(streams.state.withLock(\.cancelled) == [1])
        }
    }

    @Test("Sending again gives up the content of what was sent before: its place is free for what follows")
    func places() async throws {
        let streams = HeldStreams([503, 200])
        let client = CallSupport.client(streams) {
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    let first = try await next(request)
                    let second = try await next(request)
                    return withExtendedLifetime(first) { second }
                }
            ]
            $0.admission = AdmissionPolicy(perHost: 1)
        }
        let stream = try await client.stream(Export())
        #expect(stream.http.status == 200)
        #expect(streams.state.withLock(\.closed) == [0])
    }

    @Test("Content that was given up by sending again is not taken for content that has ended")
    func givenUp() async throws {
        let streams = HeldStreams([200, 200])
        let client = CallSupport.client(streams) {
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    let first = try await next(request)
                    _ = try await next(request)
                    return first
                }
            ]
        }
        let stream = try await client.stream(Export())
        let failure = await Result { () async throws(APIError) in try await stream.collect() }.failure
        #expect(failure?.kind == .transport(.other))
    }

    @Test("What another task of the interceptor's was given stays as it is when one more is sent")
    func otherTasks() async throws {
        let streams = HeldStreams([200, 200])
        let client = CallSupport.client(streams) {
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    let first = try await Task { try await next(request) }.value
                    _ = try await next(request)
                    return first
                }
            ]
        }
        let stream = try await client.stream(Export())
        await streams.state.waitUnlessCancelled { $0.closed == [1] }
        stream.cancel()
        #expect(streams.state.withLock(\.cancelled) == [0])
    }

    // MARK: Several at a time

    private final class Noting: ControlledExchange {
        let told = Box<[String]>([])

        func cancel() { told.update { $0.append("cancel") } }
        func suspend() { told.update { $0.append("suspend") } }
        func resume() { told.update { $0.append("resume") } }
    }

    @Test("A control tells all exchanges under way, and those alone")
    func several() {
        let control = ExchangeControl()
        let exchanges = [Noting(), Noting(), Noting()]
        for exchange in exchanges { #expect(control.attach(exchange)) }
        control.suspend()
        control.detach(exchanges[0])
        control.detach(exchanges[0])
        control.resume()
        control.detach(exchanges[2])
        control.cancel()
        #expect(
            exchanges.map(\.told.value) == [
                ["suspend"], ["suspend", "resume", "cancel"], ["suspend", "resume"],
            ])
    }

    @Test("A part of a control follows its whole until it leaves, at once or with its last exchange")
    func parts() {
        let whole = ExchangeControl()
        whole.suspend()
        let part = ExchangeControl(partOf: whole)
        part.join()
        #expect(part.isSuspended)
        let exchange = Noting()
        #expect(part.attach(exchange))
        part.leaveWithLast()
        whole.resume()
        #expect(exchange.told.value == ["resume"])
        part.detach(exchange)
        // Nobody tells it any more, but who asks is told: content that is still read is the call's.
        whole.suspend()
        #expect(part.isSuspended)
        whole.resume()
        #expect(!part.isSuspended)
        #expect(exchange.told.value == ["resume"])
        whole.cancel()
        #expect(part.isCancelled)
        let late = ExchangeControl(partOf: whole)
        late.join()
        #expect(!late.attach(exchange))
        #expect(exchange.told.value == ["resume"])
    }

    @Test("Cancelling a call ends all that its interceptor has under way")
    func cancelled() async {
        let script = CallSupport.holding(2)
        let client = CallSupport.client(script) {
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    let tasks = (0..<2).map { _ in Task { try await next(request) } }
                    return try await tasks[0].value
                }
            ]
        }
        let call = client.start(Hello())
        await script.waitForExchanges(count: 2)
        call.cancel()
        #expect(await call.result.failure?.kind == .cancelled)
        while !Task.isCancelled, script.openExchangeCount > 0 { await Task.yield() }
        #expect(script.openExchangeCount == 0)
    }

    // MARK: A limit of the interceptor's

    @Test(
        "An interceptor that cancels the task that sends ends what it has sent, and the call goes on",
        arguments: [true, false], ["plain", "hedged", "joined", "suspended"])
    func limited(isCall: Bool, form: String) async throws {
        let script = CallSupport.holding(2)
        let kinds = Box<[APIError.Kind?]>([])
        let gate = Latch()
        let limiting = Intercepting { request, _, next in
            await gate.wait()
            let sending = Task { await Result { () async throws(APIError) in try await next(request) } }
            if form != "suspended" { await script.waitForExchanges(count: 1) }
            sending.cancel()
            let result = await sending.value
            kinds.update { $0.append(result.failure?.kind) }
            return Exchange(request: request, response: CallSupport.greeting)
        }
        let client = CallSupport.client(script) {
            if isCall { $0.callInterceptors = [limiting] } else { $0.attemptInterceptors = [limiting] }
            $0.options.inFlight = form == "joined" ? InFlightPolicy.join : InFlightPolicy.independent
            $0.options.retry =
                form == "hedged" ? RetryPolicy(hedging: HedgingPolicy(after: .seconds(600))) : RetryPolicy.none
        }
        let call = client.start(Hello())
        if form == "suspended" { call.suspend() }
        gate.open()
        #expect(try await call.value.text == "hello")
        #expect(kinds.value == [.cancelled])
        while !Task.isCancelled, script.openExchangeCount > 0 { await Task.yield() }
        #expect(script.openExchangeCount == 0)
    }

    @Test("An interceptor may send again after it has ended what took too long")
    func anotherTry() async throws {
        let script = ScriptedTransport([.held(.respond(CallSupport.greeting)), .respond(CallSupport.greeting)])
        let client = CallSupport.client(script) {
            $0.cache = .none
            $0.callInterceptors = [
                Intercepting { request, _, next in
                    let sending = Task { try await next(request) }
                    await script.waitForExchanges(count: 1)
                    sending.cancel()
                    _ = await sending.result
                    return try await next(request)
                }
            ]
        }
        let response = try await client.response(for: Hello())
        #expect(response.value.text == "hello")
        #expect(response.attempts.map(\.outcome.isSuccess) == [false, true])
    }
}

extension Event.Outcome {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
