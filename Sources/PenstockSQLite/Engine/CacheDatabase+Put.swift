import Foundation
import PenstockCore

/// Storing responses.
extension CacheDatabase {
    /// A response with the row it was given.
    struct Stored {
        let response: CachedResponse
        let entry: CacheEntryID

        /// - Parameter key: as the caller has it.
        init(_ written: CachedResponse, as key: CacheKey, entry: CacheEntryID) {
            response = written.key == key ? written : written.with(key, written.fields)
            self.entry = entry
        }
    }

    /// Stores a response and its whole body, in place of the one with its key and variant.
    ///
    /// - Returns: `nil` when it is too large.
    func put(_ response: CachedResponse, body: Data) throws(SQLiteError) -> Stored? {
        var place = CacheRow.BodyPlace(version: configuration.nextVersion(), length: body.count)
        if body.count > configuration.inlineBytes, body.count <= limits.bodyBytes {
            place.number = try newBodyNumber()
            place.chunkBytes = configuration.chunkBytes
            for index in stride(from: 0, to: body.count, by: configuration.chunkBytes) {
                let piece = body.dropFirst(index).prefix(configuration.chunkBytes)
                try putChunk(piece, at: index / configuration.chunkBytes, of: place)
            }
        }
        guard body.count <= limits.bodyBytes else {
            try removeVariant(of: response)
            return nil
        }
        return try putEntry(response, place, content: place.number == 0 ? body : nil)
    }

    /// Stores the row of a response whose body, if it does not stand in the row, is stored already.
    func putEntry(
        _ response: CachedResponse, _ place: CacheRow.BodyPlace, content: Data?
    ) throws(SQLiteError) -> Stored? {
        guard var written = try form().response(response) else {
            if place.number != 0 { try deleteChunks(of: place.number) }
            try removeVariant(of: response)
            return nil
        }
        written.bodyLength = place.length
        var place = place
        if let content { place.checksum = content.withUnsafeBytes { CacheHash.body($0, place.version) } }
        let key = CacheRow.bytes(of: written.key)
        let row = try freeRow(for: written, key: key)
        let head = CacheRow.encode(written, key: key, body: place, row: row)
        guard head.count <= CacheRow.maximumBytes, canFit(Self.size(head: head.count, body: place.length)) else {
            if place.number != 0 { try deleteChunks(of: place.number) }
            return nil
        }
        try insert(written, row, place, head: head, content: content)
        try makeRoom()
        return Stored(written, as: response.key, entry: CacheEntryID(row: row, version: place.version))
    }

    /// Replaces what is known of a response; its body stays.
    func update(_ entry: CacheEntryID, to response: CachedResponse) throws(SQLiteError) -> Stored? {
        let form = try form()
        let key = form.key(response.key)
        guard let old = try row(entry.row), old.row.body.version == entry.version,
            old.row.response.key == key, old.row.response.variant == response.variant
        else { return nil }
        guard var written = form.response(response) else {
            try removeRow(entry.row)
            countReplacement()
            return nil
        }
        written.bodyLength = old.row.body.length
        let head = CacheRow.encode(written, key: CacheRow.bytes(of: key), body: old.row.body, row: entry.row)
        guard head.count <= CacheRow.maximumBytes else { return nil }
        try replaceHead(of: entry.row, with: head)
        let size = Self.size(head: head.count, body: old.row.body.length)
        try connection.statement("UPDATE entry SET stored = ?, used = ?, size = ? WHERE id = ?")
            .run(Self.seconds(response.responseTime), nextUse(), size, entry.row)
        totals.bytes &+= size &- old.size
        countReplacement()
        try connection.statement("DELETE FROM tag WHERE entry = ?").run(entry.row)
        try insertTags(of: response, entry.row)
        return Stored(written, as: response.key, entry: entry)
    }

    func replaceHead(of row: Int64, with head: [UInt8]) throws(SQLiteError) {
        let statement = try connection.statement("UPDATE entry SET head = ? WHERE id = ?")
        try statement.bind(row, at: 2)
        try Self.run(statement, with: head, at: 1)
    }

    /// Stores one piece of a body.
    func putChunk(_ bytes: Data, at index: Int, of place: CacheRow.BodyPlace) throws(SQLiteError) {
        let row = Self.chunkRow(place.number, index)
        let sum = bytes.withUnsafeBytes { CacheHash.chunk($0, place.version, row: row) }
        let statement = try connection.statement("INSERT INTO chunk (id, checksum, bytes) VALUES (?, ?, ?)")
        try statement.bind(row, at: 1)
        try statement.bind(Int64(bitPattern: sum), at: 2)
        try Self.run(statement, with: bytes, at: 3)
    }

