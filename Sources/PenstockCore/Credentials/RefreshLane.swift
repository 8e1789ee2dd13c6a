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
    private let isOver = Locked(false)

    /// A lane inside the one of the present task.
    init(_ key: CredentialKey, isTimed: Bool) {
        self.key = key
        outer = Self.current
        self.isTimed = isTimed
    }

    /// Whether something is still being renewed in it.
    var isOpen: Bool { nearestOpen != nil }

    private var nearestOpen: RefreshLane? { isOver.withLock { $0 } ? outer?.nearestOpen : self }

    /// Whether the credential is one of those that are being renewed: this lane's, and those that it is needed for.
    func renews(_ key: CredentialKey) -> Bool { keys.contains(key) }

    /// The credentials that are being renewed.
    var keys: Set<CredentialKey> {
        let others = outer?.keys ?? []
        return isOver.withLock { $0 } ? others : others.union([key])
    }

    /// Runs something in the lane.
    func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        try await Self.$innermost.withValue(self, operation: body)
    }

    /// The renewal has come to its end.
    func end() {
        isOver.withLock { $0 = true }
    }
}
