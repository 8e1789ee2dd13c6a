/// A stream holds something that is larger than its reader accepts. What came before it has been delivered; nothing
/// after it can be.
public enum StreamLimitError: Error, Hashable, Sendable {
    /// A line is longer than so many bytes.
    case lineTooLong(limit: Int)
    /// The data of one event is longer than so many bytes.
    case eventTooLong(limit: Int)
}
