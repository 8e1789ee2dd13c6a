import ShopServer
import Synchronization
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
            "   signed by the app, and checked by the shop: 10 % off",
            "   not signed: 401; signed by another secret: 401; sent a second time: 401",
            "   the app reads: payment 1, 49.80 by card …1234",
            "   sealed for another key than the till's: 400",
            "   logged in, ended, started again: Alice has 2 orders, and the card of a member",
            "   logins in between: 0; what was on disk is encrypted, and says nothing of it",
            "   asked for at development, answered by test: Test coffee bar",
            "   answered by no server: sold out, says a rule",
            "   not sent: the rule no old links drops the request",
            "   requests that reached development: 0, and test: 1",
            "   ██████████████████████████████ 100 %, 8192 KiB",
            "   On the beach: beach.jpg, 8388608 bytes, and the shop has the very same",
            "   ██████████████████████████████ 100 %, 1024 KiB",
            "   cut after 600000 of 1048576 bytes; the app has asked for all of it, and then for the rest",
            "   seven.mp4 is the film, byte for byte, and nothing else is in the folder",
            "   GET /chat became a websocket",
            "   the shop says what it is told: Is the tea fresh? ♥",
            "   by the key that is pinned: 20.00 on the card",
            "   by any other: pinMismatch, though the authority is trusted; requests that reached the server: 0",
            "   after a logout nothing is left of what was kept for the user",
            "The end: 31 chapters, 78 requests at 5 servers.",
        ]
        for fact in facts { #expect(lines.contains(fact), "the story does not say: \(fact)") }
        #expect(lines.last == facts.last)
        // Nobody knows what the sealed bytes are, but what they begin with.
        #expect(lines.contains { $0.hasPrefix("   on the wire POST /payments as application/jose: eyJ") })
        #expect(lines.contains { $0.hasPrefix("   and back: eyJ") })
    }

    @Test("A bar is drawn while a file goes up or comes down, in many steps, and is taken away")
    func bars() async throws {
        let drawn = Mutex<[String]>([])
        let world = try World()
        defer { world.close() }
        let story = Story(at: world) { line in drawn.withLock { $0.append(line) } }
        for chapter in [story.sendPicture, story.watchFilm] {
            drawn.withLock { $0 = [] }
            _ = try await chapter()
            let lines = drawn.withLock { $0 }
            #expect(Set(lines).count > 4 && lines.last == "")
            #expect(lines.dropLast().allSatisfy { $0.contains(" %, ") && $0.hasSuffix("KiB") })
            // Whoever draws sees the newest progress, so a slow machine may pass over the first.
            let done = lines.dropLast().compactMap { line in
                line.split(separator: " %").first?.split(separator: " ").last.flatMap { Int($0) }
            }
            #expect(done.first.map { $0 < 50 } == true && done == done.sorted())
            #expect(lines.dropLast().last?.contains("█ 100 %") == true)
        }
        await story.shop.end()
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
