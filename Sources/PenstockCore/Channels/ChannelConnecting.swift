/// How a channel's connection is made. A transport of the app's may not return when it is told to, and is not waited for then, nor
/// past the time to connect; the others see to both themselves.
extension SharedState {
    func wire(_ exchange: TransportRequest, for call: CallContext) async throws(APIError) -> any TransportWire {
        try await made(for: exchange, within: exchange.timeouts.connect, call, end: { $0.fail(.cancelled) }) {
            [transport] () async throws(TransportError) in
            try await transport.connect(exchange, speaking: .unnamed)
        }
    }

    /// - Parameter limit: the time to connect.
    func datagrams(
        _ exchange: TransportRequest, within limit: Duration, for call: CallContext
    ) async throws(APIError) -> any DatagramWire {
        try await made(for: exchange, within: limit, call, end: { $0.fail(.cancelled) }) {
            [transport] () async throws(TransportError) in
            try await transport.datagrams(exchange)
        }
    }

    private func made<Wire: Sendable>(
        for exchange: TransportRequest, within limit: Duration?, _ call: CallContext,
        end: @escaping @Sendable (Wire) -> Void, by make: @escaping @Sendable () async throws(TransportError) -> Wire
    ) async throws(APIError) -> Wire {
        guard !hasAppTransport else {
            return try await Connecting(end: end).made(for: exchange.request, within: limit, call, by: make)
        }
        do throws(TransportError) {
            return try await make()
        } catch {
            throw APIError(error, request: exchange.request)
        }
    }
}

/// A connection that is waited for no longer than its call goes on, and that is ended where it comes later.
private final class Connecting<Wire: Sendable>: Sendable {
    private struct State: Sendable {
        var wire: Wire?
        var isGivenUp = false
    }

    private let state = Locked(State())
    private let end: @Sendable (Wire) -> Void

    /// - Parameter end: of a connection that nobody waits for any more.
    init(end: @escaping @Sendable (Wire) -> Void) {
        self.end = end
    }

    func made(
        for request: HTTPRequest, within limit: Duration?, _ call: CallContext,
        by make: @escaping @Sendable () async throws(TransportError) -> Wire
    ) async throws(APIError) -> Wire {
        let promise = Promise<Result<Wire, APIError>>()
        let task = Task {
            do throws(TransportError) {
                let wire = try await make()
                if take(wire) { promise.keep(.success(wire)) } else { end(wire) }
            } catch {
                promise.keep(.failure(APIError(error, request: request)))
            }
        }
        let alarm = limit.map { limit in
            call.deadlines.add(call.time.now() + limit) {
                let text = "the transport had made no connection"
                promise.keep(
                    .failure(APIError(.timeout(.connect), stage: .transport, debugMessage: text, request: request)))
            }
        }
        defer { if let alarm { call.deadlines.remove(alarm) } }
        do throws(APIError) {
            return try await call.value(of: promise, at: .transport).get()
        } catch {
            giveUp()
            task.cancel()
            throw error
        }
    }

    /// - Returns: `false` where it comes too late.
    private func take(_ wire: Wire) -> Bool {
        state.withLock { state in
            if !state.isGivenUp { state.wire = wire }
            return !state.isGivenUp
        }
    }

    private func giveUp() {
        let wire = state.withLock { state in
            state.isGivenUp = true
            defer { state.wire = nil }
            return state.wire
        }
        if let wire { end(wire) }
    }
}
