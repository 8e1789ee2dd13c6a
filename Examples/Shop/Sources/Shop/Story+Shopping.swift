import Penstock
import ShopKit

extension Story {
    func listProducts() async throws -> [String] {
        let catalogue = try await shop.products.products(page: 1)
        try expect(!catalogue.products.isEmpty, "the catalogue is empty")
        return ["\(catalogue.title):"] + catalogue.products.map(describe)
    }

    private func describe(_ product: Product) -> String {
        let tags = product.tags.isEmpty ? "" : ", " + product.tags.joined(separator: ", ")
        return "  \(product.id)  \(product.name), \(amount(product.price)), \(product.stock) in stock\(tags)"
    }

    func failToLogIn() async throws -> [String] {
        let error = try await failure { try await shop.users.login(account: "alice", password: Secret.guess) }
        guard case .business(let code, let message) = error.kind, code == .wrongPassword else { throw error }
        try expect(shop.session.user == nil, "a refused login was kept")
        return ["business error \(code): \(message)", "the user reads: \(error.localizedDescription)"]
    }

    func logIn() async throws -> [String] {
        let user = try await shop.users.login(account: "alice", password: Secret.password)
        try expect(shop.session.user == user, "the login was not kept")
        return ["Welcome, \(user.name). You are \(user.id)."]
    }

    func placeOrder() async throws -> [String] {
        let before = try await shop.products.product(1)
        let order = try await shop.orders.placeOrder(of: 1, quantity: 2)
        try expect(order.total == 2 * before.price, "the total is \(order.total)")
        try expect(
            order.product.stock == before.stock - 2, "the stock went from \(before.stock) to \(order.product.stock)")
        return [
            "order \(order.id): \(order.quantity) × \(order.product.name) for \(amount(order.total))",
            "the server knew \(order.account) by the common parameters; \(order.product.stock) of \(before.stock) are left",
        ]
    }

    func breakRule() async throws -> [String] {
        let before = world.requestCount
        let error = try await failure { try await shop.orders.placeOrder(of: 1, quantity: 100) }
        guard case .invalidParameter(let field, let reason) = error.kind else { throw error }
        let hits = world.requestCount - before
        try expect(hits == 0, "\(hits) requests reached a server")
        return ["invalid parameter: \(field) \(reason)", "requests that reached a server: \(hits)"]
    }
}
