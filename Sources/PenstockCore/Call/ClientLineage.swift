/// Where a client stands among those that were derived from one another: what reaches it reaches its descendants too, and
/// never its parent.
final class ClientLineage: Sendable {
    private let parent: ClientLineage?
    private let initial: ServerEnvironment
    /// `nil` for a client that follows its parent.
    private let own: Locked<ServerEnvironment?>
    private let cancellations = Locked(0)
    private let end = Locked(End.open)

    /// How far a client is with its end.
    private enum End: Sendable {
        case open, draining, ended
    }

    /// - Parameter environment: that of a client without a parent.
    init(_ environment: ServerEnvironment) {
        parent = nil
        initial = environment
        own = Locked(nil)
    }

    /// - Parameter environment: `nil` for a client that follows its parent.
    init(derivedFrom parent: ClientLineage, environment: ServerEnvironment?) {
        self.parent = parent
        initial = parent.environment
        own = Locked(environment)
    }

    var environment: ServerEnvironment {
        get { own.withLock { $0 } ?? parent?.environment ?? initial }
        set { own.withLock { $0 = newValue } }
    }

    /// How often all calls were ended here or where it was derived from: what has begun none of its calls yet sees by it
    /// that it must not.
    var cancellationCount: Int { cancellations.withLock { $0 } + (parent?.cancellationCount ?? 0) }

    func noteCancellation() {
        cancellations.withLock { $0 += 1 }
    }

    /// Whether it was derived from no other.
    var isRoot: Bool { parent == nil }

    /// Whether it, or what it was derived from, was shut down.
    var isShutDown: Bool { end.withLock { $0 != .open } || (parent?.isShutDown ?? false) }

    /// Whether its calls, or those of what it was derived from, have ended since: nothing begins any more, not even what renews a
    /// credential.
    var hasEnded: Bool { end.withLock { $0 == .ended } || (parent?.hasEnded ?? false) }

    func shutDown() {
        end.withLock { if $0 == .open { $0 = .draining } }
    }

    func noteEnd() {
        end.withLock { $0 = .ended }
    }

    /// Whether it is `other`, or was derived from it.
    func descends(from other: ClientLineage) -> Bool {
        var place: ClientLineage? = self
        while let current = place {
            if current === other { return true }
            place = current.parent
        }
        return false
    }
}
