#if os(Linux)
    import Foundation

    /// Held by whoever drives the loop. Unchecked because it is nothing but a POSIX mutex, which lives as long as this.
    final class CurlTurn: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        func take() {
            pthread_mutex_lock(mutex)
        }

        /// - Returns: `false`, at once, while another has it.
        func tryTake() -> Bool {
            pthread_mutex_trylock(mutex) == 0
        }

        func leave() {
            pthread_mutex_unlock(mutex)
        }
    }

    /// Whether a caller's thread is better than the loop's own at driving the only exchange there is.
    ///
    /// A peer on the same machine or in the same rack answers sooner than two threads can hand an exchange to each other
    /// and back. Where several lone exchanges in a row were that short, the loop's thread steps back, and the thread of the
    /// caller waits for the answer itself, for ``patience`` at most. One that takes longer, or a second one beside it,
    /// brings the loop's thread back.
    struct CurlLead {
        /// Exchanges under way beside which a caller still begins one itself: with more, the loop's thread is awake and
        /// takes many at a time.
        static let maxOthers = 1
        /// In nanoseconds.
        static let patience: UInt64 = 1_000_000
        private static let needed = 16
        private static let backOff = -256
        /// How long the loop's thread sleeps at most while calls come: an exchange that a caller began then seldom has to
        /// wake it for its time-outs.
        private static let lull: UInt64 = 5_000_000_000

        /// Whether the thread has stepped back.
        var isThreadParked = false
        /// When the thread wakes by itself, in nanoseconds.
        var sleepsUntil: UInt64 = 0
        private var shortOnes = 0
        private var lastBegin: UInt64 = 0

        var isWorthwhile: Bool { shortOnes >= Self.needed }

        mutating func hasBegun(_ now: UInt64) {
            lastBegin = now
        }

        mutating func hasEnded(after duration: UInt64, others: Int) {
            guard others == 0, duration < Self.patience else { return shortOnes = min(shortOnes, 0) }
            shortOnes = min(shortOnes + 1, Self.needed)
        }

        /// An exchange took longer than it was worth waiting for.
        mutating func giveUp() {
            shortOnes = Self.backOff
        }

        func nextLook(_ now: UInt64) -> UInt64 {
            lastBegin > 0 && now - min(now, lastBegin) < Self.lull ? now + Self.lull : .max
        }
    }
#endif
