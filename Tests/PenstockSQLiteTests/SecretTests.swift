import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore
@testable import PenstockSQLite

/// What the file and its log hold of secrets: nothing.
@Suite(.timeLimit(.minutes(2)))
struct SecretTests {
    private static let scan = CanaryScan(["secret": "swordfishsecret"])
    private static let secret = "swordfishsecret"

    /// - Returns: where in the folder a secret is found, while the store is open and after it was closed.
    private static func leaks(_ rig: Rig) async throws -> [String] {
        await rig.store.flush()
        let open = try scan.found(inFolder: rig.folder.url)
        await rig.store.close()
        let closed = try scan.found(inFolder: rig.folder.url)
        return (Array(open) + Array(closed)).filter { !$0.value.isEmpty }.map(\.key)
    }

    @Test(
        "A secret in a URL is not in the file, and the response is found by exactly that URL, by this process and the next",
        arguments: [
            "/a?access_token=swordfishsecret", "/a?page=2&sig=swordfishsecret&x=1", "/a;jsessionid=swordfishsecret",
            "/a?next=https%3A%2F%2Fexample.com%2F%3Ftoken%3Dswordfishsecret", "/a?x=eyJswordfishsecret",
            "/a?%74oken=swordfishsecret", "/go/https%3A%2F%2Fu%3Aswordfishsecret%40h%2F",
            "/cb%3Fcode%3Dswordfishsecret",
            "/a?h=Basic+swordfishsecret", "/a/Bearer%20swordfishsecret", "/a?token%3Dswordfishsecret=1",
        ])
    func urls(_ target: String) async throws {
        let rig = try Rig()
        let other = target.replacingOccurrences(of: Self.secret, with: "swordfishsecreT")
        try await rig.put(target, seed: 1)
        try await rig.put(other, seed: 2)
        #expect(try await rig.seeds(target) == [1])
        #expect(try await rig.seeds(other) == [2])
        let found = try #require(await rig.store.find(try Sample.key(target)).first)
        #expect(try found.response.key == Sample.key(target))
        var changed = found.response
        changed.tags = ["new"]
        #expect(await rig.store.update(found.entry, to: changed)?.response.key == changed.key)
        #expect(try await Self.leaks(rig) == [])
        let later = try Rig(rig.folder)
        #expect(try await later.seeds(target) == [1])
        #expect(try await later.seeds("/a") == [])
        await later.store.close()
    }

    @Test(
        "What is stored of a URL with a secret is removed and invalidated by its key, its URL, its path and what is listed of it"
    )
    func selections() async throws {
        let (target, other) = ("/a?token=swordfishsecret", "/a?token=another")
        let url = try HTTPURL("https://example.com\(target)")
        let key = try Sample.key(target)
        for (selection, rest) in [
            (CacheSelection.key(key), [2]), (.url(url), [2]), (.path(url), []),
            (.path(try HTTPURL("https://example.com/a")), []),
        ] as [(CacheSelection, [UInt64])] {
            let rig = try Rig()
            try await rig.put(target, seed: 1)
            try await rig.put(other, seed: 2)
            try await rig.put("/b?token=swordfishsecret", seed: 3)
            #expect(await rig.store.invalidate([selection]))
            #expect(await rig.store.find(key).map(\.response.isInvalidated) == [true], "\(selection)")
            let isOtherMeant = await rig.store.find(try Sample.key(other)).map(\.response.isInvalidated)
            #expect(isOtherMeant == [rest.isEmpty], "\(selection)")
            #expect(await rig.store.remove([selection]))
            #expect(try await rig.seeds(target) == [], "\(selection)")
            #expect(try await rig.seeds(other) == rest, "\(selection)")
            #expect(try await rig.seeds("/b?token=swordfishsecret") == [3])
            await rig.store.close()
        }
        let rig = try Rig()
        try await rig.put(target, seed: 1)
        let listed = try #require(await rig.store.entries(after: nil, limit: 10).first?.response.key)
        #expect(listed.url.hasPrefix("https://example.com/a?token=\(Redaction.mark)#"))
        #expect(await rig.store.remove([.key(listed)]))
        #expect(await rig.store.statistics().entries == 0)
        await rig.store.close()
    }

    @Test(
        "Fields that set cookies, tell of one user's authentication or hold a token are not in the file; all others are"
    )
    func fields() async throws {
        let rig = try Rig()
        let key = try Sample.key("/a")
        let secret = Self.secret
        var response = Sample.response(key, seed: 1, at: rig.clock.timeSource)
        let kept: HTTPFields = [
            "X-Seed": "1", "ETag": "\"a1B2c3D4e5F6g7H8i9J0k1\"", "WWW-Authenticate": "Bearer realm=\"x\"",
            "Link": "</a?page=2>; rel=\"next\"", "X-Request-Id": "a1B2c3D4e5F6g7H8i9J0k1",
        ]
        var fields = kept
        for name in ["Set-Cookie", "Set-Cookie2", "Authentication-Info", "X-Auth-Token", "X-CSRF-Token"] {
            fields.add(HTTPField(name: HTTPFieldName(name), value: "sid=\(secret); Path=/"))
        }
        fields.add(HTTPField(name: "X-Debug", value: "eyJ\(secret)"))
        response = response.with(key, fields)
        let body = sampleBytes(seed: 1, count: 1_000)
        #expect(await rig.store.put(response, body: body)?.response.fields == kept)
        let found = try #require(await rig.store.find(key).first)
        #expect(found.response.fields == kept)
        // A validation brings them again.
        #expect(await rig.store.update(found.entry, to: response)?.response.fields == kept)
        let writer = try #require(await rig.store.writer(for: response))
        #expect(await writer.append(body))
        #expect(await writer.finish()?.response.fields == kept)
        #expect(try await Self.leaks(rig) == [])
    }

