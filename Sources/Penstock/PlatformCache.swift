import Foundation
import PenstockCore
import PenstockSQLite

/// The store that ``CacheChoice/standard`` is on this platform: a file in the user's folder for caches, with a memory
/// over it.
public enum PlatformCache {
    /// The cache of this program, opened at its first use: `penstock/<program>/http.sqlite` in `XDG_CACHE_HOME`, or in
    /// `~/.cache` where that is not set; on Apple's systems in `Library/Caches`. Processes of one program share it. Two
    /// programs do not, even if their names are the same: `<program>` is the bundle's identifier or, where there is none,
    /// the name and a digest of where the program stands.
    ///
    /// In a process that runs tests it is in memory alone: tests leave nothing in the user's folder, and none is answered
    /// with what an earlier run has left there. Those are the programs that `swift test` builds and starts, whose names end
    /// in `.xctest` or are those of its helpers, and what Xcode starts to run tests in, which has
    /// `XCTestConfigurationFilePath` in its environment.
    public static let shared: any CacheStore = {
        let process = ProcessInfo.processInfo
        return runsTests(process.processName, process.environment) ? MemoryCacheStore() : store(at: file)
    }()

    package static func runsTests(_ program: String, _ environment: [String: String]) -> Bool {
        program.hasSuffix(".xctest") || ["xctest", "swiftpm-testing-helper"].contains(program)
            || environment["XCTestConfigurationFilePath"] != nil
    }

    /// A store in a file of one's own, whose folder is made when it is not there; nobody but its owner may enter that
    /// folder, or read the file. Several processes may share it. What it cannot use shows as a cache in which nothing is
    /// found.
    ///
    /// - Parameters:
    ///   - file: a cache, or empty, or not there yet. Anything else is left as it is.
    ///   - limits: 256 MiB, 200,000 responses and 90 days unless told otherwise.
    public static func store(at file: URL, limits: CacheLimits = .disk) -> any CacheStore {
        TieredCacheStore(over: disk(file, limits))
    }

    /// The same store as ``store(at:limits:)`` gives, whose file is open already.
    ///
    /// - Throws: why the file cannot be used.
    public static func open(
        _ file: URL, limits: CacheLimits = .disk
    ) async throws(SQLiteCacheError) -> any CacheStore {
        let store = disk(file, limits)
        try await store.open()
        return TieredCacheStore(over: store)
    }

    private static func disk(_ file: URL, _ limits: CacheLimits) -> SQLiteCacheStore {
        MachineFileSystem.makeFolder(file.deletingLastPathComponent().path)
        return SQLiteCacheStore(SQLiteCacheConfiguration(file: file, limits: limits))
    }

    private static var file: URL {
        let name = folderName(
            bundle: Bundle.main.bundleIdentifier, executable: Bundle.main.executablePath ?? CommandLine.arguments.first,
            process: ProcessInfo.processInfo.processName)
        return folder.appendingPathComponent("penstock").appendingPathComponent(name)
            .appendingPathComponent("http.sqlite")
    }

    /// The folder of a program: another one for each.
    package static func folderName(bundle: String?, executable: String?, process: String) -> String {
        if let bundle, !bundle.isEmpty { return bundle }
        guard let executable else { return process }
        return "\(process)-\(CacheFileName.digest(executable))"
    }

    private static var folder: URL {
        if let path = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }
}
