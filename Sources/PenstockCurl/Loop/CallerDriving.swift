#if os(Linux)
    import Foundation
    import PenstockCore
    import Synchronization

    // A caller's thread may drive the event loop for a moment, in place of the loop's own thread. All that this takes stands in
    // this file: the lock that says who drives, the rule that says when it is worth it, and the loop's part of it.
    // ``CurlTransport/Configuration/drivesOnCallersThreads`` switches it off; Documentation/Performance.md has its figures.

    /// The lock of whoever drives the loop. Unchecked because it is nothing but a POSIX mutex, which lives as long as this.
    ///
    /// The loop's own thread goes first. A POSIX mutex goes to whoever asks when it is free, and readers of several fast streams
    /// ask without a pause: the loop's thread, which alone looks at the sockets, was seen to wait for it for many milliseconds.
    final class CurlLoopLock: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let awaited = Atomic<Bool>(false)

        init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Whether the loop's thread waits for it.
        var isAwaited: Bool { awaited.load(ordering: .relaxed) }

        /// Takes the lock for the loop's own thread, which waits until it has it.
        func lock() {
            if pthread_mutex_trylock(mutex) == 0 { return }
            awaited.store(true, ordering: .relaxed)
            pthread_mutex_lock(mutex)
            awaited.store(false, ordering: .relaxed)
        }

        /// Takes the lock for a caller's thread, which never waits for it.
        ///
        /// - Returns: `false`, at once, while another has it or the loop's thread waits for it.
        func tryLock() -> Bool {
            !isAwaited && pthread_mutex_trylock(mutex) == 0
        }

        func unlock() {
            pthread_mutex_unlock(mutex)
        }
    }

    /// Decides whether a caller's thread is better than the loop's own at driving the only transfer there is.
    ///
    /// A peer on the same machine or in the same rack answers sooner than two threads can hand a transfer to each other and
    /// back. After sixteen lone transfers in a row that were that short, the loop's thread steps back, and the thread of the
    /// caller waits for the answer itself, for ``longestWait`` at most. A transfer that takes longer, or a second one beside it,
    /// brings the loop's thread back. Where the transfers took less than ``longestSpin``, the caller does not even sleep for so
    /// long: it polls.
    struct CurlCallerDriving {
        /// Transfers under way beside which a caller still begins one itself. With more, the loop's thread is awake and takes
        /// many at a time.
        static let mostOthers = 1
        /// How long a caller's thread waits for its answer, in nanoseconds.
        static let longestWait: UInt64 = 1_000_000
        /// How long a caller that waits polls before it sleeps, in nanoseconds. A processor that sleeps and wakes takes
        /// longer than a peer on the same machine, and finds its caches empty.
        static let longestSpin: UInt64 = 200_000
        static let hasOtherProcessors = ProcessInfo.processInfo.activeProcessorCount > 1
        private static let needed = 16
        /// Where the count of short transfers begins after one for which waiting was in vain.
        private static let backOffCount = -256
        /// How long the loop's thread sleeps at most while calls come, in nanoseconds. A transfer that a caller began then
        /// seldom has to wake it for its time-outs.
        private static let lull: UInt64 = 5_000_000_000

        /// Whether the thread has stepped back.
        var isThreadParked = false
        /// When the thread wakes by itself, in nanoseconds.
        var sleepsUntil: UInt64 = 0
        /// Transfers in a row that took less than ``longestWait``.
        private var shortOnes = 0
        /// Transfers in a row that took less than ``longestSpin``.
        private var quickOnes = 0
        private var lastBegin: UInt64 = 0
        private let isAllowed: Bool
        private let hasOtherProcessors: Bool

        init(isAllowed: Bool = true, hasOtherProcessors: Bool = Self.hasOtherProcessors) {
            self.isAllowed = isAllowed
            self.hasOtherProcessors = hasOtherProcessors
        }

        /// Whether the loop's thread is to step back.
        var isWorthwhile: Bool { isAllowed && shortOnes >= Self.needed }

        /// Whether the answer is likely to come before a processor would be asleep, and another one can make it.
        var isImminent: Bool { isAllowed && quickOnes >= Self.needed && hasOtherProcessors }

        mutating func noteBegin(_ now: UInt64) {
            lastBegin = now
        }

        /// - Parameters:
        ///   - duration: of the transfer that ended, in nanoseconds.
        ///   - others: transfers that are still under way.
        mutating func noteEnd(after duration: UInt64, others: Int) {
            quickOnes = others == 0 && duration < Self.longestSpin ? min(quickOnes + 1, Self.needed) : 0
            guard others == 0, duration < Self.longestWait else { return shortOnes = min(shortOnes, 0) }
            shortOnes = min(shortOnes + 1, Self.needed)
        }

        /// A transfer took longer than it was worth waiting for.
        mutating func backOff() {
            shortOnes = Self.backOffCount
        }

        /// When the loop's thread is to look again, in nanoseconds; `.max` where nothing was begun lately.
        func nextLook(_ now: UInt64) -> UInt64 {
            lastBegin > 0 && now - min(now, lastBegin) < Self.lull ? now + Self.lull : .max
        }
    }

    // MARK: The loop's part

    extension CurlLoop {
        private var callersMayDrive: Bool { configuration.drivesOnCallersThreads }

        /// Begins a transfer, on the caller's own thread where that is free to do so: handing it to the loop's thread and back
        /// takes longer than the rest of a small transfer.
        ///
        /// - Returns: `false` when the loop takes no more transfers.
        func perform(_ transfer: CurlTransfer) -> Bool {
            guard callersMayDrive, lock.tryLock() else { return mailbox.post(.start(transfer)) }
            defer { lock.unlock() }
            guard !state.isStopping, state.deadlines.count <= CurlCallerDriving.mostOthers else {
                return mailbox.post(.start(transfer))
            }
            state.now = CurlClock.now()
            let isAlone = state.deadlines.isEmpty
            begin(transfer)
            serve()
            if isAlone, state.driving.isThreadParked { drive(transfer) }
            handBack()
            return true
        }

        /// The reader of a stream has room again, and fills it itself where nobody drives the loop.
        func proceed(_ transfer: CurlTransfer) {
            guard callersMayDrive, lock.tryLock() else { return _ = mailbox.post(.proceed(transfer)) }
            defer { lock.unlock() }
            guard !state.isStopping else { return }
            state.now = CurlClock.now()
            goOn(transfer)
            serve()
            handBack()
        }

        /// Tells the kernel what has changed, and wakes the loop's thread where something is due before it wakes by itself.
        private func handBack() {
            poller.applyChanges()
            if nextMoment < state.driving.sleepsUntil { mailbox.wakeLoop() }
        }

        /// Stays with the only transfer there is, for as long as such transfers took lately.
        private func drive(_ transfer: CurlTransfer) {
            let limit = now + CurlCallerDriving.longestWait
            while transfer.isUnderWay, state.deadlines.count == 1, now < limit {
                poller.applyChanges()
                let spin = state.driving.isImminent ? CurlCallerDriving.longestSpin : 0
                let count = poller.wait(mailbox.fallAsleep() ? 1 : 0, busily: spin)
                wakeUp(count)
                handleMessages()
                serve()
            }
            let isOver = state.deadlines.isEmpty && !state.isStopping && mailbox.fallAsleep()
            if isOver { return }
            if transfer.isUnderWay { state.driving.backOff() }
            mailbox.wakeLoop()
        }

        /// What the loop's thread does meanwhile: it sleeps, where callers do not wake it, until one has to.
        func park() {
            poller.applyChanges()
            guard mailbox.fallAsleep() else { return mailbox.wakeUp() }
            let timeout = timeout()
            state.driving.isThreadParked = true
            lock.unlock()
            mailbox.waitForWakeup(timeout)
            lock.lock()
            state.driving.isThreadParked = false
            mailbox.drainWakeup()
            mailbox.wakeUp()
            state.now = CurlClock.now()
        }
    }
#endif
