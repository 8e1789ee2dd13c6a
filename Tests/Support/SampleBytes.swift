import Foundation

/// Bytes that follow from a seed, so that whoever knows the seed can tell whether they are right.
public func sampleBytes(seed: UInt64, count: Int) -> Data {
    var random = Seeded(seed: seed)
    var bytes = Data(count: (count + 7) / 8 * 8)
    bytes.withUnsafeMutableBytes { bytes in
        var offset = 0
        // Tests are not optimized, and a plain loop is several times as fast there as what reads better.
        while offset < bytes.count {
            bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
    }
    return bytes.prefix(count)
}
