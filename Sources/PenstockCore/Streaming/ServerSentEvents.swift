import Foundation

/// The events of an event stream, across its connections. It is iterated once, by one task; cancelling that task, or
/// letting go of the sequence and its iterator, closes the wire.
///
/// `Output` is that of the endpoint, and what ``values`` yields:
///
/// ```swift
/// func steps(of order: Order.ID) -> ServerSentEvents<OrderStep> { client.events(of: FollowOrder(id: order)) }
/// ```
public struct ServerSentEvents<Output: Sendable>: AsyncSequence, Sendable {
    private let source: EventSource
    private let decode: @Sendable (ServerSentEvent) throws(APIError) -> Output

    init(_ source: EventSource, decode: @escaping @Sendable (ServerSentEvent) throws(APIError) -> Output) {
        self.source = source
        self.decode = decode
    }

    /// Begins the iteration, or goes on with it.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Gives the events in the order they came. Copies of it read the same stream: each event goes to one of them.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: EventSource

        /// The next event, connecting first where that is needed; `nil` once the stream is over.
        ///
        /// - Throws: ``APIError/Kind/limitExceeded(_:)`` with ``ResponseLimits/Limit/eventBytes`` or
        ///   ``ResponseLimits/Limit/lineLength`` for what is too long. Asking again after an error connects anew.
        public mutating func next() async throws(APIError) -> ServerSentEvent? { try await source.next() }
    }

    /// What the events carry: the data of each, decoded and validated as the endpoint's output. Envelopes are not looked for.
    ///
    /// ```swift
    /// for try await step in client.events(of: FollowOrder(id: 7)).values { show(step) }
    /// ```
    public var values: Values { Values(source: source, decode: decode) }

    /// The data of the events as the endpoint's output.
    public struct Values: AsyncSequence, Sendable {
        fileprivate let source: EventSource
        fileprivate let decode: @Sendable (ServerSentEvent) throws(APIError) -> Output

        /// Begins the iteration, or goes on with it.
        public func makeAsyncIterator() -> Iterator { Iterator(source, decode: decode) }

        /// Yields the values.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let source: EventSource
            fileprivate let decode: @Sendable (ServerSentEvent) throws(APIError) -> Output
            private var wasRefused = false

            fileprivate init(
                _ source: EventSource, decode: @escaping @Sendable (ServerSentEvent) throws(APIError) -> Output
            ) {
                self.source = source
                self.decode = decode
            }

            /// - Throws: what events throw, and ``APIError/Kind/decoding(path:reason:)`` or ``APIError/Kind/validation(rule:)``
            ///   for data that is no such output; asking again goes on with the event after it.
            public mutating func next() async throws(APIError) -> Output? {
                guard let event = try await source.next() else { return nil }
                do throws(APIError) {
                    let value = try decode(event)
                    if wasRefused { source.noteValue() }
                    wasRefused = false
                    return value
                } catch {
                    wasRefused = true
                    throw source.note(error)
                }
            }
        }
    }
}

extension ServerSentEvent {
    /// Decodes the data as JSON.
    ///
    /// - Throws: ``APIError/Kind/decoding(path:reason:)``.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, options: DecodingOptions = DecodingOptions()
    ) throws(APIError) -> Value {
        try Payload(Data(data.utf8), options: options).value(type)
    }
}

/// How large what an event stream holds may be, in bytes.
struct EventLimits: Sendable {
    let maxEventBytes: Int
    /// `nil` leaves room for an event that stands in one line.
    let maxLineLength: Int?

    func parser(from lastEventID: String) -> ServerSentEventParser {
        ServerSentEventParser(lastEventID: lastEventID, maxLineLength: maxLineLength, maxEventBytes: maxEventBytes)
    }
}

/// An event stream as a call of its client: each of its connections is a call that works for it.
struct EventSession: Sendable {
    let context: CallContext
    /// What each of its connections sends.
    let method: HTTPMethod
    /// Whether it may be sent twice, whatever the method.
    let isDeclaredIdempotent: Bool
    /// What means that nothing was done, but for the credential.
    let expiry: ExpiryRule
    /// Makes a connection that begins after the event with the id.
    let connect: @Sendable (String?) async throws(APIError) -> StreamedResponse
    /// Takes it off the client's table.
    let finish: @Sendable () -> Void
}

