import Foundation
import Testing

@testable import PenstockCore

@Suite struct InvalidationTests {
    static let target = CacheFixtures.url

    /// Method, status, response fields, and the URLs that become invalid.
    static let table: [(String, Int, HTTPFields, [String])] = [
        ("POST", 200, [:], [target]),
        ("PUT", 204, [:], [target]),
        ("DELETE", 303, ["Location": "/done"], [target, "https://a.example/done"]),
        ("M-SEARCH", 200, [:], [target]),
        ("PATCH", 200, ["Content-Location": "list?page=1"], [target, "https://a.example/list?page=1"]),
        ("POST", 201, ["Location": "/new", "Content-Location": "/new"], [target, "https://a.example/new"]),
        ("POST", 201, ["Location": target], [target]),
        ("POST", 201, ["Location": "https://b.example/new"], [target]),
        ("POST", 201, ["Location": "http://a.example/new"], [target]),
        ("POST", 201, ["Location": "https://a.example:444/new"], [target]),
        ("POST", 201, ["Location": "https://u@a.example/new"], [target]),
        ("POST", 399, [:], [target]),
        ("POST", 400, [:], []),
        ("POST", 404, [:], []),
        ("POST", 500, ["Location": "/new"], []),
        ("GET", 200, ["Content-Location": "/other"], []),
        ("HEAD", 200, [:], []),
        ("OPTIONS", 200, [:], []),
    ]

    @Test(arguments: table) func `a write that succeeds invalidates its target and what it names at the same origin`(
        method: String, status: Int, fields: HTTPFields, urls: [String]
    ) throws {
        let query = try CacheFixtures.query(#require(HTTPMethod(rawValue: method)), policy: .networkOnly)
        let reception = query.receive(CacheFixtures.arrival(fields, status: status))
        #expect(reception.invalidations.map(\.absoluteString) == urls)
    }

    // MARK: HEAD (RFC 9111 §4.3.5)

    /// What is stored, what HEAD brings, and whether it updates rather than invalidates.
    static let heads: [(HTTPFields, HTTPFields, Bool)] = [
        ([:], [:], true),
        (["ETag": "\"a\""], ["ETag": "\"a\""], true),
        (["ETag": "\"a\""], ["ETag": "\"b\""], false),
        (["ETag": "\"a\""], [:], true),
        ([:], ["ETag": "\"a\""], false),
        (["Last-Modified": CacheFixtures.date(-9)], ["Last-Modified": CacheFixtures.date(-8)], false),
        (["Content-Length": "10"], ["Content-Length": "10"], true),
        (["Content-Length": "10"], ["Content-Length": "11"], false),
        ([:], ["Content-Length": "10"], true),
        ([:], ["Content-Length": "11"], false),
        (["Content-Encoding": "gzip"], ["Content-Length": "11"], true),
        (["Content-Encoding": "gzip", "Content-Length": "7"], ["Content-Length": "7"], true),
        (["Content-Encoding": "gzip", "Content-Length": "7"], ["Content-Length": "8"], false),
    ]

    @Test(arguments: heads) func `HEAD updates what it is the head of, and invalidates the rest`(
        old: HTTPFields, new: HTTPFields, updates: Bool
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=10"]
        fields.append(contentsOf: old)
        let stored = try #require(try CacheFixtures.stored(fields))
        var head: HTTPFields = ["Cache-Control": "max-age=100"]
        head.append(contentsOf: new)
        let query = try CacheFixtures.query(.head, [:], [stored])
        let reception = query.receive(CacheFixtures.arrival(head, length: 0, at: 50))
        let updated = try #require(reception.updates.first?.updated)
        #expect(updated.isInvalidated == !updates)
        #expect(updated.bodyLength == 10)
        if updates { #expect(try CacheFixtures.decide([:], [updated], after: 149) == "use fresh") }
        #expect(reception.insertion == nil)
    }

    /// Status, `Content-Range` and length of what is stored, `Content-Length` of HEAD's response, and whether it updates.
    @Test(
        arguments: [
            (206, "bytes 0-4/10", 5, "10", true), (206, "bytes 0-4/10", 5, "5", false),
            (206, "bytes 0-4/*", 5, "5", true), (404, nil, 5, "5", false), (201, nil, 5, "5", false),
            (200, nil, 5, "5", true),
        ] as [(Int, String?, Int, String, Bool)])
    func `HEAD speaks of the whole, which a part is a part of, and of nothing but a success`(
        status: Int, range: String?, length: Int, whole: String, updates: Bool
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=10"]
        if let range { fields.append(range, for: "Content-Range") }
        let stored = try #require(try CacheFixtures.stored(fields, status: status, length: length))
        let query = try CacheFixtures.query(.head, [:], [stored])
        let update = try #require(
            query.receive(CacheFixtures.arrival(["Content-Length": whole], length: 0)).updates.first)
        #expect(update.updated.isInvalidated == !updates)
        #expect(update.updated.part == stored.part && update.updated.status == status)
    }

    @Test func `HEAD says nothing of a redirect whose head alone is stored, and may change what is varied by`() throws {
        var discarding = try CacheFixtures.query()
        discarding.discards = { _ in true }
        let head = try #require(
            discarding.receive(CacheFixtures.arrival(["Cache-Control": "max-age=9"], status: 301)).insertion?.response)
        let query = try CacheFixtures.query(.head, [:], [head])
        #expect(query.receive(CacheFixtures.arrival([:])).updates.first?.updated.isInvalidated == true)
        let stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=9"]))
        let varying = try CacheFixtures.query(.head, ["Foo": "1"], [stored])
        let update = varying.receive(CacheFixtures.arrival(["Vary": "Foo"], length: 0)).updates.first
        #expect(update?.updated.variant.selectors == [.init(name: "foo", value: "1")])
    }

