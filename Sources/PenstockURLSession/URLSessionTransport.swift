import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries requests by Foundation's `URLSession`, with all that the session would decide by itself switched off:
/// redirects, cookies, cache and stored credentials.
///
/// What Foundation does not tell or cannot do is left out of ``capabilities``, and differs by platform:
///
/// - Header fields of one name arrive as one line, and the order of lines is lost, everywhere. `Set-Cookie` lines are
///   taken apart again, as far as that can be done by what they hold; on Linux lines of that name in different letter
///   case are one line, of which Foundation keeps one.
/// - ``ResponseLimits/expansionRatio`` is kept where the response has a `Content-Length`. Of content in chunks the size on
///   the wire cannot be known: ``ResponseLimits/bodyBytes`` alone ends it.
/// - A request cannot have content with `GET` or `HEAD`, nor a `Host` or framing field of its own.
/// - On watchOS there are no channels.
/// - There is no proxy of a request's own (a session on Apple's systems uses the system's), and no connecting without
///   a request.
/// - On Linux a proxy that the environment names (`http_proxy`, `https_proxy`, `all_proxy`) is used, and nothing of a session's
///   configuration switches that off: only `no_proxy=*` does, set in the environment before the first request.
/// - There is no time-out for connecting alone: its time is added to that of the first byte.
/// - A client's certificate must be in PKCS#12; on macOS reading it may leave its key in the login keychain. Nothing of
///   ``TrustPolicy/Revocation`` but the platform's own.
/// - On Apple's systems sessions of TLS belong to the process, and one that goes on brings no challenge: a host and port that was
///   spoken to under one ``TrustPolicy`` may be taken for trusted under another, or be shown the client's certificate of the first.
///   Only connections are used again under an equal policy alone. Who gives each host and port one policy, from the first request on,
///   sees nothing of it.
/// - On Apple's systems App Transport Security stands over it: see ``CleartextPolicy`` and ``TrustPolicy/authorities(_:)``.
/// - On Linux: no trust policy but the system's, no streamed request bodies, no streamed responses, no timings of the phases, no
///   suspension of an exchange that has begun; a redirect status without `Location` loses its content; the
///   wire of an exchange that is ended in a flood of bytes closes late, when Foundation comes to it.
///   **Foundation ends the process itself** at some replies: heads that break off, and content in chunks that ends in
///   trailers. A response whose head announces trailers (`Trailer`) is refused as soon as its head comes, which keeps the
///   process alive unless its end comes at the same time; against any other there is no help but another transport, so
///   do not use this one on Linux with servers that you do not trust. A request
///   on a connection that turns out to be dead may be sent again, of which the content is now and then left out, so that
///   the exchange ends by its time-out. So it does, seldom and under load, where Foundation tells nothing of a response that
///   came.
///
/// The send state of a failure is `unsent` where no connection was made, `answered` once a response began, and
/// `maybeProcessed` otherwise.
public final class URLSessionTransport: Transport, PromptTransport {
    private let sessions: URLSessionPool

    /// A transport without connections: sessions are made as they are needed.
    ///
    /// - Parameter connectionsPerHost: how many connections may be open to one host within one partition.
    public init(connectionsPerHost: Int = 64) {
        sessions = URLSessionPool(connectionsPerHost: connectionsPerHost)
    }

    deinit {
        sessions.close()
    }

    /// Differ by platform, as told above.
    public var capabilities: TransportCapabilities { URLSessionPlatform.capabilities }

    /// Performs one exchange.
    ///
    /// - Throws: what the protocol says; `unsupported` before anything is sent for what Foundation cannot do as asked.
    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let running = URLSessionExchange(request)
        guard request.control.attach(running) else { throw URLSessionErrors.cancelledBeforeStart }
        defer { request.control.detach(running) }
        return try await run(running, request)
    }

    /// Performs one exchange as far as the head of its response.
    ///
    /// - Throws: as ``perform(_:)`` does; `unsupported` on Linux, where Foundation goes on receiving what nobody reads.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        guard capabilities.contains(.streamedResponses) else {
            throw TransportError(.unsupported("streamed responses"), sendState: .unsent)
        }
        return try await stream(request)
    }

    /// The same whatever the platform can do.
    func stream(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        let running = URLSessionExchange(request, streams: true)
        guard let pipe = running.pipe, request.control.attach(running) else {
            throw URLSessionErrors.cancelledBeforeStart
        }
        do throws(TransportError) {
            let head = try await run(running, request)
            let content = URLSessionContent(of: running, pipe, request.control)
            return TransportStream(
                head.response, timings: head.timings, connection: head.connection, content: content)
        } catch {
            request.control.detach(running)
            throw error
        }
    }

    private func run(
        _ running: URLSessionExchange, _ request: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
        let made = try URLSessionRequest.make(request)
        holdBack(running, as: request.control)
        let (task, bridge) = try sessions.task(for: request) { session in
            URLSessionPlatform.task(for: made, body: request.request.body, in: session)
        }
        let outcome = await withCheckedContinuation { continuation in
            bridge.register(running, for: task)
            running.start(task, bridge.canceller, continuation: continuation)
        }
        return try outcome.get()
    }

    /// A suspension from before the exchange was attached holds for it too; it may end at any time.
    private func holdBack(_ running: URLSessionExchange, as control: ExchangeControl) {
        guard control.isSuspended else { return }
        running.suspend()
        if !control.isSuspended { running.resume() }
    }

    /// The sessions of the identity end with the exchanges that they still have, and their connections with them.
    public func closeConnections(of identity: String) {
        sessions.forget(identity)
    }

    /// Cancels every exchange and returns once each session has let go of its connections.
    public func shutdown() async {
        await sessions.shutdown()
    }
}
