import Foundation
import Testing

@testable import PenstockCore

@Suite struct StorageTests {
    static let day = CacheFixtures.date(86_400)

    /// Status, response `Cache-Control`, and why it is not stored.
    static let responses: [(Int, String, CacheStorageRefusal?)] = [
        (200, "max-age=60", nil),
        (200, "", nil),
        (200, "private", nil),
        (200, "no-cache", nil),
        (200, "private=\"x\", max-age=60", nil),
        (200, "no-store", .noStore),
        (200, "NO-STORE, max-age=60", .noStore),
        (200, "no-store=x", .noStore),
        (200, "no-store;x", .noStore),
        (200, "x=\"no-store\"", nil),
        (200, "x=\"a, no-store", .noStore),
        (200, "max-age=60, must-understand, no-store", nil),
        (599, "max-age=60, must-understand, no-store", .mustUnderstand),
        (599, "max-age=60, must-understand", .mustUnderstand),
        (599, "max-age=60", nil),
        (599, "public", nil),
        (599, "s-maxage=60", .notCacheable),
        (201, "", .notCacheable),
        (201, "max-age=60", nil),
        (302, "", .notCacheable),
        (302, "max-age=60", nil),
        (403, "private", nil),
        (404, "", nil),
        (500, "", .notCacheable),
        (500, "max-age=60", nil),
        (304, "max-age=60", .status),
        (412, "max-age=60", .status),
        (416, "max-age=60", .status),
        (429, "max-age=60", .status),
        (511, "max-age=60", .status),
        (103, "max-age=60", .status),
        (206, "max-age=60", .part),
    ]

    @Test(arguments: responses) func `status and directives decide what is stored`(
        status: Int, control: String, refusal: CacheStorageRefusal?
    ) throws {
        let fields: HTTPFields = control.isEmpty ? [:] : ["Cache-Control": control]
        let reception = try CacheFixtures.query().receive(CacheFixtures.arrival(fields, status: status))
        #expect(reception.refusal == refusal)
        #expect((reception.insertion == nil) == (refusal != nil))
        #expect(reception.insertion?.pieces ?? [.received(0..<10)] == [.received(0..<10)])
    }

    @Test func `must-understand is for the statuses whose rules for caches are known, and no-store for all others`()
        throws
    {
        // Those of RFC 9110 §15; 306 and 418 are unused.
        let understood = [200...206, 300...305, 307...308, 400...417, 421...422, 426...426, 500...505]
        let refused: Set = [304, 412, 416]
        for status in 200...599 where ![206, 428, 429, 431, 511].contains(status) {
            let arrival = CacheFixtures.arrival(
                ["Cache-Control": "max-age=60, must-understand, no-store"], status: status)
            let isUnderstood = understood.contains { $0.contains(status) }
            let expected: CacheStorageRefusal? =
                refused.contains(status) ? .status : isUnderstood ? nil : .mustUnderstand
            #expect(try CacheFixtures.query().receive(arrival).refusal == expected, "\(status)")
        }
    }

    @Test func `statuses about this one request alone are never stored, all others may be`() throws {
        let refused: Set = [304, 412, 416, 428, 429, 431, 511]
        for status in 100...600 where status != 206 {
            let arrival = CacheFixtures.arrival(["Cache-Control": "max-age=60"], status: status)
            let refusal = try CacheFixtures.query().receive(arrival).refusal
            #expect(refusal == (status < 200 || refused.contains(status) ? .status : nil), "\(status)")
        }
    }

    @Test func `the answer to a POST is stored for the statuses that bring what a GET would`() throws {
        for status in 200...599 where ![206, 304].contains(status) {
            let fields: HTTPFields = ["Cache-Control": "max-age=60", "Content-Location": "/list?page=2"]
            let reception = try CacheFixtures.query(.post).receive(CacheFixtures.arrival(fields, status: status))
            #expect((reception.insertion != nil) == [200, 201, 203].contains(status), "\(status)")
        }
    }

