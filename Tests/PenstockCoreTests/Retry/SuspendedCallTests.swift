import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Calls that are suspended where they wait, or where another attempt would be sent for them.
@Suite(.timeLimit(.minutes(5))) struct SuspendedCallTests {
    private static let hedging = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .milliseconds(400)))

    /// A client whose calls come to its stages when a latch is opened.
    private func rig(_ gate: Latch, _ count: Int) -> RetryRig {
        RetryRig(Array(repeating: .held(.product), count: count)) { configuration in
            configuration.options.retry = Self.hedging
            configuration.callInterceptors = [
                Intercepting { request, _, next in
                    await gate.wait()
                    return try await next(request)
                }
            ]
        }
    }

    /// Notes what it is told, and does something when it is told to stand still.
    private final class Noted: ControlledExchange {
        let isSuspended = Locked(false)
        private let onSuspend: @Sendable () -> Void

        init(onSuspend: @escaping @Sendable () -> Void = {}) {
            self.onSuspend = onSuspend
        }

        func cancel() {}

        func suspend() {
            isSuspended.withLock { $0 = true }
            onSuspend()
        }

        func resume() { isSuspended.withLock { $0 = false } }
    }

    @Test("Where a suspension and a resumption meet, every exchange is told the last word last", .covers("S0.7"))
    func lastWord() {
        let control = ExchangeControl()
        // As another thread would, at the worst moment.
        let exchanges = [Noted { control.resume() }, Noted()]
        for exchange in exchanges { #expect(control.attach(exchange)) }
        control.suspend()
        #expect(!control.isSuspended)
        #expect(exchanges.allSatisfy { !$0.isSuspended.withLock { $0 } })
    }

    @Test("Nothing is sent for a suspended call that may be hedged, and no hedge beside it", .covers("S0.7"))
    func unsent() async throws {
        let gate = Latch()
        let rig = rig(gate, 2)
        let call = rig.client.start(GetProduct())
        call.suspend()
        gate.open()
        await rig.settle()
        rig.clock.advance(by: .seconds(2))
        await rig.settle()
        #expect(rig.hits == 0)
        call.resume()
        await rig.script.waitForExchanges(count: 1)
        rig.script.release()
        _ = try await call.value
        #expect(rig.hits == 1)
    }

    @Test("While a call is suspended no hedge is sent, and its time begins anew when it goes on", .covers("S0.7"))
    func onTheWay() async throws {
        let gate = Latch()
        let rig = rig(gate, 2)
        gate.open()
        let call = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 1)
        await rig.settle()
        call.suspend()
        rig.clock.advance(by: .seconds(2))
        await rig.settle()
        #expect(rig.hits == 1)
        call.resume()
        rig.clock.advance(by: .milliseconds(399))
        await rig.settle()
        #expect(rig.hits == 1)
        rig.clock.advance(by: .milliseconds(1))
        await rig.script.waitForExchanges(count: 2)
        rig.script.release()
        rig.script.release()
        _ = try await call.value
    }

    @Test("What serves several calls hears of a suspension that came before it; a transport asks by itself")
    func attached() {
        let control = ExchangeControl()
        control.suspend()
        let (shared, transport) = (Shared(), Exclusive())
        #expect(control.attach(transport) && transport.told.value.isEmpty)
        #expect(control.attach(shared) && shared.told.value == ["suspend"])
        control.resume()
        #expect(shared.told.value == ["suspend", "resume"])
        control.cancel()
        #expect(!control.attach(Shared()))
    }

    @Test("A suspended call takes no place from those behind it, whether it comes so or is suspended in the queue")
    func places() async throws {
        for isQueued in [false, true] {
            let gate = Latch()
            let rig = RetryRig(Array(repeating: .held(.product), count: 3)) { configuration in
                configuration.admission = .init(total: 1)
                configuration.callInterceptors = [
                    Intercepting { request, _, next in
                        if request.url.path.hasSuffix("held") { await gate.wait() }
                        return try await next(request)
                    }
                ]
            }
            let first = rig.client.start(GetProduct(id: "first"))
            await rig.script.waitForExchanges(count: 1)
            let held = rig.client.start(GetProduct(id: "held"))
            if isQueued {
                gate.open()
                await rig.whenQueuedOrSent(2)
                await rig.settle()
            }
            held.suspend()
            gate.open()
            await rig.whenQueuedOrSent(2)
            let last = rig.client.start(GetProduct(id: "last"))
            await rig.whenQueuedOrSent(3)
            rig.script.release()
            await rig.script.waitForExchanges(count: 2)
            #expect(rig.script.requests.last?.request.url.path.hasSuffix("last") == true)
            rig.script.release()
            _ = try await (first.value, last.value)
            await rig.settle()
            #expect(rig.hits == 2)
            held.resume()
            await rig.script.waitForExchanges(count: 3)
            rig.script.release()
            _ = try await held.value
            #expect(rig.recorder.grammarViolations.isEmpty)
        }
    }

    @Test("A suspended call that waits for a place ends when it is cancelled")
    func cancelledInTheQueue() async throws {
        let rig = RetryRig([.held(.product), .product]) { $0.admission = .init(total: 1) }
        let first = rig.client.start(GetProduct(id: "first"))
        await rig.script.waitForExchanges(count: 1)
        let held = rig.client.start(GetProduct(id: "held"))
        await rig.whenQueuedOrSent(2)
        held.suspend()
        held.cancel()
        #expect(await held.result.failure?.kind == .cancelled)
        rig.script.release()
        _ = try await first.value
        _ = try await rig.client.send(GetProduct(id: "last"))
    }

    @Test("A pause reaches derived clients that have limits of their own, also one that is derived during it")
    func pausedFamily() async throws {
        let rig = RetryRig(Array(repeating: .product, count: 4))
        let limited = rig.client.with { $0.admission = .init(total: 2) }
        let stranger = rig.client.with { $0.admission = .init(total: 3) }
        limited.pause(.tag("of a derived one"))
        rig.client.pause(.endpoint(GetProduct.self))
        let later = rig.client.with { $0.admission = .init(total: 5) }
        let calls = [rig.client, limited, later].map { $0.start(GetProduct()) }
        await rig.whenQueuedOrSent(3)
        #expect(rig.hits == 0 && rig.queueReasons == [.paused, .paused, .paused])
        rig.client.resume(.endpoint(GetProduct.self))
        for call in calls { _ = try await call.value }
        // What was paused by the derived one is none of the others'.
        _ = try await stranger.send(GetProduct(), options: .with { $0.tags = ["of a derived one"] })
        #expect(rig.hits == 4)
    }
}

private class Exclusive: ControlledExchange, @unchecked Sendable {
    let told = Box<[String]>([])
    func cancel() { told.update { $0.append("cancel") } }
    func suspend() { told.update { $0.append("suspend") } }
    func resume() { told.update { $0.append("resume") } }
}

private final class Shared: Exclusive, SharedWork, @unchecked Sendable {
    var isOnWire: Bool { false }
}
