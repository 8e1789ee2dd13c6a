import Foundation

extension OutboxError: LocalizedError {
    /// The text of the error it is about, for users, where there is one.
    public var errorDescription: String? {
        switch self {
        case .request(let error), .answer(let error): error.localizedDescription
        case .cipher(let error): error.localizedDescription
        case .store(let error): error.localizedDescription
        case .undeliverable(let failure, let error): (error ?? failure as any Error).localizedDescription
        case .unregistered, .over: asSentence
        }
    }
}

extension OutboxFailure: LocalizedError {
    public var errorDescription: String? {
        switch reason {
        case .refused, .business: "The server refused what was written."
        case .conflict: "What was written contradicts what the server has."
        case .expired: "What was written could not be sent in time."
        case .keyExpired: "What was written may have arrived, and is not sent again."
        case .unreadable: "What was kept to be sent cannot be read."
        case .blocked: "The app does not send what was written."
        }
    }
}

extension OutboxStoreError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .damaged: "The file of the outbox is damaged."
        case .newerVersion: "A later version of Penstock has written the outbox."
        case .foreign: "The file of the outbox holds something else."
        case .full: "There is no room for the outbox."
        case .readOnly: "The file of the outbox may not be written."
        case .busy: "Another process holds the outbox."
        case .tooLarge(let bytes, let limit): "\(bytes) bytes are more than the \(limit) that a write may have."
        case .fenced: "Another sender has taken over the outbox."
        case .closed: "The outbox was closed."
        case .inputOutput(let code): "The file of the outbox could not be read or written (\(code))."
        }
    }
}

extension OutboxCipherUnavailable: LocalizedError {
    public var errorDescription: String? { "The key of the outbox cannot be had now." }
}
