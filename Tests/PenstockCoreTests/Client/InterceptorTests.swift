import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct InterceptorTests {
    struct Foreign: Error, Equatable { let number: Int }

    struct Hooked: Endpoint {
        typealias Output = Product
        var callInterceptors: [any Interceptor] = []
        var attemptInterceptors: [any Interceptor] = []
        var route: Route { .get("/hooked") }
    }

    private static func isBlocked(_ error: APIError?) -> Bool {
        if case .blocked = error?.kind { true } else { false }
    }

    // MARK: Order

    /// Notes its name on the way down and on the way up.
    private static func noting(_ name: String, in log: Box<[String]>) -> Intercepting {
        Intercepting { request, _, next in
            log.update { $0.append(name) }
            let exchange = try await next(request)
            log.update { $0.append("/" + name) }
            return exchange
        }
    }

    @Test func `client's before service's before endpoint's, and call's outside attempt's`() async throws {
        let log = Box<[String]>([])
        let service = Service.shop {
            $0.callInterceptors = [Self.noting("call service", in: log)]
            $0.attemptInterceptors = [Self.noting("attempt service", in: log)]
        }
        let rig = Rig([service]) {
            $0.callInterceptors = [Self.noting("call client 1", in: log), Self.noting("call client 2", in: log)]
            $0.attemptInterceptors = [Self.noting("attempt client", in: log)]
        }
        let endpoint = Hooked(
            callInterceptors: [Self.noting("call endpoint", in: log)],
            attemptInterceptors: [Self.noting("attempt endpoint", in: log)])
        _ = try await rig.client.send(endpoint)
        let down = [
            "call client 1", "call client 2", "call service", "call endpoint", "attempt client", "attempt service",
            "attempt endpoint",
        ]
        #expect(log.value == down + down.reversed().map { "/" + $0 })
    }

    @Test(.covers("S3.46")) func `an endpoint's interceptors run for it alone`() async throws {
        let (call, attempt) = (Capture(), Capture())
        let rig = Rig()
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(Hooked(callInterceptors: [call], attemptInterceptors: [attempt]))
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(Hooked())
        #expect(call.requests.map(\.url.path) == ["/api/hooked"])
        #expect(attempt.requests.map(\.url.path) == ["/api/hooked"])
        #expect(rig.wires[0] == rig.wires[2])
        #expect(rig.sent.count == 4)
    }

    @Test(.covers("S3.46"), arguments: [true, false])
    func `an endpoint's interceptors see its requests go and its responses come, and change those of no other`(
        isCall: Bool
    ) async throws {
        let log = Box<[String]>([])
        let hook = Intercepting { request, call, next in
            log.update { $0.append("\(call.endpoint) to \(request.url.path)") }
            var request = request
            request.fields["X-Hook"] = "1"
            var exchange = try await next(request)
            log.update { $0.append("\(call.endpoint) has \(exchange.response.status)") }
            exchange.response = .json(#"{"retcode":0,"data":{"id":8,"name":"hooked"}}"#)
            return exchange
        }
        let rig = Rig()
        let hooked = Hooked(callInterceptors: isCall ? [hook] : [], attemptInterceptors: isCall ? [] : [hook])
        async let first = rig.client.send(hooked)
        async let other = rig.client.send(GetProduct())
        #expect(try await first == Product(id: 8, name: "hooked"))
        #expect(try await other == Product(id: 7, name: "tea"))
        #expect(try await rig.client.send(Hooked()) == Product(id: 7, name: "tea"))
        #expect(log.value == ["Hooked to /api/hooked", "Hooked has 200"])
        #expect(rig.sent.filter { $0.fields.contains("X-Hook") }.map(\.url.path) == ["/api/hooked"])
        #expect(rig.sent.count == 3)
    }

    // MARK: A call interceptor

    @Test func `a call interceptor may answer by itself`() async throws {
        let answering = Intercepting { request, _, _ in
            Exchange(request: request, response: .product, source: .interceptor)
        }
        let rig = Rig { $0.callInterceptors = [answering] }
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.value.name == "tea")
        #expect(response.source == .interceptor)
        #expect(response.attempts.isEmpty)
        #expect(rig.sent.isEmpty)
    }

    @Test func `a call interceptor may send several times`() async throws {
        let count = Box(0)
        let thrice = Intercepting { request, _, next in
            var exchange = try await next(request)
            while exchange.response.status == 503 { exchange = try await next(request) }
            return exchange
        }
        let rig = Rig {
            $0.callInterceptors = [thrice]
        } answering: { _ in
            count.update {
                $0 += 1; return $0
            } < 3 ? HTTPResponse(status: 503) : .product
        }
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.attempts.map(\.status) == [503, 503, 200])
        #expect(rig.sent.count == 3)
    }

    @Test func `an interceptor may change the request and the response`() async throws {
        let changing = Intercepting { request, _, next in
            var request = request
            request.fields["X-In"] = "1"
            var exchange = try await next(request)
            exchange.response.body = Data(
                String(decoding: exchange.response.body, as: UTF8.self)
                    .replacingOccurrences(of: "tea", with: "coffee").utf8)
            return exchange
        }
        for isCall in [true, false] {
            let rig = Rig {
                $0.callInterceptors = isCall ? [changing] : []
                $0.attemptInterceptors = isCall ? [] : [changing]
            }
            #expect(try await rig.client.send(GetProduct()).name == "coffee")
            #expect(rig.sent.first?.fields["X-In"] == "1")
        }
    }

    // MARK: An attempt interceptor

    @Test func `an attempt interceptor that never sends fails the call, and nothing is sent`() async {
        let silent = Intercepting { request, _, _ in Exchange(request: request, response: .product) }
        let rig = Rig { $0.attemptInterceptors = [silent] }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(
            error?.kind
                == .blocked(reason: "the attempt interceptor Intercepting called next 0 times; once is the rule"))
        #expect(rig.sent.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an attempt interceptor that sends twice fails the call, after one exchange`(hidesError: Bool) async {
        let eager = Intercepting { request, _, next in
            let first = try await next(request)
            guard hidesError else { return try await next(request) }
            return (try? await next(request)) ?? first
        }
        let rig = Rig { $0.attemptInterceptors = [eager] }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(Self.isBlocked(error))
        #expect(error?.stage == .attemptInterception)
        #expect(error?.kind.description.contains("what sends a call anew belongs into callInterceptors") == !hidesError)
        #expect(rig.sent.count == 1)
    }

    @Test func `an attempt interceptor that sends twice at once reaches the wire once`() async {
        let eager = Intercepting { request, _, next in
            async let one = next(request)
            async let two = next(request)
            _ = try? await one
            return try await two
        }
        let rig = Rig { $0.attemptInterceptors = [eager] }
        #expect(Self.isBlocked(await failure { try await rig.client.send(GetProduct()) }))
        #expect(rig.sent.count == 1)
    }

    // MARK: Errors

    @Test(arguments: [true, false]) func `a veto is blocked, with its error underneath`(isCall: Bool) async {
        let veto = Intercepting { _, _, _ in throw Foreign(number: 5) }
        let recorder = EventRecorder()
        let rig = Rig {
            $0.callInterceptors = isCall ? [veto] : []
            $0.attemptInterceptors = isCall ? [] : [veto]
            $0.sinks = [recorder]
        }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(error?.kind == .blocked(reason: "Intercepting refused the call"))
        #expect(error?.stage == (isCall ? .callInterception : .attemptInterception))
        #expect(error?.underlying as? Foreign == Foreign(number: 5))
        #expect(rig.sent.isEmpty)
        #expect(recorder.grammarViolations.isEmpty)
    }

    @Test func `an interceptor's own API error arrives as it is`() async {
        let veto = Intercepting { _, _, _ in
            throw APIError(.business(code: 7, message: "closed"), stage: .callInterception)
        }
        let rig = Rig { $0.callInterceptors = [veto] }
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(error?.kind == .business(code: 7, message: "closed"))
    }

    @Test func `an interceptor sees the failure of what is below it and may replace it`() async throws {
        let rescue = Intercepting { request, _, next in
            do {
                return try await next(request)
            } catch let error as APIError where error.kind == .unreachable(.offline) {
                return Exchange(request: request, response: .product, source: .interceptor)
            }
        }
        let rig = Rig {
            $0.callInterceptors = [rescue]
        } answering: { _ throws(TransportError) in
            throw TransportError(.unreachable(.offline), sendState: .unsent)
        }
        let response = try await rig.client.response(for: GetProduct())
        #expect(response.source == .interceptor)
        #expect(response.attempts.map(\.status) == [nil])
    }

    // MARK: Signature, seal, cookies, headers

    /// Turns every byte of the body round.
    struct Rot: Sealer {
        var mask: UInt8 = 0x5A

        func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
            var sealed = request
            if case .bytes(let data) = request.body.source { sealed.body = .bytes(Data(data.map { $0 ^ mask })) }
            return sealed
        }

        func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse {
            var opened = response
            opened.body = Data(response.body.map { $0 ^ mask })
            return opened
        }
    }

    @Test func `the signer sees the final bytes, after interceptors, cookies and seal`() async throws {
        let store = MemoryCookieStore()
        store.receive(
            ["c=1; Path=/"], from: URLSet.url("https://development.shop.example.com/"),
            in: .init(environment: "development"))
        let service = Service.shop {
            $0.sealer = Rot()
            $0.signer = WireSigner()
        }
        let rig = Rig([service]) {
            $0.cookies = store
            $0.attemptInterceptors = [Intercepting.setting("X-Late", "1")]
        } answering: { _ in
            var response = HTTPResponse.product
            response.body = Data(response.body.map { $0 ^ 0x5A })
            return response
        }
        let response = try await rig.client.response(for: LogIn(account: "alice", password: "secret"))
        #expect(response.value.name == "tea")
        let sent = try #require(rig.sent.first)
        #expect(sent.fields[.cookie] == "c=1" && sent.fields["X-Late"] == "1")
        guard case .bytes(let body) = sent.body.source else {
            Issue.record("no body")
            return
        }
        #expect(String(decoding: body.map { $0 ^ 0x5A }, as: UTF8.self) == #"{"account":"alice","password":"secret"}"#)
        var plain = sent
        plain.fields.remove("X-Signed")
        #expect(sent.fields["X-Signed"] == WireSigner.digest("k", plain))
    }

    @Test func `a signer and a sealer that throw stop the call, unsent`() async {
        struct Broken: Signer, Sealer {
            func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                throw Foreign(number: 1)
            }
            func seal(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                throw Foreign(number: 2)
            }
            func open(_ response: HTTPResponse, call: CallContext) async throws -> HTTPResponse { response }
        }
        let services = [Service.shop { $0.signer = Broken() }, .shop { $0.sealer = Broken() }]
        for (service, stage) in zip(services, [StageName.sign, .seal]) {
            let rig = Rig([service])
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(Self.isBlocked(error))
            #expect(error?.stage == stage)
            #expect(error?.underlying is Foreign)
            #expect(rig.sent.isEmpty)
        }
    }

    @Test(.covers("S3.6")) func `headers, cookies and signature are each replaced alone`() async throws {
        func send(header: String, cookie: String, key: String) async throws -> [String?] {
            let store = MemoryCookieStore()
            store.receive(
                ["c=\(cookie); Path=/"], from: URLSet.url("https://development.shop.example.com/"),
                in: .init(environment: "development"))
            struct Keyed: Signer {
                let key: String
                func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
                    var signed = request
                    signed.fields["X-Key"] = key
                    return signed
                }
            }
            let rig = Rig([.shop { $0.signer = Keyed(key: key) }]) {
                $0.cookies = store
                $0.headers = ["X-Header": header]
            }
            _ = try await rig.client.send(GetProduct())
            let fields = try #require(rig.sent.first?.fields)
            return [fields["X-Header"], fields[.cookie], fields["X-Key"]]
        }
        #expect(try await send(header: "1", cookie: "1", key: "1") == ["1", "c=1", "1"])
        #expect(try await send(header: "2", cookie: "1", key: "1") == ["2", "c=1", "1"])
        #expect(try await send(header: "1", cookie: "2", key: "1") == ["1", "c=2", "1"])
        #expect(try await send(header: "1", cookie: "1", key: "2") == ["1", "c=1", "2"])
    }

    // MARK: A hook at each step

    @Test(.covers("S3.2")) func `a hook at each step changes what follows`() async throws {
        struct Renaming: CookieStore {
            func field(for url: HTTPURL, in partition: IsolationKey) -> String? { "hook=cookies" }
            func receive(_ setCookie: [String], from url: HTTPURL, in partition: IsolationKey) {}
            func removeAll(in partition: IsolationKey?) {}
            func removeAll(ofIdentity identity: String) {}
            func moveAll(ofIdentity identity: String, to heir: String, in environment: String) {}
        }
        var registry = ServiceRegistry()
        registry.register(.main) {
            .shop(host: "registry.example.com") {
                $0.parameters = CommonParameters { ["hook": "parameters"] }
                $0.headers = CommonHeaders { ["X-Hook": "headers"] }
                $0.signer = WireSigner()
            }
        }
        var configuration = APIClient.Configuration(registry: registry)
        configuration.cookies = Renaming()
        configuration.callInterceptors = [
            Intercepting { request, _, next in
                var exchange = try await next(request)
                exchange.response = .json(#"{"retcode":0,"data":{"id":8,"name":"response"}}"#)
                return exchange
            }
        ]
        let own = Box<APIClient?>(nil)
        configuration.attemptInterceptors = [
            Intercepting.setting("X-Request", "request"),
            // The record of requests under way: a call is found in it by its id.
            Intercepting { request, call, next in
                var request = request
                request.fields["X-Record"] = own.value?.call(call.id)?.endpoint
                return try await next(request)
            },
        ]
        let stub = StubTransport { _ in .product }
        let client = APIClient(configuration, transport: stub)
        own.value = client
        defer { own.value = nil }
        let response = try await client.response(for: Hooked())
        #expect(client.calls.isEmpty)
        let sent = try #require(stub.requests.first)
        #expect(sent.url.host == "development.registry.example.com")
        #expect(sent.url.query == "hook=parameters")
        #expect(sent.fields["X-Hook"] == "headers")
        #expect(sent.fields[.cookie] == "hook=cookies")
        #expect(sent.fields["X-Request"] == "request")
        #expect(sent.fields["X-Record"] == "Hooked")
        #expect(sent.fields.contains("X-Signed"))
        #expect(response.value == Product(id: 8, name: "response"))
        let reformed = try await response.payload.reformed { try "reform \($0.value(Int.self, at: "id"))" }
        #expect(reformed == "reform 8")
    }

    @Test(.covers("S3.2", "S3.9"), .timeLimit(.minutes(5)))
    func `who hears that a call began finds it by its id, and can end it`() async {
        /// Ends every call of one API as it begins.
        final class Blocker: EventSink {
            let client = Box<APIClient?>(nil)

            func receive(_ event: Event, _ context: EventContext) {
                guard case .callStarted = event, let call = client.value?.call(context.call) else { return }
                if call.endpoint == "LogIn" { client.value?.cancel(call.id) }
            }
        }
        let blocker = Blocker()
        let rig = Rig { $0.sinks = [blocker] }
        blocker.client.value = rig.client
        defer { blocker.client.value = nil }
        let blocked = await failure { try await rig.client.send(LogIn(account: "a", password: "secret")) }
        #expect(blocked?.kind == .cancelled)
        #expect(await failure { try await rig.client.send(GetProduct()) } == nil)
        #expect(rig.sent.map(\.url.path) == ["/api/products/7"])
    }

    @Test func `a closure is an interceptor, in either position`() async throws {
        let attempts = Box(0)
        let rig = Rig {
            $0.callInterceptors = [
                .closure { request, call, next in
                    var request = request
                    request.fields["X-Call"] = call.endpoint
                    return try await next(request)
                }
            ]
            $0.attemptInterceptors.append(
                .closure { request, _, next in
                    attempts.update { $0 += 1 }
                    return try await next(request)
                })
        }
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.first?.fields["X-Call"] == "GetProduct" && attempts.value == 1)
    }
}

