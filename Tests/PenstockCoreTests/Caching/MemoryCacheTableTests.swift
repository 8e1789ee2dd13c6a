import Foundation
import Testing

@testable import PenstockCore

/// What is found in the memory, and what goes when it is full.
@Suite struct MemoryCacheTableTests {
    private static func key(_ path: String, _ identity: String = "") throws -> CacheKey {
        CacheKey(url: try HTTPURL("https://a.example\(path)"), partition: .init(identity: identity))
    }

    private static func stored(
        _ path: String, _ language: String? = nil, row: Int64, body: Int = 0, tags: [String] = [],
        at time: TimeInterval = 0
    ) throws -> StoredResponse {
        let selectors = language.map { [CacheVariant.Selector(name: "accept-language", value: $0)] } ?? []
        let response = CachedResponse(
            key: try key(path), variant: CacheVariant(selectors: selectors), status: 200, fields: [:],
            requestTime: CacheFixtures.start, responseTime: CacheFixtures.start + time, bodyLength: body, tags: tags)
        return StoredResponse(response, entry: CacheEntryID(row: row, version: 1), body: Data(count: body))
    }

    private static func table(bytes: Int = 1 << 20, entries: Int = 100, variants: Int = 32) -> MemoryCacheTable {
        MemoryCacheTable(limits: CacheLimits(bytes: bytes, entries: entries, variants: variants))
    }

    private static func rows(_ table: MemoryCacheTable) -> [Int64] { table.all.map(\.entry.row).sorted() }

    @Test func `a response costs its bytes, its URL twice, and what its structures take`() throws {
        let url = "https://a.example/a".utf8.count
        #expect(MemoryCacheTable.cost(of: try Self.stored("/a", row: 1)) == 512 + 2 * url)
        #expect(MemoryCacheTable.cost(of: try Self.stored("/a", row: 1, body: 7)) == 512 + 2 * url + 7)
        let response = CachedResponse(
            key: try Self.key("/a"), status: 200, fields: ["Abc": "de", "F": ""], requestTime: .distantPast,
            responseTime: .distantPast, bodyLength: 7)
        let below = StoredResponse(response, entry: CacheEntryID(row: 1, version: 1), body: nil)
        #expect(MemoryCacheTable.cost(of: below) == 512 + 2 * url + 3 + 2 + 64 + 1 + 64)
    }

    @Test(arguments: [(0, [1, 2, 3]), (-1, [2, 3])] as [(Int, [Int64])])
    func `what was used least recently goes when there are more bytes than may be`(room: Int, left: [Int64]) throws {
        let responses = try (1...3).map { try Self.stored("/\($0)", row: Int64($0), body: 100) }
        let bytes = responses.map(MemoryCacheTable.cost).reduce(0, +)
        var table = Self.table(bytes: bytes + room)
        for stored in responses { table.put(stored) }
        #expect(Self.rows(table) == left)
        #expect(table.statistics.entries == left.count && table.statistics.bytes == bytes / 3 * left.count)
    }

    @Test(arguments: [(3, [1, 2, 3]), (2, [1, 3])] as [(Int, [Int64])])
    func `and when there are more responses than may be`(entries: Int, left: [Int64]) throws {
        var table = Self.table(entries: entries)
        for number in 1...2 { table.put(try Self.stored("/\(number)", row: Int64(number))) }
        _ = table.use(try Self.key("/1"))
        table.put(try Self.stored("/3", row: 3))
        #expect(Self.rows(table) == left)
    }

    @Test func `a response takes the place of the one with its variant, and stands beside others`() throws {
        var table = Self.table()
        table.put(try Self.stored("/a", "en", row: 1, tags: ["s"]))
        table.put(try Self.stored("/a", "nl", row: 2))
        table.put(try Self.stored("/a", "en", row: 3, body: 5, tags: ["t"]))
        #expect(table.use(try Self.key("/a"))?.responses.map(\.entry.row) == [2, 3])
        #expect(table.peek(CacheEntryID(row: 1, version: 1)) == nil && table.key(of: .init(row: 1, version: 1)) == nil)
        #expect(table.peek(CacheEntryID(row: 3, version: 1))?.body?.count == 5)
        #expect(table.peek(CacheEntryID(row: 3, version: 2)) == nil)
        let key = try Self.key("/a")
        #expect(table.key(of: CacheEntryID(row: 3, version: 1)) == key)
        #expect(table.keys(for: .tag("s", in: .everyone)).isEmpty)
        #expect(table.keys(for: .tag("t", in: .everyone)) == [key])
        #expect(table.statistics.entries == 2)
        table.put(try Self.stored("/a", "nl", row: 4))
        #expect(table.use(try Self.key("/a"))?.responses.map(\.entry.row) == [3, 4])
    }

