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
