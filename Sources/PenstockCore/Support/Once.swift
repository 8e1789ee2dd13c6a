/// A value that is made when it is first asked for, and shared by the copies of whoever holds this.
///
/// Unchecked because the value is touched with a lock held. The lock is one of a few that all share: a lock of its own
/// would cost more than what is saved by not making the value.
package final class Once<Value: Sendable>: @unchecked Sendable {
    /// The value in an object of its own: letting go of an optional of a type that is not known takes looking that type up, also
    /// where nothing was made.
    private final class Made: Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var made: Made?

    package init() {}

    /// - Parameter make: called once, or more often when several threads ask at the same time, of whose values the first is
    ///   everybody's. When it throws there is no value, and it is called again.
    package func value<Failure: Error>(_ make: () throws(Failure) -> Value) throws(Failure) -> Value {
        let lock = OnceLocks.lock(of: ObjectIdentifier(self))
        if let made = lock.withLock({ _ in made }) { return made.value }
        let new = Made(try make())
        let kept = lock.withLock { _ in
            let first = made ?? new
            made = first
            return first
        }
        return kept.value
    }
}

private enum OnceLocks {
    /// The locks, of a byte each: nothing at all has no place of its own, and the thread sanitizer takes its neighbour for it.
    private static let all = (0..<16).map { _ in Locked<UInt8>(0) }

    static func lock(of object: ObjectIdentifier) -> Locked<UInt8> {
        // Objects stand at multiples of 16.
        all[Int((UInt(bitPattern: object) >> 4) % 16)]
    }
}

extension Once: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
