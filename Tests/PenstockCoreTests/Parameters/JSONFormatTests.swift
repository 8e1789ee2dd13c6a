import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("JSONFormat: exact, sorted, the same bytes on every run")
struct JSONFormatTests {
    @Test(
        "Each kind of value has one form",
        arguments: [
            (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"), (.int(.min), "-9223372036854775808"),
            (.int(.max), "9223372036854775807"), (.uint(.max), "18446744073709551615"), (0.1, "0.1"), (2.0, "2"),
            (.double(-0.0), "-0"), (.double(1e300), "1e+300"), (.double(.leastNonzeroMagnitude), "5e-324"),
            (.double(1e16), "1e+16"), (.double(123456789.125), "123456789.125"),
            (.decimal(Decimal(string: "12345678901234567890.12345") ?? 0), "12345678901234567890.12345"),
            ("", "\"\""), ("a/b", "\"a/b\""), ("\"\\", "\"\\\"\\\\\""), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\u{0}\u{1F}\u{7F}", "\"\\u0000\\u001f\u{7F}\""), ("\u{2028}x\u{2029}", #""\u2028x\u2029""#),
            ("\u{2027}\u{202A}\u{FEFF}é👩‍🚀", "\"\u{2027}\u{202A}\u{FEFF}é👩‍🚀\""), ([], "[]"),
            (" a b ", "\" a b \""), ("\u{B}\u{E}\u{F}\u{10}\u{1E}", #""\u000b\u000e\u000f\u0010\u001e""#),
            ("\u{2068}\u{20A8}\u{10A8}\u{3028}", "\"\u{2068}\u{20A8}\u{10A8}\u{3028}\""),
            ("a\u{2028}\"\u{2029}\u{2028}b", #""a\u2028\"\u2029\u2028b""#), ("\\a\\", #""\\a\\""#),
            ([1, [nil, "a"]], #"[1,[null,"a"]]"#),
            ([:], "{}"), (["b": 1, "a": ["d": 1, "c": 2], "B": 3], #"{"B":3,"a":{"c":2,"d":1},"b":1}"#),
            ([1, 2.5], "[1,2.5]"), (["a": nil, "b": [nil]], #"{"a":null,"b":[null]}"#),
        ] as [(ParameterValue, String)])
    func forms(value: ParameterValue, text: String) throws {
        #expect(try JSONFormat().text(value) == text)
    }

    @Test("Keys are sorted by their UTF-8, after they have got their style")
    func order() throws {
        let value: ParameterValue = ["é": 1, "z": 2, "Z": 3, "\u{1F600}": 4, "\u{FFFD}": 5]
        #expect(try JSONFormat().text(value) == "{\"Z\":3,\"z\":2,\"é\":1,\"\u{FFFD}\":5,\"\u{1F600}\":4}")
        let declared: ParameterValue = ["b": 1, "a": ["d": 1, "c": 2]]
        #expect(try JSONFormat(order: .declared).text(declared) == #"{"b":1,"a":{"d":1,"c":2}}"#)
        let styled: ParameterValue = ["aZ": 1, "aB": 2]
        #expect(try JSONFormat(keys: .snakeCase).text(styled) == #"{"a_b":2,"a_z":1}"#)
    }

    @Test("Dates, data and nulls follow the format")
    func styles() throws {
        let value: ParameterValue = [
            "at": .date(Date(timeIntervalSince1970: 1.5)), "key": .data(Data([0xFB, 0xFF])), "no": nil, "l": [nil],
        ]
        #expect(
            try JSONFormat().text(value) == #"{"at":"1970-01-01T00:00:01Z","key":"+/8=","l":[null],"no":null}"#)
        let other = JSONFormat(dates: .secondsSince1970, binary: .base64URL, nulls: .dropKey)
        #expect(try other.text(value) == #"{"at":1.5,"key":"-_8","l":[null]}"#)
        let milliseconds = JSONFormat(dates: .millisecondsSince1970, binary: .hexadecimal, nulls: .dropKey)
        #expect(try milliseconds.text(value) == #"{"at":1500,"key":"fbff","l":[null]}"#)
        let custom = JSONFormat(
            dates: .custom { ["t": .double($0.timeIntervalSince1970)] }, binary: .custom { .int(Int64($0.count)) })
        #expect(try custom.text(value) == #"{"at":{"t":1.5},"key":2,"l":[null],"no":null}"#)
    }

    @Test("A date and data of which a format makes a null are left out as nulls are")
    func nullsOfFormats() throws {
        let value: ParameterValue = ["at": .date(Date(timeIntervalSince1970: 0)), "key": .data(Data()), "n": 1]
        var format = JSONFormat(dates: .custom { _ in .null }, binary: .custom { _ in .null }, nulls: .dropKey)
        #expect(try format.text(value) == #"{"n":1}"#)
        format.nulls = .null
        #expect(try format.text(value) == #"{"at":null,"key":null,"n":1}"#)
    }

    @Test("A number that JSON cannot hold is an error that names its place")
    func nonFinite() throws {
        for number in [Double.nan, .infinity, -.infinity] {
            let error = #expect(throws: ParameterEncodingError.self) {
                try JSONFormat().text(["a": [1, ["b": .double(number)]]])
            }
            #expect(error?.reason == .nonFiniteNumber)
            #expect(error?.path == ["a", "1", "b"])
            #expect(error?.description == "the parameter a.1.b: the number is infinite or not a number")
        }
        #expect(throws: ParameterEncodingError.self) { try JSONFormat().text(.decimal(.nan)) }
        let far = ParameterValue.date(Date(timeIntervalSince1970: .infinity))
        for dates: ParameterStyle.Dates in [
            .iso8601, .iso8601WithMilliseconds, .millisecondsSince1970, .secondsSince1970,
        ] {
            #expect(throws: ParameterEncodingError.self) { try JSONFormat(dates: dates).text(far) }
        }
    }

    @Test("A closure's failure, or a result that needs another closure, is an error")
    func closures() throws {
        let failing = JSONFormat(dates: .custom { _ in throw CocoaError(.formatting) })
        let error = #expect(throws: ParameterEncodingError.self) { try failing.text(["d": .date(Date())]) }
        #expect(error?.reason == .custom)
        #expect(error?.path == ["d"])
        let looping = JSONFormat(dates: .custom { .date($0) })
        let loop = #expect(throws: ParameterEncodingError.self) { try looping.text(["d": .date(Date())]) }
        #expect(loop?.reason == .unresolvedValue)
    }

    @Test("What is written is what Foundation reads, for any tree")
    func fuzz() throws {
        var random = Seeded(seed: 20260131)
        for _ in 0..<2000 {
            let value = RandomTree.value(depth: 4, &random)
            let data = try JSONFormat().data(value)
            let read = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            #expect(matches(read, value), "seed \(random.seed): \(String(decoding: data, as: UTF8.self))")
            let decoded = try JSONDecoder().decode(JSONTree.self, from: data)
            #expect(decoded.matches(value), "seed \(random.seed): \(String(decoding: data, as: UTF8.self))")
        }
    }

    /// The older reader rounds some doubles on Linux; the newer one, which is asked too, is exact.
    private func isNear(_ read: Double?, _ number: Double) -> Bool {
        read.map { abs($0 - number) <= abs(number) * 1e-14 } ?? false
    }

    private func matches(_ read: Any, _ value: ParameterValue) -> Bool {
        switch value {
        case .null: return read is NSNull
        case .string(let text): return (read as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
        case .bool(let flag): return (read as? Bool) == flag
        case .int(let number): return (read as? NSNumber)?.int64Value == number
        case .uint(let number): return (read as? NSNumber)?.uint64Value == number
        case .double(let number): return isNear((read as? NSNumber)?.doubleValue, number)
        case .array(let array):
            guard let list = read as? [Any], list.count == array.count else { return false }
            return zip(list, array).allSatisfy(matches)
        case .object(let object):
            guard let members = read as? [String: Any], members.count == object.count else { return false }
            return object.allSatisfy { key, value in members[key].map { matches($0, value) } ?? false }
        default: return false
        }
    }
}

/// Random trees of what JSON has itself.
enum RandomTree {
    static let scalars = Array("ab/\"\\&=+%[]. \u{0}\n\u{1F}\u{7F}é\u{301}\u{2028}\u{2029}👩‍🚀日".unicodeScalars)

    static func value(depth: Int, _ random: inout Seeded) -> ParameterValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int(.random(in: .min ... .max, using: &random))
        case 3: .uint(.random(in: UInt64(Int64.max) ... .max, using: &random))
        case 4: .double(finite(&random))
        case 5, 6: .string(text(&random))
        case 7: .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth: depth - 1, &random) })
        default: .object(object(depth: depth, &random))
        }
    }

    static func object(depth: Int, _ random: inout Seeded) -> ParameterObject {
        var object = ParameterObject()
        for _ in 0..<Int.random(in: 0...5, using: &random) { object[text(&random)] = value(depth: depth - 1, &random) }
        return object
    }

    static func text(_ random: inout Seeded) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            text.append(scalars[Int.random(in: 0..<scalars.count, using: &random)])
        }
        return String(text)
    }

    static func finite(_ random: inout Seeded) -> Double {
        let number = Double(bitPattern: random.next())
        return number.isFinite ? number : 0.5
    }
}

/// JSON as the standard decoder sees it.
private struct JSONTree: Decodable {
    let check: @Sendable (ParameterValue) -> Bool

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            check = { $0 == .null }
        } else if let flag = try? single.decode(Bool.self) {
            check = { $0 == .bool(flag) }
        } else if let text = try? single.decode(String.self) {
            check = { $0 == .string(text) }
        } else if let members = try? single.decode([String: JSONTree].self) {
            check = { value in
                guard let object = value.object, object.count == members.count else { return false }
                return object.allSatisfy { key, value in members[key]?.check(value) ?? false }
            }
        } else if let list = try? single.decode([JSONTree].self) {
            check = { value in
                guard case .array(let array) = value, array.count == list.count else { return false }
                return zip(list, array).allSatisfy { $0.check($1) }
            }
        } else {
            let double = try single.decode(Double.self)
            let int = try? single.decode(Int64.self)
            let uint = try? single.decode(UInt64.self)
            check = { value in
                switch value {
                case .int(let number): int == number
                case .uint(let number): uint == number
                case .double(let number): double == number
                default: false
                }
            }
        }
    }

    func matches(_ value: ParameterValue) -> Bool { check(value) }
}
