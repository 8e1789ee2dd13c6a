import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite struct JSONValueTests {
    static let sample: JSONValue = [
        "data": ["items": [["name": "tap", "price": 1.5], nil], "ok": true, "big": .uint(.max), "a.b": -1]
    ]

    @Test func `a value comes back from its JSON`() throws {
        let data = try JSONEncoder().encode(Self.sample)
        #expect(try Payload(data).json() == Self.sample)
    }

    /// What stands before a document, and whether it is read all the same.
    static let marks: [([UInt8], Bool)] = [
        ([], true), ([0xEF, 0xBB, 0xBF], true), ([0xEF, 0xBB, 0xBF, 0x20], true), ([0x20, 0xEF, 0xBB, 0xBF], false),
        ([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], false), ([0xEF, 0xBB], false), ([0xEF, 0xBB, 0xBE], false),
        ([0xEF, 0xBB, 0xC0], false), ([0xEF, 0xBC, 0xBF], false), ([0xF0, 0xBB, 0xBF], false), ([0xFE, 0xFF], false),
    ]

    @Test(arguments: marks) func `a byte order mark before a document is passed over, once`(
        mark: [UInt8], isRead: Bool
    ) throws {
        let value = try? JSONParser.parse(Data(mark + "[1]".utf8), maximumDepth: 1)
        // Not `isRead ? … : nil`: there `nil` would be the literal for `.null`.
        #expect((value != nil) == isRead)
        if isRead { #expect(value == .array([.int(1)])) }
        #expect(throws: JSONFault.self) { try JSONParser.parse(Data(mark), maximumDepth: 1) }
        #expect(throws: JSONFault.self) { try JSONParser.parse(Data(mark + "[[1]]".utf8), maximumDepth: 1) }
    }

    @Test(.covers("S3.18")) func `keys, indices and dotted paths reach into it, and out of it is nil`() {
        let value = Self.sample
        #expect(value[path: "data.items[0].name"]?.string == "tap")
        #expect(value["data"]?["items"]?[0]?["price"]?.double == 1.5)
        #expect(value["data"]?["a.b"]?.int == -1)
        #expect(value[path: "data.items[1]"]?.isNull == true)
        #expect(value[path: ""] == value)
        for path in ["data.items[2]", "data.items[-1]", "data.ok.x", "nope", "[0]", "data.items[99999999999999999999]"]
        {
            #expect(value[path: path] == nil)
        }
    }

    @Test(arguments: [
        ("a.b", "a.b"), ("a[0][1].b", "a[0][1].b"), ("[3]", "[3]"), ("a..b", "a.b"), ("a[", "a["), ("a[x]", "a[x]"),
        ("", ""),
    ])
    func `every text is a path`(text: String, expected: String) {
        #expect(JSONPath(text).text == expected)
    }

    @Test func `accessors give nil for another kind`() {
        #expect(JSONValue.string("1").int == nil)
        #expect(JSONValue.bool(true).int == nil)
        #expect(JSONValue.double(2).int == 2)
        #expect(JSONValue.double(.infinity).int == nil)
        #expect(JSONValue.int(1).bool == nil)
        #expect(JSONValue.null.array == nil)
    }

    /// A number as a document has it, and as an integer.
    static let numbers: [(String, Int?)] = [
        ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775808", nil),
        ("-9223372036854775809", nil), ("18446744073709551615", nil), ("18446744073709551616", nil), ("1e30", nil),
        ("-1e30", nil), ("123456789012345678901234567890", nil), ("1.0", 1), ("-1.0", -1), ("1.5", nil), ("1e3", 1_000),
        ("1.5e1", 15), ("1.25e1", nil), ("120e-1", 12), ("125e-1", nil), ("100e-2", 1), ("0.0", 0), ("-0", 0),
        ("0e9", 0),
        ("0.000e-5", 0), ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.0", 9_007_199_254_740_993),
        ("9007199254740992.5", nil), ("9.223372036854775807e18", .max), ("-9.223372036854775808e18", .min),
        ("9.223372036854775808e18", nil), ("1e18", 1_000_000_000_000_000_000), ("1e19", nil),
        ("10000000000000000000e-1", 1_000_000_000_000_000_000),
        ("0.1", nil), ("1E2", 100), ("1e+2", 100),
        // Its scale is less than any Int; the Double next to it is 0.
        ("10.0e-9223372036854775808", 0), ("0.0e-9223372036854775808", 0),
    ]

    @Test(arguments: numbers) func `a number becomes an integer only where it is exactly one that fits`(
        text: String, value: Int?
    ) throws {
        let number = try payload("[\(text)]").json()[0]
        #expect(number?.int == value)
        // The nearest there is stays reachable.
        #expect(number?.double == Double(text))
    }

    @Test(arguments: [("-9223372036854775809", Double(sign: .minus, exponent: 63, significand: 1)), ("1e30", 1e30)])
    func `a number beyond 64 bits is no integer of a model`(text: String, value: Double) throws {
        let whole = payload("[\(text)]")
        #expect(try whole.value([Double].self) == [value])
        #expect(throws: APIError.self) { try whole.value([Int].self) }
    }

    @Test func `a Double is an integer below the point from which it stands for several`() {
        #expect(JSONValue.double(0x1p53 - 1).int == 9_007_199_254_740_991)
        #expect(JSONValue.double(0x1p53).int == nil)
        #expect(JSONValue.double(-0x1p53).int == nil)
        #expect(JSONValue.double(-0x1p63).int == nil)
    }

    @Test func `its description is bounded`() {
        #expect(JSONValue.object(["b": [1, nil], "a": "x\n"]).description == #"{"a": "x\n", "b": [1, null]}"#)
        #expect(JSONValue.array(Array(repeating: "xxxxxxxx", count: 100_000)).description.count < 300)
        // The limit is reached within the last member: it is not shown as if it had no value.
        let members: JSONValue = ["a": .string(String(repeating: "x", count: 250)), "b": "y", "c": 1]
        #expect(members.description == "{\"a\": \"" + String(repeating: "x", count: 249) + "…")
        let short: JSONValue = ["a": .string(String(repeating: "ü", count: 124)), "b": "y", "c": 1]
        #expect(short.description == "{\"a\": \"" + String(repeating: "ü", count: 124) + "\", …")
        let named: JSONValue = ["a": .string(String(repeating: "ü", count: 122)), "bbbbbb": "y"]
        #expect(named.description == "{\"a\": \"" + String(repeating: "ü", count: 122) + "\", \"bbbbbb\": …}")
        #expect(JSONValue.string(String(repeating: "x", count: 1_000_000)).description.count < 300)
    }

    @Test func `its description shows every kind, and of a long text the beginning`() {
        let kinds: JSONValue = [nil, true, false, -1, .uint(.max), 1.5, "x", [], [:]]
        #expect(kinds.description == #"[null, true, false, -1, 18446744073709551615, 1.5, "x", [], {}]"#)
        let long = "begin " + String(repeating: "ab ", count: 1_000)
        #expect(JSONValue.string(long).description == "\"" + long.prefix(255) + "…")
    }

    @Test func `a description is cut off behind 256 characters`() {
        func described(_ count: Int, _ rest: JSONValue...) -> String {
            JSONValue.array([.string(String(repeating: "x", count: count))] + rest).description
        }
        // Two brackets and two quotes.
        #expect(described(252) == "[\"" + String(repeating: "x", count: 252) + "\"]")
        #expect(described(253) == "[\"" + String(repeating: "x", count: 253) + "\"…")
        #expect(JSONValue.string(String(repeating: "x", count: 254)).description.hasSuffix("x\""))
        #expect(JSONValue.string(String(repeating: "x", count: 255)).description.hasSuffix("x…"))
        #expect(described(247, 1, 2) == "[\"" + String(repeating: "x", count: 247) + "\", 1, 2…")
    }

    /// Letters of two bytes and of one, what follows their member in an object, and how.
    static let cuts: [(Int, Int, String)] = [
        (120, 1, "\", \"b\": 1}"), (121, 0, "\", \"b\": …}"), (122, 1, "\", \"b\": …}"), (123, 0, "\", \"b\": …}"),
        (123, 1, "\", …}"), (124, 0, "\", …}"), (124, 1, "\"…"),
    ]

    @Test(arguments: cuts) func `no member is shown without its value, and what is left out is told of once`(
        wide: Int, narrow: Int, rest: String
    ) {
        let text = String(repeating: "ü", count: wide) + String(repeating: "x", count: narrow)
        let value: JSONValue = ["a": .string(text), "b": 1]
        #expect(value.description == "{\"a\": \"" + text + rest)
    }

    @Test func `an element is left out where the limit has been reached, and told of once`() {
        let (even, odd) = (String(repeating: "ü", count: 126) + "x", String(repeating: "ü", count: 127))
        #expect(JSONValue.array([.string(even), 1]).description == "[\"" + even + "\", …]")
        #expect(JSONValue.array([.string(even), 1, 2]).description == "[\"" + even + "\", …")
        #expect(JSONValue.array([.string(odd), 1]).description == "[\"" + odd + "\"…")
    }

    @Test func `a secret that the limit cuts off is known all the same`() {
        let value = JSONValue.string(String(repeating: "a ", count: 125) + Self.token)
        #expect(!value.description.contains("eyJ"))
        #expect(value.description.contains("‹reda"))
    }

    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0"

    @Test func `keys stay as they are inside a model that converts its own`() throws {
        struct Model: Decodable { let rawPart: JSONValue }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let model = try decoder.decode(Model.self, from: Data(#"{"raw_part":{"one_two":[{"a_b":1}]}}"#.utf8))
        #expect(model.rawPart == ["one_two": [["a_b": 1]]])
    }
}

@Suite struct PayloadTests {
    @Test(.covers("S1.3", "S3.18")) func `the raw bytes stay reachable beside the typed value`() throws {
        let whole = payload(#"{"total":1,"items":[{"id":1,"name":"tap"}]}"#)
        #expect(try whole.value([Product].self, at: "items").count == 1)
        #expect(try whole.json()["total"]?.int == 1)
        #expect(whole.data.count == 43)
    }

    @Test func `a payload that begins deeper reads below its root and names the whole path in errors`() throws {
        let deeper = payload(#"{"data":{"items":[{"id":1,"name":2}]}}"#).at("data").at("items[0]")
        #expect(deeper.root == "data.items[0]")
        #expect(try deeper.value(Int.self, at: "id") == 1)
        #expect(try deeper.json()["name"]?.int == 2)
        #expect(
            kind { () throws(APIError) in try deeper.value(String.self, at: "name") }
                == .decoding(path: "data.items[0].name", reason: "not String"))
        #expect(try deeper.at("nothing").json() == .null)
    }

    @Test func `a path through something that is no object is an error`() {
        guard
            case .decoding(path: "a.b", _)? = kind(of: { () throws(APIError) in
                try payload(#"{"a":"text"}"#).value(Int.self, at: "a.b")
            })
        else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `bytes that are no JSON throw each time they are asked for`() {
        let broken = payload("<html>")
        for _ in 0..<2 { #expect(throws: APIError.self) { try broken.json() } }
    }
}
