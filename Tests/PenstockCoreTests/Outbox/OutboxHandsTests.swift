import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What becomes of a write while somebody looks for it in vain: of its end tells whoever has brought it about.
@Suite(.timeLimit(.minutes(5)))
struct OutboxHandsTests {
    /// One of several that replace one another, each in a lane of its own.
    private struct Vote: OutboxEndpoint {
        typealias Output = Void
        var number: Int
        var route: Route { .put("/votes/\(number)") }
        var lane: OutboxLane { "vote/\(number)" }
        var fold: OutboxFold? { "vote" }
    }

    enum Removal: CaseIterable, Sendable {
        case discard, forget, replace
    }

    private static let like = SetLike(product: 1, isLiked: true)

    /// An outbox that has nothing to do, and has looked.
    private static func idle(_ store: PassingStore, user: String = "anna", seed: UInt64 = 5) async -> OutboxRig {
        let rig = OutboxRig(
            StubTransport(), store: store, user: Locked(user), types: OutboxRig.types + [Vote.self], seed: seed)
        rig.outbox.start()
        await store.questions.waitUnlessCancelled { $0.next > 0 }
        return rig
    }

    /// Puts a write that is not sent before the end of the test.
    private static func put<E: OutboxEndpoint>(_ endpoint: E, _ rig: OutboxRig) async throws -> OutboxReceipt<E.Output>
    {
        let end = rig.outbox.time.now() + .seconds(600)
        return try await rig.outbox.put(endpoint, intent: nil, rollback: nil, rest: end)
    }

    /// What was told of a write, up to the last of it.
    private static func told(_ id: OutboxID, _ rig: OutboxRig, _ changes: AsyncStream<OutboxChange>) async
        -> [OutboxState]
    {
        await rig.outbox.close()
        return await changes.reduce(into: []) { if $1.id == id { $0.append($1.state) } }
    }

    @Test(
        "What an outbox removes or replaces is told as that, though its sender finds it gone before",
        arguments: Removal.allCases)
    func removed(_ removal: Removal) async throws {
        let store = PassingStore(passes: false)
        let rig = await Self.idle(store)
        let changes = rig.outbox.changes
        let receipt = try await Self.put(Self.like, rig)
        store.delayAnswer { await store.look(at: receipt.id, by: rig.outbox) }
        let end: OutboxState
        switch removal {
        case .discard:
            #expect(try await rig.outbox.discard(receipt.id))
            end = .discarded
        case .forget:
            rig.user.withLock { $0 = "ben" }
            #expect(try await rig.outbox.forget(identity: "anna") == 1)
            end = .discarded
        case .replace: end = .replaced(by: try await Self.put(SetLike(product: 1, isLiked: false), rig).id)
        }
        #expect(receipt.state == end)
        #expect(await Self.told(receipt.id, rig, changes) == [end])
    }

    @Test(
        "What is told of a write as the last is the last, though a sender that has looked before finds it gone after that"
    )
    func goneBefore() async throws {
        let store = PassingStore(passes: false)
        let rig = await Self.idle(store)
        let changes = rig.outbox.changes
        let receipt = try await Self.put(Self.like, rig)
        store.delayLookup { _ = try? await rig.outbox.discard(receipt.id) }
        await store.look(at: receipt.id, by: rig.outbox)
        #expect(await Self.told(receipt.id, rig, changes) == [.discarded])
    }

    @Test("What a later write of its fold has undone is told as replaced, though another outbox finds it gone before")
    func undone() async throws {
        let store = PassingStore(passes: false)
        let script = ScriptedTransport([
            .respond(HTTPResponse(status: 500)), .held(.respond(HTTPResponse(status: 204))),
        ])
        let rig = OutboxRig(script, store: store, types: OutboxRig.types + [Vote.self])
        let other = await Self.idle(store, user: "ben", seed: 6)
        let first = try await rig.outbox.put(Vote(number: 1))
        let watched = try #require(try await other.outbox.receipt(for: first.id, Vote.self))
        rig.outbox.start()
        await rig.advance(by: .milliseconds(1)) { first.state.isWaiting }
        let second = try await rig.outbox.put(Vote(number: 2))
        await script.waitForExchanges(count: 2)
        store.delayAnswer { await store.look(at: first.id, by: other.outbox) }
        script.release()
        try await second.value
        await rig.outbox.close()
        #expect(watched.state == .replaced(by: second.id))
        await other.outbox.close()
    }

    @Test(
        "A write that another process settles while an outbox removes in vain is told, and the clock stands still",
        arguments: [Removal.discard, .forget])
    func settledMeanwhile(_ removal: Removal) async throws {
        let store = PassingStore(passes: false)
        let rig = await Self.idle(store)
        let receipt = try await Self.put(Self.like, rig)
        store.delayAnswer { () async throws(OutboxStoreError) in
            _ = try await store.memory.remove(receipt.id)
            await store.look(at: receipt.id, by: rig.outbox)
            throw .busy
        }
        await #expect(throws: OutboxError.self) {
            switch removal {
            case .discard: try await rig.outbox.discard(receipt.id)
            default: try await rig.outbox.forget(identity: "ben")
            }
        }
        await #expect {
            try await receipt.value
        } throws: { error in
            if case .over(.settledElsewhere) = error as? OutboxError { true } else { false }
        }
        await rig.outbox.close()
    }

    @Test("A write that another process settles while another outbox removes others is told within seconds")
    func settledBesideAnother() async throws {
        let store = PassingStore(passes: false)
        let rig = await Self.idle(store)
        let other = OutboxRig(StubTransport(), store: store, seed: 6)
        let receipt = try await Self.put(Self.like, rig)
        store.delayAnswer { () async throws(OutboxStoreError) in
            _ = try await store.memory.remove(receipt.id)
            await store.look(at: receipt.id, by: rig.outbox)
        }
        #expect(try await other.outbox.forget(identity: "ben") == 0)
        let start = rig.clock.now.offset
        await rig.advance(until: receipt, by: .milliseconds(100))
        #expect(receipt.state == .settledElsewhere)
        #expect(rig.clock.now.offset - start < .seconds(5))
        await other.outbox.close()
        await rig.outbox.close()
    }
}
