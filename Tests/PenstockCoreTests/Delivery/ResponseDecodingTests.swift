import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct ResponseDecodingTests {
    @Test(
        .covers("S4.7"),
        arguments: [("true", JSONValue.bool(true)), ("\"x\"", "x"), ("1", 1), ("null", nil), ("-0.5", -0.5)])
    func `fragments decode`(body: String, value: JSONValue) throws {
        #expect(try decode(body, as: ResponseDecoding<JSONValue>.json, envelope: nil).value == value)
        let enveloped = #"{"retcode":0,"data":\#(body)}"#
        #expect(try decode(enveloped, as: ResponseDecoding<JSONValue>.json).value == value)
    }

    @Test(.covers("S4.7")) func `a fragment becomes the type it is asked for`() throws {
        #expect(try decode("true", as: ResponseDecoding<Bool>.json, envelope: nil).value)
        #expect(try decode("\"x\"", as: ResponseDecoding<String>.json, envelope: nil).value == "x")
        #expect(try decode("1", as: ResponseDecoding<Int>.json, envelope: nil).value == 1)
    }

    @Test func `a path below the data key is followed through keys and indices`() throws {
        let body = #"{"retcode":0,"data":{"pages":[{"items":[]},{"items":[{"id":5,"name":"weir"}]}]}}"#
        let decoded = try decode(body, as: ResponseDecoding<[Product]>.json(at: "pages[1].items"))
        #expect(decoded.value == [Product(id: 5, name: "weir")])
    }

    @Test(arguments: [("items[0]", 1), ("items[1]", 2), ("items[2]", nil), ("none[0]", nil)])
    func `behind the last element of an array is nothing`(path: String, value: Int?) throws {
        let body = #"{"retcode":0,"data":{"items":[1,2]}}"#
        #expect(try decode(body, as: ResponseDecoding<Int?>.json(at: path)).value == value)
    }

    // MARK: Bytes under an envelope

    static let business = APIError.Kind.business(code: 1001, message: "gone")
    static let refusal = #"{"retcode":1001,"retdesc":"gone"}"#

    private func bytes(_ body: String, _ type: String?, _ envelope: Envelope? = .retcode) throws(APIError) -> Data {
        let payload = Payload(Data(body.utf8), contentType: type)
        return try ResponseDecoding<Data>.data.open(payload, envelope: envelope).decoded().value
    }

    @Test(arguments: [
        "application/json", "Application/JSON; charset=utf-8", "application/problem+json", "text/json",
        "application/json, application/json", "application/json,text/plain", "text/json; charset=utf-8, text/json",
    ])
    func `no refusal in the envelope passes for the bytes that were asked for`(type: String) throws {
        let error = #expect(throws: APIError.self) { try bytes(Self.refusal, type) }
        #expect(error?.kind == Self.business)
        #expect(error?.stage == .envelope)
    }

    @Test(
        arguments: [
            (refusal, "image/png", .retcode), (refusal, nil, .retcode), (refusal, "application/json", nil),
            (#"{"retcode":0,"data":1}"#, "application/json", .retcode), ("[1]", "application/json", .retcode),
            (#"{"retcode""#, "application/json", .retcode), ("", "application/json", .retcode),
        ] as [(String, String?, Envelope?)])
    func `all else is the bytes as they came`(body: String, type: String?, envelope: Envelope?) throws {
        #expect(try bytes(body, type, envelope) == Data(body.utf8))
    }

    @Test func `bytes and numbers that JSON has no form for are read as the options say`() throws {
        let plain = DecodingOptions()
        let own = DecodingOptions(
            data: .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) },
            nonConformingFloats: .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan"))
        let (bytes, numbers) = (#"["YWI="]"#, #"["inf","-inf",1]"#)
        func data(_ options: DecodingOptions) throws -> [Data] {
            try decode(bytes, as: ResponseDecoding<[Data]>.json, envelope: nil, options: options).value
        }
        func doubles(_ options: DecodingOptions) throws -> [Double] {
            try decode(numbers, as: ResponseDecoding<[Double]>.json, envelope: nil, options: options).value
        }
        #expect(try data(plain) == [Data("ab".utf8)])
        #expect(try data(own) == [Data("YWI=".utf8)])
        #expect(throws: APIError.self) { try doubles(plain) }
        #expect(try doubles(own) == [.infinity, -.infinity, 1])
    }

    @Test(arguments: [Envelope.retcode, nil])
    func `a payload decodes as the call does`(envelope: Envelope?) throws {
        struct Model: Decodable, Sendable { let oneTwo: Int }
        let options = DecodingOptions(keys: .convertFromSnakeCase)
        let body = envelope == nil ? #"{"one_two":1}"# : #"{"retcode":0,"data":{"one_two":1}}"#
        let payload = try decode(body, as: ResponseDecoding<Payload>.payload, envelope: envelope, options: options)
            .value
        #expect(try payload.value(Model.self).oneTwo == 1)
        #expect("\(payload)" == (envelope == nil ? "13 bytes" : "34 bytes at data"))
    }

    @Test func `the place of a value that is none is told as the document has it`() {
        let options = DecodingOptions(keys: .convertFromSnakeCase)
        let kind = kind { () throws(APIError) in
            try decode(
                #"{"retcode":0,"data":{"some_part":"x"}}"#, as: ResponseDecoding<Int>.json(at: "some_part"),
                options: options)
        }
        #expect(kind == .decoding(path: "data.some_part", reason: "not Int"))
    }

    @Test(.covers("S4.6")) func `a decoding error carries the whole path and no value`() throws {
        struct Item: Decodable, Sendable { let price: Int }
        struct Page: Decodable, Sendable { let items: [Item] }
        let body = #"{"retcode":0,"data":{"items":[{"price":1},{"price":"hunter2"}]}}"#
        let failure = try #require(
            error { () throws(APIError) in try decode(body, as: ResponseDecoding<Page>.json) })
        #expect(failure.kind == .decoding(path: "data.items[1].price", reason: "not Int"))
        #expect(failure.stage == .decoding)
        #expect(!failure.description.contains("hunter2"))
    }

    @Test(arguments: [
        (#"{"a":"purple"}"#, "data.a", "no valid value"), (#"[1]"#, "data", "not Dictionary<String, Any>"),
        (#"7"#, "data", "not Dictionary<String, Any>"), (#"{"a":null}"#, "data.a", "nothing where String is required"),
    ])
    func `each way of being wrong has its place and reason`(data: String, path: String, reason: String) throws {
        enum Colour: String, Decodable { case red }
        struct Model: Decodable, Sendable { let a: Colour }
        let failed = kind { () throws(APIError) in
            try decode(#"{"retcode":0,"data":\#(data)}"#, as: ResponseDecoding<Model>.json)
        }
        guard case .decoding(path, let found)? = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        #expect(found == reason || found.hasPrefix("not Dictionary") || found.hasPrefix("nothing where"))
    }

    @Test func `without an envelope, a body that is no JSON is a decoding error at the root`() {
        for body in ["<html>", "[1] x", "{", "\u{feff}"] {
            #expect(
                kind { () throws(APIError) in try decode(body, as: ResponseDecoding<[Int]>.json, envelope: nil) }
                    == .decoding(path: "", reason: "the body is not valid JSON"))
        }
    }

    @Test func `a byte order mark before the JSON is skipped`() throws {
        let body = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"retcode":0,"data":1}"#.utf8)
        #expect(try ResponseDecoding<Int>.json.open(Payload(body), envelope: .retcode).decoded().value == 1)
    }

    @Test func `nesting beyond the limit is refused before a decoder recurses`() throws {
        let deep = String(repeating: "[", count: 100_000)
        for body in [deep, deep + String(repeating: "]", count: 100_000), #"{"retcode":0,"data":"# + deep] {
            #expect(
                kind { () throws(APIError) in try decode(body, as: ResponseDecoding<JSONValue>.json, envelope: nil) }
                    == .decoding(path: "", reason: "arrays and objects nest deeper than 128 levels"))
        }
        let shallow = DecodingOptions(maximumDepth: 2)
        let json = ResponseDecoding<JSONValue>.json
        #expect(try decode("[[\"[[[\\\"[[[\"]]", as: json, envelope: nil, options: shallow).value == [["[[[\"[[["]])
        #expect(
            kind { () throws(APIError) in try decode("[[[]]]", as: json, envelope: nil, options: shallow) } != nil)
    }

    @Test func `the deepest JSON that is accepted decodes on a stack of 512 KiB`() async throws {
        let body = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        let fits = await withCheckedContinuation { continuation in
            let thread = Thread {
                let model = try? decode(body, as: ResponseDecoding<JSONValue>.json, envelope: nil).value
                let value = try? payload(body).json()
                continuation.resume(returning: model == value && value?[0]?[0] != nil)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(fits)
    }

    @Test func `free-form JSON inside a model costs no more for lying deep`() throws {
        struct Model: Decodable, Sendable { let freeForm: JSONValue }
        let leaves = String(repeating: "1.5,", count: 200_000) + "1.5"
        let deep = String(repeating: "[", count: 120) + leaves + String(repeating: "]", count: 120)
        let body = #"{"retcode":0,"data":[{"free_form":{"a_b":\#(deep)}}]}"#
        let options = DecodingOptions(keys: .convertFromSnakeCase)
        let clock = ContinuousClock()
        let elapsed = try clock.measure {
            let models = try decode(body, as: ResponseDecoding<[Model]>.json, options: options).value
            #expect(models.first?.freeForm["a_b"]?[0]?[0] != nil)
        }
        #expect(elapsed < .seconds(60))
    }

    @Test(arguments: ["1e400", "-1e999999999", "99999999999999999999999999"])
    func `a number that does not fit is a decoding error`(number: String) throws {
        guard
            case .decoding(path: "data", _)? = kind(of: { () throws(APIError) in
                try decode(#"{"retcode":0,"data":\#(number)}"#, as: ResponseDecoding<Int>.json)
            })
        else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `a string that is no UTF-8 is an error`() throws {
        let bytes = Data([0x5B, 0x22, 0xFF, 0xFE, 0x22, 0x5D])
        #expect(throws: APIError.self) {
            try ResponseDecoding<[String]>.json.open(Payload(bytes), envelope: nil).decoded()
        }
        #expect(throws: APIError.self) { try ResponseDecoding.text.open(Payload(bytes), envelope: nil).decoded() }
    }

    @Test(.covers("S1.3")) func `raw bytes and text are given as they came, envelope or not`() throws {
        let body = #"{"retcode":5}"#
        #expect(try decode(body, as: ResponseDecoding<Data>.data).value == Data(body.utf8))
        #expect(try decode(body, as: ResponseDecoding<String>.text).value == body)
    }

    @Test func `a payload needs a successful envelope, begins at its data, and keeps every byte`() throws {
        let body = #"{"retcode":0,"data":{"n":[1,2]}}"#
        let value = try decode(body, as: ResponseDecoding<Payload>.payload).value
        #expect(value.data == Data(body.utf8))
        #expect(try value.value([Int].self, at: "n") == [1, 2])
        #expect(throws: APIError.self) {
            try decode(#"{"retcode":9,"data":{}}"#, as: ResponseDecoding<Payload>.payload)
        }
    }

    @Test func `custom code runs after the envelope and its errors are wrapped`() throws {
        struct Odd: Error {}
        let sum = ResponseDecoding<Int>.custom { try $0.value([Int].self).reduce(0, +) }
        #expect(try decode(#"{"retcode":0,"data":[1,2]}"#, as: sum).value == 3)
        #expect(
            kind { () throws(APIError) in try decode(#"{"retcode":0,"data":"x"}"#, as: sum) }
                == .decoding(path: "data", reason: "not Array<Any>"))
        let failure = error { () throws(APIError) in
            try decode(#"{"retcode":0}"#, as: ResponseDecoding<Int>.custom { _ in throw Odd() })
        }
        #expect(failure?.underlying is Odd)
        #expect(failure?.stage == .decoding)
    }

    @Test func `the envelope is judged before the data is decoded, so that validators can come between`() throws {
        let opened = try ResponseDecoding<Product>.json.open(
            payload(#"{"retcode":0,"data":{"id":"x"}}"#), envelope: .retcode)
        #expect(try opened.payload.json()["id"] == "x")
        #expect(throws: APIError.self) { try opened.decoded() }
    }

    @Test func `options of the endpoint replace those of the service`() throws {
        struct Model: Decodable, Sendable { let at: Date }
        let body = #"{"at":1000}"#
        let own = ResponseDecoding<Model>.json(options: DecodingOptions(dates: .millisecondsSince1970))
        #expect(try decode(body, as: own, envelope: nil).value.at == Date(timeIntervalSince1970: 1))
        let common = DecodingOptions(dates: .secondsSince1970)
        let plain = try decode(body, as: ResponseDecoding<Model>.json, envelope: nil, options: common)
        #expect(plain.value.at == Date(timeIntervalSince1970: 1000))
    }

    @Test(arguments: ["a", "a_b", "_a_b", "a_b_", "__one_TWO__three_", "_", "__", "", "aB_c", "x_1_y"])
    func `names convert as the decoder converts them`(name: String) throws {
        let options = DecodingOptions(keys: .convertFromSnakeCase)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Names: Decodable, Sendable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            let names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
            }
        }
        let body = #"{"\#(name)":1}"#
        let expected = try decoder.decode(Names.self, from: Data(body.utf8)).names
        #expect(expected == [DecodingOptions.camelCase(name)])
        guard !name.isEmpty else { return }
        #expect(try decode(body, as: ResponseDecoding<Int>.json(at: name), envelope: nil, options: options).value == 1)
    }
}
