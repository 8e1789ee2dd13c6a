// Twice the same: a getter that throws `Failure` makes the compiler crash where that is `Never` (Swift 6.3).

extension Task where Failure == Never {
    /// The value of a task that a test has begun. The task is cancelled with the test, as by a time limit, which ends nothing
    /// that waits for another task.
    public var valueOfTest: Success {
        get async {
            await withTaskCancellationHandler {
                await value
            } onCancel: {
                cancel()
            }
        }
    }
}

extension Task where Failure == any Error {
    /// The value of a task that a test has begun. The task is cancelled with the test, as by a time limit, which ends nothing
    /// that waits for another task.
    public var valueOfTest: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}
