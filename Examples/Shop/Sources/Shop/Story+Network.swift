import Penstock
import ShopKit

extension Story {
    /// The development server reads a request and waits with its answer until the switch is made.
    func switchEnvironment() async throws -> [String] {
        let server = world.development
        let seen = server.wire.requestCount
        let (early, late) = try await server.holdingReplies {
            let early = shop.products.products(page: 1) { _ in }
            try await server.wire.waitForRequests(count: seen + 1)
            try shop.switchEnvironment(to: .test)
            let late = try await shop.products.products(page: 1)
            try expect(shop.client.callCount == 1, "\(shop.client.callCount) calls are under way in place of one")
            return (early, late)
        }
        let response = try await early.response
        try shop.switchEnvironment(to: .development)
        try expect(response.value.title != late.title, "both calls went to \(late.title)")
        return [
            "begun before the switch: \(response.value.title), from \(response.request.url.origin)",
            "begun after the switch:  \(late.title), while the other was still under way",
        ]
    }

    func leavePage() async throws -> [String] {
        let server = world.development.wire
        let (requests, aborts) = (server.requestCount, server.abortCount)
        var shown = 0
        var page: ReviewScreen? = ReviewScreen(shop.products) { _ in shown += 1 }
        let calls = page?.load([1, 2, 3]) ?? []
        try await server.waitForRequests(count: requests + calls.count)
        page = nil
        try await server.waitForAborts(count: aborts + calls.count)
        for call in calls { _ = await call.result }
        try expect(shown == 0, "\(shown) results arrived at a page that was gone")
        return [
            "\(calls.count) calls were under way when the page went",
            "the server saw \(server.abortCount - aborts) of them end; results that arrived: \(shown)",
        ]
    }

    func missServer() async throws -> [String] {
        try shop.switchEnvironment(to: .preRelease)
        let error = try await failure { try await shop.products.products(page: 1) }
        try shop.switchEnvironment(to: .development)
        guard case .unreachable(let why) = error.kind else { throw error }
        try expect(error.sendState == .unsent, "something was sent")
        return ["unreachable: \(why)", "the user reads: \(error.localizedDescription)"]
    }

    /// Every request is turned away once with a 503. What may be sent again is, after a moment; an order is not.
    func surviveRush() async throws -> [String] {
        let server = world.development
        let seen = server.wire.requestCount
        let shop = shop
        let names = try await server.inRush {
            async let first = shop.products.product(1)
            async let second = shop.products.product(2)
            async let third = shop.products.product(3)
            return try await [first, second, third].map(\.name)
        }
        let requests = server.wire.requestCount - seen
        try expect(requests == 2 * names.count, "the server saw \(requests) requests")
        let refused = try await server.inRush {
            try await failure { try await shop.orders.placeOrder(of: 1, quantity: 1) }
        }
        guard case .httpStatus(503) = refused.kind else { throw refused }
        let orders = server.wire.requestCount - seen - requests
        try expect(orders == 1, "the order was sent \(orders) times")
        return [
            "\(names.count) products were asked for, and each was answered 503 once: \(names.joined(separator: ", "))",
            "requests that the server saw: \(requests), and for an order, which may not be sent twice: \(orders)",
        ]
    }

    func followRedirect() async throws -> [String] {
        let server = world.development.wire
        let seen = server.requestCount
        let product = try await shop.products.product(inNewsletter: 3)
        let hops = server.requests.dropFirst(seen).map { "\($0.method) \($0.path)" }
        try expect(hops.count == 2, "the server saw \(hops)")
        return [
            "the server saw \(hops.joined(separator: ", then "))",
            "what came: \(product.name), \(amount(product.price))",
        ]
    }
}
