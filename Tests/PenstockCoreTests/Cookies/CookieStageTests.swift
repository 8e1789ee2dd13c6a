import Foundation
import PenstockCore
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct CookieStageTests {
    @Test func `cookies that a response sets go with the next request, beside the app's own in one field`() async throws
    {
        let rig = Rig {
            $0.cookies = MemoryCookieStore()
        } answering: { _ in
            var response = HTTPResponse.product
            response.fields.append("a=1; Path=/", for: .setCookie)
            response.fields.append("b=2; Path=/; HttpOnly", for: .setCookie)
            return response
        }
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(GetProduct(), options: .headers([.cookie: "own=3"]))
        #expect(
            rig.sent.map { $0.fields.values(of: .cookie) } == [[], ["a=1; b=2"], ["own=3; a=1; b=2"]])
    }

    @Test func `a failed response's cookies are kept as well`() async throws {
        let rig = Rig {
            $0.cookies = MemoryCookieStore()
        } answering: { _ in
            HTTPResponse(status: 401, fields: [.setCookie: "challenge=1; Path=/"])
        }
        for _ in 0..<2 { #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(401)) }
        #expect(rig.sent.last?.fields[.cookie] == "challenge=1")
    }

    // MARK: Redirects

    /// Answers with a redirect to the next number of another host that sets some cookies, up to the last, which sets 30.
    @Sendable private static func chain(_ request: HTTPRequest, cookies: Int) -> HTTPResponse {
        let hop = Int(request.url.host.prefix { $0 != "." }) ?? 0
        var response = hop < 9 ? HTTPResponse.redirect(to: "https://\(hop + 1).example/products/7") : .product
        for number in 0..<(hop < 9 ? cookies : 30) {
            response.fields.append("h\(hop)c\(number)=x; Path=/", for: .setCookie)
        }
        return response
    }

    @Test(arguments: [(1, 9), (2, 18), (3, 20), (30, 20)])
    func `the redirects of one call set twenty cookies in all, its answer sets its own`(
        perHop: Int, kept: Int
    ) async throws {
        let store = MemoryCookieStore()
        let rig = Rig([Service(.main, [.development: "https://0.example"], envelope: .retcode)]) {
            $0.cookies = store
        } answering: { request in
            Self.chain(request, cookies: perHop)
        }
        for calls in 1...2 {
            _ = try await rig.client.send(GetProduct())
            let jar = store.jar(of: .init(environment: "development"))
            #expect(jar.cookies.filter { $0.host != "9.example" }.count == kept, "call \(calls)")
            #expect(jar.cookies.filter { $0.host == "9.example" }.count == 30)
        }
        #expect(rig.sent.count == 20)
    }

    @Test func `a redirect deletes as many cookies as it likes, and a redirect that is the answer sets as many`()
        async throws
    {
        let store = MemoryCookieStore()
        let host = try HTTPURL("https://a.example/")
        let home = IsolationKey(environment: "development")
        store.receive((0..<40).map { "c\($0)=1; Path=/" }, from: host, in: home)
        let rig = Rig([Service(.main, [.development: "https://a.example"], envelope: .retcode)]) {
            $0.cookies = store
        } answering: { request in
            guard request.url.path != "/next" else { return .product }
            var response = HTTPResponse.redirect(to: "/next")
            for number in 0..<40 { response.fields.append("c\(number)=; Path=/; Max-Age=0", for: .setCookie) }
            for number in 0..<25 { response.fields.append("n\(number)=2; Path=/", for: .setCookie) }
            return response
        }
        _ = try await rig.client.send(GetProduct())
        #expect(store.jar(of: home).cookies.map(\.name) == (0..<20).map { "n\($0)" })
        _ = await failure { try await rig.client.send(GetProduct(), options: .with { $0.redirects = .never }) }
        #expect(store.jar(of: home).cookies.map(\.name) == (0..<25).map { "n\($0)" })
    }

    @Test func `a redirect to the same URL that sets a cookie is followed, once for each cookie that is new`()
        async throws
    {
        let rig = Rig {
            $0.cookies = MemoryCookieStore()
        } answering: { request in
            if request.fields[.cookie] == "checked=1; twice=1" { return .product }
            var response = HTTPResponse.redirect(to: request.url.absoluteString)
            response.fields.append(
                request.fields.contains(.cookie) ? "twice=1; Path=/" : "checked=1; Path=/", for: .setCookie)
            return response
        }
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.cookie] } == [nil, "checked=1", "checked=1; twice=1"])
    }

    @Test func `a redirect to the same URL with the same cookies is refused, wherever they come from`() async {
        for setsCookie in [false, true] {
            let rig = Rig {
                $0.cookies = setsCookie ? MemoryCookieStore() : nil
            } answering: { request in
                var response = HTTPResponse.redirect(to: request.url.absoluteString)
                response.fields.append("same=1; Path=/", for: .setCookie)
                return response
            }
            let error = await failure {
                try await rig.client.send(GetProduct(), options: .headers([.cookie: "own=1"]))
            }
            guard case .blocked(let reason) = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("leads back"))
            #expect(
                rig.sent.map { $0.fields[.cookie] } == (setsCookie ? ["own=1", "own=1; same=1"] : ["own=1"]))
        }
    }

    @Test func `a redirect to the same URL with ever new cookies ends at the limit of hops`() async {
        let rig = Rig {
            $0.cookies = MemoryCookieStore()
        } answering: { request in
            var response = HTTPResponse.redirect(to: request.url.absoluteString)
            let count = request.fields[.cookie].flatMap { Int($0.dropFirst(2)) } ?? 0
            response.fields.append("n=\(count + 1); Path=/", for: .setCookie)
            return response
        }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(error?.kind == .blocked(reason: "the redirect is refused: the call took 20 redirects already"))
        #expect(rig.sent.count == 21)
    }

    @Test func `a redirect from another site takes no cookie along that its site keeps to itself`() async throws {
        let store = MemoryCookieStore(suffixes: DomainCookieTests.suffixes)
        let home = IsolationKey(environment: "development")
        let lines = ["strict=1; SameSite=Strict; Path=/", "lax=1; SameSite=Lax; Path=/"]
        for host in ["shop.example", "www.shop.example", "evil.example"] {
            store.receive(lines, from: try HTTPURL("https://\(host)/"), in: home)
        }
        let rig = Rig([Service(.main, [.development: "https://shop.example"], envelope: .retcode)]) {
            $0.cookies = store
        } answering: { request in
            switch request.url.host {
            case "shop.example": .redirect(to: "https://www.shop.example/")
            case "www.shop.example": .redirect(to: "https://evil.example/")
            default: .product
            }
        }
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.cookie] } == ["strict=1; lax=1", "strict=1; lax=1", "lax=1"])
        #expect(rig.hosts == ["shop.example", "www.shop.example", "evil.example"])
    }

    @Test func `unless told otherwise cookies are kept in memory, of each user apart`() async throws {
        let user = Box("alice")
        let rig = Rig {
            $0.identity = { user.value }
        } answering: { _ in
            var response = HTTPResponse.product
            response.fields.append("sid=1; Path=/", for: .setCookie)
            return response
        }
        for name in ["alice", "alice", "bob"] {
            user.value = name
            _ = try await rig.client.send(GetProduct())
        }
        #expect(rig.sent.map { $0.fields[.cookie] } == [nil, "sid=1", nil])
        let another = Rig { $0.identity = { "alice" } }
        _ = try await another.client.send(GetProduct())
        #expect(another.sent.first?.fields[.cookie] == nil)
    }
}
