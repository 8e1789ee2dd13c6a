#if os(Linux)
    import PenstockCore

    /// Threads that wait for libcurl to connect, so many at a time: each waits for a peer and does next to nothing. No origin
    /// has more than its share of them, so that one that says nothing holds up nobody who goes elsewhere.
    final class CurlConnectors: Sendable {
        static let shared = CurlConnectors()
        private static let most = 128
        private static let mostToOne = 8

        private struct Item: Sendable {
            let number: UInt64
            let origin: HTTPURL.Origin
            let body: @Sendable () -> Void
        }

        private struct State: Sendable {
            var waiting: [Item] = []
            var last: UInt64 = 0
            var threads = 0
            /// How many are at work for each.
            var working: [HTTPURL.Origin: Int] = [:]

            func mayGo(to origin: HTTPURL.Origin) -> Bool { working[origin, default: 0] < CurlConnectors.mostToOne }

            /// The first that may go. Who has had a turn makes room for it.
            mutating func next(after done: HTTPURL.Origin?) -> Item? {
                if let done, let count = working[done] { working[done] = count > 1 ? count - 1 : nil }
                guard let index = waiting.firstIndex(where: { mayGo(to: $0.origin) }) else { return nil }
                let item = waiting.remove(at: index)
                working[item.origin, default: 0] += 1
                return item
            }
        }

        private let state = Locked(State())

        /// - Returns: `false` where the system gives no thread and none is running.
        func run(to origin: HTTPURL.Origin, _ body: @escaping @Sendable () -> Void) -> Bool {
            let (number, starts) = state.withLock { state in
                state.last += 1
                state.waiting.append(Item(number: state.last, origin: origin, body: body))
                let starts = state.threads < Self.most && state.mayGo(to: origin)
                if starts { state.threads += 1 }
                return (state.last, starts)
            }
            guard starts, !SystemThread.start("penstock.dial", { [self] in work() }) else { return true }
            return state.withLock { state in
                state.threads -= 1
                guard state.threads == 0 else { return true }
                state.waiting.removeAll { $0.number == number }
                return false
            }
        }

        private func work() {
            var done: HTTPURL.Origin?
            while true {
                let item = state.withLock { [done] state in
                    let item = state.next(after: done)
                    if item == nil { state.threads -= 1 }
                    return item
                }
                guard let item else { return }
                item.body()
                done = item.origin
            }
        }
    }

    /// How long connecting may still take, and what ends it. It stands still while a connection waits for its turn.
    struct ConnectClock: Sendable {
        /// `nil` for as long as it likes.
        private(set) var left: Duration?
        private var since: ContinuousClock.Instant?
        private var alarm: Task<Void, any Error>?

        init(left: Duration?) {
            self.left = left
        }

        /// - Parameter ring: ends the connection after so long.
        mutating func run(_ ring: (Duration) -> Task<Void, any Error>) {
            guard alarm == nil, let left else { return }
            since = .now
            alarm = ring(left)
        }

        mutating func stop() {
            alarm?.cancel()
            alarm = nil
            guard let left, let since else { return }
            self.left = max(.zero, left - (.now - since))
            self.since = nil
        }
    }
#endif
