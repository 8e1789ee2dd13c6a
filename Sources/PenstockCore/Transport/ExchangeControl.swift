/// The link between a call and the exchanges that serve it at the moment; a redirect or a retry changes the exchange, and an
/// interceptor may have several under way.
///
/// The call's side cancels, suspends and resumes; the transport's side attaches each exchange for as long as it is under way,
/// and reports progress. Cancellation is for good; a suspension outlives a redirect.
public final class ExchangeControl: Sendable {
    private struct State {
        var isCancelled = false
        var isSuspended = false
        /// The exchange, apart from the others, for which an array would be made: nearly always it is the only one.
        var exchange: (any ControlledExchange)?
        var others: [any ControlledExchange] = []
        /// Whether a part leaves its whole with its last exchange.
        var leavesWithLast = false

        var exchanges: [any ControlledExchange] { exchange.map { [$0] + others } ?? others }

        mutating func add(_ new: any ControlledExchange) {
            if exchange == nil { exchange = new } else { others.append(new) }
        }

        /// - Returns: whether none is left.
        mutating func remove(_ old: any ControlledExchange) -> Bool {
            if exchange === old {
                exchange = others.popLast()
            } else if let index = others.firstIndex(where: { $0 === old }) {
                others.remove(at: index)
            }
            return exchange == nil
        }
    }

    private let state = Monitor(State())
    /// What it is a part of; `nil` for a control of its own.
    private let whole: ExchangeControl?
    /// Called by the transport as bytes move; must return at once. `nil` when nobody listens, so that transports can
    /// leave the counting out.
    public let onProgress: (@Sendable (TransferProgress) -> Void)?

    /// Called by the transport with the head of each interim response (1xx, RFC 9110 §15.2), and the URL that was asked for;
    /// must return at once. `nil` when nobody listens, so that transports can leave such responses out. One whose platform hides
    /// them never calls it.
    public let onInterim: (@Sendable (HTTPResponse, HTTPURL) -> Void)?

    /// A control for one call.
    ///
    /// - Parameters:
    ///   - onProgress: called by the transport as bytes move, from any thread; must return at once. `nil`, the default, when
    ///     nobody listens.
    ///   - onInterim: called by the transport with each interim response, from any thread; must return at once. `nil`, the
    ///     default, when nobody listens.
    public init(
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        onInterim: (@Sendable (HTTPResponse, HTTPURL) -> Void)? = nil
    ) {
        self.onProgress = onProgress
        self.onInterim = onInterim
        whole = nil
    }

    /// A control for one of the exchanges of a call, which can be ended without the others. Its exchanges are told what the call's
    /// are from ``join()`` to ``leave()``. Who asks hears of the call in any case: content that is read after that is the call's.
    init(partOf whole: ExchangeControl) {
        onProgress = whole.onProgress
        onInterim = whole.onInterim
        self.whole = whole
    }

    /// Whether ``cancel()`` was called. It stays so.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } || whole?.isCancelled ?? false }
    /// Whether ``suspend()`` was called and ``resume()`` was not since. A transport asks when an exchange begins, as
    /// nobody calls its ``ControlledExchange/suspend()`` then.
    public var isSuspended: Bool { whole?.isSuspended ?? state.withLock { $0.isSuspended } }

    /// Whether something is under way that keeps the call's time-outs by itself.
    var isBusy: Bool {
        state.withLock { $0.exchanges }.contains { ($0 as? any SharedWork)?.isOnWire ?? true }
    }

    // MARK: The call's side

    /// Ends the exchanges under way and any that would follow. More than once does nothing more.
    public func cancel() {
        let exchanges = state.withLock { state in
            state.isCancelled = true
            return state.exchanges
        }
        for exchange in exchanges { exchange.cancel() }
    }

    /// Stops the bytes of the exchanges under way, and holds back any that would begin.
    public func suspend() {
        state.withLock { $0.isSuspended = true }
        tell()
    }

    /// Lets the bytes go on after ``suspend()``. Nothing where the call is not suspended.
    public func resume() {
        state.withLock { $0.isSuspended = false }
        tell()
    }

    /// Tells the exchanges whether they are suspended. Where a suspension and a resumption meet, whoever is told last is told the last
    /// word: the other one tells again.
    private func tell() {
        var told: Bool?
        while true {
            let (isSuspended, exchanges) = state.withLock { ($0.isSuspended, $0.exchanges) }
            guard isSuspended != told else { return }
            for exchange in exchanges { if isSuspended { exchange.suspend() } else { exchange.resume() } }
            told = isSuspended
        }
    }

    /// Returns when the call is not suspended, or is cancelled, or the task is.
    package func untilResumed() async {
        await state.waitUnlessCancelled { !$0.isSuspended || $0.isCancelled }
    }

    // MARK: The transport's side

    /// Connects an exchange that is about to begin.
    ///
    /// - Returns: `false` when the call is cancelled already; the exchange must not begin.
    public func attach(_ exchange: any ControlledExchange) -> Bool {
        let (isAttached, isSuspended) = state.withLock { state in
            guard !state.isCancelled else { return (false, false) }
            state.add(exchange)
            return (true, state.isSuspended)
        }
        if isAttached, isSuspended { hold(exchange) }
        return isAttached
    }

    /// Tells what serves several calls that this one was suspended before. A transport asks by itself.
    private func hold(_ exchange: any ControlledExchange) {
        guard let work = exchange as? any SharedWork else { return }
        work.suspend()
        // A resumption that came in between found nothing to resume.
        if !isSuspended { work.resume() }
    }

    /// Disconnects an exchange that is over. Nothing where it is not connected.
    public func detach(_ exchange: any ControlledExchange) {
        let isOver = state.withLock { state in state.remove(exchange) && state.leavesWithLast }
        if isOver { leave() }
    }

    // MARK: A part and its whole

    /// Makes it follow its whole, of which it is told whether it is cancelled or suspended already.
    func join() {
        if let whole, !whole.attach(self) { cancel() }
    }

    /// Follows its whole no more.
    func leave() {
        whole?.detach(self)
    }

    /// Follows its whole until the exchange it has at the moment is over: content is still to come.
    func leaveWithLast() {
        let isIdle = state.withLock { state in
            state.leavesWithLast = true
            return state.exchange == nil
        }
        if isIdle { leave() }
    }
}

extension ExchangeControl: SharedWork {
    var isOnWire: Bool { isBusy }
}

/// An exchange under way, as its control sees it. Each may be called from any thread, at any time after
/// ``ExchangeControl/attach(_:)``, also after the exchange has ended; each returns at once.
public protocol ControlledExchange: AnyObject, Sendable {
    /// Ends the exchange with ``TransportError/Kind/cancelled`` and closes the wire. It may be called again, and then
    /// does nothing.
    func cancel()
    /// Stops the bytes in both directions. Meanwhile only the total time-out and that for the connection run.
    func suspend()
    /// Lets the bytes go on; the time-outs that stood still begin anew.
    func resume()
}

/// What serves several calls at a time, and has a transport work for it now and then.
protocol SharedWork: ControlledExchange {
    var isOnWire: Bool { get }
}
