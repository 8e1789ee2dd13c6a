/// A property that took its default while a response was decoded.
public struct DecodingNote: Hashable, Sendable {
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        case absent
        case null
        /// The server sent something that is no value of the property's type; the text tells what, without the value.
        case wrongType(String)
    }

    /// Where, in dotted form, for example `data.items[3].stock`.
    public let path: String
    public let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}
