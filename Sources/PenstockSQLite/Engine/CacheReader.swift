import CSQLite
import Foundation
import PenstockCore

/// The connection that reads, behind a lock.
///
/// A look-up runs on the thread that asks as long as nothing has to be waited for: to hand it to another thread and its outcome
/// back takes longer than the look-up itself. Where the disk, another look-up or a lock on the file would have to be waited for,
/// it is made anew on a queue that may wait (``SQLiteCacheStore/look(_:)``), so that a slow disk holds up no thread that runs
/// tasks.
///
/// Nothing that others do makes a look-up wait for longer than ``patience`` three times: for its turn on the queue, for the lock,
/// and for a lock on the file. Whoever writes or checkpoints in the log holds up no reader; only a process that recovers the log
/// does, or one that has taken the whole file for itself.
///
/// Unchecked because the connection is touched with the lock held, and never otherwise.
final class CacheReader: @unchecked Sendable {
    enum Outcome<Value: Sendable>: Sendable {
        case found(Value)
        /// It cannot be made without waiting.
        case wouldWait
        /// There is no connection now.
        case closed
        case failed(SQLiteError)
    }

    /// What a look-up brought.
    struct Found: Sendable {
        var responses: [StoredResponse] = []
        /// Rows that are not what was written.
        var damaged: [Int64] = []
    }

    /// How long a reader waits, in milliseconds. See above.
    static let patience: Int32 = 50

    /// How many uses are remembered until a change is written, and they with it. The older ones are forgotten: as long as
    /// nothing is stored, nothing has to go.
    private static let maximumUses = 65_536
    /// The first variant of a key brings its body along, if that stands in the row; the others only a short one.
    private static let companionBytes = 1_024

    /// How long a look-up that may not wait stands behind others that may not either, in seconds. They take microseconds, unless
    /// the system takes their processor from them.
    private static let moment = 0.001

    let lock = NSLock()
    private let queue = DispatchQueue(label: "penstock.cache.reader")
    private let waiting = Locked(Waiting())

    /// What is known of waiting without the lock.
    private struct Waiting {
        /// Whether who holds the lock may wait.
        var isHeldForLong = false
        /// Whether the file system can be asked what would have to be waited for. Found out anew for each connection.
        var isTelling = true
        /// Look-ups that were handed to the queue.
        var handedOver = 0
    }
    private let limits: CacheLimits
    private let time: TimeSource
    private var connection: SQLiteConnection?
    private var find: SQLiteStatement?
    /// How the file has its keys.
    private var form: CacheAtRest?
    /// The uses to be noted, behind a lock of their own, since to note a use waits for nobody.
    private let uses = Locked<[Int64]>([])

    init(limits: CacheLimits, time: TimeSource) {
        self.limits = limits
        self.time = time
    }

    /// The texts of all statements that were prepared and kept.
    var preparedStatements: [String] { lock.withLock { connection?.preparedStatements ?? [] } }

    /// Takes a connection for reading, or lets go of the one there is.
    func use(_ new: SQLiteConnection?) throws(SQLiteError) {
        let statement = try new?.statement("SELECT id, head, content FROM entry WHERE id BETWEEN ? AND ?")
        let form = try new.map { connection throws(SQLiteError) in try CacheSchema.form(connection) }
        // From here on the reader itself says when there is time to wait for others.
        new?.wait(0)
        lock.withLock {
            find = statement
            self.form = form
            connection = new
            waiting.withLock { $0.isTelling = true }
        }
    }

    // MARK: Waiting

    /// How many look-ups could not be made without waiting.
    var handedOver: Int { waiting.withLock { $0.handedOver } }

