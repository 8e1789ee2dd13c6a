#if !canImport(Darwin)
    import Foundation

    /// A value that is read and written by one thread at a time. Copies are the same value.
    ///
    /// The closure given to ``withLock(_:)`` must be short and must not wait, call out to the app, or call C that can
    /// call back. It stands on a POSIX mutex because the thread sanitizer does not see the standard library's `Mutex`
    /// and takes everything behind it for a race. Unchecked because the compiler does not see it either.
    package struct Locked<Value: Sendable>: @unchecked Sendable {
        /// The value and its mutex in one block of memory, in which both keep their places.
        @usableFromInline let buffer: ManagedBuffer<Value, pthread_mutex_t>

        /// - Parameter value: made where it is to stay, and not copied there.
        package init(_ value: @autoclosure () -> Value) {
            buffer = LockedBuffer<Value>.create(minimumCapacity: 1) { _ in value() }
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                Self.prepare(mutex)
            }
        }

        /// A thread that finds the lock taken tries again for a moment before it sleeps, since the work under the lock is
        /// shorter than a sleep and a wake-up.
        private static func prepare(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
        }

        @inlinable
        package func withLock<Result: Sendable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try buffer.withUnsafeMutablePointers { (value, mutex) throws(Failure) in
                pthread_mutex_lock(mutex)
                defer { pthread_mutex_unlock(mutex) }
                return try body(&value.pointee)
            }
        }
    }

    private final class LockedBuffer<Value>: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }
#endif

/// What a lock protects is not read without it, and is not shown: cookies, stored responses, calls under way.
extension Locked: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
