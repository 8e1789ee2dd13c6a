import Foundation
import PenstockCore

/// Keeps responses in one SQLite file, within limits.
///
/// - A crash at any moment, of the process or of the machine, costs the most recent changes at most: what is found
///   afterwards is what was once stored, byte for byte, or nothing. Every row and every piece of a body has a checksum
///   over what it is and where it belongs.
/// - What was removed or invalidated stays so: such a change is on the disk when it returns. What was stored may be lost
///   when the power is cut within seconds.
/// - A cache that is damaged, or that a later version wrote, is set aside and a new one is begun. A file that is neither a
///   cache nor empty is left as it is. Such a file, and one that is locked, write-protected or unreadable, is a miss.
///   ``SQLiteCacheConfiguration/onEvent`` tells, and ``open()`` says it in advance.
/// - Where the disk is full, or nearly so, what was used least recently makes room for what comes, a little of it for each; what
///   finds no room then is not stored. Where there is no room even to remove something, and that for longer than
///   ``SQLiteCacheConfiguration/retryInterval``, all that is stored goes.
/// - Several processes may share the file.
/// - Only their owner may read the files.
/// - After a user's responses are removed, no byte of them is left in the file, its free pages, or its log. Where there is
///   no room to write the file anew, all that is stored goes.
///
/// The file is opened at the first use. On Linux a look-up runs on the caller's thread while the system has the page in memory,
/// which takes some ten microseconds; to hand it over would take longer. One that has to wait for the disk or for others is made
/// on a queue of the store's own, and so is every look-up on other systems, and on file systems that cannot be asked whether they
/// have to wait (tmpfs, FUSE). Nobody waits for others for longer than 150 ms. Changes run on a second queue, many in one
/// transaction, and wait for others no longer than ``SQLiteCacheConfiguration/patience``.
public final class SQLiteCacheStore: SharedCacheStore, HoldingCacheStore {
    let engine: CacheEngine

    /// A store on a file that is opened at the first use, or by ``open()``. Nothing is read or written here.
    public init(_ configuration: SQLiteCacheConfiguration) {
        engine = CacheEngine(configuration)
    }

    /// Opens the file, if it is not open, rather than at the first use.
    ///
    /// - Throws: why it cannot be used. What is asked of the store then is a miss, and it is tried again after
    ///   ``SQLiteCacheConfiguration/retryInterval``.
    public func open() async throws(SQLiteCacheError) {
        if await opened(patience: .seconds(3_600)) { return }
        throw engine.failure.withLock { $0?.error } ?? SQLiteCacheError(.busy, code: 5)
    }

    public func responses(for key: CacheKey) async -> [StoredResponse] {
        let found = await look { reader, mayWait in reader.responses(for: key, mayWait: mayWait) }
        return found.map { took($0) } ?? []
    }

