#if !canImport(Darwin)
    import Synchronization

    /// A value that is read and written by one thread at a time.
    ///
    /// The closure given to ``withLock(_:)`` must be short and must not wait, call out to the app, or call C that can
    /// call back.
    package final class Locked<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        package init(_ value: Value) {
            mutex = Mutex(value)
        }

        package func withLock<Result: Sendable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try mutex.withLock { value throws(Failure) in try body(&value) }
        }
    }
#endif
