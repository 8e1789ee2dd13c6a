import Foundation
import PenstockTestSupport
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
        while !Task.isCancelled,
            !recorder.records.contains(where: { if case .queued = $0.event { true } else { false } })
        {
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
        let error = await task.valueOfTest
        #expect(error?.kind == .cancelled)
        #expect(error?.stage == .prepare)
    }

    @Test("An interceptor whose wait is cut short is named, whoever's wait it is")
    func interceptor() async throws {
        struct Waiting: Interceptor {
            func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
                try await call.sleep(for: .seconds(60))
                return try await next(request)
            }
        }
        for byTime in [false, true] {
            // One clock for each: what slept in the call before may do so a little longer, and would be counted.
            let (clock, recorder) = (TestClock(), EventRecorder())
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

    /// Ends all calls of its client where the response has come, or where it has been decoded.
    private final class Ender: Interceptor {
        let client = Box<APIClient?>(nil)

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let exchange = try await next(request)
            client.value?.cancelAll()
            return exchange
        }
    }

    private struct Late: Endpoint {
        typealias Output = Message
        let ender: Ender
        var route: Route { .get("/hello") }
        var validator: Validator<Message> {
            .rule("ends all") { _ in
                ender.client.value?.cancelAll()
                return true
            }
        }
    }

    @Test("A call that is ended once its response was judged was being delivered; a stream was still on the wire")
    func judged() async throws {
        let (clock, recorder, ender) = (TestClock(), EventRecorder(), Ender())
        let script = ScriptedTransport(Array(repeating: .respond(CallSupport.greeting), count: 2))
        let client = Self.client(script, clock, recorder) { _ in }
        ender.client.update { $0 = client }
        defer { ender.client.update { $0 = nil } }
        let error = await failure { try await client.send(Late(ender: ender)) }
        #expect(error?.kind == .cancelled)
        #expect(error?.stage == .delivery)
        #expect(error?.attempts.count == 1)
        let streaming = client.with { $0.callInterceptors = [ender] }
        ender.client.update { $0 = streaming }
        let cut = await failure { try await streaming.stream(Hello()) }
        #expect(cut?.kind == .cancelled)
        #expect(cut?.stage == .transport)
    }

    @Test(
        "A call that is ended while its result waits for the main actor was being delivered, and says nothing else",
        arguments: [200, 500])
    @MainActor func delivered(status: Int) async throws {
        let (clock, recorder, over) = (TestClock(), EventRecorder(), CallOver())
        let script = ScriptedTransport([.respond(HTTPResponse(status: status, body: CallSupport.greeting.body))])
        let client = Self.client(script, clock, recorder) {
            $0.sinks = [over]
            // Whoever puts an error in words is not shown what was made of the one before it.
            $0.errorMapper = ErrorMapper {
                .init(userText: "\($0.kind), \($0.attempts.count)" + ($0.presentation == nil ? "" : ", again"))
            }
        }
        let mailbox = Mailbox<Result<Message, APIError>>()
        let call = client.start(Hello(), completion: mailbox.put)
        // The main actor is held here until the call is over, so that it is ended before the delivery.
        over.wait()
        call.cancel()
        await mailbox.wait(for: 1)
        let error = try #require(mailbox.values.first?.failure)
        #expect(error.kind == .cancelled)
        #expect(error.stage == .delivery)
        #expect(error.attempts.map(\.status) == [status])
        #expect(error.presentation?.userText == "cancelled, 1")
    }

    /// Blocks whoever waits until a call is over.
    private final class CallOver: EventSink {
        private let semaphore = DispatchSemaphore(value: 0)

        func receive(_ event: Event, _ context: EventContext) {
            if case .callEnded = event { semaphore.signal() }
        }

        func wait() {
            semaphore.wait()
        }
    }
}
