import Foundation
import PenstockCore

/// Bodies that are still being written, or still being read: their pieces are in the file, and nothing points at them.
extension CacheDatabase {
    /// A body that nobody has added to for so many seconds, and that nobody says is alive, is taken for left behind.
    private static let lease: Int64 = 120

    /// Adds a piece to a body, the first of which makes the body known.
    ///
    /// - Returns: `false` when the body was removed in the meantime, or there is no room for it beside the others that
    ///   are under way. No response is removed to make room for a body that may never be whole beyond that.
    func append(
        _ bytes: Data, at index: Int, of place: CacheRow.BodyPlace, for key: CacheKey
    ) throws(SQLiteError) -> Bool {
        if index == 0 {
            try connection.statement("INSERT INTO unfinished VALUES (?, ?, ?, 0, ?, ?)").run(
                place.number, CacheHash.identity(key.partition.identity),
                CacheHash.environment(key.partition.environment), Self.seconds(now), Int64(getpid()))
        }
        guard try isUnfinished(place.number), totals.unfinished &+ Int64(bytes.count) <= limits.unfinishedBytes else {
            return false
        }
        try putChunk(bytes, at: index, of: place)
        try connection.statement("UPDATE unfinished SET size = size + ?, renewed = ? WHERE body = ?")
            .run(Int64(bytes.count), Self.seconds(now), place.number)
        totals.bytes &+= Int64(bytes.count)
        totals.unfinished &+= Int64(bytes.count)
        try makeRoom()
        return true
    }

    /// Makes a body the one of a response.
    ///
    /// - Parameter last: its last piece.
    func finish(
        _ response: CachedResponse, _ place: CacheRow.BodyPlace, last: Data
    ) throws(SQLiteError) -> Stored? {
        guard try isUnfinished(place.number) else { return nil }
        if !last.isEmpty { try putChunk(last, at: (place.length - last.count) / place.chunkBytes, of: place) }
        try forget(place.number)
        return try putEntry(response, place, content: nil)
    }

    /// Keeps a body whose response has gone, for who reads it. To others it is one that this process writes.
    ///
    /// - Parameter size: what the response counted for.
    func keep(_ body: Int64, _ size: Int64, of identity: Int64, in environment: Int64) throws(SQLiteError) {
        try connection.statement("INSERT OR REPLACE INTO unfinished VALUES (?, ?, ?, ?, ?, ?)")
            .run(body, identity, environment, size, Self.seconds(now), Int64(getpid()))
        totals.bytes &+= size
        totals.unfinished &+= size
    }

    /// Removes a body that will not be finished, or that nobody reads any more.
    func abandon(_ body: Int64) throws(SQLiteError) {
        guard try isUnfinished(body) else { return }
        try deleteChunks(of: body)
        try forget(body)
    }

    /// Removes what was left behind by a process that is gone.
    ///
    /// - Parameter alive: the bodies that this process is writing or reading.
    func sweep(alive: Set<Int64>) throws(SQLiteError) {
        let now = Self.seconds(now)
        for body in alive {
            try connection.statement("UPDATE unfinished SET renewed = ? WHERE body = ?").run(now, body)
        }
        for body in try leftBehind(at: now) { try abandon(body) }
    }

    private func leftBehind(at now: Int64) throws(SQLiteError) -> [Int64] {
        let statement = try connection.statement("SELECT body, renewed, writer FROM unfinished")
        defer { statement.reset() }
        var left: [Int64] = []
        while try statement.step() {
            let isOld = !(now - Self.lease...now + Self.lease).contains(statement.int(1))
            if isOld || Self.isGone(statement.int(2)) { left.append(statement.int(0)) }
        }
        return left
    }

    /// Whether a process has ended. One that runs beyond the walls of a container looks as if it had: its body is then
    /// not stored, and nothing worse. Nobody can say it of a number that was given to another process: then the lease counts.
    private static func isGone(_ process: Int64) -> Bool {
        guard let process = pid_t(exactly: process), process > 0, process != getpid() else { return false }
        return kill(process, 0) != 0 && errno == ESRCH
    }

    /// Removes the bodies that are being written for what is selected.
    func removeUnfinished(_ selection: CacheSelection) throws(SQLiteError) {
        let condition = Self.condition(selection, try form())
        for body in try bodies(condition.sql, condition.values) { try abandon(body) }
    }

    private func bodies(_ sql: String, _ values: [Int64]) throws(SQLiteError) -> [Int64] {
        let statement = try connection.statement("SELECT body FROM unfinished WHERE \(sql)")
        defer { statement.reset() }
        try statement.bind(values)
        var bodies: [Int64] = []
        while try statement.step() { bodies.append(statement.int(0)) }
        return bodies
    }

    private func isUnfinished(_ body: Int64) throws(SQLiteError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM unfinished WHERE body = ?")
        defer { statement.reset() }
        try statement.bind(body, at: 1)
        return try statement.step()
    }

    /// Takes the mark off a body, and its pieces out of the totals.
    private func forget(_ body: Int64) throws(SQLiteError) {
        let statement = try connection.statement("DELETE FROM unfinished WHERE body = ? RETURNING size")
        defer { statement.reset() }
        try statement.bind(body, at: 1)
        while try statement.step() {
            totals.bytes &-= statement.int(0)
            totals.unfinished &-= statement.int(0)
        }
    }
}
