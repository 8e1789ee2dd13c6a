#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The mailbox of the loop, by which every other thread speaks to it: a queue that the loop empties in one go, and an
    /// eventfd that is written only when the loop sleeps.
    final class CurlMailbox: Sendable {
        enum Message: Sendable {
            case start(CurlTransfer)
            case cancel(CurlTransfer)
            case suspend(CurlTransfer)
            case resume(CurlTransfer)
            case chunk(CurlTransfer, CurlStreamSource.Event)
            case piece(CurlTransfer, CurlFileSource.Event)
            case proceed(CurlTransfer)
            case skip(CurlTransfer)
            case found(CurlTransfer, HostResult)
            /// No connection of this identity is used any more.
            case forget(String)
            case stop
        }

        private struct State {
            var messages: [Message] = []
            var isAsleep = false
            var isClosed = false
        }

        private let state = Locked(State())
        /// Readable while the loop is to wake. Closed only when nobody can post any more.
        let wakeup: Int32

        init() {
            wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        }

        deinit {
            if wakeup >= 0 { Glibc.close(wakeup) }
        }

        /// - Returns: `false` when the loop takes no messages any more.
        @discardableResult
        func post(_ message: Message) -> Bool {
            let (isTaken, mustWake) = state.withLock { state in
                guard !state.isClosed else { return (false, false) }
                state.messages.append(message)
                defer { state.isAsleep = false }
                return (true, state.isAsleep)
            }
            if mustWake { eventfd_write(wakeup, 1) }
            return isTaken
        }

        /// - Parameter spare: an empty array whose storage is used for what comes next.
        func take(leaving spare: [Message]) -> [Message] {
            state.withLock { state in
                guard !state.messages.isEmpty else { return [] }
                let messages = state.messages
                state.messages = spare
                return messages
            }
        }

        /// Marks the loop as asleep, so that the next message wakes it.
        ///
        /// - Returns: `false` when a message has come already.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.messages.isEmpty
                return state.isAsleep
            }
        }

        func wakeUp() {
            state.withLock { $0.isAsleep = false }
        }

        /// Wakes the loop though there is no message.
        func wakeLoop() {
            state.withLock { $0.isAsleep = false }
            eventfd_write(wakeup, 1)
        }

        /// - Parameter timeout: milliseconds, -1 for ever.
        func waitForWakeup(_ timeout: Int32) {
            var entry = pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, timeout)
        }

        func drainWakeup() {
            var count: eventfd_t = 0
            eventfd_read(wakeup, &count)
        }

        /// Refuses messages from now on.
        ///
        /// - Returns: those that had come.
        func close() -> [Message] {
            state.withLock { state in
                state.isClosed = true
                defer { state.messages = [] }
                return state.messages
            }
        }
    }
#endif
