/// What becomes of a call while another one of the same kind is under way: a value.
///
/// ```swift
/// var options: CallOptions { .inFlight(.cancelPrevious) }                          // an API: only the last filter counts
/// try await client.send(Search(text), options: .inFlight(.debounce(.milliseconds(300))))
/// let products = APIManager(client: client, inFlight: .ignoreNew) { ProductList() } // among this object's own calls
/// ```
///
/// Calls are compared within one user, one environment and one service.
public struct InFlightPolicy: Hashable, Sendable {
    /// What is done.
    @nonexhaustive
    public enum Strategy: Hashable, Sendable {
        /// Calls have nothing to do with each other.
        case independent
        /// The load under way wins; a new call fails with ``DropReason/alreadyLoading``.
        case ignoreNew
        /// The new call wins; the one before it fails with ``DropReason/superseded``, also when its response has come and is
        /// yet to be delivered.
        case cancelPrevious
        /// A call that asks for exactly the same waits for the same response, and ``APIResponse/isJoined`` says so. Those of
        /// an endpoint with interceptors of its own never do, nor those that the app has given different idempotency keys.
        case join
        /// The call ends the one before it at once, as with ``cancelPrevious``, and is sent when no newer one has come for so long. What
        /// was on its way would be of no use to whoever goes on typing.
        case debounce(Duration)
        /// A call fails with ``DropReason/tooSoon`` when it comes less than so long after the last that was sent.
        case throttle(Duration)
    }

    /// Which calls are of the same kind.
    @nonexhaustive
    public enum Scope: Hashable, Sendable {
        /// Calls of the same endpoint type, whatever their parameters.
        case api
        /// Calls that ask for the same: method, URL, fields and content.
        case request
        /// Calls that name the same group.
        case group(String)
    }

    /// What is done.
    public var strategy: Strategy
    /// Which calls are of the same kind; those of the API unless set. An API that is named where it is called
    /// (``AdHocEndpoint``, or a raw request) is one method and path.
    public var scope: Scope

    /// - Parameter scope: the API unless set; ``Strategy/join`` compares the whole request in any case.
    public init(_ strategy: Strategy, per scope: Scope = .api) {
        self.strategy = strategy
        self.scope = scope
    }

    /// Calls have nothing to do with each other: the default.
    public static let independent = InFlightPolicy(.independent)
    /// ``Strategy/ignoreNew`` for each API.
    public static let ignoreNew = InFlightPolicy(.ignoreNew)
    /// ``Strategy/cancelPrevious`` for each API.
    public static let cancelPrevious = InFlightPolicy(.cancelPrevious)
    /// ``Strategy/join``.
    public static let join = InFlightPolicy(.join)

    /// ``Strategy/debounce(_:)`` for each API.
    public static func debounce(_ quiet: Duration) -> InFlightPolicy { InFlightPolicy(.debounce(quiet)) }
    /// ``Strategy/throttle(_:)`` for each API.
    public static func throttle(_ interval: Duration) -> InFlightPolicy { InFlightPolicy(.throttle(interval)) }

    /// The same for other calls.
    public func per(_ scope: Scope) -> InFlightPolicy { InFlightPolicy(strategy, per: scope) }
}

/// What to do with a call, and why: pure, so that it is tested as a table.
@nonexhaustive
public enum InFlightDecision: Hashable, Sendable {
    /// It goes its way.
    case send
    /// It is not sent.
    case drop(DropReason)
    /// It waits for the response of another one that asks for the same, where there is one.
    case join
    /// It ends the one before, waits for so long, and is sent.
    case supersede(after: Duration)
}

extension InFlightPolicy.Strategy {
    /// - Parameters:
    ///   - isUnderWay: whether another call of the same kind is.
    ///   - sinceLast: how long ago the last of them was sent; `nil` when none was.
    public func decide(isUnderWay: Bool, sinceLast: Duration?) -> InFlightDecision {
        switch self {
        case .independent: .send
        case .ignoreNew: isUnderWay ? .drop(.alreadyLoading) : .send
        case .cancelPrevious: .supersede(after: .zero)
        case .join: .join
        case .debounce(let quiet): .supersede(after: max(quiet, .zero))
        case .throttle(let interval): sinceLast.map { $0 < interval } ?? false ? .drop(.tooSoon) : .send
        }
    }
}

/// What was decided about a call because of others of its kind.
@nonexhaustive
public enum InFlightReason: Hashable, Sendable {
    /// It waits for the response to this one.
    case joined(CallID)
    /// It ends the one before it.
    case supersedes(CallID)
    /// It waits for newer ones first.
    case waits(Duration)
    /// It is not sent, or not wanted any more.
    case dropped(DropReason)
}
