import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite struct VaryTests {
    static func fields(_ pairs: [(String, String)]) -> HTTPFields {
        HTTPFields(pairs.map { HTTPField(name: HTTPFieldName($0.0), value: $0.1) })
    }

    @Test func `a value is judged by its bytes and its name, however often it is looked at`() {
        let digests = CredentialDigests()
        digests.unlock(with: Data(repeating: 1, count: 16))
        func value(_ name: String, _ lines: String...) -> String? {
            let request = Self.fields(lines.map { (name, $0) })
            return CacheVariant(response: ["Vary": name], request: request, digests).selectors.first?.value
        }
        for _ in 0..<3 {
            #expect(value("X-Look", "caf\u{E9}")?.utf8.count == 5 && value("X-Look", "cafe\u{301}")?.utf8.count == 6)
            #expect(
                value("X-Look", "a", "b") == "a,b" && value("X-Look", "ab") == "ab" && value("X-Look", "a, b") == "a,b")
            #expect(value("X-Look", "token=hunter2").map(SelectorValue.isDigest) == true)
            #expect(value("X-Look-Token", "plain") != "plain" && value("X-Look", "plain") == "plain")
            #expect(value("Accept-Encoding", "GZIP, br") == "gzip,br" && value("X-Look", "GZIP, br") == "GZIP,br")
        }
    }

    /// `Vary`, the stored request's fields, the new request's, and whether they match.
    static let table: [(String, [(String, String)], [(String, String)], Bool)] = [
        ("Foo", [("Foo", "1")], [("Foo", "1")], true),
        ("foo", [("FOO", "1")], [("Foo", "1")], true),
        ("Foo", [("Foo", "1")], [("Foo", "2")], false),
        ("Foo", [("Foo", "a")], [("Foo", "A")], false),
        ("Foo", [("Foo", "1")], [], false),
        ("Foo", [], [("Foo", "1")], false),
        ("Foo", [], [], true),
        ("Foo", [("Foo", "")], [], false),
        ("Foo", [], [("Foo", "")], false),
        ("Foo", [("Foo", "")], [("Foo", "")], true),
        ("Foo", [("Foo", "1")], [("Foo", "1"), ("Bar", "2")], true),
        ("Foo, Bar", [("Foo", "1"), ("Bar", "2")], [("Bar", "2"), ("Foo", "1")], true),
        ("Foo, Bar", [("Foo", "1"), ("Bar", "2")], [("Foo", "1")], false),
        ("Foo", [("Foo", "1, 2")], [("Foo", "1"), ("Foo", "2")], true),
        ("Foo", [("Foo", "1,2")], [("Foo", " 1 ,  2 ")], true),
        ("Foo", [("Foo", "1, 2")], [("Foo", "2, 1")], false),
        ("Foo", [("Foo", "\"1, 2\"")], [("Foo", "\"1,2\"")], false),
        ("Foo", [("Foo", "1 2")], [("Foo", "12")], false),
        ("*", [], [], false),
        ("Foo, *", [("Foo", "1")], [("Foo", "1")], false),
        (", *", [], [], false),
        ("", [("Foo", "1")], [("Foo", "2")], true),
        ("Accept-Encoding", [("Accept-Encoding", "gzip, BR")], [("Accept-Encoding", "GZip,br")], true),
        ("Accept-Encoding", [("Accept-Encoding", "gzip")], [("Accept-Encoding", "gzip, br")], false),
        ("Accept-Encoding", [("Accept-Encoding", "GZIP")], [("Accept-Encoding", "gzip")], true),
        ("Foo", [("Foo", "1,,2")], [("Foo", "1,2")], true),
        ("Accept-Language", [("Accept-Language", "en,nl")], [("Accept-Language", "nl,en")], true),
        ("Accept-Language", [("Accept-Language", "EN")], [("Accept-Language", "en")], true),
        ("Accept-Language", [("Accept-Language", "en;q=0.5")], [("Accept-Language", "en;q=0.500")], true),
        ("Accept-Language", [("Accept-Language", "en;q=0.5")], [("Accept-Language", "en;q=0.501")], false),
        ("Accept-Language", [("Accept-Language", "en, en")], [("Accept-Language", "en,en")], true),
        ("Accept-Language", [("Accept-Language", "en, de ; q=0.5")], [("Accept-Language", "EN,de;q=0.5")], true),
        // Languages of one weight have no order; weights count, however they are written.
        ("Accept-Language", [("Accept-Language", "en, nl")], [("Accept-Language", "nl, en")], true),
        (
            "Accept-Language", [("Accept-Language", "en, nl")], [("Accept-Language", "nl"), ("Accept-Language", "en")],
            true
        ),
        ("Accept-Language", [("Accept-Language", "en;q=1.0, nl")], [("Accept-Language", "nl;q=1, EN")], true),
        ("Accept-Language", [("Accept-Language", "EN;q=0.5")], [("Accept-Language", "en;q=0.50")], true),
        ("Accept-Language", [("Accept-Language", "en;q=0.5, nl")], [("Accept-Language", "nl, en;q=0.50")], true),
        ("Accept-Language", [("Accept-Language", "en;q=0.5, nl")], [("Accept-Language", "nl;q=0.5, en")], false),
        ("Accept-Language", [("Accept-Language", "en;q=0.5, nl")], [("Accept-Language", "en, nl")], false),
        ("Accept-Language", [("Accept-Language", "en, nl")], [("Accept-Language", "en, nl, de")], false),
        ("Accept-Language", [("Accept-Language", "en;q=x, nl")], [("Accept-Language", "nl, en;q=x")], false),
        ("Accept-Encoding", [("Accept-Encoding", "gzip, br")], [("Accept-Encoding", "br, gzip")], false),
        ("Cookie", [("Cookie", "a=1")], [("Cookie", "a=1")], true),
        ("Cookie", [("Cookie", "a=1")], [("Cookie", "A=1")], false),
    ]

    @Test(arguments: table) func `a stored response is for requests with the same nominated fields`(
        vary: String, old: [(String, String)], new: [(String, String)], matches: Bool
    ) throws {
        let response: HTTPFields = ["Cache-Control": "max-age=100", "Vary": vary]
        let stored = try CacheFixtures.stored(response, to: Self.fields(old))
        let decision = try CacheFixtures.decide(Self.fields(new), [stored], after: 1)
        #expect(decision == (matches ? "use fresh" : "load vary-mismatch"))
    }

    /// `Accept-Language` of the new request, and whether a response in German is what it wants most.
    static let languages: [(String, Bool)] = [
        ("de", true), ("DE", true), ("fr;q=0.5, de;q=1.0", true), ("fr;q=0.5, de", true), ("fr, de", false),
        ("fr, de;q=0.9", false), ("de-AT", false), ("*", false), ("de, *;q=0.1", true), ("de;q=0", false),
        ("de;q=x", false), ("de;x=1", false), ("", false), ("de;q=0.001", true), ("de;q=0.500, fr;q=0.499", true),
        ("de;q=0.5000", false), ("de;q=1", true), ("de;q=1.001", false), ("de;q=0.5;x=1", false), ("de;q=", false),
        ("fr;q=0.4, de;q=0.5, nl;q=0.3", true), ("de;q=0.5, fr;q=0.5, nl;q=0.3", false), ("fr;q=0, de;q=0.001", true),
        ("de;q=-0.5", false), ("de;q=1e-2", false), ("de;q=0:5", false), ("*;q=0.1, de", true), ("de, nl;q=x", false),
    ]

    @Test(arguments: languages) func `the language that a request prefers to all others is enough`(
        language: String, matches: Bool
    ) throws {
        let response: HTTPFields = [
            "Cache-Control": "max-age=100", "Vary": "Accept-Language, Foo", "Content-Language": "de",
        ]
        let stored = try CacheFixtures.stored(response, to: ["Accept-Language": "en, de", "Foo": "1"])
        let request: HTTPFields = ["Accept-Language": language, "Foo": "1"]
        let expected = matches ? "use fresh" : "load vary-mismatch"
        #expect(try CacheFixtures.decide(request, [stored], after: 1) == expected)
        let other: HTTPFields = ["Accept-Language": language, "Foo": "2"]
        #expect(try CacheFixtures.decide(other, [stored], after: 1) == "load vary-mismatch")
    }

    @Test(.covers("H33"), arguments: [1, 64, 65, 20_000])
    func `a response that varies by more than 64 fields matches no request`(count: Int) {
        let vary = (0..<count).map { "X-\($0)" }.joined(separator: ", ")
        let (request, digests): (HTTPFields, CredentialDigests) = (["X-0": "1"], CacheFixtures.digests)
        let variant = CacheVariant(response: ["Vary": vary], request: request, digests)
        #expect(variant.isUnmatchable == (count > 64))
        #expect(variant.selectors.count == (count > 64 ? 0 : count))
        #expect(variant.matches(request, digests) == (count <= 64))
        let secret = CacheVariant.needsKey(["Vary": "Authorization, \(vary)"], ["Authorization": "Bearer secret"])
        #expect(secret == (count < 64))
    }

    @Test func `the most recent of those that match is used`() throws {
        let old = try CacheFixtures.stored(["Cache-Control": "max-age=100", "Vary": "Foo", "X": "old"])
        let new = try CacheFixtures.stored(["Cache-Control": "max-age=100", "X": "new"], at: 5)
        for candidates in [[old, new], [new, old]] {
            let query = try CacheFixtures.query(.get, [:], candidates.compactMap(\.self))
            guard let hit = query.decide(now: CacheFixtures.start + 6).first?.hit else {
                Issue.record("no hit")
                continue
            }
            #expect(hit.stored.fields["X"] == "new")
        }
    }

    @Test func `an entry that matches no more is still offered by its tag`() throws {
        let response: HTTPFields = ["Cache-Control": "max-age=100", "Vary": "Foo", "ETag": "\"1\""]
        let stored = try CacheFixtures.stored(response, to: ["Foo": "1"])
        let validation = try CacheFixtures.validation(["Foo": "2"], [stored], after: 1)
        #expect(validation?.request.fields["If-None-Match"] == "\"1\"")
        #expect(validation?.request.fields["Foo"] == "2")
        #expect(validation?.reason == .varyMismatch)
        #expect(validation?.selected == nil)
    }

    @Test func `credentials that a variant is selected by are stored as a digest`() throws {
        let response: HTTPFields = ["Cache-Control": "max-age=100", "Vary": "Authorization"]
        let stored = try #require(try CacheFixtures.stored(response, to: ["Authorization": "Bearer secret"]))
        #expect(!"\(stored.variant)".contains("secret"))
        #expect(try CacheFixtures.decide(["Authorization": "Bearer secret"], [stored], after: 1) == "use fresh")
        #expect(try CacheFixtures.decide(["Authorization": "Bearer other"], [stored], after: 1) == "load vary-mismatch")
    }

    /// A value in which there is nothing to normalise takes a short way, which no credential may take.
    @Test(arguments: ["authorization", "cookie", "x-api-key"])
    func `a credential is stored as a digest, however plain it looks`(name: String) throws {
        let request: HTTPFields = [HTTPFieldName(name): "s3cret", "Foo": "s3cret"]
        let variant = CacheVariant(response: ["Vary": "\(name), Foo"], request: request, CacheFixtures.digests)
        #expect(variant.selectors.map(\.name).sorted() == [name, "foo"].sorted())
        let stored = variant.selectors.first { $0.name == name }?.value
        #expect(stored?.utf8.count == 64 && stored == CacheFixtures.digests.digest(of: "s3cret", in: name))
        #expect(variant.selectors.first { $0.name == "foo" }?.value == "s3cret")
        #expect(variant.matches(request, CacheFixtures.digests))
        #expect(CacheVariant(response: ["Vary": name], request: request, CredentialDigests()).isUnmatchable)
    }

    /// Values in fields whose names say nothing, and whether something in them is a secret.
    static let values: [(name: String, value: String, isSecret: Bool)] = [
        ("x-client", "app=shop; session=hunter2", true), ("x-client", "token=hunter2", true),
        ("x-custom", "Bearer hunter2", true), ("x-custom", "eyJhbGciOiJIUzI1NiJ9", true),
        ("x-ctx", "pin:hunter2", true),
        ("referer", "https://h/?token=hunter2", true), ("origin", "https://u:hunter2@h", true),
        ("user-agent", "x token=hunter2", true), ("x-client", "app=shop; version=7", false), ("x-custom", "7", false),
        ("origin", "https://h", false), ("user-agent", "Shop/7 (a; b)", false), ("accept", "a/b;q=0.5,c/d", false),
    ]

    @Test(.covers("X10"), arguments: values)
    func `a value that holds a secret is stored as a digest, whatever its field`(
        name: String, value: String, isSecret: Bool
    ) throws {
        let response: HTTPFields = ["Vary": name]
        let request = Self.fields([(name, value)])
        let variant = CacheVariant(response: response, request: request, CacheFixtures.digests)
        let stored = try #require(variant.selectors.first?.value)
        #expect(stored.hasPrefix("keyed ") == isSecret && stored.contains("hunter2") == false)
        #expect(variant.holdsDigest == isSecret && CacheVariant.needsKey(response, request) == isSecret)
        #expect(!CacheVariant.needsKey(response, [:]) && !CacheVariant.needsKey([:], request))
        #expect(variant.matches(request, CacheFixtures.digests))
        #expect(!variant.matches(Self.fields([(name, value + "x")]), CacheFixtures.digests))
        #expect(!variant.matches([:], CacheFixtures.digests))
        #expect(variant.matches(request, .locked) == !isSecret)
        #expect(CacheVariant(response: response, request: request, .locked).isUnmatchable == isSecret)
    }

    @Test func `the digest of a credential is made with the key of the store, and of its field`() throws {
        let request: HTTPFields = ["Authorization": "Bearer secret", "X-Api-Key": "Bearer secret"]
        func values(_ digests: CredentialDigests, _ vary: String = "Authorization, X-Api-Key") -> [String?] {
            CacheVariant(response: ["Vary": vary], request: request, digests).selectors.map(\.value)
        }
        let (one, other) = (CacheFixtures.digests, CredentialDigests(unlocked: Data(repeating: 8, count: 32)))
        #expect(values(one).compactMap(\.?.utf8.count) == [64, 64])
        #expect(Set(values(one) + values(other) + [SHA256.hex("Bearer secret".utf8)]).count == 5)
        let stored = CacheVariant(response: ["Vary": "Authorization"], request: request, one)
        #expect(stored.matches(request, one) && !stored.matches(request, other))
    }

    @Test func `while the key is not known a credential is the same as nothing, and all else as it is`() throws {
        let locked = CredentialDigests()
        let request: HTTPFields = ["Authorization": "Bearer secret", "Foo": "1"]
        let secret = CacheVariant(response: ["Vary": "Foo, Authorization"], request: request, locked)
        #expect(secret.isUnmatchable && secret.selectors == [.init(name: "foo", value: "1")])
        #expect(!CacheVariant(selectors: [.init(name: "authorization", value: "")]).matches(request, locked))
        #expect(!CacheVariant(selectors: [.init(name: "authorization", value: nil)]).matches(request, locked))
        let absent = CacheVariant(response: ["Vary": "Foo, Authorization"], request: ["Foo": "1"], locked)
        #expect(!absent.isUnmatchable && absent.matches(["Foo": "1"], locked) && !absent.matches(request, locked))
    }

    @Test(
        "The key is asked for where a credential that the request has decides, and nowhere else",
        arguments: [
            ("Authorization", true), ("foo, AUTHORIZATION", true), ("X-Api-Key", false), ("Foo", false), ("*", false),
            ("", false), ("Accept-Language", false),
        ])
    func needsKey(vary: String, isNeeded: Bool) {
        let request: HTTPFields = ["Authorization": "Bearer secret", "Foo": "1", "Accept-Language": "de"]
        #expect(CacheVariant.needsKey(["Vary": vary], request) == isNeeded)
        #expect(!CacheVariant.needsKey([:], request))
        let variant = CacheVariant(response: ["Vary": vary], request: request, CacheFixtures.digests)
        #expect(variant.holdsDigest == isNeeded)
    }
}
