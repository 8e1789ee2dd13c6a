/// The calls under way, by number.
final class CallTable: Sendable {
    private let calls = Locked<[CallID: CallContext]>([:])

    var count: Int { calls.withLock(\.count) }

    func add(_ call: CallContext) {
        calls.withLock { $0[call.id] = call }
    }

    func remove(_ call: CallContext) {
        calls.withLock { _ = $0.removeValue(forKey: call.id) }
    }

    /// Cancels outside the lock, since cancelling reaches into transports.
    func cancel(_ reason: CallContext.Cancellation = .requested, where matches: @Sendable (CallContext) -> Bool) {
        let chosen = calls.withLock { $0.values.filter(matches) }
        for call in chosen { call.cancel(reason) }
    }
}
