extension CustomStringConvertible {
    /// The description as a sentence of its own, for the `localizedDescription` of an error.
    package var asSentence: String {
        let text = description
        let end = text.last.map { ".!?…".contains($0) } ?? true
        return text.prefix(1).uppercased() + text.dropFirst() + (end ? "" : ".")
    }
}