@Suite(.timeLimit(.minutes(5))) struct SkippedInterceptorTests {
    struct Marked: Interceptor {
        let name: HTTPFieldName

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            var request = request
            request.fields[name] = "1"
            return try await next(request)
        }
    }

    struct Unmarked: Endpoint {
        typealias Output = Product
        var route: Route { .get("/products/7") }
        var options: CallOptions { .skipping(Marked.self) }
    }

    @Test func `an endpoint leaves out interceptors by their type, in both positions`() async throws {
        let rig = Rig {
            $0.callInterceptors = [Marked(name: "X-Call"), Intercepting.setting("X-Other", "1")]
            $0.attemptInterceptors = [Marked(name: "X-Attempt")]
        }
        _ = try await rig.client.send(Unmarked())
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(Unmarked(), options: .skipping(Intercepting.self))
        let names: [HTTPFieldName] = ["X-Call", "X-Attempt", "X-Other"]
        #expect(
            rig.sent.map { request in names.map { request.fields.contains($0) } }
                == [[false, false, true], [true, true, true], [false, false, false]])
    }

    @Test func `an interceptor knows the endpoint by its type`() async throws {
        let types = Box<[Bool]>([])
        let rig = Rig {
            $0.callInterceptors = [
                .closure { request, call, next in
                    types.update { $0.append(call.endpointType == GetProduct.self) }
                    return try await next(request)
                }
            ]
        }
        _ = try await rig.client.send(GetProduct())
        _ = try await rig.client.send(Unmarked())
        #expect(types.value == [true, false])
    }
}
