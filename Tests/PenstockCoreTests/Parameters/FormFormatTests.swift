import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("FormFormat: pairs that say what the tree says")
struct FormFormatTests {
    @Test(
        "The defaults write what most servers read",
        arguments: [
            ([:], ""),
            (["a": 1], "a=1"),
            (["b": 2, "a": 1], "a=1&b=2"),
            (["a": true, "b": false], "a=true&b=false"),
            (["a": nil, "b": ""], "b="),
            (["a": 0.5, "b": 2.0, "c": .uint(.max), "d": .double(1e21)], "a=0.5&b=2&c=18446744073709551615&d=1e%2B21"),
            (["t": ["x", "y"]], "t%5B%5D=x&t%5B%5D=y"),
            (["f": ["b": 1, "a": ["c": 2]]], "f%5Ba%5D%5Bc%5D=2&f%5Bb%5D=1"),
            (["l": [["a": 1], ["a": 2]]], "l%5B%5D%5Ba%5D=1&l%5B%5D%5Ba%5D=2"),
            (["l": [[1], [2, 3]]], "l%5B%5D%5B%5D=1&l%5B%5D%5B%5D=2&l%5B%5D%5B%5D=3"),
            (["e": [], "o": [:], "z": 1], "z=1"),
            (["l": [1, nil, 2]], "l%5B%5D=1&l%5B%5D=2"),
            (["d": .date(Date(timeIntervalSince1970: 0))], "d=1970-01-01T00%3A00%3A00Z"),
            (["d": .data(Data([0xFB, 0xFF]))], "d=%2B%2F8%3D"),
            (["": "x"], "=x"),
        ] as [(ParameterValue, String)])
    func defaults(value: ParameterValue, text: String) throws {
        #expect(try FormFormat().text(value) == text)
    }

    @Test(
        "No value and no key can end its pair or begin another",
        arguments: [
            ("1&b=2", "1%26b%3D2"), ("a+b", "a%2Bb"), ("a b", "a%20b"), ("100%", "100%25"), ("%20", "%2520"),
            ("a#b?c/d", "a%23b%3Fc%2Fd"), ("\r\n", "%0D%0A"), ("\u{0}", "%00"), ("é", "%C3%A9"),
            ("e\u{301}", "e%CC%81"), ("[x]", "%5Bx%5D"), ("a;b", "a%3Bb"), ("-._~", "-._~"),
            ("'*!()", "%27%2A%21%28%29"),
        ])
    func escaping(raw: String, escaped: String) throws {
        #expect(try FormFormat().text(["k": .string(raw)]) == "k=\(escaped)")
        #expect(try FormFormat().text(.object([raw: "v"])) == "\(escaped)=v")
    }

    @Test("Different parameters stay different where one looks like two")
    func injection() throws {
        let one = try FormFormat().text(["a": "1&b=2"])
        let two = try FormFormat().text(["a": "1", "b": "2"])
        #expect(one != two)
        #expect(FormReader.pairs(one)?.count == 1)
    }

    @Test(
        "Arrays in every style",
        arguments: [
            (.brackets, "a[]=1&a[]=x,y&b[c][]=2"), (.plain, "a=1&a=x,y&b[c]=2"),
            (.indexed, "a[0]=1&a[1]=x,y&b[c][0]=2"),
            (.joined(separator: ","), "a=1,x%2Cy&b[c]=2"), (.joined(separator: "|"), "a=1%7Cx,y&b[c]=2"),
            (.joined(separator: "&"), "a=1%26x,y&b[c]=2"),
            (.custom { "\($0)_\($1 + 1)" }, "a_1=1&a_2=x,y&b[c]_1=2"),
        ] as [(FormFormat.Arrays, String)])
    func arrays(style: FormFormat.Arrays, expected: String) throws {
        var format = FormFormat(arrays: style, allowed: "[],")
        if case .joined(",") = style { format.allowed = "[]" }
        #expect(try format.text(["a": [1, "x,y"], "b": ["c": [2]]]) == expected)
    }