/// Carries out what ``EventStreamReconnection`` decides.
final class EventSource: Sendable {
    fileprivate struct State {
        var parser: ServerSentEventParser
        var response: StreamedResponse?
        /// The delay before connecting again as a connection before this one said it.
        var retry: Duration?
        var failures = 0
        var isOver = false
        /// The session, there from the first connection on; also the one that failed last.
        var session: EventSession?
        var isUnderWay = false
    }

    private enum Step {
        case event(ServerSentEvent)
        case read(StreamedResponse)
        case connect(lastEventID: String)
        case over
    }

    private let limits: EventLimits
    private let reconnection: EventStreamReconnection
    private let random: RandomSource
    private let begin: @Sendable (EventSession?) -> EventSession?
    private let told: @Sendable (APIError) -> APIError
    private let state: Locked<State>

    /// - Parameters:
    ///   - told: makes of an error that no connection has told the one that is told.
    ///   - begin: makes the call that it is, at the first event and after a failure; `nil` when nobody wants it any more.
    init(
        lastEventID: String?, limits: EventLimits, reconnection: EventStreamReconnection, random: RandomSource,
        told: @escaping @Sendable (APIError) -> APIError, begin: @escaping @Sendable (EventSession?) -> EventSession?
    ) {
        self.limits = limits
        self.reconnection = reconnection
        self.random = random
        self.told = told
        self.begin = begin
        state = Locked(State(parser: limits.parser(from: lastEventID ?? "")))
    }

    deinit {
        let session = state.withLock { $0.isUnderWay ? $0.session : nil }
        // A connection that has failed of what came over it says so before it is ended with its session.
        _ = state.withLock { $0.endConnection() }
        session?.context.end(.requested)
        session?.finish()
    }

    func next() async throws(APIError) -> ServerSentEvent? {
        do throws(APIError) {
            return try await nextEvent()
        } catch {
            throw told(error)
        }
    }

    private func nextEvent() async throws(APIError) -> ServerSentEvent? {
        guard !state.withLock({ $0.isOver }) else { return nil }
        let session = try session()
        let result = await withTaskCancellationHandler {
            await Result { () async throws(APIError) in try await next(session) }
        } onCancel: {
            session.context.end(.requested)
        }
        if case .success(.some) = result { return try result.get() }
        let isFirst = state.withLock { state in
            defer { state.isUnderWay = false }
            return state.isUnderWay
        }
        if isFirst { session.finish() }
        return try result.get()
    }

    /// The event that was yielded last is none of what was expected. Its connection fails of that where nothing more is read.
    ///
    /// - Returns: the error, which says what was asked for and what came.
    fileprivate func note(_ error: APIError) -> APIError {
        told(state.withLock { $0.response }?.note(error) ?? error)
    }

    /// The event that was yielded last is what it is to be, after one that was not.
    fileprivate func noteValue() {
        state.withLock { $0.response }?.reader.note(nil)
    }

    /// The session under way, or a new one after a failure. One that was cancelled has no successor.
    private func session() throws(APIError) -> EventSession {
        let (known, isUnderWay) = state.withLock { ($0.session, $0.isUnderWay) }
        if let known, isUnderWay { return known }
        guard known?.context.isCancelled != true, let new = begin(known) else {
            throw APIError(.cancelled, stage: .transport)
        }
        state.withLock { state in
            state.session = new
            state.isUnderWay = true
        }
        return new
    }

    private func next(_ session: EventSession) async throws(APIError) -> ServerSentEvent? {
        while true {
            switch try step() {
            case .event(let event): return event
            case .over: return nil
            case .read(let response): try await read(response, session)
            case .connect(let id): try await open(id, session)
            }
        }
    }

    private func step() throws(APIError) -> Step {
        do throws(StreamLimitError) {
            return try state.withLock { state throws(StreamLimitError) in
                if state.isOver { return .over }
                guard let response = state.response else { return .connect(lastEventID: state.parser.lastEventID) }
                // The reader tells of a call that has ended, and gives nothing more of it.
                guard !response.reader.isCancelled else { return .read(response) }
                let event = try state.parser.next()
                if state.parser.hasSpoken { state.failures = 0 }
                return event.map(Step.event) ?? .read(response)
            }
        } catch {
            let response = state.withLock { $0.endConnection() }
            throw response?.reader.refuse(.init(error), error)
                ?? APIError(.init(error), stage: .transport, underlying: error)
        }
    }

