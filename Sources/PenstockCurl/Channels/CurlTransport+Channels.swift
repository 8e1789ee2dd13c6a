#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    extension CurlTransport {
        /// Makes a connection by libcurl (`CURLOPT_CONNECT_ONLY`), through the proxy's tunnel where there is one. It is made on a
        /// thread of its own, eight at a time to one origin and 128 in all, the others in their order, and served by no thread
        /// afterwards. The time to connect begins when it has its turn.
        ///
        /// - Throws: what an exchange to the same place would, as far as its connection goes; nothing was sent.
        public func connect(
            _ request: TransportRequest, speaking: WireProtocol
        ) async throws(TransportError) -> any TransportWire {
            try CurlProxy.check(request.proxy)
            try CurlTrust.check(request.trust, capabilities)
            let trust = try CurlTrust(request.trust)
            guard !wires.isStopped else { throw .stopped }
            guard CurlLibrary.prepare(), wires.isUsable else {
                throw TransportError(.unreachable(.noDescriptors), sendState: .unsent)
            }
            let attempt = CurlWireAttempt(request, trust, speaking, finder, poller: wires)
            guard request.control.attach(attempt) else { throw TransportError(.cancelled, sendState: .unsent) }
            let wire = try await attempt.run()
            guard request.control.attach(wire) else {
                wire.cancel()
                throw TransportError(.cancelled, sendState: .unsent)
            }
            return wire
        }

        public var messageCompression: (any WebSocketCompression)? { ZlibCompression() }
    }

    /// A connection that is being made.
    final class CurlWireAttempt: ControlledExchange {
        private struct State: Sendable {
            var lookup: (any HostLookup)?
            var handle: CurlWireHandle?
            var ending: TransportError?
            var result: Result<CurlWire, TransportError>?
            var clock: ConnectClock
        }

        private let request: TransportRequest
        private let trust: CurlTrust
        private let speaking: WireProtocol
        private let finder: any HostFinder
        private let poller: CurlWirePoller
        private let state: Monitor<State>
        private let began = ContinuousClock.now

        init(
            _ request: TransportRequest, _ trust: CurlTrust, _ speaking: WireProtocol, _ finder: any HostFinder,
            poller: CurlWirePoller
        ) {
            self.request = request
            self.trust = trust
            self.speaking = speaking
            self.finder = finder
            self.poller = poller
            state = Monitor(State(clock: ConnectClock(left: request.timeouts.connect)))
        }

        func run() async throws(TransportError) -> CurlWire {
            defer { request.control.detach(self) }
            runClock()
            if request.hasKnownHost { begin([], lookup: nil, isChosen: false) } else { lookUp(asksSystem: false) }
            // Whoever looks up or connects, or stands in line, may take longer than there is time.
            let alarm = request.timeouts.total.map { ends(after: $0, .total) }
            let result = await state.wait(for: \.result)
            alarm?.cancel()
            state.withLock { $0.clock.stop() }
            return try result.get()
        }

        private func ends(after limit: Duration, _ phase: TimeoutPhase) -> Task<Void, any Error> {
            Task { [weak self] in
                try await TimeSource.system.sleep(limit)
                self?.end(TransportError(.timeout(phase), sendState: .unsent))
            }
        }

        private func runClock() {
            state.withLock { state in
                guard state.result == nil else { return }
                state.clock.run { ends(after: $0, .connect) }
            }
        }

        private func lookUp(asksSystem: Bool) {
            let lookup = request.lookUp(finder, asksSystem: asksSystem) { [self] result, isChosen in
                switch result {
                case .success(let addresses):
                    begin(addresses, lookup: ContinuousClock.now - began, isChosen: isChosen)
                case .failure(let failure):
                    let (kind, message) = request.unreachable(failure)
                    end(TransportError(kind, sendState: .unsent, message: message))
                }
            }
            state.withLock { $0.lookup = lookup }
        }

        /// - Parameter isChosen: whether the client's own resolver has chosen the addresses.
        private func begin(_ addresses: [HostAddress], lookup: Duration?, isChosen: Bool) {
            let handle = CurlWireHandle(request, trust, speaking, addresses, lookup: lookup, isChosen: isChosen)
            guard let handle else { return end(.outOfMemory) }
            let goesOn = state.withLock { state in
                state.handle = handle
                state.clock.stop()
                return state.ending == nil
            }
            guard goesOn else { return }
            let isTaken = CurlConnectors.shared.run(to: request.request.url.origin) { [self] in
                runClock()
                connect(handle)
            }
            if !isTaken { end(TransportError(.other, sendState: .unsent, message: "the system gives no thread")) }
        }

        private func connect(_ handle: CurlWireHandle) {
            guard state.withLock({ $0.ending == nil }) else { return }
            do throws(TransportError) {
                let left = state.withLock { $0.clock.left }
                let total = request.timeouts.total.map { $0 - (ContinuousClock.now - began) }
                try handle.connect(within: [left, total].compactMap(\.self).min())
                let wire = CurlWire(handle, request.control, poller)
                let isFirst = settle(.success(wire))
                if !isFirst { wire.close() }
            } catch {
                // None of the addresses that the resolver has chosen was connected to.
                guard handle.isUnreached, request.resolver.fallsBackToSystem else { return end(error) }
                lookUp(asksSystem: true)
            }
        }

        private func end(_ error: TransportError) {
            let lookup = state.withLock { state -> (any HostLookup)? in
                state.ending = state.ending ?? error
                return state.lookup
            }
            lookup?.cancel()
            state.withLock { $0.handle }?.abandon()
            settle(.failure(error))
        }

        @discardableResult
        private func settle(_ result: Result<CurlWire, TransportError>) -> Bool {
            state.withLock { state in
                guard state.result == nil else { return false }
                state.result = result
                return true
            }
        }

        func cancel() {
            end(TransportError(.cancelled, sendState: .unsent))
        }

        /// A connection that is being made cannot be held back.
        func suspend() {}

        func resume() {}
    }
#endif
