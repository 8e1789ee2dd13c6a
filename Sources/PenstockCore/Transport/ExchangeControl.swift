/// The link between a call and the exchange that serves it at the moment; a redirect or a retry changes the exchange.
///
/// The call's side cancels, suspends and resumes; the transport's side attaches itself for as long as an exchange is
/// under way and reports progress. Cancellation is for good; a suspension outlives a redirect.
public final class ExchangeControl: Sendable {
    private struct State {
        var isCancelled = false
        var isSuspended = false
        var exchange: (any ControlledExchange)?
    }

    private let state = Monitor(State())
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
    }

    /// Whether ``cancel()`` was called. It stays so.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// Whether ``suspend()`` was called and ``resume()`` was not since. A transport asks when an exchange begins, as
    /// nobody calls its ``ControlledExchange/suspend()`` then.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Whether something is under way that keeps the call's time-outs by itself.
    var isBusy: Bool {
        guard let exchange = state.withLock({ $0.exchange }) else { return false }
        return (exchange as? any SharedWork)?.isOnWire ?? true
    }

    // MARK: The call's side

    /// Ends the exchange under way and any that would follow. More than once does nothing more.
    public func cancel() {
        let exchange = state.withLock { state in
            state.isCancelled = true
            return state.exchange
        }
        exchange?.cancel()
    }

    /// Stops the bytes of the exchange under way, and holds back any that would begin.
    public func suspend() {
        let exchange = state.withLock { state in
            state.isSuspended = true
            return state.exchange
        }
        exchange?.suspend()
    }

    /// Lets the bytes go on after ``suspend()``. Nothing where the call is not suspended.
    public func resume() {
        let exchange = state.withLock { state in
            state.isSuspended = false
            return state.exchange
        }
        exchange?.resume()
    }

    /// Returns when the call is not suspended, or is cancelled.
    package func untilResumed() async {
        await state.wait { !$0.isSuspended || $0.isCancelled }
    }

    // MARK: The transport's side

    /// Connects an exchange that is about to begin.
    ///
    /// - Returns: `false` when the call is cancelled already; the exchange must not begin.
    public func attach(_ exchange: any ControlledExchange) -> Bool {
        let (isAttached, isSuspended) = state.withLock { state in
            guard !state.isCancelled else { return (false, false) }
            state.exchange = exchange
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

    /// Disconnects the exchange that is over.
    public func detach() {
        state.withLock { $0.exchange = nil }
    }
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
