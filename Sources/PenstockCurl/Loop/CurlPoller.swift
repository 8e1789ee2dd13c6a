#if os(Linux)
    import CCurl
    import Foundation

    /// The epoll set, kept lazily. libcurl lets go of a socket after each response and takes it back for the next request, so
    /// changes of interest are batched until the loop sleeps, and only what differs then costs a call to the kernel.
    ///
    /// A socket that libcurl let go of stays registered until an event comes for it or it is closed. That is safe only
    /// for sockets whose closing is seen here (``opened(_:)`` and ``closed(_:)``), because the kernel may give their
    /// number to another socket; all others are removed at once.
    final class CurlPoller {
        private struct Entry {
            var pool: CurlPool?
            var wanted: UInt32 = 0
            var registered: UInt32 = 0
            var isOurs = false
            var isChanged = false

            /// Whether the kernel knows of another interest than this.
            var isStale: Bool { pool != nil && wanted != registered }
        }

        let sockets = CurlSockets()
        private let epoll: Int32
        private let wakeup: Int32
        private static let pause: UInt64 = 10_000_000
        private let isWatchingWakeup: Bool
        /// What the kernel reports. It writes here while the loop's thread sleeps, when the thread of a caller may use the rest.
        private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: mostEvents)
        private static let mostEvents = 512

        /// Whoever drives the loop is alone in touching it, and nothing is called while it is touched that comes back here, so
        /// the checks of exclusive access are left out.
        @exclusivity(unchecked) private var state = State()

        private struct State {
            var entries: [Entry] = []
            /// Descriptors whose interest has changed.
            var changed: [Int32] = []
            var retryMoment = UInt64.max
        }

        init(wakeup: Int32) {
            self.wakeup = wakeup
            events.initialize(repeating: epoll_event(), count: Self.mostEvents)
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: wakeup))
            isWatchingWakeup = epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event) == 0
        }

        deinit {
            if epoll >= 0 { close(epoll) }
            events.deallocate()
        }

        /// When the kernel is to be asked again for what it had no memory for, in nanoseconds; `.max` when for nothing.
        var retryMoment: UInt64 { state.retryMoment }

        /// Whether the kernel gave what was asked for.
        var isUsable: Bool { epoll >= 0 && wakeup >= 0 && isWatchingWakeup }

        // MARK: What libcurl says

        func want(_ descriptor: Int32, _ what: Int32, for pool: CurlPool) {
            guard let index = index(of: descriptor) else { return }
            state.entries[index].pool = what == CURL_POLL_REMOVE ? nil : pool
            state.entries[index].wanted = Self.mask(what)
            if what == CURL_POLL_REMOVE {
                if !state.entries[index].isOurs { forget(descriptor) }
            } else if state.entries[index].isStale, !state.entries[index].isChanged {
                state.entries[index].isChanged = true
                state.changed.append(descriptor)
            }
        }

        func opened(_ descriptor: Int32) {
            guard let index = index(of: descriptor) else { return }
            state.entries[index].registered = 0
            state.entries[index].isOurs = true
        }

        /// Closing takes a socket out of the epoll set by itself.
        func closed(_ descriptor: Int32) {
            sockets.forget(descriptor)
            guard let index = index(of: descriptor) else { return }
            let wasChanged = state.entries[index].isChanged
            state.entries[index] = Entry()
            state.entries[index].isChanged = wasChanged
        }

        // MARK: Waiting

        /// Waits until there is something to do, which ``dispatch(_:wakeup:_:)`` then tells.
        ///
        /// - Parameters:
        ///   - timeout: milliseconds, -1 for ever.
        ///   - busy: for how long it looks again and again before it sleeps, in nanoseconds. 0 by default.
        func wait(_ timeout: Int32, busily busy: UInt64 = 0) -> Int {
            if timeout != 0, busy > 0, let count = lookBusily(busy) { return count }
            return look(timeout)
        }

        private func lookBusily(_ duration: UInt64) -> Int? {
            let end = CurlClock.now() + duration
            repeat {
                let count = look(0)
                if count != 0 { return count }
                // Whoever makes the answer may need this processor.
                sched_yield()
            } while CurlClock.now() < end
            return nil
        }

        private func look(_ timeout: Int32) -> Int {
            Int(epoll_wait(epoll, events, Int32(Self.mostEvents), timeout))
        }

        /// Calls `body` for each of the sockets with something to do.
        func dispatch(_ count: Int, wakeup onWakeup: () -> Void, _ body: (CurlPool, Int32, Int32) -> Void) {
            guard count > 0 else { return }
            for index in 0..<count {
                let event = events[index]
                let descriptor = event.data.fd
                if descriptor == wakeup {
                    onWakeup()
                } else if let pool = state.entries[Int(descriptor)].pool {
                    body(pool, descriptor, Self.selection(event.events))
                } else {
                    forget(descriptor)
                }
            }
        }

        func applyChanges() {
            state.retryMoment = .max
            var refused: [Int32] = []
            for descriptor in state.changed {
                let index = Int(descriptor)
                state.entries[index].isChanged = false
                guard state.entries[index].isStale else { continue }
                if register(descriptor) {
                    state.entries[index].registered = state.entries[index].wanted
                } else {
                    refused.append(descriptor)
                }
            }
            state.changed.removeAll(keepingCapacity: true)
            if !refused.isEmpty { ask(laterFor: refused) }
        }

        private func register(_ descriptor: Int32) -> Bool {
            let entry = state.entries[Int(descriptor)]
            let operation = entry.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
            var event = epoll_event(events: entry.wanted, data: epoll_data_t(fd: descriptor))
            if epoll_ctl(epoll, operation, descriptor, &event) == 0 { return true }
            let other = operation == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
            return epoll_ctl(epoll, other, descriptor, &event) == 0
        }

        private func ask(laterFor refused: [Int32]) {
            for descriptor in refused { state.entries[Int(descriptor)].isChanged = true }
            state.changed = refused
            state.retryMoment = CurlClock.now() + Self.pause
        }

        private func forget(_ descriptor: Int32) {
            guard state.entries[Int(descriptor)].registered != 0 else { return }
            epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
            state.entries[Int(descriptor)].registered = 0
        }

        private func index(of descriptor: Int32) -> Int? {
            guard descriptor >= 0 else { return nil }
            let index = Int(descriptor)
            if index >= state.entries.count {
                let count = max(64, index + 1 - state.entries.count)
                state.entries.append(contentsOf: repeatElement(Entry(), count: count))
            }
            return index
        }

        private static func mask(_ what: Int32) -> UInt32 {
            switch what {
            case CURL_POLL_IN: EPOLLIN.rawValue
            case CURL_POLL_OUT: EPOLLOUT.rawValue
            case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
            default: 0
            }
        }

        private static func selection(_ events: UInt32) -> Int32 {
            var bits: Int32 = 0
            if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { bits |= CURL_CSELECT_IN }
            if events & EPOLLOUT.rawValue != 0 { bits |= CURL_CSELECT_OUT }
            if events & EPOLLERR.rawValue != 0 { bits |= CURL_CSELECT_ERR }
            return bits
        }
    }
#endif
