import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What of keys and responses may stand in a file.
@Suite struct CacheAtRestTests {
    private let form = CacheAtRest(secret: Data([1, 2, 3]))
    private let other = CacheAtRest(secret: Data([1, 2, 4]))

    @Test(
        "A URL in which nothing is a secret is written as it is",
        arguments: [
            "/", "/a?b=c", "/a?token=", "/a?token", "/a?", "/a?&;", "/a;v=1", "/a?b=/c", "/a?x=%20y", "/key",
            "/a?b=c=d",
            "/files/a1B2c3D4e5F6g7H8i9J0k1.jpg", "/a?q=one&page=2&size=50;sort=up", "/a?q=fifteen-letters",
            "/a?q=sixteen-letters-",
            "/a@b", "/ey/J", "/a?language=en",
        ])
    func plain(_ target: String) {
        let url = "https://example.com\(target)"
        #expect(form.url(url) == url)
    }

    @Test(
        "One with a secret is written as it would be printed, with a keyed digest of all of it",
        arguments: [
            ("/a?token=x", "/a?token=‹redacted›"), ("/a?b=c&token=x", "/a?b=c&token=‹redacted›"),
            ("/a?b;token=x", "/a?b;token=‹redacted›"), ("/a?token=x&b=c", "/a?token=‹redacted›&b=c"),
            ("/a?b=eyJhbGciOiJIUzI1NiJ9", "/a?b=‹redacted›"), ("/a?eyJhbGciOiJIUzI1NiJ9", "/a?‹redacted›"),
            ("/eyJhbGciOiJIUzI1NiJ9", "/‹redacted›"), ("/a;sid=x", "/a;sid=‹redacted›"),
            ("/a;sid=x?b=c", "/a;sid=‹redacted›?b=c"), ("/a?%74oken=x", "/a?%74oken=‹redacted›"),
            ("/a?b;key=x", "/a?b;key=‹redacted›"), ("/a?b=c;key=x", "/a?b=c;key=‹redacted›"),
            ("/a?next=%2Fb%3Ftoken%3Dx", "/a?next=‹redacted›"), ("/a?key=x", "/a?key=‹redacted›"),
            ("/go/https%3A%2F%2Fu%3Ax%40h%2F", "/go/‹redacted›"), ("/cb%3Faccess_token%3Dx", "/‹redacted›"),
            ("/m/Bearer%20hunter2x", "/m/‹redacted›"), ("/a?h=Basic+aHVudGVyMg", "/a?h=‹redacted›"),
            ("/a?kJ8s9dKf02mXn4LqP7vTzR1b=1", "/a?‹redacted›=1"), ("/a?kJ8s9dKf02mXn4LqP7vTzR1b=", "/a?‹redacted›="),
            ("/a?token%3Dx=1", "/a?‹redacted›=‹redacted›"), ("/a/glpat-1aaaaaaaaaaaaaaa/b", "/a/‹redacted›/b"),
            ("/files/a1B2c3D4e5F6g7H8i9J0k1.jpg?token=x", "/files/a1B2c3D4e5F6g7H8i9J0k1.jpg?token=‹redacted›"),
        ])
    func secret(_ target: String, _ shown: String) throws {
        let url = "https://example.com\(target)"
        let written = form.url(url)
        #expect(written.hasPrefix("https://example.com\(shown)#"))
        #expect(written.split(separator: "#").last?.utf8.count == 64)
        #expect(form.url(written) == written, "what is written is never written differently")
        #expect(other.url(url) != written)
        #expect(form.url(url + "y") != written)
    }

