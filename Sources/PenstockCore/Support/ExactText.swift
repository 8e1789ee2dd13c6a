/// A text that is the same as another one where their bytes are, as a server, a disk and a digest see it.
///
/// Swift takes two texts for equal that Unicode calls canonically equivalent, such as an "é" of one scalar and one of two. To
/// whoever gave them out, as the names of users, they may be two.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.isWritten(as: right.text) }

    // Texts of the same bytes are equal, and so are their hashes.
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension String {
    /// Whether both are the same, byte by byte: see ``ExactText``. What is not equal is told apart first, which costs least.
    package func isWritten(as other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}
