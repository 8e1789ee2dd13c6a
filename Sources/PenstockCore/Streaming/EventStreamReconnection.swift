/// Whether, and when, to connect again to an event stream that has ended (WHATWG HTML §9.2.3): a table, and the rule
/// for the delay.
///
/// Connecting again sends the request again. What is not safe (RFC 9110 §9.2.1), such as a POST, is not sent again once it was answered
/// to the end, and before that only where it provably was not processed, or is idempotent: by its method, or because the call says so
/// (``CallOptions/idempotency``).
public struct EventStreamReconnection: Hashable, Sendable {
    /// The first connection is the only one: the stream ends with it, or throws what broke it.
    public static let never = EventStreamReconnection(isAllowed: false)

    /// Whether there may be another connection at all. There may by default.
    public var isAllowed: Bool
    /// The wait before connecting again, where the server does not say otherwise. 3 s by default.
    public var delay: Duration
    /// What the delay grows to when connecting fails again and again. 30 s by default. A server that asks for more than
    /// that gets it.
    public var maxDelay: Duration
    /// What a server may ask for: less and more become its bounds, so that it can neither have itself flooded nor put
    /// us off for ever. 100 ms to 10 min by default.
    public var serverDelays: ClosedRange<Duration>
    /// How many failures in a row are put up with; `nil`, which is the default, for any number. An event or a comment ends the row, and so
    /// does a connection that came to its end; one that was accepted and broke before anything came does not.
    public var maxFailures: Int?

    /// The defaults, but for what is named.
    ///
    /// - Parameters:
    ///   - delay: before connecting again, where the server does not say otherwise. 3 s by default.
    ///   - maxDelay: to what the delay grows after failures. 30 s by default.
    ///   - serverDelays: the bounds of what a server may ask for. 100 ms to 10 min by default.
    ///   - maxFailures: how many failures in a row are put up with. Any number by default.
    ///   - isAllowed: whether there may be another connection at all. There may by default.
    public init(
        delay: Duration = .seconds(3), maxDelay: Duration = .seconds(30),
        serverDelays: ClosedRange<Duration> = .milliseconds(100) ... .seconds(600), maxFailures: Int? = nil,
        isAllowed: Bool = true
    ) {
        self.isAllowed = isAllowed
        self.delay = delay
        self.maxDelay = maxDelay
        self.serverDelays = serverDelays
        self.maxFailures = maxFailures
    }

    /// How a connection to the stream ended.
    @nonexhaustive
    public enum Ending: Hashable, Sendable {
        /// The stream came to its end.
        case completed
        /// No connection, or one that broke.
        case failed(TransportError.Kind)
        /// A response that is not 200.
        case status(Int)
        /// A response that is no event stream, by its `Content-Type`.
        case contentType(String?)
    }

    /// What to do next.
    @nonexhaustive
    public enum Decision: Hashable, Sendable {
        /// Wait for so long, and connect again.
        ///
        /// - Parameter lastEventID: for `Last-Event-ID`; `nil` where the field is to be left out.
        case reconnect(after: Duration, lastEventID: String?)
        /// The stream is over: the server said so, or the app did.
        case stop
        /// The stream ends with an error: no other connection is made.
        case fail(Reason)
    }

