import PenstockCore
import Testing

@Suite("HTTPMethod: standard verbs and any other token")
struct HTTPMethodTests {
    static let standard: [HTTPMethod] = [
        .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
    ]

    @Test("Standard verbs carry their own names, all different")
    func standardNames() {
        let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
        #expect(Self.standard.map(\.rawValue) == names)
        #expect(names.compactMap(HTTPMethod.init(rawValue:)) == Self.standard)
    }

    @Test("Any token is a verb, and case matters", arguments: ["PURGE", "M-SEARCH", "get", "x!#$%&'*+-.^_`|~9"])
    func custom(text: String) {
        #expect(HTTPMethod(rawValue: text)?.rawValue == text)
        #expect(HTTPMethod(rawValue: "get") != .get)
    }

    @Test(
        "A verb that is no token cannot be made, so none can turn into another",
        arguments: [
            "", " ", "GET ", " GET", "G ET", "GET\r\n", "GET\u{0}", "GET/", "É", "G(E)T", "7\t", "GET,POST", "{}",
        ])
    func unrepresentable(text: String) {
        #expect(HTTPMethod(rawValue: text) == nil)
    }

    @Test("Every single byte is a verb exactly when it is a token character")
    func everyByte() {
        let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8(0)..<128 {
            let text = String(decoding: [byte], as: UTF8.self)
            #expect((HTTPMethod(rawValue: text) != nil) == token.contains(byte), "byte \(byte)")
        }
    }

    @Test("Safe and idempotent follow RFC 9110 §9.2; an unknown verb is neither")
    func properties() throws {
        #expect(Self.standard.filter(\.isSafe) == [.get, .head, .options, .trace])
        #expect(Self.standard.filter(\.isIdempotent) == [.get, .head, .put, .delete, .options, .trace])
        let purge = try #require(HTTPMethod(rawValue: "PURGE"))
        #expect(!purge.isSafe && !purge.isIdempotent)
        let lowercase = try #require(HTTPMethod(rawValue: "get"))
        #expect(!lowercase.isSafe)
    }
}
