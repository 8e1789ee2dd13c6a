import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Pages that a `Link` field leads to.
@Suite(.timeLimit(.minutes(5))) struct LinkPagingTests {
    private func client(
        _ script: ScriptedTransport, token: @escaping @Sendable () -> String = { "t" }
    ) -> APIClient {
        CallSupport.client(script) { configuration in
            configuration.headers = ["Authorization": "Bearer secret"]
            configuration.parameters = CommonParameters { ["token": token()] }
        }
    }

    private func pager(_ client: APIClient) -> Pager<ListRows> { Pager(client, .link { ListRows(page: 1) }) }

    private func pages(_ links: [String]...) -> ScriptedTransport {
        ScriptedTransport(links.map { .respond(.rows([1], link: $0)) })
    }

    @Test("A next link is followed with the service's credentials and the common parameters of the moment")
    func followed() async throws {
        let token = Box("old")
        let script = pages(
            [#"<https://api.example.com/rows?page=2&token=old>; rel="next", </rows?page=9>; rel="last""#],
            ["</v2/more?cursor=x>; rel=next"], [#"</rows?page=1>; rel="prev""#])
        let pager = pager(client(script) { token.value })
        try await pager.loadNextPage()
        token.value = "new"
        try await pager.loadNextPage()
        try await pager.loadNextPage()
        #expect(try await pager.loadNextPage() == nil)
        #expect(
            script.requests.map(\.request.url.absoluteString) == [
                "https://api.example.com/rows?page=1&token=old", "https://api.example.com/rows?page=2&token=new",
                "https://api.example.com/v2/more?cursor=x&token=new",
            ])
        #expect(script.requests.allSatisfy { $0.request.fields["Authorization"] == "Bearer secret" })
        #expect(script.requests.allSatisfy { $0.request.method == .get })
    }

    @Test(
        "A link to another origin is refused, and nothing is sent there",
        arguments: [
            "https://evil.example/rows", "http://api.example.com/rows", "https://api.example.com:8443/rows",
            "//evil.example/rows",
        ])
    func foreignOrigins(link: String) async throws {
        let script = pages(["<\(link)>; rel=next"])
        let pager = pager(client(script))
        try await pager.loadNextPage()
        let failure = await failure { try await pager.loadNextPage() }
        guard case .foreignOrigin = failure?.underlying as? PagingError else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(script.requests.count == 1)
    }

    @Test(
        "A link that is no URL is refused with its page",
        arguments: ["ftp://api.example.com/", "https://user@api.example.com/", "https://[/", "/a\\b"])
    func unusableLinks(link: String) async throws {
        let script = pages(["<\(link)>; rel=next"])
        let failure = await failure { try await pager(client(script)).loadNextPage() }
        guard case .unusableLink = failure?.underlying as? PagingError else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test(
        "A link about another resource is none of this list",
        arguments: ["/other", "https://x.example/", "#comments", "/rows#comments"])
    func anchors(anchor: String) async throws {
        let script = pages([##"</rows?page=2>; rel="next"; anchor="\##(anchor)""##])
        let pager = pager(client(script))
        try await pager.loadNextPage()
        #expect(!pager.hasMore)
    }

    @Test(
        "A link about the page itself is one of this list, however it says so", arguments: ["", "#"])
    func ownAnchors(anchor: String) async throws {
        let pager = pager(client(pages([##"</rows?page=2>; rel="next"; anchor="\##(anchor)""##])))
        try await pager.loadNextPage()
        #expect(pager.hasMore)
    }

    @Test("Links that lead in a circle come to an end before a page is shown twice")
    func circles() async throws {
        let script = ScriptedTransport([
            .respond(.rows([1], link: ["</rows?page=2>; rel=next"])),
            .respond(.rows([2], link: ["</rows?page=1>; rel=next"])),
        ])
        let pager = Pager(CallSupport.client(script), .link { ListRows(page: 1) })
        try await pager.loadNextPage()
        try await pager.loadNextPage()
        let failure = await failure { try await pager.loadNextPage() }
        #expect(
            failure?.underlying as? PagingError == .repeated(.link(try HTTPURL("https://api.example.com/rows?page=1"))))
        #expect(script.requests.count == 2)
    }

    @Test("An API's own interceptors, headers and options stand around the pages that links lead to")
    func ownParts() async throws {
        struct Special: Endpoint {
            typealias Output = Rows
            let capture: Capture
            var route: Route { .get("/rows") }
            var headers: HeaderEdits { ["X-Own": "1"] }
            var callInterceptors: [any Interceptor] { [capture] }
            var attemptInterceptors: [any Interceptor] { [Intercepting.setting("X-Attempt", "1")] }
        }
        let capture = Capture()
        let script = pages(["</rows?page=2>; rel=next"], [])
        let pager = Pager(CallSupport.client(script), .link { Special(capture: capture) })
        try await pager.loadNextPage()
        try await pager.loadNextPage()
        #expect(capture.requests.count == 2)
        #expect(script.requests.map { $0.request.fields["X-Own"] } == ["1", "1"])
        #expect(script.requests.map { $0.request.fields["X-Attempt"] } == ["1", "1"])
    }

    @Test("A page that a link leads to is a call of the list's own API: it is paused and ended with it")
    func ownAPI() async throws {
        let capture = Capture()
        let script = pages(["</rows?page=2>; rel=next"], ["</rows?page=3>; rel=next"])
        let client = CallSupport.client(script) { $0.callInterceptors = [capture] }
        let pager = pager(client)
        try await pager.loadNextPage()
        client.pause(.endpoint(ListRows.self))
        let page = Task { await failure { try await pager.loadNextPage() } }
        while !Task.isCancelled, client.calls.isEmpty { await Task.yield() }
        #expect(client.calls.allSatisfy { $0.endpointType == ListRows.self })
        client.cancel(ListRows.self)
        #expect(await page.value?.kind == .cancelled)
        #expect(script.requests.count == 1)
        client.resume(.endpoint(ListRows.self))
        try await pager.loadNextPage()
        #expect(script.requests.last?.request.url.query == "page=2")
    }

    @Test("A list that is asked for with a body is followed with GET, and without the body")
    func searches() async throws {
        struct Search: Endpoint, Encodable {
            typealias Output = Rows
            var text = "shoes"
            var route: Route { .post("/search") }
        }
        let script = pages(["</search?after=7>; rel=next"], [])
        let pager = Pager(CallSupport.client(script), .link { Search() })
        try await pager.loadNextPage()
        try await pager.loadNextPage()
        #expect(script.requests.map(\.request.method) == [.post, .get])
        #expect(script.requests.map(\.request.url.query) == [nil, "after=7"])
        #expect(script.requests.last?.request.body.isNone == true)
    }
}