    public func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        await look { reader, mayWait in reader.bytes(of: entry, from: offset, mayWait: mayWait) } ?? nil
    }

    package func reader(of entry: CacheEntryID) async -> (any CacheBodyReader)? {
        switch await body(of: entry) {
        case nil: return nil
        case .content(let bytes): return WholeBody(bytes)
        case .pieces(let place):
            guard engine.holds.withLock({ $0.begin(place.number) }) else { return nil }
            let reader = SQLiteBodyReader(place, store: self)
            // Until it was held it may have gone.
            return await body(of: entry) == nil ? nil : reader
        }
    }

    /// Where a body is, or the body itself where it stands in its row; `nil` when it is no longer stored.
    private func body(of entry: CacheEntryID) async -> CacheReader.Body? {
        await look { reader, mayWait in reader.body(of: entry, mayWait: mayWait) } ?? nil
    }

    /// Some of a body that is held, whatever has become of its response.
    func bytes(of place: CacheRow.BodyPlace, from offset: Int) async -> Data? {
        await look { reader, mayWait in reader.bytes(of: place, from: offset, mayWait: mayWait) } ?? nil
    }

    @discardableResult
    public func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        let limits = engine.configuration.limits
        if body.count > engine.configuration.largestChange, body.count <= limits.bodyBytes {
            // Piece by piece, so that the log stays short.
            let writer = SQLiteBodyWriter(response, store: self)
            let stored = await writer.append(body) ? await writer.finish() : nil
            return stored.map { StoredResponse($0.response, entry: $0.entry, body: body) }
        }
        let stored = await change(weight: body.count) { [engine] database throws(SQLiteError) in
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
        await remove(.init(selections: selections, onlyMarks: true)) != .failed
    }

    /// Removes all that is selected, at one moment, so that it stays removed whatever happens to the process or the machine.
    ///
    /// - Returns: whether that is done. `false` after a selection that erases says either that nothing could be removed, and
    ///   nothing is found until it is; or that the responses are gone for good, but other processes have the file in use, so
    ///   that bytes of them are still in its free pages or its log. Then these are removed as soon as the others let go of
    ///   the file, by this process or the next one that opens it.
    @discardableResult
    public func remove(_ selections: [CacheSelection]) async -> Bool {
        switch await remove(.init(selections: selections, onlyMarks: false)) {
        case .failed: return false
        case .thrownAway: return true
        case .done: break
        }
        guard selections.contains(where: \.erases) else { return true }
        return await withCheckedContinuation { continuation in
            engine.scrub { continuation.resume(returning: $0) }
        }
    }

    public func touch(_ entries: [CacheEntryID]) {
        engine.reader.touch(entries.map(\.row))
    }

    /// The key of the digests, which is in the file and was made with it.
    public func digestKey() async -> Data? {
        guard !engine.isResting else { return nil }
        let key = await change(isAlone: true) { database throws(SQLiteError) in try database.digestKey() }
        return key ?? nil
    }

    public func statistics() async -> CacheStatistics {
        await change { database throws(SQLiteError) in
            CacheStatistics(
                entries: Int(clamping: database.totals.entries), bytes: Int(clamping: database.totals.bytes))
        } ?? CacheStatistics()
    }

    public func entries(after entry: CacheEntryID?, limit: Int) async -> [StoredResponse] {
        await change { database throws(SQLiteError) in
            guard limit > 0, entry?.row != .max else { return [] }
            return try database.heads((entry.map { $0.row + 1 } ?? .min) ... .max, limit: limit).compactMap { found in
                found.row.map { StoredResponse($0.response, entry: $0.entry(found.id), body: nil) }
            }
        } ?? []
    }

    /// Writes down what was used, and hands all that was committed to the disk.
    public func flush() async {
        let uses = engine.reader.takeUses()
        if !uses.isEmpty { _ = await change { database throws(SQLiteError) in try database.touch(uses) } }
        await atEnd { database in _ = try? database.connection.emptyLog() }
    }

    public func close() async {
        await flush()
        await atEnd { [engine] _ in engine.close() }
    }

    /// Does something with the file, if it is open, once everything before is done.
    private func atEnd(_ body: @escaping @Sendable (CacheDatabase) -> Void) async {
        await withCheckedContinuation { continuation in
            engine.submit(
                CacheJob(
                    run: { database in
                        body(database)
                        return { continuation.resume() }
                    }, fail: { _ in continuation.resume() }, isAlone: true, patience: .seconds(3_600),
                    opensFile: false))
        }
    }

    public var foreignChanges: UInt64 { engine.foreignChanges }

    public var foreignRemovals: UInt64 { engine.foreignRemovals }

    public func lookForForeignChanges() { lookForForeignChanges {} }

    package func lookForForeignChanges(_ didLook: @escaping @Sendable () -> Void) {
        let engine = self.engine
        engine.submit(
            CacheJob(
                run: { database throws(SQLiteError) in
                    try database.lookForForeignChange()
                    engine.announceForeignChange(database)
                    return didLook
                }, fail: { _ in didLook() }, isAlone: true))
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
        isAlone: Bool = false, weight: Int = 0, patience: Duration? = nil,
        _ body: @escaping @Sendable (CacheDatabase) throws(SQLiteError) -> Output
    ) async -> Output? {
        await withCheckedContinuation { continuation in
            engine.submit(
                CacheJob(
                    run: { database throws(SQLiteError) in
                        let output = try body(database)
                        return { continuation.resume(returning: output) }
                    }, fail: { _ in continuation.resume(returning: nil) }, isAlone: isAlone, weight: weight,
                    patience: patience))
        }
    }

    private enum RemovalOutcome: Sendable {
        case done, thrownAway, failed
    }

    private func remove(_ removal: CacheRemoval) async -> RemovalOutcome {
        await withCheckedContinuation { continuation in
            engine.submit(
                CacheJob(
                    run: { database throws(SQLiteError) in
                        try removal.perform(database)
                        return { continuation.resume(returning: .done) }
                    }, fail: { continuation.resume(returning: $0 ? .thrownAway : .failed) }, removal: removal))
        }
    }

    /// Looks something up, and opens the file for that if it is not open.
    ///
    /// - Parameter body: makes the look-up, and is told whether it may wait.
    /// - Returns: `nil` when it failed, which is told.
    private func look<Value>(
        _ body: @escaping @Sendable (CacheReader, _ mayWait: Bool) -> CacheReader.Outcome<Value>
    ) async -> Value? {
        var outcome = await lookOnce(body)
        if case .closed = outcome, await opened() { outcome = await lookOnce(body) }
        switch outcome {
        case .found(let value): return value
        case .failed(let error): engine.readFailed(error)
        case .closed, .wouldWait: break
        }
        return nil
    }

    /// Looks something up on this thread, or where it may wait if this one would have to.
    private func lookOnce<Value>(
        _ body: @escaping @Sendable (CacheReader, _ mayWait: Bool) -> CacheReader.Outcome<Value>
    ) async -> CacheReader.Outcome<Value> {
        let reader = engine.reader
        let outcome = body(reader, false)
        guard case .wouldWait = outcome else { return outcome }
        return await reader.handOver { body(reader, true) }
    }

    /// Opens the file, unless it was found unusable a moment ago.
    private func opened(patience: Duration? = nil) async -> Bool {
        if engine.isResting { return false }
        return await change(isAlone: true, patience: patience) { _ in true } ?? false
    }

    private func took(_ found: CacheReader.Found) -> [StoredResponse] {
        for row in found.damaged { drop(row) }
        return found.responses
    }

    private func drop(_ row: Int64) {
        engine.tell(.damagedRow)
        engine.submit(
            CacheJob(run: { database throws(SQLiteError) in
                try database.removeIfDamaged(row)
                return {}
            }))
    }
}
