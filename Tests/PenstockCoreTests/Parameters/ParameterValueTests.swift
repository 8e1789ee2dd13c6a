import Foundation
import PenstockCore
import Testing

@Suite("ParameterValue: a tree of typed values")
struct ParameterValueTests {
    enum Sort: String, ParameterConvertible { case newest }

    @Test("Literals make trees")
    func literals() {
        let value: ParameterValue = [
            "account": "alice", "page": 2, "tags": ["a", 1, nil], "x": ["y": true, "z": 0.5],
        ]
        let expected = ParameterValue.object(
            ParameterObject([
                ("account", .string("alice")), ("page", .int(2)), ("tags", .array([.string("a"), .int(1), .null])),
                ("x", .object(ParameterObject([("y", .bool(true)), ("z", .double(0.5))]))),
            ]))
        #expect(value == expected)
        #expect(value.object?.keys == ["account", "page", "tags", "x"])
    }

    @Test("A dictionary of the usual types becomes an object, its keys sorted")
    func dictionaries() {
        let texts = ["b": "2", "a": "1", "c": "3"]
        #expect(ParameterObject(texts).keys == ["a", "b", "c"])
        #expect(ParameterObject(texts) == ["a": "1", "b": "2", "c": "3"])
        let optionals: [String: Int?] = ["a": 1, "b": .none]
        #expect(ParameterObject(optionals) == ["a": 1, "b": .null])
        let values: [String: JSONValue] = [
            "a": "x", "b": [1, nil, true, 0.5], "c": ["z": .uint(.max), "y": 1], "d": .null,
        ]
        let object = ParameterObject(values)
        #expect(object.keys == ["a", "b", "c", "d"])
        #expect(object["b"] == .array([.int(1), .null, .bool(true), .double(0.5)]))
        #expect(object["c"] == .object(ParameterObject([("y", .int(1)), ("z", .uint(.max))])))
        #expect(object["c"]?.object?.keys == ["y", "z"])
        #expect(object["d"] == .null)
    }

    @Test("Variables of the usual types stand in an object literal as they are")
    func variables() throws {
        let account = "alice"
        let page: Int? = nil
        let url = try #require(URL(string: "https://a/b"))
        let uuid = UUID()
        let object: ParameterObject = [
            "account": account, "page": page, "tags": ["a", "b"], "sort": Sort.newest, "big": UInt64.max, "url": url,
            "id": uuid, "date": Date(timeIntervalSince1970: 1), "data": Data([1]), "part": account.dropFirst(),
            "nested": ["k": 1], "any": ParameterValue.null, "f": Float(0.1), "d": Decimal(2), "flag": false,
        ]
        #expect(object["account"] == "alice")
        #expect(object["page"] == .null)
        #expect(object["tags"] == ["a", "b"])
        #expect(object["sort"] == "newest")
        #expect(object["big"] == .uint(.max))
        #expect(object["url"] == "https://a/b")
        #expect(object["id"] == .string(uuid.uuidString))
        #expect(object["date"] == .date(Date(timeIntervalSince1970: 1)))
        #expect(object["data"] == .data(Data([1])))
        #expect(object["part"] == "lice")
        #expect(object["nested"] == ["k": 1])
        #expect(object["f"] == 0.1)
        #expect(object["d"] == .decimal(2))
    }

    @Test("An object keeps declaration order, and equality does not depend on it")
    func order() {
        var object: ParameterObject = ["b": 1, "a": 2, "c": 3]
        #expect(object.keys == ["b", "a", "c"])
        object["a"] = 9
        object["b"] = nil
        object["b"] = 1
        #expect(object.keys == ["a", "c", "b"])
        #expect(object == ["b": 1, "c": 3, "a": 9])
        #expect(object.hashValue == (["b": 1, "c": 3, "a": 9] as ParameterObject).hashValue)
        object["c"] = .some(.null)
        #expect(object["c"] == .null && object.count == 3)
        let doubled: ParameterObject = ["a": 1, "a": 2]
        #expect(doubled.keys == ["a"] && doubled["a"] == 2)
    }

    @Test("An object behaves alike whatever its size", arguments: [1, 7, 8, 9, 10, 200])
    func sizes(size: Int) {
        let names = (0..<size).map { "k\($0)" }
        var object = ParameterObject(names.map { ($0, .string($0)) })
        #expect(object.keys == names)
        #expect(names.allSatisfy { object[$0] == .string($0) })
        #expect(object == ParameterObject(names.reversed().map { ($0, .string($0)) }))
        object["k0"] = 7
        #expect(object != ParameterObject(names.map { ($0, .string($0)) }))
        #expect(object["k0"] == 7 && object.count == size)
        object["k0"] = nil
        #expect(object["k0"] == nil && object.keys == Array(names.dropFirst()))
        #expect(names.dropFirst().allSatisfy { object[$0] == .string($0) })
        object["absent"] = nil
        object["k0"] = 8
        #expect(object.keys.last == "k0" && object.count == size)
        let merged = (["k0": 1, "own": 2] as ParameterObject).merging(over: object)
        #expect(merged["k0"] == 1 && merged.count == size + 1)
        #expect(merged.keys.allSatisfy { merged[$0] != nil })
    }

