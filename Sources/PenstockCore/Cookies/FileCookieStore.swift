import Foundation

/// Why a file of cookies cannot be used.
@nonexhaustive
public enum CookieFileError: Error, Hashable, Sendable {
    /// A later version of Penstock has written the file. It is left as it is.
    case newerVersion
    /// The file holds something else. It is left as it is.
    case foreignFile
    /// Another process, or another store of this one, has the file.
    case inUse
    /// The file cannot be read or written; what the system says of it.
    case unusableFile(reason: String)
}

extension CookieFileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .newerVersion: "a later version of Penstock has written the file of cookies"
        case .foreignFile: "the file of cookies holds something else"
        case .inUse: "another process, or another store of this one, has the file of cookies"
        case .unusableFile(let reason): "the file of cookies cannot be used: \(reason)"
        }
    }
}

/// Keeps cookies in a file, so that they are there when the app is started again: those of each identity and environment
/// apart, as ``MemoryCookieStore`` does.
///
/// ```swift
/// configuration.cookies = try await FileCookieStore.open(file, suffixes: SystemPublicSuffixes.shared)
/// ```
///
/// Cookies without an expiry end with the app, as they do with a browser, and are never written. The others are written soon
/// after they came; ``flush()`` waits for that. The file is replaced as a whole, so that a crash leaves the old one or the new
/// one. Nobody but its owner may read it (0600); what it holds is not encrypted.
///
/// A damaged line of the file costs one cookie. Every cookie that is read is judged by the rules for what a server sets.
public final class FileCookieStore: CookieStore {
    /// A file that is larger is none of ours: 64 MiB, as much as 10,000 cookies of the largest size.
    private static let maximumFileBytes = 64 << 20

    private struct State: Sendable {
        var jars: CookieJars<CachePartition>
        /// Whether a writing has been asked for that has not begun.
        var isDue = false
    }

    private let file: PrivateFile
    /// Held for as long as the store lives, so that no other process writes over its file.
    private let lock: FileLock
    private let time: TimeSource
    private let state: Locked<State>
    /// Why the last writing failed, on the queue of the writings.
    private let failure: SerialState<CookieFileError?>

    /// Opens a file, or makes it, and the folder that it is in.
    ///
    /// - Parameters:
    ///   - file: a file of cookies, or empty, or not there yet. Beside it stands another one with `.lock` after its name.
    ///   - limits: of each identity and environment. 50 cookies a host and 3,000 in all by default.
    ///   - suffixes: tell for which domains a host may set cookies. None by default: each cookie goes to its host alone, also
    ///     one that was kept while there were some.
    ///   - time: what ages are counted by.
    /// - Throws: why the file cannot be used.
    public static func open(
        _ file: URL, limits: CookieJar.Limits = .init(), suffixes: (any PublicSuffixes)? = nil,
        time: TimeSource = .system
    ) async throws(CookieFileError) -> FileCookieStore {
        let opened = Locked<Result<FileCookieStore, CookieFileError>?>(nil)
        await DiskWork.run {
            var jars = CookieJars<CachePartition>(limits: limits, suffixes: suffixes)
            let file = PrivateFile(file)
            let lock = Result { () throws(CookieFileError) in try Self.load(file, into: &jars, at: time.date()) }
            // By a lock, which the thread sanitizer sees; it does not see that what was made before goes on after.
            opened.withLock { [jars] in $0 = lock.map { FileCookieStore(file, jars, $0, time) } }
        }
        // The work may be there for a moment longer than what it was for, and must not keep the file taken.
        let result = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        guard let result else { throw .unusableFile(reason: "it was not opened") }
        return try result.get()
    }

    private init(_ file: PrivateFile, _ jars: CookieJars<CachePartition>, _ lock: FileLock, _ time: TimeSource) {
        self.file = file
        self.lock = lock
        self.time = time
        state = Locked(State(jars: jars))
        failure = SerialState(nil, label: "penstock.cookies")
    }

    /// What is kept for a key at the moment.
    public func jar(of isolation: IsolationKey) -> CookieJar {
        state.withLock { $0.jars.jar(of: isolation.partition) }
    }

