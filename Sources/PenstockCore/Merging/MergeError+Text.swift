import Foundation

extension MergeError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .noValue: "The answer has nothing for the key."
        }
    }
}
