import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct EndpointDescriptionTests {
    /// A route and a result type: nothing else is required.
    struct Least: Endpoint {
        typealias Output = Product
        var route: Route { .get("/least") }
    }

    @Test(.covers("S2.32"), .timeLimit(.minutes(5)))
    func `an endpoint of a route and a result type is sent, cancelled and tested without a network`() async throws {
        let script = ScriptedTransport([.respond(.product), .held(.respond(.product)), .held(.respond(.product))])
        let client = APIClient(.init(services: [.shop()]), transport: script)
        #expect(try await client.send(Least()).name == "tea")
        let least = client.start(Least())
        let other = client.start(GetProduct())
        await script.waitForExchanges(count: 3)
        client.cancel(Least.self)
        #expect(await failure { try await least.value }?.kind == .cancelled)
        script.release()
        script.release()
        #expect(try await other.value.id == 7)
        let sent = try #require(script.requests.first?.request)
        #expect(sent.method == .get && sent.body.isNone && sent.url.path == "/api/least")
    }

    @Test(.covers("S2.31"))
    func `APIs of separate files and versions stand side by side, also under one name`() async throws {
        let rig = Rig()
        _ = try await rig.client.send(Catalogue.V1.Products())
        _ = try await rig.client.send(Catalogue.V1.Order(id: 1))
        _ = try await rig.client.send(Catalogue.V2.Order(id: 1, coupon: "x"))
        #expect(
            rig.sent.map { "\($0.method) \($0.url.path)" } == [
                "GET /api/v1/products", "POST /api/v1/order", "PUT /api/v2/orders/1",
            ])
    }

    @Test(.covers("S3.25")) func `an API goes as it is into another app, with other services and rules`() async throws {
        let first = Rig([.shop(host: "one.example")]) { $0.headers = ["X-App": "one"] }
        let second = Rig([.shop(host: "two.example") { $0.envelope = Envelope() }]) { _ in
        } answering: { _ in
            .json(#"{"code":0,"data":{"id":9,"name":"other"}}"#)
        }
        let api = Catalogue.V1.Order(id: 1)
        #expect(try await first.client.send(api).id == 7)
        #expect(try await second.client.send(api).id == 9)
        #expect(first.sent.map(\.text) == second.sent.map(\.text))
        #expect(first.hosts + second.hosts == ["development.one.example", "development.two.example"])
    }

    struct GetProductAgain: Endpoint {
        typealias Output = Product
        let id: Int
        var route: Route { .get("/products/\(id, name: "id")") }
    }

    struct GetProductUnnamed: Endpoint {
        typealias Output = Product
        let id: Int
        var route: Route { .get("/products/\(id)") }
    }

    struct GetProductByPID: Endpoint {
        typealias Output = Product
        let pid: String
        var route: Route { .get("/products/\(pid, name: "pid")") }
    }

    struct GetProductBraces: Endpoint {
        typealias Output = Product
        var route: Route { .get("/products/{id}") }
    }

    struct ElsewhereProduct: Endpoint {
        typealias Output = Product
        var route: Route { .get("/products/\("7", name: "id")") }
        var service: ServiceID { "other" }
    }

    @Test(.covers("S1.14")) func `two APIs that claim one verb and path are named, those of another service are not`() {
        let all: [any Endpoint] = [
            GetProduct(id: "1"), Least(), GetProductAgain(id: 2), ElsewhereProduct(), Catalogue.V1.Order(id: 1),
            Catalogue.V2.Order(id: 1, coupon: "x"), LogIn(account: "a", password: "b"),
        ]
        let duplicates = Route.duplicates(among: all)
        #expect(duplicates.map(\.endpoints) == [["GetProduct", "GetProductAgain"]])
        #expect(duplicates.first?.template == "/products/{}")
        #expect(duplicates.first?.method == .get)
        #expect(duplicates.first?.service == .main)
        #expect(Route.duplicates(among: [GetProduct(), ElsewhereProduct(), Least()]).isEmpty)
    }

    @Test(.covers("S1.14")) func `the names of arguments make no other path, braces that are text do`() {
        let samples: [any Endpoint] = [
            GetProduct(id: "1"), GetProductBraces(), GetProductUnnamed(id: 1), GetProductByPID(pid: "x"),
        ]
        let duplicates = Route.duplicates(among: samples)
        #expect(duplicates.map(\.endpoints) == [["GetProduct", "GetProductUnnamed", "GetProductByPID"]])
        #expect(duplicates.map(\.template) == ["/products/{}"])
    }
}

