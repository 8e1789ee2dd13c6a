import Foundation

extension BatchError: LocalizedError {
    /// That of ``error``, for users.
    public var errorDescription: String? { error.localizedDescription }
}

extension CallGraphError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension CallNodeError: LocalizedError {
    /// That of ``error``, for users.
    public var errorDescription: String? { error?.localizedDescription ?? "The graph does not have this call." }
}
