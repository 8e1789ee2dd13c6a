import Foundation

extension CookieFileError: LocalizedError {
    public var errorDescription: String? { asSentence }
}