    @Test(
        "A response that refers to a URL with a secret is not written, and what it replaces is gone",
        arguments: ["Location", "Content-Location", "Link", "Refresh"])
    func references(_ name: String) async throws {
        let rig = try Rig()
        let key = try Sample.key("/a")
        var response = Sample.response(key, seed: 1, at: rig.clock.timeSource)
        let value = "https://example.com/b?code=\(Self.secret)"
        let text = name == "Link" ? "<\(value)>; rel=\"next\"" : name == "Refresh" ? "0; url=\(value)" : value
        response = response.with(key, [HTTPFieldName(name): text])
        for count in [10, 200_000] {
            let old = try #require(try await rig.put("/a", seed: 7))
            #expect(await rig.store.put(response, body: sampleBytes(seed: 1, count: count)) == nil)
            #expect(try await rig.seeds("/a") == [])
            _ = old
        }
        let old = try #require(try await rig.put("/a", seed: 7))
        #expect(await rig.store.update(old.entry, to: response) == nil)
        #expect(try await rig.seeds("/a") == [])
        #expect(await rig.store.statistics() == CacheStatistics())
        #expect(try await Self.leaks(rig) == [])
    }

    @Test("Short content of a read cannot be guessed from the file: its digest is made with the file's own secret")
    func content() async throws {
        let rig = try Rig()
        let request = HTTPRequest(
            method: .post, url: try HTTPURL("https://example.com/a"), body: .bytes(Data("pin=1234".utf8)))
        var policy = CachePolicy.http
        policy.isRead = true
        let key = try #require(CacheKey(request, partition: CachePartition(), policy: policy))
        let digest = try #require(key.contentDigest)
        await rig.store.put(
            Sample.response(key, seed: 1, at: rig.clock.timeSource), body: sampleBytes(seed: 1, count: 9))
        #expect(await rig.store.find(key).count == 1)
        await rig.store.close()
        #expect(try rig.folder.bytes.range(of: Data(digest.utf8)) == nil)
        let later = try Rig(rig.folder)
        #expect(await later.store.find(key).count == 1)
        await later.store.close()
    }

    @Test(
        "A credential that a response varies by cannot be guessed from the file, and finds the response again in the next process",
        arguments: [
            ("X-Api-Key", "Bearer swordfishsecret"), ("X-Client", "app=shop; session=swordfishsecret"),
            ("X-Client", "token=swordfishsecret"), ("Referer", "https://example.com/?code=swordfishsecret"),
        ])
    func variants(_ name: String, _ token: String) async throws {
        let folder = try Rig().folder
        func client(_ rig: Rig, _ hits: Locked<Int>) -> APIClient {
            var configuration = APIClient.Configuration(
                services: [Service(.main, [.production: "https://example.com"])])
            configuration.cache = .store(rig.store)
            configuration.time = rig.clock.timeSource
            // Named, so that the user is not told by the credential.
            configuration.identity = { "alice" }
            let stub = StubTransport { _ throws(TransportError) in
                hits.withLock { $0 += 1 }
                let fields: HTTPFields = ["Cache-Control": "max-age=600", "Vary": name]
                return HTTPResponse(status: 200, fields: fields, body: Data("tea".utf8))
            }
            return APIClient(configuration, transport: stub)
        }
        for expected in [(first: 1, other: 2), (first: 0, other: 0)] {
            let (rig, hits) = (try Rig(folder), Locked(0))
            let client = client(rig, hits)
            for (key, count) in [(token, expected.first), (token, expected.first), ("other", expected.other)] {
                let options = CallOptions.headers([HTTPFieldName(name): key]).cache(.http)
                let _: String = try await client.get("/a", options: options)
                #expect(hits.withLock(\.self) == count)
            }
            #expect(try await Self.leaks(rig) == [])
            #expect(try folder.bytes.range(of: Data(SHA256.hex(token.utf8).utf8)) == nil)
        }
    }

    @Test("What an earlier version wrote with secrets in it is gone from the file once it is opened")
    func migration() async throws {
        let rig = try Rig()
        try await rig.put("/a", seed: 1)
        await rig.store.close()
        let connection = try SQLiteConnection(path: rig.folder.file.path, vfs: nil, patience: 5_000)
        try connection.execute(
            "UPDATE entry SET head = CAST('\(Self.secret)' AS BLOB); PRAGMA user_version=\(CacheSchema.migrations.count - 1)"
        )
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try !Self.scan.found(in: rig.folder.bytes).isEmpty)
        let later = try Rig(rig.folder)
        #expect(await later.store.statistics() == CacheStatistics())
        // Returns when what is owed has been erased.
        #expect(await later.store.remove([.identity("")]))
        #expect(try Self.scan.found(in: rig.folder.bytes).isEmpty)
        try await later.put("/a", seed: 2)
        #expect(try await later.seeds("/a") == [2])
        await later.store.close()
    }
}
