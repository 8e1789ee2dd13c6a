import Foundation
import PenstockCore
import PenstockTesting

/// A client with a cache over a server whose answer, clock and user a test changes as it goes.
struct CacheRig: Sendable {
    let clock = TestClock()
    let store: MemoryCacheStore
    let events = EventRecorder()
    let user = Box("alice")
    let rig: Rig
    private let answer: Box<StubTransport.Responder>

    init(
        _ policy: CachePolicy? = .http, answering respond: @escaping StubTransport.Responder = { _ in .tea(1) },
        configured change: (inout APIClient.Configuration) -> Void = { _ in }
    ) {
        let (clock, events, user, answer) = (clock, events, user, Box(respond))
        store = MemoryCacheStore(time: clock.timeSource)
        self.answer = answer
        rig = Rig([.shop()]) { [store] in
            $0.cache = .store(store)
            $0.options.cache = policy
            // Nobody moves the clock for a wait between attempts.
            $0.options.retry = RetryPolicy.none
            $0.time = clock.timeSource
            $0.sinks = [events]
            $0.identity = { user.value }
            change(&$0)
        } answering: { request throws(TransportError) in
            try answer.value(request)
        }
    }

    var client: APIClient { rig.client }
    /// How many requests reached the server.
    var hits: Int { rig.sent.count }
    var lastSent: HTTPFields { rig.sent.last?.fields ?? [:] }

    func serves(_ respond: @escaping StubTransport.Responder) { answer.value = respond }

    func serves(_ response: HTTPResponse) { serves { _ in response } }

    /// The server cannot be reached.
    func isOffline() {
        serves { _ throws(TransportError) in throw TransportError(.unreachable(.offline), sendState: .unsent) }
    }

    func pass(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    func tea(_ policy: CachePolicy? = nil, page: Int = 1) async throws -> APIResponse<Product> {
        try await client.response(for: Tea(page: page), options: .with { $0.cache = policy })
    }
}

/// What can be cached: a list with a parameter.
struct Tea: Endpoint {
    typealias Output = Product
    var page = 1
    var cacheTags: [String] = ["tea"]
    var options = CallOptions()
    var validator = Validator<Product>.none
    var invalidates: [CacheSelection] = []
    var parameters: ParameterObject { ["page": page] }
    var route: Route { .get("/tea") }
}

/// The same list as bytes, of which nothing is asked but what is said here.
struct Leaves: Endpoint {
    typealias Output = Data
    var cacheTags: [String] = ["tea"]
    var envelope = EnvelopeChoice.none
    var payloadValidator = Validator<Payload>.none
    var validator = Validator<Data>.none
    var route: Route { .get("/tea") }
}

/// A write, and what it makes out of date.
struct Pour: Endpoint {
    typealias Output = Product
    var invalidates: [CacheSelection] = [.tag("tea")]
    var route: Route { .post("/pour") }
}

extension HTTPResponse {
    /// A product whose identifier tells one version from another; a minute fresh unless told otherwise.
    static func tea(_ version: Int, _ fields: HTTPFields = ["Cache-Control": "max-age=60"]) -> HTTPResponse {
        var response = json(#"{"retcode":0,"retdesc":"","data":{"id":\#(version),"name":"tea"}}"#)
        response.fields.append(contentsOf: fields)
        return response
    }

    static let notModified = HTTPResponse(status: 304, fields: ["ETag": "\"1\""])
}