    @Test(arguments: [false, true])
    func `content of which nobody knows whether it is whole is not stored`(mayBeCutOff: Bool) throws {
        var arrival = CacheFixtures.arrival(["Cache-Control": "max-age=60"])
        arrival.mayBeCutOff = mayBeCutOff
        let reception = try CacheFixtures.query().receive(arrival)
        #expect(reception.refusal == (mayBeCutOff ? .mayBeCutOff : nil))
        #expect((reception.insertion == nil) == mayBeCutOff)
        // What is stored is older.
        let stored = try #require(try CacheFixtures.stored([:]))
        let updates = try CacheFixtures.query(.get, [:], [stored]).receive(arrival).updates
        #expect(updates.map(\.updated.isInvalidated) == (mayBeCutOff ? [true] : []))
    }

    /// Method, response fields, and why it is not stored.
    static let methods: [(HTTPMethod, HTTPFields, CacheStorageRefusal?)] = [
        (.get, [:], nil),
        (.head, ["Cache-Control": "max-age=60"], .method),
        (.put, ["Cache-Control": "max-age=60", "Content-Location": "/list?page=2"], .method),
        (.post, ["Cache-Control": "max-age=60", "Content-Location": "/list?page=2"], nil),
        (.post, ["Expires": day, "Content-Location": "https://a.example/list?page=2"], nil),
        (.post, ["Cache-Control": "max-age=60", "Content-Location": "/list?page=20"], .method),
        (.post, ["Cache-Control": "max-age=60"], .method),
        (.post, ["Last-Modified": day, "Content-Location": "/list?page=2"], .method),
    ]

    @Test(arguments: methods) func `a POST brings what a GET would when it says so`(
        method: HTTPMethod, fields: HTTPFields, refusal: CacheStorageRefusal?
    ) throws {
        let reception = try CacheFixtures.query(method).receive(CacheFixtures.arrival(fields))
        #expect(reception.refusal == refusal)
        guard refusal == nil else { return }
        #expect(reception.insertion?.response.key == (try CacheFixtures.query().key))
    }

    @Test func `a read of another method is stored by its content`() throws {
        let policy = CachePolicy(.http, isRead: true)
        func key(_ body: String, type: String = "application/json", policy: CachePolicy = policy) throws -> CacheKey? {
            let request = HTTPRequest(
                method: .post, url: try HTTPURL(CacheFixtures.url), fields: ["Content-Type": type],
                body: .bytes(Data(body.utf8)))
            return CacheKey(request, partition: .init(), policy: policy)
        }
        let one = try #require(try key("{\"a\":1}"))
        #expect(try one == key("{\"a\":1}"))
        #expect(try one != key("{\"a\":2}"))
        #expect(try one != key("{\"a\":1}", type: "text/plain"))
        #expect(try one != key("{\"a\":1}", policy: .http))
        let request = HTTPRequest(method: .post, url: try HTTPURL(CacheFixtures.url), body: .bytes(Data("x".utf8)))
        let query = CacheQuery(request, key: one, candidates: [], policy: policy)
        let reception = query.receive(CacheFixtures.arrival(["Cache-Control": "max-age=60"]))
        let stored = try #require(reception.insertion?.response)
        #expect(stored.key == one && reception.invalidations.isEmpty)
        let next = CacheQuery(request, key: one, candidates: [stored], policy: policy)
        #expect(CacheFixtures.words(next.decide(now: CacheFixtures.start + 1)) == "use fresh")
    }

