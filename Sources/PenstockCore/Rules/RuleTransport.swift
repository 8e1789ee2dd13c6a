import Foundation

/// A transport that asks ``RequestRules`` first, and has another one send what they do not answer themselves.
///
/// It is below all stages: the app, the cache and the cookies see the URL that was asked for. A rule is asked once for each
/// exchange, so that what one has rerouted is not rerouted again.
public final class RuleTransport: Transport, PromptTransport {
    private let transport: any Transport
    private let time: TimeSource
    private let current: Locked<RequestRules>

    /// A transport over another one.
    ///
    /// - Parameters:
    ///   - transport: sends what is to be sent.
    ///   - rules: may be changed later.
    ///   - time: what delays are measured by.
    public init(_ transport: any Transport, rules: RequestRules, time: TimeSource = .system) {
        self.transport = transport
        self.time = time
        current = Locked(rules)
    }

    /// The rules for exchanges that begin from now on.
    public var rules: RequestRules {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    package var runsAppCode: Bool { transport.isAppCode }

    /// The capabilities of the other transport.
    public var capabilities: TransportCapabilities { transport.capabilities }

    public func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        switch try decide(on: request) {
        case .send(let request): try await transport.perform(request)
        case .respond(let response, let delay): try await respond(response, after: delay, to: request)
        }
    }

    public func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        switch try decide(on: request) {
        case .send(let request): try await transport.open(request)
        case .respond(let response, let delay):
            TransportStream(buffering: try await respond(response, after: delay, to: request))
        }
    }

    /// Connects to where the exchange would go. Nothing, where a rule would answer it.
    public func preconnect(_ request: TransportRequest) async throws(TransportError) {
        if case .send(let request) = try decide(on: request) { try await transport.preconnect(request) }
    }

    /// Closes those of the other transport.
    public func closeConnections(of identity: String) {
        transport.closeConnections(of: identity)
    }

    /// Has the wire made by the other transport. A channel that a rule is for is refused: what goes over it names its server,
    /// and is no request that could be answered here.
    public func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        try checkChannel(request)
        return try await transport.connect(request, speaking: speaking)
    }

    /// Has the socket opened by the other transport, as ``connect(_:speaking:)`` has a wire.
    public func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
        try checkChannel(request)
        return try await transport.datagrams(request)
    }

    /// The message compression of the other transport.
    public var messageCompression: (any WebSocketCompression)? { transport.messageCompression }

    /// What the other transport makes of it.
    public func encoded(_ content: Data, in coding: String) -> Data? { transport.encoded(content, in: coding) }

    /// Shuts the other transport down.
    public func shutdown() async {
        await transport.shutdown()
    }

    // MARK: Carrying out

    private enum Step {
        case send(TransportRequest)
        case respond(HTTPResponse, after: Duration)
    }

    private func decide(on exchange: TransportRequest) throws(TransportError) -> Step {
        switch rules.decide(on: exchange.request) {
        case .pass: return .send(exchange)
        case .send(let request):
            var exchange = exchange
            exchange.request = request
            return .send(exchange)
        case .block(let reason): throw TransportError(.blocked(reason: reason), sendState: .unsent, message: reason)
        case .respond(let response, let delay): return .respond(response, after: delay)
        }
    }

    private func checkChannel(_ exchange: TransportRequest) throws(TransportError) {
        switch rules.decide(on: exchange.request) {
        case .pass: return
        case .block(let reason): throw TransportError(.blocked(reason: reason), sendState: .unsent, message: reason)
        case .send, .respond:
            throw TransportError(
                .unsupported("channels"), sendState: .unsent, message: "a rule other than to drop it is for a channel")
        }
    }

    /// Keeps the exchange's time-outs and limits, as a server's response would be kept to them.
    private func respond(
        _ response: HTTPResponse, after delay: Duration, to exchange: TransportRequest
    ) async throws(TransportError) -> TransportResponse {
        try await exchange.wait(delay, by: time)
        var response = response
        if !HTTPResponse.mayHaveContent(response.status, to: exchange.request.method) { response.body = Data() }
        if let limit = exchange.limits.exceeded(by: response) {
            throw TransportError(.limitExceeded(limit), sendState: .answered, message: "\(limit.rawValue) exceeded")
        }
        exchange.control.onProgress?(
            TransferProgress(received: response.body.count, expectedToReceive: response.body.count))
        return TransportResponse(response)
    }
}

extension TransportRequest {
    /// Waits as a server would that takes its time: the exchange's time-outs and its control hold.
    package func wait(_ delay: Duration, by time: TimeSource) async throws(TransportError) {
        let (limit, phase) = timeouts.untilHead
        let isLate = limit.map { delay > $0 } ?? false
        let sleep = Task { [control] in
            await control.untilResumed()
            if delay > .zero { try await time.sleep(isLate ? limit ?? delay : delay) }
        }
        let running = RuleDelay(sleep)
        guard control.attach(running) else {
            sleep.cancel()
            throw TransportError(.cancelled, sendState: .unsent, message: "cancelled")
        }
        defer { control.detach(running) }
        let isOver = if case .success = await sleep.result { true } else { false }
        guard isOver, !control.isCancelled else {
            throw TransportError(.cancelled, sendState: .unsent, message: "cancelled")
        }
        if isLate { throw TransportError(.timeout(phase), sendState: .maybeProcessed, message: "no answer in time") }
    }
}

/// An exchange that a rule answers, while it waits. A suspension holds it back before it begins.
private final class RuleDelay: ControlledExchange {
    private let sleep: Task<Void, any Error>

    init(_ sleep: Task<Void, any Error>) {
        self.sleep = sleep
    }

    func cancel() {
        sleep.cancel()
    }

    func suspend() {}

    func resume() {}
}

extension Timeouts {
    /// The time that a response may take to begin, and what it is called when it does not.
    package var untilHead: (Duration?, TimeoutPhase) {
        guard let firstByte, firstByte < total ?? firstByte + .seconds(1) else { return (total, .total) }
        return (firstByte, .firstByte)
    }
}

extension ResponseLimits {
    /// Which limit a response breaks that is complete already: of doubles, and of responses that no wire brought.
    package func exceeded(by response: HTTPResponse) -> Limit? {
        let bytes = response.fields.reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 4 }
        if response.fields.count > headerCount { return .headerCount }
        if bytes > headerBytes { return .headerBytes }
        return response.body.count > bodyBytes ? .bodyBytes : nil
    }
}

extension TransportStream {
    /// The stream of a response that is complete already.
    package init(buffering reply: TransportResponse) {
        var head = reply.response
        let completion = TransportCompletion(
            trailers: head.trailers, timings: reply.timings, connection: reply.connection)
        let content = BufferedContent([head.body], completion: completion)
        (head.body, head.trailers) = (Data(), [:])
        self.init(head, timings: reply.timings, connection: reply.connection, content: content)
    }
}
