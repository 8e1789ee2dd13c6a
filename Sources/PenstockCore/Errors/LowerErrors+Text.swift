import Foundation

// What people read of the errors that the folders below this one throw, in place of Foundation's number for them.

extension HTTPURL.ParseError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension RoutePath.Invalid: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension HTTPBody.AlreadyRead: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension ParameterEncodingError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension HostSourceError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension PinError: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension WebSocketFailure: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension AuthenticationFailure: LocalizedError {
    public var errorDescription: String? { asSentence }
}

extension VaultError: LocalizedError {
    public var errorDescription: String? { AuthenticationFailure.vault(self).asSentence }
}

extension TransportError: LocalizedError {
    public var errorDescription: String? {
        switch kind {
        case .unreachable(.offline): "There is no connection to a network."
        case .unreachable: "The server cannot be reached."
        case .timeout: "The server did not answer in time."
        case .cancelled: "The request was cancelled."
        case .tls: "No secure connection to the server could be made."
        case .connectionLost: "The connection was lost."
        case .protocolViolation: "The server broke the protocol."
        case .limitExceeded: "The answer is larger than is accepted."
        case .requestBody: "What was to be sent could not be read."
        case .unsupported(let what): "The transport cannot do this: \(what)."
        case .blocked(let reason): "The request was refused: \(reason)."
        case .other: "The request failed."
        }
    }
}
