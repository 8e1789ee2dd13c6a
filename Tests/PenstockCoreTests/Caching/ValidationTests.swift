import Foundation
import Testing

@testable import PenstockCore

@Suite struct ValidationTests {
    static let modified = CacheFixtures.date(-5_000)

    // MARK: The request (RFC 9111 §4.3.1)

    /// Validators stored, the request's own fields, and the conditions sent.
    static let requests: [(HTTPFields, HTTPFields, HTTPFields?)] = [
        (["ETag": "\"a\""], [:], ["If-None-Match": "\"a\""]),
        (["ETag": "W/\"a\""], [:], ["If-None-Match": "W/\"a\""]),
        (["Last-Modified": modified], [:], ["If-Modified-Since": modified]),
        (
            ["ETag": "\"a\"", "Last-Modified": modified], [:],
            ["If-None-Match": "\"a\"", "If-Modified-Since": modified]
        ),
        ([:], [:], nil),
        // A tag without quotes is sent back as it came.
        (["ETag": "0"], [:], ["If-None-Match": "0"]),
        (["ETag": "W/0"], [:], ["If-None-Match": "W/0"]),
        (["ETag": "0"], ["If-None-Match": "\"b\""], ["If-None-Match": "\"b\", 0"]),
        (["ETag": "*"], [:], nil),
        (["ETag": "a b"], [:], nil),
        (["ETag": "\"a"], [:], nil),
        (["ETag": "W/"], [:], nil),
        (["Last-Modified": "yesterday"], [:], nil),
        (["ETag": "\"a\""], ["If-None-Match": "\"b\", \"a\""], ["If-None-Match": "\"b\", \"a\""]),
        (["ETag": "\"a\""], ["If-None-Match": "\"b\""], ["If-None-Match": "\"b\", \"a\""]),
        (["ETag": "\"a,b\""], ["If-None-Match": "W/\"b,c\""], ["If-None-Match": "W/\"b,c\", \"a,b\""]),
        (["Last-Modified": modified], ["If-None-Match": "\"b\""], nil),
        (["Last-Modified": modified], ["If-Modified-Since": CacheFixtures.date(-9)], ["If-Modified-Since": modified]),
        (["ETag": "\"a\""], ["If-None-Match": "*"], nil),
        (["ETag": "\"a\"", "Last-Modified": modified], ["Range": "bytes=0-1"], ["If-None-Match": "\"a\""]),
    ]

    @Test(arguments: requests) func `a stale response is asked about by its validators`(
        validators: HTTPFields, own: HTTPFields, conditions: HTTPFields?
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=1"]
        fields.append(contentsOf: validators)
        let sent = try CacheFixtures.validation(own, [CacheFixtures.stored(fields)])?.request.fields
        #expect((sent == nil) == (conditions == nil))
        for name in ["If-None-Match", "If-Modified-Since"] as [HTTPFieldName] {
            #expect(sent?[name] == conditions?[name])
        }
        #expect(sent?["Range"] == (sent == nil ? nil : own["Range"]))
    }

