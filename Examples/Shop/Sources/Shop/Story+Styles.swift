import Penstock
import ShopKit

extension Story {
    func useThreeStyles() async throws -> [String] {
        let awaited = try await shop.products.products(page: 1).products.map(\.name)

        let told = try await withCheckedContinuation { told in
            shop.products.products(page: 1) { result in told.resume(returning: result) }
        }.get().products.map(\.name)

        let screen = CatalogueScreen(shop.products)
        let call = screen.show(page: 1)
        _ = try await call.value

        try expect(told == awaited && screen.names == awaited, "the styles disagree")
        return [
            "async:    \(list(awaited))",
            "closure:  \(list(told))",
            "delegate: \(list(screen.names)), by the handle of \(call.id)",
        ]
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    func reformTwice() async throws -> [String] {
        let before = world.places.wire.requestCount
        let stores = try await shop.places.stores()
        let rows = try await stores.reformed(with: StoreRows())
        let pins = try await stores.reformed(with: StorePins())
        let hits = world.places.wire.requestCount - before
        try expect(hits == 1, "\(hits) requests were made")
        try expect(!rows.isEmpty && rows.count == pins.count, "\(rows.count) rows, \(pins.count) pins")
        return rows.map { "row  \($0.title): \($0.subtitle)" }
            + pins.map { "pin  \($0.label) at \($0.latitude), \($0.longitude)" }
            + ["requests at the server: \(hits)"]
    }
}
