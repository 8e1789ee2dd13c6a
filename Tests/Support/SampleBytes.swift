import Foundation

/// Bytes that follow from a seed, so that whoever knows the seed can tell whether they are right.
public func sampleBytes(seed: UInt64, count: Int) -> Data {
    var random = Seeded(seed: seed)
    var bytes = Data(capacity: count + 8)
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return bytes.prefix(count)
}
