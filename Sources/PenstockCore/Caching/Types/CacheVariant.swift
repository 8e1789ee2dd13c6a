/// Which of a URL's representations was stored: the request fields that `Vary` names, with their values (RFC 9111 §4.1).
public struct CacheVariant: Hashable, Sendable {
    /// A request field that takes part in the choice.
    public struct Selector: Hashable, Sendable {
        /// Lower-case.
        public let name: String
        /// Normalised, and as a digest where it is a credential; `nil` when the request had no such field, which is not
        /// the same as an empty one.
        public let value: String?

        /// A selector that was stored, as it was read: nothing is normalised here.
        ///
        /// - Parameters:
        ///   - name: in lower case.
        ///   - value: normalised; `nil` for a request without the field.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// Each name once, in alphabetical order. Empty when the response does not vary.
    public let selectors: [Selector]
    /// `Vary: *`: no request is known to match.
    public let isUnmatchable: Bool

    /// A variant that was stored, as it was read.
    public init(selectors: [Selector] = [], isUnmatchable: Bool = false) {
        self.selectors = selectors
        self.isUnmatchable = isUnmatchable
    }
}