@Suite(.timeLimit(.minutes(5))) struct CallErrorTests {
    private static func send(
        _ respond: @escaping StubTransport.Responder, _ change: (inout APIClient.Configuration) -> Void = { _ in },
        service: (inout Service) -> Void = { _ in }
    ) async -> APIError? {
        let rig = Rig([.shop(.main, service)], change, answering: respond)
        return await failure { try await rig.client.send(GetProduct()) }
    }

    private static func family(_ error: APIError?) -> String {
        switch error?.kind {
        case .unreachable, .timeout, .tls, .transport, .limitExceeded: "network"
        case .httpStatus(let status): "status \(status)"
        case .business(let code, let message): "business \(code) \(message)"
        case .malformedEnvelope: "envelope"
        case .decoding(let path, _): "decoding \(path)"
        case .validation(let rule): "validation \(rule)"
        case nil: "success"
        default: "other"
        }
    }

    struct Judged: Endpoint {
        typealias Output = Product
        var route: Route { .get("/judged") }
        var validator: Validator<Product> { .rule("named tea") { $0.name == "coffee" } }
    }

    @Test(.covers("S1.18")) func `each cause of a failed call has its own case in one switch`() async {
        let broken = await Self.send { _ throws(TransportError) in
            throw TransportError(.connectionLost, sendState: .maybeProcessed)
        }
        #expect(Self.family(broken) == "network")
        #expect(broken?.sendState == .maybeProcessed)
        let answers: [(HTTPResponse, String)] = [
            (.json("<html>", status: 404), "status 404"),
            (.json(#"{"retcode":44,"retdesc":"sold out"}"#), "business 44 sold out"),
            (.json(#"{"data":{}}"#), "envelope"),
            (.json(#"{"retcode":0,"data":{"id":"x","name":"tea"}}"#), "decoding data.id"),
            (.product, "success"),
        ]
        for (response, expected) in answers {
            let error = await Self.send { _ in response }
            #expect(Self.family(error) == expected)
            if let error {
                #expect(error.response?.body == response.body)
                #expect(error.request?.url.path == "/api/products/7")
                #expect(error.sendState == .answered)
                #expect(error.attempts.count == 1)
            }
        }
        let judged = await failure { try await Rig().client.send(Judged()) }
        #expect(Self.family(judged) == "validation named tea")
    }

    @Test(.covers("S2.23")) func `errors of calls are worded in one place, and a service has its own words`() async {
        func wording(_ response: HTTPResponse) async -> APIError? {
            await Self.send({ _ in response }) {
                $0.errorMapper = ErrorMapper { error in
                    switch error.kind {
                    case .business: .init(code: 1, userText: "Refused.", debugText: "client's")
                    case .httpStatus: .init(code: 2, userText: "Away.")
                    default: nil
                    }
                }
            } service: {
                $0.errorMapper = ErrorMapper { error in
                    if case .business(401, _) = error.kind { .init(code: 3, userText: "Log in.") } else { nil }
                }
            }
        }
        let login = await wording(.json(#"{"retcode":401,"retdesc":"x"}"#))
        #expect(login?.presentation == .init(code: 3, userText: "Log in."))
        #expect(login?.localizedDescription == "Log in.")
        let refused = await wording(.json(#"{"retcode":5,"retdesc":"x"}"#))
        #expect(refused?.presentation == .init(code: 1, userText: "Refused.", debugText: "client's"))
        #expect(await wording(.json("", status: 500))?.presentation?.code == 2)
        #expect(await wording(.json("{}"))?.presentation == nil)
    }
}
