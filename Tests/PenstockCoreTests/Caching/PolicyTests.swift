import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite struct PolicyTests {
    static let fresh = "max-age=100"

    /// The steps of a plan in words: `deliver fresh, send policy`. An exclamation mark means that nothing steps in.
    static func plan(
        _ policy: CachePolicy, _ control: String?, after seconds: TimeInterval = 1, request: HTTPFields = [:],
        method: HTTPMethod = .get
    ) throws -> String {
        let stored = try control.map { try CacheFixtures.stored(["Cache-Control": $0, "ETag": "\"1\""]) }
        let query = try CacheFixtures.query(method, request, [stored ?? nil].compactMap(\.self), policy: policy)
        return query.plan(now: CacheFixtures.start + seconds).map(words).joined(separator: ", ")
    }

    static func words(_ step: CacheStep) -> String {
        switch step {
        case .deliver(let hit): "deliver \(hit.reason.rawValue)"
        case .send(let exchange): "\(verb(exchange)) \(exchange.reason.rawValue)" + (exchange.mayFallBack ? "" : "!")
        case .refresh(let exchange): "refresh \(exchange.reason.rawValue)"
        case .refuse(let reason): "refuse \(reason.rawValue)"
        }
    }

    static func verb(_ exchange: CacheExchange) -> String {
        exchange.request.fields.contains("If-None-Match") ? "ask" : "send"
    }

    /// Policy, what is stored, seconds since it came, and the steps.
    static let table: [(CachePolicy, String?, TimeInterval, String)] = [
        (.http, nil, 1, "send uri-miss"),
        (.http, fresh, 1, "deliver fresh"),
        (.http, fresh, 101, "ask expired"),
        (
            .http, "max-age=100, stale-while-revalidate=9", 101,
            "deliver stale-while-revalidate, refresh stale-while-revalidate"
        ),
        (.cacheOnly, nil, 1, "refuse cache-only"),
        (.cacheOnly, fresh, 1, "deliver fresh"),
        (.cacheOnly, fresh, 101, "refuse cache-only"),
        (.cacheOnly, "max-age=100, stale-while-revalidate=9", 101, "refuse cache-only"),
        (
            CachePolicy(.cacheOnly, maxStale: .seconds(50)), "max-age=100, stale-while-revalidate=9", 101,
            "deliver max-stale"
        ),
        (CachePolicy(.http, maxStale: .zero), "max-age=100, stale-while-revalidate=9", 101, "ask expired"),
        (CachePolicy(.http, maxStale: .seconds(-1)), "max-age=100, stale-while-revalidate=9", 101, "ask expired"),
        (
            CachePolicy(.http, maxStale: .seconds(1)), "max-age=100, stale-while-revalidate=9", 105,
            "deliver stale-while-revalidate, refresh stale-while-revalidate"
        ),
        (CachePolicy(.cacheThenNetwork, maxStale: .zero), "max-age=100, stale-while-revalidate=9", 101, "ask expired"),
        (CachePolicy(.cacheOnly, maxStale: .seconds(50)), fresh, 149, "deliver max-stale"),
        (CachePolicy(.cacheOnly, maxStale: .seconds(50)), fresh, 151, "refuse cache-only"),
        (CachePolicy(.cacheOnly, maxStale: .seconds(50)), "max-age=1, must-revalidate", 9, "refuse cache-only"),
        (CachePolicy(.cacheOnly, ttl: .zero), fresh, 1, "refuse cache-only"),
        (.cacheThenNetwork, nil, 1, "send uri-miss"),
        (.cacheThenNetwork, fresh, 1, "deliver fresh, ask policy!"),
        (.cacheThenNetwork, fresh, 101, "ask expired"),
        (
            .cacheThenNetwork, "max-age=100, stale-while-revalidate=9", 101,
            "deliver stale-while-revalidate, ask policy!"
        ),
        (CachePolicy(.cacheThenNetwork, maxStale: .seconds(50)), fresh, 149, "deliver max-stale, ask policy!"),
        (CachePolicy(.cacheThenNetwork, maxStale: .seconds(50)), fresh, 151, "ask expired"),
        (CachePolicy(.cacheThenNetwork, maxStale: .seconds(50)), "max-age=1, must-revalidate", 9, "ask expired"),
        (CachePolicy(.cacheThenNetwork, maxStale: .zero), fresh, 100, "ask expired"),
        (.reload, nil, 1, "send uri-miss!"),
        (.reload, fresh, 1, "ask policy!"),
        (.reload, fresh, 101, "ask policy!"),
        (CachePolicy(.reload, ttl: .zero), fresh, 1, "send policy!"),
        (.networkElseCache, nil, 1, "send uri-miss"),
        (.networkElseCache, fresh, 1, "ask policy"),
        (.networkElseCache, fresh, 101, "ask policy"),
        (.networkOnly, nil, 1, "send policy!"),
        (.networkOnly, fresh, 1, "send policy!"),
        (CachePolicy(.http, ttl: .zero), fresh, 1, "send policy!"),
        (CachePolicy(.networkElseCache, ttl: .seconds(-1)), fresh, 1, "send policy!"),
    ]

    @Test(.covers("S2.9"), arguments: table) func `each mode has its steps`(
        policy: CachePolicy, stored: String?, elapsed: TimeInterval, steps: String
    ) throws {
        #expect(try Self.plan(policy, stored, after: elapsed) == steps)
    }

    @Test(arguments: [CachePolicy.networkElseCache, .reload, .http])
    func `a part that cannot answer is completed, whatever the mode`(policy: CachePolicy) throws {
        let part = try #require(
            try CacheFixtures.stored(
                ["Cache-Control": "max-age=100", "Content-Range": "bytes 0-4/10", "ETag": "\"1\""], status: 206,
                length: 5))
        let query = try CacheFixtures.query(.get, [:], [part], policy: policy)
        guard case .send(let exchange) = query.plan(now: CacheFixtures.start).first else {
            Issue.record("nothing is sent")
            return
        }
        #expect(exchange.purpose == .complete && exchange.request.fields["Range"] == "bytes=5-")
    }

    @Test func `a week is what is tolerated where nothing was said`() {
        #expect(CachePolicy.defaultMaxStale == .seconds(604_800))
        #expect(!CachePolicy(.http).isRead)
    }

    @Test(arguments: CachePolicy.Mode.allCases) func `only-if-cached sends nothing in any mode`(
        mode: CachePolicy.Mode
    ) throws {
        let request: HTTPFields = ["Cache-Control": "only-if-cached"]
        for stored in [nil, Self.fresh] {
            let steps = try Self.plan(CachePolicy(mode), stored, request: request)
            let isRead = stored != nil && mode != .networkOnly
            let refusal = mode == .cacheOnly ? "refuse cache-only" : "refuse only-if-cached"
            #expect(steps == (isRead ? "deliver fresh" : refusal))
        }
    }

    @Test(arguments: CachePolicy.Mode.allCases) func `a write is sent in every mode that sends, and never answered`(
        mode: CachePolicy.Mode
    ) throws {
        let steps = try Self.plan(CachePolicy(mode), Self.fresh, method: .post)
        let expected: [CachePolicy.Mode: String] = [
            .cacheOnly: "refuse cache-only", .networkOnly: "send policy!", .reload: "send method!",
        ]
        #expect(steps == expected[mode] ?? "send method")
    }

    @Test(arguments: CachePolicy.Mode.allCases) func `what may be stored is the mode's to say`(
        mode: CachePolicy.Mode
    ) throws {
        let arrival = CacheFixtures.arrival(["Cache-Control": "max-age=60"])
        let isStoring = ![.cacheOnly, .networkOnly].contains(mode)
        let refusal = try CacheFixtures.query(policy: CachePolicy(mode)).storageRefusal(of: arrival)
        #expect(refusal == (isStoring ? nil : .policy))
        let silent = try CacheFixtures.query(.get, ["Cache-Control": "no-store"], policy: CachePolicy(mode))
        #expect(silent.storageRefusal(of: arrival) == (isStoring ? .requestNoStore : .policy))
    }

    // MARK: Failures

    static let week = 604_800.0
    static let bounded = CachePolicy(.networkElseCache, maxStale: .seconds(50))
    static let status = CacheFailure.status(503)

    /// Policy, response and request directives, failure, seconds since the response came (fresh for 100), and whether
    /// it steps in.
    static let failures: [(CachePolicy, String, String, CacheFailure, TimeInterval, Bool)] = [
        (.networkElseCache, "", "", .disconnected, 50, true),
        (.networkElseCache, "", "", .disconnected, 99 + week, true),
        (.networkElseCache, "", "", .disconnected, 101 + week, false),
        (.networkElseCache, "", "", status, 99 + week, true),
        (.networkElseCache, "", "", .status(404), 50, false),
        (.networkElseCache, "", "", .status(501), 50, false),
        (bounded, "", "", .disconnected, 149, true),
        (bounded, "", "", .disconnected, 151, false),
        (bounded, "stale-if-error=80", "", .disconnected, 179, true),
        (bounded, "stale-if-error=20", "", .disconnected, 149, true),
        (bounded, "", "stale-if-error=80", status, 179, true),
        (bounded, "", "stale-if-error=80", status, 181, false),
        (bounded, "must-revalidate", "", .disconnected, 50, true),
        (bounded, "must-revalidate", "", .disconnected, 101, false),
        (bounded, "must-revalidate, stale-if-error=80", "", status, 101, false),
        (bounded, "no-cache", "", .disconnected, 1, false),
        (bounded, "", "no-cache", .disconnected, 1, false),
        (bounded, "", "no-cache, stale-if-error=80", .disconnected, 1, true),
        (bounded, "", "max-age=10", .disconnected, 20, false),
        (bounded, "", "no-store", .disconnected, 1, false),
        (CachePolicy(.networkElseCache, maxStale: .zero), "", "", .disconnected, 99, true),
        (CachePolicy(.networkElseCache, maxStale: .zero), "", "", .disconnected, 100, false),
        (CachePolicy(.networkElseCache, maxStale: .zero), "", "", status, 101, false),
        (CachePolicy(.networkElseCache, maxStale: .zero), "stale-if-error=80", "", status, 101, false),
        (CachePolicy(.networkElseCache, maxStale: .seconds(-9)), "stale-if-error=80", "", status, 101, false),
        (CachePolicy(.networkElseCache, maxStale: .zero), "", "stale-if-error=80", status, 179, true),
        // The clock stands so far before the time at which the response came that nobody knows how old it is.
        (.networkElseCache, "", "", .disconnected, -61, false),
        (bounded, "", "", status, -61, false),
        (bounded, "", "", status, -59, true),
        (.http, "", "", .disconnected, 99 + week, true),
        (.http, "", "", .disconnected, 101 + week, false),
        (.http, "", "", status, 101, false),
        (.http, "", "", status, 100, false),
        (.http, "stale-if-error=0", "", status, 100, false),
        (.http, "stale-if-error=1", "", status, 101, true),
        (.http, "stale-if-error=60", "", status, 160, true),
        (.networkElseCache, "", "", .disconnected, 100 + week, true),
        (.http, "stale-if-error=60", "", status, 159, true),
        (.http, "stale-if-error=60", "", status, 161, false),
        (.http, "stale-if-error=60", "", .status(500), 101, true),
        (.http, "stale-if-error=60", "", .status(501), 101, false),
        (.http, "stale-if-error=60", "", .status(522), 160, true),
        (.http, "stale-if-error=60", "", .status(522), 161, false),
        (.http, "", "", .status(522), 101, false),
        (CachePolicy(.http, maxStale: .seconds(10)), "", "", status, 109, true),
        (CachePolicy(.http, maxStale: .seconds(10)), "", "", status, 111, false),
        (CachePolicy(.networkElseCache, ttl: .seconds(100)), "no-cache, must-revalidate", "", status, 300, true),
        (.networkOnly, "stale-if-error=60", "", .disconnected, 101, false),
    ]

    @Test(arguments: failures) func `a stored response steps in within its bounds, and never against a prohibition`(
        policy: CachePolicy, response: String, request: String, failure: CacheFailure, elapsed: TimeInterval,
        steps: Bool
    ) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100, \(response)"])
        let fields: HTTPFields = request.isEmpty ? [:] : ["Cache-Control": request]
        let query = try CacheFixtures.query(.get, fields, [stored].compactMap(\.self), policy: policy)
        let hit = query.fallback(for: failure, now: CacheFixtures.start + elapsed)
        #expect((hit != nil) == steps)
        if let hit { #expect(hit.isStale == (elapsed >= 100)) }
    }

    /// Seconds since a response came that was stored with a lifetime of 100, the lifetime of the call, what it does, and whether
    /// the response steps in for no answer.
    static let lifetimes: [(TimeInterval, Duration?, String, Bool)] = [
        (99, nil, "deliver fresh", true),
        (100, nil, "ask no-cache", false),
        (-61, nil, "ask no-cache", false),
        (99, .seconds(50), "ask expired", true),
        (100, .seconds(50), "ask expired", true),
        (100, .seconds(200), "deliver fresh", true),
    ]

    @Test(arguments: lifetimes)
    func `another call's lifetime stands in place of the server's rules for as long as it lasts`(
        elapsed: TimeInterval, ttl: Duration?, step: String, stepsIn: Bool
    ) throws {
        for control in ["no-cache", "must-revalidate"] {
            let stored = try CacheFixtures.stored(
                ["Cache-Control": control, "ETag": "\"1\""], policy: CachePolicy(.http, ttl: .seconds(100)))
            let query = try CacheFixtures.query(
                .get, [:], [stored].compactMap(\.self), policy: CachePolicy(.http, ttl: ttl))
            let now = CacheFixtures.start + elapsed
            let reason = elapsed < 0 ? "ask clock-moved-back" : "ask expired"
            let expected = control == "must-revalidate" && step == "ask no-cache" ? reason : step
            #expect(query.plan(now: now).map(Self.words) == [expected])
            #expect((query.fallback(for: .disconnected, now: now) != nil) == stepsIn)
        }
    }

    @Test func `every 5xx but 501 and 505 says that the server failed`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        let query = try CacheFixtures.query(.get, [:], [stored].compactMap(\.self), policy: .networkElseCache)
        let stepsIn = (100...600).filter { query.fallback(for: .status($0), now: CacheFixtures.start + 101) != nil }
        #expect(stepsIn == (500...599).filter { $0 != 501 && $0 != 505 })
    }

    @Test func `an invalidated response never steps in`() throws {
        var stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100"]))
        stored.isInvalidated = true
        let query = try CacheFixtures.query(.get, [:], [stored], policy: .networkElseCache)
        #expect(query.fallback(for: .disconnected, now: CacheFixtures.start) == nil)
    }

    @Test func `a server error to whom nothing may step in for is the answer, and takes nothing's place`() throws {
        let stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100"]))
        let error = CacheFixtures.arrival(["Cache-Control": "max-age=60"], status: 503, at: 30)
        for policy in [CachePolicy.reload, .cacheThenNetwork] {
            let query = try CacheFixtures.query(.get, [:], [stored], policy: policy)
            let reception = query.receive(error, to: query.load(.policy).withoutFallback)
            guard case .response = reception.answer else {
                Issue.record("\(reception.answer)")
                continue
            }
            #expect(reception.insertion == nil && reception.refusal == .error)
        }
    }

    @Test func `a server error is answered by what steps in, and is not stored`() throws {
        let stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=1, stale-if-error=60"]))
        let query = try CacheFixtures.query(.get, [:], [stored])
        let error = CacheFixtures.arrival(["Cache-Control": "max-age=60"], status: 503, at: 30)
        let reception = query.receive(error)
        guard case .stored(let hit) = reception.answer else {
            Issue.record("\(reception.answer)")
            return
        }
        #expect(hit.reason == .staleIfError && hit.isStale && hit.ttl == -29)
        #expect(reception.insertion == nil && reception.refusal == .error)
    }

    /// What the server and the request say beside a lifetime of 100 s, the status of an answer 40 s after that, and whether what
    /// is stored steps in for it where the call takes it for a success.
    static let accepted: [(String, String, Int, Bool)] = [
        ("", "", 503, false), ("", "", 555, false), ("stale-if-error=60", "", 503, true),
        ("stale-if-error=60", "", 500, true), ("stale-if-error=60", "", 555, false),
        ("stale-if-error=30", "", 503, false), ("", "stale-if-error=60", 504, true),
        ("must-revalidate, stale-if-error=60", "", 503, false),
    ]

    @Test(arguments: accepted)
    func `a status that means success is the answer, unless what is stale was asked for in its place`(
        response: String, request: String, status: Int, stepsIn: Bool
    ) throws {
        for policy in [CachePolicy.networkElseCache, CachePolicy(.http, maxStale: .seconds(1_000))] {
            let stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100, \(response)"]))
            let fields: HTTPFields = request.isEmpty ? [:] : ["Cache-Control": request]
            let query = try CacheFixtures.query(.get, fields, [stored], policy: policy)
            var arrival = CacheFixtures.arrival(["Cache-Control": "max-age=60"], status: status, at: 140)
            arrival.isAccepted = true
            let reception = query.receive(arrival)
            if case .stored = reception.answer { #expect(stepsIn) } else { #expect(!stepsIn) }
            // What may step in for it elsewhere stays.
            if !response.hasPrefix("must") { #expect(reception.insertion == nil && reception.refusal == .error) }
        }
    }
}
