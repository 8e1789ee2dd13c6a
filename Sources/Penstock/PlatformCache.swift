import Foundation
import PenstockCore
import PenstockSQLite

/// The store that ``CacheChoice/standard`` is on this platform: a file in the user's folder for caches, with a memory
/// over it.
public enum PlatformCache {
    /// That of this process, opened at its first use: `penstock/<process>/http.sqlite` in `XDG_CACHE_HOME`, or in
    /// `~/.cache` where that is not set; on Apple's systems in `Library/Caches`.
    ///
    /// In a process that runs tests it is in memory alone: tests leave nothing in the user's folder, and none is answered
    /// with what an earlier run has left there. Those are the programs that `swift test` builds and starts, whose names end
    /// in `.xctest` or are those of its helpers, and what Xcode starts to run tests in, which has
    /// `XCTestConfigurationFilePath` in its environment.
    public static let shared: any CacheStore = {
        let process = ProcessInfo.processInfo
        return runsTests(process.processName, process.environment) ? MemoryCacheStore() : open(file)
    }()

    static func runsTests(_ program: String, _ environment: [String: String]) -> Bool {
        program.hasSuffix(".xctest") || ["xctest", "swiftpm-testing-helper"].contains(program)
            || environment["XCTestConfigurationFilePath"] != nil
    }

    /// A store in a file of one's own, whose folder is made when it is not there. Several processes may share it.
    public static func open(_ file: URL, limits: CacheLimits = .disk) -> any CacheStore {
        // What cannot be made shows as a cache in which nothing is found.
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        return LayeredCacheStore(over: SQLiteCacheStore(SQLiteCacheConfiguration(file: file, limits: limits)))
    }

    private static var file: URL {
        folder.appendingPathComponent("penstock").appendingPathComponent(ProcessInfo.processInfo.processName)
            .appendingPathComponent("http.sqlite")
    }

    private static var folder: URL {
        if let path = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory
    }
}