    @Test(
        arguments: [
            ([:], true), (["Content-Length": "10"], true), (["ETag": "\"a\""], false),
            (["Last-Modified": CacheFixtures.date(-9)], false), (["ETag": "\"b\""], true),
        ] as [(HTTPFields, Bool)])
    func `HEAD makes valid again what its validator is of, and nothing else`(fields: HTTPFields, isInvalid: Bool) throws
    {
        let validators: HTTPFields = ["ETag": "\"a\"", "Last-Modified": CacheFixtures.date(-9)]
        var stored = try #require(try CacheFixtures.stored(validators))
        stored.isInvalidated = true
        let update = try CacheFixtures.query(.head, [:], [stored]).receive(CacheFixtures.arrival(fields)).updates.first
        #expect(update?.updated.isInvalidated == isInvalid)
        stored.isInvalidated = false
        let valid = try CacheFixtures.query(.head, [:], [stored]).receive(CacheFixtures.arrival(fields)).updates.first
        #expect(valid?.updated.isInvalidated == (fields["ETag"] == "\"b\""))
    }

    @Test(arguments: [400, 401, 402, 403, 404, 405, 410, 451, 500])
    func `a read that is refused makes invalid what it would be answered with`(status: Int) throws {
        let refuses = [403, 404, 410].contains(status)
        let own = try #require(try CacheFixtures.stored(["Vary": "Foo"], to: ["Foo": "1"]))
        let other = try #require(try CacheFixtures.stored(["Vary": "Foo"], to: ["Foo": "2"]))
        let arrival = CacheFixtures.arrival(["Cache-Control": "no-store"], status: status, at: 50)
        let get = try CacheFixtures.query(.get, ["Foo": "1"], [own, other]).receive(arrival)
        #expect(get.updates.map(\.stored) == (refuses ? [own] : []))
        #expect(get.updates.allSatisfy { $0.updated.isInvalidated && $0.updated.fields == own.fields })
        #expect(try CacheFixtures.query(.get, ["Foo": "3"], [own, other]).receive(arrival).updates.isEmpty)
        #expect(try CacheFixtures.query(.head, ["Foo": "1"], [own, other]).receive(arrival).updates.isEmpty)
        #expect(try CacheFixtures.query(.post, ["Foo": "1"], [own, other]).receive(arrival).updates.isEmpty)
        for stored in [own.invalid, try #require(try CacheFixtures.stored([:], status: 404))] {
            #expect(try CacheFixtures.query(.get, ["Foo": "1"], [stored]).receive(arrival).updates.isEmpty)
        }
    }

    @Test func `HEAD leaves other variants alone, and errors change nothing`() throws {
        let stored = try #require(try CacheFixtures.stored(["Vary": "Foo"], to: ["Foo": "1"]))
        let other = try CacheFixtures.query(.head, ["Foo": "2"], [stored])
        #expect(other.receive(CacheFixtures.arrival([:])).updates.isEmpty)
        let same = try CacheFixtures.query(.head, ["Foo": "1"], [stored])
        #expect(same.receive(CacheFixtures.arrival([:], status: 404)).updates.isEmpty)
        #expect(same.receive(CacheFixtures.arrival(["Cache-Control": "no-store"])).updates.isEmpty)
    }
}

extension CachedResponse {
    fileprivate var invalid: CachedResponse {
        var response = self
        response.isInvalidated = true
        return response
    }
}

@Suite struct CacheStatusTests {
    @Test func `a decision is told in the words of Cache-Status`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        func text(_ request: HTTPFields, _ stored: CachedResponse?, after seconds: TimeInterval) throws -> String {
            let query = try CacheFixtures.query(.get, request, [stored].compactMap(\.self))
            return try CacheStatus(#require(query.decide(now: CacheFixtures.start + seconds).first)).description
        }
        #expect(try text([:], stored, after: 10) == "Penstock; hit; ttl=90; detail=fresh")
        #expect(
            try text(["Cache-Control": "max-stale"], stored, after: 112) == "Penstock; hit; ttl=-12; detail=max-stale")
        #expect(try text([:], stored, after: 112) == "Penstock; fwd=stale; detail=expired")
        #expect(try text([:], nil, after: 0) == "Penstock; fwd=uri-miss; detail=uri-miss")
        #expect(
            try text(["Cache-Control": "no-cache"], stored, after: 0)
                == "Penstock; fwd=request; detail=request-no-cache")
        #expect(try text(["Cache-Control": "only-if-cached"], nil, after: 0) == "Penstock; detail=only-if-cached")
    }

    @Test func `what came of it is told too`() throws {
        var status = CacheStatus(try CacheFixtures.query().load(.varyMismatch))
        status.forwardStatus = 200
        status.isStored = true
        status.isCollapsed = true
        status.key = "a\"b\\c\u{e9} ~\u{7F}\u{1F}"
        let text =
            "Penstock; fwd=vary-miss; fwd-status=200; stored; collapsed; key=\"a\\\"b\\\\c?? ~??\"; detail=vary-mismatch"
        #expect(status.description == text)
    }

    @Test(arguments: CacheReason.allCases) func `every reason is a token`(reason: CacheReason) throws {
        let status = CacheStatus(try CacheFixtures.query().load(reason)).description
        #expect(status.hasSuffix("; detail=\(reason.rawValue)"))
        #expect(reason.rawValue.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (0x61...0x7A).contains($0) })
    }
}
