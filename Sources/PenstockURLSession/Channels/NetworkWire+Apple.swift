#if canImport(Darwin)
    import Foundation
    import Network
    import PenstockCore
    import Security

    /// A connection of the Network framework: TLS and the check of the certificate are the system's, under the trust policy of
    /// the exchange. It is type-checked and has not been run on Apple's systems.
    final class NetworkWire: TransportWire, DatagramWire {
        private struct State: Sendable {
            var failure: TransportError?
            /// Why the certificate was refused, which the framework tells less well.
            var refusal: TransportError.TLSFailure?
            var isReady = false
            var timings = Timings()
        }

        private let network: NWConnection
        private let queue = DispatchQueue(label: "penstock.wire")
        private let control: ExchangeControl
        private let state = Monitor(State())
        private let began = ContinuousClock.now
        private static let mostRead = 64 << 10

        /// - Parameter kind: streams, by TLS where the URL says so, or datagrams.
        init(_ request: TransportRequest, _ speaking: WireProtocol?) throws(TransportError) {
            guard URLSessionPlatform.capabilities.contains(.channels) else {
                throw TransportError(.unsupported("channels"), sendState: .unsent)
            }
            guard request.proxy == .none else {
                throw TransportError(.unsupported("channels through a proxy"), sendState: .unsent)
            }
            if let names = request.resolver.refusal(by: []) {
                throw TransportError(.unsupported(names), sendState: .unsent)
            }
            if let policy = request.trust.refusal(by: URLSessionPlatform.capabilities) {
                throw TransportError(.unsupported(policy), sendState: .unsent)
            }
            let identity = try Self.identity(request.trust)
            let url = request.request.url
            guard let port = NWEndpoint.Port(rawValue: UInt16(clamping: url.port)) else {
                throw TransportError(.other, sendState: .unsent)
            }
            control = request.control
            let refused = Locked<TransportError.TLSFailure?>(nil)
            let queue = queue
            let parameters =
                speaking.map { Self.parameters(request, $0, identity, refused, queue) } ?? NWParameters.udp
            network = NWConnection(host: NWEndpoint.Host(url.host), port: port, using: parameters)
            network.stateUpdateHandler = { [weak self] in self?.changed(to: $0, refused.withLock { $0 }) }
        }

        deinit {
            network.cancel()
        }

        /// What is shown to a server that asks for it. The framework has to be given it beforehand.
        private static func identity(_ trust: TrustPolicy) throws(TransportError) -> sec_identity_t? {
            guard let identity = trust.identity else { return nil }
            guard let credential = ClientCredential.make(identity), let shown = credential.identity,
                let local = sec_identity_create_with_certificates(shown, credential.certificates as CFArray)
            else {
                throw TransportError(
                    .tls(.clientCertificate), sendState: .unsent, message: "the client's certificate cannot be read")
            }
            return local
        }

        private static func parameters(
            _ request: TransportRequest, _ speaking: WireProtocol, _ identity: sec_identity_t?,
            _ refused: Locked<TransportError.TLSFailure?>, _ queue: DispatchQueue
        ) -> NWParameters {
            let tcp = NWProtocolTCP.Options()
            tcp.noDelay = true
            guard request.request.url.scheme == .https else { return NWParameters(tls: nil, tcp: tcp) }
            let tls = NWProtocolTLS.Options()
            let options = tls.securityProtocolOptions
            let least: Security.tls_protocol_version_t = request.trust.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            sec_protocol_options_set_min_tls_protocol_version(options, least)
            if speaking == .http1 { sec_protocol_options_add_tls_application_protocol(options, "http/1.1") }
            if let identity { sec_protocol_options_set_local_identity(options, identity) }
            if request.trust != .system {
                // A session that goes on is not verified again, and may be that of another policy.
                sec_protocol_options_set_tls_resumption_enabled(options, false)
                sec_protocol_options_set_verify_block(
                    options,
                    { _, trust, complete in
                        let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                        let failure = ServerTrust.failure(
                            of: trust, for: request.request.url.host, under: request.trust)
                        refused.withLock { $0 = failure }
                        complete(failure == nil)
                    }, queue)
            }
            return NWParameters(tls: tls, tcp: tcp)
        }

        // MARK: Connecting

        /// Returns when there is a connection.
        func connect(within timeouts: Timeouts) async throws(TransportError) {
            network.start(queue: queue)
            let limits = [(timeouts.connect, TimeoutPhase.connect), (timeouts.total, .total)]
            let first = limits.compactMap { limit, phase in limit.map { ($0, phase) } }.min { $0.0 < $1.0 }
            let alarm = Task { [weak self] in
                guard let (limit, phase) = first else { return }
                try await TimeSource.system.sleep(limit)
                self?.fail(.timeout(phase))
            }
            defer { alarm.cancel() }
            let failure = await state.wait { state -> TransportError?? in
                state.failure.map { .some($0) } ?? (state.isReady ? .some(nil) : nil)
            }
            if var failure {
                failure.sendState = .unsent
                throw failure
            }
        }

        private func changed(to new: NWConnection.State, _ refusal: TransportError.TLSFailure?) {
            switch new {
            case .ready:
                let elapsed = ContinuousClock.now - began
                state.withLock { state in
                    state.isReady = true
                    state.timings.connected = elapsed
                }
            case .waiting(let error), .failed(let error): fail(refusal.map { .tls($0) } ?? Self.kind(error))
            default: break
            }
        }

        private static func kind(_ error: NWError) -> TransportError.Kind {
            switch error {
            case .posix(.ECONNREFUSED): .unreachable(.connectionRefused)
            case .posix(.ENETDOWN), .posix(.ENETUNREACH): .unreachable(.offline)
            case .posix(.EHOSTUNREACH), .posix(.EADDRNOTAVAIL): .unreachable(.noRoute)
            case .posix(.ETIMEDOUT): .timeout(.connect)
            case .dns: .unreachable(.nameNotResolved)
            case .tls(let status): .tls(failure(status))
            default: .connectionLost
            }
        }

        /// What the system's own verification says, which is asked where the policy leaves all to the system.
        private static func failure(_ status: OSStatus) -> TransportError.TLSFailure {
            switch status {
            case errSSLXCertChainInvalid, errSSLUnknownRootCert, errSSLNoRootCert, errSSLBadCert: .untrusted
            case errSSLCertExpired, errSSLCertNotYetValid: .expired
            case errSSLHostNameMismatch: .wrongHost
            default: .handshake
            }
        }

        var timings: Timings { state.withLock(\.timings) }
        var connection: ConnectionInfo { ConnectionInfo() }

        // MARK: Bytes

        func read() async throws(TransportError) -> Data? {
            try check()
            let result: Result<Data?, TransportError> = await withCheckedContinuation { continuation in
                network.receive(minimumIncompleteLength: 1, maximumLength: Self.mostRead) {
                    data, _, isComplete, error in
                    continuation.resume(returning: self.received(data, isComplete, error))
                }
            }
            return try result.get()
        }

        private func received(_ data: Data?, _ isComplete: Bool, _ error: NWError?) -> Result<Data?, TransportError> {
            if let data, !data.isEmpty { return .success(data) }
            if let failure = state.withLock(\.failure) { return .failure(failure) }
            if let error { return .failure(TransportError(Self.kind(error), sendState: .maybeProcessed)) }
            return .success(nil)
        }

        func write(_ bytes: Data) async throws(TransportError) {
            try check()
            let error = await withCheckedContinuation { continuation in
                network.send(
                    content: bytes, completion: .contentProcessed { error in continuation.resume(returning: error) })
            }
            try check()
            if let error { throw TransportError(Self.kind(error), sendState: .maybeProcessed) }
        }

        func endWriting() async throws(TransportError) -> Bool {
            try check()
            let error = await withCheckedContinuation { continuation in
                network.send(
                    content: nil, contentContext: .finalMessage, isComplete: true,
                    completion: .contentProcessed { error in continuation.resume(returning: error) })
            }
            try check()
            if let error { throw TransportError(Self.kind(error), sendState: .maybeProcessed) }
            return true
        }

        private func check() throws(TransportError) {
            if let failure = state.withLock(\.failure) { throw failure }
        }

        // MARK: Datagrams

        func receive() async throws(TransportError) -> Data {
            try check()
            let result: Result<Data?, TransportError> = await withCheckedContinuation { continuation in
                network.receiveMessage { data, _, isComplete, error in
                    continuation.resume(returning: self.received(data, isComplete, error))
                }
            }
            return try result.get() ?? Data()
        }

        func send(_ datagram: Data) throws(TransportError) {
            try check()
            network.send(content: datagram, completion: .idempotent)
        }

        // MARK: The end

        func close() {
            fail(.connectionLost)
        }

        func fail(_ kind: TransportError.Kind) {
            let isFirst = state.withLock { state in
                guard state.failure == nil else { return false }
                state.failure = TransportError(kind, sendState: .maybeProcessed)
                return true
            }
            guard isFirst else { return }
            network.cancel()
            control.detach(self)
        }

        func cancel() {
            fail(.cancelled)
        }

        /// The framework has no such thing: what was asked for goes on.
        func suspend() {}

        func resume() {}
    }

    extension URLSessionTransport {
        /// Makes a connection by the Network framework; there is no way through a proxy.
        public func connect(
            _ request: TransportRequest, speaking: WireProtocol
        ) async throws(TransportError) -> any TransportWire {
            try await wire(request, speaking)
        }

        /// Opens a socket by the Network framework; there is no way through a proxy.
        public func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
            try await wire(request, nil)
        }

        private func wire(
            _ request: TransportRequest, _ speaking: WireProtocol?
        ) async throws(TransportError) -> NetworkWire {
            let wire = try NetworkWire(request, speaking)
            guard request.control.attach(wire) else { throw TransportError(.cancelled, sendState: .unsent) }
            try await wire.connect(within: request.timeouts)
            return wire
        }
    }
#endif
