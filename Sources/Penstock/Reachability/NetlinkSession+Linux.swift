#if os(Linux)
    import PenstockCore

    /// Asks the kernel for all that is there, and again whenever it says that something has changed: a state machine without
    /// a socket.
    ///
    /// What the kernel says of a change is taken as a hint alone. It removes routes without a word when an interface goes
    /// down, and drops messages when they are not read in time; a dump is always right.
    package struct NetlinkSession: Sendable {
        package enum Action: Hashable, Sendable {
            /// Write this to the socket.
            case send([UInt8])
            case publish(NetworkStatus)
            /// Call ``NetlinkSession/wake(at:)`` after this long.
            case wake(after: Duration)
        }

        private enum State: Sendable {
            case idle
            /// A dump is to begin, and somebody was asked to say when.
            case waiting
            case dumping(Dump)
        }

        private struct Dump: Sendable {
            /// What is asked for now, of ``NetlinkSession/requests``.
            var step = 0
            var sequence: UInt32
            var table: NetworkTable
            let began: Duration
            /// Whether something has changed since it began.
            var isOutdated = false
        }

        private static let requests = [Netlink.getLink, Netlink.getAddress, Netlink.getRoute]
        /// A storm of changes costs ten dumps a second at most.
        package static let pause: Duration = .milliseconds(100)
        /// The kernel answers within milliseconds. A dump whose end was lost is given up after this.
        package static let patience: Duration = .seconds(5)

        private var state = State.idle
        private var sequence: UInt32 = 0
        private var lastDump: Duration?
        private let isWireless: @Sendable (String) -> Bool

        package init(isWireless: @escaping @Sendable (String) -> Bool) {
            self.isWireless = isWireless
        }

        /// Begins with a dump.
        package mutating func start(at now: Duration) -> [Action] { beginDump(at: now) }

        /// A datagram has come from the kernel.
        package mutating func receive(_ datagram: [UInt8], at now: Duration) -> [Action] {
            Netlink.messages(in: datagram).flatMap { take($0, now) }
        }

        /// Something was lost: messages that were not read in time, or one that was too long.
        package mutating func lost(at now: Duration) -> [Action] { changed(at: now) }

        /// The time has come that was asked for.
        package mutating func wake(at now: Duration) -> [Action] {
            switch state {
            case .idle: []
            case .waiting: schedule(at: now)
            case .dumping(let dump): now - dump.began < Self.patience ? [] : beginDump(at: now)
            }
        }

        private mutating func take(_ message: NetlinkMessage, _ now: Duration) -> [Action] {
            guard case .dumping(var dump) = state, message.sequence == dump.sequence else {
                return Netlink.changes.contains(message.type) ? changed(at: now) : []
            }
            if message.flags & Netlink.isInterruptedDump != 0 { dump.isOutdated = true }
            switch message.type {
            case Netlink.done: return advance(dump, now)
            // The kernel refuses: because it is busy, for one.
            case Netlink.error: return schedule(at: now)
            default:
                dump.table.take(message)
                state = .dumping(dump)
                return []
            }
        }

        private mutating func changed(at now: Duration) -> [Action] {
            switch state {
            case .waiting: return []
            case .idle: return schedule(at: now)
            case .dumping(var dump):
                guard now - dump.began < Self.patience else { return beginDump(at: now) }
                dump.isOutdated = true
                state = .dumping(dump)
                return []
            }
        }

        private mutating func advance(_ dump: Dump, _ now: Duration) -> [Action] {
            var dump = dump
            dump.step += 1
            guard dump.step == Self.requests.count else {
                dump.sequence = nextSequence()
                state = .dumping(dump)
                return [request(dump)]
            }
            state = .idle
            // What has changed meanwhile may be half in it.
            if dump.isOutdated { return schedule(at: now) }
            return [.publish(dump.table.status)]
        }

        private mutating func schedule(at now: Duration) -> [Action] {
            let wait = lastDump.map { $0 + Self.pause - now } ?? .zero
            guard wait > .zero else { return beginDump(at: now) }
            state = .waiting
            return [.wake(after: wait)]
        }

        private mutating func beginDump(at now: Duration) -> [Action] {
            lastDump = now
            let dump = Dump(sequence: nextSequence(), table: NetworkTable(isWireless: isWireless), began: now)
            state = .dumping(dump)
            return [request(dump), .wake(after: Self.patience)]
        }

        private func request(_ dump: Dump) -> Action {
            .send(Netlink.dumpRequest(Self.requests[dump.step], sequence: dump.sequence))
        }

        /// Never 0, which is what the kernel has in messages that nobody asked for.
        private mutating func nextSequence() -> UInt32 {
            sequence = max(1, sequence &+ 1)
            return sequence
        }
    }
#endif
