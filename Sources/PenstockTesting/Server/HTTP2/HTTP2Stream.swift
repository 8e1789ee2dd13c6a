#if os(Linux)
    import Foundation
    import PenstockCore

    /// The response of one stream on its way out: its own thread puts in, the connection's takes out.
    final class HTTP2Stream: Sendable {
        struct State: Sendable {
            var outgoing = Data()
            /// Bytes that are no part of the response wait for their turn.
            var hasRaw = false
            /// No more content comes; trailers may.
            var isFinished = false
            var trailers = HTTPFields()
            /// How much of the content that the head told of has not gone out; `nil` where it told nothing.
            var left: Int?
            /// END_STREAM has gone out.
            var isEnded = false
            /// The stream is closed, by whomever.
            var isGone = false
        }

        let id: Int32
        private let state = Locked(State())
        /// Tells of every change; its lock guards nothing else.
        private let condition = NSCondition()

        init(id: Int32) {
            self.id = id
        }

        /// A client that has the content whole may close the stream before its end comes, and has broken nothing off.
        var isWhole: Bool { state.withLock { $0.left.map { $0 <= 0 } ?? false } }

        func change(_ body: @Sendable (inout State) -> Void) {
            state.withLock(body)
            condition.lock()
            condition.broadcast()
            condition.unlock()
        }

        /// Waits for something to become true, or for the stream to be gone.
        ///
        /// - Parameter duration: how long; `nil` means for ever.
        /// - Returns: whether the stream is still there.
        @discardableResult
        func wait(within duration: Duration? = nil, until isThere: @Sendable (State) -> Bool) -> Bool {
            let deadline = duration.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) }
            condition.lock()
            defer { condition.unlock() }
            while true {
                let now = state.withLock { $0 }
                // An end that has gone out closes the stream as well.
                if isThere(now) { return true }
                if now.isGone { return false }
                guard let deadline else {
                    condition.wait()
                    continue
                }
                guard condition.wait(until: deadline) else { return !state.withLock(\.isGone) }
            }
        }

        /// What a DATA frame of the connection takes.
        enum Portion: Sendable {
            case bytes(Data, isLast: Bool)
            case nothingYet
        }

        /// - Returns: the next bytes, and the trailers when they are the last.
        func take(upTo count: Int) -> (Portion, trailers: HTTPFields) {
            let taken = state.withLock { state -> (Portion, trailers: HTTPFields) in
                guard !state.outgoing.isEmpty || state.isFinished else { return (.nothingYet, [:]) }
                let bytes = state.outgoing.prefix(count)
                // A slice: what is left is not copied.
                state.outgoing = state.outgoing.count > count ? state.outgoing.dropFirst(count) : Data()
                state.left = state.left.map { $0 - bytes.count }
                let isLast = state.outgoing.isEmpty && state.isFinished
                return (.bytes(bytes, isLast: isLast), isLast ? state.trailers : [:])
            }
            change { _ in }
            return taken
        }
    }
#endif
