import Penstock
import PenstockTesting
import Testing

@testable import Shop
@testable import ShopKit

/// Screens, which own their calls.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ScreenTests {
    @Test("Async, closure and delegate give the same products")
    func threeStyles() async throws {
        try await withWorld { world, shop in
            let awaited = try await shop.products.products(page: 1)
            var told: [Catalogue] = []
            let call = shop.products.products(page: 1) { told.append(contentsOf: (try? [$0.get()]) ?? []) }
            _ = try await call.value
            let screen = CatalogueScreen(shop.products)
            _ = try await screen.show(page: 1).value
            #expect(told == [awaited])
            #expect(screen.names == awaited.products.map(\.name))
            #expect(screen.complaint == nil)
            #expect(Set(world.development.wire.requests.map(\.target)) == ["/products?page=1"])
        }
    }

    @Test("A delegate hears of a failure in the app's words")
    func complaint() async throws {
        try await withWorld { _, shop in
            try shop.switchEnvironment(to: .preRelease)
            let screen = CatalogueScreen(shop.products)
            await #expect(throws: APIError.self) { try await screen.show(page: 1).value }
            #expect(screen.complaint == "The shop is out of reach. Are you online?")
            #expect(screen.names.isEmpty)
        }
    }

    @Test("The calls of a page end with it, and nothing of them arrives")
    func leave() async throws {
        try await withWorld { world, shop in
            var shown = 0
            var page: ReviewScreen? = ReviewScreen(shop.products) { _ in shown += 1 }
            let calls = page?.load([1, 2, 3]) ?? []
            try await world.development.wire.waitForRequests(count: 3)
            page = nil
            for call in calls {
                let error = await #expect(throws: APIError.self) { try await call.value }
                #expect(error?.kind == .cancelled)
            }
            try await world.development.wire.waitForAborts(count: 3)
            #expect(shown == 0)
        }
    }

    @Test("A call under way stays with its environment when the app goes to another")
    func switchUnderWay() async throws {
        try await withWorld { world, shop in
            let (early, late) = try await world.development.holdingReplies {
                let early = shop.products.products(page: 1) { _ in }
                try await world.development.wire.waitForRequests(count: 1)
                try shop.switchEnvironment(to: .test)
                let late = try await shop.products.products(page: 1)
                #expect(shop.client.callCount == 1)
                return (early, late)
            }
            #expect(late.title == "Test coffee bar")
            #expect(try await early.value.title == "Development tea room")
            #expect(world.test.wire.requestCount == 1)
        }
    }
}
