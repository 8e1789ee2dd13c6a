import Foundation

extension SQLiteCacheError: LocalizedError {
    public var errorDescription: String? { "The file of the cache cannot be used: \(problem) (\(code))." }
}
