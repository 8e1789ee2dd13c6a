import Foundation
import PenstockCore
import Testing

@Suite struct FreshnessTests {
    /// Fields of a response, and how many seconds it is fresh (0: never).
    static let lifetimes: [(HTTPFields, Int)] = [
        (["Cache-Control": "max-age=100"], 100),
        (["Cache-Control": "MAX-AGE=100"], 100),
        (["Cache-Control": "max-age=00100"], 100),
        (["Cache-Control": "max-age=\"100\""], 100),
        (["Cache-Control": "max-age=100, max-age=100"], 100),
        (["Cache-Control": "foo=\"max-age=1, x\", max-age=100, bar"], 100),
        (["Cache-Control": "max-age=100, ext=\"a\\\"b, max-age=1\""], 100),
        (["Cache-Control": ",, max-age=100 ,"], 100),
        (["Cache-Control": "max-age=100, s-maxage=1"], 100),
        (["Cache-Control": "max-age=1, s-maxage=100"], 1),
        (["Cache-Control": "max-age=100, proxy-revalidate, private=\"x\""], 100),
        (["Cache-Control": "max-age=1000000000"], 1_000_000_000),
        (["Cache-Control": "max-age=00000000000100"], 100),
        (["Cache-Control": "max-age=0"], 0),
        (["Cache-Control": "max-age=\"000000000000000000000000\""], 0),
        (["Cache-Control": "max-age=9999999999"], 2_147_483_648),
        (["Cache-Control": "max-age=2147483647"], 2_147_483_647),
        (["Cache-Control": "max-age=2147483648"], 2_147_483_648),
        (["Cache-Control": "max-age=2147483649"], 2_147_483_648),
        (["Cache-Control": "max-age=99999999999999999999999"], 2_147_483_648),
        // What is no number is stale, and does not fall back on Expires.
        (["Cache-Control": "max-age=-1", "Expires": "Fri, 31 Dec 2099 00:00:00 GMT"], 0),
        (["Cache-Control": "max-age=1.5"], 0),
        (["Cache-Control": "max-age='100'"], 0),
        (["Cache-Control": "max-age=\"100:\""], 0),
        (["Cache-Control": "max-age=\"/100\""], 0),
        (["Cache-Control": "max-age=\"\""], 0),
        (["Cache-Control": "max-age=100a"], 0),
        (["Cache-Control": "max-age=100 200"], 0),
        (["Cache-Control": "max-age =100"], 0),
        (["Cache-Control": "max-age= 100"], 0),
        (["Cache-Control": "max-age="], 0),
        (["Cache-Control": "max-age"], 0),
        (["Cache-Control": "max-age=100, max-age=200"], 0),
        (["Cache-Control": "max-age=\"100"], 0),
        (["Cache-Control": "x-max-age=100"], 0),
        // Expires
        (["Date": date(0), "Expires": date(100)], 100),
        (["Date": date(-50), "Expires": date(100)], 150),
        (["Expires": date(100)], 100),
        (["Date": "yesterday", "Expires": date(100)], 100),
        (["Date": date(0), "Expires": date(0)], 0),
        (["Date": date(0), "Expires": date(-1)], 0),
        (["Expires": "0"], 0),
        (["Expires": "-1"], 0),
        (["Expires": "", "Last-Modified": date(-10_000)], 0),
        (["Expires": "Fri, 31 Dec 2099 00:00:00 UTC"], 0),
        // Nearly a date is none.
        (["Expires": "Fri,  31 Dec 2099 00:00:00 GMT"], 0),
        (["Expires": "Fri, 31 Dec 2099  00:00:00 GMT"], 0),
        (["Expires": "Fri, 31 Dec 2099 0:00:00 GMT"], 0),
        (["Expires": "Fri,31 Dec 2099 00:00:00 GMT"], 0),
        (["Expires": "Thu Dec 31 00:00:00  2099"], 0),
        (["Expires": "Thu Dec 1 00:00:00 2099"], 0),
        (["Expires": date(100), "Cache-Control": "max-age=5"], 5),
        (["Expires": date(-100), "Cache-Control": "max-age=5"], 5),
        (["Expires": date(100), "Cache-Control": "s-maxage=5"], 100),
        (["Expires": date(100), "Last-Modified": date(-10_000)], 100),
        (["Expires": date(1)], 1),
        (["Date": date(0), "Last-Modified": date(-10)], 1),
        (["Date": date(0), "Last-Modified": date(-864_000)], 86_400),
        (["Date": date(0), "Last-Modified": date(-863_990)], 86_399),
        (["Date": date(0), "Last-Modified": date(0)], 0),
        // A tenth of the time since the last change, a day at most.
        (["Date": date(0), "Last-Modified": date(-1_000)], 100),
        (["Last-Modified": date(-1_000)], 100),
        (["Date": date(0), "Last-Modified": date(-100_000_000)], 86_400),
        (["Date": date(0), "Last-Modified": date(10)], 0),
        (["Date": date(0), "Last-Modified": "last week"], 0),
        (["Pragma": "no-cache", "Cache-Control": "max-age=100"], 100),
        ([:], 0),
    ]

