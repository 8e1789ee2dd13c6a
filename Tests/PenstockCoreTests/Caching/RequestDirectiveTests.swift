import Foundation
import PenstockCore
import Testing

@Suite struct RequestDirectiveTests {
    static let fresh = "max-age=100"

    /// Response and request `Cache-Control`, seconds after the response came, and the decision.
    static let table: [(String, String, TimeInterval, String)] = [
        (fresh, "max-age=50", 40, "use fresh"),
        (fresh, "max-age=50", 50, "use fresh"),
        (fresh, "max-age=50", 50.1, "revalidate request-max-age"),
        (fresh, "max-age=50", 60, "revalidate request-max-age"),
        (fresh, "max-age=0", 0, "revalidate request-max-age"),
        (fresh, "max-age=50, max-age=10", 0, "revalidate request-max-age"),
        (fresh, "max-age=x", 0, "revalidate request-max-age"),
        (fresh, "max-age=\"50\"", 40, "use fresh"),
        (fresh, "min-fresh=50", 40, "use fresh"),
        (fresh, "min-fresh=50", 50, "use fresh"),
        (fresh, "min-fresh=0", 100, "revalidate expired"),
        (fresh, "min-fresh=0, max-stale", 101, "use max-stale"),
        (fresh, "min-fresh=1", 99, "use fresh"),
        (fresh, "min-fresh=1", 99.5, "revalidate request-min-fresh"),
        (fresh, "max-stale=0", 100, "use max-stale"),
        (fresh, "max-stale=50", 150, "use max-stale"),
        (fresh, "min-fresh=50", 60, "revalidate request-min-fresh"),
        (fresh, "min-fresh=200", 0, "revalidate request-min-fresh"),
        (fresh, "no-cache", 1, "revalidate request-no-cache"),
        (fresh, "No-Cache, max-stale", 1, "revalidate request-no-cache"),
        (fresh, "no-store", 1, "load request-no-store"),
        (fresh, "unknown=1, other", 1, "use fresh"),
        (fresh, "only-if-cached", 1, "use fresh"),
        (fresh, "only-if-cached", 101, "refuse only-if-cached"),
        (fresh, "only-if-cached, max-stale=5", 104, "use max-stale"),
        (fresh, "only-if-cached, no-store", 1, "refuse only-if-cached"),
        (fresh, "max-stale", 1_000_000, "use max-stale"),
        (fresh, "max-stale=50", 149, "use max-stale"),
        (fresh, "max-stale=50", 151, "revalidate expired"),
        (fresh, "max-stale=x", 101, "revalidate expired"),
        (fresh, "max-stale;x", 101, "revalidate expired"),
        (fresh, "max-stale, max-stale", 101, "revalidate expired"),
        (fresh, "max-stale, max-stale=50", 101, "revalidate expired"),
        (fresh, "max-stale=50, max-stale=50", 150, "use max-stale"),
        (fresh, "min-fresh=x", 99, "use fresh"),
        (fresh, "min-fresh=50, min-fresh=60", 99, "use fresh"),
        ("max-age=100, immutable", "max-age=0", 100, "revalidate request-max-age"),
        (fresh, "max-stale=50, max-stale=60", 101, "revalidate expired"),
        (fresh, "max-stale=50, max-age=120", 130, "revalidate request-max-age"),
        (fresh, "max-stale=50, max-age=120", 110, "use max-stale"),
        ("max-age=100, must-revalidate", "max-stale", 99, "use fresh"),
        ("max-age=100, must-revalidate", "max-stale", 101, "revalidate expired"),
        ("max-age=100, proxy-revalidate", "max-stale", 101, "use max-stale"),
        ("max-age=100, no-cache", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache", "max-stale", 1, "revalidate no-cache"),
        ("max-age=100, No-Cache=\"\"", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\",\"", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\"x-a, x-b\"", "", 1, "use fresh"),
        ("max-age=100, no-cache=\"x-a, x b\"", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\"x b, x-a\"", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\"x-a\", no-cache=\"x-b\"", "", 1, "use fresh"),
        ("max-age=100, no-cache=\"x-a\", no-cache=\"x b\"", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\"x-a\", no-cache", "", 1, "revalidate no-cache"),
        ("max-age=100, no-cache=\"x-a", "", 1, "revalidate no-cache"),
        ("max-age=100, immutable", "max-age=0", 1, "use fresh"),
        ("max-age=100, immutable", "no-cache", 1, "revalidate request-no-cache"),
        ("max-age=100, immutable", "max-age=10", 50, "revalidate request-max-age"),
        ("max-age=100, immutable", "max-age=0", 101, "revalidate request-max-age"),
        ("max-age=100, stale-while-revalidate=50", "", 99, "use fresh"),
        ("max-age=100, stale-while-revalidate=50", "", 149, "use and refresh stale-while-revalidate"),
        ("max-age=100, stale-while-revalidate=50", "", 150, "use and refresh stale-while-revalidate"),
        ("max-age=100, stale-while-revalidate=0", "", 100, "revalidate expired"),
        ("max-age=100", "", 100, "revalidate expired"),
        ("max-age=100, stale-while-revalidate=1", "", 100, "use and refresh stale-while-revalidate"),
        ("max-age=100, stale-while-revalidate=50", "", 151, "revalidate expired"),
        ("max-age=100, stale-while-revalidate=50, must-revalidate", "", 101, "revalidate expired"),
        ("max-age=100, stale-while-revalidate=50", "max-age=120", 130, "revalidate request-max-age"),
        ("max-age=100, stale-while-revalidate=50", "only-if-cached", 120, "use stale-while-revalidate"),
        ("max-age=100, stale-while-revalidate=x", "", 101, "revalidate expired"),
        ("max-age=0, stale-while-revalidate=50", "", 20, "use and refresh stale-while-revalidate"),
    ]

    @Test(arguments: table) func `directives of both sides decide`(
        response: String, request: String, elapsed: TimeInterval, decision: String
    ) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": response, "ETag": "\"1\""])
        let fields: HTTPFields = request.isEmpty ? [:] : ["Cache-Control": request]
        #expect(try CacheFixtures.decide(fields, [stored], after: elapsed) == decision)
    }

    @Test func `Pragma counts where there is no Cache-Control`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        #expect(try CacheFixtures.decide(["Pragma": "no-cache"], [stored], after: 1) == "load request-no-cache")
        #expect(try CacheFixtures.decide(["Pragma": "x"], [stored], after: 1) == "use fresh")
        let both: HTTPFields = ["Pragma": "no-cache", "Cache-Control": "max-stale"]
        #expect(try CacheFixtures.decide(both, [stored], after: 1) == "use fresh")
    }

    @Test func `directives in several lines count together`() throws {
        var fields: HTTPFields = ["Cache-Control": "max-stale"]
        fields.append("no-cache", for: "Cache-Control")
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        #expect(try CacheFixtures.decide(fields, [stored], after: 1) == "load request-no-cache")
    }

    @Test(arguments: [
        (HTTPMethod.get, "use fresh"), (.head, "use fresh"), (.post, "load method"), (.put, "load method"),
        (.options, "load method"), (.delete, "load method"),
    ]) func `GET and HEAD are answered from the cache`(method: HTTPMethod, decision: String) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        #expect(try CacheFixtures.decide([:], [stored], after: 1, method: method) == decision)
    }

    @Test func `HEAD gets the fields and no content`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100", "Content-Length": "10"])
        let hit = try CacheFixtures.hit([:], stored, method: .head)
        #expect(hit?.content == nil)
        #expect(hit?.fields["Content-Length"] == "10")
        #expect(hit?.status == 200)
    }

    @Test func `nothing stored is a miss, and an invalidated response is asked about`() throws {
        #expect(try CacheFixtures.decide([:], [], after: 0) == "load uri-miss")
        #expect(try CacheFixtures.decide(["Cache-Control": "only-if-cached"], [], after: 0) == "refuse only-if-cached")
        var stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100", "ETag": "\"1\""]))
        stored.isInvalidated = true
        #expect(try CacheFixtures.decide([:], [stored], after: 0) == "revalidate invalidated")
        #expect(
            try CacheFixtures.decide(["Cache-Control": "max-stale"], [stored], after: 0) == "revalidate invalidated")
    }
}
