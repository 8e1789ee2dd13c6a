import CSQLite
import Foundation
import PenstockCore

/// Keeps the rows of an ``Outbox`` in one SQLite file.
///
/// - What was put is on the medium when it returns: the log is synced with each change (`synchronous=FULL`, and `F_FULLFSYNC`
///   where that is what a sync takes). Changes that come together are synced together.
/// - A file that is damaged, newer than this version, somebody else's, full or read-only is a typed error of everything that is
///   asked of the store. It is left as it is: an outbox that cannot be read is never begun anew over the old one, unless the
///   app says so (``setAside()``).
/// - Each row has a checksum over its bytes and over which row it is; one that does not fit is undeliverable.
/// - Several processes may share the file. Only their owner may read it.
/// - What was removed is overwritten in the file, and gone from the log beside it: what a logout removes when
///   ``removeAll(ofIdentity:)`` returns, the rest once nothing has been changed for 10 s. While another process reads from the
///   log it is tried again every 10 s.
///
/// The file belongs into a folder that nobody empties: `PlatformOutbox` has one.
public final class SQLiteOutboxStore: OutboxStore {
    /// Where the file is, and how long a change waits.
    public struct Configuration: Sendable {
        /// The file, in a folder that exists and may be written. Beside it stand its `-wal` and `-shm`.
        public var file: URL
        /// How long a change waits for other processes that hold the file. 5 s by default, which is more than a hundred
        /// changes of theirs take.
        public var patience = Duration.seconds(5)
        /// How many bytes the payload of a row may have. 512 KiB by default, and no more than that: what SQLite allocates for
        /// a row is bounded by it.
        public var rowBytes = 512 << 10
        /// How long there is no change before the log is emptied. 10 s: once for each burst of writes.
        package var idle = Duration.seconds(10)
        /// SQLite's name of the file system; `nil` for the machine's own.
        package var vfs: String?
        /// How files are made and set aside.
        package var files: any CacheFileSystem = MachineFileSystem()

        /// A configuration with the default of every other property.
        public init(file: URL) {
            self.file = file
        }
    }

    private let engine: OutboxEngine
    private let rowBytes: Int
    /// How much of a row the file can hold, with room for what is neither the payload nor a value of a fold.
    private static let mostBytes = Int(SQLiteConnection.maximumRowBytes) - (64 << 10)

    /// A store whose file is opened at its first use.
    public init(_ configuration: Configuration) {
        rowBytes = min(configuration.rowBytes, 512 << 10)
        engine = OutboxEngine(configuration)
    }

    /// Opens the file, rather than at the first use.
    public func open() async throws(OutboxStoreError) {
        try await engine.read { _ in }
    }

    /// Gives the file another name, which ends in `.damaged-1`, and begins anew at the next use: for an app that has learned
    /// that the file cannot be used, has told its user, and goes on. Nothing is removed.
    ///
    /// - Returns: the new name.
    public func setAside() async throws(OutboxStoreError) -> URL {
        try await engine.setAside()
    }

    public func put(_ row: OutboxRow, isNumbered: Bool) async throws(OutboxStoreError) -> OutboxPlacement {
        guard row.payload.count <= rowBytes else { throw .tooLarge(bytes: row.payload.count, limit: rowBytes) }
        let bytes = row.payload.count + (row.intent?.count ?? 0) + (row.rollback?.count ?? 0)
        guard bytes <= Self.mostBytes else { throw .tooLarge(bytes: bytes, limit: Self.mostBytes) }
        return try await engine.change { try $0.put(row, isNumbered: isNumbered) }
    }

    public func row(_ id: OutboxID) async throws(OutboxStoreError) -> OutboxRow? {
        try await engine.read { try $0.row(id) }
    }

    public func rows(
        _ selection: OutboxSelection, after position: Int64, limit: Int
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await engine.read { try $0.rows(selection, after: position, limit: limit) }
    }

    public func counts(of owner: OutboxOwner) async throws(OutboxStoreError) -> OutboxCounts {
        try await engine.read { try $0.counts(of: owner) }
    }

    public func nextMoment(
        of owner: OutboxOwner, avoiding destinations: Set<String>, at now: Date
    ) async throws(OutboxStoreError) -> Date? {
        try await engine.read { try $0.nextMoment(of: owner, avoiding: destinations, at: now) }
    }

    public func lease(
        for holder: String, at now: Date, duration: Duration
    ) async throws(OutboxStoreError) -> OutboxLease? {
        try await engine.change { try $0.lease(for: holder, at: now, duration: duration) }
    }

    public func release(_ lease: OutboxLease) async throws(OutboxStoreError) {
        try await engine.change { try $0.release(lease) }
    }

    public func claim(
        of owner: OutboxOwner, avoiding destinations: Set<String>, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await engine.change {
            try $0.claim(of: owner, avoiding: destinations, limit: limit, at: now, under: lease)
        }
    }

