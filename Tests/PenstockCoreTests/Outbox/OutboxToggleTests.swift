import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A like that is tapped as fast as a finger goes.
@Suite(.timeLimit(.minutes(5)), .covers("S3.12"))
struct OutboxToggleTests {
    private static let ok = HTTPResponse(status: 200)

    private static func toggle(
        _ rig: OutboxRig, initially value: Bool = false
    ) async throws -> OutboxToggle<SetLike> {
        // Without a quiet period, so that what is tested here is all that keeps writes few.
        try await OutboxToggle("like/1", initially: value, in: rig.outbox, quiet: .zero) {
            SetLike(product: 1, isLiked: $0)
        }
    }

    private static func isLiked(_ request: HTTPRequest?) -> Bool {
        request?.text.contains(#""isLiked":true"#) ?? false
    }

    @Test("Ten taps are two writes at most, and the server has the last one", arguments: [10, 9, 2, 1])
    func folded(taps: Int) async throws {
        let script = ScriptedTransport([.held(.respond(Self.ok)), .respond(Self.ok), .respond(Self.ok)])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.toggle()
        #expect(like.value, "shown at once")
        await script.waitForExchanges(count: 1)
        for tap in 1..<max(taps, 2) where tap < taps {
            like.toggle()
            try await like.stored()
        }
        #expect(like.value == !taps.isMultiple(of: 2))
        script.release()
        try await like.settled()
        #expect(script.requests.count <= 2)
        #expect(script.requests.count == min(taps, 2))
        #expect(Self.isLiked(script.requests.last?.request) == like.value)
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    @Test("Taps while offline are one write")
    func offline() async throws {
        let script = ScriptedTransport([.respond(Self.ok), .respond(Self.ok)])
        let rig = OutboxRig(script)
        let like = try await Self.toggle(rig)
        for _ in 0..<11 {
            like.toggle()
            try await like.stored()
        }
        #expect(try await rig.outbox.counts().pending == 1)
        rig.outbox.start()
        try await like.settled()
        #expect(script.requests.count == 1)
        #expect(Self.isLiked(script.requests.first?.request))
        await rig.outbox.close()
    }

    @Test("What is set to what it is already is no tap: nothing is written")
    func unchanged() async throws {
        let rig = OutboxRig(ScriptedTransport([]))
        let like = try await Self.toggle(rig)
        like.set(false)
        var updates = like.updates.makeAsyncIterator()
        #expect(await updates.next()?.isPending == false)
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    @Test("Taps that come while one is being put on disk are put there by it afterwards, as one write of the last")
    func tapsWhileStoring() async throws {
        let script = ScriptedTransport([.respond(Self.ok)])
        let rig = OutboxRig(script)
        let (made, tapped) = (Locked<[Bool]>([]), Locked<OutboxToggle<SetLike>?>(nil))
        let like = try await OutboxToggle<SetLike>("like/1", initially: false, in: rig.outbox) { isLiked in
            let count = made.withLock { made in
                made.append(isLiked)
                return made.count
            }
            // The first is made to learn its fold, and the second for the first tap.
            if count == 2, let like = tapped.withLock({ $0 }) { for _ in 0..<3 { like.toggle() } }
            return SetLike(product: 1, isLiked: isLiked)
        }
        tapped.withLock { $0 = like }
        like.toggle()
        try await like.stored()
        #expect(!like.value)
        rig.outbox.start()
        try await like.settled()
        tapped.withLock { $0 = nil }
        #expect(made.withLock { $0 } == [false, true, false])
        #expect(script.requests.count == 1)
        #expect(!Self.isLiked(script.requests.first?.request))
        await rig.outbox.close()
    }

    @Test("A final failure shows what the server has again, and says why")
    func rolledBack() async throws {
        let script = ScriptedTransport([.respond(HTTPResponse(status: 403))])
        let rig = OutboxRig(script)
        let like = try await Self.toggle(rig)
        var updates = like.updates.makeAsyncIterator()
        #expect(await updates.next()?.value == false)
        like.set(true)
        let shown = await updates.next()
        #expect(shown?.value == true && shown?.isPending == true)
        rig.outbox.start()
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(!like.value)
        let last = await updates.next()
        #expect(last?.value == false && last?.isPending == false)
        guard case .undeliverable(let failure, _) = last?.failure else {
            Issue.record("no reason was given")
            return
        }
        #expect(failure.status == 403)
        await rig.outbox.close()
    }

    @Test("When the first of two taps was done and the second fails, the first is shown")
    func rolledBackToTheFirst() async throws {
        let script = ScriptedTransport([.held(.respond(Self.ok)), .respond(HTTPResponse(status: 403))])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.toggle()
        await script.waitForExchanges(count: 1)
        like.toggle()
        try await like.stored()
        #expect(!like.value)
        script.release()
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(like.value)
        await rig.outbox.close()
    }

    @Test("When the second of two taps has failed before the first is done, what the first has set is shown")
    func earlierDoneAfterFailure() async throws {
        let script = ScriptedTransport([.held(.respond(Self.ok))])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.set(true)
        await script.waitForExchanges(count: 1)
        like.set(false)
        try await like.stored()
        let second = try #require(try await rig.outbox.pending().last)
        #expect(try await rig.outbox.discard(second.id))
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(!like.value)
        script.release()
        await Self.until(like) { $0.value && !$0.isPending && $0.failure != nil }
        #expect(like.value)
        await rig.outbox.close()
    }

    @Test("What is heard of an earlier tap after a later one is no more what the server has")
    func confirmedOutOfOrder() async throws {
        let rig = OutboxRig(ScriptedTransport([.respond(HTTPResponse(status: 403))]))
        let like = try await Self.toggle(rig)
        for value in [true, false, true] {
            like.set(value)
            try await like.stored()
        }
        like.confirm(false, tap: 2)
        like.confirm(true, tap: 1)
        rig.outbox.start()
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(!like.value)
        await rig.outbox.close()
    }

    @Test("When the first of two taps fails, the second still counts")
    func firstFails() async throws {
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 403))), .respond(Self.ok)])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig, initially: true)
        like.set(false)
        await script.waitForExchanges(count: 1)
        like.set(true)
        try await like.stored()
        script.release()
        try await like.settled()
        #expect(like.value)
        #expect(Self.isLiked(script.requests.last?.request))
        await rig.outbox.close()
    }

    @Test("A tap that cannot be put on disk is rolled back at once")
    func notStored() async throws {
        let rig = OutboxRig(StubTransport())
        let like = try await Self.toggle(rig)
        await rig.store.close()
        like.toggle()
        await #expect { try await like.stored() } throws: { error in
            if case .store(.closed) = error as? OutboxError { true } else { false }
        }
        #expect(!like.value)
    }

    @Test("The last tap survives the end of the app, with what it rolls back to")
    func restart() async throws {
        let store = MemoryOutboxStore()
        do {
            let rig = OutboxRig(StubTransport(), store: store)
            let like = try await Self.toggle(rig)
            for _ in 0..<3 {
                like.toggle()
                try await like.stored()
            }
        }
        // The app has learned nothing of it from the server.
        let script = ScriptedTransport([.held(.respond(HTTPResponse(status: 404)))])
        let rig = OutboxRig(script, store: store)
        let like = try await Self.toggle(rig)
        #expect(like.value, "the last tap")
        rig.outbox.start()
        await script.waitForExchanges(count: 1)
        #expect(Self.isLiked(script.requests.first?.request))
        script.release()
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(!like.value, "what the server has")
        await rig.outbox.close()
    }

    @Test("Of two taps that survive the end of the app the last one counts, whatever becomes of the first")
    func restartBehindAnother() async throws {
        for isRefused in [true, false] {
            let store = MemoryOutboxStore()
            let held = ScriptedTransport([.held(.respond(Self.ok))])
            let first = OutboxRig(held, store: store)
            first.outbox.start()
            let before = try await Self.toggle(first)
            before.set(true)
            await held.waitForExchanges(count: 1)
            before.set(false)
            try await before.stored()
            await first.outbox.close()

            let answer = isRefused ? HTTPResponse(status: 403) : Self.ok
            let script = ScriptedTransport([.held(.respond(answer)), .held(.respond(HTTPResponse(status: 403)))])
            let rig = OutboxRig(script, store: store)
            let like = try await Self.toggle(rig)
            #expect(!like.value)
            try await like.stored()
            rig.outbox.start()
            await rig.advance { script.requests.count == 1 }
            script.release()
            await rig.advance { script.requests.count == 2 }
            for await shown in like.updates {
                #expect(!shown.value && shown.isPending && shown.failure == nil)
                break
            }
            script.release()
            await #expect(throws: OutboxError.self) { try await like.settled() }
            #expect(like.value == !isRefused, "what the server has")
            await rig.outbox.close()
        }
    }

    @Test(
        "What cannot be read of an intent leaves what the app has learned",
        arguments: [[2], [1, 1], [0, 0], []] as [[UInt8]])
    func unreadableIntent(bytes: [UInt8]) async throws {
        for value in [true, false] {
            let rig = OutboxRig(StubTransport())
            _ = try await rig.outbox.put(
                SetLike(product: 1, isLiked: !value), intent: Data(bytes), rollback: Data(bytes))
            #expect(try await Self.toggle(rig, initially: value).value == value)
        }
    }

    @Test("With a cipher nobody can see what is wanted, or what it was before; a toggle that is made later can")
    func sealed() async throws {
        let (store, cipher) = (MemoryOutboxStore(), TestCipher())
        let first = OutboxRig(StubTransport(), store: store, cipher: cipher)
        let like = try await Self.toggle(first)
        like.toggle()
        try await like.stored()
        let row = try #require(try await store.rows(.pending(first.owner), after: 0, limit: 1).first)
        #expect((row.intent?.count ?? 0) > 1 && (row.rollback?.count ?? 0) > 1)
        let later = OutboxRig(StubTransport(), store: store, cipher: cipher)
        #expect(try await Self.toggle(later).value)
    }

    @Test("What is wanted opens as that alone, and what was delivered as what it goes back to as well")
    func exchanged() throws {
        let cipher = TestCipher()
        let codec = OutboxCodec(Outbox.Configuration(endpoints: OutboxRig.types, cipher: cipher))
        let rig = OutboxRig(StubTransport(), cipher: cipher)
        let (on, off) = (Data("on".utf8), Data("off".utf8))
        let frozen = try rig.client.frozen(
            SetLike(product: 1, isLiked: true), limit: 1_024, OutboxOwners(), isSealed: true)
        let sealed = try codec.row(
            OutboxID(), frozen.content, rig.owner, frozen.destination, OutboxPolicy(), at: .distantPast, on, off)
        func row(intent: Data?, rollback: Data?) -> OutboxRow {
            OutboxRow(
                id: sealed.id, owner: sealed.owner, lane: sealed.lane, fold: sealed.fold, payload: sealed.payload,
                created: sealed.created, expires: sealed.expires, intent: intent, rollback: rollback)
        }
        #expect(try codec.intent(of: sealed) == on)
        #expect(try codec.rollback(of: sealed) == off)
        let exchanged = row(intent: sealed.rollback, rollback: sealed.intent)
        #expect(try codec.intent(of: exchanged) == nil)
        // A store puts there what a delivered write intended.
        #expect(try codec.rollback(of: exchanged) == on)
        // As earlier versions sealed both.
        let kept = try cipher.seal(on, for: try #require(sealed.fold))
        let earlier = row(intent: kept, rollback: kept)
        #expect(try codec.intent(of: earlier) == on)
        #expect(try codec.rollback(of: earlier) == on)
    }

    @Test("A later tap takes the place of one that failed for good")
    func afterFailure() async throws {
        let script = ScriptedTransport([.respond(HTTPResponse(status: 404)), .respond(Self.ok)])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.toggle()
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(try await rig.outbox.undeliverable().count == 1)
        like.toggle()
        try await like.settled()
        #expect(like.value)
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    /// What a toggle shows from now on, until it is as wanted.
    private static func until(
        _ like: OutboxToggle<SetLike>, _ isWanted: (OutboxToggle<SetLike>.Update) -> Bool
    ) async {
        for await shown in like.updates where isWanted(shown) { return }
    }

    @Test(
        "A failed tap that the app has sent again is shown as pending, and is what the server has once it is delivered")
    func retried() async throws {
        let script = ScriptedTransport([
            .respond(HTTPResponse(status: 403)), .held(.respond(HTTPResponse(status: 410))), .held(.respond(Self.ok)),
            .respond(HTTPResponse(status: 404)),
        ])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.set(true)
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(!like.value)
        let id = try #require(try await rig.outbox.undeliverable().first?.id)
        for (exchanges, isDelivered) in [(2, false), (3, true)] {
            #expect(try await rig.outbox.retry(id))
            await Self.until(like) { $0.value && $0.isPending && $0.failure == nil }
            await script.waitForExchanges(count: exchanges)
            script.release()
            await Self.until(like) { !$0.isPending }
            #expect(like.value == isDelivered)
        }
        try await like.settled()
        like.set(false)
        await #expect(throws: OutboxError.self) { try await like.settled() }
        #expect(like.value, "the server has what was delivered at last")
        await rig.outbox.close()
    }

    @Test("A failed tap that is sent again and delivered before anybody looks is shown")
    func retriedQuickly() async throws {
        let script = ScriptedTransport([.respond(HTTPResponse(status: 403)), .respond(Self.ok)])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let like = try await Self.toggle(rig)
        like.set(true)
        await #expect(throws: OutboxError.self) { try await like.settled() }
        let id = try #require(try await rig.outbox.undeliverable().first?.id)
        try await rig.outbox.retry(id)
        await Self.until(like) { $0.value && !$0.isPending && $0.failure == nil }
        try await like.settled()
        await rig.outbox.close()
    }

    @Test("A failed tap that the app discards, or leaves when the outbox closes, is shown as it was")
    func discardedAfterFailure() async throws {
        for isDiscarded in [true, false] {
            let rig = OutboxRig(StubTransport { _ in HTTPResponse(status: 403) })
            rig.outbox.start()
            let like = try await Self.toggle(rig)
            like.set(true)
            await #expect(throws: OutboxError.self) { try await like.settled() }
            let id = try #require(try await rig.outbox.undeliverable().first?.id)
            weak let feed = try await rig.outbox.receipt(for: id, SetLike.self)?.feed
            if isDiscarded { try await rig.outbox.discard(id) } else { await rig.outbox.close() }
            // The toggle looks at it until it has heard of that.
            while !Task.isCancelled, feed != nil { await Task.yield() }
            await #expect { try await like.settled() } throws: { error in
                if case .undeliverable(let failure, _) = error as? OutboxError { failure.status == 403 } else { false }
            }
            #expect(!like.value)
            await rig.outbox.close()
        }
    }

    @Test("A failed tap of one toggle gives way to a later one of another, and both show that")
    func replacedAfterFailure() async throws {
        let script = ScriptedTransport([.respond(HTTPResponse(status: 403)), .held(.respond(Self.ok))])
        let rig = OutboxRig(script)
        rig.outbox.start()
        let (list, page) = (try await Self.toggle(rig), try await Self.toggle(rig))
        list.set(true)
        await #expect(throws: OutboxError.self) { try await list.settled() }
        page.set(true)
        await Self.until(list) { $0.value && $0.isPending && $0.failure == nil }
        await script.waitForExchanges(count: 2)
        script.release()
        try await list.settled()
        #expect(list.value && page.value)
        await rig.outbox.close()
    }

    @Test("A toggle that is gone looks at nothing any more, also not at a tap that failed")
    func goneAfterFailure() async throws {
        let rig = OutboxRig(StubTransport { _ in HTTPResponse(status: 403) })
        rig.outbox.start()
        var like: OutboxToggle<SetLike>?
        do {
            let made = try await Self.toggle(rig)
            made.set(true)
            await #expect(throws: OutboxError.self) { try await made.settled() }
            like = made
        }
        #expect(like?.value == false)
        let id = try #require(try await rig.outbox.undeliverable().first?.id)
        weak let feed = try await rig.outbox.receipt(for: id, SetLike.self)?.feed
        #expect(feed != nil, "the toggle looks at it")
        like = nil
        while !Task.isCancelled, feed != nil { await Task.yield() }
        #expect(feed == nil)
        await rig.outbox.close()
    }

    @Test(
        "A later tap waits behind one that a gateway gave up on, and takes the place of one that the server turned away"
    )
    func behindGateway() async throws {
        for (status, sent) in [(502, [true, true, false]), (500, [true, true, false]), (503, [true, false])] {
            let answers = Locked([HTTPResponse(status: status)])
            let stub = StubTransport { _ in answers.withLock { $0.popLast() } ?? Self.ok }
            let rig = OutboxRig(stub)
            rig.outbox.start()
            let like = try await Self.toggle(rig)
            like.set(true)
            try await like.stored()
            let id = try #require(try await rig.outbox.pending().first?.id)
            let receipt = try #require(try await rig.outbox.receipt(for: id, SetLike.self))
            for await state in receipt.states where state.isWaiting { break }
            like.set(false)
            try await like.stored()
            rig.outbox.wake()
            await rig.advance { stub.requests.count == sent.count }
            try await like.settled()
            #expect(stub.requests.map(Self.isLiked) == sent, "\(status)")
            #expect(!like.value)
            await rig.outbox.close()
        }
    }

    @Test("Two toggles of one thing: the last tap of either is written, and both show it")
    func twoToggles() async throws {
        let script = ScriptedTransport([.respond(Self.ok)])
        let rig = OutboxRig(script)
        let (list, page) = (try await Self.toggle(rig), try await Self.toggle(rig))
        list.set(true)
        try await list.stored()
        let updates = list.updates  // who listens before the other one is tapped is told
        page.set(true)
        try await page.stored()
        page.set(false)
        try await page.stored()
        for await shown in updates where !shown.value {
            #expect(shown.isPending, "the write of the other one is waited for")
            break
        }
        rig.outbox.start()
        try await page.settled()
        try await list.settled()
        #expect(!list.value && !page.value)
        #expect(script.requests.count == 1)
        #expect(!Self.isLiked(script.requests.first?.request))
        await rig.outbox.close()
    }

    @Test(
        "When what took the place of a tap says nothing of the switch, what was tapped stays shown, and nothing is waited for"
    )
    func replacedByAnother() async throws {
        let rig = OutboxRig(StubTransport())
        let like = try await Self.toggle(rig)
        like.set(true)
        try await like.stored()
        _ = try await rig.outbox.put(SetLike(product: 1, isLiked: false))
        try await like.settled()
        #expect(like.value)
        for await shown in like.updates {
            #expect(shown.value && !shown.isPending && shown.failure == nil)
            break
        }
    }

    @Test("When the outbox is closed before a tap is delivered, those who wait are told; the tap stays on disk")
    func closed() async throws {
        let rig = OutboxRig(StubTransport())
        let like = try await Self.toggle(rig)
        like.toggle()
        try await like.stored()
        let waiter = Task { try await like.settled() }
        await rig.outbox.close()
        await #expect { try await waiter.value } throws: { error in
            if case .over(.closed) = error as? OutboxError { true } else { false }
        }
        #expect(like.value)
        #expect(try await rig.outbox.counts().pending == 1)
    }

    @Test("Cancelling a task ends its wait for a tap, and nothing else")
    func cancelled() async throws {
        let rig = OutboxRig(StubTransport())
        let like = try await Self.toggle(rig)
        like.toggle()
        let waiter = Task { try await like.settled() }
        waiter.cancel()
        await #expect { try await waiter.value } throws: { error in
            if case .over(.closed) = error as? OutboxError { true } else { false }
        }
        try await like.stored()
        #expect(like.value)
        #expect(try await rig.outbox.counts().pending == 1)
    }

    @Test("While the cipher's key cannot be had no toggle is made, since nobody knows what is wanted")
    func withoutKey() async throws {
        let (store, cipher) = (MemoryOutboxStore(), TestCipher())
        let first = OutboxRig(StubTransport(), store: store, cipher: cipher)
        let like = try await Self.toggle(first)
        like.toggle()
        try await like.stored()
        let later = OutboxRig(StubTransport(), store: store, cipher: LockedCipher())
        await #expect {
            _ = try await Self.toggle(later)
        } throws: { error in
            if case .cipher(let cause) = error as? OutboxError { cause is OutboxCipherUnavailable } else { false }
        }
    }

    private struct LockedCipher: OutboxCipher {
        func seal(_ plain: Data, for context: String) throws -> Data { throw OutboxCipherUnavailable() }
        func open(_ sealed: Data, for context: String) throws -> Data { throw OutboxCipherUnavailable() }
    }

    @Test("A toggle that is made while its write is being delivered shows what that has set, and waits for nothing")
    func deliveredMeanwhile() async throws {
        let memory = MemoryOutboxStore()
        let first = try await Self.toggle(OutboxRig(StubTransport(), store: memory))
        first.toggle()
        try await first.stored()
        let rig = OutboxRig(StubTransport(), store: PassingStore(memory: memory))
        let like = try await Self.toggle(rig)
        #expect(like.value)
        try await like.settled()
    }

    @Test("What is shown ends with the toggle")
    func ended() async throws {
        let rig = OutboxRig(StubTransport())
        var like: OutboxToggle? = try await Self.toggle(rig)
        let updates = try #require(like?.updates)
        like = nil
        var seen: [Bool] = []
        for await update in updates { seen.append(update.value) }
        #expect(seen == [false])
    }

    @Test("Who looks late sees the newest alone")
    func lateLook() async throws {
        let rig = OutboxRig(StubTransport())
        var like: OutboxToggle? = try await Self.toggle(rig)
        let updates = try #require(like?.updates)
        like?.toggle()
        try await like?.stored()
        like = nil
        var seen: [Bool] = []
        for await update in updates { seen.append(update.value) }
        #expect(seen == [true])
    }

    @Test("A write of another fold than the toggle's is refused")
    func wrongFold() async throws {
        let rig = OutboxRig(StubTransport())
        await #expect(throws: OutboxError.self) {
            _ = try await OutboxToggle("like/2", initially: false, in: rig.outbox) { SetLike(product: 1, isLiked: $0) }
        }
    }
}
