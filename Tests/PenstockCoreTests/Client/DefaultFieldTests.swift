import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// The fields that every request has unless the app wants them otherwise.
@Suite(.timeLimit(.minutes(5))) struct DefaultFieldTests {
    private struct Of<Output: Sendable>: Endpoint {
        var route: Route { .get("/x") }
        let decoding: ResponseDecoding<Output>
        var envelope: EnvelopeChoice = .none
    }

    private static let json = "application/json, */*;q=0.5"

    private static func accept(of endpoint: some Endpoint) async -> String? {
        let rig = Rig()
        _ = await failure { try await rig.client.response(for: endpoint).http.status }
        return rig.sent.first?.fields[.accept]
    }

    @Test func `Accept fits what the output is made from`() async {
        #expect(await Self.accept(of: Of<Product>(decoding: .json)) == Self.json)
        #expect(await Self.accept(of: Of<Payload>(decoding: .payload)) == Self.json)
        #expect(await Self.accept(of: Of<Void>(decoding: .nothing)) == Self.json)
        #expect(await Self.accept(of: Of<String>(decoding: .text)) == "text/*, */*;q=0.5")
        #expect(await Self.accept(of: Of<Data>(decoding: .data)) == "*/*")
        #expect(await Self.accept(of: Of<Int>(decoding: .custom { _ in 1 })) == "*/*")
    }

    @Test func `Accept asks for JSON where a String comes in an envelope, and else for text`() async {
        let text = "text/*, */*;q=0.5"
        let enveloped = EnvelopeChoice.custom(.retcode)
        #expect(await Self.accept(of: Of<String>(decoding: .standard)) == text)
        #expect(await Self.accept(of: Of<String>(decoding: .standard, envelope: enveloped)) == Self.json)
        #expect(await Self.accept(of: Of<String>(decoding: .text, envelope: enveloped)) == text)
    }

    @Test func `a stream and a request of the app's own making accept anything`() async throws {
        let rig = Rig()
        _ = try await rig.client.stream(Of<Product>(decoding: .json))
        _ = try await rig.client.send(HTTPRequest(method: .get, url: URLSet.url("https://a.example/")))
        #expect(rig.sent.map { $0.fields.values(of: .accept) } == [["*/*"], ["*/*"]])
    }

    @Test(arguments: [HTTPFieldName.accept, .userAgent])
    func `each can be replaced and removed, for a call, for a service and for all calls`(name: HTTPFieldName)
        async throws
    {
        let endpoint = Of<Product>(decoding: .json, envelope: .ofService)
        for edits in [[name: "mine"] as HeaderEdits, HeaderEdits().removing(name)] {
            let expected = edits == [name: "mine"] ? ["mine"] : []
            let call = Rig()
            _ = try await call.client.send(endpoint, options: .headers(edits))
            let service = Rig([.shop { $0.options = .headers(edits) }])
            _ = try await service.client.send(endpoint)
            let client = Rig { $0.options = .headers(edits) }
            _ = try await client.client.send(endpoint)
            for rig in [call, service, client] {
                #expect(rig.sent.map { $0.fields.values(of: name) } == [expected])
            }
        }
        let common = Rig { $0.headers = [name: "mine"] }
        _ = try await common.client.send(endpoint)
        #expect(common.sent.map { $0.fields.values(of: name) } == [["mine"]])
    }

    @Test func `User-Agent names the program that sends, then this package`() async throws {
        let rig = Rig()
        _ = try await rig.client.send(GetProduct())
        let agent = try #require(rig.sent.first?.fields[.userAgent])
        let parts = agent.split(separator: " ").map(String.init)
        #expect(parts.count == 2)
        #expect(parts.first?.hasPrefix(ProcessInfo.processInfo.processName) == true)
        #expect(parts.last == "Penstock/\(PenstockVersion.current)")
    }

    @Test(
        arguments: [
            ("Shop", "2.1", "Shop/2.1 "), ("Shop", nil, "Shop "), ("My Shop", "1.0 (7)", "My-Shop/1.0--7- "),
            ("Café/\r\nX: 1", "", "Caf-----X--1 "), ("商店", "1", ""), ("", nil, ""),
        ] as [(String, String?, String)])
    func `a name for people becomes tokens of RFC 9110`(name: String, version: String?, start: String) {
        let text = UserAgent.text(name: name, version: version)
        #expect(text == start + "Penstock/\(PenstockVersion.current)")
        #expect(
            text.split(separator: " ").allSatisfy {
                $0.split(separator: "/").allSatisfy { HTTPSyntax.isToken("\($0)") }
            })
    }

    @Test func `a list that meets common parameters fails in words, and goes out beside them as a body`() async throws {
        struct Import: Endpoint {
            typealias Output = Product
            let parameters = [1, 2]
            var route: Route { .post("/import") }
        }
        struct ImportBody: Endpoint {
            typealias Output = Product
            var route: Route { .post("/import") }
            var body: HTTPBody { .bytes(Data("[1,2]".utf8)) }
        }
        let rig = Rig { $0.parameters = CommonParameters { ["token": "t"] } }
        let error = await failure { try await rig.client.send(Import()) }
        guard case .invalidParameter("parameters", let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("names are needed here, but this is a list or a single value"))
        #expect(rig.sent.isEmpty)
        _ = try await rig.client.send(ImportBody())
        #expect(rig.sent.first?.text == "[1,2]")
        #expect(rig.sent.first?.url.query == "token=t")
    }
}