    /// Why no other connection is made.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The server answered with this status, which is neither 200 nor 204.
        case status(Int)
        /// The response was of this media type and no `text/event-stream`; `nil` where it named none.
        case contentType(String?)
        /// Trying again would fail again.
        case futile(TransportError.Kind)
        /// So many in a row.
        case tooManyFailures(Int)
        /// The server may have processed the request, which is not idempotent.
        case mayHaveBeenProcessed
        /// There is to be one connection alone.
        case notAllowed
    }

    /// What a connection has sent, which another one would send again.
    public struct Sent: Hashable, Sendable {
        /// Whether it is safe and idempotent (RFC 9110 §9.2).
        public var method: HTTPMethod
        /// Whether the request may be sent twice, whatever its method: the call says so, or has a key.
        public var isDeclaredIdempotent: Bool
        /// How far it has come.
        public var state: SendState

        /// A request that was answered, unless said otherwise.
        public init(
            _ method: HTTPMethod, isDeclaredIdempotent: Bool = false, _ state: SendState = .answered
        ) {
            self.method = method
            self.isDeclaredIdempotent = isDeclaredIdempotent
            self.state = state
        }

        /// Whether sending it again, after it had no whole answer, can do nothing twice.
        fileprivate var isRepeatable: Bool {
            method.isIdempotent || isDeclaredIdempotent || state <= .unprocessed
        }
    }

    /// Decides what follows a connection that has ended.
    ///
    /// - Parameters:
    ///   - sent: what the connection has sent.
    ///   - lastEventID: as ``ServerSentEventParser/lastEventID`` has it.
    ///   - retry: as ``ServerSentEventParser/retry`` has it, from this connection or one before.
    ///   - failures: how many connections in a row have failed, the last one included.
    ///   - random: spreads what is added to the delay after failures, so that the clients of a server that comes back
    ///     do not come back all at once.
    public func decide(
        _ ending: Ending, of sent: Sent, lastEventID: String, retry: Duration?, failures: Int,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        switch ending {
        case .completed:
            guard isAllowed, sent.method.isSafe else { return .stop }
            return reconnect(after: shortest(retry), lastEventID)
        case .status(204), .failed(.cancelled): return .stop
        case .status(let status): return .fail(.status(status))
        case .contentType(let type): return .fail(.contentType(type))
        case .failed(let kind) where Self.isFutile(kind): return .fail(.futile(kind))
        case .failed where !isAllowed: return .fail(.notAllowed)
        case .failed where !sent.isRepeatable: return .fail(.mayHaveBeenProcessed)
        case .failed:
            if let maxFailures, failures > maxFailures { return .fail(.tooManyFailures(failures)) }
            return reconnect(after: delay(retry, failures, &random), lastEventID)
        }
    }

    /// The standard wants each failure that is not known to be futile to be tried again.
    private static func isFutile(_ kind: TransportError.Kind) -> Bool {
        switch kind {
        case .limitExceeded(.minimumThroughput), .tls(.handshake): false
        case .tls, .limitExceeded, .requestBody, .unsupported, .blocked: true
        case .unreachable, .timeout, .cancelled, .connectionLost, .protocolViolation, .other: false
        }
    }

    private func reconnect(after delay: Duration, _ id: String) -> Decision {
        .reconnect(after: delay, lastEventID: Self.sendable(id))
    }

    /// An id with a control character cannot be sent: better all events again than no more events.
    static func sendable(_ id: String) -> String? {
        !id.isEmpty && HTTPSyntax.isFieldValue(id) ? id : nil
    }

    private func shortest(_ retry: Duration?) -> Duration {
        retry.map { min(max($0, serverDelays.lowerBound), serverDelays.upperBound) } ?? delay
    }

    /// The wait before connecting again, never shorter than the one that was asked for; what is added is random, up to that time doubled
    /// for each failure.
    private func delay(
        _ retry: Duration?, _ failures: Int, _ random: inout some RandomNumberGenerator
    ) -> Duration {
        let shortest = shortest(retry)
        let most = max(maxDelay, shortest, .zero)
        var longest = min(max(shortest, .seconds(1)), most)
        for _ in 0..<min(max(failures, 1), 32) { longest = min(longest * 2, most) }
        return shortest + (longest - shortest) * Double.random(in: 0...1, using: &random)
    }
}

extension EventStreamReconnection.Ending {
    /// What is wrong with the head of a response: `nil` for one whose content is an event stream.
    public init?(refusing head: HTTPResponse) {
        guard head.status == 200 else {
            self = .status(head.status)
            return
        }
        let type = head.fields[.contentType]
        // Without its parameters: whatever they say, the stream is UTF-8.
        let essence = HTTPSyntax.trimmed(String(type?.prefix { $0 != ";" } ?? ""))
        guard !HTTPSyntax.equalIgnoringCase(essence, "text/event-stream") else { return nil }
        self = .contentType(type)
    }
}
