import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Several outboxes of one process, and types that are mistaken for one another.
@Suite(.timeLimit(.minutes(5)))
struct OutboxSharingTests {
    private static let answer = HTTPResponse.json(#"{"id":7,"name":"tea"}"#)

    @Test("A receipt has the output that another outbox of the same store object was given")
    func twoOutboxes() async throws {
        let store = MemoryOutboxStore()
        let stub = StubTransport { _ in Self.answer }
        let (idle, busy) = (OutboxRig(StubTransport(), store: store), OutboxRig(stub, store: store, seed: 6))
        let changes = idle.outbox.changes
        let receipt = try await idle.outbox.put(BookOrder())
        busy.outbox.start()
        #expect(try await receipt.value.name == "tea")
        var seen: [OutboxState] = []
        for await change in changes where change.id == receipt.id {
            seen.append(change.state)
            if change.state.isLast { break }
        }
        #expect(seen == [.sending(attempt: 1), .done])
        await busy.outbox.close()
        await idle.outbox.close()
    }

    @Test("What another outbox has in hand is not taken for settled elsewhere before the end of it is told")
    func inHand() throws {
        let store = MemoryOutboxStore()
        let (one, other) = (OutboxFeeds(of: store), OutboxFeeds(of: store))
        let stranger = OutboxFeeds(of: MemoryOutboxStore())
        let id = OutboxID()
        one.takesInHand(.these([id]))
        one.takesInHand(.these([id]))
        one.letsGo(of: .these([id]))
        #expect(one.isInHand(id) && other.isInHand(id) && !stranger.isInHand(id))
        let feed = other.feed(for: id, .queued)
        one.tellSettledElsewhere(id)
        #expect(feed.state == .queued)
        stranger.tell(id, .discarded)
        #expect(feed.state == .queued)
        one.tell(id, .done)
        #expect(feed.state == .done)
        one.letsGo(of: .these([id]))
        #expect(!other.isInHand(id))
    }

    enum Shop {
        struct Order: OutboxEndpoint {
            typealias Output = Void
            var route: Route { .post("/orders") }
        }
    }

    enum Kitchen {
        struct Order: OutboxEndpoint {
            typealias Output = Void
            var route: Route { .post("/meals") }
        }
    }

    @Test("Two types of one outboxName are refused, by the names of both")
    func oneName() async throws {
        for types in [[Shop.Order.self, Kitchen.Order.self], [Kitchen.Order.self]] as [[any OutboxEndpoint.Type]] {
            let rig = OutboxRig(StubTransport(), types: types)
            let error = await #expect(throws: OutboxError.self) { try await rig.outbox.put(Shop.Order()) }
            guard case .request(let refusal)? = error, case .invalidConfiguration(let reason) = refusal.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("Shop.Order") && reason.contains("Kitchen.Order"))
            #expect(try await rig.outbox.counts() == OutboxCounts())
        }
        _ = try await OutboxRig(StubTransport(), types: [Shop.Order.self, Shop.Order.self]).outbox.put(Shop.Order())
    }

    /// Gives nothing and heeds nothing.
    private struct Deaf: AsyncSequence, Sendable {
        typealias Element = Void
        let end: Gate

        struct Gate: Sendable {
            let content = Monitor(false)
        }

        struct AsyncIterator: AsyncIteratorProtocol {
            let end: Gate
            mutating func next() async -> Void? {
                await end.content.wait(until: { $0 })
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(end: end) }
    }

    @Test("Closing does not wait for a sequence that does not heed the end of its task")
    func deafSignals() async throws {
        let end = Deaf.Gate()
        let rig = OutboxRig(StubTransport { _ in Self.answer })
        rig.outbox.start(wakingOn: Deaf(end: end))
        _ = try await rig.outbox.put(BookOrder()).value
        await rig.outbox.close()
        end.content.withLock { $0 = true }
    }
}
