import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One exchange under way: collects what the session reports until there is an outcome, which it hands over once.
final class URLSessionExchange: ControlledExchange {
    typealias Outcome = Result<TransportResponse, TransportError>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: URLSessionTask?
        var canceller: URLSessionCanceller?
        var isSuspended = false
        var hasBegun = false
        var isHeadDelivered = false
        var isFinished = false
        /// Nobody wants the content that still comes.
        var isPassedOver = false
        /// Foundation kept the content to itself.
        var isContentLost = false
        var head: HTTPResponse?
        var body = Data()
        var received = 0
        /// How much content there may be, where the head tells how much of it comes over the wire.
        var expandedLimit: Int?
        var sent = 0
        var timings = Timings()
        var connection = ConnectionInfo()
        var timers: URLSessionTimers
        var watchdog: Task<Void, Never>?
        /// The feed of the body that is being sent.
        var feed: URLSessionBodyFeed?
    }

    private let request: TransportRequest
    /// Where the content goes; `nil` when it is collected.
    let pipe: ContentPipe?
    private let brake = URLSessionBrake()
    /// Held while the task is told to stop or to go on, so that it is told in the order that was decided in. It is another lock than
    /// that of the state, which the session's own thread takes and Foundation may wait for.
    private let order = Locked(())
    private let state: Locked<State>

    var body: HTTPBody { request.request.body }
    /// Whom the server must prove to be.
    var host: String { request.request.url.host }

    init(_ request: TransportRequest, streams: Bool = false) {
        self.request = request
        pipe = streams ? ContentPipe(onDemand: brake.apply) : nil
        state = Locked(State(timers: .init(request.timeouts, request.limits.minimumThroughput)))
    }

    func start(
        _ task: URLSessionTask, _ canceller: URLSessionCanceller, continuation: CheckedContinuation<Outcome, Never>
    ) {
        let isFinished = order.withLock { _ in
            let (isFinished, mayBegin) = state.withLock { state in
                if !state.isFinished { state.continuation = continuation }
                (state.task, state.canceller) = (task, canceller)
                state.hasBegun = !state.isFinished && !state.isSuspended
                return (state.isFinished, state.hasBegun)
            }
            if !isFinished { attachBrake(to: task) }
            if mayBegin { task.resume() }
            return isFinished
        }
        guard !isFinished else {
            continuation.resume(returning: .failure(URLSessionErrors.cancelledBeforeStart))
            return canceller.cancel(task)
        }
        watch()
    }

    /// Attaches the brake to a task. Without one more content comes than its reader has room for, and the time goes on.
    private func attachBrake(to task: URLSessionTask) {
        guard let pipe, URLSessionPlatform.capabilities.contains(.suspension) else { return }
        brake.attach(
            pipe,
            stop: { [weak self] in
                task.suspend()
                self?.state.withLock { $0.timers.hold() }
            },
            goOn: { [weak self] in
                self?.state.withLock { $0.timers.release() }
                task.resume()
                self?.watch()
            })
    }

    /// Nobody wants what is left. Where that is short it is received all the same, so that the connection can be used
    /// again, and the wire is closed otherwise.
    func leave() {
        let isShort = state.withLock { state in
            let length = state.head.flatMap { URLSessionResponse.expectedLength($0, to: request.request.method) }
            guard let length, length - state.received <= Self.maxSkipped else { return false }
            state.isPassedOver = true
            state.timers.hurry()
            return true
        }
        guard isShort else { return fail(.cancelled, "nobody reads the rest of the content") }
        pipe?.end(.success(()))
        brake.apply()
        watch()
    }

    /// The completion of a streamed exchange, as far as it is known.
    var completion: TransportCompletion {
        state.withLock { TransportCompletion(timings: $0.timings, connection: $0.connection) }
    }

    // MARK: ControlledExchange

    func cancel() {
        fail(.cancelled, "cancelled")
    }

    /// Holds back an exchange that has not begun; one under way where the platform can.
    func suspend() {
        order.withLock { _ in
            let task = state.withLock { state -> URLSessionTask? in
                let canSuspend = !state.hasBegun || URLSessionPlatform.capabilities.contains(.suspension)
                guard canSuspend, !state.isSuspended, !state.isFinished else { return nil }
                state.isSuspended = true
                state.timers.pause()
                return state.hasBegun ? state.task : nil
            }
            task?.suspend()
        }
        watch()
    }

    func resume() {
        order.withLock { _ in
            let task = state.withLock { state -> URLSessionTask? in
                guard state.isSuspended, !state.isFinished else { return nil }
                state.isSuspended = false
                state.timers.resume()
                state.hasBegun = state.task != nil
                return state.task
            }
            task?.resume()
        }
        watch()
    }

    // MARK: The body that is sent

    /// The session reads the body from its beginning: what fed the sending before, if any, is over.
    func feed(by feed: URLSessionBodyFeed) {
        let superseded = state.withLock { state in
            guard !state.isFinished else { return feed as URLSessionBodyFeed? }
            defer { state.feed = feed }
            return state.feed
        }
        superseded?.end()
    }

    /// The session reads no more of the body.
    private func endFeed() {
        let feed = state.withLock { state in
            defer { state.feed = nil }
            return state.feed
        }
        feed?.end()
    }

    // MARK: What the session reports

    func didSend(_ total: Int) {
        let progress = state.withLock { state -> TransferProgress? in
            state.sent = total
            state.timers.touch()
            return state.isFinished ? nil : measured(state)
        }
        if let progress { request.control.onProgress?(progress) }
    }

    func didReceive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return fail(.protocolViolation, "no HTTP response") }
        let head = URLSessionResponse.head(of: response)
        state.withLock { state in
            state.head = head
            state.expandedLimit = URLSessionResponse.expandedLimit(head, request.limits)
            state.timings.responseStart = state.timers.elapsed()
            state.timers.answered()
        }
        if let limit = URLSessionResponse.exceededLimit(head.fields, request.limits) {
            fail(.limitExceeded(limit), "the response's header is larger than allowed")
        }
        if URLSessionResponse.isCodedTooOften(head) {
            fail(.limitExceeded(.contentCodings), "the content is coded too many times over")
        }
        if URLSessionPlatform.endsProcessAtTrailers, head.fields.contains("Trailer") {
            fail(.other, "the response announces trailers, which end the process in Foundation")
        }
        guard !deliver(head) else { return }
        if request.isContentSkipped(head.status, head) { return pass(over: head) }
        let length = URLSessionResponse.expectedLength(head, to: request.request.method)
        if let length, length > request.limits.bodyBytes { didExceedBodyLimit() }
    }

    func didReceive(_ data: Data) {
        let (progress, isTooLarge, isExpanded, isWanted) = state.withLock { state in
            let isTooLarge = pipe == nil && data.count > request.limits.bodyBytes - state.body.count
            if pipe == nil, !isTooLarge, !state.isFinished { state.body.append(data) }
            state.received += data.count
            state.timers.received(data.count)
            let isWanted = !state.isFinished && !state.isPassedOver
            let isExpanded = state.expandedLimit.map { state.received > $0 } ?? false
            return (isWanted ? measured(state) : nil, isTooLarge, isExpanded, isWanted)
        }
        if let progress { request.control.onProgress?(progress) }
        if isExpanded { fail(.limitExceeded(.expansionRatio), "the content expands more than allowed") }
        if isWanted, let pipe, !pipe.push(data) { brake.apply() }
        if isTooLarge { didExceedBodyLimit() }
    }

    /// Hands over the head of a streamed response.
    ///
    /// - Returns: `false` where the whole response is awaited.
    private func deliver(_ head: HTTPResponse) -> Bool {
        guard pipe != nil else { return false }
        let (continuation, timings, connection) = state.withLock { state in
            state.isHeadDelivered = true
            state.timers.endTotal()
            defer { state.continuation = nil }
            return (state.continuation, state.timings, state.connection)
        }
        continuation?.resume(
            returning: .success(TransportResponse(head, timings: timings, connection: connection)))
        watch()
        return true
    }

    /// Content that nobody looks at is not waited for where it may be long, or is coded: Foundation would decode it.
    private func pass(over head: HTTPResponse) {
        let length = URLSessionResponse.expectedLength(head, to: request.request.method)
        guard length.map({ $0 > Self.maxSkipped }) ?? true else { return }
        let (timings, connection) = state.withLock { ($0.timings, $0.connection) }
        finish(.success(TransportResponse(head, timings: timings, connection: connection)))
        close()
    }

    private static let maxSkipped = 64 << 10

    private func didExceedBodyLimit() {
        fail(.limitExceeded(.bodyBytes), "the response is larger than allowed")
    }

    /// Facts that only some platforms tell; before ``didComplete(_:error:)``.
    func didMeasure(_ measure: (inout Timings, inout ConnectionInfo, inout HTTPResponse?) -> Void) {
        state.withLock { measure(&$0.timings, &$0.connection, &$0.head) }
    }

    func didComplete(_ task: URLSessionTask, error: (any Error)?) {
        endFeed()
        if let error { return didFail(error) }
        recoverHead(of: task)
        guard let response = state.withLock({ completeResponse(&$0, task) }) else {
            return fail(.protocolViolation, "the exchange ended without a response")
        }
        guard !URLSessionResponse.isMisframed(response.response) else {
            return fail(.protocolViolation, "the response contradicts itself about its length")
        }
        let isTruncated = URLSessionResponse.isTruncated(
            response.response, received: state.withLock(\.received), to: request.request.method)
        guard !isTruncated || state.withLock({ $0.isContentLost }) else {
            return fail(.connectionLost, "the response is shorter than its length")
        }
        finish(.success(response))
    }

    // MARK: The outcome

    private func completeResponse(_ state: inout State, _ task: URLSessionTask) -> TransportResponse? {
        guard var response = state.head else { return nil }
        if !request.isContentSkipped(response.status, response) { response.body = state.body }
        state.timings.total = state.timers.elapsed()
        state.connection.bytesSent = max(state.sent, Int(clamping: task.countOfBytesSent))
        state.connection.bytesReceived = max(state.connection.bytesReceived, Int(clamping: task.countOfBytesReceived))
        if !response.fields.contains(.contentEncoding) { state.connection.bytesReceived = response.body.count }
        return TransportResponse(response, timings: state.timings, connection: state.connection)
    }

    /// A redirect status without a place to go is not reported on Linux, and its content is lost.
    private func recoverHead(of task: URLSessionTask) {
        guard state.withLock({ $0.head == nil }), let response = task.response else { return }
        state.withLock { $0.isContentLost = true }
        didReceive(response)
    }

    private func didFail(_ error: any Error) {
        let isAnswered = state.withLock { $0.head != nil }
        fail(URLSessionErrors.kind(of: error, isAnswered: isAnswered), error.localizedDescription)
    }

    func fail(_ kind: TransportError.Kind, _ message: String) {
        let error = state.withLock { state in
            var error = TransportError(kind, sendState: sendState(state, kind), message: message)
            error.timings = state.timings
            error.timings.total = state.timers.elapsed()
            error.partialResponse = state.head
            return error
        }
        finish(.failure(error))
    }

    private func sendState(_ state: State, _ kind: TransportError.Kind) -> SendState {
        if state.head != nil { return .answered }
        return state.hasBegun && !URLSessionErrors.isBeforeSending(kind) ? .maybeProcessed : .unsent
    }

    private func finish(_ outcome: Outcome) {
        let (continuation, watchdog, feed) = state.withLock { state in
            state.isFinished = true
            defer { (state.continuation, state.watchdog, state.body) = (nil, nil, Data()) }
            return (state.continuation, state.watchdog, state.feed)
        }
        watchdog?.cancel()
        feed?.cancel()
        pipe?.end(outcome.map { _ in })
        if case .failure = outcome { close() }
        continuation?.resume(returning: outcome)
    }

    private func close() {
        let (task, canceller) = state.withLock { ($0.task, $0.canceller) }
        if let task { canceller?.cancel(task) }
    }

    private func measured(_ state: State) -> TransferProgress {
        TransferProgress(
            sent: state.sent, expectedToSend: body.length, received: state.received,
            expectedToReceive: state.head.flatMap { URLSessionResponse.expectedLength($0, to: request.request.method) }
        )
    }

    // MARK: Time-outs

    /// Watches the times anew, as they have changed otherwise than by passing.
    private func watch() {
        let previous = state.withLock { state -> Task<Void, Never>? in
            guard !state.isFinished else { return state.watchdog }
            defer { state.watchdog = Task { await self.watchTimes() } }
            return state.watchdog
        }
        previous?.cancel()
    }

    private func watchTimes() async {
        while !Task.isCancelled, let next = state.withLock({ $0.timers.next() }) {
            if next.deadline <= .now { return fail(next.end, "too slow: \(next.end)") }
            try? await Task.sleep(until: next.deadline, clock: .continuous)
        }
    }
}
