import Foundation

extension PagingError: LocalizedError {
    public var errorDescription: String? { asSentence }
}
