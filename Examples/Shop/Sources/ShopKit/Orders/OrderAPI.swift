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

    /// Orders for the user who is logged in, now or as soon as that is possible: the order is on disk when this returns, and
    /// the shop books it once.
    public func placeOrderForSure(
        of product: Product.ID, quantity: Int
    ) async throws(OutboxError) -> OutboxReceipt<Order> {
        try await outbox.put(PlaceOrder(productId: product, quantity: quantity))
    }

    /// What happens to an order, as it happens, until it is delivered.
    public func steps(of order: Order.ID) -> AsyncThrowingMapSequence<ServerSentEvents, OrderStep> {
        client.events(of: FollowOrder(id: order)).map { event async throws in try event.value(OrderStep.self) }
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
    var lane: OutboxLane { "orders" }

    static let parameterRules: ParameterRules<Self> = [.range("quantity", \.quantity, 1...99)]
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
}
