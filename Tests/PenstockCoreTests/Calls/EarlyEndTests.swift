import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// An error says what a call was doing when it was ended.
@Suite(.timeLimit(.minutes(2))) struct EarlyEndTests {
    private static func client(
        _ script: ScriptedTransport, _ clock: TestClock, _ recorder: EventRecorder,
        _ change: (inout APIClient.Configuration) -> Void
    ) -> APIClient {
        CallSupport.client(script) {
            $0.time = clock.timeSource
            $0.cache = .none
            $0.sinks = [recorder]
            change(&$0)
        }
    }

    private static let held = ScriptedTransport.Step.held(.respond(CallSupport.greeting))

    /// Ends a call that waits, by cancelling it or by its total time-out.
    private static func end(_ call: Call<Message>, _ clock: TestClock, byTime: Bool) async -> APIError? {
        if byTime { clock.advance(by: .seconds(5)) } else { call.cancel() }
        return await call.result.failure
    }

    private static func options(_ byTime: Bool) -> CallOptions { byTime ? .timeout(.seconds(5)) : .init() }

    @Test("A call that is ended in the queue names the queue", arguments: [false, true])
    func admission(byTime: Bool) async throws {
        let (clock, recorder) = (TestClock(), EventRecorder())
        let script = ScriptedTransport([Self.held])
        let client = Self.client(script, clock, recorder) { $0.admission = AdmissionPolicy(perHost: 1) }
        let first = client.start(Hello())
        await script.waitForExchanges(count: 1)
        let second = client.start(Hello(), options: Self.options(byTime))
        while !recorder.records.contains(where: { if case .queued = $0.event { true } else { false } }) {
            await Task.yield()
        }
        let error = await Self.end(second, clock, byTime: byTime)
        #expect(error?.kind == (byTime ? .timeout(.total) : .cancelled))
        #expect(error?.stage == .admission)
        first.cancel()
        #expect(await first.result.failure?.stage == .transport)
    }

    @Test(
        "A call that is ended between two attempts names the wait for the next one, and during the next one the transport"
    )
    func retry() async throws {
        let (clock, recorder) = (TestClock(), EventRecorder())
        for isLater in [false, true] {
            let script = ScriptedTransport([
                .respond(HTTPResponse(status: 503, fields: ["Retry-After": "4"])), Self.held,
            ])
            let client = Self.client(script, clock, recorder) { $0.options.retry = .limit(1) }
            let call = client.start(Hello())
            await clock.waitForSleepers(count: 1)
            if isLater {
                clock.advance(by: .seconds(4))
                await script.waitForExchanges(count: 2)
            }
            let error = await Self.end(call, clock, byTime: false)
            #expect(error?.kind == .cancelled)
            #expect(error?.stage == (isLater ? .transport : .retry))
        }
    }

    @Test("A call that is ended while it waits for a quiet moment names that", arguments: [false, true])
    func quiet(byTime: Bool) async throws {
        let (clock, recorder) = (TestClock(), EventRecorder())
        let client = Self.client(ScriptedTransport([Self.held]), clock, recorder) {
            $0.options.inFlight = .debounce(.seconds(60))
        }
        let call = client.start(Hello(), options: Self.options(byTime))
        await clock.waitForSleepers(count: 1)
        let error = await Self.end(call, clock, byTime: byTime)
        #expect(error?.kind == (byTime ? .timeout(.total) : .cancelled))
        #expect(error?.stage == .inFlight)
    }

    @Test("A call that was over before it began was being prepared")
    func before() async throws {
        let (clock, recorder) = (TestClock(), EventRecorder())
        let client = Self.client(ScriptedTransport([Self.held]), clock, recorder) { _ in }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await client.send(Hello()) }
        }
        let error = await task.value
        #expect(error?.kind == .cancelled)
        #expect(error?.stage == .prepare)
    }

    @Test("An interceptor whose wait is cut short is named, whoever's wait it is")
    func interceptor() async throws {
        let (clock, recorder) = (TestClock(), EventRecorder())
        struct Waiting: Interceptor {
            func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
                try await call.sleep(for: .seconds(60))
                return try await next(request)
            }
        }
        for byTime in [false, true] {
            let client = Self.client(ScriptedTransport([Self.held]), clock, recorder) {
                $0.attemptInterceptors = [Waiting()]
            }
            let call = client.start(Hello(), options: Self.options(byTime))
            // The total time-out has one of its own.
            await clock.waitForSleepers(count: byTime ? 2 : 1)
            let error = await Self.end(call, clock, byTime: byTime)
            #expect(error?.kind == (byTime ? .timeout(.total) : .cancelled))
            #expect(error?.stage == .attemptInterception)
        }
    }
}
