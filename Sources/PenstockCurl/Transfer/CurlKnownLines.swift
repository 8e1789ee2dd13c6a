#if os(Linux)
    import Foundation
    import PenstockCore

    /// What a field line says about where the content ends and how it is coded.
    enum CurlFraming {
        case nothing
        case length(Int)
        case codings(Int)
        case chunked
    }

    /// The field lines of the response before, by their places in its head.
    ///
    /// Most of them come again, word for word, in the next response of the same pool; such a line is neither taken apart nor
    /// stored a second time. Cookies are not kept.
    final class CurlKnownLines {
        private struct Line {
            let length: Int
            let framing: CurlFraming
        }

        private static let places = 24
        /// In bytes: longer ones seldom come again.
        private static let longest = 128

        @exclusivity(unchecked) private var lines: [Line] = []
        @exclusivity(unchecked) private var fields: [HTTPField] = []
        /// As they came, each at a multiple of ``longest``.
        @exclusivity(unchecked) private var texts: [UInt8] = []

        /// Adds the field of a line to those of a head, if the line at its place was the same.
        ///
        /// - Returns: what the line says of the content; `nil` where it was another.
        func add(_ text: UnsafeRawBufferPointer, to others: inout HTTPFields) -> CurlFraming? {
            let place = others.count
            guard place < lines.count, lines[place].length == text.count, isSame(text, at: place) else { return nil }
            others.add(fields[place])
            return lines[place].framing
        }

        private func isSame(_ text: UnsafeRawBufferPointer, at place: Int) -> Bool {
            texts.withUnsafeBufferPointer { texts in
                guard let base = text.baseAddress, let known = texts.baseAddress else { return false }
                return memcmp(known + place * Self.longest, base, text.count) == 0
            }
        }

        func remember(_ text: UnsafeRawBufferPointer, at place: Int, _ field: HTTPField, _ framing: CurlFraming) {
            guard place < Self.places, place <= lines.count, text.count <= Self.longest, field.name != .setCookie else {
                return
            }
            if place == lines.count {
                lines.append(Line(length: text.count, framing: framing))
                fields.append(field)
                texts += repeatElement(0, count: Self.longest)
            } else {
                lines[place] = Line(length: text.count, framing: framing)
                fields[place] = field
            }
            texts.withUnsafeMutableBytes { texts in
                UnsafeMutableRawBufferPointer(rebasing: texts[(place * Self.longest)...]).copyMemory(from: text)
            }
        }
    }
#endif
