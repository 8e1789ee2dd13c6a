import Foundation

/// Requests and their replies over a ``TCPChannel``, matched by an id that both carry; what answers no request is a message like
/// any other.
///
/// ```swift
/// let quotes = ReplyChannel(client.tcp("quotes.example.com", port: 7000, codec: QuoteCodec())) { $0.id }
/// let reply = try await quotes.request(Quote(id: 7, symbol: "ACME"))
/// try await quotes.subscribe(Quote(id: 8, watch: "ACME"))
/// for try await quote in quotes.messages { show(quote) }
/// ```
///
/// Replies may come in any order. Those to requests whose caller has gone are dropped. When a connection is lost, the requests
/// that were given to it fail, because nobody knows whether they were served; subscriptions are sent anew over the next connection,
/// before anything else, and requests that wait for a connection go behind them.
public final class ReplyChannel<Codec: FrameCodec, ID: Hashable & Sendable>: Channel {
    public typealias Message = Codec.Frame

    private struct State: Sendable {
        var table = ReplyTable<ID, Codec.Frame>()
        var subscriptions: [(number: Int, frame: Codec.Frame)] = []
        var lastSubscription = 0
        /// The frames that answer nothing, each with how many bytes it came in.
        var messages: [(frame: Codec.Frame, bytes: Int)] = []
        var bytes = 0
        var ending: Result<Void, APIError>?
        var isReading = false

        mutating func takeMessage() -> Codec.Frame {
            let first = messages.removeFirst()
            bytes -= first.bytes
            return first.frame
        }
    }

    private let base: TCPChannel<Codec>
    private let id: @Sendable (Codec.Frame) -> ID?
    private let timeout: Duration
    private let bufferedMessages: Int
    private let time: TimeSource
    private let state = Monitor(State())

    /// - Parameters:
    ///   - base: carries the frames; nobody else may read it.
    ///   - timeout: how long a request may take, from its call to its reply. 30 s by default.
    ///   - bufferedMessages: how many messages that answer nothing are kept. 1,024 by default; the oldest of more, and of more than
    ///     ``TCPOptions/bufferedBytes``, are dropped, so that replies behind them still come. The last one stays, however large.
    ///     ``Heartbeat/isBeat`` is for those that nobody wants.
    ///   - time: where the time is taken from; the machine's by default.
    ///   - id: which request a frame is, or answers; `nil` for a frame that has no id.
    public init(
        _ base: TCPChannel<Codec>, timeout: Duration = .seconds(30), bufferedMessages: Int = 1_024,
        time: TimeSource = .system, id: @escaping @Sendable (Codec.Frame) -> ID?
    ) {
        self.base = base
        self.id = id
        self.timeout = timeout
        self.bufferedMessages = max(1, bufferedMessages)
        self.time = time
        let hooks = ChannelHooks<Codec.Frame>(
            first: { [weak self] in self?.state.withLock { $0.subscriptions.map(\.frame) } ?? [] },
            isAwaited: { [weak self] in self?.state.withLock { $0.table.isAwaited } ?? false },
            lost: { [weak self] in self?.lose($0 ?? APIError(.transport(.connectionLost), stage: .transport)) })
        base.hooks.withLock { $0 = hooks }
    }

    deinit {
        base.cancel()
    }

    // MARK: Requests

    /// Sends a request and waits for its reply.
    ///
    /// - Throws: ``APIError``: ``APIError/Kind/invalidParameter(field:reason:)`` for a frame without an id, or with one that another
    ///   request waits for; ``APIError/Kind/timeout(_:)`` with ``TimeoutPhase/firstByte``; ``APIError/Kind/cancelled`` where the
    ///   task is cancelled; what ended the connection.
    public func request(_ frame: Codec.Frame) async throws(APIError) -> Codec.Frame {
        guard let id = id(frame) else { throw Self.invalid("the request has no id") }
        start()
        let promise = Promise<Result<Codec.Frame, APIError>>()
        guard state.withLock({ $0.table.expect(id, promise) }) else {
            throw Self.invalid("another request with this id waits for its reply")
        }
        defer { state.withLock { $0.table.forget(id, promise) } }
        // In a task of its own: an end that takes nothing would hold up the time-out as well.
        let sending = Task { [base, state] in
            do throws(APIError) {
                try await base.engine.send(frame) { state.withLock { $0.table.noteSent(id, promise) } }
            } catch {
                promise.keep(.failure(error))
            }
        }
        let alarm = Task { [time, end = time.now() + timeout] in
            do { try await time.sleep(until: end) } catch { return }
            promise.keep(.failure(APIError(.timeout(.firstByte), stage: .transport)))
        }
        defer {
            alarm.cancel()
            sending.cancel()
        }
        let reply = await withTaskCancellationHandler {
            await promise.value()
        } onCancel: {
            promise.abandon()
        }
        guard let reply else { throw APIError(.cancelled, stage: .transport) }
        return try reply.get()
    }

    private static func invalid(_ reason: String) -> APIError {
        APIError(.invalidParameter(field: "frame", reason: reason), stage: .prepare)
    }

    /// The channel is over.
    private func fail(_ error: APIError) {
        for promise in state.withLock({ $0.table.takeAll() }) { promise.keep(.failure(error)) }
    }

    /// A connection is lost, and with it what was given to it. What waits for the next one does not fail, because it goes over that.
    private func lose(_ error: APIError) {
        for promise in state.withLock({ $0.table.takeSent() }) { promise.keep(.failure(error)) }
    }

