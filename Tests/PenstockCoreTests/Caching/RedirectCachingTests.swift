import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Redirects are stored hop by hop, and followed without asking the server again (RFC 9110 §15.4, RFC 9111 §3).
@Suite(.timeLimit(.minutes(5))) struct RedirectCachingTests {
    private static let body = Data("<p>It is over there.</p>".utf8)

    private static func moved(_ status: Int, _ fields: HTTPFields = [:], to target: String = "/new") -> HTTPResponse {
        var response = HTTPResponse(status: status, fields: [.location: target], body: body)
        response.fields.append(contentsOf: fields)
        response.fields[.contentLength] = "\(body.count)"
        return response
    }

    /// A server whose list has moved, and which counts where it was asked.
    private static func rig(_ redirect: HTTPResponse, policy: CachePolicy = .http) -> CacheRig {
        CacheRig(policy) { request throws(TransportError) in request.url.path == "/new" ? .tea(1) : redirect }
    }

    private func paths(_ rig: CacheRig) -> [String] { rig.rig.sent.map(\.url.path) }

    @Test(
        "A redirect is followed from the cache as long as it is fresh",
        arguments: [
            (301, [:]), (308, [:]), (301, ["Cache-Control": "max-age=60"]), (302, ["Cache-Control": "max-age=60"]),
            (307, ["Cache-Control": "max-age=60"]), (308, ["Cache-Control": "max-age=60"]),
        ] as [(Int, HTTPFields)])
    func reused(status: Int, fields: HTTPFields) async throws {
        let rig = Self.rig(Self.moved(status, fields))
        #expect(try await rig.tea().attempts.map(\.status) == [status, 200])
        let again = try await rig.tea()
        #expect(again.value.id == 1)
        #expect(again.request.url.path == "/new")
        #expect(paths(rig) == ["/api/tea", "/new"])
        #expect(rig.events.grammarViolations == [])
    }

    @Test(
        "What says nothing of its lifetime, or forbids it, is asked for each time",
        arguments: [
            (302, [:]), (307, [:]), (303, [:]), (301, ["Cache-Control": "no-store"]),
            (301, ["Cache-Control": "no-cache"]),
            (308, ["Cache-Control": "max-age=0"]),
        ] as [(Int, HTTPFields)])
    func notReused(status: Int, fields: HTTPFields) async throws {
        let rig = Self.rig(Self.moved(status, fields))
        _ = try await rig.tea()
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/new", "/api/tea"])
    }

    @Test("A permanent redirect without a lifetime is believed for a day")
    func aDay() async throws {
        let rig = Self.rig(Self.moved(301))
        _ = try await rig.tea()
        rig.pass(86_399)
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/new", "/new"])
        rig.pass(2)
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/new", "/new", "/api/tea"])
    }

    @Test("Its content was never read, so it answers no call that asks for the redirect itself")
    func contentIsUnknown() async throws {
        let rig = Self.rig(Self.moved(301))
        _ = try await rig.tea()
        let asking = CallOptions.with {
            $0.redirects = .never
            $0.status = .any
        }
        let request = HTTPRequest(method: .get, url: rig.rig.sent[0].url)
        let response = try await rig.client.send(request, options: asking)
        #expect(response.http.status == 301)
        #expect(response.data == Self.body)
        // Stored whole, it answers both.
        #expect(try await rig.client.send(request, options: asking).data == Self.body)
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/new", "/api/tea"])
    }

    @Test("Of a chain each hop is stored for itself")
    func chain() async throws {
        let rig = CacheRig { request throws(TransportError) in
            switch request.url.path {
            case "/new": .tea(1)
            case "/between": Self.moved(302, to: "/new")
            default: Self.moved(308, to: "/between")
            }
        }
        _ = try await rig.tea()
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/between", "/new", "/between"])
    }

    @Test("A redirect to what does not pass is not stored, and a stored one is not dropped for it", .covers("S2.13"))
    func judged() async throws {
        let rig = Self.rig(Self.moved(301))
        let endpoint = Tea(validator: .rule("is never good") { _ in false })
        #expect(await failure { try await rig.client.send(endpoint) } != nil)
        #expect(await rig.store.statistics().entries == 0)
        _ = try await rig.tea()
        rig.serves { request throws(TransportError) in
            request.url.path == "/new" ? HTTPResponse(status: 500) : Self.moved(301)
        }
        rig.pass(61)
        #expect(await failure { try await rig.client.send(Tea()) }?.kind == .httpStatus(500))
        #expect(paths(rig) == ["/api/tea", "/new", "/api/tea", "/new", "/new"])
    }

    @Test("A redirect belongs to one user like everything that is stored", .covers("H28"))
    func users() async throws {
        let rig = Self.rig(Self.moved(301))
        _ = try await rig.tea()
        rig.user.value = "bob"
        _ = try await rig.tea()
        #expect(paths(rig) == ["/api/tea", "/new", "/api/tea", "/new"])
    }

    @Test("Without a connection both the redirect and what it leads to come from the store")
    func offline() async throws {
        let rig = Self.rig(Self.moved(301), policy: .networkElseCache)
        _ = try await rig.tea()
        rig.pass(86_401)
        rig.isOffline()
        #expect(try await rig.tea().value.id == 1)
    }

    @Test("A method that changes something is redirected by the server alone")
    func writes() async throws {
        let rig = Self.rig(Self.moved(308))
        _ = try await rig.client.send(Pour())
        _ = try await rig.client.send(Pour())
        #expect(paths(rig) == ["/api/pour", "/new", "/api/pour", "/new"])
    }

    @Test("Calls that look at a redirect and calls that follow it share no exchange")
    func sharing() async throws {
        let script = ScriptedTransport([
            .held(.respond(Self.moved(301, ["Cache-Control": "max-age=60"]))),
            .held(.respond(Self.moved(301, ["Cache-Control": "max-age=60"]))), .respond(.tea(1)),
        ])
        let client = CallSupport.client(script) { $0.options.cache = .http }
        let request = HTTPRequest(method: .get, url: try HTTPURL("https://api.example.com/old"))
        async let followed = client.send(request)
        await script.waitForExchanges(count: 1)
        async let seen = client.send(request, options: .with { $0.redirects = .never })
        await script.waitForExchanges(count: 2)
        script.release()
        script.release()
        #expect(try await followed.http.status == 200)
        #expect(try await seen.data == Self.body)
    }
}
