/// Takes the content out of chunks, by the letter of RFC 9112 §7.1: nothing is passed over, so that nobody on the way can
/// have read other content, or another end, than is read here.
///
/// libcurl (7.88, and 8.7 by its code) passes over what follows upon the digits of a size, so that `5g` is 5, and takes LF
/// alone for the end of a line. So it is told to leave the chunks as they are. It still looks for the end, and finds it
/// where this does, as all that is taken here means the same to both.
package struct ChunkReader: Sendable {
    /// What came.
    package enum Piece: Equatable {
        /// Content, by its place among the bytes.
        case content(Range<Int>)
        /// The line of a trailer, without its end.
        case trailer([UInt8])
        case failure(TransportError.Kind)
    }

    /// What is next. Of an extension that is `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    private enum Step: Sendable {
        case size
        case beforeName
        case name
        case afterName
        case beforeValue
        case value
        case quoted
        case escaped
        case afterQuotes
        /// Only another extension may follow upon this white space.
        case beforeExtension
        case lineFeedOfSize
        case data
        case endOfData
        case lineFeedOfData
        case trailer
        case lineFeedOfTrailer
        case lineFeedOfEnd
        case end
    }

    /// As many as libcurl takes.
    private static let maxDigits = 16

    private let maxLine: Int
    private var step = Step.size
    /// What is left of the chunk.
    private var left = 0
    private var digits = 0
    /// The bytes of the line at hand.
    private var lineLength = 0
    private var line: [UInt8] = []
    /// The bytes of content that have come.
    package private(set) var contentBytes = 0

    /// - Parameter maxLine: the bytes of the longest line that is accepted, of a size as of a trailer.
    package init(maxLine: Int) {
        self.maxLine = maxLine
    }

    /// Whether all has come, the empty line at the end with it.
    package var isOver: Bool { step == .end }

    /// Takes bytes that are content and nothing else, if they are.
    package mutating func takeContent(_ count: Int) -> Bool {
        guard step == .data, count < left else { return false }
        left -= count
        contentBytes += count
        return true
    }

    /// The next piece; `nil` where the bytes have been taken, or the end has come before some of them.
    ///
    /// - Parameter place: the first byte that is not taken yet. What failed once is not to be asked again.
    package mutating func next(in bytes: UnsafeRawBufferPointer, from place: inout Int) -> Piece? {
        while place < bytes.count, step != .end {
            if step == .data { return .content(takeData(of: bytes, from: &place)) }
            let byte = bytes[place]
            place += 1
            lineLength += 1
            guard lineLength <= maxLine else { return .failure(.limitExceeded(.headerBytes)) }
            switch step {
            case .trailer where byte != 0x0D:
                // Neither stands in a field (RFC 9110 §5.5), and each is the end of a line to somebody.
                guard byte != 0x0A, byte != 0 else { return .failure(.protocolViolation) }
                line.append(byte)
            case .lineFeedOfTrailer where byte == 0x0A:
                defer {
                    beginLine(.trailer)
                    line.removeAll(keepingCapacity: true)
                }
                return .trailer(line)
            case .name, .value, .quoted:
                // Of what may be long the bytes that change nothing are read past at once.
                guard let next = stepInExtension(upon: byte) else { return .failure(.protocolViolation) }
                if next == step { readPast(bytes, from: &place) }
                step = next
            default:
                guard let next = step(upon: byte) else { return .failure(.protocolViolation) }
                step = next
            }
        }
        return nil
    }

    private mutating func takeData(of bytes: UnsafeRawBufferPointer, from place: inout Int) -> Range<Int> {
        let range = place..<(place + min(left, bytes.count - place))
        place = range.upperBound
        left -= range.count
        contentBytes += range.count
        if left == 0 { step = .endOfData }
        return range
    }

    private mutating func beginLine(_ next: Step) {
        (step, lineLength) = (next, 0)
    }

    /// - Returns: `nil` where the byte must not come here.
    private mutating func step(upon byte: UInt8) -> Step? {
        switch step {
        case .size: stepInSize(upon: byte)
        case .lineFeedOfSize: byte == 0x0A ? beginChunk() : nil
        case .endOfData: byte == 0x0D ? .lineFeedOfData : nil
        case .lineFeedOfData: byte == 0x0A ? beginSize() : nil
        case .trailer: line.isEmpty ? .lineFeedOfEnd : .lineFeedOfTrailer
        case .lineFeedOfEnd: byte == 0x0A ? .end : nil
        case .data, .lineFeedOfTrailer, .end: nil
        default: stepInExtension(upon: byte)
        }
    }

    private mutating func stepInSize(upon byte: UInt8) -> Step? {
        let value: UInt8
        switch byte {
        case 0x30...0x39: value = byte - 0x30
        case 0x41...0x46: value = byte - 0x41 + 10
        case 0x61...0x66: value = byte - 0x61 + 10
        default: return digits > 0 ? afterWord(byte) : nil
        }
        let (shifted, overflows) = left.multipliedReportingOverflow(by: 16)
        guard digits < Self.maxDigits, !overflows else { return nil }
        left = shifted + Int(value)
        digits += 1
        return .size
    }

    private mutating func beginChunk() -> Step {
        let isLast = left == 0
        beginLine(isLast ? .trailer : .data)
        return step
    }

    private mutating func beginSize() -> Step {
        (left, digits) = (0, 0)
        beginLine(.size)
        return .size
    }

    // MARK: Extensions

    /// Reads past the letters and digits that come next.
    private mutating func readPast(_ bytes: UnsafeRawBufferPointer, from place: inout Int) {
        let start = place
        let end = start + min(bytes.count - start, maxLine - lineLength)
        while place < end, bytes[place] | 0x20 >= 0x61, bytes[place] | 0x20 <= 0x7A { place += 1 }
        lineLength += place - start
    }

    private func stepInExtension(upon byte: UInt8) -> Step? {
        let isBlank = byte == 0x20 || byte == 0x09
        switch step {
        case .beforeName: return isBlank ? .beforeName : HTTPSyntax.isTokenByte(byte) ? .name : nil
        case .name where HTTPSyntax.isTokenByte(byte): return .name
        case .name, .afterName:
            if byte == 0x3D { return .beforeValue }
            if step == .name, !isBlank { return afterWord(byte) }
            return isBlank ? .afterName : byte == 0x3B ? .beforeName : nil
        case .beforeValue:
            return isBlank ? .beforeValue : byte == 0x22 ? .quoted : HTTPSyntax.isTokenByte(byte) ? .value : nil
        case .value: return HTTPSyntax.isTokenByte(byte) ? .value : afterWord(byte)
        case .quoted:
            return byte == 0x22 ? .afterQuotes : byte == 0x5C ? .escaped : isText(byte) ? .quoted : nil
        case .escaped: return isText(byte) ? .quoted : nil
        case .afterQuotes: return afterWord(byte)
        case .beforeExtension: return isBlank ? .beforeExtension : byte == 0x3B ? .beforeName : nil
        default: return nil
        }
    }

    /// What may follow upon a size, a name or a value.
    private func afterWord(_ byte: UInt8) -> Step? {
        switch byte {
        case 0x0D: .lineFeedOfSize
        case 0x3B: .beforeName
        case 0x20, 0x09: .beforeExtension
        default: nil
        }
    }

    /// Whether a byte may stand in quotes (RFC 9110 §5.6.4).
    private func isText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == 0x09
    }
}
