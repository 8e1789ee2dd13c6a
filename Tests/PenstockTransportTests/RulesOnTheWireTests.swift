import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Rules below a client, on every transport.
@Suite(.timeLimit(.minutes(5)))
struct RulesOnTheWireTests {
    private struct Order: Endpoint, Encodable {
        typealias Output = Data
        var item = "tea"
        var route: Route { .post("/v1/orders") }
    }

    private struct Status: Codable, Equatable, Sendable {
        var state: String
    }

    private struct GetStatus: Endpoint {
        typealias Output = Status
        var route: Route { .get("/v1/status") }
    }

    /// A client of a service that does not exist, with rules over the transport to a server that does.
    private func run(
        _ transport: TransportUnderTest, _ make: (HTTPURL) throws -> [RequestRules.Rule],
        _ body: (LoopbackServer, APIClient) async throws -> Void
    ) async throws {
        let server = try LoopbackServer {
            .text("\($0.method) \($0.target) \($0.fields[.authorization] ?? "-") \($0.text)")
        }
        defer { server.stop() }
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: "https://api.example.test"])], build: .debug)
        configuration.options.retry = RetryPolicy.none
        configuration.headers = [.authorization: "Bearer mine"]
        let rules = try RequestRules(make(server.url), build: .debug)
        let client = APIClient(configuration, transport: RuleTransport(transport.make(server), rules: rules))
        do {
            try await body(server, client)
        } catch {
            await client.transport.shutdown()
            throw error
        }
        await client.transport.shutdown()
    }

    @Test(
        "A rule reroutes a client's request to another scheme, host and port with its body", .covers("S0.13"),
        arguments: TransportUnderTest.all)
    func reroute(transport: TransportUnderTest) async throws {
        try await run(transport) {
            [.init("staging", .host("api.example.test"), .reroute(to: $0))]
        } _: { server, client in
            let text = String(decoding: try await client.send(Order()), as: UTF8.self)
            #expect(text == #"POST /v1/orders Bearer mine {"item":"tea"}"#)
            #expect(server.requestCount == 1)
        }
    }

    @Test(
        "A dropped request never leaves, and the error names the rule", .covers("S0.14"),
        arguments: TransportUnderTest.all)
    func drop(transport: TransportUnderTest) async throws {
        try await run(transport) { _ in
            [.init("no orders", .path("/v1/*"), .drop)]
        } _: { server, client in
            let error = await client.failure(Order())
            #expect(error?.kind == .blocked(reason: "the rule no orders drops the request"))
            #expect(error?.sendState == .unsent)
            #expect(server.requestCount == 0)
        }
    }

    @Test(
        "A redirect rule rewrites request, address and authorization; without one of its own none crosses origins",
        .covers("S0.15"), arguments: TransportUnderTest.all)
    func redirect(transport: TransportUnderTest) async throws {
        for (authorization, seen) in [(nil, "-"), ("Bearer theirs", "Bearer theirs")] {
            try await run(transport) { url in
                let target = try url.resolving("/other?x=1")
                let redirection = RequestRules.Redirection(
                    to: target, method: .put, authorization: authorization, body: .bytes(Data("new".utf8)))
                return [.init("mirror", .all, .redirect(redirection))]
            } _: { server, client in
                let text = String(decoding: try await client.send(Order()), as: UTF8.self)
                #expect(text == "PUT /other?x=1 \(seen) new")
                #expect(server.requestCount == 1)
            }
        }
    }

    @Test(
        "A rule's response has its status, fields, body and delay, is decoded like a real one, and nothing is sent",
        .covers("S0.16"), arguments: TransportUnderTest.all)
    func respond(transport: TransportUnderTest) async throws {
        let delay = Duration.milliseconds(120)
        try await run(transport) { _ in
            var good = HTTPResponse.json(["state": "open"])
            good.fields["X-Made"] = "here"
            return [
                .init("status", .path("/v1/status"), .respond(good, after: delay)),
                .init(
                    "sold out", .path("/v1/orders", .post), .respond(HTTPResponse(status: 409, body: Data("no".utf8)))),
            ]
        } _: { server, client in
            let start = ContinuousClock.now
            let response = try await client.response(for: GetStatus())
            #expect(ContinuousClock.now - start >= delay)
            #expect(response.value == Status(state: "open") && response.http.fields["X-Made"] == "here")
            let error = await client.failure(Order())
            #expect(error?.kind == .httpStatus(409) && error?.response?.body == Data("no".utf8))
            #expect(server.requestCount == 0)
        }
    }
}
