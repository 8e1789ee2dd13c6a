import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// The authenticators that are ready made, byte by byte.
@Suite(.timeLimit(.minutes(5))) struct AuthenticatorTests {
    private static let tokens = "https://id.example.com/token"

    /// A client that answers tokens by `respond` and everything else by a refusal of what is not `new`.
    private static func rig(
        _ authenticator: any Authenticator, clock: TestClock = TestClock(),
        _ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) -> AuthRig {
        let desk = TokenDesk()
        return AuthRig(authenticator, desk: desk, clock: clock) { request in
            request.url.host == "id.example.com" ? respond(request) : desk.answer(request)
        }
    }

    private static func grant(_ more: String = "") -> HTTPResponse {
        .json(#"{"access_token":"new","token_type":"Bearer","expires_in":3600\#(more)}"#)
    }

    // MARK: API keys and passwords

    @Test("An API key stands in its field, a password in Authorization; no name, and a colon in one, are refused")
    func simple() async throws {
        let seen = Box<HTTPRequest?>(nil)
        let answer: StubTransport.Responder = { request in
            seen.value = request
            return .product
        }
        let key = AuthRig(APIKeyAuthenticator(field: "X-Key"), answering: answer)
        try await key.client.signIn(Credential("k7"))
        _ = try await key.client.send(GetProduct())
        #expect(seen.value?.fields["X-Key"] == "k7")
        #expect(seen.value?.fields.contains(.authorization) == false)
        let basic = AuthRig(BasicAuthenticator(), answering: answer)
        // The example of RFC 7617 §2.1.
        try await basic.client.signIn(Credential("123\u{A3}", user: "test"))
        _ = try await basic.client.send(GetProduct())
        #expect(seen.value?.fields[.authorization] == "Basic dGVzdDoxMjPCow==")
        try await basic.client.signIn(Credential("x", user: ""))
        _ = try await basic.client.send(GetProduct())
        #expect(seen.value?.fields[.authorization] == "Basic Ong=")
        seen.value = nil
        for credential in [Credential("x", user: "a:b"), Credential("x")] {
            try await basic.client.signIn(credential)
            guard
                case .invalidParameter(field: "user", _)? = await failure({
                    try await basic.client.send(GetProduct())
                })?
                .kind
            else {
                Issue.record("no name, or one with a colon, was let through")
                return
            }
        }
        #expect(seen.value == nil)
    }

    @Test(
        "A control character in a name or a password is refused, and nothing is sent (RFC 7617 §2)",
        arguments: ["\u{0}", "a\nb", "\u{1F}", "a\u{7F}", "\u{85}"])
    func controlCharacters(text: String) async throws {
        let rig = AuthRig(BasicAuthenticator()) { _ in .product }
        for (field, credential) in [
            ("user", Credential("x", user: text)), ("password", Credential(text, user: "a")),
        ] {
            try await rig.client.signIn(credential)
            let kind = await failure { try await rig.client.send(GetProduct()) }?.kind
            #expect(kind == .invalidParameter(field: field, reason: "must not have a control character in it"))
        }
        #expect(rig.rig.hosts.isEmpty)
        // A space is none, and neither is what is beyond.
        try await rig.client.signIn(Credential(" \u{A0}~", user: " "))
        _ = try await rig.client.send(GetProduct())
        #expect(rig.rig.hosts.count == 1)
    }

    /// A scheme of an app's own: a field, and a desk that renews.
    private struct Pass: Authenticator {
        func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest {
            var request = request
            request.fields["X-Pass"] = credential.values["shop"]
            return request
        }

        func canRefresh(_ credential: Credential) -> Bool { true }

        func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
            #expect(context.key.account == "alice")
            return Credential("2", values: ["shop": "new"])
        }
    }

    @Test("A scheme of the app's own says what goes onto a request and how it is renewed, and has all the rest")
    func ownScheme() async throws {
        let passes = Box<[String?]>([])
        let rig = AuthRig(Pass()) { request in
            passes.update { $0.append(request.fields["X-Pass"]) }
            return request.fields["X-Pass"] == "new" ? .product : HTTPResponse(status: 401)
        }
        let alice = rig.client.with { $0.identity = { "alice" } }
        try await alice.signIn(Credential("1", values: ["shop": "old"]))
        #expect(try await alice.send(GetProduct()).id == 7)
        #expect(passes.value == ["old", "new"])
        // It asks no user, and trusts no other server.
        #expect(!Pass().canLogIn && Pass().trustedOrigins.isEmpty)
    }

    @Test("What cannot be renewed leaves the refusal to the caller, and is kept")
    func fixed() async throws {
        for authenticator in [APIKeyAuthenticator(), BasicAuthenticator(), BearerAuthenticator()] as [any Authenticator]
        {
            let rig = AuthRig(authenticator) { _ in .unauthorised }
            try await rig.client.signIn(Credential("bad", user: "alice"))
            #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(401))
            #expect(try await rig.client.credential()?.token == "bad")
            #expect(rig.rig.sent.count == 1)
        }
    }

    // MARK: The refresh-token grant

    @Test(
        "The refresh token is sent as a form, the old one is kept where none is given, and redirects are not followed")
    func grant() async throws {
        let asked = Box<[HTTPRequest]>([])
        let rig = Self.rig(OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app 1")) { request in
            asked.update { $0.append(request) }
            return Self.grant()
        }
        try await rig.client.signIn(Credential("old", refreshToken: "r/1+&"))
        _ = try await rig.client.send(GetProduct())
        let request = try #require(asked.value.first)
        #expect(request.method == .post)
        #expect(request.text == "grant_type=refresh_token&refresh_token=r%2F1%2B%26&client_id=app%201")
        #expect(request.fields[.contentType] == "application/x-www-form-urlencoded")
        #expect(!request.fields.contains(.authorization))
        let credential = try #require(try await rig.client.credential())
        #expect(credential.refreshToken == "r/1+&")
        #expect(credential.lifetime == .seconds(3_600))
        #expect(credential.obtained == rig.clock.timeSource.date())
    }

    @Test("Challenges are believed of the scheme that tokens are shown with, unless the app says otherwise")
    func schemes() {
        let bearer = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app")
        #expect(bearer.expiry == ExpiryRule(scheme: "bearer"))
        let bound = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        #expect(bound.expiry == ExpiryRule(scheme: "dpop"))
        let own = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", expiry: ExpiryRule(statuses: [423]))
        #expect(own.expiry == ExpiryRule(statuses: [423]))
    }

    @Test("A refresh token that is empty is none, so that the old one is kept")
    func emptyRefreshToken() async throws {
        let rig = Self.rig(OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app")) { _ in
            Self.grant(#","refresh_token":"""#)
        }
        try await rig.signIn()
        _ = try await rig.client.send(GetProduct())
        #expect(try await rig.client.credential()?.refreshToken == "r1")
    }

    @Test(
        "Only a redirect, an error of the client but for 408, and what was put off are known to have done nothing"
    )
    func endpointStatuses() {
        let unavailable = Array(300..<500).filter { $0 != 408 } + [503]
        for status in 100..<600 {
            let expected: AuthenticationFailure = unavailable.contains(status) ? .unavailable : .lost
            #expect(TokenResponse.failure(status, nil) == expected, "\(status)")
            let isRejected = status == 400 || status == 401
            #expect(TokenResponse.failure(status, "invalid_grant") == (isRejected ? .rejected : expected), "\(status)")
        }
    }

    @Test("A token without a type is a bearer token, and none that is bound to the key")
    func untyped() throws {
        let answer = HTTPResponse.json(#"{"access_token":"new"}"#)
        #expect(try TokenResponse(answer, needsProof: false).token == "new")
        #expect(throws: AuthenticationFailure.lost) { try TokenResponse(answer, needsProof: true) }
        let bound = HTTPResponse.json(#"{"access_token":"new","token_type":"dpop"}"#)
        #expect(try TokenResponse(bound, needsProof: true).token == "new")
        #expect(throws: AuthenticationFailure.lost) { try TokenResponse(bound, needsProof: false) }
    }

    @Test("A client with a secret sends it in Authorization, and a scope in the form")
    func secret() async throws {
        let asked = Box<HTTPRequest?>(nil)
        let authenticator = OAuth2Authenticator(
            tokenURL: Self.tokens, clientID: "app:1", clientSecret: "s%", scope: "read write")
        let rig = Self.rig(authenticator) { request in
            asked.value = request
            return Self.grant(#","refresh_token":"r2""#)
        }
        try await rig.signIn()
        _ = try await rig.client.send(GetProduct())
        #expect(asked.value?.text == "grant_type=refresh_token&refresh_token=r1&scope=read%20write")
        #expect(asked.value?.fields[.authorization] == "Basic " + Data("app%3A1:s%25".utf8).base64EncodedString())
        #expect(try await rig.client.credential()?.refreshToken == "r2")
    }

    @Test(
        "The token endpoint gets the form as it is and nothing that is for the services, whatever the client's options say"
    )
    func plainForm() async throws {
        let desk = TokenDesk()
        let asked = Box<HTTPRequest?>(nil)
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app")
        let rig = AuthRig(
            authenticator, desk: desk,
            answering: { request in
                guard request.url.host == "id.example.com" else { return desk.answer(request) }
                asked.value = request
                return Self.grant()
            },
            configured: {
                $0.options.sealing = .sealed
                $0.options.requestCompression = RequestCompression("half") { $0.prefix($0.count / 2) }
                $0.options.headers = ["X-Option": "1"]
                $0.headers = CommonHeaders { ["X-Login": "1"] }
                $0.parameters = CommonParameters { ["device": "d1"] }
            })
        let token = String(repeating: "eyJhbGciOi", count: 200)
        try await rig.client.signIn(Credential("old", refreshToken: token, obtained: rig.clock.timeSource.date()))
        _ = try await rig.client.send(GetProduct(), options: .plain)
        let form = try #require(asked.value)
        #expect(form.text == "grant_type=refresh_token&refresh_token=\(token)&client_id=app")
        #expect(form.url.query == nil)
        #expect(form.fields.map(\.name) == [.contentType, .accept, .userAgent])
    }

    @Test(
        "What the token endpoint answers is judged by its status, its error and its form",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, AuthenticationFailure.rejected),
            (401, #"{"error":"invalid_grant"}"#, .rejected),
            (400, #"{"error":"invalid_client"}"#, .unavailable),
            (401, "", .unavailable),
            (403, "", .unavailable),
            (200, #"{"error":"invalid_grant"}"#, .lost),
            (500, #"{"error":"invalid_grant"}"#, .lost),
            (408, "", .lost),
            (429, "", .unavailable),
            (503, "", .unavailable),
            (504, "", .lost),
            (307, "", .unavailable), (302, "", .unavailable),
            (200, "", .lost),
            (200, "<html>", .lost),
            (200, #"{"access_token":"","token_type":"bearer"}"#, .lost),
            (200, #"{"access_token":7,"token_type":"bearer"}"#, .lost),
            (200, #"{"access_token":"a\nb","token_type":"bearer"}"#, .lost),
            (200, #"{"access_token":"new","token_type":"mac"}"#, .lost),
            (200, #"{"access_token":"new","token_type":"DPoP"}"#, .lost),
            (200, #"{"access_token":"new","token_type":"bearer","expires_in":0}"#, .notRenewed),
            (200, #"{"access_token":"new","token_type":"bearer","expires_in":-1e300}"#, .notRenewed),
        ])
    func answers(status: Int, text: String, failure expected: AuthenticationFailure) async throws {
        let asked = Box(0)
        let rig = Self.rig(OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app")) { _ in
            asked.update { $0 += 1 }
            return HTTPResponse(
                status: status, fields: [.contentType: "application/json", .location: "https://evil.example/"],
                body: Data(text.utf8))
        }
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(expected))
        #expect(asked.value == (expected == .lost ? 2 : 1))
        #expect(try await (rig.client.credential() == nil) == (expected == .rejected))
        #expect(rig.rig.hosts.allSatisfy { $0 != "evil.example" })
    }

    @Test(
        "A lifetime is understood as a number, as a text, and when it is missing or absurd",
        arguments: [
            ("", Duration?.none), (#","expires_in":"60""#, .seconds(60)), (#","expires_in":60.5"#, .seconds(60.5)),
            (#","expires_in":1e300"#, .seconds(315_360_000)), (#","expires_in":"soon""#, nil),
            (#","expires_in":"nan""#, nil), (#","expires_in":"inf""#, nil), (#","expires_in":"-inf""#, nil),
        ])
    func lifetimes(more: String, expected: Duration?) async throws {
        let rig = Self.rig(OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app")) { _ in
            .json(#"{"access_token":"new"\#(more)}"#)
        }
        try await rig.signIn()
        _ = try await rig.client.send(GetProduct())
        #expect(try await rig.client.credential()?.lifetime == expected)
    }

    @Test(
        "A token endpoint that is no URL is told before anything is sent, and where there is no refresh token the user is asked"
    )
    func misconfigured() async throws {
        let rig = Self.rig(OAuth2Authenticator(tokenURL: "token", clientID: "app")) { _ in .product }
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.unavailable))
        #expect(rig.rig.hosts.count == 1)
        let asking = Self.rig(
            OAuth2Authenticator(
                tokenURL: Self.tokens, clientID: "app",
                logIn: { old, _ in
                    #expect(old?.token == "old")
                    return Credential("new")
                })
        ) { _ in .product }
        try await asking.client.signIn(Credential("old"))
        #expect(try await asking.client.send(GetProduct()).id == 7)
    }

    // MARK: Proofs

    /// Signs by naming what it signs.
    private struct FakeKey: DPoPKey {
        var algorithm: String { "ES256" }
        var publicKey: [String: String] { ["kty": "EC", "crv": "P-256", "x": "x1", "y": "y1"] }
        func sign(_ data: Data) throws -> Data { Data("signed \(data.count)".utf8) }
    }

    private static func parts(_ proof: String) throws -> (header: JSONValue, claims: JSONValue, signature: String) {
        let parts = proof.split(separator: ".").map { part in
            var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            while text.utf8.count % 4 != 0 { text += "=" }
            return Data(base64Encoded: text) ?? Data()
        }
        try #require(parts.count == 3)
        return (try Payload(parts[0]).json(), try Payload(parts[1]).json(), String(decoding: parts[2], as: UTF8.self))
    }

    @Test("A proof names method, URL, time, token and key, and no two are alike")
    func proof() throws {
        let prover = DPoPProver(FakeKey())
        let url = try HTTPURL("https://shop.example.com/a%20b?secret=1")
        let date = Date(timeIntervalSince1970: 1_700_000_000.9)
        // The example of RFC 9449 §7.1.
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
        let proof = try prover.proof(method: .post, url: url, token: token, at: date)
        let (header, claims, signature) = try Self.parts(proof)
        #expect(header["typ"] == "dpop+jwt")
        #expect(header["alg"] == "ES256")
        #expect(header["jwk"]?.object == ["kty": "EC", "crv": "P-256", "x": "x1", "y": "y1"])
        #expect(claims["htm"] == "POST")
        #expect(claims["htu"] == "https://shop.example.com/a%20b")
        #expect(claims["iat"] == 1_700_000_000)
        #expect(claims["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        #expect(claims["nonce"] == nil)
        #expect(signature == "signed \(proof.split(separator: ".").prefix(2).joined(separator: ".").utf8.count)")
        let other = try prover.proof(method: .post, url: url, token: nil, at: date)
        #expect(try Self.parts(other).claims["ath"] == nil)
        #expect(try Self.parts(other).claims["jti"] != claims["jti"])
    }

    @Test(
        "Each attempt has a new proof, and a nonce that the server wants is put into the next: at the API and at the token endpoint"
    )
    func nonces() async throws {
        let asked = Box<[HTTPRequest]>([])
        let api = Box<[HTTPRequest]>([])
        @Sendable func nonce(_ request: HTTPRequest) -> String? {
            (try? Self.parts(request.fields[.dpop] ?? ""))?.claims["nonce"]?.string
        }
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        let rig = AuthRig(authenticator) { request in
            if request.url.host == "id.example.com" {
                asked.update { $0.append(request) }
                guard nonce(request) == "t1" else {
                    var refusal = HTTPResponse.json(#"{"error":"use_dpop_nonce"}"#, status: 400)
                    refusal.fields[.dpopNonce] = "t1"
                    return refusal
                }
                return .json(#"{"access_token":"new","token_type":"DPoP","expires_in":60}"#)
            }
            api.update { $0.append(request) }
            guard nonce(request) == "a1" else {
                return HTTPResponse(
                    status: 401, fields: [.wwwAuthenticate: #"DPoP error="use_dpop_nonce""#, .dpopNonce: "a1"])
            }
            let isNew = request.fields[.authorization] == "DPoP new"
            return isNew
                ? .product : HTTPResponse(status: 401, fields: [.wwwAuthenticate: #"DPoP error="invalid_token""#])
        }
        try await rig.signIn()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(asked.value.map(nonce) == [nil, "t1"])
        #expect(api.value.map(nonce) == [nil, "a1", "a1"])
        let proofs = (asked.value + api.value).compactMap { $0.fields[.dpop] }
        #expect(Set(proofs).count == 5)
        // One refresh, and one replay: a nonce is not an expiry.
        #expect(api.value.map { $0.fields[.authorization] } == ["DPoP old", "DPoP old", "DPoP new"])
    }

    @Test("Each response's nonce is in the next proof, also that of a response to what was sent again")
    func newestNonce() async throws {
        let proofs = Box<[String?]>([])
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        let rig = AuthRig(authenticator) { request in
            let proof = try? Self.parts(request.fields[.dpop] ?? "")
            let nonce = proof?.claims["nonce"]?.string
            let count = proofs.update { proofs in
                proofs.append(nonce)
                return proofs.count
            }
            // Each is good for one request.
            var response = HTTPResponse.product
            if count == 1 || nonce != "n\(count - 1)" {
                response = HTTPResponse(status: 401, fields: [.wwwAuthenticate: "DPoP error=use_dpop_nonce"])
            }
            response.fields[.dpopNonce] = "n\(count)"
            return response
        }
        try await rig.signIn()
        for _ in 1...3 { #expect(try await rig.client.send(GetProduct()).id == 7) }
        #expect(proofs.value == [nil, "n1", "n2", "n3"])
    }

    @Test(
        "A proof that was refused for the clock of the device is made once more by the server's: at the API and for a token"
    )
    func wrongClock() async throws {
        let hosts = Box<[String]>([])
        // What signs goes by the same clock.
        let there = TestClock().timeSource.date().addingTimeInterval(86_400)
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        let rig = AuthRig(authenticator) { request in
            hosts.update { $0.append(request.url.host) }
            let isToken = request.url.host == "id.example.com"
            let made = (try? Self.parts(request.fields[.dpop] ?? ""))?.claims["iat"]?.int ?? 0
            var response: HTTPResponse
            if abs(Double(made) - there.timeIntervalSince1970) > 60 {
                response =
                    isToken
                    ? .json(#"{"error":"invalid_dpop_proof"}"#, status: 400)
                    : HTTPResponse(status: 401, fields: [.wwwAuthenticate: "DPoP error=invalid_dpop_proof"])
            } else if isToken {
                response = .json(#"{"access_token":"new","token_type":"DPoP","expires_in":60}"#)
            } else {
                response =
                    request.fields[.authorization] == "DPoP new"
                    ? .product : HTTPResponse(status: 401, fields: [.wwwAuthenticate: "DPoP error=invalid_token"])
            }
            response.fields["Date"] = HTTPDate.format(there)
            return response
        }
        try await rig.signIn()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(hosts.value.map { $0 == "id.example.com" } == [false, false, true, true, false])
        hosts.update { $0 = [] }
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(hosts.value.count == 1)
    }

    @Test(
        "A proof that is refused by a server whose clock agrees is not made again, nor more than once by one that lies")
    func refusedProof() async throws {
        for (step, count) in [(0.0, 1), (86_400, 2)] {
            let sent = Box(0)
            let authenticator = OAuth2Authenticator(
                tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
            let rig = AuthRig(authenticator) { _ in
                let number = sent.update { value in
                    value += 1
                    return value
                }
                let date = TestClock().timeSource.date().addingTimeInterval(step * Double(number))
                return HTTPResponse(
                    status: 401,
                    fields: [.wwwAuthenticate: "DPoP error=invalid_dpop_proof", "Date": HTTPDate.format(date)])
            }
            try await rig.signIn()
            #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(401))
            #expect(sent.value == count)
        }
    }

    @Test(
        "The first token is had with the prover alone, also where the server wants a nonce and where it wants one for ever"
    )
    func firstToken() async throws {
        for refusals in [0, 1, 9] {
            let seen = Box<[JSONValue?]>([])
            let rig = AuthRig { request in
                let nonce = try? Self.parts(request.fields[.dpop] ?? "").claims["nonce"]
                seen.update { $0.append(nonce) }
                guard seen.value.count <= refusals else { return Self.grant() }
                return .json(#"{"error":"use_dpop_nonce"}"#, status: 400, fields: [.dpopNonce: "n\(seen.value.count)"])
            }
            let (prover, url) = (DPoPProver(FakeKey()), try HTTPURL(Self.tokens))
            var request = HTTPRequest(method: .post, url: url, body: .bytes(Data("code=x".utf8)))
            var (count, status) = (0, 0)
            repeat {
                request.fields[.dpop] = try prover.proof(method: .post, url: url, token: nil, at: Date())
                let response = try await rig.client.send(request, options: .anonymous).http
                (count, status) = (count + 1, response.status)
                guard prover.note(response, to: request) else { break }
            } while count < 2
            #expect(status == (refusals < 2 ? 200 : 400))
            #expect(seen.value == (refusals == 0 ? [nil] : [nil, "n1"]))
        }
    }

    @Test("A nonce may have 1,024 bytes, and those of the last 32 origins are kept")
    func nonceLimits() throws {
        let prover = DPoPProver(FakeKey())
        let nonce = { (url: HTTPURL) in
            try Self.parts(prover.proof(method: .get, url: url, token: nil, at: Date())).claims["nonce"]?.string
        }
        let take = { (url: HTTPURL, nonce: String) in
            let answer = HTTPResponse(
                status: 401, fields: [.wwwAuthenticate: "DPoP error=use_dpop_nonce", .dpopNonce: nonce])
            return prover.note(answer, to: HTTPRequest(method: .get, url: url))
        }
        let urls = try (0..<33).map { try HTTPURL("https://h\($0).example/") }
        #expect(take(urls[0], String(repeating: "n", count: 1_025)) == false)
        #expect(take(urls[0], "") == false)
        #expect(try nonce(urls[0]) == nil)
        #expect(take(urls[0], String(repeating: "n", count: 1_024)) == true)
        #expect(try nonce(urls[0])?.count == 1_024)
        for url in urls[..<32] { #expect(take(url, "n") == true) }
        #expect(try nonce(urls[0]) == "n")
        #expect(take(urls[32], "n") == true)
        #expect(try nonce(urls[0]) == nil)
        #expect(try nonce(urls[1]) == "n" && nonce(urls[32]) == "n")
    }

    static let nonceAnswers: [(Int, String, String, Bool)] = [
        (401, "DPoP error=use_dpop_nonce", "", true), (401, "DPoP error=invalid_token", "", false),
        (401, "Bearer error=use_dpop_nonce", "", false), (401, "DPoP", "", false),
        (401, "Bearer error=invalid_token, DPoP error=\"use_dpop_nonce\"", "", true),
        (401, "", #"{"error":"use_dpop_nonce"}"#, false), (400, "", #"{"error":"use_dpop_nonce"}"#, true),
        (400, "DPoP error=use_dpop_nonce", #"{"error":"invalid_grant"}"#, false), (400, "", "", false),
        (200, "DPoP error=use_dpop_nonce", #"{"error":"use_dpop_nonce"}"#, false),
        (402, "DPoP error=use_dpop_nonce", #"{"error":"use_dpop_nonce"}"#, false),
        (403, "DPoP error=use_dpop_nonce", #"{"error":"use_dpop_nonce"}"#, false),
    ]

    @Test(
        "A proof with the nonce is wanted by a 401 whose challenge says so, or a 400 of a token endpoint; any answer gives the nonce",
        arguments: nonceAnswers)
    func whoWantsANonce(status: Int, challenge: String, body: String, isWanted: Bool) throws {
        let (prover, url) = (DPoPProver(FakeKey()), try HTTPURL("https://shop.example.com/"))
        let answer = HTTPResponse(
            status: status, fields: [.wwwAuthenticate: challenge, .dpopNonce: "n"], body: Data(body.utf8))
        #expect(prover.note(answer, to: HTTPRequest(method: .get, url: url)) == isWanted)
        let proof = try prover.proof(method: .get, url: url, token: nil, at: Date())
        #expect(try Self.parts(proof).claims["nonce"] == "n")
    }

    @Test("A body that can be read only once is not sent again for a nonce: the refusal is the answer")
    func nonceForOnceOnly() async throws {
        struct Upload: Endpoint {
            typealias Output = Product
            let body: HTTPBody
            var route: Route { .put("/photo") }
        }
        for isReplayable in [true, false] {
            let count = Box(0)
            let authenticator = OAuth2Authenticator(
                tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
            let rig = AuthRig(authenticator) { _ in
                count.update { $0 += 1 }
                return HTTPResponse(
                    status: 401, fields: [.wwwAuthenticate: "DPoP error=use_dpop_nonce", .dpopNonce: "n"])
            }
            try await rig.signIn()
            let once = HTTPBody.onceOnly(HTTPBody.Chunks { $0.finish() })
            let body = isReplayable ? HTTPBody.bytes(Data("photo".utf8)) : once
            let error = await failure { try await rig.client.send(Upload(body: body)) }
            #expect(error?.kind == .httpStatus(401))
            #expect(count.value == (isReplayable ? 2 : 1))
        }
    }

    @Test("A server that wants another nonce for ever is asked twice, and nothing is renewed for it")
    func nonceForEver() async throws {
        let count = Box(0)
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        let rig = AuthRig(authenticator) { request in
            let number = count.update { value in
                value += 1
                return value
            }
            if request.url.host == "id.example.com" { Issue.record("renewed") }
            return HTTPResponse(
                status: 401, fields: [.wwwAuthenticate: "DPoP error=use_dpop_nonce", .dpopNonce: "n\(number)"])
        }
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(401))
        #expect(count.value == 2)
    }

    @Test(
        "The second sending, with the nonce, is counted by the retry budget and told of, and goes though nothing is left"
    )
    func nonceIsCounted() async throws {
        for reserve in [0.5, 1, 2] {
            let recorder = EventRecorder()
            let authenticator = OAuth2Authenticator(
                tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
            let rig = AuthRig(authenticator) { request in
                let proof = try? Self.parts(request.fields[.dpop] ?? "")
                guard proof?.claims["nonce"]?.string == nil else { return .product }
                return HTTPResponse(
                    status: 401, fields: [.wwwAuthenticate: "DPoP error=use_dpop_nonce", .dpopNonce: "n"])
            }
            try await rig.signIn()
            let client = rig.client.with {
                $0.retryBudget = .init(ratio: 0, reserve: reserve, refill: nil)
                $0.sinks = [recorder]
            }
            #expect(try await client.send(GetProduct()).id == 7)
            let told = recorder.records.compactMap { record in
                if case .retried(let wait, let reason, let left) = record.event {
                    "\(wait) \(reason) \(left)"
                } else {
                    nil
                }
            }
            let left = reserve < 1 ? reserve : reserve - 1
            #expect(told == ["\(Duration.zero) \(RetryReason.status(401)) \(left)"])
            let request = try #require(
                recorder.records.lazy.compactMap { record in
                    if case .requestSent(let request) = record.event { request } else { nil }
                }.first)
            #expect(client.state.origins.withdraw(.failure, for: request.url.origin) == (reserve == 2))
        }
    }

    @Test(
        "The second request to the token endpoint, with the nonce, is counted by the retry budget, and goes though nothing is left",
        arguments: [0.5, 1, 2])
    func nonceOfTheTokenEndpointIsCounted(reserve: Double) async throws {
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        for wantsNonce in [false, true] {
            let rig = AuthRig(authenticator) { request in
                guard request.url.host == "id.example.com" else {
                    return request.fields[.authorization] == "DPoP new" ? .product : HTTPResponse(status: 401)
                }
                let proof = try? Self.parts(request.fields[.dpop] ?? "")
                guard !wantsNonce || proof?.claims["nonce"]?.string == "t1" else {
                    var refusal = HTTPResponse.json(#"{"error":"use_dpop_nonce"}"#, status: 400)
                    refusal.fields[.dpopNonce] = "t1"
                    return refusal
                }
                return .json(#"{"access_token":"new","token_type":"DPoP","expires_in":60}"#)
            }
            try await rig.signIn()
            let client = rig.client.with { $0.retryBudget = .init(ratio: 0, reserve: reserve, refill: nil) }
            #expect(try await client.send(GetProduct()).id == 7)
            let origin = try HTTPURL(Self.tokens).origin
            #expect(client.state.origins.withdraw(.failure, for: origin) == (wantsNonce ? reserve == 2 : reserve >= 1))
        }
    }

    @Test("A bearer token is not taken in place of one that is bound to the key")
    func downgrade() async throws {
        let authenticator = OAuth2Authenticator(tokenURL: Self.tokens, clientID: "app", prover: DPoPProver(FakeKey()))
        let rig = Self.rig(authenticator) { _ in Self.grant() }
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.lost))
    }

    @Test("Who renews a credential does so for the user and the environment of the call, whoever is there by then")
    func contextOfRefresh() throws {
        let stub = StubTransport()
        let service = Service(.main, [.test: "https://t.example", .production: "https://p.example"])
        var configuration = APIClient.Configuration(services: [service])
        configuration.identity = { "somebody else" }
        configuration.environment = .production
        let client = APIClient(configuration, transport: stub)
        let stage = Authenticate(BearerAuthenticator(), service, configuration, client.state)
        let context = stage.source(try stage.place(.test, "carol")).context
        #expect(context.client.configuration.identity() == "carol")
        #expect(context.client.configuration.environment == .test && context.environment == .test)
        #expect(context.key.account == "carol" && context.key.origin == "https://t.example")
        // The place that was found last is that of the same user in the same environment alone.
        #expect(try stage.place(.test, "dan").keeper.key.account == "dan")
        #expect(try stage.place(.production, "dan").origin.text == "https://p.example")
    }
}
