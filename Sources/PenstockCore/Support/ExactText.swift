import Foundation

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

    // A text's own hash is that of its canonical form, which takes quadratic time where combining marks run on.
    func hash(into hasher: inout Hasher) {
        var bytes = self.text
        bytes.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No byte of UTF-8: it tells two texts from others that are the same when joined.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Whether both are the same, byte by byte: see ``ExactText``.
    package func isWritten(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right -> Bool in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return memcmp(left, right, other.utf8.count) == 0
            }
        }
        // Apple's own strings may have their bytes nowhere in one piece.
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
