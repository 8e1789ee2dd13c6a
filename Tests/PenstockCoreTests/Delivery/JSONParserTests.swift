import Foundation
import Testing

@testable import PenstockCore

/// Documents to the letter of RFC 8259.
@Suite struct JSONParserTests {
    static func read(_ text: String, _ maximumDepth: Int = 8) -> JSONValue? {
        try? JSONParser.parse(Data(text.utf8), maximumDepth: maximumDepth)
    }

    static let documents: [(text: String, value: JSONValue)] = [
        ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", .int(0)), ("-1", .int(-1)),
        ("\"\"", .string("")), ("[]", .array([])), ("{}", .object([:])), ("[1]", .array([.int(1)])),
        (" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n", .array([.int(1), .int(2)])),
        (" { \"a\" \t: 1 , \"b\"\n: { } } ", .object(["a": .int(1), "b": .object([:])])),
        ("[[],[[]]]", .array([.array([]), .array([.array([])])])), ("{\"\":null}", .object(["": .null])),
        ("{\"a\":1,\"a\":2}", .object(["a": .int(1)])),
        ("[null,true,false]", .array([.null, .bool(true), .bool(false)])),
        ("1.5", .double(1.5)), ("-0.25e2", .int(-25)), ("1E-1", .double(0.1)), ("18446744073709551615", .uint(.max)),
        ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", .string("\"\\/\u{8}\u{C}\n\r\t")), ("\"a b\u{7F}é\"", .string("a b\u{7F}é")),
        ("\"\\u0041\\u00e9\\uFFFD\\u0000\"", .string("A\u{E9}\u{FFFD}\u{0}")), ("\"\\ud83d\\ude00\"", .string("😀")),
        ("\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", .string("\u{10000}\u{10FFFF}")),
        ("\"\\uD7FF\\uE000\"", .string("\u{D7FF}\u{E000}")),
        ("\"e\\u0301\"", .string("e\u{301}")), ("\"a\\nb\\nc\"", .string("a\nb\nc")),
        ("\"\\u09aF\"", .string("\u{9AF}")),
    ]

    @Test(arguments: documents) func `a document has one value`(text: String, value: JSONValue) {
        #expect(Self.read(text) == value)
    }

    static let broken = [
        "", " ", "nul", "nulll", "truE", "tru", "fals", "nan", "Infinity", "True", "+1", "-", "--1", "01", "-01", "00",
        "1.",
        ".5", "1.e1", "1e", "1e+", "1e-", "1e1.5", "0x1", "1e999", "-1e999", "1/", "1:", "[", "]", "[1", "[1,", "[1,]",
        "[,1]",
        "[1 2]", "[1}", "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\" 1}",
        "{\"a\"=1}", "{a:1}",
        "{1:1}", "{\"a\":1]", "{\"a\":1 \"b\":2}", "1 2", "[] []", "{}x", "\"", "\"a", "\"\\\"", "\"\\", "\"\\u",
        "\"\\u004", "\"\\u0041",
        "\"\\u00\"", "\"\\u004\"", "\"\\u004g\"", "\"\\u004/\"", "\"\\u00:1\"", "\"\\u004`\"", "\"\\u004\u{E9}\"",
        "\"\\a\"", "\"\\U0041\"",
        "\"\\ud83d\"", "\"\\ud83d", "\"\\ud83dx\"", "\"\\ud83d\\n\"", "\"\\ud83d\\u0041\"", "\"\\ud83d\\ud83d\"",
        "\"\\ud83d\\u\"",
        "\"\\ude00\"", "\"\\ude00\\ud83d\"", "\"a\nb\"", "\"\u{1F}\"", "\"\t\"", "\"\u{0}\"", "'a'", "[1]\u{B}",
        "\u{C}1", "\u{A0}1", "// 1",
    ]

    @Test(arguments: broken) func `what is no document is refused`(text: String) {
        #expect(Self.read(text) == nil)
    }

    @Test func `bytes that are no UTF-8 are refused, in a text and in a key`() {
        for bytes in [[0xFF], [0xC3], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]] {
            let text = Data([0x22] + bytes + [0x22])
            #expect((try? JSONParser.parse(text, maximumDepth: 8)) == nil)
            #expect((try? JSONParser.parse(Data([0x7B]) + text + Data(":1}".utf8), maximumDepth: 8)) == nil)
        }
    }

    @Test func `a mark of byte order is a character of a text and of a key, and stands before a document alone`() {
        let text = "\u{FEFF}[\"\u{FEFF}a\\n\u{FEFF}b\u{FEFF}\",{\"\u{FEFF}a\":1,\"a\":2}]"
        let value = Self.read(text)
        let read = value?[0]?.string ?? ""
        #expect(read.utf8.elementsEqual("\u{FEFF}a\n\u{FEFF}b\u{FEFF}".utf8))
        #expect(value?[1]?.object?.count == 2 && value?[1]?["\u{FEFF}a"] == 1 && value?[1]?["a"] == 2)
        #expect(Self.read("\u{FEFF}\u{FEFF}1") == nil)
        // Three bytes of another character that begins as the mark does, and what is cut off.
        #expect(Self.read("\"\u{FFFD}\"") == "\u{FFFD}")
        #expect((try? JSONParser.parse(Data([0x22, 0xEF, 0xBB, 0x22]), maximumDepth: 8)) == nil)
    }

    @Test func `a key has no more marks in a row than any text that is written, and a text as many as it likes`() {
        func read(key: String) -> Result<JSONValue, JSONFault> {
            Result { () throws(JSONFault) in
                try JSONParser.parse(Data("{\"\(key)\":1}".utf8), maximumDepth: 1)
            }
        }
        // The last are marks that Unicode takes apart into two.
        for mark in ["\u{301}", "\u{903}", "\u{20DD}", "\u{F73}"] {
            let most = "a" + String(repeating: mark, count: 128)
            #expect(read(key: most + most) == .success(.object([most + most: 1])))
            #expect(read(key: "b" + most + mark) == .failure(.tooManyMarks))
            #expect(read(key: String(repeating: "é", count: 200) + most + mark + "c") == .failure(.tooManyMarks))
        }
        func check(_ text: String) throws {
            for encoding in [String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
                let data = try #require(text.data(using: encoding))
                try JSONFault.check(data, maximumDepth: 8)
            }
        }
        let text = "a" + String(repeating: "\u{301}", count: 1_000)
        #expect(Self.read("[\"\(text)\"]")?[0]?.string?.isWritten(as: text) == true)
        let long = String(repeating: "é", count: 1_000)
        #expect(read(key: long) == .success(.object([long: 1])))
        // Before another decoder reads it.
        for name in [text, String(repeating: "\\u0301", count: 129)] {
            #expect(throws: JSONFault.tooManyMarks) { try check("[{\"a\":0,\"\(name)\" :1}]") }
            #expect(throws: Never.self) { try check("[{\"a\":\"\(name)\"},\"\(name)\"]") }
        }
        #expect(throws: Never.self) { try check("{\"\(long)\":1,\"a") }
    }

    @Test func `an object that must have each key once has each once`() {
        #expect(JSONValue.strict(Data(#"{"a":1,"b":{"a":1}}"#.utf8), maximumDepth: 2) == ["a": 1, "b": ["a": 1]])
        #expect(JSONValue.strict(Data(#"{"a":1,"a":1}"#.utf8), maximumDepth: 2) == nil)
        #expect(JSONValue.strict(Data(#"{"a":null,"\u0061":null}"#.utf8), maximumDepth: 2) == nil)
        #expect(JSONValue.strict(Data(#"[[[]]]"#.utf8), maximumDepth: 2) == nil)
    }

    /// How deep each is.
    static let depths: [(text: String, depth: Int)] = [
        ("1", 0), ("\"[\"", 0), ("[]", 1), ("{}", 1), ("[1]", 1), ("[[]]", 2), ("[{}]", 2), ("{\"a\":[]}", 2),
        ("[[],[],[]]", 2), ("[[1],{\"a\":{}}]", 3), ("[\"[[[\"]", 1), ("[\"\\\"[\",[]]", 2), ("[\"\\\\\",[]]", 2),
        ("[\"{\\\\\\\"[\"]", 1), ("{\"[\":\"{\"}", 1), ("[[[]],[[]]]", 3),
    ]

    @Test(arguments: depths) func `arrays and objects may be in one another up to a limit`(text: String, depth: Int) {
        for limit in 0...4 {
            let isFine = depth <= limit
            #expect((Self.read(text, limit) != nil) == isFine, "limit \(limit)")
            do throws(JSONFault) {
                try JSONFault.check(Data(text.utf8), maximumDepth: limit)
                #expect(isFine, "limit \(limit)")
            } catch {
                #expect(!isFine && error == .tooDeep(limit: limit))
            }
        }
    }

    @Test func `a depth is seen in wide texts as well, whatever bytes they have`() throws {
        let text = "[\"\u{2200}\",[[1]]]"
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian] {
            let data = try #require(text.data(using: encoding))
            try JSONFault.check(data, maximumDepth: 3)
            #expect(throws: JSONFault.tooDeep(limit: 2)) { try JSONFault.check(data, maximumDepth: 2) }
        }
    }

    @Test func `a depth is told of before what is wrong behind it`() {
        for text in ["[[1", "[[x", "[[[[["] {
            #expect(throws: JSONFault.tooDeep(limit: 1)) { try JSONParser.parse(Data(text.utf8), maximumDepth: 1) }
            #expect(throws: JSONFault.tooDeep(limit: 1)) { try JSONFault.check(Data(text.utf8), maximumDepth: 1) }
        }
        #expect(throws: JSONFault.empty) { try JSONParser.parse(Data(), maximumDepth: 1) }
        #expect(throws: JSONFault.invalid) { try JSONParser.parse(Data("[".utf8), maximumDepth: 1) }
    }

    @Test func `every fault explains itself`() {
        let faults: [JSONFault] = [.empty, .tooDeep(limit: 7), .invalid, .notObject, .tooManyMarks]
        #expect(Set(faults.map(\.reason)).count == faults.count)
        #expect(JSONFault.tooDeep(limit: 7).reason.contains("7"))
    }
}
