/// A property that took its default while a response was decoded.
public struct DecodingNote: Hashable, Sendable {
    /// Why the property took its default.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The object has no member of that name.
        case absent
        /// The member is there, and is `null`.
        case null
        /// The server sent something that is no value of the property's type; the text tells what, without the value.
        case wrongType(String)
    }

    /// Where, in dotted form, for example `data.items[3].stock`.
    public let path: String
    /// Why the property took its default.
    public let reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }
}
