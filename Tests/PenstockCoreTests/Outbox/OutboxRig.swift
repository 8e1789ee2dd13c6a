import Foundation
import PenstockTestSupport
import PenstockTesting

@testable import PenstockCore

struct BookOrder: OutboxEndpoint {
    typealias Output = Product
    var cart = "1"
    var quantity = 1
    var note: String?
    var route: Route { .post("/carts/\(cart)/orders") }
    var lane: OutboxLane { "cart/\(cart)" }
    var headers: HeaderEdits { ["X-Order": "yes"] }
    var invalidates: [CacheSelection] { [.tag("orders")] }

    static var parameterRules: ParameterRules<Self> { [.range("quantity", \.quantity, 1...99)] }

    func verdict(on answer: OutboxAnswer) -> OutboxVerdict? {
        switch answer.status {
        case 409 where note == "done": .done
        case 422 where note == "again": .again(after: .seconds(30))
        default: nil
        }
    }
}

/// Stops its lane, is numbered, and stays when its user signs out.
struct KeepEntry: OutboxEndpoint {
    typealias Output = Void
    var text: String
    var route: Route { .put("/diary") }
    static var outboxPolicy: OutboxPolicy {
        OutboxPolicy(lifetime: .seconds(1_000), afterFailure: .stopLane, signOut: .keep, numberField: "X-Number")
    }
}

struct SetLike: OutboxEndpoint {
    typealias Output = Void
    var product: Int
    var isLiked: Bool
    var route: Route { .put("/likes/\(product, name: "product")") }
    var lane: OutboxLane { "like/\(product)" }
    var fold: OutboxFold? { "like/\(product)" }
}

/// A client over a transport, an outbox over a store, and a clock that stands still.
final class OutboxRig: Sendable {
    let clock = TestClock()
    let transport: any Transport
    let client: APIClient
    let store: any OutboxStore
    let outbox: Outbox
    let user: Locked<String>

    static let types: [any OutboxEndpoint.Type] = [BookOrder.self, KeepEntry.self, SetLike.self]

    /// - Parameter seed: another one for each of those that share a store, or their writes have the same numbers.
    init(
        _ transport: any Transport, store: any OutboxStore = MemoryOutboxStore(), user: Locked<String> = Locked("anna"),
        types: [any OutboxEndpoint.Type] = OutboxRig.types, cipher: (any OutboxCipher)? = nil, seed: UInt64 = 5,
        _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) {
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.development: "https://api.example.com", .test: "https://test.example.com"])
        ])
        configuration.environment = .development
        configuration.time = clock.timeSource
        configuration.identity = { user.withLock { $0 } }
        configuration.cache = .none
        let seeded = Locked(Seeded(seed: seed))
        configuration.random = RandomSource { seeded.withLock { $0.next() } }
        change(&configuration)
        self.user = user
        self.transport = transport
        self.store = store
        client = APIClient(configuration, transport: transport)
        outbox = Outbox(client, store: store, .init(endpoints: types, cipher: cipher))
    }

    var owner: OutboxOwner {
        OutboxOwner(identity: client.configuration.identity(), environment: client.environment.name)
    }

    /// Moves the clock on, from one sleeper to the next, until a write has come to an end.
    func advance<Output>(until receipt: OutboxReceipt<Output>, by step: Duration = .milliseconds(250)) async {
        await advance(by: step) { receipt.state.isLast || receipt.state.isFailed }
    }

    func advance(by step: Duration = .milliseconds(250), until isReached: @Sendable () -> Bool) async {
        while !Task.isCancelled, !isReached() {
            if clock.sleeperCount > 0 { clock.advance(by: step) }
            await Task.yield()
        }
    }
}

extension OutboxState {
    var isFailed: Bool { if case .undeliverable = self { true } else { false } }
    var isWaiting: Bool { if case .waiting = self { true } else { false } }
}
