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
    ]

    @Test(arguments: table) func `a percent sign begins an escape only before two hexadecimal digits`(
        text: String, repaired: String, normalised: String, decoded: String
    ) {
        #expect(PercentEncoding.repaired(text) == repaired)
        #expect(PercentEncoding.normalised(text) == normalised)
        #expect(String(decoding: PercentEncoding.decoded(text), as: UTF8.self) == decoded)
    }
}
