import Foundation
import PenstockCore
import PenstockInspect
import PenstockTesting

struct Message: Codable, Hashable, Sendable {
    var text: String
}

/// The API that these tests send.
struct Hello: Endpoint, Encodable {
    typealias Output = Message
    var name = "world"
    var route: Route { .get("/hello") }
}

struct Order: Endpoint, Encodable {
    typealias Output = Message
    var quantity = 2
    var password = "c4n4ry-password"
    var route: Route { .post("/orders") }
}

enum InspectRig {
    static let greeting = HTTPResponse(
        status: 200, fields: [.contentType: "application/json"], body: Data(#"{"text":"hello"}"#.utf8))

    static func client(
        _ transport: any Transport = answering(), _ change: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        var configuration = APIClient.Configuration(
            services: [Service(.main, [.development: "https://api.example.com"])], build: .debug)
        configuration.options.retry = RetryPolicy.none
        change(&configuration)
        return APIClient(configuration, transport: transport)
    }

    static func answering(_ response: HTTPResponse = greeting) -> StubTransport {
        StubTransport { _ throws(TransportError) in response }
    }

    static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    static func url(_ text: String = "https://api.example.com/hello") throws -> HTTPURL { try HTTPURL(text) }

    /// One of each kind of event, in an order that a call could have.
    static func oneOfEach() throws -> [Event] {
        let (url, request) = (try url(), HTTPRequest(method: .get, url: try url()))
        return [
            .callStarted(.init(endpoint: "Hello", service: .main, environment: .test)), .callEnded(.success),
            .inFlightDecided(.waits(.seconds(1))), .stageStarted(.retry),
            .queued(.host), .admitted(after: .seconds(1)),
            .credentialDecided(.renewing), .requestSent(request), .responseBrokeOff(greeting),
            .requestFailed(.timeout(.connect), sendState: .unsent, timings: .init(), connection: .init()),
            .retried(after: .seconds(1), reason: .timeout(.connect), budgetLeft: 9), .hedged, .requestSent(request),
            .responseReceived(greeting, timings: .init(), connection: .init()),
            .redirected(status: 302, from: url, to: url), .notRetried(.budgetUsedUp),
            .circuitChanged(url.origin, .halfOpen), .replayed(by: .cache, pass: 2), .stageEnded(.retry, .success),
            .answered(.init(request: request, response: greeting)), .contentEnded(bytes: 1, .init()),
            .defaultUsed(path: "a.b"), .cacheDecided(.uriMiss, CacheStatus(CacheExchange(loading: request, .uriMiss))),
            .callEnded(.failure(.httpStatus(500))), .callEnded(.cancelled),
        ]
    }
}

/// Keeps what a log says.
final class KeptLog: LogDestination {
    private let state = Locked<[LogEntry]>([])

    func write(_ entry: LogEntry) { state.withLock { $0.append(entry) } }

    var entries: [LogEntry] { state.withLock { $0 } }
    var messages: [String] { entries.map(\.message) }
}
