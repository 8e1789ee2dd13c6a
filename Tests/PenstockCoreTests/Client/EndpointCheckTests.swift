import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct EndpointCheckTests {
    struct Searched: Endpoint {
        typealias Output = Product
        let text: String
        var route: Route { .get("/search") }
    }

    struct Used: Endpoint {
        enum Kind: String, Encodable { case tea }
        typealias Output = Product
        let id: Int
        let name: String
        let kind: Kind
        let number: UUID
        let etag: String
        let tag: String
        let hook: @Sendable () -> Void = {}
        @PathArgument var isDraft: Bool
        var route: Route { isDraft ? .get("/drafts/\(id)") : .get("/things/\(id)/\(name)/\(kind)/\(number)") }
        var headers: HeaderEdits { ["If-None-Match": etag] }
        var cacheTags: [String] { [tag] }
    }

    struct Headed: Endpoint {
        typealias Output = Product
        let headers: HeaderEdits
        var route: Route { .get("/p") }
    }

    struct Wrapping<Inner: Endpoint>: Endpoint {
        typealias Output = Product
        let inner: Inner
        var route: Route { .get("/p") }
    }

    private struct Bare: Endpoint, Encodable {
        typealias Output = Product
        @PathArgument var id: Int
        let quantity: Int
        var route: Route { .post("/orders/(id)/items") }
    }

    private struct SecondBare: Endpoint {
        typealias Output = Product
        @PathArgument var user: String
        @PathArgument var post: String?
        var route: Route { .get("/users/\(user)/posts/(post)") }
    }

    private struct Argued: Endpoint {
        typealias Output = Product
        @PathArgument var id: String
        var route: Route
    }

    private struct Flagged: Endpoint {
        typealias Output = Product
        @PathArgument var on: Bool
        @PathArgument var off: Bool?
        var route: Route { on ? .get("/x(on)") : .get("/x(off)") }
    }

    /// An argument that is for something else than the path, where it cannot be found.
    private struct Choosing: Endpoint, Encodable {
        typealias Output = Int
        @PathArgument var key: String
        @PathArgument var method: HTTPMethod
        @PathArgument var version: Int
        @PathArgument var since: Date
        let quantity: Int
        var service: ServiceID { version > 2 ? .init("new") : .main }
        var route: Route { Route(method, version > 1 ? "/orders" : "/old") }
        var headers: HeaderEdits { ["X-Since": since.formatted(.iso8601)] }
        var decoding: ResponseDecoding<Int> { .json(at: key) }
    }

    static let used = Used(
        id: 7, name: "a b/c", kind: .tea, number: UUID(), etag: "\"x1\"", tag: "t9", isDraft: false)

    @Test func `a property that is sent nowhere fails the first call of a debug build, with what to write`() async {
        let rig = Rig()
        for _ in 0..<2 {
            let error = await failure { try await rig.client.send(Forgetful(account: "alice")) }
            guard case .invalidConfiguration(let reason) = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("Forgetful has the property account"))
            #expect(reason.contains("let Forgetful conform to Encodable"))
            #expect(reason.contains("@PathArgument var account"))
        }
        #expect(rig.sent.isEmpty)
        let released = Rig { $0.checksEndpoints = false }
        #expect(await failure { try await released.client.send(Forgetful(account: "alice")) } == nil)
        #expect(!APIClient.Configuration(services: [], build: .release).checksEndpoints)
        #expect(APIClient.Configuration(services: [], build: .debug).checksEndpoints)
    }

    @Test func `a property of the query is missed as one of the body is`() {
        #expect(EndpointCheck.unsentProperty(of: Searched(text: "tea")) == "text")
        #expect(EndpointCheck.unsentProperty(of: Forgetful(account: "alice")) == "account")
    }

    struct Items: Endpoint {
        typealias Output = Product
        let page: Int
        var route: Route { .get("/v1/items") }
    }

    struct Named: Endpoint {
        typealias Output = Product
        let name: String
        var route: Route
    }

    @Test func `the text around what is interpolated shows no property, whatever it has by chance`() {
        #expect(EndpointCheck.unsentProperty(of: Items(page: 1)) == "page")
        #expect(EndpointCheck.unsentProperty(of: Named(name: "GE", route: .get("/p"))) == "name")
        #expect(EndpointCheck.unsentProperty(of: Named(name: "b", route: .get("/b/\("c")/b"))) == "name")
    }

    @Test func `a property is found in a segment with text around it, and in a path that was made at run time`() {
        let name = "b c"
        let routes: [Route] = [
            .get("/x/by-\(name)-\("d").html"), .get("\(name)"), .get("/x\(name)/y"),
            Route(.get, RoutePath(literal: "/x/" + name)),
        ]
        for route in routes { #expect(EndpointCheck.unsentProperty(of: Named(name: name, route: route)) == nil) }
        #expect(RoutePath(literal: "/x") == "/x")
        #expect(Set([RoutePath(literal: "/x"), "/x"]).count == 1)
    }

    struct Optionals: Endpoint {
        typealias Output = Product
        let id: Int?
        let etag: String?
        var route: Route { if let id { .get("/things/\(id)") } else { .get("/things") } }
        var headers: HeaderEdits { ["If-None-Match": etag] }
    }

    struct Undecided: Endpoint {
        typealias Output = Product
        let filter: String?
        var page = "1"
        var route: Route { .get("/things/page/\(page)") }
    }

    struct Unsent: Endpoint {
        typealias Output = Product
        let etag: String?
        let page: Int
        var route: Route { .get("/things") }
        var headers: HeaderEdits { ["If-None-Match": etag] }
    }

    @Test func `an optional property is looked for by what it holds, and nil is not missed`() {
        for endpoint in [
            Optionals(id: 7, etag: "\"x1\""), Optionals(id: nil, etag: "\"x1\""), Optionals(id: 7, etag: nil),
            Optionals(id: nil, etag: nil),
        ] {
            #expect(EndpointCheck.unsentProperty(of: endpoint) == nil)
        }
        #expect(EndpointCheck.unsentProperty(of: Undecided(filter: "tea")) == "filter")
        #expect(EndpointCheck.unsentProperty(of: Unsent(etag: nil, page: 3)) == "page")
        #expect(EndpointCheck.unsentProperty(of: Unsent(etag: "\"x1\"", page: 3)) == "page")
    }

    @Test func `a type is looked at until each of its properties has had a value`() async {
        let rig = Rig()
        #expect(await failure { try await rig.client.send(Undecided(filter: nil)) } == nil)
        let error = await failure { try await rig.client.send(Undecided(filter: "tea")) }
        guard case .invalidConfiguration(let reason) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("Undecided has the property filter"))
    }

    @Test func `what the path, a header or a tag shows is not missed, nor what is no data`() {
        #expect(EndpointCheck.unsentProperty(of: Self.used) == nil)
        #expect(EndpointCheck.unsentProperty(of: Tuned()) == nil)
        #expect(EndpointCheck.unsentProperty(of: Wrapping(inner: LogIn(account: "a", password: "b"))) == nil)
        #expect(EndpointCheck.unsentProperty(of: Headed(headers: ["X-A": "1"])) == nil)
    }

    @Test func `a name in bare parentheses fails the first call of a debug build, with what to write`() async {
        let rig = Rig()
        let error = await failure { try await rig.client.send(Bare(id: 7, quantity: 2)) }
        let reason =
            #"the path of Bare has the name of its path argument id in place of the value: write \(id) there, or make the path"#
            + " with RoutePath(literal:) where (id) itself is meant"
        #expect(error?.kind == .invalidConfiguration(reason: reason))
        #expect(rig.sent.isEmpty)
        let released = Rig { $0.checksEndpoints = false }
        #expect(await failure { try await released.client.send(Bare(id: 7, quantity: 2)) } == nil)
    }

    @Test func `a name in bare parentheses was to be interpolated, whatever else was`() {
        #expect(EndpointCheck.bareArgument(of: SecondBare(user: "alice", post: "p q")) == "post")
        #expect(EndpointCheck.bareArgument(of: SecondBare(user: "alice", post: nil)) == nil)
    }

    @Test func `a name in parentheses is text where the value is interpolated too, or the path is made at run time`() {
        let id = "seven eight"
        for route: Route in [
            .get("/Users(id)/items/\(id)"), .get("/Users(\(id))"), .get("/Users(ident)"), .get("/orders"),
            Route(.get, RoutePath(literal: "/Users(id)")),
        ] { #expect(EndpointCheck.bareArgument(of: Argued(id: id, route: route)) == nil) }
        #expect(EndpointCheck.bareArgument(of: Argued(id: id, route: .get("/Users(id)"))) == "id")
    }

    @Test
    func `a name in parentheses is text where the argument may be interpolated in another form, or chooses the path`() {
        let id = "seven"
        for route: Route in [
            .get("/fn(id)/\(id.uppercased())"), .get("/fn(id)/\("a")/\(id.count)"), .get("/fn(id)/by-\(id.count)"),
        ] { #expect(EndpointCheck.bareArgument(of: Argued(id: id, route: route)) == nil) }
        for on in [true, false] { #expect(EndpointCheck.bareArgument(of: Flagged(on: on, off: !on)) == nil) }
    }

    @Test func `an argument may choose a path, a method, a service or a decoding, and be written in any form`()
        async throws
    {
        let rig = Rig { $0.services.register("new") { Service("new", "https://new.example") } }
        let choosing = Choosing(
            key: "data.id", method: .post, version: 3, since: Date(timeIntervalSince1970: 0), quantity: 2)
        #expect(try await rig.client.send(choosing) == 7)
        #expect(rig.sent.map(\.url.host) == ["new.example"])
    }

    @Test func `an envelope of the endpoint's own whose codes for success cannot occur fails its first call`() async {
        struct Odd: Endpoint {
            typealias Output = Product
            var route: Route { .get("/odd") }
            var envelope: EnvelopeChoice { .custom(Envelope(success: ["0", "OK"])) }
        }
        let rig = Rig()
        let error = await failure { try await rig.client.send(Odd()) }
        let reason =
            #"the envelope of Odd reads its code as an integer, which none of its codes for success is: "0", "OK""#
        #expect(error?.kind == .invalidConfiguration(reason: reason))
        #expect(rig.sent.isEmpty)
    }

    @Test(arguments: [EnvelopeChoice.ofService, .custom(Envelope(codeType: .string))])
    func `an envelope whose codes cannot occur is nothing to an endpoint that looks for none`(
        envelope: EnvelopeChoice
    ) async throws {
        struct Page: Endpoint {
            typealias Output = String
            let envelope: EnvelopeChoice
            var decoding: ResponseDecoding<String> { .text }
            var route: Route { .get("/page") }
        }
        struct EnvelopedPage: Endpoint {
            typealias Output = String
            let envelope: EnvelopeChoice
            var route: Route { .get("/page") }
        }
        let expiry = BearerAuthenticator(expiry: ExpiryRule(codes: ["40101"]))
        for service in [Envelope(codeType: .string), Envelope()] {
            let rig = Rig([.shop { ($0.envelope, $0.authenticator) = (service, expiry) }]) {
                $0.vault = MemoryVault()
            } answering: { _ in
                HTTPResponse(status: 200, body: Data("hi".utf8))
            }
            #expect(try await rig.client.send(Page(envelope: envelope)) == "hi")
            let error = await failure { try await rig.client.send(EnvelopedPage(envelope: envelope)) }
            guard case .invalidConfiguration = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct PathArgumentTests {
    struct Put: Endpoint, Encodable, Hashable {
        typealias Output = Product
        @PathArgument var id: Int
        @PathArgument var part: String
        let quantity: Int
        var route: Route { Route(.put, "/things/\(id)/\(part)") }
    }

    struct Delete: Endpoint, Encodable {
        typealias Output = Product
        @PathArgument var id: Int
        var route: Route { .delete("/things/\(id)") }
    }

    @Test func `what the path is made of is not sent again as a parameter`() async throws {
        let rig = Rig()
        _ = try await rig.client.send(Put(id: 5, part: "x y", quantity: 2))
        _ = try await rig.client.send(Delete(id: 5))
        #expect(rig.sent.map(\.url.path).map { $0.hasSuffix("/things/5/x%20y") } == [true, false])
        #expect(rig.sent[0].text == #"{"quantity":2}"#)
        #expect(rig.sent[1].url.query == nil)
    }

    @Test func `an endpoint with one is a value like any other`() throws {
        #expect(Put(id: 5, part: "x", quantity: 2) == Put(id: 5, part: "x", quantity: 2))
        #expect(Put(id: 5, part: "x", quantity: 2) != Put(id: 6, part: "x", quantity: 2))
        let json = try JSONEncoder().encode(Put(id: 5, part: "x", quantity: 2))
        #expect(String(decoding: json, as: UTF8.self) == #"{"quantity":2}"#)
    }
}
