import Foundation
import PenstockCore

extension CryptographyError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension SignatureBaseError: LocalizedError {
    public var errorDescription: String? { asSentence }
}
