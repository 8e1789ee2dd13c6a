import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite("ParameterEncoder: any Encodable becomes the same tree on every run")
struct ParameterEncoderTests {
    struct Search: Encodable {
        var text = "red wine"
        var page = 2
        var price: Double? = nil
        var tags = ["b", "a"]
        var filter = Filter()
    }

    struct Filter: Encodable {
        var since = Date(timeIntervalSince1970: 60)
        var token = Data([0, 255])
        var limit = Decimal(string: "0.10") ?? 0
        var home = URL(string: "https://a/b")
        var big = UInt64.max
        var small = Int8(-3)
        var half = Float(0.1)
        var flag = true
    }

    let encoder = ParameterEncoder()

    @Test("Structs become objects whose special values stay typed")
    func structs() throws {
        let tree = try encoder.encode(Search())
        #expect(tree.object?.keys == ["text", "page", "tags", "filter"])
        #expect(tree.object?["tags"] == ["b", "a"])
        let filter = try #require(tree.object?["filter"]?.object)
        #expect(filter["since"] == .date(Date(timeIntervalSince1970: 60)))
        #expect(filter["token"] == .data(Data([0, 255])))
        #expect(filter["limit"] == .decimal(Decimal(string: "0.10") ?? 0))
        #expect(filter["home"] == "https://a/b")
        #expect(filter["big"] == .uint(.max))
        #expect(filter["small"] == -3)
        #expect(filter["half"] == 0.1)
        #expect(filter["flag"] == true)
    }

    @Test("A nil property is absent, or null when asked")
    func nilProperties() throws {
        #expect(try encoder.encode(Search()).object?["price"] == nil)
        let explicit = ParameterEncoder(nilProperties: .null)
        #expect(try explicit.encode(Search()).object?["price"] == .null)
        #expect(try explicit.encode(Optionals()).object?.count == 4)
        #expect(try explicit.encode(Optionals()).object?.allSatisfy(\.value.isNull) == true)
        #expect(try encoder.encode(Optionals()) == [:])
    }

    struct Optionals: Encodable {
        var a: Int?
        var b: String?
        var c: Date?
        var d: [Int]?
    }