    @Test func `where nothing is removed nothing is used`() throws {
        var table = Self.table(entries: 2)
        for number in 1...2 { table.put(try Self.stored("/\(number)", row: Int64(number))) }
        table.remove(try Self.key("/1")) { _ in false }
        table.put(try Self.stored("/3", row: 3))
        #expect(Self.rows(table) == [2, 3])
    }

    @Test(arguments: [["t"], ["u"], []]) func `the only response of a key is replaced with its marks and its bytes`(
        tags: [String]
    ) throws {
        var table = Self.table()
        table.put(try Self.stored("/a", row: 1, body: 5, tags: ["t"]))
        table.put(try Self.stored("/b", row: 2))
        // The same entry again, and then another one.
        for row in [1, 3] as [Int64] {
            let stored = try Self.stored("/a", row: row, body: 50, tags: tags)
            table.put(stored)
            let key = try Self.key("/a")
            #expect(Self.rows(table) == [2, row].sorted())
            #expect(table.peek(key)?.responses.first?.body?.count == 50)
            #expect(table.key(of: stored.entry) == key)
            #expect((table.key(of: CacheEntryID(row: 1, version: 1)) != nil) == (row == 1))
            for tag in ["t", "u"] {
                #expect(table.keys(for: .tag(tag, in: .everyone)) == (tags.contains(tag) ? [key] : []))
            }
        }
        let others = try Self.stored("/b", row: 2)
        let own = try Self.stored("/a", row: 3, body: 50, tags: tags)
        #expect(table.statistics.bytes == MemoryCacheTable.cost(of: others) + MemoryCacheTable.cost(of: own))
    }

    @Test func `a response that grows makes others go, and one that is too large goes itself`() throws {
        let (a, b) = (try Self.stored("/a", row: 1), try Self.stored("/b", row: 2))
        let bytes = MemoryCacheTable.cost(of: a) + MemoryCacheTable.cost(of: b)
        var table = Self.table(bytes: bytes)
        table.put(a)
        table.put(b)
        table.put(try Self.stored("/b", row: 3, body: 1))
        #expect(Self.rows(table) == [3])
        let all = bytes - MemoryCacheTable.cost(of: b)
        table.put(try Self.stored("/b", row: 4, body: all))
        #expect(Self.rows(table) == [4], "it has all the room there is")
        table.put(try Self.stored("/b", row: 5, body: all + 1))
        #expect(Self.rows(table) == [] && table.statistics == CacheStatistics())
        table.put(try Self.stored("/c", row: 6, body: all + 1))
        #expect(Self.rows(table) == [])
    }

    @Test func `of too many variants the latest stay, by number and by bytes`() throws {
        var table = Self.table(variants: 2)
        for (row, language) in ["en", "nl", "fr"].enumerated() {
            table.put(try Self.stored("/a", language, row: Int64(row)))
        }
        #expect(Self.rows(table) == [1, 2])
        let two = try ["en", "nl"].enumerated().map { try Self.stored("/a", $1, row: Int64($0), body: 100) }
        let bytes = two.map(MemoryCacheTable.cost).reduce(0, +)
        for (room, left) in [(0, [0, 1]), (-1, [1])] as [(Int, [Int64])] {
            var narrow = Self.table(bytes: bytes + room)
            for stored in two { narrow.put(stored) }
            #expect(Self.rows(narrow) == left)
            #expect(narrow.fits(two) == (room == 0))
        }
        #expect(table.fits(two) && !table.fits(two + two.prefix(1)))
    }

