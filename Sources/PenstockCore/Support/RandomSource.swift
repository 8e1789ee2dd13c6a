/// Where Penstock takes randomness from. Tests give one that repeats itself.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let make: @Sendable () -> UInt64

    /// A source of numbers.
    ///
    /// - Parameter make: gives the next number, evenly spread over all of them; called from any thread.
    public init(_ make: @escaping @Sendable () -> UInt64) {
        self.make = make
    }

    public func next() -> UInt64 { make() }

    /// The machine's own.
    public static let system = RandomSource { UInt64.random(in: .min ... .max) }
}

/// Numbers that follow from one that was drawn before (SplitMix64): for what decides with a lock held, where the app's own source
/// must not be called.
struct DrawnRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ drawn: UInt64) {
        state = drawn
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
