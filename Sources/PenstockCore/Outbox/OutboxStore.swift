import Foundation

/// Where an ``Outbox`` keeps its rows. `PenstockTesting` has the rules that every store keeps.
///
/// Every function that changes something is on the medium when it returns, and changes nothing when it throws. All are
/// atomic, also against other processes that share the store. What belongs to the sender is done under a lease, and is
/// refused (``OutboxStoreError/fenced``) once another one has it.
public protocol OutboxStore: Sendable {
    /// Adds a row behind all others, with the next number of its lane where `isNumbered`; a lane in which none is queued is due
    /// with it, at ``OutboxRow/created``. A lane whose first queued row rests is not due before that is over
    /// (``OutboxRow/restsUntil``), in whatever way it has come to be the first. Rows of the same fold that may be replaced go
    /// (``OutboxRow/mayBeReplaced``), and the new one takes over the oldest ``OutboxRow/rollback`` among them.
    func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement

    /// One row; `nil` once it is gone.
    func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow?

    /// Rows of an owner in the order in which they were put.
    ///
    /// - Parameters:
    ///   - position: those behind it; 0 for all.
    func rows(_ selection: OutboxSelection, after position: Int64, limit: Int) async throws(OutboxStoreError)
        -> [OutboxRow]

    /// How many rows there are of an owner.
    func counts(of owner: OutboxOwner) async throws(OutboxStoreError) -> OutboxCounts

    /// When there is something to do for a sender: the earliest moment at which a lane of the owner is due, a queued row of
    /// it expires, or the lease ends under which one is being sent.
    ///
    /// - Parameter destinations: held back: a lane whose first queued row goes to one of them is not due.
    /// - Returns: not later than `now` where there is something to do already; `nil` where there is nothing.
    func nextMoment(
        of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date
    ) async throws(OutboxStoreError) -> Date?

    // MARK: The sender

    /// Takes or renews the lease, as ``OutboxLease/decide(_:for:at:duration:)`` says. Who takes it finds rows that were being
    /// sent queued again, due at once, with ``OutboxRow/unanswered`` set where it was not. Where the last one to have it was
    /// another holder, no row rests any more, since whoever put it may be gone.
    ///
    /// - Returns: `nil` while another one has it.
    func lease(for holder: String, at now: Date, duration: Duration) async throws(OutboxStoreError) -> OutboxLease?

    /// Lets go of a lease, if it is still held.
    func release(_ lease: OutboxLease) async throws(OutboxStoreError)

    /// Takes the first rows of lanes that are due, marks them as being sent, resting no more, and counts the attempt. A lane of
    /// which a row is being sent, or that a failure has stopped, is not due. No row that has expired is taken.
    ///
    /// - Parameter destinations: held back: no row that goes to one of them is taken, and none behind it in its lane. However
    ///   many there are, the lanes of others are found.
    func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow]

    /// Writes down what came of an attempt. Where the row is done it goes, and so do the rows of the same fold that were put
    /// before it and are not being sent, which would undo it; what waits of the fold has its
    /// ``OutboxRow/intent`` to roll back to. Where it waits, an end that the wait names is the row's (``OutboxWait/expires``).
    /// Where it is undeliverable and may have been processed, ``OutboxRow/unanswered`` stays, or is the start of the attempt;
    /// any other has none. Nothing when the row is gone.
    func settle(_ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease)
        async throws(OutboxStoreError)

    /// Moves queued rows of an owner that have expired to the undeliverable, at most `limit` of them.
    ///
    /// - Returns: those.
    func expire(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow]

    // MARK: The app

    /// Makes those lanes of an owner due, whether or not something of them may be sent just then, that wait for a moment which no
    /// server has named, and ends the rest of their rows.
    func hasten(_ owner: OutboxOwner, at now: Date) async throws(OutboxStoreError)

    /// Queues an undeliverable row again, in its old place. Its lane is due at once where it is the first in it now; what another
    /// one waits for stays as it is. Nothing where a later row of its fold is queued or being sent, which it would undo.
    ///
    /// - Returns: whether it is queued.
    func requeue(_ id: OutboxID, expires: Date, at now: Date) async throws(OutboxStoreError) -> Bool

    /// Removes a row that is not being sent.
    ///
    /// - Returns: whether it is gone.
    func remove(_ id: OutboxID) async throws(OutboxStoreError) -> Bool

    /// Removes all rows of a user in every environment, being sent or not, but those that are kept.
    ///
    /// - Parameter identity: ``OutboxOwner/identity``.
    /// - Returns: those that were removed.
    func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID]

    /// Lets go of what the store holds open.
    func close() async
}

extension OutboxStore {
    /// When there is something to do, with nothing held back.
    package func nextMoment(of owner: OutboxOwner, at now: Date) async throws(OutboxStoreError) -> Date? {
        try await nextMoment(of: owner, avoiding: [], at: now)
    }

    /// Takes the first rows of lanes that are due, with nothing held back.
    package func claim(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await claim(of: owner, avoiding: [], limit: limit, at: now, under: lease)
    }
}

/// Where a row was put.
public struct OutboxPlacement: Hashable, Sendable {
    /// The row with its position and number.
    public let row: OutboxRow
    /// The rows that it replaced.
    public let replaced: [OutboxID]

    /// A row as it was put, and what it took the place of.
    public init(row: OutboxRow, replaced: [OutboxID]) {
        self.row = row
        self.replaced = replaced
    }
}

/// Which rows of an owner are asked for.
@nonexhaustive
public enum OutboxSelection: Hashable, Sendable {
    /// The writes that are still to be delivered.
    case pending(OutboxOwner)
    /// The writes that are sent no more until the app says so.
    case undeliverable(OutboxOwner)
    /// All of a fold, by its digest.
    case fold(String)
}

/// How many rows an owner has.
public struct OutboxCounts: Hashable, Sendable {
    /// The number of those that are still to be delivered.
    public var pending: Int
    /// The number of those that are sent no more until the app says so.
    public var undeliverable: Int

    /// So many of each; none by default.
    public init(pending: Int = 0, undeliverable: Int = 0) {
        self.pending = pending
        self.undeliverable = undeliverable
    }
}

/// Why a store did not do what it was asked.
@nonexhaustive
public enum OutboxStoreError: Error, Hashable, Sendable {
    /// The file is not what was written. It is left as it is, and nothing is read out of it.
    case damaged
    /// A later version of this package wrote it. It is left as it is.
    case newerVersion
    /// The file is neither empty nor an outbox. It is left as it is.
    case foreign
    /// There is no room.
    case full
    /// The file, or the disk it is on, may not be written.
    case readOnly
    /// Other processes held it for longer than a change may wait.
    case busy
    /// More bytes than may be kept: of a body, by ``Outbox/Configuration/bodyBytes``, or of a row, which is the body, the
    /// endpoint as JSON and everything beside them.
    case tooLarge(bytes: Int, limit: Int)
    /// Another sender has taken over.
    case fenced
    /// The store was closed.
    case closed
    /// Reading or writing failed; `code` is the store's own number for it.
    case inputOutput(code: Int32)
}
