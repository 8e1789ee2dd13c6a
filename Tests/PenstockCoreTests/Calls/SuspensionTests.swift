import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Calls that are held back before anything is sent.
@Suite(.timeLimit(.minutes(5))) struct SuspensionTests {
    /// Suspends a call while its request is made.
    private final class Brake: EventSink {
        let call = Monitor<Call<Message>?>(nil)
        let isOn = Latch()

        func receive(_ event: Event, _ context: EventContext) {
            guard case .stageStarted(.prepare) = event else { return }
            // The handle comes a moment after the call has begun to run.
            while call.withLock({ $0 }) == nil { usleep(100) }
            call.withLock { $0 }?.suspend()
            isOn.open()
        }
    }

    private struct Held: Sendable {
        let clock = TestClock()
        let brake = Brake()
        let stub = CallSupport.answering()
        let call: Call<Message>

        init(total: Duration?) async {
            let (clock, brake) = (clock, brake)
            let client = CallSupport.client(stub) {
                $0.time = clock.timeSource
                $0.sinks = [brake]
            }
            call = client.start(Hello(), options: .with { $0.timeouts = Timeouts(total: total) })
            brake.call.withLock { [call] in $0 = call }
            await brake.isOn.wait()
        }
    }

    @Test("A call that is suspended before it begins meets its total time-out", .covers("S0.7"))
    func timeout() async throws {
        let held = await Held(total: .seconds(5))
        await held.clock.waitForSleepers(count: 1)
        held.clock.advance(by: .seconds(4))
        for _ in 0..<50 { await Task.yield() }
        #expect(held.stub.requests.isEmpty)
        held.clock.advance(by: .seconds(1))
        #expect(await held.call.result.failure?.kind == .timeout(.total))
        #expect(held.stub.requests.isEmpty)
    }

    @Test("One that is resumed in time goes on, and its deadline troubles nobody any more")
    func resumed() async throws {
        let held = await Held(total: .seconds(5))
        await held.clock.waitForSleepers(count: 1)
        held.call.resume()
        #expect(try await held.call.value == Message(text: "hello"))
        held.clock.advance(by: .seconds(5))
        #expect(try await held.call.value == Message(text: "hello"))
    }

    @Test("One that may take for ever waits until it is cancelled")
    func cancelled() async throws {
        let held = await Held(total: nil)
        for _ in 0..<50 { await Task.yield() }
        held.clock.advance(by: .seconds(3_600))
        #expect(held.stub.requests.isEmpty)
        held.call.cancel()
        #expect(await held.call.result.failure?.kind == .cancelled)
    }
}
