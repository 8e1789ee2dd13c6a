#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore
    import Synchronization

    /// What waits for its socket.
    protocol CurlPolled: ControlledExchange {
        /// The socket has something, or room. On the poller's thread.
        func becameReady()
    }

    /// One thread that waits in epoll for the sockets of all wires; it begins with the first that has to wait.
    final class CurlWirePoller: Sendable {
        private struct Watched: Sendable {
            weak let wire: (any CurlPolled)?
            let socket: Int32
        }

        private struct State: Sendable {
            var wires: [UInt64: Watched] = [:]
            var last: UInt64 = 0
            var isRunning = false
            var isStopped = false
        }

        private let state = Locked(State())
        private let epoll: Int32
        private let wakeup: Int32
        /// Whether readers may wait by themselves, and whether one does.
        private let readersMayWait: Bool
        private let isAwaited = Atomic<Bool>(false)
        /// The number that no wire has.
        private static let ownNumber: UInt64 = 0

        /// - Parameter readersMayWait: whether ``waitOnCaller(for:_:)`` waits at all.
        init(readersMayWait: Bool) {
            self.readersMayWait = readersMayWait
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
            var event = epoll_event()
            event.events = EPOLLIN.rawValue
            event.data.u64 = Self.ownNumber
            epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event)
        }

        deinit {
            Glibc.close(epoll)
            Glibc.close(wakeup)
        }

        var isStopped: Bool { state.withLock { $0.isStopped } }
        var isUsable: Bool { epoll >= 0 && wakeup >= 0 }

        func nextNumber() -> UInt64 {
            state.withLock { state in
                state.last += 1
                return state.last
            }
        }

        /// Calls the wire once when its socket is ready.
        func watch(_ wire: any CurlPolled, _ number: UInt64, _ socket: Int32, reads: Bool, writes: Bool) {
            let starts = state.withLock { state -> Bool in
                let isKnown = state.wires.updateValue(Watched(wire: wire, socket: socket), forKey: number) != nil
                var event = epoll_event()
                event.events = EPOLLONESHOT.rawValue
                if reads { event.events |= EPOLLIN.rawValue }
                if writes { event.events |= EPOLLOUT.rawValue }
                event.data.u64 = number
                epoll_ctl(epoll, isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event)
                defer { state.isRunning = true }
                return !state.isRunning && !state.isStopped
            }
            if starts, !SystemThread.start("penstock.wires", { [self] in run() }) { wire.cancel() }
        }

        /// Waits for a socket on the thread of its reader. No more than one does so at a time: the others go on with the rest of
        /// the app's tasks.
        ///
        /// It looks again and again where another processor can make the answer meanwhile: one that sleeps and wakes takes longer
        /// than a peer on the same machine. Otherwise it sleeps in the kernel.
        ///
        /// - Parameter duration: at most, in nanoseconds.
        /// - Returns: whether something has come; `nil`, at once, where the reader is not to wait.
        func waitOnCaller(for socket: Int32, _ duration: UInt64) -> Bool? {
            guard readersMayWait, !isAwaited.exchange(true, ordering: .relaxed) else { return nil }
            defer { isAwaited.store(false, ordering: .relaxed) }
            guard CurlCallerDriving.hasOtherProcessors else { return ccurl_wait_to_read(socket, Int(duration)) != 0 }
            let end = CurlClock.now() + duration
            repeat {
                if ccurl_wait_to_read(socket, 0) != 0 { return true }
                sched_yield()
            } while CurlClock.now() < end
            return false
        }

        /// Its socket is about to be closed.
        func forget(_ number: UInt64) {
            state.withLock { state in
                guard let watched = state.wires.removeValue(forKey: number) else { return }
                epoll_ctl(epoll, EPOLL_CTL_DEL, watched.socket, nil)
            }
        }

        /// Ends every wire, and the thread.
        func stop() {
            let wires = state.withLock { state in
                state.isStopped = true
                return state.wires.values.compactMap(\.wire)
            }
            for wire in wires { wire.cancel() }
            eventfd_write(wakeup, 1)
        }

        private func run() {
            var events = [epoll_event](repeating: epoll_event(), count: 64)
            while !state.withLock({ $0.isStopped }) {
                let count = epoll_wait(epoll, &events, Int32(events.count), -1)
                guard count >= 0 || errno == EINTR else { return }
                for event in events.prefix(Int(max(count, 0))) where event.data.u64 != Self.ownNumber {
                    state.withLock { $0.wires[event.data.u64]?.wire }?.becameReady()
                }
            }
        }
    }
#endif
