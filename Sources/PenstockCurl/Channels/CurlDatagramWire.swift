#if os(Linux)
    import Foundation
    import PenstockCore

    /// Sockets of the system's for datagrams, one for each address of a host: libcurl has none. Until one address has answered the
    /// datagrams go to each in turn; then the others are forgotten.
    final class CurlDatagramWire: DatagramWire, CurlPolled {
        /// A socket that is connected to one of the addresses.
        private struct Leg: Sendable {
            let address: HostAddress
            let socket: Int32
            let number: UInt64
            /// When the first datagram went there, in nanoseconds.
            var asked: UInt64?
            /// Whether the system was told that nobody is there.
            var isRefused = false
        }

        private struct State: Sendable {
            var legs: [Leg]
            var turn = 0
            /// Whether an address has answered.
            var isSettled = false
            var reader: CheckedContinuation<Result<Data, TransportError>, Never>?
            var failure: TransportError?
            var isSuspended = false
        }

        private let state: Locked<State>
        private let poller: CurlWirePoller
        private let control: ExchangeControl
        /// Who has chosen the addresses, and is told what becomes of them; `nil` where the system has.
        private let resolver: HostResolver?
        /// The largest that there can be.
        private static let most = 65_536
        /// How many of the addresses of a host are asked: each is asked as often as the others within the time to connect.
        private static let mostLegs = 4

        /// - Returns: `nil` where the system gives no socket, or knows no way to any of the addresses.
        init?(
            _ addresses: [HostAddress], port: Int, _ control: ExchangeControl, _ poller: CurlWirePoller,
            chosenBy resolver: HostResolver?
        ) {
            var legs: [Leg] = []
            for address in addresses where legs.count < Self.mostLegs {
                if let socket = Self.connected(address, port) {
                    legs.append(Leg(address: address, socket: socket, number: poller.nextNumber()))
                } else {
                    resolver?.failed(address)
                }
            }
            guard !legs.isEmpty else { return nil }
            state = Locked(State(legs: legs))
            (self.control, self.poller, self.resolver) = (control, poller, resolver)
        }

        deinit {
            state.withLock { state in
                if state.failure == nil { close(state.legs) }
            }
        }

        private func close(_ legs: some Sequence<Leg>) {
            for leg in legs {
                poller.forget(leg.number)
                Glibc.close(leg.socket)
            }
        }

        private static func connected(_ address: HostAddress, _ port: Int) -> Int32? {
            let isSix = address.text.utf8.contains(UInt8(ascii: ":"))
            let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = Glibc.socket(isSix ? AF_INET6 : AF_INET, type, 0)
            guard descriptor >= 0 else { return nil }
            let number = in_port_t(truncatingIfNeeded: port).bigEndian
            let code: Int32
            if isSix {
                var target = sockaddr_in6()
                (target.sin6_family, target.sin6_port) = (sa_family_t(AF_INET6), number)
                target.sin6_scope_id = address.zone
                inet_pton(AF_INET6, address.text, &target.sin6_addr)
                code = connect(descriptor, target)
            } else {
                var target = sockaddr_in()
                (target.sin_family, target.sin_port) = (sa_family_t(AF_INET), number)
                inet_pton(AF_INET, address.text, &target.sin_addr)
                code = connect(descriptor, target)
            }
            if code == 0 { return descriptor }
            Glibc.close(descriptor)
            return nil
        }

        private static func connect<Address>(_ descriptor: Int32, _ address: Address) -> Int32 {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }

        // MARK: Datagrams

        func receive() async throws(TransportError) -> Data {
            try await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Result<Data, TransportError>? in
                    if let result = received(&state) { return result }
                    state.reader = continuation
                    watch(state)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }.get()
        }

        private func watch(_ state: State) {
            guard !state.isSuspended, state.failure == nil else { return }
            for leg in state.legs { poller.watch(self, leg.number, leg.socket, reads: true, writes: false) }
        }

        /// - Returns: `nil` where there is none.
        private func received(_ state: inout State) -> Result<Data, TransportError>? {
            if let failure = state.failure { return .failure(failure) }
            if state.isSuspended { return nil }
            for index in state.legs.indices {
                guard let datagram = Self.received(&state.legs[index]) else { continue }
                settle(on: index, &state)
                return .success(datagram)
            }
            return nil
        }

        private static func received(_ leg: inout Leg) -> Data? {
            withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { buffer in
                // An error tells that an earlier datagram found nobody, as a lost one would.
                while true {
                    let count = recv(leg.socket, buffer.baseAddress, buffer.count, 0)
                    if count >= 0 { return Data(buffer.prefix(count)) }
                    if errno == ECONNREFUSED { leg.isRefused = true }
                    if errno != ECONNREFUSED, errno != EINTR { return nil }
                }
            }
        }

        /// An address has answered. Those that were asked before it and had a fair time to answer as well did not.
        private func settle(on index: Int, _ state: inout State) {
            guard !state.isSettled else { return }
            let (now, winner) = (CurlClock.now(), state.legs[index])
            state.isSettled = true
            if let resolver {
                for other in state.legs where other.number != winner.number && Self.isDead(other, now) {
                    resolver.failed(other.address)
                }
                resolver.connected(to: winner.address, in: .nanoseconds(now - (winner.asked ?? now)))
            }
            close(state.legs.filter { $0.number != winner.number })
            state.legs = [winner]
        }

        private static func isDead(_ leg: Leg, _ now: UInt64) -> Bool {
            leg.isRefused || leg.asked.map { now >= $0 + fairTime } ?? false
        }

        /// The time in nanoseconds that a connection has before another address is tried as well (RFC 8305 §5).
        private static let fairTime: UInt64 = 250_000_000

        func send(_ datagram: Data) throws(TransportError) {
            let failure = state.withLock { state -> TransportError? in
                if state.failure == nil, !state.isSuspended, let index = Self.next(&state) {
                    state.legs[index].asked = state.legs[index].asked ?? CurlClock.now()
                    let socket = state.legs[index].socket
                    _ = datagram.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, 0) }
                }
                return state.failure
            }
            if let failure { throw failure }
        }

        /// The socket whose turn it is; one at which nobody is only where nobody is at the others.
        private static func next(_ state: inout State) -> Int? {
            let good = state.legs.indices.filter { !state.legs[$0].isRefused }
            let legs = good.isEmpty ? Array(state.legs.indices) : good
            guard !legs.isEmpty else { return nil }
            defer { state.turn += 1 }
            return legs[state.turn % legs.count]
        }

        func becameReady() {
            let woken = state.withLock {
                state -> (CheckedContinuation<Result<Data, TransportError>, Never>, Result<Data, TransportError>)? in
                guard let reader = state.reader else { return nil }
                guard let result = received(&state) else {
                    watch(state)
                    return nil
                }
                state.reader = nil
                return (reader, result)
            }
            if let (reader, result) = woken { reader.resume(returning: result) }
        }

        // MARK: The end

        func fail(_ kind: TransportError.Kind) {
            state.withLock { state in
                guard state.failure == nil else { return }
                state.failure = TransportError(kind, sendState: .maybeProcessed)
                if !state.isSettled, let resolver {
                    let now = CurlClock.now()
                    for leg in state.legs where Self.isDead(leg, now) { resolver.failed(leg.address) }
                }
                close(state.legs)
            }
            control.detach(self)
            becameReady()
        }

        func cancel() {
            fail(.cancelled)
        }

        func suspend() {
            state.withLock { $0.isSuspended = true }
        }

        func resume() {
            state.withLock { $0.isSuspended = false }
            becameReady()
        }
    }

    extension CurlTransport {
        /// Opens sockets of the system's, to the addresses of the host that there is a way to; the first address that answers is
        /// the one that counts. There is no way through a proxy.
        public func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
            guard request.proxy == .none else {
                throw TransportError(.unsupported("datagrams through a proxy"), sendState: .unsent)
            }
            guard !wires.isStopped else { throw .stopped }
            guard wires.isUsable else { throw TransportError(.unreachable(.noDescriptors), sendState: .unsent) }
            let search = CurlAddressSearch(request, finder)
            guard request.control.attach(search) else { throw TransportError(.cancelled, sendState: .unsent) }
            let (addresses, isChosen) = try await search.run()
            let wire = CurlDatagramWire(
                addresses, port: request.request.url.port, request.control, wires,
                chosenBy: isChosen ? request.resolver : nil)
            guard let wire else {
                throw TransportError(
                    .unreachable(.noRoute), sendState: .unsent, message: String(cString: strerror(errno)))
            }
            guard request.control.attach(wire) else {
                wire.cancel()
                throw TransportError(.cancelled, sendState: .unsent)
            }
            return wire
        }
    }

    /// The look-up of a name for a socket.
    private final class CurlAddressSearch: ControlledExchange {
        typealias Found = (addresses: [HostAddress], isChosen: Bool)

        private let request: TransportRequest
        private let finder: any HostFinder
        private let result = Monitor<Result<Found, TransportError>?>(nil)
        private let lookup = Locked<(any HostLookup)?>(nil)

        init(_ request: TransportRequest, _ finder: any HostFinder) {
            (self.request, self.finder) = (request, finder)
        }

        func run() async throws(TransportError) -> Found {
            defer { request.control.detach(self) }
            let host = request.connectionHost
            if request.hasKnownHost {
                let own = [HostAddress(trusted: "127.0.0.1"), HostAddress(trusted: "::1")]
                return (HostAddress(host).map { [$0] } ?? own, false)
            }
            let begun = request.lookUp(finder) { [self] found, isChosen in
                switch found {
                case .success(let addresses): settle(.success((addresses, isChosen)))
                case .failure(let failure):
                    let (kind, message) = request.unreachable(failure)
                    settle(.failure(TransportError(kind, sendState: .unsent, message: message)))
                }
            }
            lookup.withLock { $0 = begun }
            let alarm = Task { [request, weak self] in
                guard let limit = request.timeouts.connect else { return }
                try await TimeSource.system.sleep(limit)
                self?.end(.timeout(.connect))
            }
            defer { alarm.cancel() }
            return try await result.wait(for: \.self).get()
        }

        private func settle(_ found: Result<Found, TransportError>) {
            result.withLock { $0 = $0 ?? found }
        }

        private func end(_ kind: TransportError.Kind) {
            settle(.failure(TransportError(kind, sendState: .unsent)))
            lookup.withLock { $0 }?.cancel()
        }

        func cancel() {
            end(.cancelled)
        }

        func suspend() {}

        func resume() {}
    }
#endif
