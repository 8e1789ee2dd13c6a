import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.covers("S0.2"), .timeLimit(.minutes(5))) struct NoContentTests {
    struct Removal: Endpoint {
        var route: Route = .delete("/products/7")
        typealias Output = Void
    }

    struct Lookup: Endpoint {
        typealias Output = Product?
        var route: Route { .get("/products/7") }
    }

    private func client(_ status: Int, _ body: String = "") -> APIClient {
        Rig(answering: { _ in HTTPResponse(status: status, body: Data(body.utf8)) }).client
    }

    @Test(arguments: [204, 205])
    func `a status that has no content needs no envelope`(status: Int) async throws {
        try await client(status).send(Removal())
        #expect(try await client(status).send(Lookup()) == nil)
    }

    @Test func `the answer to HEAD needs no envelope`() async throws {
        try await client(200).send(Removal(route: .head("/products/7")))
    }

    @Test func `an output that is asked for is missed as one`() async throws {
        let error = await failure { try await client(204).send(GetProduct()) }
        #expect(error?.kind == .decoding(path: "", reason: "the body is empty"))
    }

    @Test func `an answer that has content, or might, still needs its envelope`() async throws {
        let empty = await failure { try await client(200).send(Removal()) }
        #expect(empty?.kind == .malformedEnvelope(reason: "the body is empty"))
        let refused = await failure { try await client(204, #"{"retcode":5,"retdesc":"no"}"#).send(Removal()) }
        #expect(refused?.kind == .business(code: 5, message: "no"))
    }

    @Test func `an error of HEAD is one`() async throws {
        let error = await failure { try await client(404).send(Removal(route: .head("/products/7"))) }
        #expect(error?.kind == .httpStatus(404))
    }
}