    // MARK: Subscriptions

    /// A frame that is sent now, and over each connection to come.
    public struct Subscription: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Sends a frame now, and again over each connection that follows this one.
    ///
    /// - Throws: what ``send(_:)`` throws; the frame is not sent again then.
    @discardableResult
    public func subscribe(_ frame: Codec.Frame) async throws(APIError) -> Subscription {
        try await base.open()
        let number = state.withLock { state in
            state.lastSubscription += 1
            state.subscriptions.append((state.lastSubscription, frame))
            return state.lastSubscription
        }
        do throws(APIError) {
            try await base.send(frame)
        } catch {
            end(Subscription(number: number))
            throw error
        }
        return Subscription(number: number)
    }

    /// Sends it no more. What tells the other end is a message of the app's.
    public func end(_ subscription: Subscription) {
        state.withLock { state in state.subscriptions.removeAll { $0.number == subscription.number } }
    }

    // MARK: Channel

    public func open() async throws(APIError) { try await base.open() }

    /// Sends a frame for which no reply is waited.
    public func send(_ frame: Codec.Frame) async throws(APIError) {
        start()
        try await base.send(frame)
    }

    /// The frames that answer no request, as they come.
    public var messages: ChannelMessages<Codec.Frame> {
        ChannelMessages { [self] () async throws(APIError) in try await next() }
    }

    public func close() async { await base.close() }

    /// Ends it at once.
    public func cancel() { base.cancel() }

    private func next() async throws(APIError) -> Codec.Frame? {
        start()
        let taken: Result<Codec.Frame?, APIError> = await withTaskCancellationHandler {
            await state.wait { [base] state in
                // What had come is for nobody once the call was ended from outside.
                if !state.messages.isEmpty, !base.engine.isCancelled { return .success(state.takeMessage()) }
                return state.ending?.map { nil }
            }
        } onCancel: {
            base.cancel()
        }
        return try taken.get()
    }

    /// Begins to read, unless it has. The task ends with the base, which ends with the last reference to this.
    private func start() {
        let begins = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard begins else { return }
        Task { [weak self, base] in
            let ending = await Result { () async throws(APIError) in
                while let (frame, bytes) = try await base.engine.nextWithSize() { self?.take(frame, bytes) }
            }
            self?.state.withLock { $0.ending = ending }
            self?.fail(ending.failure ?? APIError(.transport(.connectionLost), stage: .transport))
        }
    }

    private func take(_ frame: Codec.Frame, _ bytes: Int) {
        let id = id(frame)
        let mostBytes = base.engine.bufferedBytes
        let promise = state.withLock { state -> Promise<Result<Codec.Frame, APIError>>? in
            switch id.map({ state.table.take($0) }) ?? .unknown {
            case .expected(let promise): return promise
            case .late: return nil
            case .unknown:
                state.messages.append((frame, bytes))
                state.bytes += bytes
                while state.messages.count > bufferedMessages || state.bytes > mostBytes && state.messages.count > 1 {
                    _ = state.takeMessage()
                }
                return nil
            }
        }
        promise?.keep(.success(frame))
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// Which requests wait for a reply.
struct ReplyTable<ID: Hashable & Sendable, Reply: Sendable>: Sendable {
    typealias Waiter = Promise<Result<Reply, APIError>>

    enum Match {
        case expected(Waiter)
        /// The reply to a request whose caller has gone.
        case late
        case unknown
    }

    private var waiting: [ID: Waiter] = [:]
    /// Those that wait and were given to a connection.
    private var sent: Set<ID> = []
    private var forgotten: [ID] = []
    /// How many callers that have gone are remembered, so that the replies to them are no messages.
    private static var mostForgotten: Int { 1_024 }

    /// - Returns: `false` where a request with the id waits already.
    mutating func expect(_ id: ID, _ waiter: Waiter) -> Bool {
        guard waiting[id] == nil else { return false }
        forgotten.removeAll { $0 == id }
        waiting[id] = waiter
        return true
    }

    /// Whether there is a request that the other end may have answered.
    var isAwaited: Bool { !sent.isEmpty }

    /// The request is given to a connection.
    mutating func noteSent(_ id: ID, _ waiter: Waiter) {
        if waiting[id] === waiter { sent.insert(id) }
    }

    mutating func take(_ id: ID) -> Match {
        sent.remove(id)
        if let waiter = waiting.removeValue(forKey: id) { return .expected(waiter) }
        guard let place = forgotten.firstIndex(of: id) else { return .unknown }
        forgotten.remove(at: place)
        return .late
    }

    /// The caller has gone, with its reply or without.
    mutating func forget(_ id: ID, _ waiter: Waiter) {
        guard waiting[id] === waiter else { return }
        waiting[id] = nil
        sent.remove(id)
        if forgotten.count == Self.mostForgotten { forgotten.removeFirst() }
        forgotten.append(id)
    }

    /// The connection is lost: nothing that was given to it will be answered.
    mutating func takeSent() -> [Waiter] {
        defer { (sent, forgotten) = ([], []) }
        return sent.compactMap { waiting.removeValue(forKey: $0) }
    }

    /// Nothing that waits will be answered.
    mutating func takeAll() -> [Waiter] {
        defer { (waiting, sent, forgotten) = ([:], [], []) }
        return Array(waiting.values)
    }
}
