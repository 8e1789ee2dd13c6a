import Foundation

/// SHA-256 (FIPS 180-4), for telling contents apart where Foundation is all there is. Secrets that an attacker may time
/// are no business of it.
enum SHA256 {
    /// The digest as 64 hexadecimal digits.
    static func hex(_ data: some Sequence<UInt8>) -> String {
        hex(of: digest(Array(data)))
    }

    /// The digest as its 32 bytes.
    static func bytes(_ data: some Sequence<UInt8>) -> Data {
        Data(bytes(digest(Array(data))))
    }

    private static func digest(_ data: [UInt8]) -> [UInt32] {
        var stream = Stream()
        data.withUnsafeBytes { stream.update($0) }
        return stream.ended()
    }

    /// A digest of content that comes in pieces.
    struct Stream: Sendable {
        private var state = SHA256.initial
        /// Less than a block.
        private var rest: [UInt8] = []
        private var length: UInt64 = 0

        /// Takes the next piece, of any size.
        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            length &+= UInt64(bytes.count)
            var bytes = UnsafeRawBufferPointer(rebasing: bytes[...])
            if !rest.isEmpty {
                let wanted = min(64 - rest.count, bytes.count)
                rest.append(contentsOf: bytes[..<wanted])
                bytes = UnsafeRawBufferPointer(rebasing: bytes[wanted...])
                guard rest.count == 64 else { return }
                let block = rest
                block.withUnsafeBytes { SHA256.compress($0, into: &state) }
                rest = []
            }
            let whole = bytes.count / 64 * 64
            SHA256.compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]), into: &state)
            rest = Array(bytes[whole...])
        }

        /// Takes the next piece, of any size.
        mutating func update(_ data: Data) {
            data.withUnsafeBytes { update($0) }
        }

        /// The digest of all that was taken, as its 32 bytes.
        func digest() -> Data { Data(SHA256.bytes(ended())) }

        /// The digest of all that was taken, as 64 hexadecimal digits.
        func hex() -> String { SHA256.hex(of: ended()) }

        fileprivate func ended() -> [UInt32] {
            var last = self
            let zeros = (119 - rest.count % 64) % 64
            let bits = length &* 8
            let padding =
                [0x80] + [UInt8](repeating: 0, count: zeros)
                + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
            padding.withUnsafeBytes { last.update($0) }
            return last.state
        }
    }

    /// A digest as hexadecimal digits.
    static func text(of digest: Data) -> String {
        digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private static func hex(of state: [UInt32]) -> String {
        state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.utf8.count) + digits
        }.joined()
    }

    /// The keyed digest HMAC-SHA-256 (RFC 2104) as 64 hexadecimal digits.
    static func hex(_ data: some Sequence<UInt8>, key: some Collection<UInt8>) -> String {
        let short = key.count > 64 ? bytes(digest(Array(key))) : Array(key)
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        let inner = digest(block.map { $0 ^ 0x36 } + Array(data))
        return hex(of: digest(block.map { $0 ^ 0x5C } + bytes(inner)))
    }

    private static func bytes(_ state: [UInt32]) -> [UInt8] {
        state.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    /// Takes whole blocks of 64 bytes. The variables of FIPS 180-4 §6.2.2 have its names.
    private static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout [UInt32]) {
        constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
                for start in stride(from: 0, to: blocks.count, by: 64) {
                    schedule(UnsafeRawBufferPointer(rebasing: blocks[start..<(start + 64)]), in: words)
                    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
                    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
                    for round in 0..<64 {
                        let high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                        let first = h &+ high &+ (e & f ^ ~e & g) &+ constants[round] &+ words[round]
                        let low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                        let second = low &+ (a & b ^ a & c ^ b & c)
                        (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
                    }
                    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
                }
            }
        }
    }

    private static func schedule(_ block: UnsafeRawBufferPointer, in words: UnsafeMutableBufferPointer<UInt32>) {
        for index in 0..<16 {
            words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
            let sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
            words[index] = words[index - 16] &+ sigma0 &+ words[index - 7] &+ sigma1
        }
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    // MARK: Constants: the first bits of the fractional parts of the roots of the first primes

    private static let initial = primes.prefix(8).map { fraction(of: Double($0).squareRoot()) }
    private static let constants = primes.map { fraction(of: cbrt(Double($0))) }

    private static let primes = (2...311).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }

    private static func fraction(of root: Double) -> UInt32 {
        UInt32((root - root.rounded(.down)) * 4_294_967_296)
    }
}