    @Test("Members are found by their keys after they have been put in order", arguments: [8, 9, 30])
    func sortedKeys(size: Int) throws {
        let names = (0..<size).map { "k\($0 * 7 % size)é\($0)" }
        let sorted = try #require(
            ParameterEncoder().encode(Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })).object)
        #expect(sorted.keys == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for name in names { #expect(sorted[name] == .string(name)) }
        #expect(sorted["k"] == nil)
    }

    @Test("Objects that differ in a key or in a value are told apart by their hashes")
    func hashes() {
        let objects: [ParameterObject] = [
            [:], ["a": 1], ["a": 2], ["b": 1], ["a": 1, "b": 2], ["a": 2, "b": 1], ["a": nil], ["a": "1"],
        ]
        #expect(Set(objects.map(\.hashValue)).count == objects.count)
        #expect(Set(objects).count == objects.count)
    }

    @Test("An object that lost members until it is small again has the others", arguments: [9, 10, 12])
    func shrinking(size: Int) {
        let names = (0..<size).map { "k\($0)" }
        var object = ParameterObject(names.map { ($0, .string($0)) })
        for (index, name) in names.enumerated().reversed() {
            object[name] = nil
            #expect(object.keys == Array(names.prefix(index)) && object[name] == nil)
            #expect(names.prefix(index).allSatisfy { object[$0] == .string($0) })
        }
        for name in names { object[name] = 1 }
        #expect(object.keys == names && names.allSatisfy { object[$0] == 1 })
    }

    @Test("An integer keeps all its digits")
    func integers() {
        #expect(ParameterValue(Int8.min) == .int(-128))
        #expect(ParameterValue(UInt64(Int64.max)) == .int(.max))
        #expect(ParameterValue(UInt64.max) == .uint(.max))
    }
}

@Suite("ParameterLayers: the nearest to the call wins")
struct ParameterLayersTests {
    @Test("Precedence is call, endpoint, service, client for every set of layers")
    func precedence() throws {
        for mask in 1..<16 {
            func layer(_ bit: Int, _ name: String) -> ParameterObject {
                mask & bit == 0 ? [:] : ["key": name, name: true]
            }
            let endpoint = layer(4, "endpoint")
            let layers = ParameterLayers(
                call: layer(8, "call"), endpoint: endpoint.isEmpty ? nil : .object(endpoint),
                service: layer(2, "service"), client: layer(1, "client"))
            let merged = try #require(try layers.merged()?.object)
            let present = ["call", "endpoint", "service", "client"].enumerated()
                .filter { mask & (8 >> $0.offset) != 0 }.map(\.element)
            #expect(merged["key"] == present.first.map { .string($0) }, "layers \(present)")
            #expect(Set(merged.keys) == Set(present + ["key"]), "layers \(present)")
        }
    }

    @Test("A null nearer to the call wins over a value")
    func nulls() throws {
        let layers = ParameterLayers(endpoint: ["token": nil], client: ["token": "t", "lang": "en"])
        let merged = try #require(try layers.merged())
        #expect(merged == ["token": nil, "lang": "en"])
        #expect(try FormFormat().text(merged) == "lang=en")
        #expect(try JSONFormat().text(merged) == #"{"lang":"en","token":null}"#)
    }

    @Test("Values are replaced whole, not merged into each other")
    func shallow() throws {
        let layers = ParameterLayers(call: ["f": ParameterObject([("a", 1)])], endpoint: ["f": ["b": 2]])
        #expect(try layers.merged() == ["f": ["a": 1]])
    }

    @Test("A list stays as it is when it is alone, and is an error beside common parameters")
    func lists() throws {
        #expect(try ParameterLayers(endpoint: [1, 2]).merged() == [1, 2])
        #expect(try ParameterLayers().merged() == nil)
        #expect(try ParameterLayers(endpoint: [:]).merged() == [:])
        for layers in [
            ParameterLayers(endpoint: [1], client: ["a": 1]), ParameterLayers(endpoint: [1], service: ["a": 1]),
            ParameterLayers(call: ["a": 1], endpoint: "text"),
        ] {
            let error = #expect(throws: ParameterEncodingError.self) { try layers.merged() }
            #expect(error?.reason == .notAnObject)
        }
    }

    @Test("In a literal, nil and .null are nothing, beside variables that may hold nothing")
    func nullsInLiterals() throws {
        let (none, some, name): (Int?, Int?, String) = (nil, 4, "tea")
        let object: ParameterObject = [
            "a": nil, "b": .null, "c": none, "d": some, "e": name, "f": [1, 2], "g": ParameterValue.int(3),
            "h": ParameterValue.null,
        ]
        #expect(
            try JSONFormat().text(.object(object))
                == #"{"a":null,"b":null,"c":null,"d":4,"e":"tea","f":[1,2],"g":3,"h":null}"#)
    }
}