    @Test("Whatever would be printed otherwise is looked at as a whole", .covers("X10"))
    func hint() throws {
        let pieces = [
            "a", "token", "page", "x", "=", "&", ";", ",", "/", "//", "?", "@", ":", "+", "%20", "%2F", "%3D", "%3F",
            "%40", "%26",
            "%3A", "%25", "%22", "%7B", "%7D", "&lt;", "Bearer", "Basic", "aHVudGVyMg", "eyJhbGciOiJIUzI1NiJ9", "1234",
            "kJ8s9dKf02mXn4LqP7vTzR1b", "ghp_aaaaaaaaaaaaaaaaaaaa", "xoxb-1aaaaaaaaaa", "hunter2x", "-", ".", "code",
            "pin",
        ]
        var random = Seeded(seed: 7)
        var (changed, missed) = (0, [String]())
        for _ in 0..<5_000 {
            let target = (0..<Int.random(in: 1...7, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            guard let url = try? HTTPURL("https://example.com/" + target.joined()) else { continue }
            guard "\(url)" != url.absoluteString else { continue }
            changed += 1
            if !SecretHint.stands(in: url.absoluteString) || form.url(url.absoluteString) == url.absoluteString {
                missed.append(url.absoluteString)
            }
        }
        #expect(missed == [])
        #expect(changed > 500)
    }

    @Test(
        "The path of a URL begins behind its host",
        arguments: [
            ("https://example.com/a/b?c=/d", "/a/b?c=/d"), ("https://example.com?c=/d", "?c=/d"),
            ("https://example.com", ""),
        ])
    func path(url: String, path: String) {
        #expect(url[SecretHint.path(of: url)...] == path)
    }

    @Test(
        "A secret is seen in each part of a URL",
        arguments: ["?a=1&pin=2", "?a=1;pin=2", "b,ghp_aaaaaaaaaaaaaaaaaaaa", "b;pin=2"])
    func parts(part: String) {
        #expect(SecretHint.stands(in: "https://example.com/a\(part)"))
        #expect(!SecretHint.stands(in: "https://example.com/a?b=c&d=1,e"))
    }

    @Test("User information is no part of what is written")
    func userInformation() {
        let written = form.url("https://alice:x@example.com/")
        #expect(written.hasPrefix("https://‹redacted›@example.com/#"))
    }

    @Test("A path is the same with every secret in its query, also as it is written")
    func places() throws {
        let plain = try HTTPURL("https://example.com/a?token=x")
        #expect(CacheSelection.place(plain, in: form) == "https://example.com/a")
        #expect(CacheKey(url: plain, partition: CachePartition()).place == "https://example.com/a")
        let key = form.key(CacheKey(url: try HTTPURL("https://example.com/a;sid=x"), partition: CachePartition()))
        #expect(key.place == "https://example.com/a;sid=‹redacted›")
        #expect(CacheSelection.place(try HTTPURL("https://example.com/a;sid=x?b=c"), in: form) == key.place)
    }

    @Test("A key keeps all but its secrets, and digests of content are keyed once")
    func keys() throws {
        let partition = CachePartition(environment: "e", identity: "i", way: "w")
        func key(_ target: String, _ content: String? = nil) throws -> CacheKey {
            CacheKey(
                method: .post, url: try HTTPURL("https://example.com\(target)"), partition: partition,
                contentDigest: content,
                credentialDigest: "c")
        }
        #expect(try form.key(key("/a")) == key("/a"))
        let written = form.key(try key("/a?token=x", "abc"))
        #expect(written.method == .post && written.partition == partition && written.credentialDigest == "c")
        #expect(written.url == form.url("https://example.com/a?token=x"))
        let digest = try #require(written.contentDigest)
        let (same, changed) = (try key("/a", "abc"), try key("/a", "abd"))
        #expect(digest != "abc" && digest == form.key(same).contentDigest)
        #expect(digest != other.key(same).contentDigest)
        #expect(digest != form.key(changed).contentDigest)
        #expect(form.key(written) == written)
    }

    @Test(
        "Fields that would be hidden are left out, but the server's question for credentials; others stay in their order"
    )
    func fields() throws {
        let kept: HTTPFields = ["ETag": "\"1\"", "WWW-Authenticate": "Bearer realm=\"x\"", "X-Note": "a"]
        func response(_ fields: HTTPFields, _ target: String = "/a") throws -> CachedResponse {
            CachedResponse(
                key: CacheKey(url: try HTTPURL("https://example.com\(target)"), partition: CachePartition()),
                status: 200,
                fields: fields, requestTime: .distantPast, responseTime: .distantFuture, bodyLength: 7, tags: ["t"],
                appTTL: .seconds(1), appMaxStale: .seconds(2), isInvalidated: true)
        }
        #expect(try form.response(response(kept)) == response(kept))
        for name in ["Set-Cookie", "Set-Cookie2", "Authentication-Info", "X-Auth-Token"] {
            var fields = kept
            fields.append("a=b", for: HTTPFieldName(name))
            #expect(try form.response(response(fields)) == response(kept), "\(name)")
        }
        let secret = try #require(try form.response(response(kept, "/a?token=x")))
        #expect(secret.fields == kept && secret.key.url == form.url("https://example.com/a?token=x"))
        #expect(secret.tags == ["t"] && secret.bodyLength == 7 && secret.isInvalidated && secret.status == 200)
        for name in ["Location", "Content-Location", "Link", "Refresh"] {
            for (value, isWritten) in [("/b?page=2", true), ("/b?code=x", false)] {
                var fields = kept
                fields.append(value, for: HTTPFieldName(name))
                #expect(try (form.response(response(fields)) != nil) == isWritten, "\(name)")
            }
        }
    }
}
