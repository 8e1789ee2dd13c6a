import Foundation
import PenstockCore
import Testing

@testable import PenstockSecurity

/// Amazon's own examples: its suite for Signature Version 4, and those in the documentation of S3.
@Suite(.timeLimit(.minutes(5))) struct AWSSignatureV4Tests {
    /// 2015-08-30T12:36:00Z.
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)
    private static let credentials = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    /// Signs as the suite has it, whose paths are given before they are escaped for the wire.
    private static func signer(_ credentials: AWSCredentials = Self.credentials) -> AWSSignatureV4 {
        var signer = AWSSignatureV4(region: "us-east-1", service: "service", credentials: credentials)
        signer.escapesPathTwice = false
        return signer
    }

    private static func signed(_ request: HTTPRequest, _ signer: AWSSignatureV4 = Self.signer()) async throws
        -> AWSSignatureV4.Steps
    {
        try await signer.signed(request, at: date)
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        var method = HTTPMethod.get
        var target = "/"
        var fields: [(HTTPFieldName, String)] = []
        var body: String?
        var signedFields = "host;x-amz-date"
        let signature: String
        var testDescription: String { name }
    }

    private static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    private static let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    private static let posted = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"

    /// The examples by the names that the suite has for them. A field cannot be folded over several lines here (RFC 9110
    /// §5.5): that of the suite, in which each line counts as a value, has a field for each.
    static let examples: [Example] = [
        Example(name: "get-vanilla", signature: vanilla),
        Example(
            name: "get-header-key-duplicate",
            fields: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            signedFields: "host;my-header1;x-amz-date",
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Example(
            name: "get-header-value-multiline", fields: ["value1", "value2", "value3"].map { ("My-Header1", $0) },
            signedFields: "host;my-header1;x-amz-date",
            signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"),
        Example(
            name: "get-header-value-order",
            fields: ["value4", "value1", "value3", "value2"].map { ("My-Header1", $0) },
            signedFields: "host;my-header1;x-amz-date",
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
        Example(
            name: "get-header-value-trim",
            fields: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            signedFields: "host;my-header1;my-header2;x-amz-date",
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Example(
            name: "get-unreserved", target: "/" + unreserved,
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Example(
            name: "get-utf8", target: "/ሴ",
            signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Example(
            name: "get-vanilla-empty-query-key", target: "/?Param1=value1",
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
        Example(
            name: "get-vanilla-query-order-encoded", target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
        Example(
            name: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Example(
            name: "get-vanilla-query-order-key", target: "/?Param1=value2&Param1=Value1",
            signature: "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"),
        Example(
            name: "get-vanilla-query-order-value", target: "/?Param1=value2&Param1=value1",
            signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
        Example(
            name: "get-vanilla-query-unreserved", target: "/?\(unreserved)=\(unreserved)",
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        Example(
            name: "get-vanilla-utf8-query", target: "/?ሴ=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Example(name: "get-relative-relative", target: "/example1/example2/../..", signature: vanilla),
        Example(name: "get-relative", target: "/example/..", signature: vanilla),
        Example(name: "get-slash-dot-slash", target: "/./", signature: vanilla),
        Example(
            name: "get-slash-pointless-dot", target: "/./example",
            signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"),
        Example(name: "get-slash", target: "//", signature: vanilla),
        Example(
            name: "get-slashes", target: "//example//",
            signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
        Example(
            name: "get-space", target: "/example space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        Example(
            name: "get-special-character", target: "/example/$delete",
            signature: "a853c9b21b528b19643d00910d35b83a10c366a10833ceefb45edd6c80e40f27"),
        Example(name: "post-vanilla", method: .post, signature: posted),
        Example(
            name: "post-header-key-sort", method: .post, fields: [("My-Header1", "value1")],
            signedFields: "host;my-header1;x-amz-date",
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Example(
            name: "post-header-value-case", method: .post, fields: [("My-Header1", "VALUE1")],
            signedFields: "host;my-header1;x-amz-date",
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"),
        Example(
            name: "post-vanilla-query", method: .post, target: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Example(
            name: "post-x-www-form-urlencoded", method: .post,
            fields: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signedFields: "content-type;host;x-amz-date",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Example(
            name: "post-x-www-form-urlencoded-parameters", method: .post,
            fields: [("Content-Type", "application/x-www-form-urlencoded; charset=utf8")], body: "Param1=value1",
            signedFields: "content-type;host;x-amz-date",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
    ]

    @Test(arguments: examples) func `the suite's examples are signed as Amazon signs them`(example: Example)
        async throws
    {
        let request = try HTTPRequest(
            example.method, "https://example.amazonaws.com" + example.target, example.fields,
            body: example.body.map { .bytes(Data($0.utf8)) } ?? .none)
        let steps = try await Self.signed(request)
        #expect(steps.signature == example.signature, "\(steps.canonicalRequest)")
        #expect(
            steps.request.fields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=\(example.signedFields), Signature=\(example.signature)")
        #expect(steps.request.fields["X-Amz-Date"] == "20150830T123600Z")
    }

    @Test func `each step to a signature is told`() async throws {
        let steps = try await Self.signed(try HTTPRequest(.get, "https://example.amazonaws.com/"))
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(
            steps.canonicalRequest
                == "GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n\(empty)")
        #expect(steps.signedFields == "host;x-amz-date")
        #expect(steps.scope == "20150830/us-east-1/service/aws4_request")
        #expect(
            steps.text
                == "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n"
                + "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63")
    }

    @Test func `a session token is signed with the rest`() async throws {
        let vanilla = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            sessionToken: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")
        let steps = try await Self.signed(
            try HTTPRequest(.get, "https://example.amazonaws.com/"), Self.signer(vanilla))
        #expect(steps.signedFields == "host;x-amz-date;x-amz-security-token")
        #expect(steps.signature == "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8")
        #expect(steps.request.fields.values(of: "X-Amz-Security-Token").count == 1)
    }

    // MARK: S3

    private static let day = Date(timeIntervalSince1970: 1_369_353_600)
    private static let s3Credentials = AWSCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let bucket = "https://examplebucket.s3.amazonaws.com"

    @Test func `the examples of S3 are signed as Amazon signs them`() async throws {
        let signer = AWSSignatureV4(region: "us-east-1", service: "s3", credentials: Self.s3Credentials)
        func signature(_ request: HTTPRequest) async throws -> String {
            try await signer.signed(request, at: Self.day).signature
        }
        let get = try HTTPRequest(.get, Self.bucket + "/test.txt", [("Range", "bytes=0-9")])
        #expect(try await signature(get) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        let put = try HTTPRequest(
            .put, Self.bucket + "/test$file.text",
            [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("X-Amz-Storage-Class", "REDUCED_REDUNDANCY")],
            body: .bytes(Data("Welcome to Amazon S3.".utf8)))
        #expect(try await signature(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
        let lifecycle = try HTTPRequest(.get, Self.bucket + "/?lifecycle")
        #expect(try await signature(lifecycle) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        let list = try HTTPRequest(.get, Self.bucket + "/?max-keys=2&prefix=J")
        #expect(try await signature(list) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func `the example of a signature in the query is made as Amazon makes it`() async throws {
        let signer = AWSSignatureV4(
            region: "us-east-1", service: "s3", form: .query(expires: .seconds(86_400)), credentials: Self.s3Credentials
        )
        let steps = try await signer.signed(try HTTPRequest(.get, Self.bucket + "/test.txt"), at: Self.day)
        let signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(steps.signature == signature)
        #expect(
            steps.request.url.absoluteString == Self.bucket + "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=\(signature)"
        )
        #expect(steps.request.fields.isEmpty)
        // Signed once more, it is not two signatures in one query.
        let again = try await signer.signed(steps.request, at: Self.day)
        #expect(again.request.url == steps.request.url)
        #expect(steps.canonicalRequest.hasSuffix("\nhost\nUNSIGNED-PAYLOAD"))
    }

    @Test func `what is signed for S3 in the query follows the form, until it is set`() async throws {
        let body = HTTPBody.bytes(Data("Welcome to Amazon S3.".utf8))
        let digest = try await ContentDigest.digest(of: body, by: .sha256).hexadecimal
        let old: [(HTTPFieldName, String)] = [("X-Amz-Content-Sha256", "old"), ("X-Amz-Security-Token", "old")]
        let request = try HTTPRequest(.put, Self.bucket + "/a", old, body: body)
        var signer = AWSSignatureV4(region: "us-east-1", service: "s3", credentials: Self.s3Credentials)
        #expect(signer.payload == .signed)
        signer.form = .query(expires: .seconds(60))
        #expect(signer.payload == .unsigned)
        let unsigned = try await signer.signed(request, at: Self.day)
        #expect(unsigned.canonicalRequest.hasSuffix("\nhost:examplebucket.s3.amazonaws.com\n\nhost\nUNSIGNED-PAYLOAD"))
        #expect(unsigned.request.fields.isEmpty)
        // S3 reads from a signed field that the payload is signed.
        signer.payload = .signed
        let signed = try await signer.signed(request, at: Self.day)
        #expect(signed.request.fields == ["X-Amz-Content-Sha256": digest])
        #expect(signed.signedFields == "host;x-amz-content-sha256")
        #expect(
            signed.canonicalRequest.hasSuffix("\nx-amz-content-sha256:\(digest)\n\n\(signed.signedFields)\n\(digest)"))
        #expect(signed.request.url.query?.contains("&X-Amz-SignedHeaders=host%3Bx-amz-content-sha256&") == true)
        signer.sendsContentDigest = false
        #expect(try await signer.signed(try HTTPRequest(.get, Self.bucket), at: Self.day).signedFields == "host")
        // What was set stays as the form changes.
        signer.form = .header
        #expect(signer.payload == .signed && !signer.sendsContentDigest)
        signer.payload = .unsigned
        #expect(signer.payload == .unsigned)
    }

    @Test func `the rules for S3 follow the service, until they are set`() {
        var signer = AWSSignatureV4(region: "r", service: "execute-api", credentials: Self.credentials)
        func rules() -> [Bool] { [signer.normalizesPath, signer.escapesPathTwice, signer.sendsContentDigest] }
        #expect(rules() == [true, true, false])
        signer.service = "s3"
        #expect(rules() == [false, false, true])
        (signer.normalizesPath, signer.escapesPathTwice, signer.sendsContentDigest) = (true, true, false)
        #expect(rules() == [true, true, false])
        signer.form = .query(expires: .seconds(1))
        signer.service = "execute-api"
        #expect(rules() == [true, true, false] && signer.payload == .signed)
        (signer.normalizesPath, signer.escapesPathTwice, signer.sendsContentDigest) = (false, false, true)
        #expect(rules() == [false, false, true])
    }

    @Test func `a signature in the query is good for a second to seven days`() async throws {
        func failure(_ expires: Duration) async throws -> APIError.Kind? {
            let signer = AWSSignatureV4(
                region: "r", service: "s3", form: .query(expires: expires), credentials: Self.s3Credentials)
            do {
                let steps = try await signer.signed(try HTTPRequest(.get, Self.bucket), at: Self.day)
                #expect(steps.request.url.query?.contains("X-Amz-Expires=\(expires.components.seconds)&") == true)
                return nil
            } catch let error as APIError {
                return error.kind
            }
        }
        let refused = APIError.Kind.invalidConfiguration(
            reason: "a signature of AWS is good for a second to seven days")
        #expect(try await failure(.milliseconds(999)) == refused)
        #expect(try await failure(.seconds(1)) == nil)
        #expect(try await failure(.seconds(604_800)) == nil)
        #expect(try await failure(.seconds(604_801)) == refused)
        #expect(try await failure(.seconds(-5)) == refused)
    }

    // MARK: What is signed, and how

    @Test func `the path is escaped twice but for S3, and its slashes are kept for S3`() {
        let other = AWSSignatureV4(region: "r", service: "execute-api", credentials: Self.credentials)
        let s3 = AWSSignatureV4(region: "r", service: "s3", credentials: Self.credentials)
        let table: [(String, String, String)] = [
            ("/", "/", "/"),
            ("/a%20b", "/a%2520b", "/a%20b"),
            ("/a%2Fb", "/a%252Fb", "/a%2Fb"),
            ("/a//b/", "/a/b/", "/a//b/"),
            ("//", "/", "//"),
            ("/$a", "/%24a", "/%24a"),
            ("/%7ea", "/%257ea", "/~a"),
        ]
        for (path, twice, once) in table {
            #expect(other.canonicalPath(path) == twice)
            #expect(s3.canonicalPath(path) == once)
        }
    }

    @Test func `the query is sorted by its escaped names, whatever stands in it`() {
        let table: [(String?, String)] = [
            (nil, ""), ("", ""), ("a", "a="), ("a=", "a="), ("b=2&a=1", "a=1&b=2"), ("a=2&a=1", "a=1&a=2"),
            ("a=1&&b=2", "a=1&b=2"), ("a=b=c", "a=b%3Dc"), ("a+b=c+d", "a%20b=c%20d"), ("a=%7e", "a=~"),
            ("a=1&A=1&%61=0", "A=1&a=0&a=1"), ("a-b=1&ab=1&a=1", "a=1&a-b=1&ab=1"), ("a=%2b", "a=%2B"),
            ("a=%zz", "a=%25zz"),
            ("a=%ff", "a=%FF"),
        ]
        for (query, canonical) in table {
            #expect(CanonicalQuery.text(of: CanonicalQuery.items(of: query)) == canonical, "\(query ?? "none")")
        }
    }

    @Test func `fields that proxies change are sent unsigned, and the port is a part of the host`() async throws {
        let request = try HTTPRequest(
            .get, "https://[::1]:8443/", [("User-Agent", "Shop/1"), ("Expect", "100-continue"), ("Accept", "a/b")])
        let steps = try await Self.signed(request)
        #expect(steps.signedFields == "accept;host;x-amz-date")
        #expect(steps.canonicalRequest.contains("\nhost:[::1]:8443\n"))
        #expect(steps.request.fields[.userAgent] == "Shop/1")
    }

    static let hosts: [(url: String, field: String?, signed: String)] = [
        ("https://a.example/", nil, "a.example"), ("https://A.Example:443/", nil, "a.example"),
        ("https://a.example:8443/", nil, "a.example:8443"), ("http://a.example:80/", nil, "a.example"),
        ("http://a.example:443/", nil, "a.example:443"), ("https://10.0.0.1:8443/", nil, "10.0.0.1:8443"),
        ("https://[::1]/", nil, "[::1]"), ("https://10.0.0.1:8443/", "a.example", "a.example"),
        ("https://10.0.0.1/", "a.example:8443", "a.example:8443"), ("https://a.example/", "a.example", "a.example"),
        ("https://a.example/", "a.example:443", "a.example:443"), ("https://a.example:8443/", "A.example", "A.example"),
    ]

    @Test("the host that is signed is the request's own field, and that of the URL where it has none", arguments: hosts)
    func host(url: String, field: String?, signed: String) async throws {
        var request = try HTTPRequest(.get, url)
        request.fields[.host] = field
        let steps = try await Self.signed(request)
        #expect(steps.canonicalRequest.contains("\nhost:\(signed)\n"))
        #expect(steps.signedFields == "host;x-amz-date")
        #expect(steps.request.fields[.host] == field)
    }

    @Test func `each field that the way to the server may change is left unsigned, and stays`() async throws {
        let names: [HTTPFieldName] = [
            "User-Agent", "Connection", "Expect", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "TE",
            "Trailer", "Transfer-Encoding", "Upgrade", "X-Amzn-Trace-Id",
        ]
        #expect(AWSSignatureV4.unsignedFields == Set(names + ["Authorization"]))
        for name in names {
            let steps = try await Self.signed(try HTTPRequest(.get, "https://example.amazonaws.com/", [(name, "x")]))
            #expect(steps.signedFields == "host;x-amz-date", "\(name)")
            #expect(steps.request.fields[name] == "x", "\(name)")
        }
        let again = try HTTPRequest(.get, "https://example.amazonaws.com/", [("Authorization", "old")])
        #expect(try await Self.signed(again).request.fields.values(of: .authorization).count == 1)
    }

    @Test func `the moment is written in digits, whatever the month`() {
        // The first of each month of 2023.
        for (month, days) in [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334].enumerated() {
            let moment = AWSMoment(Date(timeIntervalSince1970: 1_672_531_200 + Double(days) * 86_400))
            let day = "2023" + (month < 9 ? "0" : "") + "\(month + 1)01"
            #expect(moment.day == day && moment.text == day + "T000000Z")
        }
    }

    @Test func `a session token stands in the query where the signature does, and no field speaks of one`() async throws
    {
        let credentials = AWSCredentials(accessKeyID: "k", secretAccessKey: "s", sessionToken: "a/b")
        let signer = AWSSignatureV4(
            region: "r", service: "s3", form: .query(expires: .seconds(60)), credentials: credentials)
        let fields: [(HTTPFieldName, String)] = [("Authorization", "old"), ("X-Amz-Date", "old"), ("X-Amz-Meta", "m")]
        let steps = try await signer.signed(
            try HTTPRequest(.get, Self.bucket + "/a?x=1&X-Amz-Security-Token=old", fields), at: Self.day)
        #expect(
            steps.request.url.query == "x=1&X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=60"
                + "&X-Amz-Security-Token=a%2Fb&X-Amz-SignedHeaders=host%3Bx-amz-meta&X-Amz-Signature=\(steps.signature)"
        )
        #expect(steps.request.fields == ["X-Amz-Meta": "m"])
        // In fields the token is one of them.
        let header = AWSSignatureV4(region: "r", service: "s3", credentials: credentials)
        let signed = try await header.signed(try HTTPRequest(.get, Self.bucket), at: Self.day)
        #expect(signed.signedFields == "host;x-amz-content-sha256;x-amz-date;x-amz-security-token")
        #expect(signed.request.url.query == nil)
    }

    @Test func `a payload that is not signed is not read, and one that can be read only once cannot be signed`()
        async throws
    {
        var signer = AWSSignatureV4(region: "r", service: "s3", credentials: Self.s3Credentials)
        let chunks = HTTPBody.Chunks { $0.finish() }
        let request = try HTTPRequest(.put, Self.bucket + "/a", body: .onceOnly(chunks))
        let error = await #expect(throws: APIError.self) { try await signer.signed(request, at: Self.day) }
        #expect(error?.kind == .unsupported(feature: "the signature of a body that can be read only once"))
        signer.payload = .unsigned
        let steps = try await signer.signed(request, at: Self.day)
        #expect(steps.request.fields["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
        guard case .stream(let open) = request.body.source else {
            Issue.record("no stream")
            return
        }
        _ = try open()
    }

    @Test func `credentials are asked for each time, and empty ones sign nothing`() async throws {
        let asked = Box(0)
        let signer = AWSSignatureV4(region: "r", service: "s") {
            asked.update { $0 += 1 }
            return Self.credentials
        }
        for _ in 0..<2 { _ = try await signer.signed(try HTTPRequest(.get, Self.bucket), at: Self.day) }
        #expect(asked.value == 2)
        for (id, secret) in [("", "s"), ("k", "")] {
            let empty = AWSCredentials(accessKeyID: id, secretAccessKey: secret)
            let signer = AWSSignatureV4(region: "r", service: "s", credentials: empty)
            let error = await #expect(throws: APIError.self) {
                try await signer.signed(try HTTPRequest(.get, Self.bucket), at: Self.day)
            }
            #expect(error?.kind == .invalidConfiguration(reason: "the AWS credentials are empty"))
        }
    }
}
