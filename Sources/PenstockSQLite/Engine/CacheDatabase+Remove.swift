import Foundation
import PenstockCore

/// Finding rows by what is selected, marking and removing them, and making room.
extension CacheDatabase {
    /// A condition on the table `entry`, with its values.
    struct Condition {
        let sql: String
        let values: [Int64]
    }

    /// The condition for a selection. Hashes stand for texts, so that it may hold for a little more than was meant.
    static func condition(_ selection: CacheSelection) -> Condition {
        switch selection {
        case .all: Condition(sql: "1", values: [])
        case .key(let key):
            rows(CacheRow.bytes(of: key))
        case .entry(let entry): Condition(sql: "id = ?", values: [entry.row])
        case .url(let url, let partition):
            narrowed(
                "place = ? AND url = ?",
                [CacheHash.place(CacheSelection.place(url)), CacheHash.url(CacheSelection.text(url))], to: partition)
        case .path(let url, let partition):
            narrowed("place = ?", [CacheHash.place(CacheSelection.place(url))], to: partition)
        case .tag(let tag, let partition):
            narrowed("id IN (SELECT entry FROM tag WHERE tag = ?)", [CacheHash.tag(tag)], to: partition)
        case .partition(let partition): narrowed("1", [], to: partition)
        case .identity(let identity): Condition(sql: "identity = ?", values: [CacheHash.identity(identity)])
        case .environment(let name): Condition(sql: "environment = ?", values: [CacheHash.environment(name)])
        }
    }

    private static func rows(_ key: [UInt8]) -> Condition {
        let rows = CacheHash.rows(key)
        return Condition(sql: "id BETWEEN ? AND ?", values: [rows.first, rows.last])
    }

    private static func narrowed(
        _ sql: String, _ values: [Int64], to partition: ConnectionPartition?
    ) -> Condition {
        guard let partition else { return Condition(sql: sql, values: values) }
        let owner = [CacheHash.identity(partition.identity), CacheHash.environment(partition.environment)]
        return Condition(sql: "identity = ? AND environment = ? AND \(sql)", values: owner + values)
    }

    // MARK: Removing

    /// Removes all that is selected.
    func remove(_ selections: [CacheSelection]) throws(SQLiteError) {
        for selection in selections {
            switch selection {
            case .all: try removeAll()
            case .key, .entry: try removeEach(selection)
            default: try remove(Self.condition(selection))
            }
            if selection.erases { try removeUnfinished(selection) }
        }
        countRemoval()
        if selections.contains(where: \.erases) { totals.owesScrub = 1 }
    }

    private func removeAll() throws(SQLiteError) {
        for table in ["entry", "tag", "chunk", "unfinished"] { try connection.statement("DELETE FROM \(table)").run() }
        totals.entries = 0
        totals.bytes = 0
    }

    /// Removes the few rows of a key that are exactly what is meant.
    private func removeEach(_ selection: CacheSelection) throws(SQLiteError) {
        for found in try heads(Self.condition(selection), after: .min, limit: 64) {
            guard let row = found.row, !selection.contains(row.response, stored: row.entry(found.id)) else {
                try removeRow(found.id)
                continue
            }
        }
    }

    func removeRow(_ id: Int64) throws(SQLiteError) {
        try remove(Condition(sql: "id = ?", values: [id]))
    }

    /// Removes a row that a reader found damaged, unless a good one stands in its place by now.
    func removeIfDamaged(_ id: Int64) throws(SQLiteError) {
        let content = try connection.statement("SELECT head, content FROM entry WHERE id = ?")
        try content.bind(id, at: 1)
        defer { content.reset() }
        guard try content.step(), try !Self.isGood(id, head: content.bytes(0), content: content.bytes(1)) else {
            return
        }
        content.reset()
        try removeRow(id)
    }

    private static func isGood(_ id: Int64, head: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer) -> Bool {
        guard let place = CacheRow.decode(head, row: id)?.body else { return false }
        if place.number != 0 { return true }
        return content.count == place.length && CacheHash.body(content, place.version) == place.checksum
    }

    private func remove(_ condition: Condition) throws(SQLiteError) {
        let statement = try connection.statement(
            "DELETE FROM entry WHERE \(condition.sql) RETURNING id, size, body")
        defer { statement.reset() }
        try statement.bind(condition.values)
        while try statement.step() {
            totals.entries -= 1
            totals.bytes -= statement.int(1)
            try connection.statement("DELETE FROM tag WHERE entry = ?").run(statement.int(0))
            if statement.int(2) != 0 { try deleteChunks(of: statement.int(2)) }
        }
    }

