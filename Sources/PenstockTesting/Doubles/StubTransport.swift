import Foundation
import PenstockCore

/// A transport without a network, which answers at once what a test has scripted, any number of times.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/products", HTTPResponse(status: 200, body: Data(#"{"retcode":0}"#.utf8)))
/// ```
///
/// An answer for one host goes before an answer for every host, so that two services may have the same path:
///
/// ```swift
/// stub.on(.get, "/status", host: "pay.example.com", HTTPResponse(status: 503))
/// ```
///
/// A request that nothing is scripted for fails loudly: the exchange throws ``TransportError/Kind/unsupported(_:)`` with
/// the method and the URL, and ``unscripted`` keeps them for a test to check at its end.
public final class StubTransport: Transport, PromptTransport {
    /// What answers a request; `nil` for one that is not scripted.
    public typealias Responder = @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse?

    private struct Key: Hashable {
        let method: HTTPMethod
        let path: String
        /// `nil` for every host.
        let host: String?
    }

    private struct Answer {
        let respond: Responder
        let delay: Duration
    }

    private struct State {
        var script: [Key: Answer] = [:]
        var requests: [HTTPRequest] = []
        var unscripted: [String] = []
        /// The exchanges whose answers take their time.
        var waiting: [ExchangeControl] = []
        var isShutDown = false
    }

    private let state = Locked(State())
    private let fallback: @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse?
    private let time: TimeSource

    /// A transport for which nothing is scripted yet.
    ///
    /// - Parameters:
    ///   - time: what delays are measured by; a ``TestClock``'s, where a test moves it by hand.
    ///   - respond: asked where nothing is scripted. Nothing by default.
    public init(time: TimeSource = .system, _ respond: @escaping Responder = { _ in nil }) {
        fallback = respond
        self.time = time
    }

    /// Answers what the server's handler would, without a socket, and counts the request as the server's.
    ///
    /// Only well-formed answers can be given: one that breaks the wire fails as unsupported.
    public init(answeredBy server: LoopbackServer) {
        time = .system
        fallback = { request throws(TransportError) in try await StubAnswer.answer(request, by: server) }
    }

    // MARK: The script

    /// Scripts the answer to one method and path, whatever the query. A later script replaces an earlier one for the same
    /// method, path and host.
    ///
    /// - Parameters:
    ///   - path: with its percent-escapes, as ``HTTPURL/path`` has it. One that no URL has, such as one with a query, ends the
    ///     program: what is answered by its query is scripted by the path, and `respond` looks at the URL.
    ///   - host: whom the request is for, `shop.example.com` or with its port `127.0.0.1:8080`, in any case of letters; `nil`
    ///     for every host for which nothing is scripted. What names the port goes before what does not.
    ///   - delay: how long the answer takes. The exchange's time-outs and its end count meanwhile. None by default.
    public func on(
        _ method: HTTPMethod, _ path: String, host: String? = nil, after delay: Duration = .zero,
        respond: @escaping Responder
    ) {
        let fault = Self.fault(ofPath: path)
        precondition(fault == nil, fault ?? "")
        let answer = Answer(respond: respond, delay: delay)
        state.withLock { $0.script[Key(method: method, path: path, host: host?.lowercased())] = answer }
    }

    /// Why no request can have a path, and what to write; `nil` where one can.
    static func fault(ofPath path: String) -> String? {
        guard let fault = RequestRules.Match.fault(ofPath: path) else { return nil }
        return
            "no request has the path \(path): \(fault); a query is looked at in on(.get, \"/items\") { $0.url.query … }"
    }

    /// Scripts one response.
    public func on(
        _ method: HTTPMethod, _ path: String, host: String? = nil, after delay: Duration = .zero,
        _ response: HTTPResponse
    ) {
        on(method, path, host: host, after: delay) { _ in response }
    }

    /// Scripts a failure, as of a network that is not there.
    ///
    /// ```swift
    /// stub.on(.get, "/products", failing: TransportError(.connectionLost, sendState: .maybeProcessed))
    /// ```
    public func on(
        _ method: HTTPMethod, _ path: String, host: String? = nil, after delay: Duration = .zero,
        failing error: TransportError
    ) {
        on(method, path, host: host, after: delay) { _ throws(TransportError) in throw error }
    }

    // MARK: What it saw

    /// The requests that were performed, in order, scripted or not.
    public var requests: [HTTPRequest] { state.withLock(\.requests) }
    /// Method and URL of each request that nothing was scripted for.
    public var unscripted: [String] { state.withLock(\.unscripted) }

    // MARK: Transport

    /// All but wires: a double has none.
    public var capabilities: TransportCapabilities { .all.subtracting(.channels) }

    /// A double has no connections: does nothing.
    public func preconnect(_ request: TransportRequest) async throws(TransportError) {}

    /// Answers from the script; held back only by the control's suspension.
    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard request.control.attach(StubExchange.shared) else { throw StubAnswer.cancelled }
        defer { request.control.detach(StubExchange.shared) }
        await request.control.untilResumed()
        guard !request.control.isCancelled, !state.withLock(\.isShutDown) else { throw StubAnswer.cancelled }
        try StubAnswer.refuseRejectedFields(request.request)
        let response = try await answer(request)
        try StubAnswer.keep(request.limits, response)
        return StubAnswer.deliver(response, of: request)
    }

    /// Answers from the script, with the content in one piece.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        TransportStream(buffering: try await perform(request))
    }

    /// Ends what waits for its answer, as cancelled, and refuses what comes after.
    public func shutdown() async {
        let waiting = state.withLock { state in
            state.isShutDown = true
            return state.waiting
        }
        for control in waiting { control.cancel() }
    }

    private func wait(_ delay: Duration, _ exchange: TransportRequest) async throws(TransportError) {
        let mayWait = state.withLock { state in
            if !state.isShutDown { state.waiting.append(exchange.control) }
            return !state.isShutDown
        }
        guard mayWait else { throw StubAnswer.cancelled }
        defer {
            state.withLock { state in
                if let index = state.waiting.firstIndex(where: { $0 === exchange.control }) {
                    state.waiting.remove(at: index)
                }
            }
        }
        try await exchange.wait(delay, by: time)
    }

    private func answer(_ exchange: TransportRequest) async throws(TransportError) -> HTTPResponse {
        let request = exchange.request
        let scripted: Answer? = state.withLock { state in
            state.requests.append(request)
            let url = request.url
            for host in ["\(url.host):\(url.port)", url.host, nil] {
                let key = Key(method: request.method, path: url.path, host: host)
                if let answer = state.script[key] { return answer }
            }
            return nil
        }
        if let scripted {
            if scripted.delay > .zero { try await wait(scripted.delay, exchange) }
            if let response = try scripted.respond(request) { return response }
        }
        if let response = try await fallback(request) { return response }
        let name = "\(request.method) \(request.url.absoluteString)"
        state.withLock { $0.unscripted.append(name) }
        throw TransportError(.unsupported(name), sendState: .unsent, message: "nothing is scripted for \(name)")
    }
}
