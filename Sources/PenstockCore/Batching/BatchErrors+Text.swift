import Foundation

extension BatchError: LocalizedError {
    /// The text of ``error`` for users.
    public var errorDescription: String? { error.localizedDescription }
}

extension CallGraphError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension CallNodeError: LocalizedError {
    /// The text of ``error`` for users.
    public var errorDescription: String? { error?.localizedDescription ?? "The graph does not have this call." }
}