    @Test func `the tags of all variants are offered, the newest first, each once, ten at most`() throws {
        let stored = try (0..<20).map { number in
            try CacheFixtures.stored(
                ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"\(number / 2)\""], at: TimeInterval(number),
                to: ["Foo": "\(number)"])
        }
        let sent = try CacheFixtures.validation(["Foo": "3"], stored)?.request.fields
        #expect(sent?["If-None-Match"] == #""1", "9", "8", "7", "6", "5""#)
    }

    @Test func `a request carries ten tags of the cache at most`() throws {
        for count in [9, 10, 11, 12] {
            let stored = try (0..<count).map { number in
                try CacheFixtures.stored(
                    ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"\(number)\""], at: TimeInterval(number),
                    to: ["Foo": "\(number)"])
            }
            let validation = try CacheFixtures.validation(["Foo": "0"], stored)
            let tags = validation?.request.fields["If-None-Match"]?.split(separator: ",")
            #expect(tags?.count == min(count, 10))
            #expect(tags?.first == "\"0\"")
            #expect(validation?.candidates.count == min(count, 10))
        }
    }

    @Test(arguments: [["ETag": "W/\"a\""], ["Last-Modified": modified], ["ETag": "\"a\""]] as [HTTPFields])
    func `what could not answer the request is not asked about`(validator: HTTPFields) throws {
        var fields: HTTPFields = [
            "Cache-Control": "max-age=10, stale-while-revalidate=100", "Content-Range": "bytes 4-8/10",
        ]
        fields.append(contentsOf: validator)
        let part = try #require(try CacheFixtures.stored(fields, status: 206, length: 5))
        #expect(try CacheFixtures.decide([:], [part], after: 20) == "load partial")
        let query = try CacheFixtures.query(.get, ["Range": "bytes=4-8"], [part])
        let steps = query.decide(now: CacheFixtures.start + 20)
        guard steps.first?.hit != nil, case .refresh(let refresh) = steps.last else {
            Issue.record("not used")
            return
        }
        // Behind the answer all of it is asked for, which the part is not.
        #expect(refresh.request.fields.isEmpty && refresh.candidates.isEmpty)
    }

    @Test func `a date goes along where no other response is asked about, and a part of another request is not`() throws
    {
        let own = try CacheFixtures.stored(
            ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"a\"", "Last-Modified": Self.modified],
            to: ["Foo": "1"])
        let plain = try CacheFixtures.stored(["Cache-Control": "max-age=1", "Vary": "Foo"], to: ["Foo": "2"])
        let part = try CacheFixtures.stored(
            ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"p\"", "Content-Range": "bytes 0-4/10"],
            status: 206, length: 5, to: ["Foo": "3"])
        let alone = try CacheFixtures.validation(["Foo": "1"], [own, plain, part])?.request.fields
        #expect(alone?["If-None-Match"] == "\"a\"" && alone?["If-Modified-Since"] == Self.modified)
        let other = try CacheFixtures.stored(
            ["Cache-Control": "max-age=1", "Vary": "Foo", "ETag": "\"b\""], to: ["Foo": "4"])
        let both = try CacheFixtures.validation(["Foo": "1"], [own, other])?.request.fields
        #expect(both?["If-None-Match"] == "\"a\", \"b\"" && both?["If-Modified-Since"] == nil)
    }

    @Test(arguments: ["If-Match", "If-Unmodified-Since"] as [HTTPFieldName])
    func `conditions for the origin are left to it`(name: HTTPFieldName) throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100", "ETag": "\"a\""])
        #expect(try CacheFixtures.decide([name: "\"a\""], [stored], after: 1) == "load origin-condition")
    }

    // MARK: Conditions of the caller's (RFC 9111 §4.3.2)

    static let date = CacheFixtures.date(0)
    static let conditions: [(HTTPFields, HTTPFields, Int)] = [
        (["ETag": "\"a\""], ["If-None-Match": "\"a\""], 304),
        (["ETag": "\"a\""], ["If-None-Match": "W/\"a\""], 304),
        (["ETag": "W/\"a\""], ["If-None-Match": "\"a\""], 304),
        (["ETag": "\"a\""], ["If-None-Match": "\"x\", \"a\""], 304),
        (["ETag": "\"a\""], ["If-None-Match": "\"A\""], 200),
        (["ETag": "\"a\""], ["If-None-Match": "*"], 304),
        (["ETag": "\"a\""], ["If-None-Match": "a"], 200),
        (["ETag": "0"], ["If-None-Match": "0"], 304),
        (["ETag": "0"], ["If-None-Match": "W/0"], 304),
        (["ETag": "0"], ["If-None-Match": "\"0\""], 200),
        ([:], ["If-None-Match": "\"a\""], 200),
        (["ETag": "\"a\"", "Last-Modified": modified], ["If-None-Match": "\"b\"", "If-Modified-Since": date], 200),
        (["ETag": "\"a\"", "Last-Modified": modified], ["If-None-Match": "\"a\"", "If-Modified-Since": "x"], 304),
        (["Last-Modified": modified], ["If-Modified-Since": modified], 304),
        (["Last-Modified": modified], ["If-Modified-Since": CacheFixtures.date(-4_000)], 304),
        (["Last-Modified": modified], ["If-Modified-Since": CacheFixtures.date(-6_000)], 200),
        (["Last-Modified": modified], ["If-Modified-Since": "last week"], 200),
        (["Date": date], ["If-Modified-Since": date], 304),
        ([:], ["If-Modified-Since": CacheFixtures.date(-1)], 200),
    ]

    @Test(arguments: conditions) func `a fresh response answers the caller's conditions`(
        stored: HTTPFields, request: HTTPFields, status: Int
    ) throws {
        var fields: HTTPFields = ["Cache-Control": "max-age=100", "Content-Type": "text/plain"]
        fields.append(contentsOf: stored)
        let hit = try #require(try CacheFixtures.hit(request, CacheFixtures.stored(fields)))
        #expect(hit.status == status)
        #expect((hit.content == nil) == (status == 304))
        #expect(hit.fields["ETag"] == stored["ETag"])
        #expect((hit.fields["Content-Type"] == nil) == (status == 304))
    }

    @Test func `conditions mean nothing to a stored error`() throws {
        for (stored, given) in [(404, 404), (300, 300), (299, 304), (200, 304)] {
            let stored = try CacheFixtures.stored(["Cache-Control": "max-age=100", "ETag": "\"a\""], status: stored)
            #expect(try CacheFixtures.hit(["If-None-Match": "\"a\""], stored)?.status == given)
        }
    }
}

