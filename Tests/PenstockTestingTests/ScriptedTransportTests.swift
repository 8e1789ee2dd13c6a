import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ScriptedTransportTests {
    private func exchange(control: ExchangeControl = .init()) throws -> TransportRequest {
        try TransportRequest(HTTPRequest(method: .get, url: HTTPURL("http://shop.test/a")), control: control)
    }

    @Test func `Outcomes are played in their order, and none past the last`() async throws {
        let lost = TransportError(.connectionLost, sendState: .maybeProcessed)
        let script = ScriptedTransport([.respond(.init(status: 503)), .fail(lost), .respond(.init(status: 200))])
        #expect(try await script.perform(exchange()).response.status == 503)
        let error = await #expect(throws: TransportError.self) { try await script.perform(exchange()) }
        #expect(error?.kind == .connectionLost)
        #expect(try await script.perform(exchange()).response.status == 200)
        let last = await #expect(throws: TransportError.self) { try await script.perform(exchange()) }
        #expect(last?.kind == .unsupported("GET http://shop.test/a"))
        #expect(script.unscripted == ["GET http://shop.test/a"] && script.remainingSteps == 0)
        #expect(script.openExchangeCount == 0 && script.requests.count == 4)
    }

    @Test func `A held step waits until it is released`() async throws {
        let script = ScriptedTransport([.held(.respond(.init(status: 201))), .respond(.init(status: 202))])
        async let held = script.perform(exchange())
        await script.waitForExchanges(count: 1)
        #expect(try await script.perform(exchange()).response.status == 202)
        #expect(script.openExchangeCount == 1)
        script.release()
        #expect(try await held.response.status == 201)
        #expect(script.openExchangeCount == 0)
    }

    @Test func `Cancelling ends a held step, once, and detaches it`() async throws {
        let script = ScriptedTransport([.held(.respond(.init(status: 200)))])
        let control = ExchangeControl()
        let exchange = try exchange(control: control)
        let held = Task { try await script.perform(exchange) }
        await script.waitForExchanges(count: 1)
        control.cancel()
        let error = await #expect(throws: TransportError.self) { try await held.value }
        #expect(error?.kind == .cancelled && script.openExchangeCount == 0)
        script.release()
    }

    @Test func `A held step ends by the time-outs of its exchange`() async throws {
        let clock = TestClock()
        let steps = Array(repeating: ScriptedTransport.Step.held(.respond(.init(status: 200))), count: 3)
        let script = ScriptedTransport(steps, time: clock.timeSource)
        let url = try HTTPURL("http://shop.test/a")
        for (timeouts, phase) in [(Timeouts(total: .milliseconds(200)), TimeoutPhase.total), (Timeouts(), .firstByte)] {
            let request = TransportRequest(HTTPRequest(method: .get, url: url), timeouts: timeouts)
            async let failure = #expect(throws: TransportError.self) { try await script.perform(request) }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .milliseconds(199))
            #expect(script.openExchangeCount == 1)
            clock.advance(by: phase == .total ? .milliseconds(1) : .seconds(30))
            let error = await failure
            #expect(error?.kind == .timeout(phase) && error?.sendState == .maybeProcessed)
            #expect(script.openExchangeCount == 0)
        }
        // What ended is not released in place of the next one, and its time-out ends with it.
        async let held = script.perform(exchange())
        await clock.waitForSleepers(count: 1)
        script.release()
        #expect(try await held.response.status == 200)
        for _ in 0..<100 where clock.sleeperCount > 0 { await Task.yield() }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `A call that is cancelled already uses no step`() async throws {
        let script = ScriptedTransport([.respond(.init(status: 200))])
        let control = ExchangeControl()
        control.cancel()
        let error = await #expect(throws: TransportError.self) { try await script.perform(exchange(control: control)) }
        #expect(error?.sendState == .unsent && script.requests.isEmpty && script.remainingSteps == 1)
    }

    @Test func `A suspended exchange goes on only once it is resumed, released or not`() async throws {
        let script = ScriptedTransport([.held(.respond(.init(status: 200)))])
        let control = ExchangeControl()
        control.suspend()
        async let held = script.perform(exchange(control: control))
        await script.waitForExchanges(count: 1)
        script.release()
        #expect(script.openExchangeCount == 1)
        control.resume()
        #expect(try await held.response.status == 200)
    }

    @Test func `Shutdown ends what is held`() async throws {
        let script = ScriptedTransport([.held(.respond(.init(status: 200)))])
        let exchange = try exchange()
        let held = Task { try await script.perform(exchange) }
        await script.waitForExchanges(count: 1)
        await script.shutdown()
        let error = await #expect(throws: TransportError.self) { try await held.value }
        #expect(error?.kind == .cancelled)
    }
}
