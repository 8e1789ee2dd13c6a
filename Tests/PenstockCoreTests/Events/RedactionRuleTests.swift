import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// What is taken for a secret, and what is not.
@Suite struct RedactionRuleTests {
    @Test(arguments: PrintingTests.parameterNames) func `a name that says so makes a parameter secret`(name: String) {
        #expect(Redaction.isSecret(parameter: name))
        #expect(Redaction.isSecret(parameter: name.uppercased()))
        #expect(Redaction.query("a=1&\(name)=x&b=2") == "a=1&\(name)=‹redacted›&b=2")
        #expect(Redaction.value("x", ofParameter: name) == Redaction.mark)
    }

    @Test(arguments: PrintingTests.fieldNames) func `a name that says so makes a field secret`(name: HTTPFieldName) {
        #expect(Redaction.isSecret(name))
        #expect(Redaction.value("x", of: name) == Redaction.mark)
    }

    @Test(arguments: [
        "page", "q", "author", "authors", "authority", "sort", "state", "passenger", "compass", "signal", "design",
        "sides",
        "keyword", "keys", "zipcode", "encode", "sort_key", "hotpotato", "tickets", "spinner", "expires", "next", "id",
        "user_id", "assert", "refresh", "xrefreshed", "pwned", "applications", "devices",
        "secretary".replacing("secret", with: "notar"), "inside", "jw",
    ]) func `an ordinary name makes nothing secret`(name: String) {
        #expect(!Redaction.isSecret(parameter: name))
        #expect(!Redaction.isSecret(HTTPFieldName(name)))
        #expect(Redaction.query("\(name)=x") == "\(name)=x")
    }