    /// Makes a look-up on the queue, where it may wait.
    func handOver<Value>(_ body: @escaping @Sendable () -> Outcome<Value>) async -> Outcome<Value> {
        waiting.withLock { $0.handedOver += 1 }
        let hasBegun = Locked(false)
        let begin: @Sendable () -> Bool = {
            hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
        }
        return await withCheckedContinuation { continuation in
            queue.async { if begin() { continuation.resume(returning: body()) } }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(Self.patience))) {
                if begin() { continuation.resume(returning: .failed(Self.busy)) }
            }
        }
    }

    /// Runs `body` with the lock held.
    private func use<Value>(mayWait: Bool, _ body: () -> Outcome<Value>) -> Outcome<Value> {
        mayWait ? patiently(body) : immediately(body)
    }

    private func patiently<Value>(_ body: () -> Outcome<Value>) -> Outcome<Value> {
        guard lock.try() || lock.lock(before: Date(timeIntervalSinceNow: Double(Self.patience) / 1_000)) else {
            return .failed(Self.busy)
        }
        waiting.withLock { $0.isHeldForLong = true }
        connection?.wait(Self.patience)
        defer {
            connection?.wait(0)
            waiting.withLock { $0.isHeldForLong = false }
            lock.unlock()
        }
        return body()
    }

    private func immediately<Value>(_ body: () -> Outcome<Value>) -> Outcome<Value> {
        guard waiting.withLock({ $0.isTelling }), takeLockSoon() else { return .wouldWait }
        defer { lock.unlock() }
        let (outcome, verdict) = ImmediateReads.run(body)
        if verdict == .unknown { waiting.withLock { $0.isTelling = false } }
        guard verdict == .immediate, let outcome else { return .wouldWait }
        if case .failed(let error) = outcome, error.meaning == .busy { return .wouldWait }
        return outcome
    }

    private func takeLockSoon() -> Bool {
        if lock.try() { return true }
        guard !waiting.withLock({ $0.isHeldForLong }) else { return false }
        return lock.lock(before: Date(timeIntervalSinceNow: Self.moment))
    }

    private static var busy: SQLiteError { SQLiteError(code: SQLITE_BUSY) }

    // MARK: Looking up

    /// The responses of a key, with the bodies that stand in their rows.
    ///
    /// - Parameter mayWait: whether this thread may wait for the disk and for others.
    func responses(for key: CacheKey, mayWait: Bool) -> Outcome<Found> {
        let times = limits.validTimes(at: time.date())
        return use(mayWait: mayWait) { responses(for: key, times) }
    }

    private func responses(for key: CacheKey, _ times: ClosedRange<Date>?) -> Outcome<Found> {
        guard let find, let form else { return .closed }
        let bytes = CacheRow.bytes(of: form.key(key))
        let rows = CacheHash.rows(bytes)
        defer { find.reset() }
        do throws(SQLiteError) {
            var found = Found()
            try find.bind(rows.first, at: 1)
            try find.bind(rows.last, at: 2)
            // A key's only response stands in its last row: behind that there is nothing to look for.
            while try find.step(), try read(find, key, bytes, times, into: &found) != rows.last {}
            return .found(found)
        } catch { return .failed(error) }
    }

    /// - Returns: which row it was.
    private func read(
        _ statement: SQLiteStatement, _ key: CacheKey, _ bytes: [UInt8], _ times: ClosedRange<Date>?,
        into found: inout Found
    ) throws(SQLiteError) -> Int64 {
        let id = statement.int(0)
        let head = try statement.bytes(1)
        do throws(Malformed) {
            let front = try CacheRow.front(of: head, row: id)
            guard Self.areEqual(front.key, bytes) else { return id }
            let row = try CacheRow(front, key: key)
            if let times, !times.contains(row.response.responseTime) { return id }
            let isFirst = found.responses.isEmpty
            let body = isFirst || front.body.length <= Self.companionBytes ? front.body : nil
            let content = try body.flatMap { place throws(Malformed) in try Self.content(statement, place) }
            found.responses.append(StoredResponse(row.response, entry: row.entry(id), body: content))
            touch(CollectionOfOne(id))
        } catch { found.damaged.append(id) }
        return id
    }

    private static func areEqual(_ key: UnsafeRawBufferPointer, _ bytes: [UInt8]) -> Bool {
        guard key.count == bytes.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let left = key.baseAddress, let right = bytes.baseAddress else { return true }
            return memcmp(left, right, bytes.count) == 0
        }
    }

    /// The body that stands in the row; `nil` for one that is in pieces.
    private static func content(_ statement: SQLiteStatement, _ place: CacheRow.BodyPlace) throws(Malformed) -> Data? {
        guard place.number == 0 else { return nil }
        guard let bytes = try? statement.bytes(2), bytes.count == place.length,
            CacheHash.body(bytes, place.version) == place.checksum
        else { throw Malformed() }
        return Data(bytes)
    }

    /// Counts uses: those of a look-up, and those that somebody else saw.
    func touch(_ rows: some Sequence<Int64> & Sendable) {
        uses.withLock { uses in
            for row in rows {
                if uses.count >= Self.maximumUses { uses.removeFirst(Self.maximumUses / 2) }
                uses.append(row)
            }
        }
    }

    /// The rows that were used, in their order, to be written down.
    func takeUses() -> [Int64] {
        uses.withLock { uses in
            defer { uses = [] }
            return uses
        }
    }

    /// Takes back uses that could not be written down, before those that came since.
    func giveBack(_ rows: [Int64]) {
        guard !rows.isEmpty else { return }
        uses.withLock { uses in
            uses = (rows + uses).suffix(Self.maximumUses)
        }
    }

    var useCount: Int { uses.withLock { $0.count } }

    /// A body that is stored.
    enum Body: Sendable, Equatable {
        /// It stands in its row.
        case content(Data)
        case pieces(CacheRow.BodyPlace)
    }

    /// A body, or where it is; `nil` when it is no longer there.
    ///
    /// - Parameter mayWait: whether this thread may wait for the disk and for others.
    func body(of entry: CacheEntryID, mayWait: Bool) -> Outcome<Body?> {
        use(mayWait: mayWait) {
            guard let connection else { return .closed }
            do throws(SQLiteError) { return .found(try Self.body(connection, entry)) } catch { return .failed(error) }
        }
    }

    /// Some of a body in pieces; `nil` at its end, and when it is no longer there.
    ///
    /// - Parameter mayWait: whether this thread may wait for the disk and for others.
    func bytes(of place: CacheRow.BodyPlace, from offset: Int, mayWait: Bool) -> Outcome<Data?> {
        use(mayWait: mayWait) {
            guard let connection else { return .closed }
            return .found(Self.chunk(connection, place, offset))
        }
    }

    /// Some of a body; `nil` at its end, and when it is no longer there.
    ///
    /// - Parameter mayWait: whether this thread may wait for the disk and for others.
    func bytes(of entry: CacheEntryID, from offset: Int, mayWait: Bool) -> Outcome<Data?> {
        use(mayWait: mayWait) {
            guard let connection else { return .closed }
            do throws(SQLiteError) { return .found(try Self.bytes(connection, entry, offset)) } catch {
                return .failed(error)
            }
        }
    }

    private static func bytes(
        _ connection: SQLiteConnection, _ entry: CacheEntryID, _ offset: Int
    ) throws(SQLiteError) -> Data? {
        switch try body(connection, entry) {
        case nil: nil
        case .content(let bytes): offset >= 0 && offset < bytes.count ? bytes.dropFirst(offset) : nil
        case .pieces(let place): chunk(connection, place, offset)
        }
    }

    private static func body(_ connection: SQLiteConnection, _ entry: CacheEntryID) throws(SQLiteError) -> Body? {
        let statement = try connection.statement("SELECT id, head, content FROM entry WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(entry.row, at: 1)
        guard try statement.step() else { return nil }
        let head = try statement.bytes(1)
        do throws(Malformed) {
            let place = try CacheRow.front(of: head, row: entry.row).body
            guard place.version == entry.version else { return nil }
            return try content(statement, place).map(Body.content) ?? .pieces(place)
        } catch { return nil }
    }

    private static func chunk(_ connection: SQLiteConnection, _ place: CacheRow.BodyPlace, _ offset: Int) -> Data? {
        guard offset >= 0, offset < place.length else { return nil }
        let index = offset / place.chunkBytes
        let start = index * place.chunkBytes
        guard index < CacheDatabase.maximumChunks,
            let bytes = try? read(connection, CacheDatabase.chunkRow(place.number, index), place.version),
            bytes.count == min(place.chunkBytes, place.length - start)
        else { return nil }
        return bytes.dropFirst(offset - start)
    }

    private static func read(
        _ connection: SQLiteConnection, _ row: Int64, _ version: UInt64
    ) throws(SQLiteError) -> Data? {
        let statement = try connection.statement("SELECT checksum, bytes FROM chunk WHERE id = ?")
        defer { statement.reset() }
        try statement.bind(row, at: 1)
        guard try statement.step() else { return nil }
        let bytes = try statement.bytes(1)
        let sum = UInt64(bitPattern: statement.int(0))
        return CacheHash.chunk(bytes, version, row: row) == sum ? Data(bytes) : nil
    }
}