    public func settle(
        _ id: OutboxID, _ step: OutboxStep, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) {
        try await engine.change { try $0.settle(id, step, at: now, under: lease) }
    }

    public func expire(
        of owner: OutboxOwner, limit: Int, at now: Date, under lease: OutboxLease
    ) async throws(OutboxStoreError) -> [OutboxRow] {
        try await engine.change { try $0.expire(of: owner, limit: limit, at: now, under: lease) }
    }

    public func hasten(_ owner: OutboxOwner, at now: Date) async throws(OutboxStoreError) {
        try await engine.change { try $0.hasten(owner, at: now) }
    }

    public func requeue(_ id: OutboxID, expires: Date, at now: Date) async throws(OutboxStoreError) -> Bool {
        try await engine.change { try $0.requeue(id, expires: expires, at: now) }
    }

    public func remove(_ id: OutboxID) async throws(OutboxStoreError) -> Bool {
        try await engine.change { try $0.remove(id) }
    }

    public func removeAll(ofIdentity identity: String) async throws(OutboxStoreError) -> [OutboxID] {
        try await engine.purge { try $0.removeAll(ofIdentity: identity) }
    }

    public func close() async {
        await engine.close()
    }

    /// The texts of all statements that were used.
    package func statements() async throws(OutboxStoreError) -> [String] {
        try await engine.read { $0.connection.preparedStatements }
    }
}

/// Runs the jobs of a store one after the other on a queue; changes that wait together share one transaction, and one sync.
///
/// Unchecked because the database is touched on the queue alone.
final class OutboxEngine: @unchecked Sendable {
    private struct Job: Sendable {
        let changes: Bool
        /// Whether what it removed may not be found in the log either once it is done.
        let isThorough: Bool
        let run: @Sendable (OutboxDatabase) throws -> Void
        /// Called once, with what it failed of.
        let end: @Sendable (OutboxStoreError?) -> Void
    }

    private struct Inbox: Sendable {
        var jobs: [Job] = []
        var isDraining = false
    }

    private let configuration: SQLiteOutboxStore.Configuration
    private let files: CacheFiles
    private let queue = DispatchQueue(label: "penstock.outbox")
    private let inbox = Locked(Inbox())

    // Touched on the queue alone.
    private var database: OutboxDatabase?
    private var isClosed = false
    /// How many transactions there were.
    private var changes = 0
    private var isEmptying = false

    /// How many changes share a transaction at most: enough that a sync for each is no matter any more.
    private static let batch = 256

    init(_ configuration: SQLiteOutboxStore.Configuration) {
        self.configuration = configuration
        files = CacheFiles(path: configuration.file.path, system: configuration.files)
    }

    // MARK: Asking

    func change<Output: Sendable>(
        _ body: @escaping @Sendable (OutboxDatabase) throws -> Output
    ) async throws(OutboxStoreError) -> Output {
        try await perform(changes: true, body)
    }

    /// Makes a change, and takes what it removed out of the log as well.
    func purge<Output: Sendable>(
        _ body: @escaping @Sendable (OutboxDatabase) throws -> Output
    ) async throws(OutboxStoreError) -> Output {
        try await perform(changes: true, isThorough: true, body)
    }

    func read<Output: Sendable>(
        _ body: @escaping @Sendable (OutboxDatabase) throws -> Output
    ) async throws(OutboxStoreError) -> Output {
        try await perform(changes: false, body)
    }

    private func perform<Output: Sendable>(
        changes: Bool, isThorough: Bool = false, _ body: @escaping @Sendable (OutboxDatabase) throws -> Output
    ) async throws(OutboxStoreError) -> Output {
        let output = Locked<Output?>(nil)
        let error: OutboxStoreError? = await withCheckedContinuation { continuation in
            submit(
                Job(
                    changes: changes, isThorough: isThorough,
                    run: { database in
                        let made = try body(database)
                        output.withLock { $0 = made }
                    }, end: { continuation.resume(returning: $0) }))
        }
        if let error { throw error }
        guard let made = output.withLock({ $0 }) else { throw .closed }
        return made
    }

    private func submit(_ job: Job) {
        let mustStart = inbox.withLock { inbox in
            inbox.jobs.append(job)
            defer { inbox.isDraining = true }
            return !inbox.isDraining
        }
        if mustStart { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let jobs = inbox.withLock { inbox in
                let jobs = Array(inbox.jobs.prefix(Self.batch))
                inbox.jobs.removeFirst(jobs.count)
                if jobs.isEmpty { inbox.isDraining = false }
                return jobs
            }
            if jobs.isEmpty { return }
            run(jobs)
        }
    }

    // MARK: Running