    /// A number that no body has.
    func newBodyNumber() throws(SQLiteError) -> Int64 {
        let statement = try connection.statement("SELECT 1 FROM chunk WHERE id BETWEEN ? AND ?")
        while true {
            // Two in nine million million are the same.
            let number = Int64(configuration.nextVersion() >> 21)
            guard number != 0 else { continue }
            try statement.bind([Self.chunkRow(number, 0), Self.chunkRow(number, Self.maximumChunks - 1)])
            defer { statement.reset() }
            if try !statement.step() { return number }
        }
    }

    /// How many pieces a body can have.
    static let maximumChunks = 1 << 20

    /// The row of a piece: the pieces of a body stand beside each other.
    static func chunkRow(_ body: Int64, _ index: Int) -> Int64 {
        body << 20 | Int64(index)
    }

    /// What a response counts for: its bytes, and what its row and the indexes take.
    static func size(head: Int, body: Int) -> Int64 {
        Int64(head + body + 128)
    }

    /// Whole seconds; a time that no clock shows is taken for the distant past.
    static func seconds(_ date: Date) -> Int64 {
        Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
    }

    /// Runs a statement with bytes that stay where they are.
    static func run(
        _ statement: SQLiteStatement, with bytes: some ContiguousBytes, at index: Int32
    ) throws(SQLiteError) {
        defer { statement.reset() }
        let outcome: Result<Void, SQLiteError> = bytes.withUnsafeBytes { bytes in
            do throws(SQLiteError) {
                try statement.bind(bytes, at: index)
                while try statement.step() {}
                return .success(())
            } catch { return .failure(error) }
        }
        try outcome.get()
    }

    private func insert(
        _ response: CachedResponse, _ row: Int64, _ place: CacheRow.BodyPlace, head: [UInt8], content: Data?
    ) throws(SQLiteError) {
        let key = response.key
        let size = Self.size(head: head.count, body: place.length)
        let statement = try connection.statement(
            """
            INSERT INTO entry (id, identity, environment, place, url, stored, used, size, body, head, content)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        try statement.bind([
            row, CacheHash.identity(key.partition.identity), CacheHash.environment(key.partition.environment),
            CacheHash.place(key.place), CacheHash.url(key.url), Self.seconds(response.responseTime), nextUse(), size,
            place.number,
        ])
        let outcome: Result<Void, SQLiteError> = (content ?? Data()).withUnsafeBytes { bytes in
            do throws(SQLiteError) {
                if content == nil { try statement.bindNull(at: 11) } else { try statement.bind(bytes, at: 11) }
                return .success(try Self.run(statement, with: head, at: 10))
            } catch { return .failure(error) }
        }
        try outcome.get()
        try insertTags(of: response, row)
        totals.entries &+= 1
        totals.bytes &+= size
    }

    private func insertTags(of response: CachedResponse, _ row: Int64) throws(SQLiteError) {
        let owner = response.key.partition
        for tag in response.tags {
            try connection.statement("INSERT OR IGNORE INTO tag VALUES (?, ?, ?, ?)").run(
                CacheHash.tag(tag), CacheHash.identity(owner.identity), CacheHash.environment(owner.environment), row)
        }
    }

    /// The row for a response: the last free one among those of its key, after the one that it replaces was removed.
    private func freeRow(for response: CachedResponse, key: [UInt8]) throws(SQLiteError) -> Int64 {
        try removeVariant(of: response, key: key)
        let rows = CacheHash.rows(key)
        var taken: [(row: Int64, use: Int64)] = []
        let statement = try connection.statement("SELECT id, used FROM entry WHERE id BETWEEN ? AND ? ORDER BY id")
        defer { statement.reset() }
        try statement.bind([rows.first, rows.last])
        while try statement.step() { taken.append((statement.int(0), statement.int(1))) }
        statement.reset()
        if taken.count >= limits.variants, let oldest = taken.min(by: { $0.use < $1.use }) {
            try removeRow(oldest.row)
            return oldest.row
        }
        let used = Set(taken.map(\.row))
        return (rows.first...rows.last).last { !used.contains($0) } ?? rows.last
    }

    /// Removes the response with the same key and variant, and any row of the key that is not what was written.
    ///
    /// - Parameter latest: when the response came, if not later; at any time by default.
    func removeVariant(
        of response: CachedResponse, key: [UInt8]? = nil, upTo latest: Date = .distantFuture
    ) throws(SQLiteError) {
        let wanted = try form().key(response.key)
        for found in try rows(of: key ?? CacheRow.bytes(of: wanted)) {
            guard let known = found.row else {
                try removeRow(found.id)
                continue
            }
            if known.response.key == wanted, known.response.variant == response.variant,
                known.response.responseTime <= latest
            {
                try removeRow(found.id)
                countReplacement()
            }
        }
    }
}
