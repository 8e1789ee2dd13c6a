/// The checksum of rows and the hash of keys: XXH64, as its specification defines it (xxHash, version 0.1.1).
///
/// Its 64 bits let one in 1.8 × 10¹⁹ random changes pass, where the 32 bits of a CRC would let pass one in four thousand
/// million, too many for a file of a million rows that is looked at for years. It runs at the speed of memory, so that it
/// costs a read next to nothing. It guards against broken disks, not against somebody who can write to the file.
enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of `bytes`; another seed makes another function.
    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            hash = stripes(bytes, seed, &offset)
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        return avalanche(tail(bytes, offset, hash))
    }

    static func hash(_ text: String, seed: UInt64 = 0) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0), seed: seed) }
    }

    /// Four lanes of eight bytes each, as far as there are whole stripes of them.
    private static func stripes(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64, _ offset: inout Int) -> UInt64 {
        var lane1 = seed &+ prime1 &+ prime2
        var lane2 = seed &+ prime2
        var lane3 = seed
        var lane4 = seed &- prime1
        let end = bytes.count - 32
        while offset <= end {
            lane1 = round(lane1, word(bytes, offset))
            lane2 = round(lane2, word(bytes, offset &+ 8))
            lane3 = round(lane3, word(bytes, offset &+ 16))
            lane4 = round(lane4, word(bytes, offset &+ 24))
            offset &+= 32
        }
        var hash = rotated(lane1, 1) &+ rotated(lane2, 7) &+ rotated(lane3, 12) &+ rotated(lane4, 18)
        hash = merged(hash, lane1)
        hash = merged(hash, lane2)
        hash = merged(hash, lane3)
        return merged(hash, lane4)
    }

    private static func tail(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ hash: UInt64) -> UInt64 {
        var hash = hash
        var offset = start
        while offset &+ 8 <= bytes.count {
            hash = rotated(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset &+= 8
        }
        if offset &+ 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            hash = rotated(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
            offset &+= 4
        }
        while offset < bytes.count {
            hash = rotated(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset &+= 1
        }
        return hash
    }

    private static func avalanche(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotated(lane &+ word &* prime2, 31) &* prime1
    }

    private static func merged(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value &<< bits | value &>> (64 &- bits)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