@Suite struct NotModifiedTests {
    static let modified = CacheFixtures.date(-5_000)

    /// Asks about `stored` after 50 s, and receives a 304 with `fields`.
    static func receive(
        _ fields: HTTPFields, stored: [CachedResponse?], request: HTTPFields = [:], policy: CachePolicy = .http
    ) throws -> CacheReception {
        let query = try CacheFixtures.query(.get, request, stored.compactMap(\.self), policy: policy)
        let validation = try #require(query.validation(now: CacheFixtures.start + 50))
        return query.receive(CacheFixtures.arrival(fields, status: 304, length: 0, at: 50), to: validation)
    }

    static func stored(_ fields: HTTPFields, to request: HTTPFields = [:]) throws -> CachedResponse? {
        var all: HTTPFields = ["Cache-Control": "max-age=10", "X": "1", "Content-Type": "text/plain"]
        all.merge(fields)
        return try CacheFixtures.stored(all, to: request)
    }

    static func hit(_ reception: CacheReception) -> CacheHit? {
        if case .stored(let hit) = reception.answer { hit } else { nil }
    }

    /// What is stored, what the 304 has, whether it answers, and whether it updates.
    static let table: [(HTTPFields, HTTPFields, Bool, Bool)] = [
        (["ETag": "\"a\""], ["ETag": "\"a\""], true, true),
        (["ETag": "\"a\""], ["ETag": "\"b\""], false, false),
        (["ETag": "W/\"a\""], ["ETag": "W/\"a\""], true, true),
        (["ETag": "\"a\""], ["ETag": "W/\"a\""], true, true),
        (["ETag": "W/\"a\""], ["ETag": "\"a\""], true, false),
        (["ETag": "0"], ["ETag": "0"], true, true),
        (["ETag": "0"], ["ETag": "\"0\""], false, false),
        (["ETag": "\"a\""], [:], true, true),
        (["Last-Modified": modified], ["Last-Modified": modified], true, true),
        (["Last-Modified": modified], ["Last-Modified": CacheFixtures.date(-1)], false, false),
        (["Last-Modified": modified], [:], true, true),
        (["Last-Modified": modified], ["Last-Modified": modified, "ETag": "\"a\""], true, true),
        (["Last-Modified": modified], ["ETag": "\"a\""], false, false),
        (["ETag": "\"a\""], ["ETag": "\"a\"", "Cache-Control": "no-store"], true, false),
        (
            ["ETag": "\"a\"", "Last-Modified": modified], ["ETag": "\"b\"", "Last-Modified": modified], false,
            false
        ),
    ]

