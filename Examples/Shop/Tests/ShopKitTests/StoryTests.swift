import ShopServer
import Testing

@testable import Shop

/// The demo.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct StoryTests {
    @Test("The story is told to its end, and says what happened")
    func wholeStory() async throws {
        var lines: [String] = []
        try await Story.run { lines.append($0) }
        let facts = [
            "   5 calls were refused at the same time, and the token was renewed 1 time",
            "   each was sent once more: 5 answers, 11 requests in all",
            "     1  Teapot, 24.90, 12 in stock, china, new",
            "   business error 1001: wrong account or password",
            "   Welcome, Alice. You are u-17.",
            "   the server knew alice by the common parameters; 10 of 12 are left",
            "   handed to the courier",
            "   it took 3 connections: each went on where the one before had ended",
            "   in the tunnel: 1 order on disk, none at the shop",
            "   in the open: order 2, 1 × Cup; 39 of 40 are left",
            "   the user saw ♥♡♥♡♥♡♥♡♥",
            "   the shop was told 2 times, and has the last",
            "   Teapot: 24.90",
            "   closure:  Teapot, Cup, Oolong, Gift card",
            "   requests at the server: 1",
            "   begun after the switch:  Test coffee bar, while the other was still under way",
            "   the server saw 3 of them end; results that arrived: 0",
            "   unreachable: connectionRefused",
            "   3 products were asked for, and each was answered 503 once: Teapot, Cup, Oolong",
            "   requests that the server saw: 6, and for an order, which may not be sent twice: 1",
            "   invalid parameter: quantity must be from 1 to 99",
            "   requests that reached a server: 0",
            "   the server saw GET /p/3, then GET /products/3",
            "   one after the other: Teapot, Cup, Oolong, Gift card",
            "   three at once, in the order they were asked for: Oolong, Teapot, Cup",
            "   the second call was made of what the first one brought: /products?page=1, then /products/1",
            "   30 taps, requests at the server: 1",
            "   cacheOnly, nothing kept: This is not available offline.",
            "   networkElseCache: network, kept",
            "   cacheThenNetwork: memory, then revalidated",
            "   http, still good: memory",
            "   the server is gone: memory, marked as stale",
            "   after a logout nothing is left of what was kept for the user",
            "The end: 23 chapters, 62 requests at 3 servers.",
        ]
        for fact in facts { #expect(lines.contains(fact), "the story does not say: \(fact)") }
        #expect(lines.last == facts.last)
    }

    @Test("A surprise ends the story with the name of its chapter")
    func surprise() async throws {
        let world = try World(.test)
        defer { world.close() }
        var lines: [String] = []
        let error = await #expect(throws: Surprise.self) { try await Story(at: world).tell { lines.append($0) } }
        #expect(error?.description.contains("The right password") == true)
        #expect(lines.last == "3. The right password")
    }
}
