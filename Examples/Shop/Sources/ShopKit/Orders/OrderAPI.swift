import Foundation
import Penstock

/// Buying. This module adds processing of its own to its calls, which no other module sees.
public struct OrderAPI: Sendable {
    private let client: APIClient
    private let outbox: Outbox

    /// - Parameters:
    ///   - outbox: delivers what is ordered without a network.
    ///   - reference: makes the number by which customer service finds an order.
    public init(
        client: APIClient, outbox: Outbox, reference: @escaping @Sendable () -> String = { UUID().uuidString }
    ) {
        self.outbox = outbox
        self.client = client.with { $0.callInterceptors.append(OrderReference(make: reference)) }
    }

    /// Orders for the user who is logged in.
    public func placeOrder(of product: Product.ID, quantity: Int) async throws(APIError) -> Order {
        try await client.send(PlaceOrder(productId: product, quantity: quantity))
    }

    /// What the user who is logged in has ordered, the first first.
    public func orders() async throws(APIError) -> [Order] {
        try await client.send(OrderList())
    }

    /// Orders for the user who is logged in, now or as soon as that is possible: the order is on disk when this returns, and
    /// the shop books it once.
    public func placeOrderForSure(
        of product: Product.ID, quantity: Int
    ) async throws(OutboxError) -> OutboxReceipt<Order> {
        try await outbox.put(PlaceOrder(productId: product, quantity: quantity))
    }

    /// What happens to an order, as it happens, until it is delivered.
    public func steps(of order: Order.ID) -> ServerSentEvents<OrderStep> {
        client.events(of: FollowOrder(id: order))
    }
}

/// Something that happened to an order.
public struct OrderStep: Decodable, Hashable, Sendable {
    public let step: String
}

struct FollowOrder: Endpoint {
    typealias Output = OrderStep
    let id: Order.ID
    var route: Route { .get("/orders/\(id, name: "id")/events") }
}

struct PlaceOrder: OutboxEndpoint {
    typealias Output = Order
    let productId: Product.ID
    let quantity: Int
    var route: Route { .post("/orders") }
    var validator: Validator<Order> { .priced }
    var invalidates: [CacheSelection] { [.tag("orders")] }
    var lane: OutboxLane { "orders" }

    static let parameterRules: ParameterRules<Self> = [.range("quantity", \.quantity, 1...99)]
}

struct OrderList: Endpoint {
    typealias Output = [Order]
    var route: Route { .get("/orders") }
    var validator: Validator<[Order]> { .rule("every order is priced") { $0.allSatisfy(\.isPriced) } }
    var cacheTags: [String] { ["orders"] }
}

extension Validator<Order> {
    /// A total that is not the price of the goods is a mistake that a customer must not see.
    static let priced = Validator.rule("the total is the price of the goods") { $0.isPriced }
}

/// Gives every order a reference: one for a call, however often it is sent.
struct OrderReference: Interceptor {
    let make: @Sendable () -> String

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        var request = request
        request.fields["X-Order-Reference"] = make()
        return try await next(request)
    }
}

/// An order that the shop has taken.
public struct Order: Decodable, Hashable, Sendable, Identifiable {
    public let id: Int
    public let product: Product
    public let quantity: Int
    /// In cents.
    public let total: Int
    /// Who ordered, as the server knows it.
    public let account: String
    @Default<Empty> public var reference: String

    var isPriced: Bool { total == product.price * quantity }
}