    @Test func `what must not be kept is not stored`() throws {
        let whole = CacheFixtures.arrival(["Cache-Control": "max-age=60"])
        #expect(
            try CacheFixtures.query(.get, ["Cache-Control": "no-store"]).storageRefusal(of: whole) == .requestNoStore)
        #expect(try CacheFixtures.query(.get, policy: .networkOnly).storageRefusal(of: whole) == .policy)
        #expect(try CacheFixtures.query(.get, ["Authorization": "Bearer x"]).storageRefusal(of: whole) == nil)
    }

    @Test func `a server error replaces a good response only with a lifetime of its own`() throws {
        let good = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=1, must-revalidate"]))
        let query = try CacheFixtures.query(.get, [:], [good])
        let guessed = CacheFixtures.arrival([:], status: 501, at: 50)
        #expect(query.receive(guessed).refusal == .error)
        let meant = CacheFixtures.arrival(["Cache-Control": "max-age=60"], status: 503, at: 50)
        #expect(query.receive(meant).insertion?.response.status == 503)
        let gone = CacheFixtures.arrival([:], status: 404, at: 50)
        #expect(query.receive(gone).insertion?.response.status == 404)
        let open = CacheFixtures.arrival(["Cache-Control": "public"], status: 500, at: 50)
        #expect(query.receive(open).refusal == .error)
        #expect(try CacheFixtures.query().receive(open).refusal == nil)
    }

    @Test func `what is no better, or another request's, is no reason against storing an error`() throws {
        for (status, isBetter) in [(399, true), (400, false), (404, false)] {
            let stored = try #require(
                try CacheFixtures.stored(["Cache-Control": "max-age=1, must-revalidate"], status: status))
            let query = try CacheFixtures.query(.get, [:], [stored])
            let refusal = query.receive(CacheFixtures.arrival([:], status: 501, at: 50)).refusal
            #expect(refusal == (isBetter ? .error : nil), "\(status)")
        }
        let other = try #require(
            try CacheFixtures.stored(["Cache-Control": "max-age=100", "Vary": "Foo"], to: ["Foo": "1"]))
        let query = try CacheFixtures.query(.get, ["Foo": "2"], [other])
        #expect(query.receive(CacheFixtures.arrival(["Vary": "Foo"], status: 501)).refusal == nil)
    }

    @Test func `the app's lifetime makes every success storable, and nothing else`() throws {
        let policy = CachePolicy(.http, ttl: .seconds(60))
        for (status, refusal) in [(201, nil), (299, nil), (302, .notCacheable), (500, .notCacheable)]
            as [(
                Int, CacheStorageRefusal?
            )]
        {
            let query = try CacheFixtures.query(policy: policy)
            #expect(query.receive(CacheFixtures.arrival([:], status: status)).refusal == refusal, "\(status)")
        }
    }

    @Test func `of content that was thrown away the head alone is stored`() throws {
        var query = try CacheFixtures.query()
        query.discards = { $0.status == 301 }
        let head = try #require(query.receive(CacheFixtures.arrival([:], status: 301, length: 10)).insertion)
        #expect(head.pieces.isEmpty && head.response.bodyLength == 0 && head.response.isHeadAlone)
        #expect(head.response.part == CachedPart(offset: 0, completeLength: nil))
        let whole = try #require(query.receive(CacheFixtures.arrival([:], length: 10)).insertion)
        #expect(whole.pieces == [.received(0..<10)] && whole.response.part == nil)
    }

    /// Status, length and part of what is stored, and whether it is a head alone.
    @Test(
        arguments: [
            (301, 0, CachedPart(offset: 0, completeLength: nil), true), (301, 0, nil, false),
            (301, 1, CachedPart(offset: 0, completeLength: nil), false),
            (300, 0, CachedPart(offset: 0, completeLength: nil), true),
            (299, 0, CachedPart(offset: 0, completeLength: nil), false),
            (206, 0, CachedPart(offset: 0, completeLength: nil), false),
        ] as [(Int, Int, CachedPart?, Bool)])
    func `a part of no bytes that is no success is a head alone`(
        status: Int, length: Int, part: CachedPart?, isHeadAlone: Bool
    ) throws {
        let response = try Self.response(status: status, length: length, part: part)
        #expect(response.isHeadAlone == isHeadAlone)
    }

    /// Offset and length of what is stored, and which bytes of the whole those are.
    @Test(
        arguments: [
            (nil, 0, 0..<0), (nil, 5, 0..<5), (4, 5, 4..<9), (4, 0, 4..<4), (-1, 5, nil), (0, -1, nil), (nil, -1, nil),
            (Int.max, 1, nil), (Int.max - 1, 1, (Int.max - 1)..<Int.max),
        ] as [(Int?, Int, Range<Int>?)])
    func `which bytes are held is known where the numbers are such`(offset: Int?, length: Int, held: Range<Int>?) throws
    {
        let part = offset.map { CachedPart(offset: $0, completeLength: nil) }
        #expect(try Self.response(length: length, part: part).held == held)
    }

    private static func response(
        _ path: String = "x", _ variant: CacheVariant = .init(), status: Int = 200, fields: HTTPFields = [:],
        version: HTTPVersion = .http11, asked: TimeInterval = 0, came: TimeInterval = 0, length: Int = 0,
        part: CachedPart? = nil, tags: [String] = [], ttl: Duration? = nil, maxStale: Duration? = nil,
        isInvalidated: Bool = false
    ) throws -> CachedResponse {
        CachedResponse(
            key: CacheKey(url: try HTTPURL("https://a.example/\(path)"), partition: .init()), variant: variant,
            status: status, fields: fields, version: version, requestTime: CacheFixtures.start + asked,
            responseTime: CacheFixtures.start + came, bodyLength: length, part: part, tags: tags, appTTL: ttl,
            appMaxStale: maxStale, isInvalidated: isInvalidated)
    }

    @Test func `stored responses are equal when all that is stored of them is`() throws {
        func all() throws -> [CachedResponse] {
            [
                try Self.response(), try Self.response("y"),
                try Self.response("x", CacheVariant(selectors: [], isUnmatchable: true)),
                try Self.response(status: 201), try Self.response(fields: ["A": "1"]),
                try Self.response(version: .http2), try Self.response(asked: 1), try Self.response(came: 1),
                try Self.response(length: 1), try Self.response(part: CachedPart(offset: 0, completeLength: nil)),
                try Self.response(tags: ["t"]), try Self.response(ttl: .seconds(1)),
                try Self.response(maxStale: .seconds(1)), try Self.response(isInvalidated: true),
            ]
        }
        let (some, others) = (try all(), try all())
        for (place, one) in some.enumerated() {
            for (number, other) in others.enumerated() { #expect((one == other) == (place == number)) }
        }
    }

    @Test func `a copy is the same until it is marked`() throws {
        let one = try Self.response()
        var copy = one
        copy.tags = ["t"]
        #expect(copy.isSame(as: one))
        copy.isInvalidated = true
        #expect(!copy.isSame(as: one))
        #expect(!(try Self.response()).isSame(as: one))
    }

    @Test func `fields of the connection and withheld ones are not stored`() throws {
        let fields: HTTPFields = [
            "Cache-Control": "max-age=60, no-cache=\"A, date\"", "A": "1", "B": "2", "C": "3", "Connection": "C, close",
            "Keep-Alive": "1", "Proxy-Authenticate": "x", "Proxy-Authentication-Info": "x", "Proxy-Connection": "x",
            "Proxy-Authorization": "x", "TE": "x", "Transfer-Encoding": "chunked", "Upgrade": "x", "Set-Cookie": "s=1",
            "Date": CacheFixtures.date(-1), "Clear-Site-Data": "\"cache\"", "D": "B", "E": "keep-alive",
        ]
        let names = try CacheFixtures.stored(fields)?.fields.map(\.name.text)
        #expect(names == ["Cache-Control", "B", "Set-Cookie", "Date", "Clear-Site-Data", "D", "E"])
    }

    @Test func `a response without a date gets the time it came`() throws {
        #expect(try CacheFixtures.stored([:])?.fields["Date"] == CacheFixtures.date(0))
    }

    // MARK: Keys

    @Test(arguments: [
        ("https://a.example/x", "https://A.example:443/x#top", true),
        ("https://a.example/~x", "https://a.example/%7ex", true),
        ("https://a.example/~", "https://a.example/%7e", true),
        ("https://a.example/%7", "https://a.example/%257", false),
        ("https://a.example/%", "https://a.example/%25", false),
        ("https://a.example/%7", "https://a.example/~", false),
        ("https://a.example/%2fx", "https://a.example/%2Fx", true),
        ("https://a.example/%2fx", "https://a.example//x", false),
        ("https://a.example/x?a=1", "https://a.example/x?a=10", false),
        ("https://a.example/x?a=1&b=2", "https://a.example/x?a=1%26b=2", false),
        ("https://a.example/x", "https://a.example/x?", false),
        ("https://a.example/x", "http://a.example/x", false),
        ("https://a.example/x", "https://a.example:444/x", false),
    ]) func `equal URLs have one key`(left: String, right: String, isEqual: Bool) throws {
        let keys = try [left, right].map { CacheKey(url: try HTTPURL($0), partition: .init()) }
        #expect((keys[0] == keys[1]) == isEqual)
    }

    @Test func `users, environments and methods have keys of their own`() throws {
        let url = try HTTPURL("https://a.example/x")
        let keys = [
            CacheKey(url: url, partition: .init()),
            CacheKey(url: url, partition: .init(identity: "alice")),
            CacheKey(url: url, partition: .init(environment: "test")),
            CacheKey(method: .post, url: url, partition: .init()),
            CacheKey(method: .post, url: url, partition: .init(), contentDigest: "1"),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(CacheKey(method: .head, url: url, partition: .init()) == keys[0])
    }
}
