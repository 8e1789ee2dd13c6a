import CSQLite
import Foundation

/// A read transaction that look-ups share while they follow closely on each other, since to begin and end one takes longer
/// than to look something up in it.
///
/// No look-up sees less than it would in a transaction of its own: before each, the header of the log's index is compared
/// with what it was when the transaction began, and every commit of every process changes that.
struct SharedRead {
    /// The log cannot be emptied while a transaction reads from it, so none is shared for longer.
    static let longest = DispatchTimeInterval.milliseconds(5)
    /// Look-ups that are further apart have transactions of their own, and cost no timer.
    private static let gap: TimeInterval = 0.001

    private let connection: SQLiteConnection
    private var memory: UnsafeRawPointer?
    private var header = csqlite_log_header()
    private var last = Date.distantPast

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// To be called before each look-up.
    ///
    /// - Returns: whether a transaction was begun that somebody must ``end()``.
    mutating func prepare(at now: Date) -> Bool {
        endIfOutdated()
        defer { last = now }
        guard !connection.isInTransaction, abs(now.timeIntervalSince(last)) < Self.gap else { return false }
        // The second look-up finds the log open, so that its memory is there.
        memory = memory ?? connection.logMemory
        guard let memory else { return false }
        header = csqlite_log_read(memory)
        return (try? connection.statement("BEGIN").run()) != nil
    }

    /// Ends it when something was committed since it began.
    func endIfOutdated() {
        guard connection.isInTransaction else { return }
        guard let memory, withUnsafePointer(to: header, { csqlite_log_is_same(memory, $0) }) != 0 else { return end() }
    }

    /// Ends it, if there is one.
    func end() {
        if connection.isInTransaction { try? connection.statement("COMMIT").run() }
    }
}
