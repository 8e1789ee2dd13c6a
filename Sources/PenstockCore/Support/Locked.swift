#if !canImport(Darwin)
    import Foundation

    /// A value that is read and written by one thread at a time.
    ///
    /// The closure given to ``withLock(_:)`` must be short and must not wait, call out to the app, or call C that can
    /// call back. It stands on a POSIX mutex because the thread sanitizer does not see the standard library's `Mutex`
    /// and takes everything behind it for a race. Unchecked because the compiler does not see it either.
    package final class Locked<Value: Sendable>: @unchecked Sendable {
        @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
        @usableFromInline var value: Value

        package init(_ value: Value) {
            self.value = value
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        @inlinable
        package func withLock<Result: Sendable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value)
        }
    }
#endif
