import Foundation

extension StreamLimitError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .lineTooLong(let limit): "A line is longer than \(limit) bytes."
        case .eventTooLong(let limit): "An event is longer than \(limit) bytes."
        }
    }
}
