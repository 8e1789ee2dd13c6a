#if os(Linux)
    import Foundation
    import PenstockCore

    /// Looks names up where the client's own resolver says, and where that leaves it to the system, there.
    struct ClientFinder: HostFinder {
        let resolver: HostResolver
        let port: Int
        let system: any HostFinder
        /// Called before the addresses are handed over, where the resolver has chosen them.
        var chose: @Sendable () -> Void = {}

        func lookUp(_ name: String, _ completion: @escaping HostCompletion) -> any HostLookup {
            let lookup = ClientLookup()
            lookup.begin {
                let addresses = await resolver.addresses(of: name, port: port)
                guard let addresses else { return completion(.failure(.notFound("no source knows it"))) }
                if !addresses.isEmpty {
                    chose()
                    return completion(.success(addresses))
                }
                lookup.isSystems = true
                lookup.goOn { system.lookUp(name, completion) }
            }
            return lookup
        }
    }

    /// One caller's share in such a look-up.
    final class ClientLookup: HostLookup {
        private struct State: Sendable {
            var task: Task<Void, Never>?
            var system: (any HostLookup)?
            var isCancelled = false
            var isSystems = false
        }

        private let state = Locked(State())

        /// Whether the addresses are the system's.
        var isSystems: Bool {
            get { state.withLock { $0.isSystems } }
            set { state.withLock { $0.isSystems = newValue } }
        }

        fileprivate func begin(_ body: @escaping @Sendable () async -> Void) {
            let task = Task(operation: body)
            let isCancelled = state.withLock { state in
                state.task = task
                return state.isCancelled
            }
            if isCancelled { task.cancel() }
        }

        fileprivate func goOn(_ begin: () -> any HostLookup) {
            guard state.withLock({ !$0.isCancelled }) else { return }
            let system = begin()
            let isCancelled = state.withLock { state in
                state.system = system
                return state.isCancelled
            }
            if isCancelled { system.cancel() }
        }

        func cancel() {
            let (task, system) = state.withLock { state in
                state.isCancelled = true
                return (state.task, state.system)
            }
            task?.cancel()
            system?.cancel()
        }
    }

    /// What becomes of the addresses that a client's own resolver has chosen.
    struct CurlChoice {
        /// The addresses that a connection was begun to, with the moment when that was, in nanoseconds.
        private(set) var tried: [(address: HostAddress, moment: UInt64)] = []
        /// When libcurl's own clock began, in nanoseconds.
        private let began: UInt64

        init(_ began: UInt64) {
            self.began = began
        }

        mutating func tries(_ address: HostAddress, _ now: UInt64) {
            tried.append((address, now))
        }

        /// A connection was made: to the address that libcurl names, the time that it took counted from its own first packet.
        /// Those of its family that were tried before it did not answer, since libcurl tries them one after the other; those of
        /// the other family are tried at the same time, and had their chance where they had a fair time.
        ///
        /// - Parameter connected: as libcurl tells, in microseconds.
        func tell(_ resolver: HostResolver, _ name: String, connected: Int) {
            guard let address = HostAddress(name),
                let place = tried.lastIndex(where: { $0.address == address })
            else { return }
            let moment = began + UInt64(max(0, connected)) * 1_000
            for other in tried[..<place]
            where other.address.isIPv6 == address.isIPv6 || moment >= other.moment + Self.fairTime {
                resolver.failed(other.address)
            }
            resolver.connected(to: address, in: .nanoseconds(max(moment, tried[place].moment) - tried[place].moment))
        }

        /// No connection was made.
        ///
        /// - Parameter isLate: whether the time was up. Then an address that was given next to none of it is not to blame.
        func tellFailure(_ resolver: HostResolver, isLate: Bool, _ now: UInt64) {
            for (address, moment) in tried where !isLate || now >= moment + Self.fairTime { resolver.failed(address) }
        }

        /// RFC 8305 §5: after so many nanoseconds another address is tried as well.
        private static let fairTime: UInt64 = 250_000_000
    }
#endif
