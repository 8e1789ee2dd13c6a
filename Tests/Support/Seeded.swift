import Foundation

/// A generator whose numbers repeat (SplitMix64), so that a failure can be run again from its seed.
public struct Seeded: RandomNumberGenerator, Sendable {
    public let seed: UInt64
    private var state: UInt64

    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// One that starts where `PENSTOCK_SEED` says, or anywhere, and prints where that is.
    ///
    /// - Parameter name: what the numbers are for.
    public static func printed(_ name: String) -> Seeded {
        let seed = ProcessInfo.processInfo.environment["PENSTOCK_SEED"].flatMap { UInt64($0) }
        let random = Seeded(seed: seed ?? .random(in: 1...1_000_000))
        print("\(name): PENSTOCK_SEED=\(random.seed)")
        return random
    }
}
