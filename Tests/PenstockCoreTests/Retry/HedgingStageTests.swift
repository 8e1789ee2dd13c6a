import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite("Hedged attempts", .timeLimit(.minutes(5)))
struct HedgingStageTests {
    private static let policy = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .milliseconds(400)))

    private func rig(_ steps: ScriptedTransport.Step..., reserve: Double = 10) -> RetryRig {
        RetryRig(steps) { configuration in
            configuration.options.retry = Self.policy
            configuration.retryBudget = .init(reserve: reserve, refill: nil)
        }
    }

    private func isHedged(_ rig: RetryRig) -> Bool {
        rig.events.contains { if case .hedged = $0 { true } else { false } }
    }

    @Test(
        "A second attempt is sent beside one that is slow; the first answer counts, and the other attempt is given up")
    func second() async throws {
        let rig = rig(.held(.product), .held(.product))
        let call = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 1)
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .milliseconds(399))
        #expect(rig.hits == 1)
        rig.clock.advance(by: .milliseconds(1))
        await rig.script.waitForExchanges(count: 2)
        // The second is answered first.
        rig.script.requests.first?.control.cancel()
        while !Task.isCancelled, rig.script.openExchangeCount > 1 { await Task.yield() }
        rig.script.release()
        let response = try await call.response
        #expect(response.http.status == 200)
        #expect(isHedged(rig))
        #expect(rig.recorder.grammarViolations.isEmpty)
        // Each is told of by its own number, although the second was sent before anything came of the first.
        let told = rig.recorder.records.compactMap { record -> String? in
            switch record.event {
            case .requestSent: "sent \(record.context.attempt)"
            case .requestFailed: "failed \(record.context.attempt)"
            case .responseReceived: "answered \(record.context.attempt)"
            default: nil
            }
        }
        #expect(told == ["sent 1", "sent 2", "failed 1", "answered 2"])
        #expect(rig.client.callCount == 0)
        while !Task.isCancelled, rig.script.openExchangeCount > 0 { await Task.yield() }
    }

    @Test("An attempt that is quick enough has none beside it")
    func quick() async throws {
        let rig = rig(.product, .product)
        _ = try await rig.client.send(GetProduct())
        rig.clock.advance(by: .seconds(10))
        #expect(rig.hits == 1 && !isHedged(rig))
        #expect(rig.recorder.grammarViolations.isEmpty)
    }

    @Test("An attempt that is held back is not slow: none is sent beside it before it was on the wire for as long")
    func heldBack() async throws {
        let rig = rig(.held(.product), .held(.product))
        rig.client.pause(.all)
        let call = rig.client.start(GetProduct())
        await rig.settle()
        for _ in 1...5 {
            rig.clock.advance(by: .seconds(1))
            await rig.settle()
        }
        #expect(rig.hits == 0 && !isHedged(rig))
        rig.client.resume(.all)
        await rig.script.waitForExchanges(count: 1)
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .milliseconds(399))
        await rig.settle()
        #expect(rig.hits == 1 && !isHedged(rig))
        rig.clock.advance(by: .milliseconds(1))
        await rig.script.waitForExchanges(count: 2)
        rig.script.release()
        rig.script.release()
        _ = try await call.value
    }

    @Test("An answer that would be repeated counts only when nothing better is under way")
    func worse() async throws {
        let rig = rig(.held(.busy), .held(.product))
        let call = rig.client.start(GetProduct())
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .milliseconds(400))
        await rig.script.waitForExchanges(count: 2)
        rig.script.release()
        while !Task.isCancelled, rig.script.openExchangeCount > 1 { await Task.yield() }
        await rig.settle()
        rig.script.release()
        _ = try await call.value
        #expect(rig.hits == 2)
        let failing = self.rig(.busy, .product)
        #expect(await failure { try await failing.client.send(GetProduct()) }?.kind == .httpStatus(503))
        #expect(failing.hits == 1)
    }

    @Test("None is sent for what is not idempotent, without a budget, or after the server has asked for a pause")
    func never() async throws {
        func hits(
            of rig: RetryRig, after earlier: Int = 0, isHedged: Bool = false,
            _ body: @escaping @Sendable () async -> Void
        ) async -> Int {
            let task = Task { await body() }
            await rig.script.waitForExchanges(count: earlier + 1)
            if isHedged { await rig.clock.waitForSleepers(count: 1) } else { await rig.settle() }
            rig.clock.advance(by: .seconds(1))
            if isHedged { await rig.script.waitForExchanges(count: earlier + 2) } else { await rig.settle() }
            let hits = rig.hits
            rig.script.release()
            await task.valueOfTest
            return hits
        }
        let post = rig(.held(.product), .product)
        #expect(await hits(of: post) { _ = try? await post.client.send(PlaceOrder()) } == 1)
        let poor = rig(.held(.product), .product, reserve: 0)
        #expect(await hits(of: poor) { _ = try? await poor.client.send(GetProduct()) } == 1)
        #expect(poor.refusals == [.budgetUsedUp])
        let asked = rig(.busy("30"), .held(.product), .product)
        _ = await failure { try await asked.client.send(GetProduct()) }
        #expect(await hits(of: asked, after: 1) { _ = try? await asked.client.send(GetProduct()) } == 2)
        // 429 asks as 503 does, and no other status.
        for (status, hedges) in [(429, false), (428, true), (430, true), (502, true), (504, true)] {
            let answer = HTTPResponse(status: status, fields: ["Retry-After": "30"])
            let rig = rig(.respond(answer), .held(.product), .product)
            _ = await failure { try await rig.client.send(GetProduct()) }
            let hits = await hits(of: rig, after: 1, isHedged: hedges) {
                _ = try? await rig.client.send(GetProduct())
            }
            #expect(hits == (hedges ? 3 : 2), "\(status)")
        }
    }

    @Test(
        "What is not idempotent by its method has one beside it where that is declared, or a key goes with it",
        .covers("S0.10"), arguments: [Idempotency.declared, .key])
    func declared(idempotency: Idempotency) async throws {
        let rig = rig(.held(.product), .product)
        let call = rig.client.start(PlaceOrder(), options: .idempotency(idempotency))
        await rig.script.waitForExchanges(count: 1)
        // Long enough for it, and not for ever.
        while rig.hits < 2, rig.clock.now.offset < .seconds(50) {
            rig.clock.advance(by: .milliseconds(100))
            await rig.settle()
        }
        #expect(rig.hits == 2 && isHedged(rig))
        rig.script.release()
        _ = try await call.value
    }

    @Test("What a hedge is answered with is heeded: the server is sent no other one for as long as it asks")
    func askedOfHedge() async throws {
        let rig = rig(.held(.product), .busy("30"), .held(.product), .product)
        let first = rig.client.start(GetProduct())
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .milliseconds(400))
        // What the hedge is answered with has come before the first attempt is.
        while !Task.isCancelled, rig.events.allSatisfy({ if case .responseReceived = $0 { false } else { true } }) {
            await Task.yield()
        }
        await rig.settle()
        rig.script.release()
        _ = try await first.value
        let second = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 3)
        await rig.settle()
        rig.clock.advance(by: .seconds(1))
        await rig.settle()
        #expect(rig.hits == 3)
        rig.script.release()
        _ = try await second.value
    }

    @Test("None is sent while the circuit of the origin is open")
    func circuit() async throws {
        let rig = RetryRig([.held(.product), .busy, .product]) { configuration in
            configuration.options.retry = Self.policy
            configuration.circuitBreaker = .init(minimumAttempts: 1, shortestPause: .seconds(10))
        }
        let call = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 1)
        await rig.clock.waitForSleepers(count: 1)
        _ = await failure { try await rig.client.send(PlaceOrder()) }
        rig.clock.advance(by: .seconds(1))
        await rig.settle()
        #expect(rig.hits == 2 && !isHedged(rig))
        #expect(rig.refusals == [.circuitOpen])
        rig.script.release()
        _ = try await call.value
    }

    @Test("As many are sent besides the first as the policy says, one after the other, and no more", arguments: 0...2)
    func limit(limit: Int) async throws {
        let steps = [ScriptedTransport.Step](repeating: .held(.product), count: limit + 2)
        let rig = RetryRig(steps) { configuration in
            configuration.options.retry = RetryPolicy(
                limit: 0, hedging: HedgingPolicy(after: .milliseconds(400), limit: limit))
        }
        let call = rig.client.start(GetProduct())
        for sent in 1...(limit + 1) {
            await rig.script.waitForExchanges(count: sent)
            if sent <= limit { await rig.clock.waitForSleepers(count: 1) }
            rig.clock.advance(by: .milliseconds(399))
            await rig.settle()
            #expect(rig.hits == sent)
            rig.clock.advance(by: .milliseconds(1))
        }
        await rig.settle()
        rig.clock.advance(by: .milliseconds(400))
        await rig.settle()
        #expect(rig.hits == limit + 1)
        #expect(rig.events.count { if case .hedged = $0 { true } else { false } } == limit)
        rig.script.release()
        _ = try await call.value
    }

    @Test("A policy that waits for nothing sends as many as it may at once")
    func atOnce() async throws {
        let steps = [ScriptedTransport.Step](repeating: .held(.product), count: 4)
        let rig = RetryRig(steps) { configuration in
            configuration.options.retry = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .zero, limit: 2))
        }
        let call = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 3)
        await rig.settle()
        #expect(rig.hits == 3)
        rig.script.release()
        _ = try await call.value
    }

    @Test("Cancelling the call closes every attempt")
    func cancelled() async throws {
        let rig = rig(.held(.product), .held(.product))
        let call = rig.client.start(GetProduct())
        await rig.clock.waitForSleepers(count: 1)
        rig.clock.advance(by: .milliseconds(400))
        await rig.script.waitForExchanges(count: 2)
        call.cancel()
        #expect(await failure { try await call.value }?.kind == .cancelled)
        while !Task.isCancelled, rig.script.openExchangeCount > 0 { await Task.yield() }
        #expect(rig.recorder.grammarViolations.isEmpty)
    }
}