    // MARK: Store

    public func field(for url: HTTPURL, in isolation: IsolationKey) -> String? {
        field(for: CookieQuery(url), in: isolation)
    }

    public func field(for query: CookieQuery, in isolation: IsolationKey) -> String? {
        let now = time.date()
        return state.withLock { $0.jars.field(for: query, of: isolation.partition, at: now) }
    }

    public func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey) {
        let now = time.date()
        change { $0.receive(setCookie, from: url, of: isolation.partition, at: now) }
    }

    public func removeAll(in isolation: IsolationKey?) {
        change { jars in
            jars.removeAll { isolation == nil || $0 == isolation?.partition }
            return true
        }
    }

    public func removeAll(ofIdentity identity: String) {
        change { jars in
            jars.removeAll { $0.identity.isWritten(as: identity) }
            return true
        }
    }

    public func moveAll(ofIdentity identity: String, to heir: String, in environment: String) {
        let now = time.date()
        change { jars in
            jars.moveAll(at: now) { key in
                guard key.identity.isWritten(as: identity), key.environment.isWritten(as: environment) else { return }
                key.identity = heir
            }
            return true
        }
    }

    // MARK: Writing

    /// Returns when everything that has changed so far is on disk.
    ///
    /// - Throws: why the last writing failed. What it would have written is written with the next change.
    public func flush() async throws(CookieFileError) {
        if let last = await failure.result(of: { $0 }) { throw last }
    }

    /// Returns when everything that has changed so far is on disk. What could not be written is tried once more.
    public func settle() async -> Bool {
        await failure.result { failure in
            if failure != nil { failure = self.write() }
            return failure == nil
        }
    }

    /// - Parameter body: tells whether there is anything to write.
    private func change(_ body: @Sendable (inout CookieJars<CachePartition>) -> Bool) {
        let isNew = state.withLock { state in
            guard body(&state.jars), !state.isDue else { return false }
            state.isDue = true
            return true
        }
        // Changes that come until the writing begins are written with it.
        if isNew { failure.run { $0 = self.write() } }
    }

    /// - Returns: why it failed.
    private func write() -> CookieFileError? {
        let jars = state.withLock { state in
            state.isDue = false
            return state.jars.jars
        }
        do {
            try file.replace(with: CookieFileFormat.write(jars))
            return nil
        } catch {
            return .unusableFile(reason: error.localizedDescription)
        }
    }

    // MARK: Reading

    /// - Returns: the lock.
    private static func load(
        _ file: PrivateFile, into jars: inout CookieJars<CachePartition>, at now: Date
    ) throws(CookieFileError) -> FileLock {
        do {
            try file.makeFolder()
            // Nothing is left beside what is somebody else's.
            if !file.hasLock { try CookieFileFormat.check(bytes(of: file)) }
            let lock = try FileLock(beside: file)
            try CookieFileFormat.read(bytes(of: file), into: &jars, at: now)
            return lock
        } catch {
            throw CookieFileError(error)
        }
    }

    private static func bytes(of file: PrivateFile) throws(PrivateFileError) -> Data {
        try file.contents(limit: maximumFileBytes, .narrows(if: CookieFileFormat.isOurs)) ?? Data()
    }
}

extension CookieFileError {
    fileprivate init(_ error: any Error) {
        self =
            switch error {
            case let error as CookieFileError: error
            case CookieFileFormat.Problem.newerVersion: .newerVersion
            case CookieFileFormat.Problem.foreign: .foreignFile
            case PrivateFileError.busy: .inUse
            default: .unusableFile(reason: error.localizedDescription)
            }
    }
}

extension FileCookieStore: CustomReflectable {
    /// How many cookies each identity and environment has, and none of them.
    public var customMirror: Mirror {
        let counts = state.withLock { state in state.jars.jars.map { "\($0.key.environment): \($0.value)" } }
        return Mirror(self, unlabeledChildren: counts.sorted(), displayStyle: .collection)
    }
}
