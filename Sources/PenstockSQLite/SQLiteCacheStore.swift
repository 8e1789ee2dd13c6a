import Foundation
import PenstockCore

/// Keeps responses in one SQLite file, within limits.
///
/// - A crash at any moment, of the process or of the machine, costs the most recent changes at most: what is found
///   afterwards is what was once stored, byte for byte, or nothing. Every row and every piece of a body has a checksum
///   over what it is and where it belongs.
/// - A file that is damaged, or that a later version wrote, is set aside and a new one is begun. A file that is full,
///   locked, write-protected or unreadable is a miss. ``SQLiteCacheConfiguration/onEvent`` tells.
/// - Several processes may share the file.
/// - After a user's responses are removed, no byte of them is left in the file, its free pages, or its log.
///
/// The file is opened at the first use. Look-ups run on the caller's thread and take microseconds; changes run on a queue
/// of the store's own, many in one transaction.
public final class SQLiteCacheStore: SharedCacheStore {
    let engine: CacheEngine

    public init(_ configuration: SQLiteCacheConfiguration) {
        engine = CacheEngine(configuration)
    }

    public func responses(for key: CacheKey) async -> [StoredResponse] {
        switch engine.reader.responses(for: key) {
        case .found(let found): return took(found)
        case .failed(let error): return missed(error)
        case .closed: break
        }
        guard await opened() else { return [] }
        switch engine.reader.responses(for: key) {
        case .found(let found): return took(found)
        case .failed(let error): return missed(error)
        case .closed: return []
        }
    }

    public func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        if !engine.reader.isOpen, await !opened() { return nil }
        switch engine.reader.bytes(of: entry, from: offset) {
        case .found(let data): return data
        case .closed: return nil
        case .failed(let error):
            _ = missed(error)
            return nil
        }
    }

    @discardableResult
    public func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        let stored = await change { [engine] database throws(SQLiteError) in
            try engine.sweepIfDue(database)
            return Kept(try database.put(response, body: body))
        }
        return stored?.value.map { StoredResponse($0.response, entry: $0.entry, body: body) }
    }

    public func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        guard !engine.isResting else { return nil }
        return SQLiteBodyWriter(response, store: self)
    }

    @discardableResult
    public func update(_ entry: CacheEntryID, to response: CachedResponse) async -> StoredResponse? {
        let stored = await change { database throws(SQLiteError) in
            Kept(try database.update(entry, to: response))
        }
        return stored?.value.map { StoredResponse($0.response, entry: $0.entry, body: nil) }
    }

    @discardableResult
    public func invalidate(_ selections: [CacheSelection]) async -> Bool {
        await remove(.init(selections: selections, onlyMarks: true))
    }

    @discardableResult
    public func remove(_ selections: [CacheSelection]) async -> Bool {
        let isRemoved = await remove(.init(selections: selections, onlyMarks: false))
        guard isRemoved, selections.contains(where: \.erases) else { return isRemoved }
        return await withCheckedContinuation { continuation in
            engine.submit(.scrub(engine) { continuation.resume(returning: $0) })
        }
    }

    public func touch(_ entries: [CacheEntryID]) {
        engine.reader.touch(entries.map(\.row))
    }

    /// In the file, made with it.
    public func digestKey() async -> Data? {
        guard !engine.isResting else { return nil }
        let key = await change(isAlone: true) { database throws(SQLiteError) in try database.digestKey() }
        return key ?? nil
    }

    public func statistics() async -> CacheStatistics {
        await change { database throws(SQLiteError) in
            CacheStatistics(entries: Int(database.totals.entries), bytes: Int(database.totals.bytes))
        } ?? CacheStatistics()
    }

    public func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await change { database throws(SQLiteError) in
            try database.heads(CacheDatabase.condition(.all), after: entry?.row ?? .min, limit: max(limit, 0))
                .compactMap { found in
                    found.row.map { StoredResponse($0.response, entry: $0.entry(found.id), body: nil) }
                }
        } ?? []
    }

    /// Writes down what was used, and hands all that was committed to the disk.
    public func flush() async {
        let uses = engine.reader.takeUses()
        _ = await change { database throws(SQLiteError) in try database.touch(uses) }
        _ = await change(isAlone: true) { database throws(SQLiteError) in _ = try database.connection.emptyLog() }
    }

    public func close() async {
        await flush()
        _ = await change(isAlone: true) { [engine] _ in engine.close() }
    }

    public var foreignChanges: UInt64 { engine.foreignChanges }

    public var foreignRemovals: UInt64 { engine.foreignRemovals }

    public func lookForForeignChanges() {
        let engine = self.engine
        engine.submit(
            .init(
                run: { database throws(SQLiteError) in
                    try database.lookForForeignChange()
                    engine.announceForeignChange(database)
                    return {}
                }, fail: { _ in }, isAlone: true))
    }
}

extension SQLiteCacheStore {
    /// Something that a job brought, which may be nothing.
    struct Kept: Sendable {
        let value: CacheDatabase.Stored?

        init(_ value: CacheDatabase.Stored?) {
            self.value = value
        }
    }

    /// Runs a change on the engine's queue.
    ///
    /// - Returns: what it brought, once it is committed; `nil` when nothing of it was done.
    func change<Output: Sendable>(
        isAlone: Bool = false, _ body: @escaping @Sendable (CacheDatabase) throws(SQLiteError) -> Output
    ) async -> Output? {
        await withCheckedContinuation { continuation in
            engine.submit(
                .init(
                    run: { database throws(SQLiteError) in
                        let output = try body(database)
                        return { continuation.resume(returning: output) }
                    }, fail: { _ in continuation.resume(returning: nil) }, isAlone: isAlone))
        }
    }

    private func remove(_ removal: CacheEngine.Removal) async -> Bool {
        await withCheckedContinuation { continuation in
            engine.submit(
                .init(
                    run: { database throws(SQLiteError) in
                        try removal.perform(database)
                        return { continuation.resume(returning: true) }
                    }, fail: { continuation.resume(returning: $0) }, removal: removal))
        }
    }

    /// Opens the file, unless it was found unusable a moment ago.
    private func opened() async -> Bool {
        if engine.isResting { return false }
        return await change(isAlone: true) { _ in true } ?? false
    }

    private func took(_ found: CacheReader.Found) -> [StoredResponse] {
        for row in found.damaged { drop(row) }
        if found.mustEndShared { engine.endSharedSoon() }
        return found.responses
    }

    private func missed(_ error: SQLiteError) -> [StoredResponse] {
        engine.readFailed(error)
        return []
    }

    private func drop(_ row: Int64) {
        engine.tell(.damagedRow)
        engine.submit(
            .init(
                run: { database throws(SQLiteError) in
                    try database.removeIfDamaged(row)
                    return {}
                }, fail: { _ in }))
    }
}
