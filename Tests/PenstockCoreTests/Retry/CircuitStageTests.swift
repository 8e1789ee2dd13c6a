import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite("The circuit of an origin", .timeLimit(.minutes(5)))
struct CircuitStageTests {
    private static let feed = CallOptions.with { $0.tags = ["feed"] }

    private func rig(
        _ steps: [ScriptedTransport.Step], failures: Int = 2, _ retry: RetryPolicy = .none,
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> RetryRig {
        RetryRig(steps) { configuration in
            configuration.options.retry = retry
            configuration.circuitBreaker = .init(minimumAttempts: failures)
            change(&configuration)
        }
    }

    private func isUnavailable(_ error: APIError?) -> Bool {
        if case .unavailable? = error?.kind { true } else { false }
    }

    /// How a call is held back that was to be a probe.
    enum Hold: CaseIterable {
        case paused, suspended, pausedInLine, suspendedInLine
    }

    /// An origin whose circuit has been open for as long as it may, and a call to it that is held back.
    private func heldProbe(
        _ hold: Hold, isHedged: Bool, _ steps: [ScriptedTransport.Step]
    ) async -> (RetryRig, Call<Product>) {
        let gate = Latch()
        let isInLine = hold == .pausedInLine || hold == .suspendedInLine
        let first: [ScriptedTransport.Step] = isInLine ? [.held(.product)] : []
        let retry = isHedged ? RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .seconds(100))) : .none
        let rig = rig(first + [.busy, .busy] + steps, retry) { configuration in
            if isInLine { configuration.admission = .init(perHost: 1) }
            configuration.callInterceptors = [
                Intercepting { request, call, next in
                    if call.settings.tags == ["feed"] { await gate.wait() }
                    return try await next(request)
                }
            ]
        }
        if isInLine {
            _ = rig.client.start(GetProduct(id: "first"))
            await rig.script.waitForExchanges(count: 1)
        }
        for _ in 0..<2 { _ = await failure { try await rig.client.send(GetProduct(), options: .priority(.immediate)) } }
        rig.clock.advance(by: .seconds(1))
        let probe = rig.client.start(GetProduct(id: "probe"), options: Self.feed)
        if hold == .suspended { probe.suspend() }
        if hold == .paused { rig.client.pause(.tag("feed")) }
        gate.open()
        if hold != .suspended { await rig.whenQueuedOrSent(isInLine ? 4 : 3) } else { await rig.settle() }
        if isInLine {
            // While it only stands in line, it is the one that finds out.
            let other = await failure { try await rig.client.send(GetProduct(), options: .priority(.immediate)) }
            #expect(isUnavailable(other))
        }
        if hold == .suspendedInLine { probe.suspend() }
        if hold == .pausedInLine { rig.client.pause(.tag("feed")) }
        return (rig, probe)
    }

    private func release(_ hold: Hold, _ rig: RetryRig, _ probe: Call<Product>) {
        probe.resume()
        rig.client.resume(.tag("feed"))
        rig.script.release()
    }

    @Test(
        "A call that is held back is no probe: another one finds out, and it goes on afterwards",
        arguments: Hold.allCases, [false, true])
    func heldProbe(hold: Hold, isHedged: Bool) async throws {
        let (rig, probe) = await heldProbe(hold, isHedged: isHedged, [.product, .product])
        let before = rig.hits
        _ = try await rig.client.send(GetProduct(), options: .priority(.immediate))
        #expect(rig.hits == before + 1)
        release(hold, rig, probe)
        _ = try await probe.value
        #expect(rig.hits == before + 2)
    }

    @Test(
        "A call that was held back is not sent where others have found out that nothing works",
        arguments: Hold.allCases, [false, true])
    func heldForNothing(hold: Hold, isHedged: Bool) async throws {
        let (rig, probe) = await heldProbe(hold, isHedged: isHedged, [.busy, .product])
        let before = rig.hits
        let other = await failure { try await rig.client.send(GetProduct(), options: .priority(.immediate)) }
        #expect(other?.kind == .httpStatus(503))
        release(hold, rig, probe)
        let error = await failure { try await probe.value }
        #expect(isUnavailable(error) && error?.sendState == .unsent)
        #expect(rig.hits == before + 1)
    }

    @Test(
        "A call that was held back is the probe where nobody has found out meanwhile",
        arguments: Hold.allCases, [false, true])
    func heldAndProbe(hold: Hold, isHedged: Bool) async throws {
        let (rig, probe) = await heldProbe(hold, isHedged: isHedged, [.held(.product), .product])
        let before = rig.hits
        release(hold, rig, probe)
        await rig.script.waitForExchanges(count: before + 1)
        let other = await failure { try await rig.client.send(GetProduct(), options: .priority(.immediate)) }
        #expect(isUnavailable(other))
        rig.script.release()
        _ = try await probe.value
        _ = try await rig.client.send(GetProduct())
    }

    @Test("A probe of which nothing is heard does not keep the origin refused: another one is sent after a while")
    func lostProbe() async throws {
        let rig = rig([.busy, .busy, .held(.product), .product, .product])
        for _ in 0..<2 { _ = await failure { try await rig.client.send(GetProduct()) } }
        rig.clock.advance(by: .seconds(1))
        let probe = rig.client.start(GetProduct(id: "probe"))
        await rig.script.waitForExchanges(count: 3)
        rig.clock.advance(by: .seconds(15) - .nanoseconds(1))
        #expect(isUnavailable(await failure { try await rig.client.send(GetProduct()) }))
        #expect(rig.hits == 3)
        rig.clock.advance(by: .nanoseconds(1))
        _ = try await rig.client.send(GetProduct())
        // It has closed.
        _ = try await rig.client.send(GetProduct())
        rig.script.release()
        _ = try await probe.value
        #expect(rig.hits == 5)
    }

    @Test("What has waited to be sent is not sent to an origin whose circuit others have opened meanwhile")
    func openedMeanwhile() async throws {
        let rig = rig([.busy, .busy, .product])
        rig.client.pause(.tag("feed"))
        let waiting = rig.client.start(GetProduct(id: "waiting"), options: Self.feed)
        let elsewhere = rig.client.start(
            GetProduct(id: "elsewhere"), options: Self.feed.with { $0.baseURL = "https://other.example.com" })
        await rig.whenQueuedOrSent(2)
        for _ in 0..<2 { _ = await failure { try await rig.client.send(GetProduct()) } }
        rig.client.resume(.tag("feed"))
        let error = await failure { try await waiting.value }
        #expect(isUnavailable(error) && error?.stage == .admission && error?.sendState == .unsent)
        #expect(error?.attempts.isEmpty == true)
        _ = try await elsewhere.value
        #expect(rig.hits == 3)
    }

    @Test("A call that is refused its place gives it to the next one")
    func placeOfRefused() async throws {
        let rig = rig([.held(.busy), .product], failures: 1) { $0.admission = .init(total: 1) }
        let first = rig.client.start(GetProduct(id: "1"))
        await rig.script.waitForExchanges(count: 1)
        rig.client.pause(.tag("feed"))
        let second = rig.client.start(GetProduct(id: "2"), options: Self.feed)
        await rig.whenQueuedOrSent(2)
        rig.script.release()
        _ = await failure { try await first.value }
        rig.client.resume(.tag("feed"))
        #expect(isUnavailable(await failure { try await second.value }))
        _ = try await rig.client.send(GetProduct(), options: .with { $0.baseURL = "https://other.example.com" })
        #expect(rig.hits == 2)
    }

    @Test(
        "An attempt that was to follow and is refused in the queue leaves the error of the one before, and is the last")
    func refusedRepetition() async throws {
        let policy = RetryPolicy(limit: 2, backoff: .init(base: .zero))
        let rig = rig([.held(.lost(.unprocessed)), .busy, .busy, .product], failures: 3, policy)
        let call = rig.client.start(GetProduct(id: "1"), options: Self.feed)
        await rig.script.waitForExchanges(count: 1)
        rig.client.pause(.tag("feed"))
        rig.script.release()
        await rig.whenQueuedOrSent(2)
        for _ in 0..<2 {
            _ = await failure { try await rig.client.send(GetProduct(), options: .retry(.none)) }
        }
        rig.client.resume(.tag("feed"))
        let error = await failure { try await call.value }
        #expect(error?.kind == .transport(.connectionLost) && error?.stage == .transport)
        #expect(error?.debugMessage.contains("not retried") == true)
        #expect(rig.hits == 3 && rig.retries.count == 1)
    }

    @Test("What was cancelled, found no network or was not sent at all is nothing that the server did not take")
    func throttleTakesBack() async throws {
        let offline = ScriptedTransport.Step.fail(TransportError(.unreachable(.offline), sendState: .unsent))
        let rig = rig(Array(repeating: offline, count: 30) + [.held(.product), .busy, .product]) { configuration in
            configuration.circuitBreaker = nil
            configuration.throttle = .init()
        }
        // What is drawn is next to nothing, so that any probability worth the name refuses.
        for _ in 0..<30 {
            #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .unreachable(.offline))
        }
        let cancelled = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 31)
        cancelled.cancel()
        _ = await failure { try await cancelled.value }
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(503))
        #expect(isUnavailable(await failure { try await rig.client.send(GetProduct()) }))
        #expect(rig.hits == 32)
    }

    @Test("What was answered, and given up in its content or refused by an interceptor, is what the server took")
    func throttleOfAnswers() async throws {
        let cut = ScriptedTransport.Step.fail(
            TransportError(.timeout(.total), sendState: .answered, partialResponse: HTTPResponse(status: 200)))
        let busy = ScriptedTransport.Step.fail(
            TransportError(.timeout(.total), sendState: .answered, partialResponse: HTTPResponse(status: 429)))
        func rig(_ step: ScriptedTransport.Step, refusing: Bool = false) -> RetryRig {
            self.rig(Array(repeating: step, count: 30) + [.product]) { configuration in
                (configuration.circuitBreaker, configuration.throttle) = (nil, .init())
                configuration.attemptInterceptors = [
                    Intercepting { request, _, next in
                        let exchange = try await next(request)
                        guard refusing, request.url.path.hasSuffix("old") else { return exchange }
                        throw APIError(.business(code: 7, message: ""), stage: .transport, sendState: .answered)
                    }
                ]
            }
        }
        for (rig, counts) in [(rig(cut), false), (rig(busy), true), (rig(.product, refusing: true), false)] {
            for _ in 0..<30 { _ = await failure { try await rig.client.send(GetProduct(id: "old")) } }
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(isUnavailable(error) == counts)
        }
    }

    @Test("What the circuit refuses does not count against the throttle, and what an answer cut short does")
    func throttleAndCircuit() throws {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.throttle = .init()
        configuration.circuitBreaker = .init(minimumAttempts: 1)
        let clock = TestClock()
        configuration.time = clock.timeSource
        let table = OriginTable(configuration)
        let origin = HTTPURL.Origin(scheme: .https, host: "a.example.com", port: 443)
        func admit() -> OriginTable.Leave? {
            // What is made of 12 is above 0.99, of 2 above one half, and of 0 next to nothing.
            if case .allowed(let leave) = table.admit(to: origin, drawing: { 12 }) { leave } else { nil }
        }
        func isThrottled() -> Bool {
            guard case .refused(let reason) = table.admit(to: origin, drawing: { 0 }) else { return false }
            return reason.contains("takes less")
        }
        for (outcome, counts) in [
            (OriginTable.Outcome.answered(.success), false), (.answered(.unknown), true), (.failed(.unknown), false),
        ] {
            let leave = try #require(admit())
            table.record(outcome, of: leave, to: origin, took: .zero, drawing: { 0 })
            #expect(isThrottled() == counts, "\(outcome)")
            clock.advance(by: .seconds(200))
        }
        let leave = try #require(admit())
        table.record(.failed(.failure), of: leave, to: origin, took: .zero, drawing: { 0 })
        clock.advance(by: .milliseconds(1))
        for _ in 0..<100 { #expect(admit() == nil, "the circuit is open") }
        clock.advance(by: .seconds(1))
        // One request of which nothing came: one half.
        guard case .allowed = table.admit(to: origin, drawing: { 2 }) else {
            Issue.record("what was not sent has counted")
            return
        }
    }
}
