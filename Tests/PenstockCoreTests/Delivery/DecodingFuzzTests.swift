import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Arbitrary bytes and broken JSON through every way of decoding.
@Suite(.covers("S4.6")) struct DecodingFuzzTests {
    struct Tree: Codable, Sendable {
        @Default<Empty> var kids: [Tree]
        @Default<Zero> var number: Int
        var when: Date?
        var any: JSONValue?
    }

    static let seeds = [
        #"{"retcode":0,"retdesc":"fine","data":{"kids":[{"number":1,"kids":[]},{"number":-2.5e3}],"when":1}}"#,
        #"{"retcode":12,"retdesc":"no \u00e9\ud83d\ude00\n","data":null,"retcode":0}"#,
        #"{"retcode":0,"data":[true,false,null,1e5,-0,18446744073709551615,"\"\\\/",[[{}]],{"a":{"b":[]}}]}"#,
        #"  [1, "x"]  "#, "\u{feff}{}", "\"x\"", "1", "null",
    ]

    static func mutated(_ random: inout Seeded) -> Data {
        var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...5, using: &random) where !bytes.isEmpty {
            let position = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: position)
            case 2: bytes.insert(Array(#"[]{}",:\0"#.utf8).randomElement(using: &random) ?? 0, at: position)
            case 3: bytes.removeLast(bytes.count - position)
            default: bytes.insert(contentsOf: bytes[position...].prefix(20), at: position)
            }
        }
        return Data(bytes)
    }

    static func noise(_ random: inout Seeded) -> Data {
        Data((0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    @Test(arguments: 0..<4) func `every decoding ends with a value or an APIError`(seed: UInt64) {
        var random = Seeded(seed: seed)
        for round in 0..<250 {
            let body = Payload(round.isMultiple(of: 4) ? Self.noise(&random) : Self.mutated(&random))
            for envelope in [nil, Envelope.retcode, Envelope(code: "data[0].a", data: "", codeType: .either)] {
                for policy in [DecodingOptions(), .init(keys: .convertFromSnakeCase, wrongTypes: .useDefault)] {
                    run(.json, body, envelope, policy, as: Tree.self)
                    run(.json, body, envelope, policy, as: [Int]?.self)
                    run(.json(at: "kids[1].number"), body, envelope, policy, as: Int.self)
                    run(.nothing, body, envelope, policy, as: Void.self)
                    run(.text, body, envelope, policy, as: String.self)
                    run(.custom { try $0.json() }, body, envelope, policy, as: JSONValue.self)
                }
            }
        }
    }

    private func run<Output: Sendable>(
        _ decoding: ResponseDecoding<Output>, _ body: Payload, _ envelope: Envelope?, _ options: DecodingOptions,
        as type: Output.Type
    ) {
        let failure = error { () throws(APIError) in
            try decoding.open(body, envelope: envelope, options: options).decoded()
        }
        guard let failure else { return }
        #expect([.envelope, .decoding].contains(failure.stage))
        #expect(!failure.description.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test(arguments: 10..<12) func `the reader of raw JSON accepts what the decoder accepts, with the same value`(
        seed: UInt64
    ) {
        var random = Seeded(seed: seed)
        var accepted = 0
        for _ in 0..<1000 {
            let body = Self.mutated(&random)
            guard let value = try? JSONParser.parse(body, maximumDepth: 128) else { continue }
            accepted += 1
            #expect((try? JSONDecoder().decode(JSONValue.self, from: body)) == value, "\(BodyExcerpt.text(of: body))")
        }
        #expect(accepted > 50)
    }

    @Test func `a list where an object is expected, and the reverse, is an error with its path`() {
        #expect(
            kind { () throws(APIError) in
                try decode(#"{"retcode":0,"data":{"a":1}}"#, as: ResponseDecoding<[Product]>.json)
            } == .decoding(path: "data", reason: "not Array<Any>"))
        #expect(
            kind { () throws(APIError) in
                try decode(#"{"retcode":0,"data":[{"id":1,"name":[]}]}"#, as: ResponseDecoding<[Product]>.json)
            } == .decoding(path: "data[0].name", reason: "not String"))
    }
}