    func deleteChunks(of body: Int64) throws(SQLiteError) {
        try connection.statement("DELETE FROM chunk WHERE id BETWEEN ? AND ?")
            .run(Self.chunkRow(body, 0), Self.chunkRow(body, Self.maximumChunks - 1))
    }

    // MARK: Invalidating

    /// Marks all that is selected.
    func invalidate(_ selections: [CacheSelection]) throws(SQLiteError) {
        for selection in selections {
            let condition = Self.condition(selection)
            var last = Int64.min
            while true {
                let found = try heads(condition, after: last, limit: 256)
                guard let end = found.last?.id else { break }
                last = end
                for each in found { try invalidate(each, selection) }
            }
        }
        countRemoval()
    }

    private func invalidate(_ found: FoundRow, _ selection: CacheSelection) throws(SQLiteError) {
        guard let row = found.row else { return try removeRow(found.id) }
        guard selection.contains(row.response, stored: row.entry(found.id)), !row.response.isInvalidated else { return }
        var response = row.response
        response.isInvalidated = true
        let key = CacheRow.bytes(of: response.key)
        try replaceHead(of: found.id, with: CacheRow.encode(response, key: key, body: row.body, row: found.id))
    }

    // MARK: Reading rows

    /// A row as it was read; `row` is `nil` when it is not what was written.
    struct FoundRow {
        let id: Int64
        let row: CacheRow?
        let size: Int64
    }

    /// One row that is what was written.
    func row(_ id: Int64) throws(SQLiteError) -> (row: CacheRow, size: Int64)? {
        let found = try heads(Condition(sql: "id = ?", values: [id]), after: .min, limit: 1).first
        return found.flatMap { found in found.row.map { ($0, found.size) } }
    }

    /// The rows of a key, and of keys with the same hash.
    func rows(of key: [UInt8]) throws(SQLiteError) -> [FoundRow] {
        try heads(Self.rows(key), after: .min, limit: 64)
    }

    /// Rows in the order of their numbers.
    func heads(_ condition: Condition, after last: Int64, limit: Int) throws(SQLiteError) -> [FoundRow] {
        let statement = try connection.statement(
            "SELECT id, head, size FROM entry WHERE \(condition.sql) AND id > ? ORDER BY id LIMIT ?")
        defer { statement.reset() }
        try statement.bind(condition.values + [last, Int64(limit)])
        var found: [FoundRow] = []
        while try statement.step() {
            let id = statement.int(0)
            let head = try statement.bytes(1)
            found.append(FoundRow(id: id, row: CacheRow.decode(head, row: id), size: statement.int(2)))
        }
        return found
    }

    // MARK: Making room

    /// How many rows a batch removes to make room, for each response it stores: enough to keep up, too few to be felt.
    private static let step = 32

    /// Removes some of what is too old or too much.
    ///
    /// - Returns: whether there is more to remove.
    @discardableResult
    func makeRoom() throws(SQLiteError) -> Bool {
        if let times = limits.validTimes(at: now) {
            let earliest = Self.seconds(times.lowerBound)
            for _ in 1...4 where try !removeOne("WHERE stored < ? ORDER BY stored", [earliest]) { break }
        }
        for _ in 1...Self.step {
            guard isTooMuch, try removeOne("ORDER BY used", []) else { return false }
        }
        return isTooMuch
    }

    private var isTooMuch: Bool { totals.bytes > Int64(limits.bytes) || totals.entries > Int64(limits.entries) }

    private func removeOne(_ order: String, _ values: [Int64]) throws(SQLiteError) -> Bool {
        let before = totals.entries
        try remove(Condition(sql: "id = (SELECT id FROM entry \(order) LIMIT 1)", values: values))
        return totals.entries < before
    }

    /// Writes when rows were last used: of the most recent few thousand only, since the order among those that were used
    /// long ago hardly matters and writing takes time.
    ///
    /// - Parameter rows: in the order in which they were used; a row may be there more than once.
    func touch(_ rows: [Int64]) throws(SQLiteError) {
        var seen: Set<Int64> = []
        var recent: [Int64] = []
        for row in rows.reversed() where recent.count < 4_096 && seen.insert(row).inserted { recent.append(row) }
        let statement = try connection.statement("UPDATE entry SET used = ? WHERE id = ?")
        for row in recent.reversed() { try statement.run(nextUse(), row) }
    }
}

extension CacheRow {
    /// The row that these bytes are; `nil` when they are not what was written.
    static func decode(_ head: UnsafeRawBufferPointer, row: Int64) -> CacheRow? {
        do throws(Malformed) { return try CacheRow(front(of: head, row: row), key: nil) } catch { return nil }
    }

    func entry(_ id: Int64) -> CacheEntryID {
        CacheEntryID(row: id, version: body.version)
    }
}