    @Test(arguments: table) func `a 304 speaks of the response whose validator it has`(
        old: HTTPFields, new: HTTPFields, answers: Bool, updates: Bool
    ) throws {
        let reception = try Self.receive(new, stored: [Self.stored(old)])
        #expect((Self.hit(reception) != nil) == answers)
        #expect(!reception.updates.isEmpty == updates)
        if !answers, case .sendAgain = reception.answer {} else if !answers { Issue.record("\(reception.answer)") }
        #expect(reception.insertion == nil)
    }

    @Test func `its fields replace the stored ones, but for those of the body`() throws {
        let stored = try Self.stored(["ETag": "\"a\"", "Age": "5", "Y": "1", "Content-Length": "10"])
        let fields: HTTPFields = [
            "X": "2", "Content-Foo": "2", "Content-Type": "text/html", "Content-Length": "0", "Content-Encoding": "br",
            "Content-Range": "bytes 0-1/2", "Connection": "Secret", "Secret": "1", "Keep-Alive": "1",
        ]
        let reception = try Self.receive(fields, stored: [stored])
        let updated = try #require(reception.updates.first?.updated)
        let expected: HTTPFields = [
            "X": "2", "Y": "1", "Content-Foo": "2", "Content-Type": "text/plain", "Content-Length": "10",
            "Cache-Control": "max-age=10", "ETag": "\"a\"", "Date": CacheFixtures.date(50),
        ]
        #expect(Set(updated.fields) == Set(expected))
        let hit = try #require(Self.hit(reception))
        #expect(hit.reason == .validated && !hit.isStale && hit.age == 0 && hit.status == 200)
        #expect(hit.content == 0..<10)
        #expect(try CacheFixtures.decide([:], [updated], after: 59) == "use fresh")
        #expect(try CacheFixtures.decide([:], [updated], after: 61) == "revalidate expired")
    }

    /// What is stored says, what the 304 says, and the field that the caller gets.
    static let withheld: [(String, HTTPFields, String?)] = [
        ("max-age=10, no-cache=\"X\"", ["X": "2"], "2"),
        ("max-age=10", ["X": "2", "Cache-Control": "no-cache=\"X\""], "2"),
        ("max-age=10", ["Cache-Control": "no-cache=\"X\""], nil),
        ("max-age=10, no-cache=\"X\"", ["X": "2", "Connection": "X"], nil),
        ("max-age=10, no-cache=\"X\"", ["X": "2", "Cache-Control": "max-age=10"], "2"),
    ]

    @Test(arguments: withheld) func `a field that may not be stored is of the answer to the 304 that has brought it`(
        control: String, fields: HTTPFields, seen: String?
    ) throws {
        var fields = fields
        fields[.eTag] = "\"a\""
        fields[.contentType] = "text/html"
        let stored = try Self.stored(["ETag": "\"a\"", "Cache-Control": control])
        let reception = try Self.receive(fields, stored: [stored])
        let hit = try #require(Self.hit(reception))
        #expect(hit.fields["X"] == seen)
        #expect(hit.fields["Content-Type"] == "text/plain")
        let isStorable = fields["Cache-Control"] == "max-age=10"
        #expect(reception.updates.first?.updated.fields["X"] == (isStorable ? "2" : nil))
    }

    @Test func `the caller's own condition is answered by what was validated`() throws {
        let stored = try Self.stored(["ETag": "\"a\"", "Last-Modified": Self.modified])
        let same = try Self.receive(["ETag": "\"a\""], stored: [stored], request: ["If-None-Match": "\"a\""])
        #expect(Self.hit(same)?.status == 304)
        let other = try Self.receive(["ETag": "\"a\""], stored: [stored], request: ["If-None-Match": "\"b\""])
        #expect(Self.hit(other)?.status == 200)
        let date = try Self.receive(["ETag": "\"a\""], stored: [stored], request: ["If-Modified-Since": Self.modified])
        #expect(Self.hit(date)?.status == 304)
    }

    @Test func `a 304 about what only the caller has goes to the caller`() throws {
        let stored = try Self.stored(["ETag": "\"a\""])
        let reception = try Self.receive(["ETag": "\"b\""], stored: [stored], request: ["If-None-Match": "\"b\""])
        guard case .response = reception.answer else {
            Issue.record("\(reception.answer)")
            return
        }
        #expect(reception.updates.isEmpty)
    }

