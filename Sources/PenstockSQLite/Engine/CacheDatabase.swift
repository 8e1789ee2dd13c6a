import Foundation
import PenstockCore

/// The connection that writes, and what a batch of changes does to the totals. Used on the engine's queue alone.
final class CacheDatabase {
    let connection: SQLiteConnection
    let configuration: SQLiteCacheConfiguration
    let holds: Locked<CacheHolds>
    /// Totals as they will be when the batch is committed.
    var totals = Totals()
    private var knownForm: CacheAtRest?
    /// The use that was counted last.
    private var lastUse: Int64 = 0
    /// The epoch that this process knows; `nil` before its first batch.
    private var knownEpoch: Int64?
    /// What somebody else has done since that was last asked.
    private var foreignChange = ForeignChange.none

    enum ForeignChange {
        case none
        /// Responses were replaced or got new fields.
        case replacement
        /// Something was removed or invalidated.
        case removal
    }
    /// Whether there was more to remove than the last batch did.
    var mustMakeRoom = false
    /// What the pages that hold something took when this was last looked at.
    var usedBytes: Int64 = 0
    /// The length of the file at that time, of which some may have been free.
    var fileBytes: Int64 = 0

    /// The row of the table `state`.
    struct Totals {
        var entries: Int64 = 0
        /// The bytes of responses and of bodies under way.
        var bytes: Int64 = 0
        /// The bytes of bodies under way alone.
        var unfinished: Int64 = 0
        /// Counts changes of a response, and in its upper half removals and invalidations, so that other processes can tell
        /// one from the other.
        var epoch: Int64 = 0
        /// Whether bytes of what was erased may still be somewhere in the file.
        var owesScrub: Int64 = 0
    }

    init(_ connection: SQLiteConnection, _ configuration: SQLiteCacheConfiguration, _ holds: Locked<CacheHolds>) {
        self.connection = connection
        self.configuration = configuration
        self.holds = holds
    }

    var limits: CacheLimits { configuration.limits }
    var now: Date { configuration.time.date() }

    /// One transaction: all of `body` or nothing.
    func batch<Output>(_ body: (CacheDatabase) throws(SQLiteError) -> Output) throws(SQLiteError) -> Output {
        defer { holds.withLock { $0.settle() } }
        let output = try connection.transaction { () throws(SQLiteError) -> Output in
            try begin()
            let output = try body(self)
            try writeTotals()
            return output
        }
        knownEpoch = totals.epoch
        return output
    }

    private func begin() throws(SQLiteError) {
        totals = try readTotals()
        noticeEpoch(totals.epoch)
        lastUse = try connection.number("SELECT max(used) FROM entry") ?? 0
    }

    private func readTotals() throws(SQLiteError) -> Totals {
        let statement = try connection.statement(
            "SELECT entries, bytes, unfinished, epoch, owes_scrub FROM state WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { throw SQLiteError(code: 11, message: "no totals") }
        return Totals(
            entries: statement.int(0), bytes: statement.int(1), unfinished: statement.int(2), epoch: statement.int(3),
            owesScrub: statement.int(4))
    }

    private func writeTotals() throws(SQLiteError) {
        try connection.statement(
            "UPDATE state SET entries = ?, bytes = ?, unfinished = ?, epoch = ?, owes_scrub = ? WHERE id = 1"
        ).run(totals.entries, totals.bytes, totals.unfinished, totals.epoch, totals.owesScrub)
    }

    /// Reads the epoch, to see whether another process has changed it.
    func lookForForeignChange() throws(SQLiteError) {
        if let epoch = try connection.number("SELECT epoch FROM state WHERE id = 1") {
            noticeEpoch(epoch)
            knownEpoch = epoch
        }
    }

    /// What somebody else has done since this was last asked.
    func takeForeignChange() -> ForeignChange {
        defer { foreignChange = .none }
        return foreignChange
    }

    private func noticeEpoch(_ epoch: Int64) {
        guard let knownEpoch, knownEpoch != epoch else { return }
        if knownEpoch >> 32 != epoch >> 32 {
            foreignChange = .removal
        } else if foreignChange == .none {
            foreignChange = .replacement
        }
    }

    func countReplacement() { totals.epoch &+= 1 }

    func countRemoval() { totals.epoch &+= 1 << 32 }

    /// The next place in the order of uses. It is no time, so no clock can turn the order round.
    func nextUse() -> Int64 {
        lastUse &+= 1
        return lastUse
    }

    /// How keys and responses are written into this file.
    func form() throws(SQLiteError) -> CacheAtRest {
        if let knownForm { return knownForm }
        let form = try CacheSchema.form(connection)
        knownForm = form
        return form
    }

    /// The key of the digests that stand for credentials.
    func digestKey() throws(SQLiteError) -> Data? { try CacheSchema.secret(connection) }

    /// Counts everything anew.
    func recount() throws(SQLiteError) {
        totals.entries = try connection.number("SELECT count(*) FROM entry") ?? 0
        totals.bytes = try connection.number("SELECT coalesce(sum(size), 0) FROM entry") ?? 0
        totals.unfinished = try connection.number("SELECT coalesce(sum(size), 0) FROM unfinished") ?? 0
        totals.bytes &+= totals.unfinished
    }
}

/// The hashes by which rows are selected. That two texts may share one costs a miss at most.
enum CacheHash {
    static func identity(_ text: String) -> Int64 { number(text, 1) }
    static func environment(_ text: String) -> Int64 { number(text, 2) }
    static func place(_ text: Substring) -> Int64 { number(String(text), 3) }
    static func url(_ text: String) -> Int64 { number(text, 4) }
    static func tag(_ text: String) -> Int64 { number(text, 5) }

    /// The rows that a key's responses may have: the first of them and the last.
    static func rows(_ key: [UInt8]) -> (first: Int64, last: Int64) {
        let hash = key.withUnsafeBytes { XXHash64.hash($0, seed: 6) }
        // Positive, and with six bits for the variants.
        let first = Int64(bitPattern: (hash >> 1) & ~63)
        return (first, first | 63)
    }

    /// The checksum of a body that stands in its row.
    static func body(_ bytes: UnsafeRawBufferPointer, _ version: UInt64) -> UInt64 {
        XXHash64.hash(bytes, seed: version)
    }

    /// The checksum of a piece: it covers which piece of which body it is.
    static func chunk(_ bytes: UnsafeRawBufferPointer, _ version: UInt64, row: Int64) -> UInt64 {
        XXHash64.hash(bytes, seed: version ^ (UInt64(bitPattern: row) &* 0x9E37_79B9_7F4A_7C15))
    }

    private static func number(_ text: String, _ seed: UInt64) -> Int64 {
        Int64(bitPattern: XXHash64.hash(text, seed: seed))
    }
}
