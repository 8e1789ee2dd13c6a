import PenstockCore

/// A transport that answers from a recording, without a network.
///
/// ```swift
/// let replay = ReplayTransport(try Recording(contentsOf: file))
/// let client = APIClient(configuration, transport: replay)
/// …
/// #expect(replay.remaining.isEmpty && replay.unknown.isEmpty)
/// ```
///
/// A request is known by its method and its URL, whose secret parameters do not count. Each exchange is played once. A
/// request that the recording does not have fails with ``TransportError/Kind/unsupported(_:)``, which names it.
public final class ReplayTransport: Transport {
    /// Which exchange answers a request.
    public enum Order: Sendable {
        /// The next one, which must be for this request.
        case strict
        /// The first one for this request that was not played.
        case any
    }

    private struct State {
        var rest: [Recording.Exchange]
        var unknown: [String] = []
        var isShutDown = false
    }

    private let state: Locked<State>
    private let order: Order

    /// A transport that plays a recording from its beginning.
    ///
    /// - Parameter order: strict by default.
    public init(_ recording: Recording, order: Order = .strict) {
        state = Locked(State(rest: recording.exchanges))
        self.order = order
    }

    // MARK: What it saw

    /// The exchanges that were not played.
    public var remaining: [Recording.Exchange] { state.withLock(\.rest) }
    /// Method and URL of each request that the recording did not have, or not as the next one.
    public var unknown: [String] { state.withLock(\.unknown) }

    // MARK: Transport

    /// Everything but wires, of which nothing is recorded.
    public var capabilities: TransportCapabilities { .all.subtracting(.channels) }

    /// Plays an exchange; held back only by the control's suspension.
    public func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard exchange.control.attach(StubExchange.shared) else { throw StubAnswer.cancelled }
        defer { exchange.control.detach() }
        await exchange.control.untilResumed()
        guard !exchange.control.isCancelled, !state.withLock(\.isShutDown) else { throw StubAnswer.cancelled }
        try StubAnswer.refuseRejectedFields(exchange.request)
        switch try take(exchange.request) {
        case .failure(let failure): throw failure.error
        case .response(let recorded):
            let response = recorded.response
            try StubAnswer.keep(exchange.limits, response)
            return StubAnswer.deliver(response, of: exchange)
        }
    }

    /// Plays an exchange, with the content in one piece.
    public func open(_ exchange: TransportRequest) async throws(TransportError) -> TransportStream {
        TransportStream(buffering: try await perform(exchange))
    }

    /// Refuses what comes after.
    public func shutdown() async {
        state.withLock { $0.isShutDown = true }
    }

    private func take(_ request: HTTPRequest) throws(TransportError) -> Recording.Outcome {
        let (method, url) = (request.method.rawValue, request.url.description)
        let (found, next) = state.withLock { state -> (Recording.Outcome?, Recording.Request?) in
            let candidates = order == .strict ? state.rest.prefix(1) : state.rest[...]
            let index = candidates.firstIndex { $0.request.method == method && $0.request.url == url }
            guard let index else {
                state.unknown.append("\(method) \(url)")
                return (nil, state.rest.first?.request)
            }
            return (state.rest.remove(at: index).outcome, nil)
        }
        if let found { return found }
        let expected = next.map { "; its next one is for \($0.method) \($0.url)" } ?? "; it is at its end"
        throw TransportError(
            .unsupported("\(method) \(url)"), sendState: .unsent,
            message: "the recording has no exchange for \(method) \(url)" + expected)
    }
}
