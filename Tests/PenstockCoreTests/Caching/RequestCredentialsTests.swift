import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// On whose behalf a request is made, as far as the cache can see.
@Suite struct RequestCredentialsTests {
    private static func request(
        _ fields: HTTPFields = [:], _ url: String = "https://a.example/x", body: HTTPBody = .none
    ) throws -> HTTPRequest {
        HTTPRequest(method: .post, url: try HTTPURL(url), fields: fields, body: body)
    }

    /// Names and values, with a bar behind each.
    private static func text(_ fields: HTTPFields, _ cookies: String? = nil) throws -> String {
        String(
            decoding: RequestCredentials(try request(fields), cookies).text.map { $0 == 0 ? 0x7C : $0 }, as: UTF8.self)
    }

    @Test("Of a key that numbers a request, the words before it say whether it may be another one")
    func keys() {
        #expect(OwnerName.meaning(of: "X-Cart-Idempotency-Key") == .exchange)
        #expect(OwnerName.meaning(of: "X-Shop-Cart-Idempotency-Key") == nil)
        #expect(OwnerName.meaning(of: "X-User-Idempotency-Key") == .owner)
    }

    @Test func `credentials stand in one order and one form, lines of one name in theirs`() throws {
        #expect(try Self.text([:]) == "")
        #expect(try Self.text(["Accept": "a", "User-Agent": "b", "X-Trace": "7", "Content-Type": "c"]) == "")
        #expect(
            try Self.text(["X-Api-Key": "k", "Accept": "a", "AUTHORIZATION": "Bearer x"])
                == "authorization|Bearer x|x-api-key|k|")
        var fields: HTTPFields = ["X-Api-Key": "2", "Authorization": "x"]
        fields.append("1", for: "X-Api-Key")
        #expect(try Self.text(fields) == "authorization|x|x-api-key|2|x-api-key|1|")
    }

    @Test func `the cookies of the jar are joined to the request's own, as they will be sent`() throws {
        #expect(try Self.text([:], "c=3") == "cookie|c=3|")
        #expect(try Self.text(["Accept": "a"], "c=3") == "cookie|c=3|")
        var fields: HTTPFields = ["Cookie": "a=1", "Authorization": "x"]
        #expect(try Self.text(fields) == "authorization|x|cookie|a=1|")
        #expect(try Self.text(fields, "c=3") == "authorization|x|cookie|a=1; c=3|")
        fields.append("b=2", for: "COOKIE")
        #expect(try Self.text(fields) == "authorization|x|cookie|a=1|cookie|b=2|")
        #expect(try Self.text(fields, "c=3") == "authorization|x|cookie|a=1; b=2; c=3|")
    }

    @Test func `secret parameters of a query are known by their names, in any order`() throws {
        func parameters(_ query: String) throws -> [Substring] {
            RequestCredentials.parameters(of: try HTTPURL("https://a.example/x\(query)"))
        }
        #expect(try parameters("") == [])
        #expect(try parameters("?page=2&x=token") == [])
        #expect(try parameters("?token=x&page=2&access_token=y") == ["access_token=y", "token=x"])
        #expect(try parameters("?access_token=y&token=x") == parameters("?token=x&access_token=y"))
        #expect(try parameters("?token=x=y") == ["token=x=y"])
    }

    @Test func `a file and a stream may hold a secret, nothing holds none`() throws {
        let file = HTTPBody.file(URL(fileURLWithPath: "/nowhere"))
        #expect(RequestCredentials.mayStand(in: try Self.request(body: file)))
        #expect(RequestCredentials.mayStand(in: try Self.request(body: .stream { throw CancellationError() })))
        #expect(!RequestCredentials.mayStand(in: try Self.request()))
        let bytes = HTTPBody.bytes(Data("{\"page\":2}".utf8))
        #expect(RequestCredentials.mayStand(in: try Self.request(body: bytes)), "nobody knows what it is")
        #expect(!RequestCredentials.mayStand(in: try Self.request(["Content-Type": "application/json"], body: bytes)))
    }

    // MARK: Owners

    private static let form: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]

    @Test func `a response is the owner's when it was sent with the credentials that were seen, and no others`() throws
    {
        let bearer = try Self.request(["Authorization": "x"])
        let plain = try Self.request()
        let other = try Self.request(["Authorization": "y"])
        let owner = CacheOwner.bearer(RequestCredentials(bearer), "d")
        for sent in [bearer, plain, other] {
            #expect(CacheOwner.identity.isOwner(of: sent, asked: plain))
            #expect(!CacheOwner.locked.isOwner(of: sent, asked: sent))
        }
        #expect(owner.isOwner(of: bearer, asked: plain))
        #expect(!owner.isOwner(of: plain, asked: plain) && !owner.isOwner(of: other, asked: plain))
        #expect(CacheOwner.nobody.isOwner(of: plain, asked: plain))
        #expect(!CacheOwner.nobody.isOwner(of: bearer, asked: plain))
        #expect(owner.credentialDigest == "d" && CacheOwner.nobody.credentialDigest == nil)
        #expect(CacheOwner.identity.credentialDigest == nil && CacheOwner.locked.credentialDigest == nil)
        #expect(CacheOwner.locked.isLocked && !owner.isLocked && !CacheOwner.nobody.isLocked)
    }

    /// What was asked for, what was sent, and whether it is nobody's all the same.
    @Test(arguments: [
        ("?page=1", "?page=2", true), ("?token=x", "?token=x", true), ("?page=1", "?page=1&token=x", false),
        ("?token=x", "?token=y", false), ("?token=x", "?page=1", false), ("?token=x&page=1", "?page=2&token=x", true),
    ]) func `a secret that was put into the URL on the way is a credential`(
        asked: String, sent: String, isOwner: Bool
    ) throws {
        let (asked, sent) = ("https://a.example/x\(asked)", "https://a.example/x\(sent)")
        let (before, after) = (try Self.request([:], asked), try Self.request([:], sent))
        #expect(CacheOwner.nobody.isOwner(of: after, asked: before) == isOwner)
    }

    /// A field that a stage on the way has set, and whether the response is nobody's all the same.
    @Test(arguments: [
        ("X-Member", "7", false), ("X-Client", "secret", false), ("X-Shop", "1", false),
        ("Accept-Language", "nl", true),
        ("Content-Encoding", "gzip", true),
        ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
        ("Date", "Thu, 26 Nov 2026 11:00:00 GMT", true), ("User-Agent", "x", true), ("X-Request-Id", "1", true),
        ("If-None-Match", "\"1\"", true), ("Idempotency-Key", "a", true),
    ]) func `a field that was set on the way may name a user, unless it is known to name none`(
        name: String, value: String, isOwner: Bool
    ) throws {
        let field: HTTPFields = [HTTPFieldName(name): value]
        let (plain, sent) = (try Self.request(), try Self.request(field))
        #expect(CacheOwner.nobody.isOwner(of: sent, asked: plain) == isOwner)
        #expect(CacheOwner.nobody.isOwner(of: sent, asked: sent), "it was seen when the request was looked up")
    }

    @Test func `a value that looks like a token is a credential, whatever its field or parameter is called`() throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.aaaaaaaaaaaaaaaaaaaaaaaa"
        #expect(try Self.text(["X-Foo": token]) == "x-foo|\(token)|")
        #expect(try Self.text(["X-Foo": "word", "X-Request-Id": token]) == "")
        let url = try HTTPURL("https://a.example/x?page=2&member=\(token)")
        #expect(RequestCredentials.parameters(of: url) == ["member=\(token)"])
        #expect(RequestCredentials.parameters(of: url, isSealed: true) == [])
    }

    /// Two values of a field, and whether they part two users. Both lie close to one that is judged otherwise.
    @Test(
        .covers("H34"),
        arguments: [
            ("X-Client", "app=shop; session=aaaa1", true), ("X-Client", "token=aaaa1", true),
            ("X-Ctx", #"{"session":"aaaa1"}"#, true), ("X-Link", "https://h/?token=aaaa1", true),
            ("X-Note", "Bearer aaaa1", true), ("X-Who", "11111111-1111-4111-8111-111111111111", true),
            ("X-Who", "urn:uuid:11111111-1111-4111-8111-111111111111", true), ("X-Request-Info", "token=aaaa1", true),
            ("X-User-Id", "7", true), ("X-Userid", "7", true), ("X-UID", "7", true), ("X-Login", "bob", true),
            ("X-Account", "7", true), ("X-Device", "7", true), ("X-Tenant-Id", "7", true),
            ("X-Request-User", "7", true),
            ("X-On-Behalf-Of", "7", true), ("From", "bob@h", true), ("X-Impersonate", "bob", true),
            // Each a step away.
            ("X-Client", "app=shop; version=aaaa1", false), ("X-Ctx", #"{"page":"aaaa1"}"#, false),
            ("X-Link", "https://h/?page=aaaa1", false), ("X-Who", "11111111-1111-4111-8111", false),
            ("X-Uidx", "7", false), ("X-Abuser", "7", false), ("X-Formal", "7", false),
            ("X-User-Agent", "Shop/7", false),
            ("X-Amz-User-Agent", "aws/7", false), ("X-App-Version", "5.3.1 (build 7)", false),
            ("X-Client-Request-Id", "11111111-1111-4111-8111-111111111111", false),
            ("X-Transaction-Id", "kJ8s9dKf02mXn4LqP7vTzR1bYw", false),
            ("X-B3-TraceId", "463ac35c9f6413ad48485a3953bb6124", false),
            ("X-Nonce", "11111111-1111-4111-8111-111111111111", false), ("X-Retry-Attempt", "2", false),
            ("Idempotency-Key", "11111111-1111-4111-8111-111111111111", false), ("X-Request-Id", "token=aaaa1", false),
            ("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("Accept", "application/json;q=0.9, text/html", false), ("User-Agent", "Shop/5.3 (iPhone; iOS 26)", false),
            ("Accept-Language", "nl, en;q=0.5", false), ("X-Amz-Date", "20261127T060000Z", false),
        ]) func `what says of whom a request speaks is a credential, and what every request has is none`(
            name: String, value: String, isCredential: Bool
        ) throws
    {
        #expect(try Self.text([HTTPFieldName(name): value]) == (isCredential ? "\(name.lowercased())|\(value)|" : ""))
    }

    @Test(arguments: [
        ("X-Datadog-Trace-Id", "7", true), ("X-Transaction-Id", "7", true), ("X-Transaction-Id", "token=aaaa1", false),
        ("X-Transaction-Key", "7", false), ("X-Parent", "7", false),
    ]) func `a field that numbers requests keeps nothing from being stored where a stage on the way has set it`(
        name: String, value: String, isOwner: Bool
    ) throws {
        let sent = try Self.request([HTTPFieldName(name): value])
        #expect(CacheOwner.nobody.isOwner(of: sent, asked: try Self.request()) == isOwner)
    }

    /// Names of fields, with whether a random value in one, a UUID in one, and any value in one names somebody.
    @Test(arguments: [
        (
            [
                "X-Transaction-Key", "X-Request-Key", "X-Message-Key", "X-Operation-Key", "X-Request-Code",
                "X-Trace-Hash", "X-Message-Sign", "X-Client-Transaction", "X-Client-Event-Id", "X-Shop-App-Message",
                "X-Key", "X-Request-Start", "X-Client-Version", "X-Teamwork", "X-Organic", "X-Personalization",
                "X-UUID",
                "X-Key-Event-Id",
            ], [true, true, false]
        ),
        (
            [
                "X-Fapi-Interaction-Id", "X-Call-Id", "X-Req-Id", "X-Reqid", "X-Activity-Id", "X-Flow-Id", "X-Event-Id",
                "X-Txn-Id", "X-Log-Id", "X-Device-Timestamp", "X-Device-Time", "X-User-Request-Id", "X-Callid",
                "X-Client-Request-Id", "X-Request-UUID", "X-Message-GUID", "Elastic-Apm-Traceparent", "X-Trace-Parent",
                "X-Amz-Request-Id", "X-Idempotency-Key", "X-Shop-Message", "X-Shop-App-Message-Id", "X-Sign-Time",
                "X-B3-ParentSpanId", "x-b3-traceid", "X-Request", "X-Retry", "X-Correlation-Id", "X-Amzn-Trace-Id",
                "X-Cloud-Trace-Context", "Trace",
            ], [false, false, false]
        ),
        (
            [
                "Sudo", "X-Client-Id", "X-Clientid", "X-Actor", "X-Viewer", "X-Merchant-Id", "X-Act-As", "X-Company-Id",
                "X-Team", "X-Team-Id", "X-Organization", "X-Organisation-Id", "X-Person", "X-Person-Id",
                "X-Personnel-No",
                "X-User-Event-Id", "X-Trace-Owner", "X-GUID", "X-Request-User", "X-Run-As",
                "X-User-Correlation", "X-Customer-Trace-Id", "X-Visitor-Trace",
            ], [true, true, true]
        ),
    ]) func `what a field is called by its last words decides whether its value names somebody`(
        names: [String], isCredential: [Bool]
    ) throws {
        let values = ["3f9A0bC1d2E4f5G6h7I8j9K0", "11111111-1111-4111-8111-111111111111", "7"]
        for name in names {
            let found = try values.map { try !Self.text([HTTPFieldName(name): $0]).isEmpty }
            #expect(found == isCredential, "\(name)")
        }
    }

    @Test func `so is one that was put into the content`() throws {
        func bytes(_ text: String) -> HTTPBody { .bytes(Data(text.utf8)) }
        let folder = FileManager.default.temporaryDirectory
        let files = (0..<2).map { _ in folder.appendingPathComponent(UUID().uuidString) }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        for file in files { try Data("page=1".utf8).write(to: file) }
        let (one, two) = (HTTPBody.file(files[0]), HTTPBody.file(files[1]))
        let stream = HTTPBody.stream { throw CancellationError() }
        let cases: [(HTTPBody, HTTPBody, Bool)] = [
            (.none, .none, true), (bytes("password=x"), bytes("password=x"), true),
            (bytes("password=x"), bytes("password=y"), false), (bytes("page=1"), bytes("page=2"), true),
            (.none, bytes("password=x"), false), (.none, bytes("page=1"), true), (bytes("password=x"), .none, true),
            (stream, stream, true), (stream, one, false), (one, one, true), (one, two, false),
            (one, bytes("password=x"), false), (bytes("page=1"), one, false),
        ]
        for (asked, sent, isOwner) in cases {
            let (before, after) = (try Self.request(Self.form, body: asked), try Self.request(Self.form, body: sent))
            #expect(CacheOwner.nobody.isOwner(of: after, asked: before) == isOwner, "\(asked) \(sent)")
        }
    }

    // MARK: Digests

    @Test func `a digest is keyed by the store, and there is none until its key is known`() throws {
        let (alice, bob) = (
            RequestCredentials(try Self.request(["Authorization": "alice"])),
            RequestCredentials(try Self.request(["Authorization": "bob"]))
        )
        let digests = CredentialDigests()
        #expect(!digests.isUnlocked && digests.digest(of: alice) == nil && digests.digest(of: "x", in: "y") == nil)
        digests.unlock(with: Data(repeating: 1, count: 16))
        #expect(digests.isUnlocked)
        let digest = try #require(digests.digest(of: alice))
        #expect(digest.utf8.count == 64 && digests.digest(of: alice) == digest && digests.digest(of: bob) != digest)
        // The first key stays.
        digests.unlock(with: Data(repeating: 2, count: 16))
        let (same, other) = (CredentialDigests(), CredentialDigests())
        same.unlock(with: Data(repeating: 1, count: 16))
        other.unlock(with: Data(repeating: 2, count: 16))
        #expect(same.digest(of: alice) == digest && other.digest(of: alice) != digest)
        #expect(digests.digest(of: "x", in: "y") == same.digest(of: "x", in: "y"))
        #expect(digests.digest(of: "x", in: "y") != digests.digest(of: "x", in: "z"))
        #expect(digests.digest(of: "x", in: "y") != digests.digest(of: "y", in: "x"))
        for number in 0..<200 {
            let many = RequestCredentials(try Self.request(["Authorization": "\(number)"]))
            #expect(digests.digest(of: many) == same.digest(of: many))
        }
        #expect(digests.digest(of: alice) == digest)
        // What one version has stored is found by the next.
        let key = Data(repeating: 1, count: 16)
        #expect(digests.digest(of: "x", in: "y") == SHA256.hex(Array("y\0x".utf8), key: key))
        #expect(digest == SHA256.hex(Array("authorization\0alice\0".utf8), key: key))
    }

    @Test(arguments: [nil, 0, 15, 16, 32]) func `a key that is short, or none, is replaced by a random one`(
        count: Int?
    ) throws {
        let alice = RequestCredentials(try Self.request(["Authorization": "alice"]))
        let keys = [CredentialDigests(), CredentialDigests()]
        for digests in keys { digests.unlock(with: count.map { Data(repeating: 1, count: $0) }) }
        #expect((keys[0].digest(of: alice) == keys[1].digest(of: alice)) == ((count ?? 0) >= 16))
        #expect(CredentialDigests.newKey().count == 32 && CredentialDigests.newKey() != CredentialDigests.newKey())
    }
}

/// What a stored response is found by.
@Suite struct CacheKeyTests {
    private static func key(
        _ method: HTTPMethod, _ body: HTTPBody = .none, type: String? = nil, isRead: Bool = false, digest: String? = nil
    ) throws -> CacheKey? {
        let fields: HTTPFields = type.map { ["Content-Type": $0] } ?? [:]
        let request = HTTPRequest(method: method, url: try HTTPURL("https://a.example/x"), fields: fields, body: body)
        return CacheKey(
            request, partition: .init(), policy: CachePolicy(.http, isRead: isRead), credentialDigest: digest)
    }

    @Test func `content belongs to the key of a read, and to no other one`() throws {
        let content = HTTPBody.bytes(Data("a".utf8))
        #expect(try Self.key(.get)?.contentDigest == nil)
        #expect(try Self.key(.head) == Self.key(.get))
        #expect(try Self.key(.get, isRead: true)?.contentDigest == nil)
        #expect(try Self.key(.get, content)?.contentDigest != nil)
        #expect(try Self.key(.head, content) == Self.key(.get, content))
        #expect(try Self.key(.post, content)?.contentDigest == nil)
        let read = try #require(try Self.key(.post, content, isRead: true)?.contentDigest)
        #expect(try Self.key(.post, isRead: true)?.contentDigest != nil)
        #expect(try Self.key(.post, isRead: true) == Self.key(.post, .bytes(Data()), isRead: true))
        #expect(try Self.key(.get, content)?.contentDigest == read)
        #expect(try Self.key(.post, content, type: "", isRead: true)?.contentDigest == read)
        #expect(try Self.key(.post, content, type: "a", isRead: true)?.contentDigest != read)
        // What one version has stored is found by the next.
        #expect(try Self.key(.post, content, type: "a", isRead: true)?.contentDigest == SHA256.hex(Array("a\0a".utf8)))
        let shifted = HTTPBody.bytes(Data("aa".utf8))
        #expect(
            try Self.key(.post, content, type: "a", isRead: true) != Self.key(.post, shifted, type: "", isRead: true))
    }

    @Test func `what is not read beforehand has no key as the content of a read`() throws {
        let file = HTTPBody.file(URL(fileURLWithPath: "/nowhere"))
        #expect(try Self.key(.get, file) == nil)
        #expect(try Self.key(.post, file, isRead: true) == nil)
        #expect(try Self.key(.post, file) != nil)
    }

    @Test func `a key for replies that came sealed is another one, and the rest of it stays`() throws {
        let url = try HTTPURL("https://a.example/x")
        let key = CacheKey(
            method: .post, url: url, partition: .init(environment: "e", identity: "i", way: "w"), contentDigest: "1",
            credentialDigest: "2")
        let sealed = key.forSealedReplies
        #expect(sealed != key && sealed.forSealedReplies == sealed && sealed.partition.isSealed)
        #expect(sealed.method == .post && sealed.url == key.url && sealed.contentDigest == "1")
        #expect(sealed.credentialDigest == "2" && sealed.partition.identity == "i")
        let credentials = try [nil, "1", "2"].map { try Self.key(.get, digest: $0) }
        #expect(Set(credentials).count == 3)
    }
}