    @Test("Values that are no objects are kept")
    func scalars() throws {
        #expect(try encoder.encode(1) == 1)
        #expect(try encoder.encode("a") == "a")
        #expect(try encoder.encode([1, 2]) == [1, 2])
        #expect(try encoder.encode([[1], []]) == [[1], []])
        #expect(try encoder.encode(Int?.none) == .null)
        #expect(try encoder.encode([1, nil]) == [1, nil])
        #expect(try encoder.encode([Int8(1)]) == [1])
        #expect(try encoder.encode([UInt64.max]) == .array([.uint(.max)]))
        #expect(try encoder.encode(Date(timeIntervalSince1970: 0)) == .date(Date(timeIntervalSince1970: 0)))
        #expect(try encoder.encode([Data?.some(Data([1])), nil]) == .array([.data(Data([1])), .null]))
        #expect(
            try encoder.encode(["a": Date(timeIntervalSince1970: 0)]).object?["a"]
                == .date(.init(timeIntervalSince1970: 0)))
    }

    @Test("Trees pass through, alone and as properties")
    func trees() throws {
        struct Holder: Encodable {
            var extra: ParameterValue = ["d": [1, nil]]
            var more: ParameterObject = ["z": 1, "a": 2]
        }
        #expect(try encoder.encode(["a": 1] as ParameterValue) == ["a": 1])
        let tree = try encoder.encode(Holder())
        #expect(tree == ["extra": ["d": [1, nil]], "more": ["z": 1, "a": 2]])
        #expect(tree.object?["more"]?.object?.keys == ["z", "a"])
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Holder())) as? [String: Any]
        #expect((json?["more"] as? [String: Int]) == ["z": 1, "a": 2])
    }

    @Test("Sets and dictionaries come in an order of their own content")
    func unordered() throws {
        #expect(try encoder.encode(Set(["b", "c", "a"])) == ["a", "b", "c"])
        #expect(try encoder.encode(Set([10, 9, -1])) == [-1, 9, 10])
        let tree = try encoder.encode(["b": 1, "a": 2, "c": 3, "d": 4])
        #expect(tree.object?.keys == ["a", "b", "c", "d"])
        let many = (10..<40).map { "k\($0)" }
        let values = many.map { ParameterValue.string($0) }
        #expect(try encoder.encode(Set(many)) == .array(values))
        let counted = Dictionary(uniqueKeysWithValues: many.map { ($0, $0) })
        #expect(try encoder.encode(counted).object?.keys == many)
        #expect(counted.parameterValue.object?.keys == many)
        #expect(try encoder.encode([2: "b", 1: "a"]).object?.keys == ["1", "2"])
        struct Key: Hashable, Encodable { var k: String }
        let pairs = try encoder.encode([Key(k: "y"): 2, Key(k: "x"): 1])
        #expect(pairs == [["k": "x"], 1, ["k": "y"], 2])
    }

    /// Writes itself as what it holds, by its own encoder, as wrappers of other libraries do.
    struct Wrapped<Value: Encodable>: Encodable {
        var value: Value
        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    /// Hands what it holds on as a value.
    struct Handed<Value: Encodable>: Encodable {
        var value: Value
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    enum Shelf: String, CaseIterable, CodingKeyRepresentable, Encodable {
        case a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t
    }

    @Test("A dictionary is ordered also where a type writes itself as one, whatever its keys", .covers("S0.4"))
    func wrappedDictionaries() throws {
        let names = Shelf.allCases.map(\.rawValue)
        let declared = JSONFormat(order: .declared)
        let texts = try declared.text(
            encoder.encode(Wrapped(value: Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))))
        let expected = "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(texts == expected)
        let shelves = Wrapped(value: Wrapped(value: Dictionary(uniqueKeysWithValues: Shelf.allCases.map { ($0, 1) })))
        #expect(try declared.text(encoder.encode(["w": shelves])) == "{\"w\":\(expected)}")
        let numbers = Wrapped(value: Dictionary(uniqueKeysWithValues: (10..<30).map { ($0, 1) }))
        #expect(try encoder.encode(numbers).object?.keys == (10..<30).map(String.init))
        struct Declared: Encodable { var b = 1, a = 2 }
        #expect(try encoder.encode(Wrapped(value: Declared())).object?.keys == ["b", "a"])
    }

    @Test(
        "A type that hands its set on as a value has it ordered, and one that writes a list of its own keeps its order",
        .covers("S0.4"))
    func handedSets() throws {
        struct Key: Hashable, Encodable { var k: Int }
        let values = (10..<30).map { ParameterValue.string("t\($0)") }
        let tags = Set((10..<30).map { "t\($0)" })
        #expect(try encoder.encode(Handed(value: tags)) == .array(values))
        #expect(try encoder.encode(Handed(value: Handed(value: tags))) == .array(values))
        let flat = try encoder.encode(
            Handed(value: Dictionary(uniqueKeysWithValues: (10..<30).map { (Key(k: $0), $0) })))
        #expect(flat == .array((10..<30).flatMap { [["k": .int($0)], .int($0)] as [ParameterValue] }))
        struct Ranked: Encodable {
            var tags: Set<String>
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                for tag in tags.sorted(by: >) { try list.encode(tag) }
            }
        }
        #expect(try encoder.encode(Ranked(tags: tags)) == .array(values.reversed()))
    }

    @Test("Dates of a set come in their order, and what holds dates in one that depends on all of their fractions")
    func unorderedDates() throws {
        let dates = (-8..<56).map { Date(timeIntervalSince1970: Double($0) / 64) }
        #expect(try encoder.encode(Set(dates)) == .array(dates.map { .date($0) }))
        let distant = [Date(timeIntervalSince1970: -1e12), Date(timeIntervalSince1970: 1e12)]
        #expect(try encoder.encode(Set(distant)) == .array(distant.map { .date($0) }))
        struct Visit: Hashable, Encodable { var at: Date }
        let visits = stride(from: 65, to: 128, by: 2).map { Visit(at: Date(timeIntervalSince1970: $0 / 64)) }
        #expect(try encoder.encode(Set(visits)) == .array(visits.map { ["at": .date($0.at)] }))
    }

    @Test("Nested containers and super encoders write into their places")
    func nested() throws {
        #expect(
            try encoder.encode(Manual()) == [
                "inner": ["a": 1, "b": 2], "list": [1, ["k": true], [nil], "s"], "super": ["s": 1], "named": [7],
            ])
    }

    struct Manual: Encodable {
        enum Key: String, CodingKey { case inner, list, named, a, b, k, s }

        func encode(to encoder: any Encoder) throws {
            var root = encoder.container(keyedBy: Key.self)
            var first = root.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try first.encode(1, forKey: .a)
            var second = root.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try second.encode(2, forKey: .b)
            var list = root.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            var object = list.nestedContainer(keyedBy: Key.self)
            var inner = list.nestedUnkeyedContainer()
            try inner.encodeNil()
            try object.encode(true, forKey: .k)
            var element = list.superEncoder().singleValueContainer()
            try element.encode("s")
            var base = root.superEncoder().container(keyedBy: Key.self)
            try base.encode(1, forKey: .s)
            var named = root.superEncoder(forKey: .named).unkeyedContainer()
            try named.encode(7)
        }
    }

    @Test("A class and its superclass share one object")
    func inheritance() throws {
        class Base: Encodable {
            let id = 1
        }
        final class Derived: Base {
            let name = "n"
            enum Key: String, CodingKey { case name }
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(name, forKey: .name)
            }
        }
        #expect(try encoder.encode(Derived()) == ["id": 1, "name": "n"])
    }

    @Test("A type that encodes nothing gives an empty object")
    func nothing() throws {
        struct Empty: Encodable {}
        struct Silent: Encodable { func encode(to encoder: any Encoder) {} }
        #expect(try encoder.encode(Empty()) == [:])
        #expect(try encoder.encode(["a": Silent()]) == ["a": [:]])
    }

    @Test("User information reaches encode(to:)")
    func userInfo() throws {
        struct Reader: Encodable {
            static var key: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "k") }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(Self.key.flatMap { encoder.userInfo[$0] as? String } ?? "none")
            }
        }
        let key = try #require(Reader.key)
        #expect(try ParameterEncoder(userInfo: [key: "v"]).encode([Reader()]) == ["v"])
    }

    @Test("An error of the type carries the path and not the value")
    func failures() throws {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    "hunter2", .init(codingPath: encoder.codingPath, debugDescription: "hunter2"))
            }
        }
        struct Plain: Encodable { func encode(to encoder: any Encoder) throws { throw CocoaError(.fileNoSuchFile) } }
        let error = #expect(throws: ParameterEncodingError.self) { try encoder.encode(["a": [1: Failing()]]) }
        #expect(error?.reason == .custom)
        #expect(error?.path == ["a", "1"])
        #expect(error?.description.contains("hunter2") == false)
        let plain = #expect(throws: ParameterEncodingError.self) { try encoder.encode(["a": [Plain()]]) }
        #expect(plain?.path == ["a", "0"])
        #expect(plain?.underlying is CocoaError)
    }

    @Test("Two kinds of container for one value are an error")
    func conflicts() throws {
        struct Torn: Encodable {
            func encode(to encoder: any Encoder) throws {
                _ = encoder.unkeyedContainer()
                var single = encoder.singleValueContainer()
                try single.encode(1)
            }
        }
        let error = #expect(throws: ParameterEncodingError.self) { try encoder.encode(["x": Torn()]) }
        #expect(error?.reason == .conflictingContainers)
        #expect(error?.path == ["x"])
    }

    @Test("Endless nesting is an error, not a crash")
    func depth() throws {
        struct Endless: Encodable {
            var next: Endless2 { Endless2() }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(Endless2())
            }
        }
        struct Endless2: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(Endless())
            }
        }
        let error = #expect(throws: ParameterEncodingError.self) { try encoder.encode(Endless()) }
        #expect(error?.reason == .tooDeep)
        var tree: ParameterValue = 1
        for _ in 0..<200 { tree = ["k": tree] }
        #expect(throws: ParameterEncodingError.self) { try JSONFormat().text(tree) }
        #expect(throws: ParameterEncodingError.self) { try FormFormat().text(tree) }
    }

    static let nestings: [@Sendable (ParameterValue) -> ParameterValue] = [{ ["k": $0] }, { [$0] }]
    static let formats: [@Sendable (ParameterValue) throws -> String] = [
        { try JSONFormat().text($0) }, { try FormFormat().text($0) },
    ]

    @Test("128 objects or arrays may be in one another and no more", arguments: nestings, formats)
    func deepest(
        nest: @Sendable (ParameterValue) -> ParameterValue,
        write: @Sendable (ParameterValue) throws -> String
    ) throws {
        // The object around it is one of them.
        let deepest = (0..<127).reduce(1) { tree, _ in nest(tree) }
        #expect(try !write(["first": deepest]).isEmpty)
        let error = #expect(throws: ParameterEncodingError.self) { try write(["first": nest(deepest)]) }
        #expect(error?.reason == .tooDeep)
        #expect(error?.path.count == 128)
    }
}
