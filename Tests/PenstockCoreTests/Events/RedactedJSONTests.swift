import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

/// JSON without its secrets, whatever stands in it twice and however it is encoded.
@Suite(.covers("X10")) struct RedactedJSONTests {
    private func shown(_ content: Data, _ type: String? = "application/json") -> String {
        String(decoding: Redaction.content(content, type: type), as: UTF8.self)
    }

    static let repeated: [(content: String, shown: String)] = [
        (#"{"password":null,"password":"hunter2"}"#, #"{"password":null,"password":"‹redacted›"}"#),
        (#"{"password":"hunter2","password":null}"#, #"{"password":"‹redacted›","password":null}"#),
        (#"{"a":1,"a":{"password":"hunter2"}}"#, #"{"a":1,"a":{"password":"‹redacted›"}}"#),
        (#"[{"a":[],"\u0061":[{"pin":7}]}]"#, #"[{"a":[],"\u0061":[{"pin":0}]}]"#),
        ("{\"\u{e9}\":1,\"e\u{301}\":{\"otp\":\"7\"}}", "{\"\u{e9}\":1,\"e\u{301}\":{\"otp\":\"‹redacted›\"}}"),
        (#"{"a":1,"a":2,"pass\u0077ord":"hunter2"}"#, #"{"a":1,"a":2,"pass\u0077ord":"‹redacted›"}"#),
        (#"{"a":"x","a":"https://a/?token=y"}"#, #"{"a":"x","a":"https://a/?token=‹redacted›"}"#),
    ]

    @Test("Each of two members of one name is redacted by itself", arguments: repeated)
    func members(_ content: String, _ expected: String) throws {
        for type in ["application/json", "text/plain", nil] {
            #expect(shown(Data(content.utf8), type) == expected)
        }
        var request = HTTPRequest(method: .post, url: try HTTPURL("https://a.example/"))
        request.fields[.contentType] = "application/json"
        #expect(try Redaction.content(of: request, Data(content.utf8)) == Data(expected.utf8))
        let response = HTTPResponse(status: 200, fields: request.fields, body: Data(content.utf8))
        #expect(try Redaction.content(of: response, to: request) == Data(expected.utf8))
    }

    static let documents: [(content: String, shown: String)] = [
        (
            #"{ "b" : 1.50e+2 ,"token" : [ -1.5E-3 , {"x":[true,"y"]} ] , "a" : "caf\u00e9" }"#,
            #"{ "b" : 1.50e+2 ,"token" : [ 0 , {"x":[true,"‹redacted›"]} ] , "a" : "caf\u00e9" }"#
        ),
        (#"{"token":{},"a":[{},"b"],"pin":[],"c":"d"}"#, #"{"token":{},"a":[{},"b"],"pin":[],"c":"d"}"#),
        (#"[{"pin":{"a":1}},{"a":1}]"#, #"[{"pin":{"a":0}},{"a":1}]"#), (#"{"":"a"}"#, #"{"":"a"}"#),
        (#"{"pin":97}"#, #"{"pin":0}"#),
        (#"["pin","a"]"#, #"["pin","a"]"#), ("{\"a\":\"Bearer hunter2\"}\n", "{\"a\":\"‹redacted›\"}\n"),
    ]

    @Test("All but the secrets of JSON stays byte for byte, in its order", arguments: documents)
    func document(_ content: String, _ expected: String) {
        #expect(shown(Data(content.utf8)) == expected)
    }

    @Test("Text that is not UTF-8 is read as ISO-8859-1, so that the names in it are found")
    func latin() throws {
        let content = Data(#"{"name":"M"#.utf8) + [0xFC] + Data(#"ller","password":"hunter2"}"#.utf8)
        let expected = Data(#"{"name":"M"#.utf8) + [0xFC] + Data(#"ller","password":"‹redacted›"}"#.utf8)
        for type in ["application/json; charset=iso-8859-1", "application/problem+json", "text/plain", nil] {
            #expect(Redaction.content(content, type: type) == expected)
            let response = HTTPResponse(status: 200, fields: HTTPFields(optional: type), body: content)
            let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
            #expect(try Redaction.content(of: response, to: request) == expected)
        }
        for type in ["image/png", "video/mp4"] { #expect(Redaction.content(content, type: type) == content) }
        #expect(shown(content + [0]).contains("hunter2") == false)
        #expect(Redaction.content(content + [0], type: nil) == content + [0])
    }

    static let encodings: [String.Encoding] = [
        .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian,
    ]

    @Test("UTF-16 and UTF-32 are read as what they are", arguments: encodings)
    func wide(_ encoding: String.Encoding) throws {
        for text in [#"{"a":1,"a":{"password":"hunter2"}}"#, "password=hunter2", #"{"password":"hunter2"#] {
            let content = try #require(text.data(using: encoding))
            for type in ["application/json", "text/plain"] {
                let shown = shown(content, type)
                #expect(shown.contains("‹redacted›") && !shown.contains("\0") && !shown.contains("hunter2"))
            }
        }
        let plain = try #require(#"{"a":"é"}"#.data(using: encoding))
        #expect(Redaction.content(plain, type: "application/json") == plain)
        // Half a character does not make the rest unreadable.
        let broken = try #require(#"{"a":1,"password":"hunter2"}"#.data(using: encoding)) + [0xD8]
        #expect(!shown(broken).replacing("\0", with: "").contains("hunter2"))
    }

    @Test("A zero in a text hides nothing of it")
    func zeros() {
        #expect(shown(Data("a\0 password=hunter2".utf8), "text/plain") == "a\0 password=‹redacted›")
    }
}

extension HTTPFields {
    fileprivate init(optional type: String?) {
        self.init()
        self[.contentType] = type
    }
}