    private func read(_ response: StreamedResponse, _ session: EventSession) async throws(APIError) {
        do throws(APIError) {
            if let bytes = try await response.reader.next() {
                return state.withLock { $0.parser.push(bytes) }
            }
        } catch {
            return try await end(.failed(error.transportKind), error, session)
        }
        try await end(.completed, nil, session)
    }

    private func open(_ lastEventID: String, _ session: EventSession) async throws(APIError) {
        let response: StreamedResponse
        do throws(APIError) {
            response = try await session.connect(EventStreamReconnection.sendable(lastEventID))
        } catch {
            if case .httpStatus(let status) = error.kind { return try await end(.status(status), error, session) }
            guard let kind = error.kindOfFailedConnection else { throw error }
            return try await end(.failed(kind), error, session, error.farthest(by: session.expiry))
        }
        if let refusal = EventStreamReconnection.Ending(refusing: response.http) {
            return try await end(refusal, response.refused(refusal), session)
        }
        state.withLock { state in
            state.retry = state.parser.retry ?? state.retry
            state.parser = limits.parser(from: state.parser.lastEventID)
            state.response = response
        }
    }

    /// - Parameter sent: how far the request has come.
    /// - Throws: `error`, where another connection would not help, or is not to be.
    private func end(
        _ ending: EventStreamReconnection.Ending, _ error: APIError?, _ session: EventSession,
        _ sent: SendState = .answered
    ) async throws(APIError) {
        try session.context.checkGoesOn(at: .retry)
        let decision = state.withLock { state in
            state.endConnection()
            if case .failed = ending { state.failures += 1 } else { state.failures = 0 }
            var random = random
            return reconnection.decide(
                ending, of: session.sent(sent), lastEventID: state.parser.lastEventID,
                retry: state.parser.retry ?? state.retry, failures: state.failures, using: &random)
        }
        switch decision {
        case .reconnect(let delay, _):
            try await session.context.sleep(for: delay, at: .retry)
        case .stop:
            state.withLock { $0.isOver = true }
            if let error, error.kind == .cancelled { throw error }
        case .fail:
            throw error ?? APIError(.transport(.protocolViolation), stage: .transport)
        }
    }
}

extension EventSession {
    fileprivate func sent(_ state: SendState) -> EventStreamReconnection.Sent {
        .init(method, isDeclaredIdempotent: isDeclaredIdempotent, state)
    }
}

extension EventSource.State {
    @discardableResult
    fileprivate mutating func endConnection() -> StreamedResponse? {
        defer { response = nil }
        return response
    }
}

extension StreamedResponse {
    fileprivate func refused(_ ending: EventStreamReconnection.Ending) -> APIError {
        switch ending {
        case .status(let status): reader.refuse(.httpStatus(status))
        default: reader.refuse(.transport(.protocolViolation), NoEventStream(type: http.fields[.contentType]))
        }
    }
}

/// A response that was asked for events and brought something else.
struct NoEventStream: Error, CustomStringConvertible {
    let type: String?

    var description: String { "the content type is \(type ?? "not given") where text/event-stream was asked for" }
}

extension APIError {
    /// How far any request of a call without an answer of its own has come: behind a redirect it is not the last alone that
    /// counts. What was answered that the credential is not good was not processed.
    fileprivate func farthest(by expiry: ExpiryRule) -> SendState {
        let states = attempts.map { attempt in
            let isRefused = attempt.status.map(expiry.statuses.contains) ?? false
            return isRefused ? .unprocessed : attempt.sendState
        }
        return states.max() ?? sendState ?? .unsent
    }

    fileprivate var transportKind: TransportError.Kind {
        if case .cancelled = kind { return .cancelled }
        return (underlying as? TransportError)?.kind ?? .other
    }

    /// The kind of failure that having no connection counts as; `nil` where another attempt would not mend it, as where code of the app's
    /// takes all the time that there is. Nothing was sent where a circuit is open, a host is to be left alone or credentials cannot be had
    /// for now, and a later attempt may be let through.
    fileprivate var kindOfFailedConnection: TransportError.Kind? {
        switch kind {
        case .unavailable, .authentication(.unavailable), .authentication(.vault(.locked)),
            .authentication(.vault(.unavailable)):
            .other
        case _ where underlying is TransportError: transportKind
        case .unreachable(let how): .unreachable(how)
        case .timeout(let phase) where phase != .total: .timeout(phase)
        default: nil
        }
    }
}