    static let secretParts = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "apikey", "signature", "credential",
        "session", "sessid", "jwt", "dpop", "assertion", "bearer", "csrf", "xsrf", "samlresponse", "samlart",
        "accesskey", "accountkey", "appkey", "applicationkey", "authkey", "clientkey", "consumerkey", "encryptionkey",
        "functionskey",
        "licensekey", "masterkey", "privatekey", "sharedkey", "signingkey", "subscriptionkey", "accesscode",
        "codeverifier", "devicecode", "devicekey", "mfacode", "smscode", "usercode", "verificationcode", "verifycode",
        "pswd", "passwort", "passkey", "dbpass", "sshkey", "serverkey", "cardnumber", "rememberme",
    ]

    @Test(arguments: secretParts) func `a part that says so makes a name secret, whatever stands around it`(
        part: String
    ) {
        for name in [part, "x\(part)y", "x_\(part.prefix(3))-\(part.dropFirst(3))_y", part.uppercased() + "2"] {
            #expect(Redaction.isSecret(parameter: name) && Redaction.isSecret(HTTPFieldName(name)), "\(name)")
        }
    }

    @Test(arguments: [
        "sig", "otp", "totp", "sid", "pass", "pw", "ticket", "pin", "hdnea", "creds", "hmac", "cvv", "cvc", "iban",
        "ssn",
    ])
    func `a short word that says so makes a name secret where it stands alone`(word: String) {
        for name in [word, "my_\(word)", "\(word)-1", "my\(word.capitalized)", "\(word)2", "HTTP\(word.capitalized)x"] {
            #expect(Redaction.isSecret(parameter: name) == (name.hasSuffix("x") == false), "\(name)")
        }
        #expect(!Redaction.isSecret(parameter: "q\(word)q") && !Redaction.isSecret(HTTPFieldName("q\(word)q")))
    }

    @Test(
        arguments: [
            "Content-Type", "ETag", "If-Match", "If-None-Match", "If-Range", "Content-Digest", "Repr-Digest", "Digest",
            "Content-MD5", "Traceparent", "Tracestate", "X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Trace-Id",
            "X-Amzn-Trace-Id", "X-Amz-Request-Id", "X-Amzn-RequestId", "X-Amz-Id-2", "X-Amz-Cf-Id", "X-Goog-Hash",
            "Cf-Ray",
            "X-Ms-Request-Id", "Idempotency-Key", "Last-Event-ID", "Sec-WebSocket-Key", "Sec-WebSocket-Accept",
            "Content-Security-Policy", "Report-To", "NEL", "User-Agent", "Server", "Via",
        ] as [HTTPFieldName]) func `a field of random text that is no secret is shown as it is`(name: HTTPFieldName)
    {
        let text = "kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"
        #expect(Redaction.value(text, of: name) == text)
        #expect(Redaction.value(text, of: HTTPFieldName(name.text + "-Else")) == Redaction.mark)
    }

    @Test func `code and key are secrets of URLs and forms, and ordinary names elsewhere`() {
        for name in ["code", "key", "KEY"] {
            #expect(Redaction.isSecret(parameter: name))
            #expect(!Redaction.isSecret(HTTPFieldName(name)))
        }
        #expect("\(JSONValue.object(["code": 0, "key": "a"]))" == #"{"code": 0, "key": "a"}"#)
    }

    @Test func `a name that is too long to be read is taken for a secret's`() {
        #expect(!Redaction.isSecret(parameter: String(repeating: "a", count: 128)))
        #expect(Redaction.isSecret(parameter: String(repeating: "a", count: 129)))
    }

    static let random = [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        "eyJhbGciOiJIUzI1NiJ9",
        "kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e",
        "9fceb02d0ae598e95dc970b74767f193",
        "9FCEB02D0AE598E95DC970B74767F19372D61AF8",
        "q83vEjRWeJCrze8SNFZ4kKvN7xI0Vniq",
        "sk_live_51H8xQ2eZvKYlo2C0Xs9nD3fG",
        "ya29.a0AfH6SMBx7Jq2Lk9Rt4Vw1Yz3Xc5",
        "Jq2Lk9Rt4Vw1Yz3Xc5Bn8M==",
        "Bearer abcd", "basic dTpw", "DPoP abcdef",
    ]

    @Test(arguments: random) func `a long random text is a secret, whatever its name`(text: String) {
        #expect(Redaction.looksSecret(text))
        #expect(!Redaction.value(text, of: "X-Whatever").contains(text.suffix(8)))
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(Redaction.query("a=1&x=\(escaped)") == "a=1&x=‹redacted›")
        #expect("\(ParameterObject([("x", .string(text))]))".contains(Redaction.mark))
    }

    /// References in parameters of references, and whether the secret in the innermost is found.
    static let nested: [(String, Bool)] = [
        ("token=x", true), ("a=/?token=x", true), ("a=/?b=/?token=x", true), ("a=/?b=/?c=/?token=x", false),
        ("a=%2F%3Fb%3D%2F%3Ftoken%3Dx", true), ("a=%2F%3Fb%3D%252F%253Ftoken%253Dx", true),
    ]

    @Test(arguments: nested) func `a parameter's value is looked into twice, and no deeper`(
        query: String, isFound: Bool
    ) throws {
        let name = try #require(query.split(separator: "=").first)
        let shown = isFound ? "\(name)=‹redacted›" : query
        #expect(Redaction.query(query) == shown)
        #expect(Redaction.text("see /x?\(query)") == "see /x?\(shown)")
        #expect(Redaction.value("/x?\(query)", of: "Location") == "/x?\(shown)")
    }

    static let ordinary = [
        "", "1", "1700000000000", "12345678901234567890123456789012", "2026-11-23T06:00:00.000Z", "20261123T060000Z",
        "123e4567-e89b-12d3-a456-426614174000", "507f1f77bcf86cd799439011", "products-list-page-2-of-12",
        "iphone-15-pro-max-256gb-blue", "loginTokenForUserOfShop", "application/vnd.github.v3+json", "Mozilla/5.0",
        "x86_64-unknown-linux-gnu", "a long sentence with 1 number and 20 words", "/v2/users/12/orders/34/items/56",
        "max-age=31536000, immutable", "en-GB,en;q=0.9,nl;q=0.8", "Basic", "basic", "Bearer", "the bearer of news",
        "HTTP2ConnectionPoolForHost1", "shop.example.com:8443",
    ]

    @Test(arguments: ordinary) func `an ordinary value is shown as it is`(text: String) {
        #expect(!Redaction.looksSecret(text))
        #expect(Redaction.value(text, of: "X-Whatever") == text)
        #expect(Redaction.value(text, ofParameter: "x") == text)
        #expect(Redaction.text(text) == text)
    }

    /// Each a step away from one that is judged otherwise.
    static let edges: [(text: String, isSecret: Bool)] = [
        // The beginning of a JSON Web Token has 16 characters or more.
        ("eyJabcdefghijklm", true), ("eyJabcdefghijkl", false), ("eyKabcdefghijklm", false),
        ("a.b eyJabcdefghijklm", true), ("a.b.c.d eyJabcdefghijkl", false),
        // What is not hexadecimal has 20 letters and digits or more, and what is has 32.
        ("g1a2b3c4d5e6f7a8b9c0", true), ("g1a2b3c4d5e6f7a8b9c", false), ("g1a2b3c4d5-e6f7a8b9c", false),
        ("g1a2b3c4d5-e6f7a8b9c0", true), ("G1A2B3C4D5E6F7A8B9C0", true), ("a1b2c3d4e5f6a1b2c3d4", false),
        ("A1B2C3D4E5F6A1B2C3D4", false), ("a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4", true),
        ("a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d", false), ("A1B2C3D4E5F6A1B2C3D4E5F6A1B2C3D4", true),
        ("A1B2C3D4E5F6A1B2C3D4E5F6A1B2C3D", false), ("a1b2c3d4e5-f6a1b2c3d4e5f6a1b2c3d", false),
        // Digits and letters both, of which one is enough.
        ("ghIjKlMnOpQrStUvWxYz", false), ("01234567890123456789012345678901", false), ("--------------------", false),
        ("ghijkLmnopQrsTu1vwxy", true),
        // Of a mixed text one in four is a change of kind, and of another one in six.
        ("ghijkLmnopQrstu1vwxy", false), ("ghijk1ghijk2ghijklmnopqr", true), ("ghijk1ghijk2ghijklmnopqrs", false),
        ("ghijk1ghijklmnopqrs2", false), ("gh-ij-kl-mn-op-qr-st1uvw-xyz", false),
        // What stands between the parts of a token.
        ("g1a2b3c4d5-e6f7a8b9c0d", true), ("g1a2b3c4d5_e6f7a8b9c0d", true), ("g1a2b3c4d5+e6f7a8b9c0d", true),
        ("g1a2b3c4d5/e6f7a8b9c0d", true), ("g1a2b3c4d5=e6f7a8b9c0d", true), ("g1a2b3c4d5~e6f7a8b9c0d", true),
        ("g1a2b3c4d5.e6f7a8b9c0d", false), ("g1a2b3c4d5!e6f7a8b9c0d", false), ("g1a2b3c4d5 e6f7a8b9c0d", false),
        ("g1a2b3c4d5:e6f7a8b9c0d", false), ("g1a2b3c4d5,e6f7a8b9c0d", false),
        // A UUID has 36 characters, and its four dashes stand in their places.
        ("a23e4567-e89b-12d3-a456-426614174000", false), ("a23e456-7e89b-12d3-a456-426614174000", true),
        ("a23e4567-e89-b12d3-a456-426614174000", true), ("a23e4567-e89b-12d-3a456-426614174000", true),
        ("a23e4567-e89b-12d3-a45-6426614174000", true), ("g23e4567-e89b-12d3-a456-4266-4174000", true),
        ("g23e4567-e89b-12d3-a456-426614_74000", true), ("g23e4567-e89b-12d3-a456-4266141740001", true),
        ("g1a2b-3c4d5-e6f7a-8b9c0-d1e2f", true),
        // A scheme, and one word of four characters or more.
        ("Bearer abcd", true), ("Bearer abc", false), ("Negotiate abcd", true), ("Negotiates abcd", false),
        ("Basic dTpwdTpwdTpwdTpw", true), ("Basic auth is used here", false), (" abcd", false), ("Bearer  abcd", true),
        ("Bearer~abcd", false),
        // White space around the two, and between them, is no part of them.
        ("Bearer abcd ", true), ("Bearer abcd  ", true), (" Bearer abcd", true), ("\t Bearer \t abcd \r\n", true),
        ("Bearer\tabcd", true), ("Bearer\nabcd", true), ("Bearer!abcd", false), ("Bearer ", false), ("Bearer  ", false),
        ("Bearer abc  ", false), ("Bearer abcd  e", false), ("Basic auth  ,", false), ("  ", false),
    ]

    @Test(arguments: edges) func `what looks like a secret and what does not lie close together`(
        text: String, isSecret: Bool
    ) {
        #expect(Redaction.looksSecret(text) == isSecret)
    }

    static let credentials = [
        "Bearer hunter2", "Bearer hunter2 ", "Bearer hunter2  ", "Bearer hunter2   ", " Basic hunter2",
        "DPoP  hunter2\r\n",
    ]

    @Test(arguments: credentials) func `credentials with their scheme go, whatever white space stands around them`(
        text: String
    ) {
        #expect(Redaction.text(text) == Redaction.mark)
        #expect(Redaction.value(text, of: "X-Upstream") == Redaction.mark)
        #expect(Redaction.value(text, ofParameter: "x") == Redaction.mark)
        #expect(Redaction.query("a=1&x=\(text)&b=2") == "a=1&x=‹redacted›&b=2")
        #expect("\(ParameterObject([("x", .string(text))]))" == "[\"x\": \"‹redacted›\"]")
    }

    @Test(arguments: [
        ("authorisation", true), ("authorization", true), ("oauth", true), ("auth", true), ("author_auth", true),
        ("auth_author", true), ("authority", false), ("author", false), ("authorfoo", false), ("authoritative", false),
        ("authosis", true), ("co_authors", false),
        // What is no letter and no digit is left out of a name.
        ("to{ken", true), ("to[ken", true), ("to:ken", true), ("to@ken", true), ("to`ken", true), ("to/ken", true),
        ("to|ken", true), ("toaken", false), ("tozken", false), ("to0ken", false), ("to9ken", false),
        // Words end where small letters, capitals and digits meet.
        ("HTTPSid", true), ("HTTPSID", false), ("mySID", true), ("SIDfoo", false), ("SIDFoo", true), ("SIDAb", true),
        ("aSID", true), ("SID9x", true),
        ("9sid", true), ("asid", false), ("a.sid", true), ("sidA", true), ("sida", false), ("userSid2x", true),
        // Escapes are undone three times.
        ("%74oken", true), ("%2574oken", true), ("%252574oken", true), ("%25252574oken", false),
        ("cookie", true), ("cookies", true), ("set_cookies", true), ("cookiesx", false), ("cookie_consent", false),
        ("sign", true), ("X-Sign", true), ("sign2", true), ("sign_in_count", false), ("design", false),
        ("assign", false), ("signs", false), ("cookie2", true), ("cookie22", false), ("2cookie", false),
        ("set-cookie2", true), ("code2", true), ("code3", false), ("mycode", false), ("key", true), ("mykey", false),
        ("", false), ("2", false), ("tokn", false), ("xtoken", true), ("tokenx", true), ("token", true),
    ]) func `names that say secret and names that do not lie close together`(name: String, isSecret: Bool) {
        #expect(Redaction.isSecret(parameter: name) == isSecret)
    }

    @Test(arguments: [
        ("security_code", true), ("securityCode", true), ("SECURITY_CODE", true), ("securitycode", true),
        ("recovery-codes", true), ("backupCodes", true), ("one_time_code", true), ("oneTimeCodes", true),
        ("onetime_code", true), ("two_factor_code", true), ("2fa_code", true), ("totpcode", true), ("login_code", true),
        ("sign_in_code", true), ("confirmation_code", true), ("my_unlock_code_1", true), ("x.pairing.code", true),
        // What is read out to people, and what stands apart from it.
        ("country_code", false), ("postal_code", false), ("status_code", false), ("promo_codes", false),
        ("zipcode", false),
        ("time_code", false), ("one_code", false), ("preset_code", false), ("code_security", false),
        ("security_zone_code", false), ("security_codes_count", true), ("recovery", false), ("codes", false),
        ("decode", false), ("securitycoded", false), ("factor_code", false),
    ]) func `a code is a secret where its name says that it lets somebody in`(name: String, isSecret: Bool) {
        #expect(Redaction.isSecret(parameter: name) == isSecret)
        #expect(Redaction.isSecret(HTTPFieldName(name)) == isSecret)
    }

    /// What has the name of a signature, in texts and in what is JSON.
    static let signs: [(text: String, shown: String)] = [
        ("sign: minus", "sign: minus"), ("sign: a1b", "sign: a1b"), ("sign: a1b2", "sign: ‹redacted›"),
        ("sign: LEO", "sign: LEO"), ("sign: LEON", "sign: ‹redacted›"), ("sign: sagittarius", "sign: sagittarius"),
        ("sign: abcdefghijklmnopqrs", "sign: abcdefghijklmnopqrs"), ("sign: abcdefghijklmnopqrst", "sign: ‹redacted›"),
        ("const sign = Math.sign(x)", "const sign = Math.sign(x)"), ("sign = -1", "sign = -1"),
        ("let sign = multiplierOfTheSign(a)", "let sign = multiplierOfTheSign(a)"),
        ("sign = a1b2c3d4", "sign = ‹redacted›"), ("a 'sign': 'a1b2c3d4'", "a 'sign': '‹redacted›'"),
        (#"{"sign":"leo","a":1}"#, #"{"sign":"leo","a":1}"#),
        (#"{"Sign":"a+b/c3d4","a":"a1b2c3d4"}"#, #"{"Sign":"‹redacted›","a":"a1b2c3d4"}"#),
        (
            #"{"sign":["leo"],"sign":{"a":"leo"},"b":1}"#,
            #"{"sign":["leo"],"sign":{"a":"leo"},"b":1}"#
        ),
        (#"{"sign":-1,"sign":null}"#, #"{"sign":-1,"sign":null}"#), ("{'a':1,'sign':'leo'}", "{'a':1,'sign':'leo'}"),
        ("{'a':1,'sign':'a1b2c3d4'}", "{'a':1,'sign':'‹redacted›'}"), ("{'a':1,'sign':-1}", "{'a':1,'sign':-1}"),
        (#"{"xsign":"leo"}"#, #"{"xsign":"‹redacted›"}"#), ("X-Sign: leo", "X-Sign: ‹redacted›"),
        ("<sign>leo</sign>", "<sign>leo</sign>"),
        ("<sign>leo</sign><pin>a</pin>", "<sign>leo</sign><pin>‹redacted›</pin>"),
        ("<sign><![CDATA[a1b2c3d4]]></sign>", "<sign>‹redacted›</sign>"),
        // In URLs and forms it is one, whatever its value.
        ("/a?sign=leo", "/a?sign=‹redacted›"), ("sign=leo&a=b", "sign=‹redacted›&a=b"),
        (#"{"name":"sign","value":"leo"}"#, #"{"name":"sign","value":"‹redacted›"}"#),
        (#"<input name="sign" value="leo">"#, #"<input name="sign" value="‹redacted›">"#),
    ]

    @Test(arguments: signs) func `a sign is a secret in a URL, and elsewhere where it may be a signature`(
        text: String, shown: String
    ) {
        #expect(Redaction.text(text) == shown && Redaction.text(shown) == shown)
        let type = text.hasPrefix("{\"") ? "application/json" : "text/plain"
        let content = Redaction.content(Data(text.utf8), type: type)
        #expect(String(decoding: content, as: UTF8.self) == shown)
    }

    @Test func `what JSON prints of a sign goes by its value, and what a field has never does`() {
        let value: JSONValue = ["sign": "leo", "list": [["sign": "a1b2c3d4"], ["sign": 12_345_678], ["sign": 1]]]
        let text = #"{"list": [{"sign": ‹redacted›}, {"sign": ‹redacted›}, {"sign": 1}], "sign": "leo"}"#
        #expect("\(value)" == text)
        let json = Redaction.content(Data(#"[{"sign":12345678},{"sign":1}]"#.utf8), type: "application/json")
        #expect(String(decoding: json, as: UTF8.self) == #"[{"sign":0},{"sign":1}]"#)
        #expect(
            Redaction.value("leo", of: "Sign") == Redaction.mark
                && Redaction.value("leo", ofParameter: "sign") == Redaction.mark)
        #expect("\(ParameterObject([("sign", "leo")]))" == #"["sign": ‹redacted›]"#)
    }

    static let shapes: [(name: HTTPFieldName, value: String, shown: String)] = [
        // In a field of random text only what is surely a token goes.
        ("Server", "Basic Server", "Basic Server"), ("X-Else", "Basic Server", "‹redacted›"),
        ("ETag", "eyJhbGciOiJIUzI1NiJ9", "‹redacted›"), ("ETag", "/a/eyJhbGciOiJIUzI1NiJ9", "/a/‹redacted›"),
        ("ETag", "a=kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "a=kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"),
        ("X-Else", "a=kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "a=‹redacted›"),
        ("ETag", "token=x;a=b", "token=‹redacted›;a=b"),
        // The segments of a path may be long and random.
        ("X-Else", "/kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "/kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"),
        ("X-Else", "./kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "./kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"),
        ("X-Else", "a=/kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "a=/kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"),
        ("X-Else", "a='./kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "a='./kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e"),
        ("X-Else", "a:kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "‹redacted›"),
        ("X-Else", "/a/eyJhbGciOiJIUzI1NiJ9/b", "/a/‹redacted›/b"),
        ("X-Else", "/a?kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e#b", "/a?‹redacted›#b"),
        ("X-Else", "/a#kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e", "/a#‹redacted›"),
    ]

    @Test(arguments: shapes) func `a token is known by its looks where nothing else looks like one`(
        name: HTTPFieldName, value: String, shown: String
    ) {
        #expect(Redaction.value(value, of: name) == shown)
    }

    @Test(
        arguments: [
            ("ETag", "\"9fceb02d0ae598e95dc970b74767f19372d61af8\""),
            ("Content-Type", "multipart/form-data; boundary=7MA4YWxkTrZu0gW7MA4YWxk"),
            ("Content-Digest", "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"),
            ("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("X-Request-Id", "9fceb02d0ae598e95dc970b74767f193"), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Location", "https://a.example/files/9fceb02d0ae598e95dc970b74767f193.png?page=2#top"),
            ("Location", "/next?page=2"),
            ("Link", "</items?page=2>; rel=\"next\", <https://a.example/items?page=9>; rel=\"last\""),
            ("Refresh", "5; url=https://a.example/?page=2"), ("Referer", "https://a.example/@user/a,b;c=d/e"),
            ("Strict-Transport-Security", "max-age=63072000; includeSubDomains"), ("Vary", "Accept, Origin"),
            ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"), ("Cache-Control", "max-age=60"),
        ] as [(String, String)]) func `an ordinary field is shown as it is`(name: String, value: String)
    {
        #expect(HTTPField(name: HTTPFieldName(name), value: value).description == "\(name): \(value)")
    }

    static let references = [
        ("https://u:p@a.example/x", "https://‹redacted›@a.example/x"),
        ("https://u@a.example", "https://‹redacted›@a.example"),
        ("//u:p@a.example/x", "//‹redacted›@a.example/x"),
        ("https://a.example/cb?code=x&page=2", "https://a.example/cb?code=‹redacted›&page=2"),
        ("next?token=x;page=2", "next?token=‹redacted›;page=2"),
        ("/cb#access_token=x&token_type=y&page=2", "/cb#access_token=‹redacted›&token_type=‹redacted›&page=2"),
        ("/a;jsessionid=x/b", "/a;jsessionid=‹redacted›/b"),
        ("/?next=https%3A%2F%2Fb%2F%3Fsig%3Dx&page=2", "/?next=‹redacted›&page=2"),
        ("/?next=https%3A%2F%2Fb%2F%3Fpage%3D2", "/?next=https%3A%2F%2Fb%2F%3Fpage%3D2"),
        ("/?token=", "/?token="), ("/?token", "/?token"), ("/?&&", "/?&&"),
        ("/v/eyJhbGciOiJIUzI1NiJ9.e.s/x", "/v/‹redacted›/x"),
        // A JSON Web Token behind a sign in its segment, and what is too short for one or stands behind a letter.
        ("https://a.example/a:eyJhbGciOiJIUzI1NiJ9.e.s", "https://a.example/‹redacted›"),
        ("/v/a-eyJhbGciOiJIUzI1NiJ9/x", "/v/‹redacted›/x"), ("/v/a.eyJhbGciOiJIUzI1", "/v/‹redacted›"),
        ("/v/a.eyJhbGciOiJIUzI", "/v/a.eyJhbGciOiJIUzI"), ("/v/aeyJhbGciOiJIUzI1NiJ9", "/v/aeyJhbGciOiJIUzI1NiJ9"),
        // User information ends at the last sign before the path.
        ("//u@a", "//‹redacted›@a"), ("//u:p@q@a/b@c", "//‹redacted›@a/b@c"), ("//a/b@c", "//a/b@c"),
        ("https://a/https://u:p@b/c", "https://a/https://‹redacted›@b/c"), ("/u:p@a", "/u:p@a"),
        ("http:/u@a//v@b", "http:/u@a//‹redacted›@b"),
        // Where a parameter of a path ends.
        ("/a;sid=x/b", "/a;sid=‹redacted›/b"), ("/a;sid=x;b=c,otp=y&d=e", "/a;sid=‹redacted›;b=c,otp=‹redacted›&d=e"),
        ("/a;sid=/b", "/a;sid=/b"), ("/a/sid=x/b", "/a/sid=‹redacted›/b"),
        // Where a query and a fragment end.
        ("/a?b=c#token=x&d=e", "/a?b=c#token=‹redacted›&d=e"), ("/a?token=x#b", "/a?token=‹redacted›#b"),
        ("/a?token=x?b#c", "/a?token=‹redacted›#c"), ("/a#b?token=x#c", "/a#b?token=‹redacted›"),
        ("/a?;token=x;&sid=y&", "/a?;token=‹redacted›;&sid=‹redacted›&"),
        // A value that was replaced, made a part of a URL again.
        ("/a?b=%E2%80%B9redacted%E2%80%BA", "/a?b=‹redacted›"),
        // What shows that a value is a reference of its own, or has escapes.
        ("/a?b=//u@c", "/a?b=‹redacted›"), ("/a?b=token=c", "/a?b=‹redacted›"), ("/a?b=token%3Dc", "/a?b=‹redacted›"),
        ("/a?b=kJ8s9dKf0%32mXn4LqP7vTzR1bYw", "/a?b=‹redacted›"),
        ("/a?b=page=c", "/a?b=page=c"), ("/a?b=page%3Dc", "/a?b=page%3Dc"), ("/a?b=//c", "/a?b=//c"),
    ]

    @Test(arguments: references) func `a URL in a field is redacted as a URL is`(text: String, shown: String) {
        for name in ["Location", "Content-Location", "Referer", "X-Next"] as [HTTPFieldName] {
            #expect(Redaction.value(text, of: name) == shown)
        }
        #expect(Redaction.value("<\(text)>; rel=\"next\"", of: "Link") == "<\(shown)>; rel=\"next\"")
        #expect(Redaction.value("5; url=\(text)", of: "Refresh") == "5; url=\(shown)")
        // What was redacted stays as it is.
        #expect(Redaction.text(shown) == shown)
    }

    @Test func `a quoted value of a secret goes whole`() {
        #expect(Redaction.text("realm=\"a b\", token=\"c d\"; x=1") == "realm=\"a b\", token=\"‹redacted›\"; x=1")
        #expect(Redaction.text("token=\"c d") == "token=\"‹redacted›")
        for head in ["a=b;token=", "a=b,token=", "a;b,c;token=", "token="] {
            #expect(Redaction.text(head + "\"c d\";e") == head + "\"‹redacted›\";e")
        }
        for head in ["token;page=", "token,page=", "token", "page=token:", "=", ";="] {
            #expect(Redaction.text(head + "\"c d\";e") == head + "\"c d\";e")
        }
    }

    /// Texts that are no URL.
    static let texts = [
        ("token=a/b c", "token=‹redacted› c"), ("a=1,token=x,b=2", "a=1,token=‹redacted›,b=2"),
        ("a=1&token=x&b=2", "a=1&token=‹redacted›&b=2"), ("a=1;token=x;b=2", "a=1;token=‹redacted›;b=2"),
        ("<token=x>y", "<token=‹redacted›>y"), ("token=x\ty", "token=‹redacted›\ty"),
        ("token=x\u{1F}y", "token=‹redacted›\u{1F}y"),
        ("token=x!y z", "token=‹redacted› z"), ("token= x", "token= ‹redacted›"), ("token", "token"), ("=x", "=x"),
        ("", ""),
        ("x=eyJhbGciOiJIUzI1NiJ9", "x=‹redacted›"), ("a kJ8s9dKf02mXn4LqP7vTzR1bYw3HcU6e b", "a ‹redacted› b"),
    ]

    @Test(arguments: texts) func `words of a text are redacted one by one`(text: String, shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    static let members = [
        (#"{"token":"a b","page":2}"#, #"{"token":"‹redacted›","page":2}"#),
        (#"{ "password" : "a\"b" , "x": "y" }"#, #"{ "password" : "‹redacted›" , "x": "y" }"#),
        (#"{"password":"ends in \\","x":"y"}"#, #"{"password":"‹redacted›","x":"y"}"#),
        (#"{"pin":1234,"otp":1.5}"#, #"{"pin":‹redacted›,"otp":‹redacted›}"#),
        (#"[{"secret":["a",{"b":"c"}]},{"page":"2"}]"#, #"[{"secret":‹redacted›},{"page":"2"}]"#),
        (#"{"session":{"id":"a"},"page":2}"#, #"{"session":‹redacted›,"page":2}"#),
        (#"{"token":null,"secret":"","page":2}"#, #"{"token":null,"secret":"‹redacted›","page":2}"#),
        (#"body: {\"token\":\"a\",\"page\":\"2\"}"#, #"body: {\"token\":\"‹redacted›\",\"page\":\"2\"}"#),
        (#"{\"password\":\"a\\\"b\",\"x\":1}"#, #"{\"password\":\"‹redacted›\",\"x\":1}"#),
        (#"{"code":"E7","key":"name","token":"cut o"#, #"{"code":"E7","key":"name","token":"‹redacted›"#),
        (#"{"session":{"id":"cut o"#, #"{"session":‹redacted›"#),
        (#"the "token" is missing"#, #"the "token" is missing"#), (#""token":"#, #""token":"#),
        (#"["token", "x"]"#, #"["token", "x"]"#), (#"pin":"x""#, #"pin":"x""#),
        (#"{"page":1,"token":7]"#, #"{"page":1,"token":‹redacted›]"#),
        (#"{"pin": 12 ,"a":1}"#, #"{"pin": ‹redacted› ,"a":1}"#), (#"{"pin":true}"#, #"{"pin":‹redacted›}"#),
        (#"{"pin":1!2}"#, #"{"pin":‹redacted›}"#),
        (#"{"session":\{"id":"a"},"page":2}"#, #"{"session":‹redacted›,"page":2}"#),
        (#"{"pin":,"a":1}"#, #"{"pin":,"a":1}"#), (#"{"pin":nul}"#, #"{"pin":‹redacted›}"#),
        ("{\"pin\"\n:\t\"x\"}", "{\"pin\"\n:\t\"‹redacted›\"}"), (#"{"pin";"x"}"#, #"{"pin";"x"}"#),
        (#"{"session":[["a"],"b"],"c":"d"}"#, #"{"session":‹redacted›,"c":"d"}"#),
        (#"{"session":{"a":[1,2],"b":{}},"c":"d"}"#, #"{"session":‹redacted›,"c":"d"}"#),
        (#"{\"pin\":7,\"a\":1}"#, #"{\"pin\":‹redacted›,\"a\":1}"#),
        (#"{\\\"pin\\\":\\\"a\\\",\\\"b\\\":1}"#, #"{\\\"pin\\\":\\\"‹redacted›\\\",\\\"b\\\":1}"#),
        (#"{"password":"a\\\"b","x":"y"}"#, #"{"password":"‹redacted›","x":"y"}"#),
    ]

    @Test func `a value of a form that holds JSON is looked into`() {
        #expect(Redaction.query(#"a=1&x={"token":"y"}&b=2"#) == "a=1&x=‹redacted›&b=2")
        #expect(Redaction.query(#"a=1&x={"page":"y"}&b=2"#) == #"a=1&x={"page":"y"}&b=2"#)
    }

    @Test(arguments: members) func `the members of JSON in a text are redacted by their names`(
        text: String, shown: String
    ) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    @Test func `what a server says of a business error is redacted wherever the error prints`() {
        let kind = APIError.Kind.business(code: 7, message: #"no such token: {"token":"hunter2","page":2}"#)
        var dumped = ""
        dump(kind, to: &dumped)
        for text in ["\(kind)", String(reflecting: kind), dumped, "\(APIError(kind, stage: .envelope))"] {
            #expect(text.contains(#"{"token":"‹redacted›","page":2}"#), "\(text)")
        }
        guard case .business(_, let message) = kind else {
            Issue.record("\(kind)")
            return
        }
        #expect(message.contains("hunter2"), "the message itself is as the server wrote it")
    }

    @Test func `the message of a business error stays whole where its code has the name of a secret`() {
        for code: BusinessCode in ["TOKEN_EXPIRED", "INVALID_PASSWORD", "AUTH_FAILED"] {
            let kind = APIError.Kind.business(code: code, message: "Please log in again.")
            #expect("\(kind)" == "business \(code.debugDescription): Please log in again.")
        }
        let kind = APIError.Kind.business(code: "token=hunter2", message: "password=hunter2")
        #expect(!"\(kind)".contains("hunter2"))
    }

    @Test(arguments: [
        ("x\npin: abcd", #""x\\npin: ‹redacted›""#),
        ("x\nAuthorization: abcd efgh", #""x\\nAuthorization: ‹redacted›""#),
        ("{'token':'hunter2'}", #""{\\'token\\':\\'‹redacted›\\'}""#),
        (#"{"token":"hunter2"}"#, #""{\\"token\\":\\"‹redacted›\\"}""#),
        ("E\"7\n", #""E\\"7\\n""#), ("0", #""0""#),
    ]) func `a code is without its secrets before it is put in quotes`(code: String, shown: String) {
        #expect("\(APIError.Kind.business(code: .string(code), message: "a"))" == "business \(shown): a")
    }

    @Test func `a code that is long is cut off, and says so`() {
        for code in [String(repeating: "a b ", count: 100), "pin=" + String(repeating: "a", count: 9_000)] {
            let shown = "\(APIError.Kind.business(code: .string(code), message: "c"))"
            #expect(shown.utf8.count < 300 && shown.hasSuffix("…: c"))
        }
    }

    @Test(arguments: ["text/plain", "application/json", nil])
    func `content without secrets stays byte for byte, whatever its encoding`(type: String?) {
        for bytes: [UInt8] in [[0xEF, 0xBB, 0xBF, 0x61], [0x63, 0x61, 0x66, 0xE9], [0xFF, 0xFE, 0x61, 0x00], []] {
            #expect(Redaction.content(Data(bytes), type: type) == Data(bytes))
        }
    }

    @Test func `a form that is no UTF-8 stays byte for byte but for its secrets`() {
        let type = "application/x-www-form-urlencoded"
        let plain = Data([0x61, 0x3D, 0xE9, 0x26, 0x62, 0x3D, 0x31])
        #expect(Redaction.content(plain, type: type) == plain)
        let secret = Data("password=h".utf8) + Data([0xFC]) + Data("nter2&".utf8)
        let shown = Data("password=\(Redaction.mark)&".utf8)
        #expect(Redaction.content(secret + plain, type: type) == shown + plain)
    }

    @Test func `parameters and options show what is no secret`() {
        let parameters: ParameterObject = [
            "account": "alice", "password": "hunter2", "page": 2, "tags": ["a", "b"],
            "nested": ["otp": 123_456, "x": 1.5],
        ]
        let text =
            #"["account": "alice", "password": ‹redacted›, "page": 2, "tags": ["a", "b"], "nested": ["otp": ‹redacted›, "x": 1.5]]"#
        #expect("\(parameters)" == text)
        #expect("\(ParameterObject())" == "[:]")
        let options = CallOptions.with {
            $0.baseURL = "https://a.example/v2"
            $0.parameters = parameters
            $0.headers = ["X-App": "Shop", "X-Api-Key": "hunter2"]
        }
        for shown in ["https://a.example/v2", "alice", "X-App: Shop", "X-Api-Key: ‹redacted›"] {
            #expect("\(options)".contains(shown), "\(options)")
        }
    }

    @Test func `keys, stored responses and errors show what is no secret`() throws {
        let key = CacheKey(
            url: try HTTPURL("https://a.example/x?page=2&token=hunter2"), partition: .init(identity: "u-1"))
        #expect("\(key)".hasPrefix("GET https://a.example/x?page=2&token=‹redacted›"))
        #expect("\(key)".contains("u-1"))
        var dumped = ""
        let stored = CachedResponse(
            key: key, status: 200, fields: ["X-App": "Shop", "Set-Cookie": "hunter2"], requestTime: .now,
            responseTime: .now,
            bodyLength: 1_234)
        dump(stored, to: &dumped)
        for shown in ["page=2", "X-App: Shop", "1234", "200"] { #expect(dumped.contains(shown)) }
        let error = APIError(
            .blocked(reason: "no"), stage: .redirect, debugMessage: "it leads to https://a.example/?code=x&page=2")
        #expect("\(error)".contains("it leads to https://a.example/?code=‹redacted›&page=2"))
        #expect("\(JSONValue.object(["a": 1, "b": ["password": "x"]]))" == #"{"a": 1, "b": {"password": ‹redacted›}}"#)
    }
}

/// Tokens of well-known services.
@Suite(.covers("X10")) struct KnownTokenTests {
    static let tokens: [(beginning: String, rest: String)] = [
        ("xoxb-", "1aaaaaaaaaa"), ("xoxe.", "1aaaaa-aaaa"), ("xapp-", "1-aaaaaaaaa"), ("pypi-AgE", "1aaaaaaaaaaaaaaa"),
        ("sk_live_", "1aaaaaaaaaa"),
        ("rk_test_", "1aaaaaaaaaa"), ("whsec_", "1aaaaaaaaaa"), ("github_pat_", "1aaaaaa_aaaaaaaa"),
        ("glpat-", "1aaaaaa-aaaaaaaa"), ("sk-proj-", "1aaaaaaaaaaaaaaa"), ("shpat_", "1aaaaaaaaaaaaaaa"),
        ("ya29.", "1aaaaaaaaaaaaaaa"), ("SG.", "Aaaaaaaaaaaaaaaa"), ("ghp_", "aaaaaaaaaaaaaaaaaaaa"),
        ("sk_", "aaaaaaaaaaaaaaaaaaaa"), ("npm_", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("EAA", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), ("AIza", "1aaaaaaaaaaaaaaaa-aaaaaaaaaa_a"),
    ]

    @Test("A token is known by its beginning, wherever it stands, and only with enough behind it", arguments: tokens)
    func beginnings(_ beginning: String, _ rest: String) throws {
        let token = beginning + rest
        #expect(
            Redaction.looksSecret(token) && Redaction.looksSecret("a \(token), b")
                && Redaction.looksSecret("=\(token)b"))
        #expect(!Redaction.looksSecret(token.dropLast()) && !Redaction.looksSecret("a" + token))
        #expect(!Redaction.looksSecret(token.dropLast() + "!") && !Redaction.looksSecret("1" + token))
        #expect(Redaction.text("it is \(token)") == "it is ‹redacted›")
        #expect(Redaction.value(token, of: "X-Note") == Redaction.mark)
        #expect(Redaction.value(token, of: "ETag") == Redaction.mark, "it is known where all else is random, too")
        #expect(
            "\(try HTTPURL("https://h/a/\(token)/b;c=\(token)?d=\(token)"))"
                == "https://h/a/‹redacted›/b;c=‹redacted›?d=‹redacted›")
        let json = Redaction.content(Data(#"{"note":"\#(token)"}"#.utf8), type: "application/json")
        #expect(String(decoding: json, as: UTF8.self) == #"{"note":"‹redacted›"}"#)
    }

    @Test("A token behind a sign within the segment of a path is known as one", arguments: tokens)
    func segments(_ beginning: String, _ rest: String) throws {
        for sign in [":", "-", "."] {
            #expect("\(try HTTPURL("https://h/a\(sign)\(beginning)\(rest)/b"))" == "https://h/‹redacted›/b")
        }
    }

    @Test(
        "Words behind the beginning of a token are none",
        arguments: [
            "/project/pypi-attestation-models/", "/r/sk-proj-documentation-index", "whsec_documentation",
            "xoxp-something-new", "SG.documentation-is-here", "https://h/pypi-AgEnda-of-the-next-meeting",
        ])
    func words(text: String) {
        #expect(Redaction.text(text) == text)
    }

    @Test(
        "What is meant to be published, and words that begin as a token does, are shown",
        arguments: [
            "pk_live_aaaaaaaaaaaaaaaaaaaa", "AKIAIOSFODNNEXAMPLEA", "npm_config_registry_of_the_company_itself",
            "sk_SK and sk_learning_of_many_words", "sk-learn-package-of-many-words", "ghp_with_words_between_them_all",
            "task_sk_1", "xoxz-aaaaaaaaaaaaaaaa",
        ])
    func ordinary(_ text: String) {
        #expect(!Redaction.looksSecret(text) && Redaction.text(text) == text)
    }
}
