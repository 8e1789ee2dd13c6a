import Foundation
import PenstockCore

/// One change that waits for its turn on the engine's queue. It may be run more than once, when the transaction that it
/// shares with others fails.
struct CacheJob: Sendable {
    /// Runs in a transaction; what it returns is called once that is committed.
    let run: @Sendable (CacheDatabase) throws(SQLiteError) -> @Sendable () -> Void
    /// Called when nothing of it was done, with whether the file was thrown away, and all that was in it.
    let fail: @Sendable (_ isThrownAway: Bool) -> Void
    /// What is removed or marked: it may not be lost.
    var removal: CacheRemoval?
    /// Runs by itself, outside any transaction.
    var isAlone = false
    /// How many bytes it writes, more or less.
    var weight = 0
    /// How long it waits while nothing is done before it is given up; `nil` for as long as any change.
    var patience: Duration?
    /// Whether it is of use when the file is not open.
    var opensFile = true
    private let state = Locked(State.waiting)
    let since = DispatchTime.now()

    private enum State: Sendable {
        case waiting, taken, over
    }

    init(
        run: @escaping @Sendable (CacheDatabase) throws(SQLiteError) -> @Sendable () -> Void,
        fail: @escaping @Sendable (_ isThrownAway: Bool) -> Void = { _ in }, removal: CacheRemoval? = nil,
        isAlone: Bool = false, weight: Int = 0, patience: Duration? = nil, opensFile: Bool = true
    ) {
        self.run = run
        self.fail = fail
        self.removal = removal
        self.isAlone = isAlone
        self.weight = weight
        self.patience = patience
        self.opensFile = opensFile
    }

    /// Whether it may run now: it has not been given up, and will not be.
    func take() -> Bool {
        state.withLock { state in
            if state == .waiting { state = .taken }
            return state == .taken
        }
    }

    /// Ends it without having been done.
    ///
    /// - Returns: `false` when it has ended already.
    func end() -> Bool {
        state.withLock { state in
            defer { state = .over }
            return state != .over
        }
    }

    /// Ends it unless it is running.
    ///
    /// - Returns: whether it was waiting, so that somebody must tell of its failure.
    func giveUp() -> Bool {
        state.withLock { state in
            guard state == .waiting else { return false }
            state = .over
            return true
        }
    }

    var isOver: Bool { state.withLock { $0 == .over } }

    /// Whether it has waited for too long: since it was submitted, or since the last change was done if that was later.
    /// As long as changes are done its turn will come.
    ///
    /// - Parameter patience: of a job that has none of its own.
    func isLate(patience: Duration, lastDone: DispatchTime) -> Bool {
        .now() >= max(since, lastDone) + (self.patience ?? patience) / .seconds(1)
    }
}

/// What is removed, or marked to be validated before it is used.
struct CacheRemoval: Sendable {
    let selections: [CacheSelection]
    let onlyMarks: Bool

    func perform(_ database: CacheDatabase) throws(SQLiteError) {
        if onlyMarks { try database.invalidate(selections) } else { try database.remove(selections) }
    }
}
