import Foundation
import PenstockCore

/// Finding rows by what is selected, marking and removing them.
extension CacheDatabase {
    /// A condition on the table `entry`, with its values.
    struct Condition {
        let sql: String
        let values: [Int64]
    }

    /// The condition for a selection. Hashes stand for texts, so that it may hold for a little more than was meant.
    static func condition(_ selection: CacheSelection, _ form: CacheAtRest) -> Condition {
        switch selection {
        case .all: Condition(sql: "1", values: [])
        case .key(let key):
            rows(CacheRow.bytes(of: form.key(key)))
        case .entry(let entry): Condition(sql: "id = ?", values: [entry.row])
        case .url(let url, let owner):
            narrowed(
                "place = ? AND url = ?",
                [
                    CacheHash.place(CacheSelection.place(url, in: form)),
                    CacheHash.url(CacheSelection.text(url, in: form)),
                ],
                to: owner.partition)
        case .path(let url, let owner):
            narrowed("place = ?", [CacheHash.place(CacheSelection.place(url, in: form))], to: owner.partition)
        case .tag(let tag, let owner):
            tagged(CacheHash.tag(tag), in: owner.partition)
        case .partition(let partition): Condition(sql: owned, values: owner(partition))
        case .identity(let identity): Condition(sql: "identity = ?", values: [CacheHash.identity(identity)])
        case .environment(let name): Condition(sql: "environment = ?", values: [CacheHash.environment(name)])
        }
    }

    private static let owned = "identity = ? AND environment = ?"

    private static func owner(_ partition: CachePartition) -> [Int64] {
        [CacheHash.identity(partition.identity), CacheHash.environment(partition.environment)]
    }

    private static func tagged(_ tag: Int64, in partition: CachePartition?) -> Condition {
        guard let partition else {
            return Condition(sql: "id IN (SELECT entry FROM tag WHERE tag = ?)", values: [tag])
        }
        return Condition(
            sql: "id IN (SELECT entry FROM tag WHERE tag = ? AND \(owned))", values: [tag] + owner(partition))
    }

    private static func rows(_ key: [UInt8]) -> Condition {
        let rows = range(of: key)
        return Condition(sql: "id BETWEEN ? AND ?", values: [rows.lowerBound, rows.upperBound])
    }

    private static func range(of key: [UInt8]) -> ClosedRange<Int64> {
        let rows = CacheHash.rows(key)
        return rows.first...rows.last
    }

    /// The numbers that the rows of a key or of an entry can have; of all rows for other selections.
    private static func rows(_ selection: CacheSelection, _ form: CacheAtRest) -> ClosedRange<Int64> {
        switch selection {
        case .key(let key): range(of: CacheRow.bytes(of: form.key(key)))
        case .entry(let entry): entry.row...entry.row
        default: .min ... .max
        }
    }

    private static func narrowed(
        _ sql: String, _ values: [Int64], to partition: CachePartition?
    ) -> Condition {
        guard let partition else { return Condition(sql: sql, values: values) }
        return Condition(sql: "\(owned) AND \(sql)", values: owner(partition) + values)
    }

    // MARK: Removing

    /// Removes all that is selected.
    func remove(_ selections: [CacheSelection]) throws(SQLiteError) {
        for selection in selections {
            switch selection {
            case .all: try removeAll()
            case .key, .entry: try removeEach(selection)
            default: try remove(Self.condition(selection, form()))
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
        totals.unfinished = 0
    }

    /// Removes the few rows of a key that are exactly what is meant.
    private func removeEach(_ selection: CacheSelection) throws(SQLiteError) {
        let form = try form()
        for found in try heads(Self.rows(selection, form), limit: 64) {
            guard let row = found.row, !selection.contains(row.response, stored: row.entry(found.id), in: form) else {
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

    func remove(_ condition: Condition) throws(SQLiteError) {
        let statement = try connection.statement(
            "DELETE FROM entry WHERE \(condition.sql) RETURNING id, size, body, identity, environment")
        defer { statement.reset() }
        try statement.bind(condition.values)
        while try statement.step() {
            // Wrapping, since the numbers stand in a file: false ones are put right when rows are next counted.
            totals.entries &-= 1
            totals.bytes &-= statement.int(1)
            try connection.statement("DELETE FROM tag WHERE entry = ?").run(statement.int(0))
            let body = statement.int(2)
            if body == 0 { continue }
            guard holds.withLock({ $0.outlives(body) }) else {
                try deleteChunks(of: body)
                continue
            }
            try keep(body, statement.int(1), of: statement.int(3), in: statement.int(4))
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
            for id in try ids(Self.condition(selection, form())) {
                for found in try heads(id...id, limit: 1) { try invalidate(found, selection) }
            }
        }
        countRemoval()
    }

    private func invalidate(_ found: FoundRow, _ selection: CacheSelection) throws(SQLiteError) {
        guard let row = found.row else { return try removeRow(found.id) }
        let isMeant = selection.contains(row.response, stored: row.entry(found.id), in: try form())
        guard isMeant, !row.response.isInvalidated else { return }
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
        let found = try heads(id...id, limit: 1).first
        return found.flatMap { found in found.row.map { ($0, found.size) } }
    }

    /// The rows of a key, and of keys with the same hash.
    func rows(of key: [UInt8]) throws(SQLiteError) -> [FoundRow] {
        try heads(Self.range(of: key), limit: 64)
    }

    /// The numbers of the selected rows, in any order: sorting them would take longer than looking them up.
    private func ids(_ condition: Condition) throws(SQLiteError) -> [Int64] {
        let statement = try connection.statement("SELECT id FROM entry WHERE \(condition.sql)")
        defer { statement.reset() }
        try statement.bind(condition.values)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.int(0)) }
        return ids
    }

    /// Rows in the order of their numbers.
    func heads(_ rows: ClosedRange<Int64>, limit: Int) throws(SQLiteError) -> [FoundRow] {
        let statement = try connection.statement(
            "SELECT id, head, size FROM entry WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?")
        defer { statement.reset() }
        try statement.bind([rows.lowerBound, rows.upperBound, Int64(limit)])
        var found: [FoundRow] = []
        while try statement.step() {
            let id = statement.int(0)
            let head = try statement.bytes(1)
            found.append(FoundRow(id: id, row: CacheRow.decode(head, row: id), size: statement.int(2)))
        }
        return found
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
