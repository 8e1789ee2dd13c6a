/// What the package uses of Apple's `os`, with Apple's documented signatures and without bodies that do anything.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private let state: State

    public init(initialState: State) where State: Sendable {
        state = initialState
    }

    public func withLockUnchecked<Output>(_ body: (inout State) throws -> Output) rethrows -> Output {
        var state = state
        return try body(&state)
    }
}
