import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// Credentials, fields and quoted secrets in the middle of a text.
@Suite(.covers("H2")) struct RedactedCredentialTests {
    static let schemes: [(text: String, shown: String)] = [
        ("bad Bearer hunter2secret, sorry", "bad Bearer ‹redacted›, sorry"),
        ("sent Basic YWxpY2U6eA== twice", "sent Basic ‹redacted› twice"),
        ("(DPoP abc.def) and 'token hunter2'", "(DPoP ‹redacted›) and 'token ‹redacted›'"),
        ("x=Negotiate\tYIIabcD7", "x=Negotiate\t‹redacted›"), ("NTLM TlRMTVNTUAAB!", "NTLM ‹redacted›!"),
        ("a Bearer aVeryLongWordWithoutDigits b", "a Bearer ‹redacted› b"),
        ("a Bearer aBcDe b", "a Bearer ‹redacted› b"),
        // Words of a sentence.
        ("the basic usage of a bearer token is fine", "the basic usage of a bearer token is fine"),
        ("basic authentication and Digest mismatch", "basic authentication and Digest mismatch"),
        ("Unexpected token < in JSON", "Unexpected token < in JSON"), ("a bearer\nx1y2z3", "a bearer\nx1y2z3"),
        ("Basic AUTHENTICATION, basic authentications", "Basic AUTHENTICATION, basic authentications"),
        ("basic JavaScript, basic abc", "basic JavaScript, basic abc"), ("forbearer hunter2", "forbearer hunter2"),
    ]

    @Test("What follows a scheme's name in a text is redacted where it is no word of a sentence", arguments: schemes)
    func scheme(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    static let lines: [(text: String, shown: String)] = [
        (
            "GET /x HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer a\r\nX-Api-Key: b c \r\nX-Trace: 7\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: a.example\r\nAuthorization: ‹redacted›\r\nX-Api-Key: ‹redacted› \r\nX-Trace: 7\r\n\r\n"
        ), ("bad Authorization: Bearer hunter2secret", "bad Authorization: ‹redacted›"),
        ("Proxy-Authorization:Basic YQ==", "Proxy-Authorization:‹redacted›"),
        ("X-Api-Key:hunter2", "X-Api-Key:‹redacted›"),
        ("> cookie: a=b; c=d\n< x", "> cookie: ‹redacted›\n< x"),
        ("curl -H 'X-Api-Key: a b' https://a/", "curl -H 'X-Api-Key: ‹redacted›' https://a/"),
        (#"curl -H "X-Api-Key: a b" https://a/"#, #"curl -H "X-Api-Key: ‹redacted›" https://a/"#),
        ("--header=X-Api-Key: a b", "--header=X-Api-Key: ‹redacted›"), ("X-Api-Key:", "X-Api-Key:"),
        // A name that may be a word of a sentence.
        ("spring.datasource.password: hunter2", "spring.datasource.password: ‹redacted›"),
        ("password: hunter", "password: ‹redacted›"), ("a\ntoken: abc\nb", "a\ntoken: ‹redacted›\nb"),
        ("token:\n abc", "token:\n ‹redacted›"),
        ("bad pin: 1234, sorry", "bad pin: ‹redacted›, sorry"),
        (#"{password: "a b", x: 1}"#, #"{password: "‹redacted›", x: 1}"#),
        ("{'token': 'a b', 'page': 2}", "{'token': '‹redacted›', 'page': 2}"),
        (#"password: 'a"b'"#, "password: '‹redacted›'"), ("see X-Api-Key:\n  a", "see X-Api-Key:\n  a"),
        ("password: must not be empty", "password: must not be empty"),
        ("no such token: expired today", "no such token: expired today"),
        ("authentication: refused", "authentication: refused"),
        ("decoding at data.token: expected 12", "decoding at data.token: expected 12"),
        ("no /v1/token: 12345678", "no /v1/token: 12345678"), ("bob@auth: 12345678", "bob@auth: 12345678"),
        ("https://auth:8443/x", "https://auth:8443/x"), ("auth-server:8443", "auth-server:8443"),
        ("auth-server:54321", "auth-server:54321"),
        ("the time is 12:30: now", "the time is 12:30: now"), ("token:", "token:"),
        // A value ends at the first quote that closes it, or at the end of its line.
        ("'X-Token: a'b'", "'X-Token: ‹redacted›'b'"), ("'X-Token: a\n'b", "'X-Token: ‹redacted›\n'b"),
        (#""X-Token: a\"b\\" c"#, #""X-Token: ‹redacted›" c"#), ("\"X-Token: a\nb\"", "\"X-Token: ‹redacted›\nb\""),
        ("token: 'a\nb' c", "token: '‹redacted›\nb' c"), ("token='a\nb' c", "token=‹redacted›\nb' c"),
    ]

    static let assignments: [(text: String, shown: String)] = [
        ("token = hunter", "token = ‹redacted›"), ("token = hunter2 a=", "token = ‹redacted› a="),
        ("a\nuser = bob\npassword =hunter\nb", "a\nuser = bob\npassword =‹redacted›\nb"),
        ("config.api_key= hunter2, then", "config.api_key= ‹redacted›, then"),
        ("let token\t=\t\"a b\" // c", "let token\t=\t\"‹redacted›\" // c"),
        ("with password = 'a b' and more", "with password = '‹redacted›' and more"),
        // Words of a sentence, and no assignments.
        ("token = none given", "token = none given"), ("if token == hunter2 {", "if token == hunter2 {"),
        ("page = 12345678", "page = 12345678"), ("token =", "token ="), ("token = ", "token = "),
        ("/x?token= hunter2", "/x?token= hunter2"), ("token => hunter2", "token => hunter2"),
    ]

    @Test("What a secret's name is set to is redacted, with white space around the sign too", arguments: assignments)
    func assignment(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
    }

    @Test("The value of a field in a text is redacted by its name", arguments: lines)
    func line(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
        for type in ["text/plain", "message/http"] {
            #expect(Redaction.content(Data(text.utf8), type: type) == Data(shown.utf8))
        }
    }

    static let yaml: [(text: String, shown: String)] = [
        ("- password: swordfish", "- password: ‹redacted›"), ("- token = abc", "- token = ‹redacted›"),
        ("env:\n- API_TOKEN: swordfish\n- - pin:  a", "env:\n- API_TOKEN: ‹redacted›\n- - pin:  ‹redacted›"),
        ("a: {password: swordfish}", "a: {password: ‹redacted›}"),
        ("{password: swordfish, a: b}", "{password: ‹redacted›, a: b}"),
        ("{ user: bob, password: swordfish }", "{ user: bob, password: ‹redacted› }"),
        ("{user: bob, password: swordfish,x: y}", "{user: bob, password: ‹redacted› y}"),
        ("a: [{token: swordfish}]\nb", "a: [{token: ‹redacted›}]\nb"),
        ("{password: a, token: b, x: c}", "{password: ‹redacted›, token: ‹redacted›, x: c}"),
        ("password: !!str swordfish", "password: ‹redacted›"), ("password: !swordfish", "password: ‹redacted›"),
        ("{password: !!str swordfish, a: b}", "{password: ‹redacted›, a: b}"),
        ("pin: &a !!str 'sword fish'", "pin: &a !!str '‹redacted›'"), ("pin: &a1b2 abc", "pin: ‹redacted›"),
        ("X-Api-Key: !!binary |\n  swordfish\na: b", "X-Api-Key: !!binary |\n  ‹redacted›\na: b"),
        ("password:\n  swordfish\nuser: bob", "password:\n  ‹redacted›\nuser: bob"),
        ("- password:\r\n\tswordfish \r\n", "- password:\r\n\t‹redacted› \r\n"),
        ("X-Api-Key:\r\n swordfish", "X-Api-Key:\r\n ‹redacted›"),
        ("password:\n  \"sword fish\"\na", "password:\n  \"‹redacted›\"\na"),
        ("password:\n  'sword fish'\na", "password:\n  '‹redacted›'\na"),
        // Another name below, a list, the next line, a sentence, and words that no mapping has.
        ("password:\n  min: 8", "password:\n  min: 8"), ("password:\n  min:\n", "password:\n  min:\n"),
        ("token:\n  -\n", "token:\n  -\n"), ("password:\nnone", "password:\nnone"),
        ("password:\n  is missing", "password:\n  is missing"), ("password:\n\n", "password:\n\n"),
        ("password: !note is missing", "password: !note is missing"),
        ("{password: is missing}", "{password: is missing}"), ("a - password: missing", "a - password: missing"),
        ("[info] no user, password: missing", "[info] no user, password: missing"),
        ("{a: b}\nno user, password: missing", "{a: b}\nno user, password: missing"),
        ("{a: b} password: missing", "{a: b} password: missing"),
    ]

    @Test(
        "A value in YAML is found in a list, in a mapping of one line, behind a tag and on the next line",
        arguments: yaml)
    func valueInYAML(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
        #expect(Redaction.content(Data(text.utf8), type: "application/yaml") == Data(shown.utf8))
    }

    static let quoted: [(text: String, shown: String)] = [
        ("password: `b c`", "password: `‹redacted›`"), ("`password`: `b c` d", "`password`: `‹redacted›` d"),
        ("password = `b c` d", "password = `‹redacted›` d"), ("`X-Api-Key: b c` d", "`X-Api-Key: ‹redacted›` d"),
        ("the `token`: it is wanted", "the `token`: it is wanted"),
        (#"{"password":["hunter2","x]y","hunter3"]} x"#, #"{"password":‹redacted›} x"#),
        (#"{"password":{"a":"}","b":"c\"}"}} x"#, #"{"password":‹redacted›} x"#),
        (#"{"d":"{\"password\":[\"}\",\"hunter2\"],\"a\":1}"} x"#, #"{"d":"{\"password\":‹redacted›,\"a\":1}"} x"#),
        (#"{"session":["cut ] o"#, #"{"session":‹redacted›"#), (#"token="hunter\"2""#, #"token="‹redacted›""#),
        (#"token="a\\" b"#, #"token="‹redacted›" b"#),
        (#"{"m":"token=\"a b\" c"} x"#, #"{"m":"token=\"‹redacted›\" c"} x"#),
        ("token='a b' c", "token=‹redacted›' c"), ("token='a' b'c", "token=‹redacted› b'c"),
        ("token='a b", "token=‹redacted› b"),
        (#"{"pass\u0077ord":"a b""#, #"{"pass\u0077ord":"‹redacted›""#),
        (#"{"p":"{\"pass\\u0077ord\":\"a b\"}"} x"#, #"{"p":"{\"pass\\u0077ord\":\"‹redacted›\"}"} x"#),
    ]

    @Test("A secret between quotes or brackets goes whole, whatever is escaped or quoted in it", arguments: quoted)
    func quotes(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown)
    }

    @Test("What a server says of the request in an error is redacted wherever it prints")
    func errors() {
        let kind = APIError.Kind.business(code: 7, message: "bad Authorization: Bearer hunter2secret, token=hunter2")
        let error = APIError(kind, stage: .envelope)
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(kind)", "\(error)", String(reflecting: error), dumped] {
            #expect(!text.contains("hunter2"), "\(text)")
        }
    }
}

/// What of paths and subprotocols prints.
@Suite(.covers("X10")) struct RedactedOptionTests {
    private func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return "\(value) \(text)"
    }

    @Test("A path prints without its secret parameters, as a URL does")
    func paths() {
        let path = RoutePath(literal: "/a;token=hunter2/b")
        #expect(path.description == "/a;token=‹redacted›/b" && path.encoded == "/a;token=hunter2/b")
        for value in [path, Route.get(path)] as [Any] { #expect(!dumped(value).contains("hunter2")) }
        #expect(RoutePath("/a/\(7, name: "id")").description == "/a/{id}")
    }

    static let offers: [(names: [String], shown: [String])] = [
        (["chat", "bearer.hunter2"], ["chat", "‹redacted›"]),
        (["access_token", "hunter2"], ["‹redacted›", "‹redacted›"]),
        (["graphql-transport-ws", "mqtt"], ["graphql-transport-ws", "mqtt"]),
        (["eyJhbGciOiJIUzI1NiJ9.e.s"], ["‹redacted›"]), ([], []),
    ]

    @Test("A token among the subprotocols of a WebSocket is in no text", arguments: offers)
    func subprotocols(_ names: [String], _ shown: [String]) {
        let text = dumped(WebSocketOptions(subprotocols: names))
        #expect(!text.contains("hunter2") && shown.allSatisfy(text.contains) && text.contains("bufferedBytes"))
        let value = Redaction.value(names.joined(separator: ","), of: "Sec-WebSocket-Protocol")
        #expect(value == shown.joined(separator: ", "))
    }
}
