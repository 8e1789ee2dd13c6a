import Foundation
import PenstockCore
import Testing

/// Every way in which a value becomes text.
private func texts(of value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return [
        "\(value)", String(describing: value), String(reflecting: value), dumped, "\([value])",
        "\(Optional(value) as Any)",
    ]
}

@Suite struct RedactionTests {
    static let secret = "hunter2"

    static let secretFields: [HTTPFieldName] = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, "AUTHORIZATION", "WWW-Authenticate",
        "Proxy-Authenticate", "Authentication-Info", "Set-Cookie2", "X-API-Key", "Api-Key", "X-Auth-Token",
        "X-Csrf-Token", "X-Amz-Security-Token", "X-My-Secret", "User-Password", "X-Signature", "X-Session-Id",
    ]

    @Test(arguments: secretFields) func `the values of a secret field are in no text, its name is`(
        name: HTTPFieldName
    ) throws {
        #expect(Redaction.isSecret(name))
        let field = HTTPField(name: name, value: Self.secret)
        let fields: HTTPFields = [.accept: "visible", name: Self.secret]
        let url = try HTTPURL("https://a.example/")
        let request = HTTPRequest(method: .get, url: url, fields: fields)
        let response = HTTPResponse(status: 200, fields: fields)
        for value in [field, fields, request, response, Exchange(request: request, response: response)] as [Any] {
            for text in texts(of: value) { #expect(!text.contains(Self.secret), "\(type(of: value))") }
        }
        #expect(fields.description == "Accept: visible\n\(name.text): \(Redaction.mark)")
        #expect(field.description == "\(name.text): \(Redaction.mark)")
    }

    @Test(arguments: [.accept, .userAgent, .contentType, "X-Trace", "Date"] as [HTTPFieldName])
    func `other fields are shown as they are`(name: HTTPFieldName) {
        #expect(!Redaction.isSecret(name))
        #expect(HTTPFields([HTTPField(name: name, value: "v")]).description == "\(name.text): v")
    }

    static let queries: [(String, String)] = [
        ("token=hunter2", "token=‹redacted›"),
        ("page=2&loginToken=hunter2&q=x", "page=2&loginToken=‹redacted›&q=x"),
        ("PASSWORD=hunter2&a", "PASSWORD=‹redacted›&a"),
        ("code=hunter2&state=s", "code=‹redacted›&state=s"),
        ("api_key=hunter2=hunter2", "api_key=‹redacted›"),
        ("page=2&&q=", "page=2&&q="),
    ]

    @Test(arguments: queries) func `the secret parameters of a URL are in no text`(
        query: String, expected: String
    ) throws {
        let url = try HTTPURL("https://a.example/p?\(query)")
        #expect(url.description == "https://a.example/p?\(expected)")
        #expect(url.absoluteString == "https://a.example/p?\(query)")
        let request = HTTPRequest(method: .get, url: url)
        let attempt = APIError.Attempt(method: .get, url: url)
        let events = Event.redirected(status: 302, from: url, to: url)
        let sent = Event.requestSent(request)
        for value in [url, request, attempt, events, sent, RedirectHop(request)] as [Any] {
            for text in texts(of: value) { #expect(!text.contains(Self.secret), "\(type(of: value)): \(text)") }
        }
    }

    @Test func `a body is told by its size and never by its content`() throws {
        let data = Data("password=hunter2".utf8)
        let request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"), body: .bytes(data))
        let response = HTTPResponse(status: 200, body: data)
        for value in [HTTPBody.bytes(data), request, response] as [Any] {
            for text in texts(of: value) {
                #expect(!text.contains(Self.secret), "\(text)")
                #expect(text.contains("16"), "\(text)")
            }
        }
        #expect(request.description == "POST https://a.example/ (16 bytes)")
        #expect(response.description == "200 (16 bytes)")
    }
}
