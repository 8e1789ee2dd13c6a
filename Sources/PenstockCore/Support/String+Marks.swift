extension String {
    /// The most marks in a row that a text may have in which something is looked for: 30 are enough for all that is written (UAX #15 §13).
    package static var mostMarks: Int { 128 }

    /// Whether more marks that combine with a character follow one another than in any text that is written.
    ///
    /// Swift brings them into one order before it compares a text or a character with another one, or takes it for a key. That takes as
    /// long as the square of how many there are: by a hundred kilobytes of them a server could keep the client busy for seconds.
    package var hasRunOfMarks: Bool {
        // No mark has less than two bytes.
        guard utf8.count > 2 * Self.mostMarks else { return false }
        var run = 0
        for scalar in unicodeScalars {
            run = Self.isMark(scalar) ? run + 1 : 0
            if run > Self.mostMarks { return true }
        }
        return false
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        // The first mark; most texts are looked through without a question to Unicode's tables.
        guard scalar.value >= 0x300 else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}