    @Test func `what is removed is found by nothing any more`() throws {
        var table = Self.table()
        table.put(try Self.stored("/a?b=1", "en", row: 1, tags: ["t"]))
        table.put(try Self.stored("/a?b=1", "nl", row: 2, tags: ["t", "u"]))
        table.put(try Self.stored("/a?b=2", row: 3, tags: ["u"]))
        let (one, two) = (try Self.key("/a?b=1"), try Self.key("/a?b=2"))
        let url = try HTTPURL("https://a.example/a?b=1")
        #expect(Set(table.keys(for: .path(url, in: .everyone))) == [one, two])
        #expect(Set(table.keys(for: .url(url, in: .everyone))) == [one, two])
        #expect(Set(table.keys(for: .tag("u", in: .everyone))) == [one, two])
        #expect(Set(table.keys(for: .all)) == [one, two])
        #expect(table.keys(for: .entry(CacheEntryID(row: 2, version: 1))) == [one])
        #expect(table.keys(for: .key(two)) == [two])
        let before = table.statistics.bytes
        table.remove(one) { _ in false }
        #expect(Self.rows(table) == [1, 2, 3] && table.statistics.bytes == before)
        table.remove(one) { $0.entry.row == 2 }
        #expect(Self.rows(table) == [1, 3])
        #expect(
            table.keys(for: .tag("u", in: .everyone)) == [two] && table.keys(for: .tag("t", in: .everyone)) == [one])
        table.remove(one) { _ in true }
        #expect(Self.rows(table) == [3] && table.peek(one) == nil)
        #expect(table.keys(for: .path(url, in: .everyone)) == [two])
        #expect(table.keys(for: .tag("t", in: .everyone)).isEmpty)
        table.removeAll()
        #expect(table.statistics == CacheStatistics() && table.keys(for: .path(url, in: .everyone)).isEmpty)
        table.put(try Self.stored("/a", row: 4))
        #expect(Self.rows(table) == [4])
    }

    @Test func `a key goes with all its variants where one of them is selected`() throws {
        var table = Self.table()
        table.put(try Self.stored("/a", "en", row: 1, tags: ["t"]))
        table.put(try Self.stored("/a", "nl", row: 2))
        table.put(try Self.stored("/b", row: 3))
        for path in ["/a", "/b", "/c"] { table.forget(try Self.key(path), selectedBy: .tag("t", in: .everyone)) }
        #expect(Self.rows(table) == [3])
    }

    @Test func `an entry may get another name, which is no use`() throws {
        var table = Self.table(entries: 3)
        table.put(try Self.stored("/a", "en", row: 1, body: 3))
        table.put(try Self.stored("/a", "nl", row: 2, body: 4))
        table.put(try Self.stored("/b", row: 3))
        let (old, new) = (CacheEntryID(row: 1, version: 1), CacheEntryID(row: 9, version: 5))
        let key = try Self.key("/a")
        table.rename(old, to: new, of: key)
        #expect(table.peek(old) == nil && table.key(of: old) == nil && table.key(of: new) == key)
        #expect(table.peek(new)?.body?.count == 3)
        #expect(table.peek(key)?.responses.map(\.entry.row) == [9, 2])
        table.put(try Self.stored("/c", row: 4))
        #expect(Self.rows(table) == [3, 4])
    }

    @Test func `what is too old goes with every use of the table, a few at a time, the least recently used first`()
        throws
    {
        var table = Self.table()
        for number in 1...6 { table.put(try Self.stored("/\(number)", row: Int64(number), at: TimeInterval(number))) }
        let start = CacheFixtures.start
        table.removeOld(outside: start + 1...start + 6)
        #expect(Self.rows(table) == [1, 2, 3, 4, 5, 6])
        table.removeOld(outside: start + 6...start + 6)
        #expect(Self.rows(table) == [5, 6], "four at a time")
        table.removeOld(outside: start + 7...start + 8)
        #expect(Self.rows(table) == [])
        table.removeOld(outside: start...start)
        // A key stays for the youngest of its variants.
        table.put(try Self.stored("/a", "en", row: 1, at: 1))
        table.put(try Self.stored("/a", "nl", row: 2, at: 2))
        table.removeOld(outside: start + 2...start + 3)
        #expect(Self.rows(table) == [1, 2])
    }

    @Test func `a use is noted once in each round`() throws {
        var table = Self.table()
        table.put(try Self.stored("/a", row: 1))
        let key = try Self.key("/a")
        #expect([1, 1, 2, 1].map { table.noteUse(of: key, in: $0) } == [true, false, true, true])
        #expect(table.peek(key)?.round == 1)
    }

    @Test func `what was stored before it was doubted is not trusted`() throws {
        var table = Self.table()
        table.put(try Self.stored("/a", row: 1))
        table.put(try Self.stored("/b", row: 2))
        let (a, b) = (try Self.key("/a"), try Self.key("/b"))
        #expect(table.trusts(try #require(table.peek(a))))
        table.distrust()
        table.put(try Self.stored("/b", row: 3))
        #expect(try !table.trusts(#require(table.peek(a))) && table.trusts(#require(table.peek(b))))
        table.put(try Self.stored("/a", "en", row: 4))
        #expect(table.trusts(try #require(table.peek(a))))
    }
}