    private func run(_ jobs: [Job]) {
        do {
            let failures = try together(jobs)
            if jobs.contains(where: \.changes) { noteChange(isThorough: jobs.contains(where: \.isThorough)) }
            for (job, failure) in zip(jobs, failures) { job.end(failure) }
        } catch {
            // Nothing of any was done. One by one, each has the error that is its own.
            guard jobs.count > 1, database != nil else { return jobs.forEach { $0.end(map(error)) } }
            guard map(error) == .busy, jobs.contains(where: \.changes) else { return jobs.forEach { run([$0]) } }
            // All have waited for other processes as long as one may. Who only reads waits for nobody.
            for job in jobs where job.changes { job.end(.busy) }
            let readers = jobs.filter { !$0.changes }
            if !readers.isEmpty { run(readers) }
        }
    }

    /// Runs jobs in one transaction.
    ///
    /// - Returns: what those failed of that were refused before they changed anything; `nil` for those that were done.
    /// - Throws: when nothing was done.
    private func together(_ jobs: [Job]) throws -> [OutboxStoreError?] {
        let database = try open()
        let connection = database.connection
        do {
            guard jobs.contains(where: \.changes) else { return try jobs.map { try Self.result(of: $0, database) } }
            try connection.statement("BEGIN IMMEDIATE").run()
            let results = try jobs.map { try Self.result(of: $0, database) }
            try connection.statement("COMMIT").run()
            return results
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            // What is damaged, was moved away or cannot be written is looked at anew.
            switch map(error) {
            case .damaged, .inputOutput, .readOnly: self.database = nil
            default: break
            }
            throw error
        }
    }

    private static func result(of job: Job, _ database: OutboxDatabase) throws -> OutboxStoreError? {
        do {
            try job.run(database)
            return nil
        } catch let refusal as OutboxStoreError {
            return refusal
        }
    }

    /// SQLite says of a disk that may not be written no more than that a file could not be opened, so the disk is asked.
    private func map(_ error: any Error) -> OutboxStoreError {
        switch error {
        case let error as OutboxStoreError: error
        case let error as SQLiteError where error.code & 0xFF == SQLITE_CANTOPEN && files.isReadOnly: .readOnly
        case let error as SQLiteError: OutboxStoreError(error)
        default: .inputOutput(code: -1)
        }
    }

    private func open() throws -> OutboxDatabase {
        guard !isClosed else { throw OutboxStoreError.closed }
        if let database, !database.connection.hasMoved { return database }
        database = nil
        let new = OutboxDatabase(
            try OutboxSchema.open(files, vfs: configuration.vfs, patience: configuration.patience))
        database = new
        return new
    }

    // MARK: The log

    /// Sees to it that what was removed does not stay in the log: at once where that was asked for, and otherwise when
    /// nothing has been changed for a while.
    private func noteChange(isThorough: Bool) {
        changes += 1
        if !isThorough || !emptyLog() { emptyLogLater() }
    }

    private func emptyLogLater() {
        guard !isEmptying else { return }
        isEmptying = true
        queue.asyncAfter(deadline: .now() + configuration.idle / .seconds(1)) { [weak self, changes] in
            guard let self else { return }
            isEmptying = false
            if changes != self.changes || !emptyLog() { emptyLogLater() }
        }
    }

    /// - Returns: `false` while another process reads from it, which is not waited for.
    private func emptyLog() -> Bool {
        guard let connection = database?.connection else { return true }
        connection.wait(0)
        defer { connection.wait(Self.milliseconds(configuration.patience)) }
        do {
            return try connection.emptyLog()
        } catch {
            // The next change comes upon the same, and is told.
            return true
        }
    }

    static func milliseconds(_ patience: Duration) -> Int32 { Int32(clamping: Int64(patience / .milliseconds(1))) }

    // MARK: The file

    func setAside() async throws(OutboxStoreError) -> URL {
        let name: String? = await withCheckedContinuation { continuation in
            queue.async { [self] in
                database = nil
                continuation.resume(returning: moveAway())
            }
        }
        guard let name else { throw files.isReadOnly ? .readOnly : .inputOutput(code: 14) }
        return URL(fileURLWithPath: name)
    }

    /// - Returns: the new name; `nil` where the file could not be moved.
    private func moveAway() -> String? {
        let (path, system) = (files.path, files.system)
        guard system.exists(path), !files.isOther else { return nil }
        let names = (1...1_000).lazy.map { "\(path).damaged-\($0)" }
        guard let name = names.first(where: { !system.exists($0) && !system.exists($0 + "-wal") }) else { return nil }
        defer { system.settle(path) }
        // The log first: without it the file says what was true earlier, with another file it says nothing.
        for end in ["-wal", ""] where system.exists(path + end) {
            guard system.move(path + end, to: name + end) else { return nil }
        }
        return system.remove(path + "-shm") ? name : nil
    }

    /// What was submitted before is done.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                isClosed = true
                database = nil
                continuation.resume()
            }
        }
    }
}
