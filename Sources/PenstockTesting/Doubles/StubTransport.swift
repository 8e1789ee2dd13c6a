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
public final class StubTransport: Transport {
    /// What answers a request; `nil` for one that is not scripted.
    public typealias Responder = @Sendable (HTTPRequest) throws(TransportError) -> HTTPResponse?

    private struct Key: Hashable {
        let method: HTTPMethod
        let path: String
        /// `nil` for every host.
        let host: String?
    }

    private struct State {
        var script: [Key: Responder] = [:]
        var requests: [HTTPRequest] = []
        var unscripted: [String] = []
        var isShutDown = false
    }

    private let state = Locked(State())
    private let fallback: @Sendable (HTTPRequest) async throws(TransportError) -> HTTPResponse?

    /// A transport for which nothing is scripted yet.
    ///
    /// - Parameter respond: asked where ``on(_:_:_:)`` has scripted nothing. Nothing by default.
    public init(_ respond: @escaping Responder = { _ in nil }) {
        fallback = respond
    }

    /// Answers what the server's handler would, without a socket, and counts the request as the server's.
    ///
    /// Only well-formed answers can be given: one that breaks the wire fails as unsupported.
    public init(answeredBy server: LoopbackServer) {
        fallback = { request throws(TransportError) in try await StubAnswer.answer(request, by: server) }
    }

    // MARK: The script

    /// Scripts the answer to one method and path, whatever the query. A later script replaces an earlier one for the same
    /// method, path and host.
    ///
    /// - Parameters:
    ///   - path: with its percent-escapes, as ``HTTPURL/path`` has it.
    ///   - host: whom the request is for, `shop.example.com` or with its port `127.0.0.1:8080`, in any case of letters; `nil`
    ///     for every host for which nothing is scripted. What names the port goes before what does not.
    public func on(_ method: HTTPMethod, _ path: String, host: String? = nil, respond: @escaping Responder) {
        state.withLock { $0.script[Key(method: method, path: path, host: host?.lowercased())] = respond }
    }

    /// Scripts one response.
    public func on(_ method: HTTPMethod, _ path: String, host: String? = nil, _ response: HTTPResponse) {
        on(method, path, host: host) { _ in response }
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
        let response = try await answer(request.request)
        try StubAnswer.keep(request.limits, response)
        return StubAnswer.deliver(response, of: request)
    }

    /// Answers from the script, with the content in one piece.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        TransportStream(buffering: try await perform(request))
    }

    /// Refuses what comes after.
    public func shutdown() async {
        state.withLock { $0.isShutDown = true }
    }

    private func answer(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let scripted: Responder? = state.withLock { state in
            state.requests.append(request)
            let url = request.url
            for host in ["\(url.host):\(url.port)", url.host, nil] {
                let key = Key(method: request.method, path: url.path, host: host)
                if let responder = state.script[key] { return responder }
            }
            return nil
        }
        if let response = try scripted?(request) { return response }
        if let response = try await fallback(request) { return response }
        let name = "\(request.method) \(request.url.absoluteString)"
        state.withLock { $0.unscripted.append(name) }
        throw TransportError(.unsupported(name), sendState: .unsent, message: "nothing is scripted for \(name)")
    }
}