    static func date(_ offset: TimeInterval) -> String { CacheFixtures.date(offset) }

    @Test(arguments: lifetimes) func `a response is fresh for as long as its fields say`(
        fields: HTTPFields, seconds: Int
    ) throws {
        let stored = try #require(try CacheFixtures.stored(fields))
        // A Date in the past is an age of its own.
        let age = fields[HTTPFieldName("Date")] == Self.date(-50) ? 50.0 : 0
        let end = TimeInterval(seconds) - age
        let late = try CacheFixtures.decide([:], [stored], after: max(end, 0))
        #expect(late != "use fresh")
        if seconds > 0 { #expect(try CacheFixtures.decide([:], [stored], after: end - 0.5) == "use fresh") }
    }

    @Test func `several lines of Expires are no date`() throws {
        var fields: HTTPFields = ["Expires": Self.date(100)]
        fields.append(Self.date(200), for: "Expires")
        #expect(try CacheFixtures.decide([:], [CacheFixtures.stored(fields)], after: 1) == "load expired")
    }

    @Test(arguments: [
        (200, true), (203, true), (204, true), (300, true), (301, true), (308, true), (404, true), (405, true),
        (410, true), (414, true), (501, true), (201, false), (202, false), (302, false), (400, false), (403, false),
        (500, false), (502, false), (599, false),
    ]) func `without a lifetime, some statuses are reused by guess, and others only when public`(
        status: Int, isGuessed: Bool
    ) throws {
        let fields: HTTPFields = ["Last-Modified": Self.date(-10_000), "ETag": "\"1\""]
        let plain = try CacheFixtures.stored(fields, status: status)
        #expect((plain != nil) == isGuessed)
        if isGuessed { #expect(try CacheFixtures.decide([:], [plain], after: 10) == "use fresh") }
        var open = fields
        open[HTTPFieldName("Cache-Control")] = "public"
        #expect(try CacheFixtures.decide([:], [CacheFixtures.stored(open, status: status)], after: 10) == "use fresh")
    }

    /// Status and fields, and how long it is fresh by guess: what has moved for good stays there.
    @Test(
        arguments: [
            (301, ["Location": "/b"], 86_400), (308, ["Location": "/b"], 86_400), (301, [:], 0),
            (301, ["Location": "/b", "Cache-Control": "max-age=5"], 5), (301, ["Location": "/b", "Expires": "0"], 0),
            (300, ["Location": "/b"], 0), (302, ["Location": "/b", "Cache-Control": "public"], 0),
            (309, ["Location": "/b", "Cache-Control": "public"], 0), (200, ["Location": "/b"], 0),
            (301, ["Location": "/b", "Last-Modified": date(-10)], 86_400),
        ] as [(Int, HTTPFields, TimeInterval)])
    func `a permanent redirect is fresh for a day where nothing else is said`(
        status: Int, fields: HTTPFields, seconds: TimeInterval
    ) throws {
        let stored = try CacheFixtures.stored(fields, status: status)
        #expect(try CacheFixtures.decide([:], [stored], after: seconds) != "use fresh")
        if seconds > 0 { #expect(try CacheFixtures.decide([:], [stored], after: seconds - 0.5) == "use fresh") }
    }

    // MARK: Age

    /// Fields, response delay, seconds since the response came, and the age.
    static let ages: [(HTTPFields, TimeInterval, TimeInterval, Int)] = [
        ([:], 0, 7, 7),
        (["Date": date(0)], 0, 7, 7),
        (["Date": date(-5)], 0, 7, 12),
        // A date of whole seconds that a server renews once a second says nothing about less than two.
        (["Date": date(-1)], 0, 7, 7),
        (["Date": date(-2)], 0, 7, 9),
        (["Date": date(-1)], 3, 7, 10),
        (["Date": date(-1), "Age": "1"], 0, 7, 8),
        // A date ahead of the clock is no negative age.
        (["Date": date(500)], 0, 7, 7),
        (["Age": "30"], 0, 7, 37),
        (["Age": "30"], 4, 7, 41),
        (["Age": "0"], 4, 7, 11),
        (["Age": "30", "Date": date(-100)], 4, 7, 107),
        (["Age": "30, 500"], 0, 7, 37),
        (["Age": " , 30"], 0, 7, 37),
        (["Age": "abc"], 0, 7, 7),
        (["Age": "abc, 30"], 0, 7, 7),
        (["Age": "-30"], 0, 7, 7),
        (["Age": "30.5"], 0, 7, 7),
        (["Age": "30:"], 0, 7, 7),
        (["Age": "/30"], 0, 7, 7),
        (["Age": "30;x=1"], 0, 7, 7),
        (["Age": "99999999999999999999"], 0, 7, 2_147_483_648),
        ([:], -4, 7, 7),
        // The clock was set back: time does not run backwards.
        ([:], 0, -3, 0),
    ]

    @Test(arguments: ages) func `age grows from what it was on arrival`(
        fields: HTTPFields, delay: TimeInterval, elapsed: TimeInterval, age: Int
    ) throws {
        var fields = fields
        fields[HTTPFieldName("Cache-Control")] = "max-age=2147483648"
        fields.append("stale-while-revalidate=1000", for: "Cache-Control")
        let hit = try CacheFixtures.hit([:], try CacheFixtures.stored(fields, delay: delay), after: elapsed)
        #expect(hit?.age == age)
        #expect(hit?.fields["Age"] == String(age))
        #expect(hit?.fields.values(of: "Age").count == 1)
    }

    @Test(arguments: [
        (1.0, "use fresh"), (-59, "use fresh"), (-60, "use fresh"), (-60.1, "load clock-moved-back"),
        (-61, "load clock-moved-back"),
    ])
    func `a response from the future is not believed`(offset: TimeInterval, decision: String) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=1000"])
        #expect(try CacheFixtures.decide([:], [stored], after: offset) == decision)
    }

    @Test(arguments: [0.0, 0.25, 1.0, 1.75]) func `what was made a moment ago is fresh for a second where it says so`(
        lag: TimeInterval
    ) throws {
        // It came so long after the second that its date names.
        let fields: HTTPFields = ["Cache-Control": "max-age=1", "Date": Self.date(0)]
        let stored = try CacheFixtures.stored(fields, at: lag)
        #expect(try CacheFixtures.hit([:], stored, after: lag + 0.001)?.age == 0)
        #expect(try CacheFixtures.decide([:], [stored], after: lag + 0.999) == "use fresh")
        #expect(try CacheFixtures.decide([:], [stored], after: lag + 1) == "load expired")
    }

    // MARK: The app's lifetime

    @Test(arguments: [
        "max-age=0", "no-cache", "max-age=5, must-revalidate", "max-age=100000", "private",
    ]) func `the app's lifetime takes the place of the server's`(control: String) throws {
        let policy = CachePolicy(.http, ttl: .seconds(60))
        let stored = try CacheFixtures.stored(["Cache-Control": control, "Age": "1000"], policy: policy)
        #expect(try CacheFixtures.decide([:], [stored], after: 59, policy: policy) == "use fresh")
        #expect(try CacheFixtures.decide([:], [stored], after: 61, policy: policy) == "load expired")
        #expect(try CacheFixtures.decide([:], [stored], after: 59) == "use fresh", "it was stored with it")
        let shorter = CachePolicy(.http, ttl: .seconds(30))
        #expect(try CacheFixtures.decide([:], [stored], after: 59, policy: shorter) == "load expired")
    }

    @Test func `the app's lifetime may be shorter than a second`() throws {
        let policy = CachePolicy(.http, ttl: .milliseconds(1_500))
        let stored = try CacheFixtures.stored([:], policy: policy)
        #expect(try CacheFixtures.decide([:], [stored], after: 1.4, policy: policy) == "use fresh")
        #expect(try CacheFixtures.decide([:], [stored], after: 1.6, policy: policy) == "load expired")
    }

    @Test(arguments: [0, -1]) func `a lifetime of zero or less turns the cache off`(seconds: Int) throws {
        let policy = CachePolicy(.http, ttl: .seconds(seconds))
        #expect(policy.isOff)
        #expect(try CacheFixtures.stored(["Cache-Control": "max-age=60"], policy: policy) == nil)
        #expect(CachePolicy.http.ttl == nil && !CachePolicy.http.isOff)
    }
}
