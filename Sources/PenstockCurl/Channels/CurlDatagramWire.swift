#if os(Linux)
    import Foundation
    import PenstockCore

    /// A socket of the system's for datagrams: libcurl has none.
    final class CurlDatagramWire: DatagramWire, CurlPolled {
        private struct State: Sendable {
            var socket: Int32
            var reader: CheckedContinuation<Result<Data, TransportError>, Never>?
            var failure: TransportError?
            var isSuspended = false
        }

        private let state: Locked<State>
        private let poller: CurlWirePoller
        private let number: UInt64
        private let control: ExchangeControl
        /// The largest that there can be.
        private static let most = 65_536

        /// - Returns: `nil` where the system gives no socket, or knows no way to the address.
        init?(_ address: HostAddress, port: Int, _ control: ExchangeControl, _ poller: CurlWirePoller) {
            guard let socket = Self.connected(address, port) else { return nil }
            state = Locked(State(socket: socket))
            self.control = control
            self.poller = poller
            number = poller.nextNumber()
        }

        deinit {
            poller.forget(number)
            state.withLock { if $0.failure == nil { _ = Glibc.close($0.socket) } }
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
                    if let result = Self.received(state) { return result }
                    state.reader = continuation
                    poller.watch(self, number, state.socket, reads: true, writes: false)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }.get()
        }

        /// - Returns: `nil` where there is none.
        private static func received(_ state: State) -> Result<Data, TransportError>? {
            if let failure = state.failure { return .failure(failure) }
            if state.isSuspended { return nil }
            return withUnsafeTemporaryAllocation(byteCount: most, alignment: 16) { buffer in
                // An error tells that an earlier datagram found nobody, as a lost one would.
                while true {
                    let count = recv(state.socket, buffer.baseAddress, buffer.count, 0)
                    if count >= 0 { return .success(Data(buffer.prefix(count))) }
                    if errno != ECONNREFUSED, errno != EINTR { return nil }
                }
            }
        }

        func send(_ datagram: Data) throws(TransportError) {
            let failure = state.withLock { state -> TransportError? in
                if state.failure == nil, !state.isSuspended {
                    _ = datagram.withUnsafeBytes { Glibc.send(state.socket, $0.baseAddress, $0.count, 0) }
                }
                return state.failure
            }
            if let failure { throw failure }
        }

        func isReady() {
            let woken = state.withLock {
                state -> (CheckedContinuation<Result<Data, TransportError>, Never>, Result<Data, TransportError>)? in
                guard let reader = state.reader else { return nil }
                guard let result = Self.received(state) else {
                    if !state.isSuspended { poller.watch(self, number, state.socket, reads: true, writes: false) }
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
                poller.forget(number)
                Glibc.close(state.socket)
            }
            control.detach()
            isReady()
        }

        func cancel() {
            fail(.cancelled)
        }

        func suspend() {
            state.withLock { $0.isSuspended = true }
        }

        func resume() {
            state.withLock { $0.isSuspended = false }
            isReady()
        }
    }

    extension CurlTransport {
        /// Opens a socket of the system's, to the first address of the host that there is a way to. There is no way through a
        /// proxy.
        public func datagrams(_ exchange: TransportRequest) async throws(TransportError) -> any DatagramWire {
            guard exchange.proxy == .none else {
                throw TransportError(.unsupported("datagrams through a proxy"), sendState: .unsent)
            }
            guard !wires.isStopped else { throw .stopped }
            guard wires.isUsable else { throw TransportError(.unreachable(.noDescriptors), sendState: .unsent) }
            let search = CurlAddressSearch(exchange, exchange.finder(finder))
            guard exchange.control.attach(search) else { throw TransportError(.cancelled, sendState: .unsent) }
            for address in try await search.run() {
                let port = exchange.request.url.port
                guard let wire = CurlDatagramWire(address, port: port, exchange.control, wires) else { continue }
                guard exchange.control.attach(wire) else {
                    wire.cancel()
                    throw TransportError(.cancelled, sendState: .unsent)
                }
                return wire
            }
            throw TransportError(.unreachable(.noRoute), sendState: .unsent, message: String(cString: strerror(errno)))
        }
    }

    /// The look-up of a name for a socket.
    private final class CurlAddressSearch: ControlledExchange {
        private let order: TransportRequest
        private let finder: any HostFinder
        private let result = Monitor<Result<[HostAddress], TransportError>?>(nil)
        private let lookup = Locked<(any HostLookup)?>(nil)

        init(_ order: TransportRequest, _ finder: any HostFinder) {
            (self.order, self.finder) = (order, finder)
        }

        func run() async throws(TransportError) -> [HostAddress] {
            let host = order.connectionHost
            if host == "localhost" || host.hasSuffix(".localhost") {
                return [HostAddress(trusted: "127.0.0.1"), HostAddress(trusted: "::1")]
            }
            if let address = HostAddress(host) { return [address] }
            let begun = finder.lookUp(host) { [self] found in
                switch found {
                case .success(let addresses): settle(.success(addresses))
                case .failure(let failure):
                    let (kind, message) = order.unreachable(failure)
                    settle(.failure(TransportError(kind, sendState: .unsent, message: message)))
                }
            }
            lookup.withLock { $0 = begun }
            let alarm = Task { [order, weak self] in
                guard let limit = order.timeouts.connect else { return }
                try await Task.sleep(for: limit)
                self?.end(.timeout(.connect))
            }
            defer { alarm.cancel() }
            return try await result.wait(for: \.self).get()
        }

        private func settle(_ found: Result<[HostAddress], TransportError>) {
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
