import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// An endpoint at a URL that a server gave.
@Suite(.timeLimit(.minutes(5))) struct LinkTests {
    struct Products: Endpoint, Encodable {
        typealias Output = [Product]
        var page = 1
        var route: Route { .get("/products") }
        var decoding: ResponseDecoding<[Product]> { .json(at: "items") }
    }

    struct Renew: Endpoint, Encodable {
        typealias Output = Product
        let name: String
        var route: Route { .put("/products/7") }
    }

    static let next = "https://development.shop.example.com/other/page?cursor=a%2Fb&lang=de#top"

    private func rig(_ change: (inout APIClient.Configuration) -> Void = { _ in }) -> Rig {
        Rig([.shop { $0.headers = ["X-Shop": "1"] }]) {
            $0.callInterceptors = [Intercepting.setting("Authorization", "Bearer t")]
            change(&$0)
        } answering: { _ in
            .json([
                "retcode": 0, "retdesc": "", "data": ["items": [["id": 7, "name": "tea"]], "id": 7, "name": "tea"],
            ])
        }
    }

    @Test func `an endpoint goes to a link with its service's headers, interceptors, envelope and decoding`()
        async throws
    {
        let clock = TestClock()
        let rig = rig { $0.time = clock.timeSource }
        let url = try HTTPURL(Self.next)
        let products = try await rig.client.send(Products(page: 3), options: .at(url))
        #expect(products.map(\.id) == [7])
        let sent = try #require(rig.sent.first)
        #expect(sent.url.absoluteString == "https://development.shop.example.com/other/page?cursor=a%2Fb&lang=de")
        #expect(sent.fields["X-Shop"] == "1" && sent.fields["Authorization"] == "Bearer t")
        let foundation = try #require(URL(string: Self.next))
        _ = try await rig.client.send(Products(), options: .timeout(.seconds(5)).at(foundation))
        #expect(rig.sent.last?.url == sent.url)
    }

    @Test func `a link to another origin is refused before anything is sent`() async throws {
        let rig = rig()
        for text in [
            "https://evil.example/products", "http://development.shop.example.com/products",
            "https://development.shop.example.com:444/products",
        ] {
            let error = await failure { try await rig.client.send(Products(), options: .at(try HTTPURL(text))) }
            guard case .blocked(let reason) = error?.kind else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
            #expect(reason.contains("is not the origin of the service main"))
        }
        #expect(rig.sent.isEmpty)
        let moved = CallOptions.with { $0.baseURL = "https://evil.example" }.at(try HTTPURL("https://evil.example/p"))
        _ = try await rig.client.send(Products(), options: moved)
        #expect(rig.hosts == ["evil.example"])
    }

    @Test func `a URL that is none fails the call as a parameter`() async throws {
        let rig = rig()
        let relative = try #require(URL(string: "/products?page=2"))
        let error = await failure { try await rig.client.send(Products(), options: .at(relative)) }
        #expect(error?.kind == .invalidParameter(field: "url", reason: "the URL has no scheme"))
        #expect(rig.sent.isEmpty)
    }

    @Test func `common parameters of the query are those of the moment, and a body is sent as ever`() async throws {
        let rig = rig { $0.parameters = CommonParameters { ["lang": "nl"] } }
        _ = try await rig.client.send(Products(), options: .at(try HTTPURL(Self.next)))
        #expect(rig.sent.last?.url.query == "cursor=a%2Fb&lang=nl")
        _ = try await rig.client.send(Renew(name: "x"), options: .at(try HTTPURL(Self.next)))
        #expect(rig.sent.last?.text == #"{"lang":"nl","name":"x"}"#)
        #expect(rig.sent.last?.url.query == "cursor=a%2Fb&lang=de")
    }

    @Test func `a link prints without its secrets`() throws {
        let options = CallOptions.at(try HTTPURL("https://a.example/?token=hunter2&page=2"))
        var text = ""
        dump(options, to: &text)
        dump(CallSettings(options), to: &text)
        #expect(!text.contains("hunter2") && text.contains("page=2"))
    }
}
