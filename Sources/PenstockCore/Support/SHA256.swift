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
        var state = initial
        let message = padded(data)
        for start in stride(from: 0, to: message.count, by: 64) {
            compress(message[start..<(start + 64)], into: &state)
        }
        return state
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

    private static func padded(_ data: [UInt8]) -> [UInt8] {
        let zeros = (119 - data.count % 64) % 64
        let length = UInt64(data.count) * 8
        return data + [0x80] + [UInt8](repeating: 0, count: zeros)
            + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * UInt64($0))) }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let words = schedule(block)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for round in 0..<64 {
            let high = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let first = h &+ high &+ (e & f ^ ~e & g) &+ constants[round] &+ words[round]
            let low = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let second = low &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        state = zip(state, [a, b, c, d, e, f, g, h]).map { $0 &+ $1 }
    }

    private static func schedule(_ block: ArraySlice<UInt8>) -> [UInt32] {
        var words: [UInt32] = []
        words.reserveCapacity(64)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
            let sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
            words.append(words[index - 16] &+ sigma0 &+ words[index - 7] &+ sigma1)
        }
        return words
    }

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
