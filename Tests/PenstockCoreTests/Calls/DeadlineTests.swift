import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// The total time-out of calls around which code of the app's stands.
@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    private static let passing = Intercepting { request, _, next in try await next(request) }
    private static let lost = TransportError(.timeout(.total), sendState: .maybeProcessed)

    /// A transport of an app's, which has another one send.
    private struct Own: Transport {
        let other: any Transport

        var capabilities: TransportCapabilities { other.capabilities }

        func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            try await other.perform(request)
        }

        func shutdown() async { await other.shutdown() }
    }

    /// A client with a second for each call, and a server that plays a script.
    private struct Timed: Sendable {
        let clock = TestClock()
        let script: ScriptedTransport
        let client: APIClient

        init(
            _ steps: [ScriptedTransport.Step], isOwn: Bool = false,
            _ change: (inout APIClient.Configuration) -> Void = { _ in }
        ) {
            let clock = clock
            script = ScriptedTransport(steps)
            var configuration = APIClient.Configuration(services: [.shop()])
            configuration.cache = .store(MemoryCacheStore(time: clock.timeSource))
            configuration.time = clock.timeSource
            configuration.options.timeouts = Timeouts(total: .seconds(1))
            change(&configuration)
            client = APIClient(configuration, transport: isOwn ? Own(other: script) : script)
        }

        /// Lets time pass, and whatever that wakes run.
        func pass(_ duration: Duration) async {
            while !Task.isCancelled, clock.sleeperCount == 0 { await Task.yield() }
            clock.advance(by: duration)
            for _ in 0..<100 { await Task.yield() }
        }
    }

    @Test("What the transport's own time-out leaves to the stages above is not cut off")
    func fallback() async throws {
        let timed = Timed([.respond(.tea(1)), .held(.fail(Self.lost))]) { $0.callInterceptors = [Self.passing] }
        _ = try await timed.client.send(Tea())
        let call = timed.client.start(Tea())
        await timed.script.waitForExchanges(count: 2)
        await timed.pass(.seconds(1))
        timed.script.release()
        let response = try await call.response
        #expect(response.value.id == 1)
        #expect(response.cacheStatus?.reason == .disconnected)
    }

    @Test("An interceptor may still answer a time-out of the transport")
    func rescue() async throws {
        let rescuing = Intercepting { request, _, next in
            do throws(APIError) { return try await next(request) } catch {
                return Exchange(request: request, response: .tea(9))
            }
        }
        let timed = Timed([.held(.fail(Self.lost))]) { $0.callInterceptors = [rescuing] }
        let call = timed.client.start(Tea())
        await timed.script.waitForExchanges(count: 1)
        await timed.pass(.seconds(1))
        timed.script.release()
        #expect(try await call.value.id == 9)
    }

    @Test("A transport that does not keep its time-out is not waited for", .covers("H38"), arguments: [false, true])
    func lateTransport(isOwn: Bool) async throws {
        let timed = Timed([.held(.respond(.tea(1)))], isOwn: isOwn) {
            if !isOwn { $0.callInterceptors = [Self.passing] }
        }
        let call = timed.client.start(Tea())
        await timed.script.waitForExchanges(count: 1)
        await timed.pass(.seconds(1))
        #expect(timed.client.callCount == 1)
        await timed.pass(.milliseconds(50))
        #expect(await call.result.failure?.kind == .timeout(.total))
        while !Task.isCancelled, timed.script.openExchangeCount > 0 { await Task.yield() }
    }

    @Test(
        "Calls that wait for one exchange each end by themselves, though its interceptor never returns", .covers("H38"))
    func sharedExchange() async throws {
        let stuck = Stuck()
        let recorder = EventRecorder()
        let timed = Timed([]) {
            $0.options.cache = .http
            $0.attemptInterceptors = [stuck]
            $0.sinks = [recorder]
        }
        let leader = timed.client.start(Tea())
        await stuck.entered.waitUnlessCancelled { $0 >= 1 }
        timed.clock.advance(by: .milliseconds(500))
        let (joined, patient) = (timed.client.start(Tea()), timed.client.start(Tea()))
        await recorder.whenJoined(2)
        joined.cancel()
        #expect(await joined.result.failure?.kind == .cancelled)
        await timed.pass(.milliseconds(500))
        #expect(await leader.result.failure?.kind == .timeout(.total))
        await timed.pass(.milliseconds(500))
        #expect(await patient.result.failure?.kind == .timeout(.total))
        #expect(stuck.entered.withLock { $0 } == 1)
        // Nobody waits for it any more, so that the next call asks for itself.
        let next = timed.client.start(Tea())
        await stuck.entered.waitUnlessCancelled { $0 >= 2 }
        timed.client.cancelAll()
        #expect(await next.result.failure?.kind == .cancelled)
        stuck.leave.open()
    }

    @Test(
        "A call watches over its own end where interceptors, a signer or a sealer stand in its path", .covers("H38"),
        arguments: UnendingCodeTests.Place.allCases)
    func watched(place: UnendingCodeTests.Place) throws {
        let runtime = try StuckRig(Stuck(), at: place).client.runtime(for: .main)
        let isWatched = runtime.pipeline(for: Hello(), runtime.resolved).runsAppCode
        // What is kept of users, and what renews it, is waited for by another way.
        #expect(isWatched == ![.refresh, .vault, .store].contains(place))
    }

    @Test("A call watches over its own end where a transport of the app's is at the end of its path", .covers("H38"))
    func watchedTransport() throws {
        let own = Own(other: CallSupport.answering())
        let rules = try RequestRules([])
        let transports: [(any Transport, Bool)] = [
            (CallSupport.answering(), false), (RuleTransport(CallSupport.answering(), rules: rules), false),
            (own, true), (RuleTransport(own, rules: rules), true),
            (RecordingTransport(RuleTransport(own, rules: rules)), true),
        ]
        for (transport, isWatched) in transports {
            let runtime = try CallSupport.client(transport).runtime(for: .main)
            #expect(runtime.pipeline(for: Hello(), runtime.resolved).runsAppCode == isWatched, "\(transport)")
        }
    }

    @Test("A deadline that nobody needs any more leaves nothing behind")
    func nothingLeft() async throws {
        let timed = Timed([.respond(.tea(1))]) { $0.callInterceptors = [Self.passing] }
        _ = try await timed.client.send(Tea())
        #expect(timed.client.state.deadlines.count == 0)
    }
}
