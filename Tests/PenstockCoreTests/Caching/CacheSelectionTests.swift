import Foundation
import Testing

@testable import PenstockCore

/// Which stored responses are meant, and how much may be kept of them.
@Suite struct CacheSelectionTests {
    private static let alice = CachePartition(environment: "e", identity: "alice", way: "w")
    private static let url = "https://a.example/a?b=1"

    private static func stored(
        _ url: String = url, of partition: CachePartition = alice, _ method: HTTPMethod = .get
    ) throws -> CachedResponse {
        CachedResponse(
            key: CacheKey(method: method, url: try HTTPURL(url), partition: partition), status: 200, fields: [:],
            requestTime: .distantPast, responseTime: .distantPast, bodyLength: 0, tags: ["s", "t"])
    }

    /// Of ``stored(_:of:_:)`` as it is, of the same of another user, in another environment and by another way, and of other
    /// URLs: the path with another query, and another path.
    private static func selected(by selection: CacheSelection) throws -> String {
        let candidates = [
            ("own", try stored()), ("bob", try stored(of: .init(environment: "e", identity: "bob", way: "w"))),
            ("elsewhere", try stored(of: .init(environment: "f", identity: "alice", way: "w"))),
            ("way", try stored(of: .init(environment: "e", identity: "alice", way: "v"))),
            ("post", try stored(url, of: alice, .post)), ("query", try stored("https://a.example/a?b=2")),
            ("path", try stored("https://a.example/a/b?b=1")),
        ]
        let entry = CacheEntryID(row: 1, version: 2)
        return candidates.filter { selection.contains($0.1, stored: entry) }.map(\.0).joined(separator: " ")
    }

    private static func selections() throws -> [(CacheSelection, String)] {
        let url = try HTTPURL(url)
        let everything = "own bob elsewhere way post query path"
        return [
            (.all, everything), (.key(try stored().key), "own"),
            (.entry(CacheEntryID(row: 1, version: 2)), everything), (.entry(CacheEntryID(row: 1, version: 1)), ""),
            (.entry(CacheEntryID(row: 2, version: 2)), ""),
            (.url(url, in: .everyone), "own bob elsewhere way post"),
            (.url(url, in: .partition(alice)), "own way post"), (.url(url), "own bob elsewhere way post"),
            (.path(url, in: .everyone), "own bob elsewhere way post query"),
            (.path(url, in: .partition(alice)), "own way post query"),
            (.tag("t", in: .everyone), everything), (.tag("x", in: .everyone), ""),
            (.tag("t", in: .partition(alice)), "own way post query path"),
            (.partition(alice), "own way post query path"),
            (.identity("alice"), "own elsewhere way post query path"), (.identity("bob"), "bob"),
            (.environment("e"), "own bob way post query path"), (.environment("f"), "elsewhere"),
        ]
    }

    @Test func `a selection means what it names, and whose it is`() throws {
        for (selection, expected) in try Self.selections() {
            #expect(try Self.selected(by: selection) == expected, "\(selection)")
        }
    }

    @Test func `the present user is put in where nobody else is named`() throws {
        let url = try HTTPURL(Self.url)
        let bob = CachePartition(identity: "bob")
        #expect(CacheSelection.url(url).of(bob) == .url(url, in: .partition(bob)))
        #expect(CacheSelection.path(url).of(bob) == .path(url, in: .partition(bob)))
        #expect(CacheSelection.tag("t").of(bob) == .tag("t", in: .partition(bob)))
        #expect(CacheSelection.tag("t", in: .everyone).of(bob) == .tag("t", in: .everyone))
        #expect(CacheSelection.all.of(bob) == .all)
    }

    @Test func `whole users and environments are meant to leave no trace, single responses to be found no more`() throws
    {
        let erasing = try Self.selections().map(\.0).filter(\.erases)
        #expect(
            erasing == [
                .all, .partition(Self.alice), .identity("alice"), .identity("bob"), .environment("e"),
                .environment("f"),
            ])
    }

    @Test func `in a file a key, a URL and a path are selected in the form that they have there`() throws {
        let form = CacheAtRest(secret: Data([1]))
        let url = try HTTPURL("https://a.example/a?token=x")
        let plain = try Self.stored(url.absoluteString)
        let written = try #require(form.response(plain))
        let entry = CacheEntryID(row: 1, version: 2)
        for selection in [CacheSelection.key(plain.key), .url(url, in: .everyone)] {
            #expect(selection.contains(written, stored: entry, in: form))
            #expect(!selection.contains(written, stored: entry))
            #expect(selection.contains(plain, stored: entry))
        }
        #expect(CacheSelection.path(url, in: .everyone).contains(written, stored: entry, in: form))
        #expect(CacheSelection.text(url) == url.absoluteString && CacheSelection.text(url, in: form) == written.key.url)
    }

    // MARK: Pending changes

    @Test func `what a store below is still being told of is shown as it will be`() throws {
        let alice = StoredResponse(try Self.stored(), entry: CacheEntryID(row: 1, version: 1), body: Data([1]))
        let bob = StoredResponse(
            try Self.stored(of: CachePartition(identity: "bob")), entry: CacheEntryID(row: 2, version: 1), body: nil)
        var changes = PendingChanges()
        func seen() -> [String] {
            changes.applied(to: [alice, bob]).map { "\($0.entry.row)" + ($0.response.isInvalidated ? " invalid" : "") }
        }
        #expect(seen() == ["1", "2"])
        changes.begin(1, [.identity("bob"), .identity("carol")], beside: [], .invalidation)
        #expect(seen() == ["1", "2 invalid"])
        #expect(changes.applied(to: [bob]).first?.entry == bob.entry)
        changes.begin(2, [.identity("alice")], beside: [], .removal)
        changes.begin(3, [.all], beside: [], .invalidation)
        #expect(seen() == ["2 invalid"])
        changes.end(2)
        #expect(seen() == ["1 invalid", "2 invalid"])
        #expect(changes.applied(to: [alice]).first?.body == Data([1]))
        changes.end(3)
        #expect(seen() == ["1", "2 invalid"])
        changes.end(1)
        #expect(seen() == ["1", "2"])
    }

    // MARK: Limits

    @Test func `an eighth of all is the largest body, and one to sixty-four variants are kept`() {
        let limits = CacheLimits(bytes: 800, entries: 5)
        #expect(limits.bodyBytes == 100 && limits.variants == 32 && limits.age == nil && limits.entries == 5)
        #expect(CacheLimits(bytes: 800, entries: 5, bodyBytes: 7).bodyBytes == 7)
        let variants = [-1, 0, 1, 2, 64, 65].map { CacheLimits(bytes: 1, entries: 1, variants: $0).variants }
        #expect(variants == [1, 1, 1, 2, 64, 64])
        #expect(CacheLimits.memory.bytes == 33_554_432 && CacheLimits.memory.entries == 10_000)
        #expect(CacheLimits.disk.bytes == 268_435_456 && CacheLimits.disk.entries == 200_000)
        #expect(CacheLimits.memory.age == nil && CacheLimits.disk.age == .seconds(7_776_000))
    }

    @Test func `with a limit of age what came before it is not found, nor what is a day ahead`() throws {
        let now = CacheFixtures.start
        func times(_ age: Duration?) -> ClosedRange<Date>? {
            CacheLimits(bytes: 1, entries: 1, age: age).validTimes(at: now)
        }
        #expect(times(nil) == nil)
        #expect(times(.seconds(-1)) == nil)
        #expect(times(.zero) == now...now + 86_400)
        #expect(times(.seconds(90)) == now - 90...now + 86_400)
    }
}