    @Test("Joined arrays hold single values only")
    func joined() throws {
        let format = FormFormat(arrays: .joined(separator: ","), dates: .secondsSince1970)
        #expect(
            try format.text(["a": [true, nil, .date(Date(timeIntervalSince1970: 1)), "", .data(Data([1]))]])
                == "a=true,1,,AQ%3D%3D")
        #expect(try format.text(["a": [], "b": [nil]]) == "")
        for element in [[1], ["k": 1]] as [ParameterValue] {
            let error = #expect(throws: ParameterEncodingError.self) { try format.text(["a": [0, element]]) }
            #expect(error?.reason == .notJoinable)
            #expect(error?.path == ["a", "1"])
        }
    }

    @Test(
        "Nested keys in every style",
        arguments: [
            (.brackets, "a[b][c]=1&a[d][]=2"), (.dots, "a.b.c=1&a.d[]=2"),
            (.custom { "\($0):\($1)" }, "a:b:c=1&a:d[]=2"),
        ] as [(FormFormat.Nesting, String)])
    func nesting(style: FormFormat.Nesting, expected: String) throws {
        let format = FormFormat(nesting: style, allowed: "[]:")
        #expect(try format.text(["a": ["b": ["c": 1], "d": [2]]]) == expected)
    }

    @Test("Bools, nulls and spaces in every style")
    func small() throws {
        let value: ParameterValue = ["b": true, "c": false, "n": nil, "s": "a b+c", "l": [nil, 1]]
        #expect(try FormFormat(arrays: .plain, bools: .numeric).text(value) == "b=1&c=0&l=1&s=a%20b%2Bc")
        #expect(
            try FormFormat(arrays: .plain, nulls: .emptyValue, spaces: .plus).text(value)
                == "b=true&c=false&l=&l=1&n=&s=a+b%2Bc")
        #expect(
            try FormFormat(arrays: .indexed, nulls: .literal, allowed: "[]").text(value)
                == "b=true&c=false&l[0]=null&l[1]=1&n=null&s=a%20b%2Bc")
        #expect(try FormFormat(arrays: .indexed, allowed: "[]").text(["l": [nil, 1]]) == "l[1]=1")
    }

    @Test("A date and data of which a format makes a null are left out as nulls are, in a joined list too")
    func nullsOfFormats() throws {
        let (date, data) = (ParameterValue.date(Date(timeIntervalSince1970: 0)), ParameterValue.data(Data()))
        let value: ParameterValue = ["at": date, "key": data, "l": [1, date, data, 2], "m": [date]]
        var format = FormFormat(
            arrays: .joined(separator: ","), dates: .custom { _ in .null }, binary: .custom { _ in .null })
        #expect(try format.text(value) == "l=1,2")
        format.nulls = .emptyValue
        #expect(try format.text(value) == "at=&key=&l=1,,,2&m=")
        format.nulls = .dropKey
        format.arrays = .plain
        #expect(try format.text(value) == "l=1&l=2")
    }

    @Test("Characters that structure a form or break a URL are escaped even when they are allowed")
    func allowed() throws {
        let format = FormFormat(allowed: "&=+#% \"<>\\^`{}|\u{0}\u{7F}é:/")
        #expect(
            try format.text(["k": "&=+#% \"<>\\^`{}|\u{0}\u{7F}é:/"])
                == "k=%26%3D%2B%23%25%20%22%3C%3E%5C%5E%60%7B%7D%7C%00%7F%C3%A9:/")
        #expect(try FormFormat(allowed: .query).text(["k": "/?:"]) == "k=/?%3A")
        let all = "!$'()*,;:@/?[]-._~azAZ09"
        #expect(try FormFormat(allowed: FormCharacters(all)).text(["k": .string(all)]) == "k=" + all)
        #expect(
            try FormFormat(arrays: .joined(separator: all + "&=")).text(["k": [1, 2]]) == "k=1" + all + "%26%3D2")
    }

    @Test("Each character alone is allowed where it is asked for, and no other with it")
    func allowedAlone() throws {
        let all = String(decoding: UInt8(0)..<128, as: UTF8.self)
        for byte in UInt8(0)..<128 {
            let character = String(decoding: [byte], as: UTF8.self)
            let mayStandAlone = "!$'()*,;:@/?[]".utf8.contains(byte)
            let format = FormFormat(allowed: FormCharacters(character))
            let shown = (UInt8(0)..<128).map { other in
                let isKept = PercentEncoding.isUnreserved(other) || mayStandAlone && other == byte
                let text = String(decoding: [other], as: UTF8.self)
                return isKept ? text : "%" + (other < 16 ? "0" : "") + String(other, radix: 16, uppercase: true)
            }
            #expect(try format.text(["k": .string(all)]) == "k=" + shown.joined(), "\(byte)")
            // The bytes of one beyond ASCII, each of which has the low bits of one that may be allowed.
            #expect(try format.text(["k": "\u{3000}\u{FFFD}"]) == "k=%E3%80%80%EF%BF%BD", "\(byte)")
        }
    }

    @Test("Only an object has pairs", arguments: [[1], 1, "a", nil, .date(Date())] as [ParameterValue])
    func notAnObject(value: ParameterValue) {
        let error = #expect(throws: ParameterEncodingError.self) { try FormFormat().text(value) }
        #expect(error?.reason == .notAnObject)
    }

    @Test("The order of declaration shows only when asked for")
    func order() throws {
        let value: ParameterValue = ["b": 1, "a": ["d": 1, "c": 2]]
        #expect(try FormFormat(nesting: .dots).text(value) == "a.c=2&a.d=1&b=1")
        #expect(try FormFormat(nesting: .dots, order: .declared).text(value) == "b=1&a.d=1&a.c=2")
    }

    @Test("Permuted parameters give the same bytes, in a query, a form and JSON")
    func permutations() throws {
        var random = Seeded(seed: 3)
        let members = (0..<20).map { ("k\($0)é", RandomTree.value(depth: 2, &random)) }
        let encodings: [ParameterEncoding] = [.query, .form, .json]
        let reference = try encodings.map { try $0.encode(.object(ParameterObject(members))) }
        for _ in 0..<50 {
            let shuffled = ParameterValue.object(ParameterObject(members.shuffled(using: &random)))
            #expect(try encodings.map { try $0.encode(shuffled) } == reference, "seed \(random.seed)")
        }
    }

    @Test("What is written is what a strict reader reads, for any tree")
    func fuzz() throws {
        var random = Seeded(seed: 99)
        for spaces in [FormFormat.Spaces.percent, .plus] {
            for _ in 0..<1500 {
                let object = RandomTree.object(depth: 3, &random)
                let format = FormFormat(arrays: .indexed, nulls: .literal, spaces: spaces)
                let text = try format.text(.object(object))
                let pairs = try #require(FormReader.pairs(text), "seed \(random.seed): \(text)")
                let expected = FormReader.flattened(.object(object), key: nil)
                #expect(
                    pairs.sorted(by: FormReader.Pair.precedes) == expected.sorted(by: FormReader.Pair.precedes),
                    "seed \(random.seed): \(text)")
            }
        }
    }
}

