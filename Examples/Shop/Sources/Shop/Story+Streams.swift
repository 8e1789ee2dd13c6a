import Penstock
import ShopKit

extension Story {
    func followOrder() async throws -> [String] {
        let before = world.development.wire.requestCount
        var lines: [String] = []
        for try await step in shop.orders.steps(of: 1).values { lines.append("\(step.step)") }
        let connections = world.development.wire.requestCount - before
        try expect(lines.last == "delivered", "the order was lost after: \(lines)")
        return lines + ["it took \(connections) connections: each went on where the one before had ended"]
    }

    func readPriceList() async throws -> [String] {
        var lines: [String] = []
        for try await product in try await shop.products.priceList() {
            lines.append("\(product.name): \(amount(product.price))")
        }
        try expect(!lines.isEmpty, "the list is empty")
        return lines
    }
}
