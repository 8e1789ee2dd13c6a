import PenstockCore
import PenstockTestSupport
import Testing

/// Challenges, as RFC 9110 §11.6.1 says.
struct ChallengeTests {
    @Test("Several challenges stand in one field, and each has its own parameters")
    func several() {
        let fields: HTTPFields = [
            "WWW-Authenticate": #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#
        ]
        #expect(
            Challenge.all(in: fields) == [
                Challenge("newauth", parameters: ["realm": "apps", "type": "1", "title": #"Login to "apps""#]),
                Challenge("basic", parameters: ["realm": "simple"]),
            ])
    }

    @Test("Several lines are read in their order")
    func lines() {
        var fields = HTTPFields()
        fields.append("Negotiate", for: .wwwAuthenticate)
        fields.append("Bearer error=invalid_token", for: .wwwAuthenticate)
        #expect(
            Challenge.all(in: fields) == [
                Challenge("negotiate"), Challenge("bearer", parameters: ["error": "invalid_token"]),
            ])
        #expect(Challenge.all(in: fields, of: .proxyAuthenticate).isEmpty)
    }

    @Test(
        "Schemes, token68 and parameters are told apart",
        arguments: [
            ("Basic", [Challenge("basic")]),
            ("Negotiate YWJj==", [Challenge("negotiate", token68: "YWJj==")]),
            ("Negotiate YWJj=", [Challenge("negotiate", token68: "YWJj=")]),
            ("Negotiate a+b/c.d_e~f-9", [Challenge("negotiate", token68: "a+b/c.d_e~f-9")]),
            ("NTLM, Basic", [Challenge("ntlm"), Challenge("basic")]),
            (
                "Basic realm = \"x\" , charset\t=\tUTF-8",
                [Challenge("basic", parameters: ["realm": "x", "charset": "UTF-8"])]
            ),
            ("Basic  realm=x", [Challenge("basic", parameters: ["realm": "x"])]),
            (", ,Basic realm=x,,", [Challenge("basic", parameters: ["realm": "x"])]),
            ("Bearer Realm=a, REALM=b", [Challenge("bearer", parameters: ["realm": "a"])]),
            (
                #"Bearer realm="a, Basic realm=b", x=1"#,
                [Challenge("bearer", parameters: ["realm": "a, Basic realm=b", "x": "1"])]
            ),
            // Broken ones: what has no scheme is dropped, and what is beside it stays.
            ("realm=x, Basic realm=y", [Challenge("basic", parameters: ["realm": "y"])]),
            ("Bearer ==", [Challenge("bearer")]),
            ("Bearer =", [Challenge("bearer")]),
            ("Bearer a=b=c, Basic", [Challenge("bearer"), Challenge("basic")]),
            ("Bearer !x", [Challenge("bearer")]),
            ("\"x\", Basic", [Challenge("basic")]),
            ("Bearer\u{1}x", []),
            (
                #"Bearer realm="never closed, Basic realm=y"#,
                [Challenge("bearer"), Challenge("basic", parameters: ["realm": "y"])]
            ),
            ("", []),
        ])
    func forms(line: String, expected: [Challenge]) {
        var fields = HTTPFields()
        fields.append(line, for: .wwwAuthenticate)
        #expect(Challenge.all(in: fields) == expected)
    }

    @Test("Schemes that lie are not believed: only one's own scheme says that another token would not help")
    func lying() {
        let rule = ExpiryRule(scheme: "Bearer")
        func answer(_ challenge: String, _ status: Int = 401) -> HTTPResponse {
            HTTPResponse(status: status, fields: [.wwwAuthenticate: challenge])
        }
        #expect(rule.matches(answer("Bearer error=invalid_token")))
        #expect(rule.matches(answer("Basic realm=x")))
        #expect(rule.matches(HTTPResponse(status: 401)))
        #expect(!rule.matches(answer("bearer error=insufficient_scope")))
        #expect(!rule.matches(answer("Bearer error=\"invalid_request\"")))
        #expect(rule.matches(answer("Basic error=insufficient_scope")))
        #expect(!rule.matches(answer("Basic, Bearer error=insufficient_scope")))
        #expect(ExpiryRule.standard.matches(answer("Bearer error=insufficient_scope")))
        #expect(!rule.matches(answer("Bearer error=invalid_token", 403)))
        #expect(!rule.matches(HTTPResponse(status: 200)))
    }

    @Test("A code of the envelope means expiry where the app names it")
    func codes() {
        let rule = ExpiryRule(statuses: [], codes: [40101, "EXPIRED"])
        func error(_ code: BusinessCode) -> APIError { APIError(.business(code: code, message: ""), stage: .envelope) }
        #expect(rule.matches(error(40101)))
        #expect(rule.matches(error("EXPIRED")))
        #expect(!rule.matches(error(40102)))
        #expect(!rule.matches(APIError(.httpStatus(401), stage: .status, response: HTTPResponse(status: 401))))
        let standard = ExpiryRule.standard
        #expect(standard.matches(APIError(.httpStatus(401), stage: .status, response: HTTPResponse(status: 401))))
        #expect(!standard.matches(APIError(.cancelled, stage: .transport)))
    }
}
