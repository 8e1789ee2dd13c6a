import Foundation
import PenstockCore
import PenstockTestSupport
import Testing

@Suite(.covers("S0.2")) struct MissingDataTests {
    struct AllDefaults: Codable, Hashable, Sendable {
        @Default<Empty> var tags: [String]
        var note: String?
    }

    static let empties = [#"{"retcode":0}"#, #"{"retcode":0,"data":null}"#, #"{"retcode":0,"data":{}}"#]

    @Test(arguments: empties)
    func `nothing, optionals and all-default types accept data that is absent, null or empty`(body: String) throws {
        try decode(body, as: ResponseDecoding<Void>.nothing).value
        #expect(try decode(body, as: ResponseDecoding<Product?>.json).value == nil)
        #expect(try decode(body, as: ResponseDecoding<AllDefaults>.json).value == AllDefaults(tags: [], note: nil))
    }

    @Test func `what takes all its defaults is noted once where its data is missing, and by field where it is empty`()
        throws
    {
        let notes = try Self.empties.map { try decode($0, as: ResponseDecoding<AllDefaults>.json).notes }
        let paths = ["data", "data", "data.tags"]
        #expect(notes == paths.map { [DecodingNote(path: $0, reason: .absent)] })
        #expect(try Self.empties.allSatisfy { try decode($0, as: ResponseDecoding<Product?>.json).notes.isEmpty })
    }

    @Test(arguments: [#"{"retcode":0}"#, #"{"retcode":0,"data":null}"#])
    func `for any other type missing data is a decoding error at the data key`(body: String) {
        #expect(
            kind { () throws(APIError) in try decode(body, as: ResponseDecoding<Product>.json) }
                == .decoding(path: "data", reason: "nothing where Product is required"))
        #expect(
            kind { () throws(APIError) in try decode(body, as: ResponseDecoding<[Product]>.json) }
                == .decoding(path: "data", reason: "nothing where Array<Product> is required"))
    }

    @Test func `an empty object in place of a required value names the field that is absent`() {
        #expect(
            kind { () throws(APIError) in try decode(Self.empties[2], as: ResponseDecoding<Product>.json) }
                == .decoding(path: "data.id", reason: "a required field is absent"))
    }

    @Test func `optional data that is there but broken is an error, not nil`() {
        let body = #"{"retcode":0,"data":{"id":"x","name":"tap"}}"#
        #expect(
            kind { () throws(APIError) in try decode(body, as: ResponseDecoding<Product?>.json) }
                == .decoding(path: "data.id", reason: "not Int"))
        for data in ["\"x\"", "[]", "true"] {
            let kind = kind { () throws(APIError) in
                try decode(#"{"retcode":0,"data":\#(data)}"#, as: ResponseDecoding<Int?>.json)
            }
            #expect(kind == .decoding(path: "data", reason: "not Int"))
        }
    }

    /// Foundation's decoder as the app's own.
    struct Own: ModelDecoder {
        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try JSONDecoder().decode(type, from: data)
        }
    }

    @Test func `the app's own decoder reads whole bodies, and an empty one is nothing to it`() throws {
        let options = DecodingOptions(decoder: Own())
        func read(_ body: String, at path: String = "") throws(APIError) -> Int? {
            try decode(body, as: ResponseDecoding<Int?>.json(at: path), envelope: nil, options: options).value
        }
        #expect(try read("7") == 7)
        #expect(try read("") == nil)
        #expect(kind { () throws(APIError) in try read("\"x\"") }?.name == "decoding")
        #expect(kind { () throws(APIError) in try read(#"{"a":7}"#, at: "a") }?.name == "invalidConfiguration")
        let enveloped = kind { () throws(APIError) in
            try decode(#"{"retcode":0,"data":7}"#, as: ResponseDecoding<Int?>.json, options: options)
        }
        #expect(enveloped?.name == "invalidConfiguration")
        #expect(
            kind { () throws(APIError) in
                try decode("", as: ResponseDecoding<Int>.json, envelope: nil, options: options)
            }?.name == "decoding")
    }

    @Test func `an empty body is nil for an optional, an error for a value, and no envelope`() throws {
        #expect(try decode("", as: ResponseDecoding<Product?>.json, envelope: nil).value == nil)
        #expect(
            kind { () throws(APIError) in try decode("", as: ResponseDecoding<AllDefaults>.json, envelope: nil) }
                == .decoding(path: "", reason: "the body is empty"))
        try decode("", as: ResponseDecoding<Void>.nothing, envelope: nil).value
        #expect(
            kind { () throws(APIError) in try decode("", as: ResponseDecoding<Void>.nothing) }
                == .malformedEnvelope(reason: "the body is empty"))
    }
}
