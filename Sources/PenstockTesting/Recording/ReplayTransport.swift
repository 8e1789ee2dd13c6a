import Foundation
import PenstockCore

/// A transport that answers from a recording, without a network.
///
/// ```swift
/// let replay = ReplayTransport(try Recording(contentsOf: file))
/// let client = APIClient(configuration, transport: replay)
/// …
/// try replay.finish()
/// ```
///
/// A request is known by its method, its URL and its content, whose secrets do not count. Each exchange is played once. A
/// request that the recording does not have fails with ``TransportError/Kind/unsupported(_:)``, which names it; and so does one
/// whose response was kept without its content, and one whose content is another than was recorded, where that is compared, with the lines in which they differ.
public final class ReplayTransport: Transport, PromptTransport {
    /// Which exchange answers a request.
    public enum Order: Sendable {
        /// The next one, which must be for this request.
        case strict
        /// The first one for this request that was not played.
        case any
    }

    /// What must be the same for a recorded exchange to be played.
    public enum Comparison: Sendable {
        /// Method and URL.
        case address
        /// The content of the request as well, its secrets left out. JSON may have another order and other white space, and
        /// a form another boundary; content that was not recorded is not compared.
        case content
    }

    /// What becomes of the dates of a recorded response: `Date`, `Expires`, `Retry-After` and a cookie's `Expires`.
    public enum Dates: Sendable {
        /// They are moved by the time that has passed since the recording, so that what was fresh is fresh. `Age` and
        /// `Last-Modified` stay.
        case shifted
        /// They stay as they are, and what was fresh when it was recorded is stale.
        case asRecorded
    }

    private struct State {
        var rest: [Recording.Exchange]
        var unknown: [String] = []
        var isShutDown = false
    }

    private let state: Locked<State>
    private let order: Order
    private let comparison: Comparison
    private let dates: Dates
    private let time: TimeSource
    private let redact: @Sendable (inout Recording.Exchange) -> Void

    /// A transport that plays a recording from its beginning.
    ///
    /// - Parameters:
    ///   - order: strict by default.
    ///   - comparison: the content too by default. Say ``Comparison/address`` where a request has something else in it each time.
    ///   - dates: moved by default, so that a recording does not grow stale.
    ///   - time: what dates are moved to: the time of the client. The machine's clock by default.
    ///   - redact: that of the ``RecordingTransport``, so that a request is compared as it would be recorded. It is given what is
    ///     asked, with an empty response of 200. Takes out nothing by default, as there.
    public init(
        _ recording: Recording, order: Order = .strict, comparing comparison: Comparison = .content,
        dates: Dates = .shifted, time: TimeSource = .system,
        redact: @escaping @Sendable (inout Recording.Exchange) -> Void = { _ in }
    ) {
        state = Locked(State(rest: recording.exchanges))
        self.order = order
        self.comparison = comparison
        self.dates = dates
        self.time = time
        self.redact = redact
    }

    // MARK: What it saw

    /// The exchanges that were not played.
    public var remaining: [Recording.Exchange] { state.withLock(\.rest) }
    /// Method and URL of each request that the recording did not have, or not as the next one.
    public var unknown: [String] { state.withLock(\.unknown) }

    /// Tells where what was asked is not what was recorded; to be called at the end.
    ///
    /// - Throws: ``ReplayDrift`` where an exchange of the recording was not asked for, or something was asked that it does not have.
    public func finish() throws(ReplayDrift) {
        let (rest, unknown) = state.withLock { ($0.rest, $0.unknown) }
        guard rest.isEmpty, unknown.isEmpty else { throw ReplayDrift(remaining: rest, unknown: unknown) }
    }

    // MARK: Transport

    /// Everything but wires, of which nothing is recorded.
    public var capabilities: TransportCapabilities { .all.subtracting(.channels) }

    /// Plays an exchange; held back only by the control's suspension.
    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard request.control.attach(StubExchange.shared) else { throw StubAnswer.cancelled }
        defer { request.control.detach(StubExchange.shared) }
        await request.control.untilResumed()
        guard !request.control.isCancelled, !state.withLock(\.isShutDown) else { throw StubAnswer.cancelled }
        try StubAnswer.refuseRejectedFields(request.request)
        let played = try take(request.request)
        switch played.outcome {
        case .failure(let failure): throw failure.error
        case .response(let recorded):
            if let withheld = recorded.withheld { throw Self.missing(withheld, request.request) }
            var response = recorded.response
            if dates == .shifted { response = played.shifted(response, to: time.date()) }
            try StubAnswer.keep(request.limits, response)
            return StubAnswer.deliver(response, of: request)
        }
    }

    /// Plays an exchange, with the content in one piece.
    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        TransportStream(buffering: try await perform(request))
    }

    /// Refuses what comes after.
    public func shutdown() async {
        state.withLock { $0.isShutDown = true }
    }

    private static func missing(_ withheld: Recording.Withheld, _ request: HTTPRequest) -> TransportError {
        let name = "\(request.method) \(request.url)"
        return TransportError(
            .unsupported(name), sendState: .unsent,
            message: "the recording has not kept the content of the response to \(name): \(withheld.reason)")
    }

    /// The request as the recording would have it.
    private func recorded(_ request: HTTPRequest) -> Recording.Request {
        var exchange = Recording.Exchange(.init(request), .response(.init(status: 200)))
        redact(&exchange)
        return exchange.request
    }

    private func take(_ request: HTTPRequest) throws(TransportError) -> Recording.Exchange {
        let asked = recorded(request)
        let (method, url) = (asked.method, asked.url)
        let sent = comparison == .content ? asked.comparableContent : nil
        let (found, next, drift) = state.withLock { state -> (Recording.Exchange?, Recording.Request?, [String]?) in
            let candidates = order == .strict ? state.rest.prefix(1) : state.rest[...]
            let same = candidates.indices.filter {
                candidates[$0].request.method == method && candidates[$0].request.url == url
            }
            let drifts = same.map {
                RecordingDifference.lines(recorded: candidates[$0].request.comparableContent, sent: sent)
            }
            guard let match = zip(same, drifts).first(where: { $0.1 == nil }) else {
                state.unknown.append("\(method) \(url)")
                return (nil, state.rest.first?.request, drifts.first ?? nil)
            }
            return (state.rest.remove(at: match.0), nil, nil)
        }
        if let found { return found }
        if let drift {
            throw TransportError(
                .unsupported("\(method) \(url)"), sendState: .unsent,
                message: "the content of \(method) \(url) is not what was recorded:\n" + drift.joined(separator: "\n"))
        }
        let expected = next.map { "; its next one is for \($0.method) \($0.url)" } ?? "; it is at its end"
        throw TransportError(
            .unsupported("\(method) \(url)"), sendState: .unsent,
            message: "the recording has no exchange for \(method) \(url)" + expected)
    }
}

/// What was asked is not what was recorded.
public struct ReplayDrift: Error, Hashable, Sendable, CustomStringConvertible {
    /// The exchanges of the recording that were not asked for, in their order.
    public let remaining: [Recording.Exchange]
    /// Method and URL of each request that the recording did not have, or not as the next one, or with other content.
    public let unknown: [String]

    /// One line, with a name for each of them.
    public var description: String {
        let names = remaining.map { "\($0.request.method) \($0.request.url)" }
        return [("never asked for: ", names), ("not recorded so: ", unknown)].filter { !$0.1.isEmpty }
            .map { $0.0 + $0.1.joined(separator: ", ") }.joined(separator: "; ")
    }
}
