/// Tells, as bytes come, whether they can still become UTF-8 (RFC 3629 §4): it says no at the first byte that cannot, also
/// where a character is cut between two pieces.
struct UTF8Scanner: Hashable, Sendable {
    /// How many bytes the character that has begun still needs.
    private var needed = 0
    /// What the next of them may be.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    /// Whether no character is half there.
    var isComplete: Bool { needed == 0 }

    /// - Returns: `false` at the first byte that no continuation could make good.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if needed == 0 { index = Self.skipASCII(bytes, from: index) }
            guard index < bytes.count else { return true }
            guard accept(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    /// Skips ASCII, eight bytes at a time, since most text is ASCII. Returns where something else begins.
    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            index += 8
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }

    /// Takes a byte that begins a character or goes on with one; `false` where it cannot. ASCII never begins one here: it was skipped.
    private mutating func accept(_ byte: UInt8) -> Bool {
        guard needed == 0 else {
            guard low...high ~= byte else { return false }
            (needed, low, high) = (needed - 1, 0x80, 0xBF)
            return true
        }
        switch byte {
        case 0xC2...0xDF: needed = 1
        case 0xE0: (needed, low) = (2, 0xA0)  // nothing shorter would do
        case 0xED: (needed, high) = (2, 0x9F)  // no surrogates
        case 0xE1...0xEF: needed = 2
        case 0xF0: (needed, low) = (3, 0x90)
        case 0xF1...0xF3: needed = 3
        case 0xF4: (needed, high) = (3, 0x8F)  // nothing above U+10FFFF
        default: return false
        }
        return true
    }
}
