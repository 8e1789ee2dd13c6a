import Foundation
import PenstockCore
import PenstockTesting

/// A client over a stub that answers every request alike, unless told otherwise.
struct Rig: Sendable {
    let stub: StubTransport
    let client: APIClient

    init(
        _ services: [Service] = [.shop()], build: BuildFlavor = .debug,
        _ change: (inout APIClient.Configuration) -> Void = { _ in },
        answering respond: @escaping StubTransport.Responder = { _ in .product }
    ) {
        var configuration = APIClient.Configuration(services: services, build: build)
        change(&configuration)
        stub = StubTransport(respond)
        client = APIClient(configuration, transport: stub)
    }

    var sent: [HTTPRequest] { stub.requests }
    /// The requests as bytes.
    var wires: [String] { stub.requests.map(\.wire) }
    /// The hosts that were asked, in order.
    var hosts: [String] { stub.requests.map(\.url.host) }
}

extension Service {
    /// A service with a host for each environment.
    static func shop(
        _ id: ServiceID = .main, host: String = "shop.example.com", _ change: (inout Service) -> Void = { _ in }
    ) -> Service {
        let urls = ServerEnvironment.standard.map { ($0, "https://\($0.name.lowercased()).\(host)/api") }
        var service = Service(id, BaseURLs(Dictionary(uniqueKeysWithValues: urls)), envelope: .retcode)
        change(&service)
        return service
    }
}

extension HTTPResponse {
    static let product = json(#"{"retcode":0,"retdesc":"","data":{"id":7,"name":"tea"}}"#)

    static func redirect(_ status: Int = 302, to location: String) -> HTTPResponse {
        HTTPResponse(status: status, fields: [.location: location])
    }
}

extension HTTPRequest {
    /// Everything of it, secrets too, as one text.
    var wire: String {
        let lines = fields.map { "\($0.name.text): \($0.value)" }.joined(separator: "\n")
        return "\(method) \(url.absoluteString)\n\(lines)\n\n\(text)"
    }

    /// The content as UTF-8.
    var text: String {
        guard case .bytes(let data) = body.source else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

struct GetProduct: Endpoint {
    typealias Output = Product
    var id = "7"
    var route: Route { .get("/products/\(id, name: "id")") }
}

struct LogIn: Endpoint, Encodable {
    typealias Output = Product
    let account: String
    let password: String
    var route: Route { .post("/user/login") }

    static var parameterRules: ParameterRules<LogIn> {
        [.notEmpty("account", \.account), .length("password", \.password, 6...64)]
    }
}

/// The shop's manager, as an app would write it: nobody sees a path.
struct ShopManager: Sendable {
    let client: APIClient

    func login(account: String, password: String) async throws(APIError) -> Product {
        try await client.send(LogIn(account: account, password: password))
    }

    func product(_ id: String) -> Call<Product> {
        client.start(GetProduct(id: id))
    }
}

/// Keeps what passes an interceptor.
final class Capture: Interceptor {
    private let seen = Locked<[(HTTPRequest, CallContext)]>([])

    var requests: [HTTPRequest] { seen.withLock { $0.map(\.0) } }
    var contexts: [CallContext] { seen.withLock { $0.map(\.1) } }

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        seen.withLock { $0.append((request, call)) }
        return try await next(request)
    }
}

/// An interceptor in a closure.
struct Intercepting: Interceptor {
    let body: @Sendable (HTTPRequest, CallContext, Next) async throws -> Exchange

    init(_ body: @escaping @Sendable (HTTPRequest, CallContext, Next) async throws -> Exchange) {
        self.body = body
    }

    func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
        try await body(request, call, next)
    }

    /// Sets one header.
    static func setting(_ name: HTTPFieldName, _ value: String) -> Intercepting {
        Intercepting { request, _, next in
            var request = request
            request.fields[name] = value
            return try await next(request)
        }
    }
}

/// A signer that covers all that it sees.
struct WireSigner: Signer {
    var key = "k"
    var trustedOrigins: Set<HTTPURL.Origin> = []

    func sign(_ request: HTTPRequest, call: CallContext) async throws -> HTTPRequest {
        var signed = request
        signed.fields["X-Signed"] = Self.digest(key, request)
        return signed
    }

    /// No cryptography, but every byte counts.
    static func digest(_ key: String, _ request: HTTPRequest) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (key + request.wire).utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

/// The `APIError` that `body` throws; `nil` when it throws none.
func failure(_ body: () async throws -> some Sendable) async -> APIError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? APIError
    }
}

/// A value that is read and changed from several places.
final class Box<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result { state.withLock(change) }
}
