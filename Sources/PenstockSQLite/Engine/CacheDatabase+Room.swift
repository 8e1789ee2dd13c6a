import Foundation
import PenstockCore

/// Keeping the file within its limits: what is too old or too much goes, the least recently used first.
extension CacheDatabase {
    /// How many rows a batch removes to make room, for each response it stores: enough to keep up, too few to be felt.
    private static let step = 32

    /// Removes some of what is too old or too much. Whether there is more to remove is in ``mustMakeRoom`` afterwards.
    func makeRoom() throws(SQLiteError) {
        if let times = limits.validTimes(at: now) {
            let earliest = Self.seconds(times.lowerBound)
            for _ in 1...4 where try !removeOne("WHERE stored < ? ORDER BY stored", [earliest]) { break }
        }
        // What is removed is overwritten, which passes through the log: large bodies are not all removed at once.
        let enough = totals.bytes &- limits.logBytes / 2
        for _ in 1...Self.step where totals.bytes > enough {
            guard try measureUse() else {
                mustMakeRoom = false
                return
            }
            guard try removeOne("ORDER BY used", []) else {
                // There is nothing left to remove, so what said that it is too much was wrong, or is not ours to remove.
                try recount()
                mustMakeRoom = false
                return
            }
        }
        mustMakeRoom = try measureUse()
    }

    /// Removes what was used least recently, for something that found no room: twice as much as that takes, and a piece of a body at
    /// least, so that what comes next finds some as well.
    ///
    /// - Parameter uses: the rows whose uses are yet to be written down, which takes room itself. They go last.
    /// - Returns: whether there was anything to remove.
    func evict(for bytes: Int64, sparing uses: [Int64] = []) throws(SQLiteError) -> Bool {
        let (entries, enough) = (totals.entries, totals.bytes &- max(2 &* bytes, Int64(configuration.chunkBytes)))
        for id in try leastUsed(Set(uses)).prefix(Self.step) where totals.bytes > enough { try removeRow(id) }
        return totals.entries < entries
    }

    /// Some of the rows that were used least recently, in their order, but for those that were used since.
    private func leastUsed(_ since: Set<Int64>) throws(SQLiteError) -> [Int64] {
        let statement = try connection.statement("SELECT id FROM entry ORDER BY used LIMIT ?")
        defer { statement.reset() }
        try statement.bind(Int64(4 * Self.step), at: 1)
        var (ids, spared) = ([Int64](), [Int64]())
        while try statement.step() {
            if since.contains(statement.int(0)) {
                spared.append(statement.int(0))
            } else {
                ids.append(statement.int(0))
            }
        }
        return ids + spared
    }

    /// Counts anew what is used. Bodies under way count, but nothing is removed for the part of them that goes beyond their share of the limit:
    /// that part was left behind by somebody, and is removed by ``sweep(alive:)``.
    ///
    /// - Returns: whether it is more than there may be.
    private func measureUse() throws(SQLiteError) -> Bool {
        let excess = max(0, totals.unfinished &- limits.unfinishedBytes)
        usedBytes = try pageBytes() &- excess
        return totals.entries > Int64(limits.entries) || totals.bytes &- excess > Int64(limits.bytes)
            || usedBytes > limits.pageBytes
    }

    /// Whether a response of a size can be stored beside the bodies under way, once everything else has gone.
    func canFit(_ size: Int64) -> Bool {
        let taken = min(max(0, totals.unfinished), limits.unfinishedBytes)
        // Pages are not filled to the last byte.
        return size <= Int64(limits.bytes) &- taken && size &+ size / 16 <= limits.pageBytes &- taken
    }

    /// Whether more than nine tenths of a limit are used.
    var isNearLimits: Bool {
        totals.bytes > Int64(limits.bytes / 10 * 9) || totals.entries > Int64(limits.entries / 10 * 9)
            || usedBytes > limits.pageBytes / 10 * 9
    }

    /// The bytes of all pages that hold something.
    private func pageBytes() throws(SQLiteError) -> Int64 {
        let size = try connection.number("PRAGMA page_size") ?? 0
        fileBytes = try (connection.number("PRAGMA page_count") ?? 0) &* size
        return try fileBytes &- (connection.number("PRAGMA freelist_count") ?? 0) &* size
    }

    /// The bytes of all pages that hold nothing, and are written before the file grows.
    func freeBytes() throws(SQLiteError) -> Int64 {
        try (connection.number("PRAGMA freelist_count") ?? 0) &* (connection.number("PRAGMA page_size") ?? 0)
    }

    private func removeOne(_ order: String, _ values: [Int64]) throws(SQLiteError) -> Bool {
        let before = totals.entries
        try remove(Condition(sql: "id = (SELECT id FROM entry \(order) LIMIT 1)", values: values))
        return totals.entries < before
    }
}

extension CacheLimits {
    /// What bodies under way may take together: half of everything, or as much as the largest of them.
    var unfinishedBytes: Int64 { Int64(min(bytes, max(bytes / 2, bodyBytes))) }

    /// How long the log may grow before it is written back and cut to nothing: an eighth of everything, between 128 KiB and
    /// 8 MiB.
    var logBytes: Int64 { Int64(min(max(bytes / 8, 128 << 10), 8 << 20)) }

    /// What the pages of the file may take: everything but the log, and what a cache takes in which nothing is stored.
    var pageBytes: Int64 { min(Int64(bytes), 1 << 60) + Self.emptyBytes - logBytes }

    /// The room for tables and indexes that hold nothing, in bytes: more than they take.
    static let emptyBytes: Int64 = 256 << 10
}
