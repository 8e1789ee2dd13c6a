/// The lane of what is sent to renew a credential. The task tells it, so that the app may use whatever client it likes, and a
/// call keeps the lane that it was begun in.
///
/// A task that was begun in a lane may outlive it, such as one that a login screen leaves behind. The lane ends with the
/// renewal, so what such a task sends afterwards is sent like everything else.
final class RefreshLane: Sendable {
    @TaskLocal private static var innermost: RefreshLane?

    /// The lane of the present task; `nil` where nothing is being renewed.
    static var current: RefreshLane? { innermost?.nearestOpen }

    /// The credential that is being renewed. What is sent in the lane goes without it, and waits for nobody who waits for it.
    private let key: CredentialKey
    /// The lane of a credential that this one is needed for.
    private let outer: RefreshLane?
    /// Whether what is sent has the time that ``RefreshPolicy/timeout`` gives it. A login has as much as it takes.
    let isTimed: Bool
    private let state = Locked(State())

    private struct State: Sendable {
        var isOver = false
        var isRevoked = false
        /// Whether the code that ran in it has returned.
        var isLeft = false
    }

    /// A lane inside the one of the present task.
    init(_ key: CredentialKey, isTimed: Bool) {
        self.key = key
        outer = Self.current
        self.isTimed = isTimed
    }

    /// Whether something is still being renewed in it.
    var isOpen: Bool { nearestOpen != nil }

    private var nearestOpen: RefreshLane? {
        let (isOver, isRevoked) = state.withLock { ($0.isOver, $0.isRevoked) }
        // Code that goes on after that is still known by its lane, since it sends nothing any more.
        return isOver && !isRevoked ? outer?.nearestOpen : self
    }

    /// Whether the credential was deleted, or another one took its place, while it was being renewed. Nothing is sent for it any more.
    var isRevoked: Bool { state.withLock { $0.isRevoked } || outer?.isRevoked ?? false }

    /// Whether the present task is one of those that renew in it.
    var isPresent: Bool {
        var lane = Self.innermost
        while let present = lane {
            if present === self { return true }
            lane = present.outer
        }
        return false
    }

    /// Whether the credential is one of those that are being renewed: this lane's, and those that it is needed for.
    func renews(_ key: CredentialKey) -> Bool { keys.contains(key) }

    /// The credentials that are being renewed.
    var keys: Set<CredentialKey> {
        let others = outer?.keys ?? []
        return state.withLock { $0.isOver } ? others : others.union([key])
    }

    /// Runs something in the lane.
    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        try await Self.$innermost.withValue(self, operation: body)
    }

    /// The renewal has come to its end.
    func end() {
        state.withLock { $0.isOver = true }
    }

    /// The credential was deleted, or another one took its place: what is begun in the lane is refused until ``leave()``.
    func revoke() {
        state.withLock { $0.isRevoked = !$0.isLeft }
    }

    /// The code that ran in it has returned. A task that it has left behind sends like every other.
    func leave() {
        state.withLock { $0 = State(isOver: true, isLeft: true) }
    }
}
