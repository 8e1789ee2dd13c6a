import Testing

@testable import PenstockCore

@Suite struct PercentEncodingTests {
    /// A text, with what may not stand there escaped, in its one form, and with its escapes undone.
    static let table: [(String, String, String, String)] = [
        ("", "", "", ""),
        ("%41", "%41", "A", "A"),
        ("a%41", "a%41", "aA", "aA"),
        ("%4", "%254", "%4", "%4"),
        ("%", "%25", "%", "%"),
        ("%%41", "%25%41", "%A", "%A"),
        ("%2f", "%2f", "%2F", "/"),
        ("%2F%", "%2F%25", "%2F%", "/%"),
        ("%4g%g4", "%254g%25g4", "%4g%g4", "%4g%g4"),
        ("%7e%7E", "%7e%7E", "~~", "~~"),
        ("%7b%7B", "%7b%7B", "%7B%7B", "{{"),
        ("{[`@:/?#", "%7B%5B%60@:/?%23", "{[`@:/?#", "{[`@:/?#"),
        ("!$&'()*+,;=:@/?", "!$&'()*+,;=:@/?", "!$&'()*+,;=:@/?", "!$&'()*+,;=:@/?"),
        ("azAZ09-._~", "azAZ09-._~", "azAZ09-._~", "azAZ09-._~"),
        ("%61%7a%5a%30%39%2d%2e%5f", "%61%7a%5a%30%39%2d%2e%5f", "azZ09-._", "azZ09-._"),
        ("%2:%:2%2/%/2%2`%@2", "%252:%25:2%252/%25/2%252%60%25@2", "%2:%:2%2/%/2%2`%@2", "%2:%:2%2/%/2%2`%@2"),
        ("%fF%aA%0f%a0", "%fF%aA%0f%a0", "%FF%AA%0F%A0", "\u{FFFD}\u{FFFD}\u{F}\u{FFFD}"),
        ("a b\"<>\\^|}~", "a%20b%22%3C%3E%5C%5E%7C%7D~", "a b\"<>\\^|}~", "a b\"<>\\^|}~"),
        ("é\u{7F}", "%C3%A9%7F", "é\u{7F}", "é\u{7F}"),
    ]

    /// Each byte, and whether it stands for itself in a value, and in a path or a query.
    @Test func `what a URL has no other use for stays as it is`() {
        let unreserved = Set("azAZ09-._~bcdefghijklmnopqrstuvwxyBCDEFGHIJKLMNOPQRSTUVWXY12345678".utf8)
        let path = unreserved.union("!$&'()*+,;=:@/?".utf8)
        for byte in UInt8(0)..<128 {
            let text = String(decoding: [byte], as: UTF8.self)
            let digits = String(byte, radix: 16, uppercase: true)
            let escape = "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            #expect(PercentEncoding.escaped(text) == (unreserved.contains(byte) ? text : escape), "byte \(byte)")
            #expect(PercentEncoding.repaired(text) == (path.contains(byte) ? text : escape), "byte \(byte)")
            let isKept = path.contains(byte) || text == "%"
            #expect(PercentEncoding.completed(text) == (isKept ? text : escape), "byte \(byte)")
            #expect(PercentEncoding.normalised(escape) == (unreserved.contains(byte) ? text : escape), "byte \(byte)")
            #expect(PercentEncoding.decoded(escape) == [byte], "byte \(byte)")
        }
    }

    static let segments: [(String, Int)] = [
        (".", 1), ("%2e", 1), ("%2E", 1), ("..", 2), (".%2e", 2), ("%2E.", 2), ("%2e%2E", 2), ("", 0), ("...", 0),
        ("a", 0), (".a", 0), ("%2f", 0), ("%2e%", 0),
    ]

    @Test(arguments: segments) func `a segment of dots has one or two, escaped or not`(segment: String, dots: Int) {
        #expect(PercentEncoding.dots(segment) == dots)
    }

    @Test(arguments: table) func `a percent sign begins an escape only before two hexadecimal digits`(
        text: String, repaired: String, normalised: String, decoded: String
    ) {
        #expect(PercentEncoding.repaired(text) == repaired)
        #expect(PercentEncoding.normalised(text) == normalised)
        #expect(String(decoding: PercentEncoding.decoded(text), as: UTF8.self) == decoded)
    }
}
