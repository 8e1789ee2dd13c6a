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
    /// brings the loop's thread back. Where they were shorter than ``haste``, it does not even sleep for so long.
    struct CurlLead {
        /// Exchanges under way beside which a caller still begins one itself: with more, the loop's thread is awake and
        /// takes many at a time.
        static let maxOthers = 1
        /// In nanoseconds.
        static let patience: UInt64 = 1_000_000
        /// For how long a caller that waits looks again and again before it sleeps, in nanoseconds: a processor that sleeps
        /// and wakes takes longer than a peer on the same machine, and finds its caches empty.
        static let haste: UInt64 = 200_000
        private static let hasOtherProcessors = ProcessInfo.processInfo.activeProcessorCount > 1
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
        /// Those in a row that took less than ``haste``.
        private var quickOnes = 0
        private var lastBegin: UInt64 = 0
        private let hasOtherProcessors: Bool

        init(hasOtherProcessors: Bool = Self.hasOtherProcessors) {
            self.hasOtherProcessors = hasOtherProcessors
        }

        var isWorthwhile: Bool { shortOnes >= Self.needed }

        /// Whether the answer is likely to come before a processor would be asleep, and another one can make it.
        var isImminent: Bool { quickOnes >= Self.needed && hasOtherProcessors }

        mutating func hasBegun(_ now: UInt64) {
            lastBegin = now
        }

        mutating func hasEnded(after duration: UInt64, others: Int) {
            quickOnes = others == 0 && duration < Self.haste ? min(quickOnes + 1, Self.needed) : 0
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
