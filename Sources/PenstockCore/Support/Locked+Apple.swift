#if canImport(Darwin)
    import os

    /// A value that is read and written by one thread at a time: the form for systems older than the standard
    /// library's `Mutex`. Copies are the same value.
    package struct Locked<Value: Sendable>: Sendable {
        private let lock: OSAllocatedUnfairLock<Value>

        package init(_ value: Value) {
            lock = OSAllocatedUnfairLock(initialState: value)
        }

        package func withLock<Output: Sendable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Output
        ) throws(Failure) -> Output {
            let outcome: Result<Output, Failure> = lock.withLockUnchecked { value in
                do throws(Failure) { return .success(try body(&value)) } catch { return .failure(error) }
            }
            return try outcome.get()
        }
    }
#endif
