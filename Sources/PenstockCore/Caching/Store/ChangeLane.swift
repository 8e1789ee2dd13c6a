/// Lets one change after the other through, in the order in which they came.
final class ChangeLane: Sendable {
    private let isTaken = Monitor(false)

    func run<Output>(_ change: () async -> Output) async -> Output {
        await isTaken.wait { isTaken in
            defer { isTaken = true }
            return isTaken ? nil : ()
        }
        defer { isTaken.withLock { $0 = false } }
        return await change()
    }
}