/// Reads a form as the URL Standard does, but refuses every byte that should have been escaped.
enum FormReader {
    struct Pair: Equatable {
        var key: [UInt8]
        var value: [UInt8]

        static func precedes(_ left: Pair, _ right: Pair) -> Bool {
            (left.key + [0] + left.value).lexicographicallyPrecedes(right.key + [0] + right.value)
        }
    }

    static func pairs(_ text: String) -> [Pair]? {
        guard !text.isEmpty else { return [] }
        var pairs: [Pair] = []
        for part in text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let sides = part.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard sides.count == 2, let key = decoded(sides[0]), let value = decoded(sides[1]) else { return nil }
            pairs.append(Pair(key: key, value: value))
        }
        return pairs
    }

    private static func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        let bytes = Array(text)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count,
                    let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
                else { return nil }
                output.append(byte)
                index += 2
            case UInt8(ascii: "+"): output.append(UInt8(ascii: " "))
            case let byte where Character(UnicodeScalar(byte)).isLetter && byte < 0x80: output.append(byte)
            case let byte where "0123456789-._~".utf8.contains(byte): output.append(byte)
            default: return nil
            }
            index += 1
        }
        return output
    }

    static func flattened(_ value: ParameterValue, key: String?) -> [Pair] {
        func single(_ text: String) -> [Pair] { [Pair(key: Array((key ?? "").utf8), value: Array(text.utf8))] }
        switch value {
        case .object(let object):
            return object.flatMap { member in
                flattened(member.value, key: key.map { "\($0)[\(member.key)]" } ?? member.key)
            }
        case .array(let array):
            return array.enumerated().flatMap { flattened($0.element, key: "\(key ?? "")[\($0.offset)]") }
        case .null: return single("null")
        case .bool(let flag): return single(flag ? "true" : "false")
        case .string(let text): return single(text)
        case .int(let number): return single("\(number)")
        case .uint(let number): return single("\(number)")
        case .double(let number):
            return single("\(number)".hasSuffix(".0") ? String("\(number)".dropLast(2)) : "\(number)")
        default: return []
        }
    }
}