    @Test func `a 304 that nobody asked for is passed on and changes nothing`() throws {
        let query = try CacheFixtures.query(.get, [:], [Self.stored(["ETag": "\"a\""])].compactMap(\.self))
        let reception = query.receive(CacheFixtures.arrival(["ETag": "\"a\""], status: 304))
        guard case .response = reception.answer else {
            Issue.record("\(reception.answer)")
            return
        }
        #expect(reception.updates.isEmpty && reception.insertion == nil)
    }

    @Test func `a 304 may choose another variant, which then has a place of its own`() throws {
        let first = try Self.stored(["ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "1"])
        let second = try Self.stored(["ETag": "\"b\"", "Vary": "Foo"], to: ["Foo": "2"])
        let request: HTTPFields = ["Foo": "3"]
        let reception = try Self.receive(["ETag": "\"b\""], stored: [first, second], request: request)
        let update = try #require(reception.updates.first)
        #expect(reception.updates.count == 1)
        #expect(update.stored == second)
        #expect(update.updated.variant.selectors == [.init(name: "foo", value: "3")])
        #expect(try CacheFixtures.decide(request, [update.updated], after: 51) == "use fresh")
    }

    @Test(arguments: ["max-age=10", "no-store"])
    func `the body is that of the response that a 304 has chosen, also where nothing of the 304 is stored`(
        control: String
    ) throws {
        let first = try Self.stored(["ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "1"])
        let second = try Self.stored(["ETag": "\"b\"", "Vary": "Foo"], to: ["Foo": "2"])
        let reception = try Self.receive(
            ["ETag": "\"b\"", "Vary": "Foo", "Cache-Control": control], stored: [first, second], request: ["Foo": "1"])
        let hit = try #require(Self.hit(reception))
        #expect(hit.original == second)
        // It answers requests now that another one has answered so far.
        #expect(hit.stored.variant == first?.variant)
        #expect(hit.stored.fields["ETag"] == "\"b\"")
        #expect(reception.updates.isEmpty == (control == "no-store"))
    }

    @Test func `a strong tag updates every response that has it`() throws {
        let first = try Self.stored(["ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "1"])
        let second = try Self.stored(["ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "2"])
        let reception = try Self.receive(["ETag": "\"a\""], stored: [first, second], request: ["Foo": "1"])
        #expect(reception.updates.map(\.stored) == [first, second])
        #expect(reception.updates.map(\.updated.variant) == [first?.variant, second?.variant])
        #expect(Self.hit(reception)?.stored.variant == first?.variant)
    }

    @Test func `a weak tag updates the most recent response that has it and fits the request`() throws {
        let names = ["Foo", "Bar", "Baz"]
        let stored = try (0...2).map { number in
            try CacheFixtures.stored(
                ["Cache-Control": "max-age=1", "ETag": "W/\"a\"", "Vary": names[number]], at: [3, 5, 4][number])
        }
        let reception = try Self.receive(["ETag": "W/\"a\""], stored: stored)
        #expect(reception.updates.map(\.stored) == [stored[1]])
        #expect(Self.hit(reception)?.stored.fields["Date"] == CacheFixtures.date(50))
    }

    /// What is stored for one account, and came at that time.
    static func stored(_ validators: HTTPFields, of account: String, at time: TimeInterval) throws -> CachedResponse? {
        var fields: HTTPFields = ["Cache-Control": "max-age=1", "Vary": "X-Account"]
        fields.merge(validators)
        return try CacheFixtures.stored(fields, at: time, to: ["X-Account": account])
    }

    @Test(arguments: ["W/\"3\"", "3"]) func `the weak tag of a response that does not fit the request is not offered`(
        tag: String
    ) throws {
        let other = try Self.stored(["ETag": tag], of: "a", at: 5)
        let decision = try CacheFixtures.decide(["X-Account": "b"], [other], after: 50)
        #expect(decision == "load vary-mismatch")
    }

    /// The validators of another account's response, of the request's own, and of the 304.
    static let shared: [(HTTPFields, HTTPFields, HTTPFields)] = [
        (["ETag": "W/\"3\""], ["ETag": "W/\"3\""], ["ETag": "W/\"3\""]),
        (["ETag": "\"3\""], ["ETag": "W/\"3\""], ["ETag": "W/\"3\""]),
        (
            ["ETag": "\"a\"", "Last-Modified": modified], ["ETag": "\"b\"", "Last-Modified": modified],
            ["Last-Modified": modified]
        ),
    ]

    @Test(arguments: shared) func `a weak tag and a date mean what fits the request, however new another response is`(
        others: HTTPFields, own: HTTPFields, new: HTTPFields
    ) throws {
        let stored = try [Self.stored(others, of: "a", at: 5), Self.stored(own, of: "b", at: 3)]
        let reception = try Self.receive(new, stored: stored, request: ["X-Account": "b"])
        #expect(reception.updates.map(\.stored) == [stored[1]])
        #expect(Self.hit(reception)?.stored.variant == stored[1]?.variant)
    }

    @Test func `a 304 without a validator means what is stored only where the caller holds nothing else`() throws {
        let stored = try Self.stored(["ETag": "\"y\""])
        for (own, answers) in [("\"y\"", true), ("W/\"y\"", true), ("\"x\"", false), ("\"y\", \"x\"", false)] {
            let reception = try Self.receive([:], stored: [stored], request: ["If-None-Match": own])
            #expect((Self.hit(reception) != nil) == answers, "\(own)")
            #expect(!reception.updates.isEmpty == answers, "\(own)")
            // The request goes as the caller made it, and the 304 to that is the caller's.
            if !answers, case .sendAgain = reception.answer {} else if !answers { Issue.record("\(reception.answer)") }
        }
    }

    @Test func `of several that a 304 means, none of which is the request's own, the most recent answers`() throws {
        let stored = try (0...2).map { number in
            try CacheFixtures.stored(
                ["Cache-Control": "max-age=1", "ETag": "\"a\"", "Vary": "Foo", "X": "\(number)"],
                at: [3, 5, 4][number],
                to: ["Foo": "\(number)"])
        }
        let reception = try Self.receive(["ETag": "\"a\""], stored: stored, request: ["Foo": "9"])
        #expect(Self.hit(reception)?.stored.fields["X"] == "1")
        #expect(reception.updates.count == 3)
        let moved = reception.updates.filter { $0.updated.variant != $0.stored.variant }
        #expect(moved.map(\.stored) == [stored[1]])
    }

    @Test func `a 304 that changes what is varied by gives the response another place`() throws {
        let stored = try Self.stored(["ETag": "\"a\"", "Vary": "Foo"], to: ["Foo": "1"])
        let request: HTTPFields = ["Foo": "1", "Bar": "2"]
        let update = try #require(
            try Self.receive(["ETag": "\"a\"", "Vary": "Foo, Bar"], stored: [stored], request: request).updates.first)
        #expect(
            update.updated.variant.selectors == [.init(name: "bar", value: "2"), .init(name: "foo", value: "1")])
    }

    @Test func `what was just validated is not stale, however short it lives`() throws {
        let stored = try CacheFixtures.stored(["Cache-Control": "max-age=0", "ETag": "\"a\""])
        let hit = try #require(Self.hit(try Self.receive(["ETag": "\"a\""], stored: [stored])))
        #expect(!hit.isStale && hit.ttl == 0)
        let fresh = try CacheFixtures.hit([:], Self.stored(["Cache-Control": "max-age=100"]))
        #expect(fresh?.isStale == false && fresh?.ttl == 99)
        let old = try CacheFixtures.hit(["Cache-Control": "max-stale"], Self.stored([:]), after: 11)
        #expect(old?.isStale == true && old?.ttl == -1)
    }

    @Test func `an invalidated response is valid again after a 304`() throws {
        var stored = try #require(try Self.stored(["ETag": "\"a\""]))
        stored.isInvalidated = true
        let updated = try Self.receive(["ETag": "\"a\""], stored: [stored]).updates.first?.updated
        #expect(updated?.isInvalidated == false)
    }
}
