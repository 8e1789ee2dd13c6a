import Foundation
import Testing

@testable import PenstockCore

@Suite struct PartialContentTests {
    @Test(
        "A part whose numbers no server has sent answers nothing",
        arguments: [Int.max, Int.max - 5, -1, Int.min], [Int?.none, .max, -1, 0])
    func forged(offset: Int, completeLength: Int?) throws {
        var stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100", "ETag": "\"1\""]))
        stored.part = CachedPart(offset: offset, completeLength: completeLength)
        for range in ["bytes=0-5", "bytes=9-", "bytes=-3", "bytes=0-999999999999999", nil] {
            let fields: HTTPFields = range.map { ["Range": $0] } ?? [:]
            let query = try CacheFixtures.query(.get, fields, [stored])
            #expect(query.decide(now: CacheFixtures.start).first?.hit == nil, "\(range ?? "all") is answered")
            _ = query.fallback(for: .disconnected, now: CacheFixtures.start)
            let more = CacheFixtures.arrival(
                ["Content-Range": "bytes 10-19/20", "ETag": "\"1\""], status: 206)
            _ = query.receive(more, to: query.validation(now: CacheFixtures.start) ?? query.load(.partial))
        }
    }

    @Test("A length below zero and a time that is none are no crash")
    func impossible() throws {
        var stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=100"]))
        stored.bodyLength = -1
        let query = try CacheFixtures.query(.get, [:], [stored])
        #expect(query.decide(now: CacheFixtures.start).first?.hit == nil)
        let strange = CachedResponse(
            key: query.key, status: 200, fields: ["Cache-Control": "max-age=9"],
            requestTime: Date(timeIntervalSince1970: .nan), responseTime: Date(timeIntervalSince1970: .nan),
            bodyLength: 1)
        _ = try CacheFixtures.query(.get, [:], [strange], policy: CachePolicy(.http, ttl: .seconds(9)))
            .decide(now: CacheFixtures.start)
        #expect(query.receive(CacheFixtures.arrival([:], length: -5)).insertion?.pieces == [.received(0..<0)])
    }

    static func stored(
        _ range: String, length: Int, tag: String? = "\"a\"", control: String = "max-age=100"
    ) throws -> CachedResponse? {
        var fields: HTTPFields = ["Cache-Control": control, "Content-Range": range]
        if let tag { fields.append(tag, for: "ETag") }
        return try CacheFixtures.stored(fields, status: 206, length: length)
    }

    /// A range of a complete response of ten bytes: status, bytes given, `Content-Range`.
    static let ranges: [(String, Int, Range<Int>?, String?)] = [
        ("bytes=0-1", 206, 0..<2, "bytes 0-1/10"),
        ("bytes=3-", 206, 3..<10, "bytes 3-9/10"),
        ("bytes=-4", 206, 6..<10, "bytes 6-9/10"),
        ("bytes=-40", 206, 0..<10, "bytes 0-9/10"),
        ("bytes=9-999", 206, 9..<10, "bytes 9-9/10"),
        ("Bytes= 0-0", 206, 0..<1, "bytes 0-0/10"),
        ("bytes=10-", 416, nil, "bytes */10"),
        ("bytes=-0", 416, nil, "bytes */10"),
        ("bytes=5-4", 200, 0..<10, nil),
        ("bytes=a-", 200, 0..<10, nil),
        ("bytes=-", 200, 0..<10, nil),
        ("bytes=+1-2", 200, 0..<10, nil),
        ("bytes=0-1,3-4", 200, 0..<10, nil),
        ("lines=0-1", 200, 0..<10, nil),
        ("bytes=0-9223372036854775807", 200, 0..<10, nil),
        ("bytes=-1", 206, 9..<10, "bytes 9-9/10"),
        ("bytes=0-999999999999999", 206, 0..<10, "bytes 0-9/10"),
        ("bytes=0-1000000000000000", 200, 0..<10, nil),
        ("bytes=-999999999999999", 206, 0..<10, "bytes 0-9/10"),
        ("bytes=-1000000000000000", 200, 0..<10, nil),
        ("bytes=0-1-2", 200, 0..<10, nil),
        ("bytes=0-1=", 200, 0..<10, nil),
        ("bytes=0", 200, 0..<10, nil),
        ("bytes", 200, 0..<10, nil),
        ("bytes=0-a", 200, 0..<10, nil),
        ("bytes=--1", 200, 0..<10, nil),
        ("", 200, 0..<10, nil),
    ]

    @Test(arguments: ranges) func `a range of a complete response is cut out of it`(
        range: String, status: Int, content: Range<Int>?, contentRange: String?
    ) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100", "X": "1", "Content-Length": "10"])
        let reply = try #require(try CacheFixtures.hit(["Range": range], stored))
        #expect(reply.status == status)
        #expect(reply.content == content)
        #expect(reply.fields["Content-Range"] == contentRange)
        #expect(reply.fields["Content-Length"] == String(content?.count ?? 0))
        #expect(status == 416 || reply.fields["X"] == "1")
        let head = try CacheFixtures.hit(["Range": range], stored, method: .head)
        #expect(head?.status == 200, "Range is for GET")
    }

    @Test func `two lines of Range are no range`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        var fields: HTTPFields = ["Range": "bytes=0-1"]
        fields.append("bytes=0-1", for: "Range")
        #expect(try CacheFixtures.hit(fields, stored)?.status == 200)
    }

    @Test(arguments: ["bytes=0-", "bytes=-1", "bytes=0-0", "bytes=-9"]) func `of one byte that one is given`(
        range: String
    ) throws {
        let hit = try CacheFixtures.hit(
            ["Range": range], CacheFixtures.stored(["Cache-Control": "max-age=9"], length: 1))
        #expect(hit?.status == 206 && hit?.content == 0..<1)
    }

    @Test(arguments: ["If-None-Match", "If-Modified-Since"] as [HTTPFieldName])
    func `a part is not completed for a caller that has something itself`(name: HTTPFieldName) throws {
        let part = try Self.stored("bytes 0-4/10", length: 5)
        let value = name == "If-None-Match" ? "\"x\"" : CacheFixtures.date(0)
        #expect(try CacheFixtures.decide([name: value], [part], after: 1) == "load partial")
        #expect(try CacheFixtures.decide([:], [part], after: 1) == "revalidate partial")
        #expect(try CacheFixtures.decide([:], [part], after: 1, method: .head) == "load partial")
    }

    @Test func `a part takes the place of what is no success, and of no other request's response`() throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": "bytes 0-1/10", "ETag": "\"a\""]
        for (status, isStored) in [(200, false), (299, false), (300, true), (404, true)] {
            let stored = try #require(
                try CacheFixtures.stored(["Cache-Control": "max-age=1", "ETag": "\"a\""], status: status))
            let query = try CacheFixtures.query(.get, ["Range": "bytes=0-1"], [stored])
            let insertion = query.receive(CacheFixtures.arrival(fields, status: 206, length: 2)).insertion
            #expect((insertion != nil) == isStored, "\(status)")
        }
        let other = try #require(
            try CacheFixtures.stored(["Cache-Control": "max-age=1", "ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "1"]))
        let query = try CacheFixtures.query(.get, ["Range": "bytes=0-1", "Foo": "2"], [other])
        var varied = fields
        varied.append("Foo", for: "Vary")
        #expect(query.receive(CacheFixtures.arrival(varied, status: 206, length: 2)).insertion != nil)
    }

    @Test(arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"]) func `of nothing there is no range`(range: String) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100"], length: 0)
        let hit = try CacheFixtures.hit(["Range": range], stored)
        #expect(hit?.status == 416 && hit?.fields["Content-Range"] == "bytes */0" && hit?.fields["Age"] == "1")
    }

    static let ifRanges: [(String, Int)] = [
        ("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200), ("a", 200), (CacheFixtures.date(-100), 206),
        (CacheFixtures.date(-99), 200),
    ]

    @Test(arguments: [(-2.0, 206), (-1, 206), (0, 200)])
    func `a date in If-Range counts when the change was a second before the response or more`(
        modified: TimeInterval, status: Int
    ) throws {
        let date = CacheFixtures.date(modified)
        let stored = try CacheFixtures.stored([
            "Cache-Control": "max-age=100", "Last-Modified": date, "Date": CacheFixtures.date(0),
        ])
        #expect(try CacheFixtures.hit(["Range": "bytes=0-1", "If-Range": date], stored)?.status == status)
    }

    @Test func `a tag without quotes gives no range, joins no parts and completes none`() throws {
        let whole = try CacheFixtures.stored(["Cache-Control": "max-age=100", "ETag": "0"])
        #expect(try CacheFixtures.hit(["Range": "bytes=0-1"], whole)?.status == 206)
        #expect(try CacheFixtures.hit(["Range": "bytes=0-1", "If-Range": "0"], whole)?.status == 200)
        let part = try #require(try Self.stored("bytes 0-4/10", length: 5, tag: "0"))
        #expect(try CacheFixtures.decide([:], [part], after: 1) == "load partial")
        let rest: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": "bytes 5-9/10", "ETag": "0"]
        let query = try CacheFixtures.query(.get, ["Range": "bytes=5-9"], [part])
        let insertion = query.receive(CacheFixtures.arrival(rest, status: 206, length: 5)).insertion
        #expect(insertion?.response.part == CachedPart(offset: 5, completeLength: 10))
    }

    @Test(arguments: [(0, "load partial"), (1, "revalidate partial")])
    func `a stored part of no bytes is not completed`(length: Int, decision: String) throws {
        let part = CachedResponse(
            key: try CacheFixtures.query().key, status: 206, fields: ["Cache-Control": "max-age=100", "ETag": "\"a\""],
            requestTime: CacheFixtures.start, responseTime: CacheFixtures.start, bodyLength: length,
            part: CachedPart(offset: 0, completeLength: 10))
        #expect(try CacheFixtures.decide([:], [part], after: 1) == decision)
    }

    @Test(arguments: ifRanges) func `If-Range gives the range of what it names, and all of anything else`(
        condition: String, status: Int
    ) throws {
        let stored = try CacheFixtures.stored([
            "Cache-Control": "max-age=100", "ETag": "\"a\"", "Last-Modified": CacheFixtures.date(-100),
        ])
        let request: HTTPFields = ["Range": "bytes=0-1", "If-Range": condition]
        #expect(try CacheFixtures.hit(request, stored)?.status == status)
    }

    @Test func `a range of what was decoded, or of an error, is not cut out`() throws {
        let coded = try CacheFixtures.stored(["Cache-Control": "max-age=100", "Content-Encoding": "gzip"])
        #expect(try CacheFixtures.decide(["Range": "bytes=0-1"], [coded], after: 1) == "load coded-range")
        let error = try CacheFixtures.stored(["Cache-Control": "max-age=100"], status: 404)
        #expect(try CacheFixtures.hit(["Range": "bytes=0-1"], error)?.status == 404)
    }

    /// `Content-Range`, length of the content, other fields, and whether it can be stored.
    static let parts: [(String, Int, HTTPFields, Bool)] = [
        ("bytes 4-8/10", 5, [:], true),
        ("bytes 4-8/*", 5, [:], true),
        ("bytes 4-9/10", 5, [:], true),
        ("bytes 4-7/10", 5, [:], false),
        ("bytes 4-7/10", 0, [:], false),
        ("bytes 4-10/10", 7, [:], false),
        ("bytes 8-4/10", 5, [:], false),
        ("bytes */10", 0, [:], false),
        ("lines 4-8/10", 5, [:], false),
        ("bytes 4-8", 5, [:], false),
        ("bytes 4-8/99999999999999999999", 5, [:], false),
        ("Bytes 4-8/10", 5, [:], true),
        ("bytes 4-8/x", 5, [:], false),
        ("bytes 4-8/10 x", 5, [:], false),
        ("bytes 4-8/10/10", 5, [:], false),
        ("bytes 4-8-9/10", 5, [:], false),
        ("bytes 4-8/10/", 5, [:], false),
        ("bytes 4-8-/10", 5, [:], false),
        ("bytes -8/10", 5, [:], false),
        ("bytes 4-/10", 5, [:], false),
        ("bytes 4-4/10", 1, [:], true),
        ("bytes 4-8/10", 4, [:], true),
        ("bytes 4-8/10", 1, [:], true),
        ("bytes 4-8/10", 6, [:], false),
        ("bytes 4-8/10", 5, ["Content-Type": "Multipart/Byteranges"], false),
        ("bytes 4-8/10", 5, ["Content-Type": "multipart/mixed"], true),
        ("bytes 4-8/10", 5, ["Content-Range": "bytes 4-8/10"], false),
        ("bytes 4-8/10", 5, ["Content-Encoding": "gzip"], false),
        ("bytes 4-8/10", 5, ["Content-Type": "multipart/byteranges; boundary=x"], false),
    ]

    @Test(arguments: parts) func `a part is stored when its place is certain`(
        range: String, length: Int, other: HTTPFields, isStored: Bool
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=100", "Content-Range": range]
        fields.append(contentsOf: other)
        let stored = try CacheFixtures.stored(fields, status: 206, length: length)
        #expect((stored != nil) == isStored)
        guard let stored else { return }
        let part = try #require(stored.part)
        #expect(part.offset == 4 && stored.bodyLength == length && stored.status == 206)
        let total = part.completeLength.map(String.init) ?? "*"
        #expect(stored.fields["Content-Range"] == "bytes 4-\(3 + length)/\(total)")
        #expect(stored.fields["Content-Length"] == String(length))
        #expect(part.completeLength == (range.hasSuffix("*") ? nil : 10))
    }

    @Test func `a part needs no lifetime to be stored`() throws {
        let fields: HTTPFields = ["Content-Range": "bytes 4-8/10", "Last-Modified": CacheFixtures.date(-10_000)]
        let stored = try #require(try CacheFixtures.stored(fields, status: 206, length: 5))
        #expect(try CacheFixtures.decide(["Range": "bytes=4-8"], [stored], after: 10) == "use fresh")
    }

    @Test func `a part that is all of it is complete`() throws {
        let stored = try Self.stored("bytes 0-9/10", length: 10)
        #expect(stored?.part == nil && stored?.status == 200)
        #expect(stored?.fields["Content-Range"] == nil)
        #expect(try CacheFixtures.hit([:], stored)?.status == 200)
    }

    /// What is asked of a stored `bytes 4-8/10`, and what is given of the stored bytes.
    static let asked: [(HTTPFields, HTTPMethod, Range<Int>?)] = [
        (["Range": "bytes=4-8"], .get, 0..<5),
        (["Range": "bytes=6-7"], .get, 2..<4),
        (["Range": "bytes=3-7"], .get, nil),
        (["Range": "bytes=6-9"], .get, nil),
        (["Range": "bytes=6-"], .get, nil),
        (["Range": "bytes=-2"], .get, nil),
        ([:], .get, nil),
        ([:], .head, nil),
    ]

    @Test(arguments: asked) func `a part answers for what lies within it`(
        request: HTTPFields, method: HTTPMethod, content: Range<Int>?
    ) throws {
        let hit = try CacheFixtures.hit(request, Self.stored("bytes 4-8/10", length: 5), method: method)
        #expect(hit?.content == content)
        if content != nil { #expect(hit?.status == 206) }
    }

    /// A stored part, what is asked of it, and what is given of the representation's bytes. Nothing else is stored.
    static let covered: [(String, Int, String, String?)] = [
        ("bytes 4-9/10", 6, "bytes=4-", "bytes 4-9/10"),
        ("bytes 4-9/10", 6, "bytes=6-", "bytes 6-9/10"),
        ("bytes 4-9/10", 6, "bytes=9-", "bytes 9-9/10"),
        ("bytes 4-9/10", 6, "bytes=6-100", "bytes 6-9/10"),
        ("bytes 4-9/10", 6, "bytes=-1", "bytes 9-9/10"),
        ("bytes 4-9/10", 6, "bytes=-6", "bytes 4-9/10"),
        ("bytes 4-9/10", 6, "bytes=-7", nil),
        ("bytes 4-9/10", 6, "bytes=3-", nil),
        ("bytes 4-9/10", 6, "bytes=3-5", nil),
        ("bytes 4-9/10", 6, "bytes=10-", nil),
        ("bytes 0-4/10", 5, "bytes=0-4", "bytes 0-4/10"),
        ("bytes 0-4/10", 5, "bytes=0-0", "bytes 0-0/10"),
        ("bytes 0-4/10", 5, "bytes=0-5", nil),
        ("bytes 0-4/10", 5, "bytes=0-", nil),
        ("bytes 0-4/10", 5, "bytes=-5", nil),
        // Where the length of the whole is unknown, nobody can tell what its end is.
        ("bytes 4-8/*", 5, "bytes=5-8", "bytes 5-8/*"),
        ("bytes 4-8/*", 5, "bytes=5-", nil),
        ("bytes 4-8/*", 5, "bytes=-2", nil),
        ("bytes 4-8/*", 5, "bytes=5-9", nil),
    ]

    @Test(arguments: covered) func `a stored part that covers a range answers it, open at an end or not`(
        held: String, length: Int, asked: String, given: String?
    ) throws {
        let stored = try #require(try Self.stored(held, length: length))
        let hit = try CacheFixtures.hit(["Range": asked], stored)
        #expect(hit?.fields["Content-Range"] == given)
        guard let hit, let part = stored.part, let bytes = ContentRange(hit.fields)?.bytes else { return }
        #expect(hit.status == 206)
        #expect(hit.content == (bytes.lowerBound - part.offset)..<(bytes.upperBound - part.offset))
        #expect(hit.fields["Content-Length"] == String(bytes.count))
    }

    @Test func `among a part and a complete response of other requests, the one that covers the range answers`() throws
    {
        let part = try CacheFixtures.stored(
            ["Cache-Control": "max-age=100", "Content-Range": "bytes 4-9/10", "ETag": "\"a\"", "Vary": "Foo"],
            status: 206, length: 6, at: 5)
        let whole = try CacheFixtures.stored(["Cache-Control": "max-age=100"])
        let answers = try ["bytes=6-", "bytes=0-3"].map { range in
            let query = try CacheFixtures.query(.get, ["Range": range], [part, whole].compactMap(\.self))
            guard let hit = query.decide(now: CacheFixtures.start + 6).first?.hit else { return "none" }
            return hit.stored.part == nil ? "whole" : "part"
        }
        #expect(answers == ["part", "whole"])
    }

    /// A stored part, its tag, and the `Range` that completes it.
    static let missing: [(String, Int, String?, String?)] = [
        ("bytes 0-4/10", 5, "\"a\"", "bytes=5-"),
        ("bytes 0-4/*", 5, "\"a\"", "bytes=5-"),
        ("bytes 4-9/10", 6, "\"a\"", "bytes=0-3"),
        ("bytes 4-8/10", 5, "\"a\"", nil),
        ("bytes 0-4/10", 5, "W/\"a\"", nil),
        ("bytes 0-4/10", 5, nil, nil),
    ]

    @Test(arguments: missing) func `what is missing is asked for where both can be joined safely`(
        range: String, length: Int, tag: String?, sent: String?
    ) throws {
        let validation = try CacheFixtures.validation([:], [Self.stored(range, length: length, tag: tag)])
        #expect(validation?.request.fields["Range"] == sent)
        #expect(validation?.request.fields["If-Range"] == (sent == nil ? nil : tag))
        #expect(validation?.purpose == (sent == nil ? nil : .complete))
    }

    static func complete(_ fields: HTTPFields, status: Int = 206, length: Int = 5) throws -> CacheReception {
        let stored = try #require(try stored("bytes 0-4/10", length: 5))
        let query = try CacheFixtures.query(.get, [:], [stored])
        let completion = try #require(query.validation(now: CacheFixtures.start + 1))
        return query.receive(CacheFixtures.arrival(fields, status: status, length: length, at: 1), to: completion)
    }

    @Test func `the missing part and the stored one become one response`() throws {
        let reception = try Self.complete(["Content-Range": "bytes 5-9/10", "ETag": "\"a\"", "X": "2"])
        let insertion = try #require(reception.insertion)
        #expect(insertion.pieces == [.stored(0..<5), .received(0..<5)])
        #expect(insertion.response.part == nil && insertion.response.status == 200)
        #expect(insertion.response.bodyLength == 10)
        guard case .stored(let hit) = reception.answer else {
            Issue.record("\(reception.answer)")
            return
        }
        #expect(hit.status == 200 && hit.content == 0..<10 && hit.reason == .completed)
        #expect(hit.fields["Content-Range"] == nil && hit.fields["X"] == "2")
        #expect(hit.fields["Content-Length"] == "10")
    }

    @Test(arguments: [
        ("bytes 5-9/10", "\"b\"", 206), ("bytes 5-9/10", "W/\"a\"", 206), ("bytes 6-9/10", "\"a\"", 206),
        ("bytes 5-9/11", "\"a\"", 206), ("bytes */10", "\"a\"", 416),
    ]) func `what cannot be joined is asked for again as a whole`(range: String, tag: String, status: Int) throws {
        let length = range.contains("5-") ? 5 : 4
        let reception = try Self.complete(["Content-Range": range, "ETag": tag], status: status, length: length)
        guard case .sendAgain = reception.answer else {
            Issue.record("\(reception.answer)")
            return
        }
        #expect(reception.insertion == nil)
    }

    /// Parts of the caller's own choosing that meet a stored `bytes 4-6/10`: pieces and offset of what is stored then.
    static let meetings: [(String, Int, [CacheInsertion.Piece], Int)] = [
        ("bytes 7-8/10", 2, [.stored(0..<3), .received(0..<2)], 4),
        ("bytes 2-3/10", 2, [.received(0..<2), .stored(0..<3)], 2),
        ("bytes 2-5/10", 4, [.received(0..<2), .stored(0..<3)], 2),
        ("bytes 5-8/10", 4, [.stored(0..<3), .received(2..<4)], 4),
        ("bytes 2-8/10", 7, [.received(0..<2), .stored(0..<3), .received(5..<7)], 2),
        ("bytes 5-5/10", 1, [.stored(0..<3)], 4),
        ("bytes 8-9/10", 2, [.received(0..<2)], 8),
        ("bytes 1-2/10", 2, [.received(0..<2)], 1),
        ("bytes 4-8/10", 5, [.stored(0..<3), .received(3..<5)], 4),
        ("bytes 5-6/10", 2, [.stored(0..<3)], 4),
        // What came short is not joined.
        ("bytes 7-9/10", 2, [.received(0..<2)], 7),
        ("bytes 7-8/*", 2, [.stored(0..<3), .received(0..<2)], 4),
    ]

    @Test(arguments: meetings) func `parts that touch are joined, and others replace`(
        range: String, length: Int, pieces: [CacheInsertion.Piece], offset: Int
    ) throws {
        let stored = try #require(try Self.stored("bytes 4-6/10", length: 3))
        let query = try CacheFixtures.query(.get, ["Range": "bytes=0-0"], [stored])
        let fields: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": range, "ETag": "\"a\""]
        let insertion = query.receive(CacheFixtures.arrival(fields, status: 206, length: length)).insertion
        #expect(insertion?.pieces == pieces)
        #expect(insertion?.response.part == CachedPart(offset: offset, completeLength: 10))
    }

    /// What is stored, what came, and the length of the whole, as far as they tell: the lengths must not contradict.
    @Test(arguments: [
        ("bytes 0-4/*", "bytes 5-9/10", true), ("bytes 0-4/10", "bytes 5-9/*", true),
        ("bytes 0-4/11", "bytes 5-9/10", false), ("bytes 0-4/10", "bytes 5-9/10", true),
    ]) func `a part that completes another one makes it whole`(old: String, new: String, isJoined: Bool) throws {
        let stored = try #require(try Self.stored(old, length: 5))
        let query = try CacheFixtures.query(.get, ["Range": "bytes=5-9"], [stored])
        let fields: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": new, "ETag": "\"a\""]
        let response = query.receive(CacheFixtures.arrival(fields, status: 206, length: 5)).insertion?.response
        #expect((response?.status == 200) == isJoined && (response?.part == nil) == isJoined)
        #expect(response?.bodyLength == (isJoined ? 10 : 5))
        #expect(response?.fields["Content-Length"] == String(isJoined ? 10 : 5))
        #expect((response?.fields["Content-Range"] == nil) == isJoined)
    }

    @Test func `one stored part is joined with what has its tag, and others are replaced`() throws {
        for (old, new, isJoined) in [("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", false), ("\"a\"", "\"a\"", true)] {
            let stored = try #require(try Self.stored("bytes 0-4/10", length: 5, tag: old))
            let query = try CacheFixtures.query(.get, ["Range": "bytes=5-8"], [stored])
            let fields: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": "bytes 5-8/10", "ETag": new]
            let response = query.receive(CacheFixtures.arrival(fields, status: 206, length: 4)).insertion?.response
            #expect(response?.part == CachedPart(offset: isJoined ? 0 : 5, completeLength: 10), "\(old) \(new)")
        }
    }

    @Test(arguments: [("\"a\"", false), ("W/\"a\"", false), ("\"b\"", true), ("W/\"b\"", false)])
    func `a part replaces the complete response only when it is another one's`(tag: String, isStored: Bool) throws {
        let stored = try #require(try CacheFixtures.stored(["Cache-Control": "max-age=1", "ETag": "\"a\""]))
        let query = try CacheFixtures.query(.get, ["Range": "bytes=0-1"], [stored])
        let fields: HTTPFields = ["Cache-Control": "max-age=9", "Content-Range": "bytes 0-1/10", "ETag": tag]
        let reception = query.receive(CacheFixtures.arrival(fields, status: 206, length: 2, at: 5))
        #expect((reception.insertion != nil) == isStored)
    }
}
