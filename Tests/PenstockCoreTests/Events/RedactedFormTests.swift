import Foundation
import Testing

@testable import PenstockCore

/// Forms of several parts without their secrets.
@Suite struct RedactedFormTests {
    private func redacted(_ parts: [String]) -> String? {
        let text = parts.map { "--b\r\n\($0)\r\n" }.joined() + "--b--\r\n"
        let shown = RedactedForm.make(of: Data(text.utf8), boundary: "b")
        return shown.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func part(_ disposition: String, _ more: String = "", _ content: String) -> String {
        "Content-Disposition: form-data; \(disposition)\(more)\r\n\r\n\(content)"
    }

    /// One part, and its content as it is shown.
    static let parts: [(part: String, content: String, shown: String)] = [
        (part(#"name="password""#, "", "hunter2"), "hunter2", "‹redacted›"),
        (part("name=access_token", "", "hunter2"), "hunter2", "‹redacted›"),
        (part(#"name="%70assword""#, "", "hunter2"), "hunter2", "‹redacted›"),
        (part(#"filename="key.pem"; name="privateKey""#, "", "hunter2"), "hunter2", "‹redacted›"),
        (part(#"name="code""#, "", "123456"), "123456", "‹redacted›"),
        (part(#"name="password""#, "", "a\r\n--c\r\nb"), "a\r\n--c\r\nb", "‹redacted›"),
        (part(#"name="password""#, "", ""), "", ""), (part(#"name="author""#, "", "Ada"), "Ada", "Ada"),
        (part(#"name="note"; filename="password""#, "", "Ada"), "Ada", "Ada"),
        (
            part(#"name="a\"b""#, "", "line\nline\r\n\r\n--\r\n--"), "line\nline\r\n\r\n--\r\n--",
            "line\nline\r\n\r\n--\r\n--"
        ),
        (
            part(#"name="meta""#, "\r\nContent-Type: application/json", #"{"token":"x","q":1}"#),
            #"{"token":"x","q":1}"#, #"{"token":"‹redacted›","q":1}"#
        ), (part(#"name="link""#, "", "https://a/?token=x&q=1"), "token=x", "token=‹redacted›"),
        (part(#"name="note""#, "\r\nContent-Transfer-Encoding: base64", "aHVudGVyMg=="), "aHVudGVyMg==", "‹redacted›"),
        (part(#"name="note""#, "\r\nContent-Encoding: gzip", "hunter2"), "hunter2", "‹redacted›"),
        (part(#"name="note""#, "\r\nContent-Transfer-Encoding: 8bit", "Ada"), "Ada", "Ada"),
        (part(#"name="note""#, "\r\nContent-Type: application/json", "{hunter2"), "{hunter2", "‹redacted›"),
        (
            part(#"name="note""#, "\r\nContent-Type: multipart/form-data; boundary=c", "--c--"), "--c--", "‹redacted›"
        ), (part(#"name="note""#, "\r\nX-Token: hunter2", "Ada"), "X-Token: hunter2", "X-Token: ‹redacted›"),
    ]

    @Test("The content of a part is secret by its name, as a parameter is, and everything else stays", arguments: parts)
    func contents(_ part: String, _ content: String, _ shown: String) {
        let (before, after) = (Self.part("name=a", "", "1"), Self.part("name=z", "", "26"))
        let expected = content.isEmpty ? part : part.replacing(content, with: shown)
        let form = [before, expected, after].map { "--b\r\n\($0)\r\n" }.joined()
        #expect(redacted([before, part, after]) == form + "--b--\r\n")
    }

    @Test("A form of bytes stays byte for byte, whatever is in its files")
    func bytes() {
        let head = Data("--b\r\ncontent-disposition:form-data;name=f\r\nContent-Type: image/png\r\n\r\n".utf8)
        let form = head + Data([0xFF, 0x00, 0x0D, 0x0A, 0x2D, 0x2D, 0xFE]) + Data("\r\n--b--".utf8)
        #expect(RedactedForm.make(of: form, boundary: "b") == form)
    }

    static let broken = [
        "", "--b", "--b\r\n", "--b--x", "--b--\r\nepilogue", "preamble\r\n--b--\r\n", "--b\r\n--b--\r\n",
        "--b\r\n\r\n\r\n--b--\r\n", "--b\r\n\(part("name=a", "", "1"))\r\n", "--b\r\n\(part("name=a", "", "1"))\r\n--b",
        "--b\r\n\(part("name=a", "", "1"))\r\n--bx\r\n", "--b \r\n\(part("name=a", "", "1"))\r\n--b--\r\n",
        "--b\n\(part("name=a", "", "1"))\n--b--\n", "--b\r\n\(part("x=a", "", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=a; name=b", "", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=a; name*=UTF-8''password", "", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=a", "\r\nContent-Disposition: form-data; name=b", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=\"a", "", "1"))\r\n--b--\r\n", "--b\r\n\(part("name=a", "\r\n folded", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=a", "\nX-A: 1", "1"))\r\n--b--\r\n",
        "--b\r\n\(part("name=a", "\r\nX A: 1", "1"))\r\n--b--\r\n",
        "--b\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--b--\r\n",
        "--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--\r\n",
    ]

    @Test("What is not a form to the letter is none, so that nobody reads it in another way", arguments: broken)
    func notForms(_ text: String) throws {
        #expect(RedactedForm.make(of: Data(text.utf8), boundary: "b") == nil)
        guard !text.isEmpty else { return }
        let type = "multipart/form-data; boundary=b"
        #expect(Redaction.content(Data(text.utf8), type: type) == Data(Redaction.mark.utf8))
        var request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"))
        request.fields[.contentType] = type
        #expect(throws: WithheldContent("it is not the form that its type says")) {
            try Redaction.content(of: request, Data(text.utf8))
        }
    }

    @Test("The library's own forms are read, whatever their parts are called")
    func ownForms() throws {
        let parts: [MultipartPart] = [
            .field("password", "hunter2"), .field("a\"b\r\nc", "1"),
            .data("picture", Data([0xFF]), fileName: "p;\".png"),
        ]
        let body = HTTPBody.multipart(parts)
        guard case .bytes(let data) = body.source else {
            Issue.record("the form is not in memory")
            return
        }
        let shown = Redaction.content(data, type: body.contentType)
        #expect(shown.range(of: Data("hunter2".utf8)) == nil && shown.range(of: Data([0xFF])) != nil)
        #expect(shown.count == data.count - "hunter2".utf8.count + Redaction.mark.utf8.count)
    }

    static let types: [(type: String, content: String, isKept: Bool)] = [
        ("application/json", #"{"a":1}"#, true), ("application/json", #"{"a":1"#, false),
        ("Application/Problem+JSON; charset=utf-8", "a", false), ("text/json", "{} {}", false),
        ("application/x-ndjson", "{} {}", true), ("text/plain", #"{"a":1"#, true),
        ("multipart/form-data", "--b--", false), ("multipart/form-data; boundary=\"\"", "--b--", false),
        ("multipart/form-data; boundary=\"b\"", "--b--", true), ("multipart/mixed; boundary=b", "x", true),
        ("application/x-www-form-urlencoded", "a=1", true),
    ]

    @Test("The content of a request that is not what its type says is not kept", arguments: types)
    func withheld(_ type: String, _ content: String, _ isKept: Bool) throws {
        var request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"))
        request.fields[.contentType] = type
        let shown = try? Redaction.content(of: request, Data(content.utf8))
        #expect(shown == (isKept ? Data(content.utf8) : nil))
        #expect(try Redaction.content(of: request, Data()).isEmpty && Redaction.content(Data(), type: type).isEmpty)
    }

    @Test("A response that is not the JSON that it says is kept as a text, since tests are about such")
    func responses() throws {
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
        let broken = Data(#"{"a":1,"password":"hunter2","b":"#.utf8)
        let response = HTTPResponse(status: 200, fields: ["Content-Type": "application/json"], body: broken)
        let shown = String(decoding: try Redaction.content(of: response, to: request), as: UTF8.self)
        #expect(shown.hasPrefix(#"{"a":1,"#) && !shown.contains("hunter2"))
    }

    @Test("A boundary has 1 to 70 characters", arguments: [1, 2, 69, 70, 71, 200])
    func boundaries(count: Int) throws {
        let boundary = String(repeating: "b", count: count)
        let form = Data("--\(boundary)\r\n\(Self.part("name=pin", "", "1"))\r\n--\(boundary)--\r\n".utf8)
        let shown = String(
            decoding: Redaction.content(form, type: "multipart/form-data; boundary=\(boundary)"), as: UTF8.self)
        #expect(shown.hasPrefix("--\(boundary)\r\n") == (count <= 70))
        #expect(shown.contains(Redaction.mark) && !shown.contains("\r\n1\r\n"))
    }

    static let documents: [(content: String, shown: String)] = [
        (
            #"{"pin":1234,"otp":1.5,"big":{"token":18446744073709551615},"u":"a/b"}"#,
            #"{"pin":0,"otp":0,"big":{"token":0},"u":"a/b"}"#
        ),
        (#"{"secret":[1,"a",true,null,{"b":2}],"a":[1]}"#, #"{"secret":[0,"‹redacted›",true,null,{"b":0}],"a":[1]}"#),
        (#" {"page" : 1} "#, #" {"page" : 1} "#), (#"["https://a/?token=x"]"#, #"["https://a/?token=‹redacted›"]"#),
        ("7", "7"), (#""Bearer hunter2""#, #""‹redacted›""#),
    ]

    @Test("Secret texts in JSON become the mark and secret numbers 0, and the rest stays", arguments: documents)
    func json(_ content: String, _ shown: String) {
        for type in ["application/json", " TEXT/JSON ; a=b", "application/problem+json", "text/plain", nil] {
            #expect(String(decoding: Redaction.content(Data(content.utf8), type: type), as: UTF8.self) == shown)
        }
    }

    /// Codings of a response, whether its request says which it accepts, its body, and whether that is kept.
    static let codings: [(codings: String, asks: Bool, body: [UInt8], isKept: Bool)] = [
        ("gzip", false, [0x61], true), ("gzip", true, [0x61], true), ("gzip", false, [0xFF], true),
        ("gzip", true, [0xFF], false),
        ("identity", true, [0xFF], true), ("unheard-of", false, [0x61], false),
        ("gzip, unheard-of", false, [0x61], false),
        ("br, zstd, deflate, x-gzip", false, [0xFF], true), ("br, gzip", true, [0xFF], false), ("gzip", true, [], true),
    ]

    @Test("A body is kept unless it still has a coding", arguments: codings)
    func coded(_ codings: String, _ asks: Bool, _ body: [UInt8], _ isKept: Bool) throws {
        var request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
        if asks { request.fields[.acceptEncoding] = "gzip" }
        let response = HTTPResponse(status: 200, fields: [.contentEncoding: codings], body: Data(body))
        let shown = try? Redaction.content(of: response, to: request)
        #expect(shown == (isKept ? Data(body) : nil))
        request.fields[.contentEncoding] = codings
        let isPlain = codings == "identity" || body.isEmpty
        #expect((try? Redaction.content(of: request, Data(body))) == (isPlain ? Data(body) : nil))
    }
}

/// Values with parameters.
@Suite struct ParameterizedValueTests {
    static let samples: [(text: String, value: String, parameters: [String: String])] = [
        ("text/plain", "text/plain", [:]), (" Text/Plain ; Charset=UTF-8", "text/plain", ["charset": "UTF-8"]),
        ("a;b=\"c;d\"; e=f;", "a", ["b": "c;d", "e": "f"]), ("a; b=\"c\\\"d\\\\\"", "a", ["b": "c\"d\\"]),
        ("a;;b=c", "a", ["b": "c"]), ("a; b=\"\"", "a", ["b": ""]),
    ]

    @Test("A value and its parameters are read by the grammar", arguments: samples)
    func read(_ text: String, _ value: String, _ parameters: [String: String]) {
        let found = ParameterizedValue(text)
        #expect(found?.value == value && found?.parameters == parameters)
    }

    @Test(
        "What breaks the grammar says nothing",
        arguments: [
            "", ";", " ", "a; b", "a; b=", "a; =c", "a; b = c", "a; b=\"c", "a; b=\"c\"d", "a; b=c; B=d", "a; b=c d",
        ])
    func refused(_ text: String) {
        #expect(ParameterizedValue(text) == nil)
    }
}
