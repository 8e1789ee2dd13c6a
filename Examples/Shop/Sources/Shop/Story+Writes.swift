import Penstock
import ShopKit

/// What may not be lost, and what may not be sent nine times.
extension Story {
    func orderInTunnel() async throws -> [String] {
        let before = try await shop.products.product(2)
        tunnel.isClosed = true
        let receipt = try await shop.orders.placeOrderForSure(of: 2, quantity: 1)
        for await state in receipt.states {
            if case .waiting = state { break }
        }
        let waiting = try await shop.outbox.counts().pending
        tunnel.isClosed = false
        shop.outbox.wake()
        let order = try await receipt.value
        let after = try await shop.products.product(2)
        try expect(order.product.id == 2 && order.quantity == 1, "the order is \(order)")
        try expect(after.stock == before.stock - 1, "the stock went from \(before.stock) to \(after.stock)")
        return [
            "in the tunnel: \(waiting) order on disk, none at the shop",
            "in the open: order \(order.id), \(order.quantity) × \(order.product.name); \(after.stock) of \(before.stock) are left",
        ]
    }

    func tapHeart() async throws -> [String] {
        let heart = try await shop.products.like(of: 1, isLiked: false)
        let seen = world.development.wire.requestCount
        // The finger is faster than the shop.
        let shown = try await world.development.holdingReplies {
            var shown = ""
            for tap in 1...9 {
                heart.toggle()
                shown += heart.value ? "♥" : "♡"
                if tap == 1 { try await world.development.wire.waitForRequests(count: seen + 1) }
            }
            try await heart.stored()
            return shown
        }
        try await heart.settled()
        let likes = try await shop.products.likes(of: 1)
        try expect(heart.value && likes.isLiked, "the heart shows \(heart.value), the shop has \(likes.isLiked)")
        try expect(likes.writes == 2, "the shop was told \(likes.writes) times")
        return ["the user saw \(shown)", "the shop was told \(likes.writes) times, and has the last"]
    }
}
