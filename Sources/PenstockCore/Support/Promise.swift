/// A value that one task waits for. The first that is given counts; whoever gives a later one gives it to nobody.
final class Promise<Value: Sendable>: Sendable {
    private enum Outcome: Sendable {
        case kept(Value)
        case broken
    }

    private let outcome = Monitor<Outcome?>(nil)

    /// Gives the value.
    func keep(_ value: Value) {
        settle(.kept(value))
    }

    /// Ends the wait without a value.
    func abandon() {
        settle(.broken)
    }

    /// The value; `nil` where the wait was ended first. To be asked for once.
    func value() async -> Value? {
        switch await outcome.wait(for: { $0 }) {
        case .kept(let value): value
        case .broken: nil
        }
    }

    private func settle(_ new: Outcome) {
        outcome.withLock { if $0 == nil { $0 = new } }
    }
}
