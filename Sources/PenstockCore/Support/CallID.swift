/// The number of one call, unique in the process whatever client made it.
public struct CallID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, from 1 on, one more for each call, in the order in which the calls began.
    public let rawValue: UInt64

    private static let last = Locked<UInt64>(0)

    static func next() -> CallID {
        CallID(
            rawValue: last.withLock { value in
                value += 1
                return value
            })
    }

    public static func < (left: CallID, right: CallID) -> Bool {
        left.rawValue < right.rawValue
    }

    public var description: String { "call \(rawValue)" }
}
