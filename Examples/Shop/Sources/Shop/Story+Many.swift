import Foundation
import Penstock
import ShopKit

extension Story {
    func turnPages() async throws -> [String] {
        let before = world.development.wire.requestCount
        var names: [String] = []
        for try await product in shop.products.everything { names.append(product.name) }
        let hits = world.development.wire.requestCount - before
        try expect(names.count == 4 && hits == 2, "\(names.count) products came of \(hits) requests")
        return [
            "one after the other: \(names.joined(separator: ", "))",
            "pages that were asked for: \(hits), the last one empty",
        ]
    }

    func askTogether() async throws -> [String] {
        let (catalogue, cup) = try await shop.products.front(with: 2)
        let three = try await shop.products.products([3, 1, 2]).map(\.name)
        try expect(three == ["Oolong", "Teapot", "Cup"], "they came as \(three)")
        return [
            "two at once, each of its own type: \(catalogue.title), and \(cup.name)",
            "three at once, in the order they were asked for: \(three.joined(separator: ", "))",
        ]
    }

    func askInTurn() async throws -> [String] {
        let before = world.development.wire.requestCount
        let product = try await shop.products.firstInDetail()
        let targets = world.development.wire.requests.dropFirst(before).map(\.target)
        try expect(targets == ["/products?page=1", "/products/1"], "the server saw \(targets)")
        return [
            "the second call was made of what the first one brought: \(targets.joined(separator: ", then "))",
            "what came: \(product.name)",
        ]
    }

    func tapAway() async throws -> [String] {
        try await inFolder { folder in
            let before = world.development.wire.requestCount
            let log = try await shop.events.log(in: folder.appendingPathComponent("taps.log"))
            for number in 1...30 { log.record(Tap("row \(number)")) }
            try await world.development.wire.waitForRequests(count: before + 1)
            await log.flush()
            let (left, hits) = (await log.count, world.development.wire.requestCount - before)
            await log.close()
            try expect(left == 0 && hits == 1, "\(hits) requests, and \(left) taps are left")
            return ["30 taps, requests at the server: \(hits)"]
        }
    }
}
