import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)), .covers("S0.20")) struct DefaultTests {
    enum NotGiven: DefaultValue { static let value = "n/a" }

    struct Item: Codable, Hashable, Sendable {
        let id: Int
        @Default<Zero> var stock: Int
        @Default<Zero> var weight: Double
        @Default<False> var sold: Bool
        @Default<True> var visible: Bool
        @Default<Empty> var tags: [String]
        @Default<Empty> var sizes: [String: Int]
        @Default<Empty> var text: String
        @Default<NotGiven> var maker: String
    }

    static let plain = Item(
        id: 1, stock: 0, weight: 0, sold: false, visible: true, tags: [], sizes: [:], text: "", maker: "n/a")
    static let fields = ["stock", "weight", "sold", "visible", "tags", "sizes", "text", "maker"]

    @Test func `an absent field takes the property's default`() throws {
        let decoded = try decode(#"{"retcode":0,"data":{"id":1}}"#, as: ResponseDecoding<Item>.json)
        #expect(decoded.value == Self.plain)
        #expect(Set(decoded.notes) == Set(Self.fields.map { DecodingNote(path: "data.\($0)", reason: .absent) }))
    }

    @Test func `a null field takes the property's default`() throws {
        let nulls = Self.fields.map { "\"\($0)\":null" }.joined(separator: ",")
        let decoded = try decode(#"{"retcode":0,"data":{"id":1,\#(nulls)}}"#, as: ResponseDecoding<Item>.json)
        #expect(decoded.value == Self.plain)
        #expect(decoded.notes.allSatisfy { $0.reason == .null })
        #expect(decoded.notes.count == Self.fields.count)
    }

    @Test func `a call records what was replaced in its response, and tells of it as it happens`() async throws {
        struct GetItem: Endpoint {
            typealias Output = Item
            var route: Route { .get("/item") }
        }
        let recorder = EventRecorder()
        let rig = Rig {
            $0.sinks = [recorder]
            $0.options.modelFormat = DecodingOptions(wrongTypes: .useDefault)
        } answering: { _ in
            .json(#"{"retcode":0,"data":{"id":1,"stock":null,"weight":"heavy","sold":false,"visible":true,"tags":[]}}"#)
        }
        let response = try await rig.client.response(for: GetItem())
        #expect(response.value == Self.plain)
        let expected: [DecodingNote] = [
            .init(path: "data.stock", reason: .null), .init(path: "data.weight", reason: .wrongType("not Double")),
            .init(path: "data.sizes", reason: .absent), .init(path: "data.text", reason: .absent),
            .init(path: "data.maker", reason: .absent),
        ]
        #expect(Set(response.notes) == Set(expected))
        #expect(response.notes.count == expected.count)
        let told = recorder.records.compactMap { record in
            if case .defaultUsed(let path) = record.event { path } else { nil }
        }
        #expect(told == response.notes.map(\.path))
    }

    @Test func `an output that the app's own code makes has its defaults recorded as well`() async throws {
        struct GetItems: Endpoint {
            typealias Output = Int
            var route: Route { .get("/items") }
            var decoding: ResponseDecoding<Int> {
                .custom { payload in
                    _ = try? payload.value([Item].self, at: "items.broken")  // of what failed nothing was used
                    return try payload.value([Item].self, at: "items.all").count
                }
            }
        }
        let recorder = EventRecorder()
        let rig = Rig {
            $0.sinks = [recorder]
        } answering: { _ in
            let item = #"{"id":1,"stock":null,"weight":1,"sold":false,"visible":true,"tags":[],"sizes":{},"text":""}"#
            return .json(#"{"retcode":0,"data":{"items":{"broken":[\#(item),{}],"all":[\#(item)]}}}"#)
        }
        let response = try await rig.client.response(for: GetItems())
        #expect(response.value == 1)
        let expected: [DecodingNote] = [
            .init(path: "data.items.all[0].stock", reason: .null),
            .init(path: "data.items.all[0].maker", reason: .absent),
        ]
        #expect(response.notes == expected)
        let told = recorder.records.compactMap { record in
            if case .defaultUsed(let path) = record.event { path } else { nil }
        }
        #expect(told == expected.map(\.path))
    }

    @Test func `the notes of an output that the app's own code makes are bounded`() throws {
        let body = "[" + Array(repeating: #"{"id":1}"#, count: 200).joined(separator: ",") + "]"
        let twice = ResponseDecoding<Int>.custom { payload in
            try payload.value([Item].self).count + payload.value([Item].self).count
        }
        let decoded = try decode(body, as: twice, envelope: nil)
        #expect(decoded.value == 400)
        #expect(decoded.notes.count == 100)
    }

    @Test func `a field that is there wins over the default, and nothing is noted`() throws {
        let full = Item(
            id: 2, stock: 3, weight: 0.5, sold: true, visible: false, tags: ["a"], sizes: ["m": 1], text: "t",
            maker: "m")
        let data = try JSONEncoder().encode(full)
        let decoded = try ResponseDecoding<Item>.json.open(Payload(data), envelope: nil).decoded()
        #expect(decoded.value == full)
        #expect(decoded.notes.isEmpty)
    }

    @Test func `a wrong type fails the decoding unless the policy says otherwise`() {
        #expect(
            kind { () throws(APIError) in
                try decode(#"{"retcode":0,"data":{"id":1,"stock":"many"}}"#, as: ResponseDecoding<Item>.json)
            } == .decoding(path: "data.stock", reason: "not Int"))
    }

    @Test func `by policy a wrong type takes the default and is noted without its value`() throws {
        let body = #"{"retcode":0,"data":[{"id":1,"stock":"hunter2","tags":[1],"weight":1e999}]}"#
        let options = DecodingOptions(wrongTypes: .useDefault)
        let decoded = try decode(body, as: ResponseDecoding<[Item]>.json, options: options)
        #expect(decoded.value == [Self.plain])
        let wrong = decoded.notes.filter { if case .wrongType = $0.reason { true } else { false } }
        #expect(wrong.map(\.path).sorted() == ["data[0].stock", "data[0].tags", "data[0].weight"])
        #expect(wrong.contains(DecodingNote(path: "data[0].stock", reason: .wrongType("not Int"))))
        #expect(!"\(decoded.notes)".contains("hunter2"))
    }

    @Test func `a field without a default still fails under the lenient policy`() {
        let options = DecodingOptions(wrongTypes: .useDefault)
        #expect(
            kind { () throws(APIError) in
                try decode(#"{"id":"x"}"#, as: ResponseDecoding<Item>.json, envelope: nil, options: options)
            } == .decoding(path: "id", reason: "not Int"))
    }

    @Test func `the notes of a long list are bounded`() throws {
        let body = "[" + Array(repeating: #"{"id":1}"#, count: 200).joined(separator: ",") + "]"
        let decoded = try decode(body, as: ResponseDecoding<[Item]>.json, envelope: nil)
        #expect(decoded.value.count == 200)
        #expect(decoded.notes.count == 100)
    }

    @Test func `the wrapper works under any decoder and leaves no trace in the encoding`() throws {
        let item = try JSONDecoder().decode(Item.self, from: Data(#"{"id":1}"#.utf8))
        #expect(item == Self.plain)
        let encoded = try Payload(JSONEncoder().encode(item)).json()
        #expect(encoded["stock"] == 0)
        #expect(encoded["maker"] == "n/a")
    }
}
