import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// Modules that have processing and servers of their own.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ModuleTests {
    @Test("What one module adds to its calls changes no byte of another's", .covers("S1.6"))
    func ownProcessing() async throws {
        let (plainProducts, plainOrder) = try await requests { OrderAPI(client: $0, outbox: $1, reference: { "A-1" }) }
        let (products, order) = try await requests { OrderAPI(client: $0, outbox: $1, reference: { "B-2" }) }
        #expect(plainProducts == products)
        #expect(!products.contains("Reference"))
        #expect(plainOrder.contains("A-1") && !plainOrder.contains("B-2"))
        #expect(order == plainOrder.replacing("A-1", with: "B-2"))
    }

    /// The bytes of a call for products and of an order, by one client, with a given way to order.
    private func requests(_ makeOrders: (APIClient, Outbox) -> OrderAPI) async throws -> (
        products: String, order: String
    ) {
        let stub = StubTransport()
        stub.on(.get, "/api/products", .json(#"{"retcode":0,"data":{"title":"Tea","products":[]}}"#))
        stub.on(.post, "/api/orders", .json(#"{"retcode":2001,"retdesc":"sold out"}"#))
        let shop = stubbed(stub)
        let orders = makeOrders(shop.client, shop.outbox)
        await #expect(throws: APIError.self) { try await orders.placeOrder(of: 1, quantity: 1) }
        _ = try await ProductAPI(client: shop.client, outbox: shop.outbox).products(page: 1)
        let sent = stub.requests.map(\.wireText)
        try #require(sent.count == 2)
        return (sent[1], sent[0])
    }

    @Test("Two services have two hosts in one environment", .covers("S1.24"))
    func twoServices() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            _ = try await shop.products.products(page: 1)
            _ = try await shop.places.stores()
            #expect(world.development.wire.requests.map(\.path) == ["/user/login", "/products"])
            #expect(world.places.wire.requests.map(\.target) == ["/stores"])
        }
    }

    @Test("What the shop is told of its user, another company is not")
    func noLoginForOthers() async throws {
        try await withWorld { world, shop in
            try await shop.users.login(account: "alice", password: "open sesame")
            _ = try await shop.places.stores()
            let request = try #require(world.places.wire.requests.last)
            #expect(request.query == nil)
            #expect(request.fields["X-App"] == nil)
        }
    }

    @Test("One reply makes rows for a list and pins for a map")
    func reformers() async throws {
        try await withWorld { world, shop in
            let stores = try await shop.places.stores()
            let rows = try await stores.reformed(with: StoreRows())
            let pins = try await stores.reformed(with: StorePins())
            #expect(rows.map(\.title) == ["Market", "Old Town", "Quay"])
            #expect(rows.first?.subtitle == "Dam 12, Amsterdam")
            #expect(pins.map(\.label) == ["Old Town", "Market", "Quay"])
            #expect(pins.first == StorePin(label: "Old Town", latitude: 53.216, longitude: 6.566))
            #expect(world.places.wire.requestCount == 1)
        }
    }
}
