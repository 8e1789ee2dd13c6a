import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct ErrorBodyTests {
    struct Problem: Decodable, Equatable {
        let errorCode: Int
        let at: Date
    }

    private func rig(_ response: HTTPResponse, _ options: DecodingOptions) -> Rig {
        Rig([.shop { $0.options.modelFormat = options }]) {
            $0.cache = .none
        } answering: { _ in
            response
        }
    }

    @Test func `an error's body decodes as the service's models do`() async throws {
        let body: JSONValue = ["error_code": 7, "at": "2026-01-31T08:30:00Z"]
        let rig = rig(.json(["error": body], status: 409), DecodingOptions(keys: .convertFromSnakeCase))
        let error = try #require(await failure { try await rig.client.send(GetProduct()) })
        #expect(error.kind == .httpStatus(409))
        let problem = error.decode(Problem.self, at: "error")
        #expect(problem?.errorCode == 7 && problem?.at == Date(timeIntervalSince1970: 1_769_848_200))
        #expect(error.decode(Problem.self) == nil)
        #expect(try error.payload?.json()["error"] == body)
    }

    @Test func `an error without a response has no body`() async throws {
        let rig = rig(.product, DecodingOptions())
        let error = try #require(await failure { try await rig.client.send(GetProduct(id: "")) })
        #expect(error.payload == nil && error.decode(Problem.self) == nil)
    }

    /// Reads property lists.
    struct PropertyLists: ModelDecoder {
        var mediaTypes: String { "application/x-plist" }

        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try PropertyListDecoder().decode(type, from: data)
        }
    }

    private func list(_ status: Int = 200) throws -> HTTPResponse {
        HTTPResponse(status: status, body: try PropertyListEncoder().encode(["id": "7", "name": "tea"]))
    }

    struct Plain: Endpoint {
        typealias Output = [String: String]
        var decoding: ResponseDecoding<[String: String]> = .json
        var envelope: EnvelopeChoice = .none
        var route: Route { .get("/p") }
    }

    @Test func `a service's own decoder makes its models and its errors, and says what is asked for`() async throws {
        let own = DecodingOptions(decoder: PropertyLists())
        let good = rig(try list(), own)
        #expect(try await good.client.send(Plain()) == ["id": "7", "name": "tea"])
        #expect(good.sent.first?.fields[.accept] == "application/x-plist")
        let bad = rig(try list(404), own)
        let error = await failure { try await bad.client.send(Plain()) }
        #expect(error?.decode([String: String].self)?["id"] == "7")
        let broken = rig(.json("<nonsense"), own)
        #expect(await failure { try await broken.client.send(Plain()) }?.kind.name == "decoding")
        let named = Rig([.shop { $0.options.modelFormat = own }]) {
            $0.headers = [.accept: "text/x"]
        } answering: { [list = try list()] _ in
            list
        }
        _ = try await named.client.send(Plain())
        #expect(named.sent.first?.fields[.accept] == "text/x")
    }

    @Test func `a decoder of the app's own is not asked for a part of a body`() async throws {
        let rig = rig(try list(), DecodingOptions(decoder: PropertyLists()))
        for endpoint in [Plain(decoding: .json(at: "a")), Plain(envelope: .ofService)] {
            let error = await failure { try await rig.client.send(endpoint) }
            #expect(error?.kind.name == "invalidConfiguration")
        }
    }

    struct Tagged: Decodable, Sendable, Equatable {
        let tag: String?

        init(from decoder: any Decoder) throws {
            tag = CodingUserInfoKey(rawValue: "tag").flatMap { decoder.userInfo[$0] as? String }
        }
    }

    struct GetTagged: Endpoint {
        typealias Output = Tagged
        var route: Route { .get("/t") }
    }

    @Test func `what a model's own init needs comes with the decoder`() async throws {
        var options = DecodingOptions()
        if let key = CodingUserInfoKey(rawValue: "tag") { options.userInfo[key] = "blue" }
        #expect(try await rig(.product, options).client.send(GetTagged()).tag == "blue")
    }
}
