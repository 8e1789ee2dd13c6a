import Foundation
import Penstock
import PenstockSQLite

/// Where a command keeps responses: in memory, or in a file.
enum CacheLocation: Sendable {
    case memory
    case file(URL)

    init(_ text: String) {
        self = text == "memory" ? .memory : .file(URL(fileURLWithPath: text))
    }

    /// `nil` where there is no file.
    var path: String? {
        if case .file(let file) = self { file.path } else { nil }
    }

    var name: String {
        switch self {
        case .memory: "memory"
        case .file: "disk"
        }
    }

    /// - Throws: when the file is something else than a cache. One that cannot be used now is a cache without responses.
    func open() async throws(UsageError) -> any CacheStore {
        guard case .file(let file) = self else { return MemoryCacheStore() }
        do throws(SQLiteCacheError) {
            return try await PlatformCache.open(file)
        } catch {
            guard error.problem != .notACache else { throw .notACache(file) }
            return PlatformCache.store(at: file)
        }
    }
}

extension UsageError {
    static func notACache(_ file: URL) -> UsageError {
        UsageError("--cache: \(file.path) is no file of stored responses, and was left as it is")
    }
}
