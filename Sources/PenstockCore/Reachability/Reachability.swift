/// What is known of the machine's way to the network.
public struct NetworkStatus: Hashable, Sendable {
    /// What kind of interface leads there.
    @nonexhaustive
    public enum Interface: String, Hashable, Sendable {
        /// A wireless local network.
        case wifi
        /// A mobile network.
        case cellular
        /// A cable.
        case wired
        /// A virtual private network or another tunnel; what carries it is not told.
        case tunnel
        /// None of these, or one that the system does not name.
        case other
    }

    /// Whether there is a way to other networks. That a server answers is known only by asking it.
    public var isReachable: Bool
    /// The kinds of interfaces that lead there; empty when nothing does.
    public var interfaces: Set<Interface>
    /// Whether bytes are likely to cost the user money: cellular networks and personal hotspots. Linux does not tell a
    /// hotspot from another network.
    public var isExpensive: Bool
    /// Whether the user has asked for little traffic (Low Data Mode). Never on Linux, which has no such setting.
    public var isConstrained: Bool

    /// A status that an app or a test tells of.
    public init(
        isReachable: Bool, interfaces: Set<Interface> = [], isExpensive: Bool = false, isConstrained: Bool = false
    ) {
        self.isReachable = isReachable
        self.interfaces = interfaces
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// There is no way to any network.
    public static let unreachable = NetworkStatus(isReachable: false)
}

/// The machine's network status, and the one thing that Penstock broadcasts: its changes.
///
/// A broadcast is news that reaches whoever listens, in whatever layer, without their having asked anything of the network.
/// All else is heard of an object that was asked for it: a call, a manager, an outbox, a list of transfers. Nothing is posted
/// to `NotificationCenter`.
///
/// ```swift
/// for await status in Reachability.system.changes { banner.isHidden = status.isReachable }
/// ```
///
/// Nothing is ever kept from being sent because of it: the only way to know whether a server answers is to ask. With
/// ``ClientConfiguration/reachability`` set, failures to connect tell whether the machine was offline.
public final class Reachability: Sendable {
    private struct State: Sendable {
        var status: NetworkStatus?
        var failure: String?
        var listeners: [UInt64: AsyncStream<NetworkStatus>.Continuation] = [:]
        var last: UInt64 = 0
    }

    private let state: Locked<State>

    /// One that is told by the app, or by a test: ``update(_:)``. The machine's own is `Reachability.system`.
    ///
    /// - Parameter status: `nil`, as by default, while nothing is known.
    public init(_ status: NetworkStatus? = nil) {
        state = Locked(State(status: status))
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The status of the moment; `nil` while it is not known.
    public var status: NetworkStatus? { state.withLock { $0.status } }

    /// Why the platform tells nothing, for developers; `nil` where it does.
    public var failure: String? { state.withLock { $0.failure } }

    /// How many listen.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// How many have listened, those that do among them.
    package var listenersSoFar: UInt64 { state.withLock { $0.last } }

    /// The status of the moment, once it is known, and then each change. One who is slow gets the newest status and not
    /// those in between. Any number may listen; each stops by ending its iteration.
    public var changes: AsyncStream<NetworkStatus> {
        let (stream, continuation) = AsyncStream<NetworkStatus>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            if let status = state.status { continuation.yield(status) }
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Tells of a new status. Nothing where it is the one that is known.
    public func update(_ status: NetworkStatus) {
        // Under the lock, so that two updates reach everybody in one order.
        state.withLock { state in
            guard status != state.status else { return }
            state.status = status
            for listener in state.listeners.values { listener.yield(status) }
        }
    }

    /// Notes why the platform tells nothing.
    package func fail(_ reason: String) {
        state.withLock { $0.failure = reason }
    }
}

/// What the network status says about a failure: pure, so that it is tested as a table.
package enum ConnectivityRule {
    /// What an exchange failed of, given the status after it.
    ///
    /// Only failures to find a way to the server can be the network's. A time-out, a refused connection, a certificate or an
    /// answer stay what they are, whatever the status is: they came from somewhere.
    package static func reason(
        _ reason: TransportError.Reachability, given status: NetworkStatus?
    ) -> TransportError.Reachability {
        guard status?.isReachable == false else { return reason }
        switch reason {
        case .nameNotResolved, .noRoute: return .offline
        case .offline, .connectionRefused, .proxy, .proxyAuthentication, .noDescriptors: return reason
        }
    }
}
