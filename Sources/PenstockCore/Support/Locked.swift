#if !canImport(Darwin)
    import Foundation

    /// A value that is read and written by one thread at a time.
    ///
    /// The closure given to ``withLock(_:)`` must be short and must not wait, call out to the app, or call C that can
    /// call back. The lock is the system's and not the standard library's, whose `Mutex` the thread sanitizer cannot see.
    ///
    /// `@unchecked Sendable` is safe: the value is touched only while the mutex is held.
    package final class Locked<Value: Sendable>: @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        package init(_ value: Value) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            self.value = .allocate(capacity: 1)
            self.value.initialize(to: value)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        package func withLock<Result: Sendable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#endif
