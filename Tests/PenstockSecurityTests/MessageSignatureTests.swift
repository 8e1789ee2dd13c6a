import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@testable import PenstockSecurity

/// RFC 9421 and RFC 9530 by their own examples.
@Suite(.timeLimit(.minutes(5))) struct MessageSignatureTests {
    private static let digest =
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
    private static let created = Date(timeIntervalSince1970: 1_618_884_473)

    /// The request of appendix B.2; its `Host` and its `Content-Length` are the transport's.
    private static func request() throws -> HTTPRequest {
        try HTTPRequest(
            .post, "https://example.com/foo?param=Value&Pet=dog",
            [
                ("Date", "Tue, 20 Apr 2021 02:07:55 GMT"), ("Content-Type", "application/json"),
                ("Content-Digest", digest),
            ],
            body: .bytes(Data(#"{"hello": "world"}"#.utf8)))
    }

    private static func base(
        _ components: [SignatureComponent], keyID: String, nonce: String? = nil, tag: String? = nil
    ) throws -> SignatureBase {
        try SignatureBase(
            of: request(), covering: components,
            SignatureParameters(created: created, keyID: keyID, nonce: nonce, tag: tag))
    }

    // MARK: Appendix B.2

    @Test func `B_2_1, a signature that covers nothing but its parameters`() throws {
        let base = try Self.base([], keyID: "test-key-rsa-pss", nonce: "b3k2pp5k7z-50gnwp.yemd")
        let input = #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#
        #expect(base.input == input)
        #expect(base.text == #""@signature-params": "# + input)
    }

    @Test func `B_2_2, a few components, one of them a parameter of the query`() throws {
        let base = try Self.base(
            [.authority, .field(.contentDigest), .queryParameter("Pet")], keyID: "test-key-rsa-pss",
            tag: "header-example")
        #expect(
            base.text == """
                "@authority": example.com
                "content-digest": \(Self.digest)
                "@query-param";name="Pet": dog
                "@signature-params": ("@authority" "content-digest" "@query-param";name="Pet")\
                ;created=1618884473;keyid="test-key-rsa-pss";tag="header-example"
                """)
    }

    @Test func `B_2_3, all that there is to cover`() throws {
        let base = try Self.base(
            [
                .field("Date"), .method, .path, .query, .authority, .field(.contentType), .field(.contentDigest),
                .field(.contentLength),
            ], keyID: "test-key-rsa-pss")
        #expect(
            base.text == """
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@method": POST
                "@path": /foo
                "@query": ?param=Value&Pet=dog
                "@authority": example.com
                "content-type": application/json
                "content-digest": \(Self.digest)
                "content-length": 18
                "@signature-params": ("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" \
                "content-length");created=1618884473;keyid="test-key-rsa-pss"
                """)
    }

    /// The text is that of a response, which is not made here; its signature is checked all the same.
    @Test func `B_2_4, the signature by ecdsa-p256-sha256 is that of its text`() throws {
        let text = """
            "@status": 200
            "content-type": application/json
            "content-digest": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:
            "content-length": 23
            "@signature-params": ("@status" "content-type" "content-digest" "content-length")\
            ;created=1618884473;keyid="test-key-ecc-p256"
            """
        let signature = base64(
            "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==")
        let key = bytes(
            "a885586552c2acf6471878cfd7b0935b4ffe0fd2dfc341248ea17bc41e058af0"
                + "31ce2737d2d30ce0617e851e83c61ef5679d151867657649035d90a74cd9e85d")
        #expect(try platformCryptography.isValidP256(signature, of: Data(text.utf8), publicKey: key))
        #expect(try !platformCryptography.isValidP256(signature, of: Data(text.utf8.dropLast()), publicKey: key))
    }

    private static func signer(
        _ key: any SigningKey, keyID: String, covering components: [SignatureComponent], label: String
    ) -> HTTPMessageSigner {
        var signer = HTTPMessageSigner(key, keyID: keyID, covering: components, optional: [])
        (signer.label, signer.hasNonce, signer.namesAlgorithm) = (label, false, false)
        return signer
    }

    @Test func `B_2_5, a request is signed by hmac-sha256`() async throws {
        let secret = try SharedSecret(
            base64("uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="))
        let signer = Self.signer(
            secret, keyID: "test-shared-secret", covering: [.field("Date"), .authority, .field(.contentType)],
            label: "sig-b25")
        let steps = try await signer.signed(try Self.request(), at: Self.created)
        #expect(
            steps.request.fields.values(of: .signatureInput)
                == [#"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#])
        #expect(
            steps.request.fields.values(of: .signature) == ["sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:"])
    }

    @Test func `B_2_6, a request is signed by ed25519`() async throws {
        let key = try Ed25519PrivateKey(base64("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU="))
        let signer = Self.signer(
            key, keyID: "test-key-ed25519",
            covering: [.field("Date"), .method, .path, .authority, .field(.contentType), .field(.contentLength)],
            label: "sig-b26")
        let steps = try await signer.signed(try Self.request(), at: Self.created)
        #expect(
            steps.base.input == #"("date" "@method" "@path" "@authority" "content-type" "content-length")"#
                + #";created=1618884473;keyid="test-key-ed25519""#)
        let published = base64(
            "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==")
        for signature in [published, steps.signature] {
            let isValid = try platformCryptography.isValidEd25519(
                signature, of: Data(steps.base.text.utf8), publicKey: key.publicKey)
            #expect(isValid)
        }
    }

    // MARK: Components

    /// The fields of §2.1 and what becomes of them; and of §2.2.8.
    static let values: [(SignatureComponent, String)] = [
        (.method, "GET"), (.scheme, "https"), (.authority, "www.example.com:8443"),
        (.targetURI, "https://www.example.com:8443/path?param=value&foo=bar&baz=batman&qux="),
        (.requestTarget, "/path?param=value&foo=bar&baz=batman&qux="), (.path, "/path"),
        (.query, "?param=value&foo=bar&baz=batman&qux="),
        (.queryParameter("baz"), "batman"), (.queryParameter("qux"), ""), (.queryParameter("param"), "value"),
        (.field("Host"), "www.example.com:8443"), (.field("X-Empty-Header"), ""),
        (.field("Cache-Control"), "max-age=60, must-revalidate"),
        (.member("max-age", of: "Cache-Control"), "60"), (.member("must-revalidate", of: "Cache-Control"), "?1"),
        (.field("Example-Dict"), "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        (.structured("Example-Dict", .dictionary), "a=1, b=2;x=1;y=2, c=(a b c), d"),
        (.member("a", of: "Example-Dict"), "1"), (.member("d", of: "Example-Dict"), "?1"),
        (.member("b", of: "Example-Dict"), "2;x=1;y=2"), (.member("c", of: "Example-Dict"), "(a b c)"),
        (.field("Example-Header"), "value, with, lots, of, commas"),
        (.binary("Example-Header"), ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"),
    ]

    private static func message() throws -> HTTPRequest {
        try HTTPRequest(
            .get, "https://www.example.com:8443/path?param=value&foo=bar&baz=batman&qux=",
            [
                ("X-Empty-Header", ""), ("Cache-Control", "max-age=60"), ("Cache-Control", "   must-revalidate"),
                ("Example-Dict", "  a=1,    b=2;x=1;y=2,   c=(a   b   c), d "), ("Example-Header", "value, with, lots"),
                ("Example-Header", "of, commas"),
            ])
    }

    @Test(arguments: values) func `a component has the value that the standard gives it`(
        component: SignatureComponent, value: String
    ) throws {
        #expect(try component.value(in: Self.message()) == value)
    }

    /// §2.2.8: escapes are undone, and made anew in one way, spaces as `%20`.
    @Test func `a parameter of the query is read as a form, and escaped in one way`() throws {
        let request = try HTTPRequest(
            .get,
            "https://www.example.com/parameters?var=this%20is%20a%20big%0Avalue&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=~a*&eq=a=b"
        )
        #expect(try SignatureComponent.queryParameter("var").value(in: request) == "this%20is%20a%20big%0Avalue")
        #expect(try SignatureComponent.queryParameter("bar").value(in: request) == "with%20plus%20whitespace")
        #expect(try SignatureComponent.queryParameter("eq").value(in: request) == "a%3Db")
        let facade = SignatureComponent.queryParameter("façade\": ")
        #expect(facade.description == #""@query-param";name="fa%C3%A7ade%22%3A%20""#)
        #expect(try facade.value(in: request) == "%7Ea*")
    }

    static let parameters: [(query: String, value: String?)] = [
        ("a=%C3%A4", "%C3%A4"), ("a=ä", "%C3%A4"), ("a=%E2%82%AC+%2B", "%E2%82%AC%20%2B"), ("a=%00", "%00"),
        ("a=%EF%BF%BD", "%EF%BF%BD"), ("a=%EF%BB%BFx", "%EF%BB%BFx"), ("a=%zz%", "%25zz%25"), ("a", ""), ("a=", ""),
        ("b=%FF&a=1", "1"), ("%FF=1&a=1", "1"), ("a=%FF", nil), ("a=x%C3", nil), ("a=%C3%28", nil), ("a=%C0%AF", nil),
        ("a=%ED%A0%80", nil), ("a=%F4%90%80%80", nil), ("a=%80", nil), ("a=%E2%82", nil),
    ]

    @Test(
        "a parameter of the query is signed byte for byte as UTF-8, and one that is none is not signed",
        arguments: parameters)
    func queryParameters(query: String, value: String?) throws {
        let request = try HTTPRequest(.get, "https://a.example/?" + query)
        let component = SignatureComponent.queryParameter("a")
        if let value {
            #expect(try component.value(in: request) == value)
        } else {
            #expect(throws: SignatureBaseError.unsignable(#""@query-param";name="a""#)) {
                try component.value(in: request)
            }
        }
    }

    @Test func `however many parameters of the query are covered, it is read once`() async throws {
        try LinearWork.expect("a signature base", unit: "x", limit: 1, from: 400) { input in
            let names = (0..<input.utf8.count).map { "p\($0)" }
            let request = try HTTPRequest(.get, "https://a.example/?" + names.map { "\($0)=1" }.joined(separator: "&"))
            let components = names.map { SignatureComponent.queryParameter($0) }
            let base = try SignatureBase(of: request, covering: components, SignatureParameters())
            #expect(base.text.contains(#""@query-param";name="p399": 1"#))
            // Those that need not be there share one reading as well.
            var query = SignedQuery()
            let count = components.filter { $0.isPresent(in: request, &query) }.count
            #expect(count == names.count)
        }
    }

    @Test func `a name that is not UTF-8 is no other name, and is not signed`() throws {
        let request = try HTTPRequest(.get, "https://a.example/?%FF=1&a%C3=2")
        let name = SignatureComponent.queryParameter("\u{FFFD}")
        #expect(throws: SignatureBaseError.unsignable(name.description)) { try name.value(in: request) }
        let missing = SignatureComponent.queryParameter("a")
        #expect(throws: SignatureBaseError.missing(missing.description)) { try missing.value(in: request) }
        let both = try HTTPRequest(.get, "https://a.example/?%FF=1&%FE=2")
        #expect(throws: SignatureBaseError.ambiguous(name.description)) { try name.value(in: both) }
    }

    static let refused: [(SignatureComponent, SignatureBaseError)] = [
        (.field("Absent"), .missing(#""absent""#)), (.binary("Absent"), .missing(#""absent";bs"#)),
        (.field(.contentLength), .missing(#""content-length""#)),
        (.queryParameter("none"), .missing(#""@query-param";name="none""#)),
        (.queryParameter("twice"), .ambiguous(#""@query-param";name="twice""#)),
        (.member("x", of: "Dict"), .missing(#""dict";key="x""#)),
        (.member("a", of: "Broken"), .malformed(#""broken";key="a""#)),
        (.structured("Broken", .list), .malformed(#""broken";sf"#)),
        (.field("Beyond"), .unsignable(#""beyond""#)),
    ]

    @Test(arguments: refused) func `what the request has not, has twice, or cannot be written is not signed`(
        component: SignatureComponent, error: SignatureBaseError
    ) async throws {
        let request = try HTTPRequest(
            .get, "https://a.example/?twice=1&twice=2", [("Dict", "a=1"), ("Broken", "a=(1"), ("Beyond", "é")])
        #expect(throws: error) { try component.value(in: request) }
        let signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k", covering: [component])
        let thrown = await #expect(throws: APIError.self) { try await signer.signed(request, at: Self.created) }
        #expect(thrown?.kind == .unsupported(feature: "a signature, since \(error)"))
        #expect(thrown?.underlying as? SignatureBaseError == error)
        // Among those that need not be there, it is left out where it is not there, and for no other reason.
        let lenient = HTTPMessageSigner(
            try SharedSecret(text: "s"), keyID: "k", covering: [.method], optional: [component, .path, .method])
        guard case .missing = error else {
            let thrown = await #expect(throws: APIError.self) { try await lenient.signed(request, at: Self.created) }
            #expect(thrown?.underlying as? SignatureBaseError == error)
            return
        }
        let steps = try await lenient.signed(request, at: Self.created)
        #expect(steps.base.input.hasPrefix(#"("@method" "@path");created="#))
    }

    @Test(arguments: [HTTPFieldName.authorization, .contentType])
    func `a field that is covered where it is there is never sent unsigned`(name: HTTPFieldName) async throws {
        let signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        func signed(_ value: String) async throws -> String {
            let request = try HTTPRequest(.post, "https://a.example/", [(name, value)], body: .bytes(Data()))
            return try await signer.signed(request, at: Self.created).base.input
        }
        #expect(try await signed("a/b").contains(name.text.lowercased()))
        await #expect(throws: APIError.self) { try await signed("a/b; c=\u{E9}") }
    }

    /// The ends of what a value may hold: ASCII that is printed, and the tab (RFC 9421 §2.5). No field has other controls.
    @Test(arguments: ["a\tb", "a b", "a!b", "a}b", "a~b", "~", "!"])
    func `a value is signed up to the last character of ASCII`(value: String) throws {
        let request = try HTTPRequest(.get, "https://a.example/", [("X", value)])
        #expect(try SignatureComponent.field("X").value(in: request) == value)
        for beyond in ["\u{80}", "\u{A0}", "ÿ"] {
            let request = try HTTPRequest(.get, "https://a.example/", [("X", value + beyond)])
            #expect(throws: SignatureBaseError.unsignable(#""x""#)) {
                try SignatureComponent.field("X").value(in: request)
            }
        }
    }

    @Test func `a component is covered once, and parameters hold what a String can`() throws {
        let request = try Self.request()
        func error(_ components: [SignatureComponent], _ parameters: SignatureParameters = .init())
            -> SignatureBaseError?
        {
            do throws(SignatureBaseError) {
                _ = try SignatureBase(of: request, covering: components, parameters)
                return nil
            } catch {
                return error
            }
        }
        #expect(error([.method, .method]) == .duplicate(#""@method""#))
        #expect(error([.field("date"), .field("Date")]) == .duplicate(#""date""#))
        #expect(error([.field("Date"), .binary("Date")]) == nil)
        // Read in two ways, and written in one.
        let typed = [StructuredFieldKind.list, .item].map { SignatureComponent.structured(.contentType, $0) }
        #expect(error(typed) == .duplicate(#""content-type";sf"#))
        #expect(error([], .init(keyID: "a\"b\\c")) == nil)
        #expect(error([], .init(keyID: " ~")) == nil)
        #expect(error([], .init(keyID: "\u{1F}")) == .invalidParameter("keyid"))
        #expect(error([], .init(keyID: "é")) == .invalidParameter("keyid"))
        #expect(error([], .init(nonce: "a\nb")) == .invalidParameter("nonce"))
        #expect(error([], .init(tag: "\u{7F}")) == .invalidParameter("tag"))
        #expect(error([], .init(created: Date(timeIntervalSince1970: 999_999_999_999_999))) == nil)
        #expect(error([], .init(created: Date(timeIntervalSince1970: 1e15))) == .invalidParameter("created"))
        #expect(error([], .init(created: Date(timeIntervalSince1970: -999_999_999_999_999))) == nil)
        #expect(error([], .init(created: Date(timeIntervalSince1970: -1e15))) == .invalidParameter("created"))
        #expect(error([], .init(expires: Date(timeIntervalSince1970: .infinity))) == .invalidParameter("expires"))
        #expect(error([], .init(created: Self.created, expires: Self.created)) == nil)
        #expect(error([], .init(created: Self.created, expires: Self.created - 1)) == .invalidParameter("expires"))
    }

    static let bodiless: [(HTTPMethod, String?)] = [
        (.post, "0"), (.put, "0"), (.patch, "0"), (.get, nil), (.head, nil), (.delete, nil), (.options, nil),
    ]

    @Test("the length of a body that is not there is 0 where the method mostly has one", arguments: bodiless)
    func lengths(method: HTTPMethod, length: String?) async throws {
        let component = SignatureComponent.field(.contentLength)
        let request = try HTTPRequest(method, "https://a.example/")
        #expect((try? component.value(in: request)) == length)
        let signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k", covering: [], optional: [component])
        let isCovered = try await signer.signed(request, at: Self.created).base.text.hasPrefix(
            "\"content-length\": 0\n")
        #expect(isCovered == (length != nil))
        var empty = request
        empty.body = .bytes(Data())
        #expect(try component.value(in: empty) == "0")
    }

    @Test func `all parameters stand in their order, times in whole seconds`() throws {
        let base = try SignatureBase(
            of: Self.request(), covering: [],
            SignatureParameters(
                created: Date(timeIntervalSince1970: 1.9), expires: Date(timeIntervalSince1970: 61.9), keyID: #"a"\b"#,
                nonce: "n", algorithm: .ed25519, tag: "t"))
        #expect(base.input == #"();created=1;expires=61;keyid="a\"\\b";nonce="n";alg="ed25519";tag="t""#)
    }

    // MARK: The signer

    @Test func `by default method, URL, media type and digest are covered, with a nonce`() async throws {
        let random = RandomSource { 0xAB }
        let signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k", random: random)
        let body = HTTPBody.bytes(Data("{\"hello\": \"world\"}".utf8))
        let request = try HTTPRequest(.post, "https://a.example/b", [("Content-Type", "a/b")], body: body)
        let steps = try await signer.signed(request, at: Self.created)
        #expect(
            steps.base.input
                == #"("@method" "@target-uri" "content-digest" "content-type");created=1618884473;keyid="k""#
                + #";nonce="00000000000000ab00000000000000ab";alg="hmac-sha256""#)
        // RFC 9530 appendix B.
        #expect(
            steps.request.fields[.contentDigest] == "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:")
        #expect(signer.isTimed)
        let plain = try await signer.signed(try HTTPRequest(.get, "https://a.example/b"), at: Self.created)
        #expect(plain.base.input.hasPrefix(#"("@method" "@target-uri");"#))
        #expect(plain.request.fields[.contentDigest] == nil)
    }

    @Test func `the digest is by the function that is set, and one of the app's own stays`() async throws {
        var signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        signer.digest = .sha512
        var request = try Self.request()
        request.fields.remove(.contentDigest)
        #expect(try await signer.signed(request, at: Self.created).request.fields[.contentDigest] == Self.digest)
        request.fields[.contentDigest] = "sha-256=:AAAA:"
        #expect(
            try await signer.signed(request, at: Self.created).request.fields.values(of: .contentDigest)
                == ["sha-256=:AAAA:"])
        signer.optionalComponents = []
        request.fields.remove(.contentDigest)
        #expect(try await signer.signed(request, at: Self.created).request.fields[.contentDigest] == nil)
    }

    @Test func `a file and a stream have the digest of their bytes, and a stream that fails is told`() async throws {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("digest-\(UUID().uuidString)")
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = HTTPBody.stream {
            HTTPBody.Chunks { chunks in
                chunks.yield(data.prefix(7))
                chunks.yield(data.dropFirst(7))
                chunks.finish()
            }
        }
        let expected = try platformCryptography.digest(data, by: .sha256)
        for body in [HTTPBody.bytes(data), .file(file), stream, stream] {
            #expect(try await ContentDigest.digest(of: body, by: .sha256) == expected)
        }
        let none = try await ContentDigest.digest(of: .none, by: .sha256)
        #expect(none.hexadecimal == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        struct Broken: Error {}
        let failing: [HTTPBody] = [
            .stream { throw Broken() }, .stream { HTTPBody.Chunks { $0.finish(throwing: Broken()) } },
        ]
        for body in failing {
            let error = await #expect(throws: APIError.self) { try await ContentDigest.digest(of: body, by: .sha256) }
            #expect(error?.kind == .transport(.requestBody))
            #expect(error?.underlying is Broken)
        }
    }

    @Test func `a second signature stands beside the first, and never in its place`() async throws {
        var signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        let first = try await signer.signed(try Self.request(), at: Self.created).request
        let error = await #expect(throws: APIError.self) { try await signer.signed(first, at: Self.created) }
        #expect(error?.underlying as? SignatureBaseError == .duplicate("sig1"))
        signer.label = "sig2"
        let second = try await signer.signed(first, at: Self.created).request
        #expect(second.fields.values(of: .signature).map { $0.prefix(5) } == ["sig1=", "sig2="])
        #expect(second.fields.values(of: .signatureInput).map { $0.prefix(5) } == ["sig1=", "sig2="])
        for label in ["", "Sig", "1sig", "a b", "a,b", "a;b", "a=1"] {
            signer.label = label
            let error = await #expect(throws: APIError.self) {
                try await signer.signed(try Self.request(), at: Self.created)
            }
            #expect(error?.underlying as? SignatureBaseError == .invalidParameter("label"))
        }
        signer.label = "sig1"
        var broken = try Self.request()
        broken.fields[.signature] = "sig1=("
        let malformed = await #expect(throws: APIError.self) { try await signer.signed(broken, at: Self.created) }
        #expect(malformed?.underlying as? SignatureBaseError == .malformed("Signature"))
    }

    @Test func `what is covered anyway is not covered once more in another reading of it`() async throws {
        let request = try HTTPRequest(.get, "https://a.example/", [("X-A", "1")])
        let signer = HTTPMessageSigner(
            try SharedSecret(text: "s"), keyID: "k", covering: [.structured("X-A", .list)],
            optional: [.structured("X-A", .item), .field("X-A")])
        let steps = try await signer.signed(request, at: Self.created)
        #expect(steps.base.input.hasPrefix(#"("x-a";sf "x-a");"#))
        var twice = signer
        (twice.components, twice.optionalComponents) = ([], [.structured("X-A", .item), .structured("X-A", .list)])
        let error = await #expect(throws: APIError.self) { try await twice.signed(request, at: Self.created) }
        #expect(error?.underlying as? SignatureBaseError == .duplicate(#""x-a";sf"#))
    }

    static let ofSignatures: [(SignatureComponent, String?)] = [
        (.member("sig1", of: .signature), nil), (.member("sig1", of: .signatureInput), nil),
        (.field(.signature), #""signature""#), (.field("SIGNATURE-INPUT"), #""signature-input""#),
        (.binary(.signature), #""signature";bs"#),
        (.structured(.signatureInput, .dictionary), #""signature-input";sf"#),
    ]

    @Test("of the fields that a signature is added to, other signatures alone can be covered", arguments: ofSignatures)
    func ofOtherSignatures(component: SignatureComponent, refused: String?) async throws {
        var signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        let first = try await signer.signed(try Self.request(), at: Self.created).request
        signer.label = "sig2"
        for isOptional in [false, true] {
            (signer.components, signer.optionalComponents) = isOptional ? ([], [component]) : ([component], [])
            let error: SignatureBaseError?
            do {
                let steps = try await signer.signed(first, at: Self.created)
                // As who checks it finds it.
                #expect(try component.value(in: steps.request) == component.value(in: first))
                error = nil
            } catch let thrown as APIError {
                error = thrown.underlying as? SignatureBaseError
            }
            #expect(error == refused.map(SignatureBaseError.selfChanging))
        }
    }

    @Test func `a time that the field cannot hold is refused`() async throws {
        let signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        for seconds in [-0x1p63, 0x1p63, -1e15, 1e15, .nan, .infinity, -.infinity] {
            let error = await #expect(throws: APIError.self) {
                try await signer.signed(try Self.request(), at: Date(timeIntervalSince1970: seconds))
            }
            #expect(error?.underlying as? SignatureBaseError == .invalidParameter("created"), "\(seconds)")
        }
    }

    @Test func `a signature that is good for a while says until when`() async throws {
        var signer = HTTPMessageSigner(try SharedSecret(text: "s"), keyID: "k")
        signer.lifetime = .seconds(60)
        signer.tag = "pay"
        let input = try await signer.signed(try Self.request(), at: Self.created).base.input
        #expect(input.contains(";created=1618884473;expires=1618884533;"))
        #expect(input.hasSuffix(#";tag="pay""#))
        signer.lifetime = .zero
        let least = try await signer.signed(try Self.request(), at: Self.created).base.input
        #expect(least.contains(";created=1618884473;expires=1618884473;"))
        signer.lifetime = .milliseconds(-1)
        let error = await #expect(throws: APIError.self) {
            try await signer.signed(try Self.request(), at: Self.created)
        }
        #expect(error?.underlying as? SignatureBaseError == .invalidParameter("expires"))
    }
}

/// RFC 9651, as far as signatures need it.
@Suite struct StructuredFieldTests {
    static let canonical: [(StructuredFieldKind, String, String?)] = [
        (.item, "1", "1"), (.item, " 007 ", "7"), (.item, "-0", "0"), (.item, "-5", "-5"),
        (.item, "999999999999999", "999999999999999"), (.item, "1000000000000000", nil), (.item, "-", nil),
        (.item, "", nil),
        (.item, "1.50", "1.5"), (.item, "1.0", "1.0"), (.item, "1.00", "1.0"), (.item, "-0.10", "-0.1"),
        (.item, "-0.0", "0.0"), (.item, "1.", nil), (.item, "1.123", "1.123"), (.item, "1.1234", nil),
        (.item, "999999999999.1", "999999999999.1"), (.item, "1000000000000.1", nil),
        (.item, "\"a \\\" \\\\ b\"", "\"a \\\" \\\\ b\""), (.item, "\"a", nil), (.item, "\"\\a\"", nil),
        (.item, "\"é\"", nil),
        (.item, "\"~\"", "\"~\""), (.item, "\"\u{7F}\"", nil),
        (.item, "*a/b:c", "*a/b:c"), (.item, "A1", "A1"), (.item, "!a", nil), (.item, "a b", nil), (.item, "{a", nil),
        (.item, ":YQ==:", ":YQ==:"), (.item, ":YQ==", nil), (.item, "::", "::"), (.item, ":?:", nil),
        (.item, ":YQ:", ":YQ==:"), (.item, ":YQ=:", ":YQ==:"), (.item, ":YWI:", ":YWI=:"), (.item, ":YWI=:", ":YWI=:"),
        (.item, ":YR==:", ":YQ==:"), (.item, ":YQ===:", nil), (.item, ":YWI==:", nil), (.item, ":YWJj=:", nil),
        (.item, ":Y:", nil), (.item, ":Y===:", nil), (.item, ":=:", nil), (.item, ":====:", nil),
        (.item, ":Y=Q=:", nil),
        (.item, ":YQ==YQ==:", nil), (.item, ": YQ==:", nil), (.item, ":_-8=:", nil),
        (.item, "?1", "?1"), (.item, "?0", "?0"), (.item, "?2", nil), (.item, "?", nil),
        (.item, "@1659578233", "@1659578233"), (.item, "@1.5", nil),
        (.item, "%\"a b\"", "%\"a b\""), (.item, "%\"\"", "%\"\""),
        (.item, "%\"%66%c3%bc%25%22%00%1f%7f~%7e%20\"", "%\"f%c3%bc%25%22%00%1f%7f~~ \""),
        (.item, "%\"%f0%9f%98%80\";a=%\"%c3%9f\"", "%\"%f0%9f%98%80\";a=%\"%c3%9f\""),
        (.item, "%\"%C3%BC\"", nil), (.item, "%\"%c3\"", nil), (.item, "%\"%ed%a0%80\"", nil), (.item, "%\"%\"", nil),
        (.item, "%\"%6\"", nil), (.item, "%\"%6g\"", nil), (.item, "%\"%/0\"", nil), (.item, "%\"%:0\"", nil),
        (.item, "%\"%`0\"", nil), (.item, "%\"a", nil), (.item, "%\"\u{FC}\"", nil), (.item, "%\"\t\"", nil),
        (.item, "%\"\u{7F}\"", nil), (.item, "%a", nil), (.item, "%", nil), (.item, "% \"a\"", nil),
        (.list, "%\"%c3%bc\", (%\"x\")", "%\"%c3%bc\", (%\"x\")"), (.dictionary, "a=%\"%09\"", "a=%\"%09\""),
        (.item, "a; b;  c=1;d=?1;e=?0", "a;b;c=1;d;e=?0"), (.item, "a;b=1;b=2", "a;b=2"), (.item, "a;B", nil),
        (.item, "a;", nil), (.item, "a;b=", nil), (.item, "a ;b", nil), (.item, "a;*b_-.9", "a;*b_-.9"),
        (.list, "", ""), (.list, "a,b ,\tc", "a, b, c"), (.list, "a,", nil), (.list, ",a", nil), (.list, "a b", nil),
        (.list, "( a  b );x, ()", "(a b);x, ()"), (.list, "(a", nil), (.list, "(a,b)", nil), (.list, "(\"a\"b)", nil),
        (.list, "(a;q=1 b)", "(a;q=1 b)"), (.list, "((a))", nil), (.list, "a)", nil),
        (.dictionary, "", ""), (.dictionary, "a=1,b;x=2, c=?0,d=?1", "a=1, b;x=2, c=?0, d"),
        (.dictionary, "a=1,b=2,a=3", "a=3, b=2"), (.dictionary, "A=1", nil), (.dictionary, "a=", nil),
        (.dictionary, "a=1 b=2", nil), (.dictionary, "a=(1 2);x", "a=(1 2);x"), (.dictionary, "a=1,", nil),
        (.dictionary, "1=a", nil), (.dictionary, "*=1", "*=1"),
        (.list, "a\t,b", "a, b"), (.item, "-5.0", "-5.0"), (.item, "-5.10", "-5.1"), (.dictionary, "a:=1", nil),
    ]

    @Test(arguments: canonical) func `a field is read strictly, and written in its one form`(
        kind: StructuredFieldKind, text: String, form: String?
    ) {
        #expect((try? StructuredField.canonical(text, as: kind)) == form)
        // What is in its one form stays as it is.
        if let form { #expect((try? StructuredField.canonical(form, as: kind)) == form) }
    }
}
