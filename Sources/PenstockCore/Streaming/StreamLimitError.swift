/// A stream holds something that is larger than its reader accepts. What came before it has been delivered; nothing
/// after it can be.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line is longer than so many bytes.
    case lineTooLong(limit: Int)
    /// The data of one event is longer than so many bytes.
    case eventTooLong(limit: Int)
}

extension APIError.Kind {
    /// The kind of a call that ended for this reason: it names the limit that was exceeded.
    init(_ error: StreamLimitError) {
        switch error {
        case .lineTooLong: self = .limitExceeded(.lineLength)
        case .eventTooLong: self = .limitExceeded(.eventBytes)
        }
    }
}
