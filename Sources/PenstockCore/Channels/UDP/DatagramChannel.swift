import Foundation

/// A connection over UDP that carries payloads of up to 16 MiB whole and in their order, from
/// ``APIClient/datagrams(_:port:options:_:in:)``; a ``DatagramMachine`` on a socket.
///
/// ```swift
/// let peer = client.datagrams("sensors.example.com", port: 7000)
/// try await peer.send(reading)
/// for try await command in peer.messages { obey(command) }
/// ```
///
/// Nothing is encrypted, so the host must be one that ``CallOptions/cleartext`` allows.
public final class DatagramChannel: Channel {
    private enum Phase: Sendable {
        case idle
        case opening
        case open
        case over(APIError?)
    }

    private struct State: Sendable {
        var phase = Phase.idle
        /// Whether it is over, or about to be: its call is over before anybody is told.
        var isEnding = false
        var machine: DatagramMachine?
        var wire: (any DatagramWire)?
        var context: CallContext?
        var finish: (@Sendable (APIError?) -> APIError?)?
        var inbox: [Data] = []
        var given = 0
        var delivered = 0
        var alarm = Deadlines.Ticket.none
        var lastWait = 0
        var abandoned: Set<Int> = []
    }

    typealias Begin = @Sendable () -> ActiveCall<ChannelEndpoint>?

    /// Payloads that are kept for a reader. Each may have 16 MiB; the other end has to wait with more.
    private static let mostKept = 4

    private let limits: DatagramLimits
    private let random: RandomSource
    private let begin: Begin
    private let connect: @Sendable (CallContext) async throws(APIError) -> any DatagramWire
    private let state = Monitor(State())

    init(
        _ limits: DatagramLimits, _ random: RandomSource, begin: @escaping Begin,
        connect: @escaping @Sendable (CallContext) async throws(APIError) -> any DatagramWire
    ) {
        self.limits = limits
        self.random = random
        self.begin = begin
        self.connect = connect
    }

    deinit {
        let (context, wire, finish) = state.withLock { ($0.context, $0.wire, $0.finish) }
        context?.end(.requested)
        wire?.fail(.cancelled)
        _ = finish?(nil)
    }

    // MARK: Channel

    /// Returns when the handshake is over.
    public func open() async throws(APIError) {
        start()
        let number = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        let result: Result<Void, APIError> = await withTaskCancellationHandler {
            await state.wait { state in
                switch state.phase {
                case .open: .success(())
                case .over(let error): .failure(error ?? Self.closed)
                case .idle, .opening:
                    state.abandoned.contains(number) ? .failure(APIError(.cancelled, stage: .transport)) : nil
                }
            }
        } onCancel: {
            state.withLock { _ = $0.abandoned.insert(number) }
        }
        state.withLock { _ = $0.abandoned.remove(number) }
        try result.get()
    }

    /// Sends a payload, and returns when it has arrived. Those of several tasks go one after the other.
    ///
    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)`` for one larger than ``DatagramLimits/payloadBytes``; what ended
    ///   the connection. A task that is cancelled does not wait any longer; the payload goes on.
    public func send(_ payload: Data) async throws(APIError) {
        guard payload.count <= limits.payloadBytes else {
            throw APIError(
                .invalidParameter(field: "payload", reason: "is larger than \(limits.payloadBytes) bytes"),
                stage: .prepare)
        }
        try await open()
        let taken = state.withLock { state -> (goal: Int, number: Int)? in
            // The other end may have closed since.
            guard state.machine?.send(payload) == true else { return nil }
            state.given += 1
            state.lastWait += 1
            return (state.given, state.lastWait)
        }
        guard let (goal, number) = taken else {
            guard case .over(let error?) = state.withLock({ $0.phase }) else { throw Self.closed }
            throw error
        }
        pump()
        let result: Result<Void, APIError> = await withTaskCancellationHandler {
            await state.wait { state in
                if state.delivered >= goal { return .success(()) }
                if case .over(let error) = state.phase { return .failure(error ?? Self.closed) }
                return state.abandoned.contains(number) ? .failure(APIError(.cancelled, stage: .transport)) : nil
            }
        } onCancel: {
            state.withLock { _ = $0.abandoned.insert(number) }
        }
        state.withLock { _ = $0.abandoned.remove(number) }
        try result.get()
    }

    /// The payloads as they come.
    public var messages: ChannelMessages<Data> {
        ChannelMessages { [self] () async throws(APIError) in try await next() }
    }

    /// Tells the other end, and closes the socket. What has not arrived is lost.
    public func close() async {
        let wasIdle = state.withLock { state in
            state.machine?.close()
            guard case .idle = state.phase else { return false }
            (state.phase, state.isEnding) = (.over(nil), true)
            return true
        }
        guard !wasIdle else { return }
        pump()
        let unconnected = state.withLock { $0.wire == nil && !$0.isEnding ? $0.context : nil }
        end(nil)
        // Nothing is connected for it any more.
        unconnected?.end(.requested)
    }

    /// Ends it at once.
    public func cancel() {
        state.withLock { $0.context }?.end(.requested)
        end(APIError(.cancelled, stage: .transport))
    }

    private func next() async throws(APIError) -> Data? {
        start()
        let result: Result<Data?, APIError> = await withTaskCancellationHandler {
            await state.wait { state in
                // What had come is for nobody once the call was ended from outside.
                if !state.inbox.isEmpty, state.context?.isCancelled != true {
                    state.machine?.takesPayloads = true
                    return .success(state.inbox.removeFirst())
                }
                if case .over(let error) = state.phase { return error.map { .failure($0) } ?? .success(nil) }
                return nil
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    private static func silence(_ phase: TimeoutPhase) -> String {
        phase == .connect
            ? "nothing came that a DatagramListener sends: the other end of these datagrams must be one"
            : "the other end has fallen silent"
    }

    private static var closed: APIError {
        APIError(
            .transport(.connectionLost), stage: .transport,
            debugMessage: "the channel is closed, and sends nothing more")
    }

    // MARK: Its own side

    private func start() {
        let begins = state.withLock { state in
            guard case .idle = state.phase else { return false }
            state.phase = .opening
            return true
        }
        guard begins else { return }
        guard let call = begin() else { return end(APIError(.cancelled, stage: .transport)) }
        let isEnding = state.withLock { state in
            state.context = call.context
            return state.isEnding
        }
        // Whoever has ended it while its call was made has found none to end.
        if isEnding { call.context.end(.requested) }
        let began = call.context.time.now()
        let task = Task { [weak self, connect] in
            do throws(APIError) {
                let wire = try await call.run { () async throws(APIError) in try await connect(call.context) }
                guard self?.opened(wire, call, since: began) == true else {
                    wire.fail(.cancelled)
                    return _ = call.finish(nil)
                }
                // Held only for as long as each datagram takes, so that letting go of the channel ends this.
                while let datagram = try? await wire.receive() { self?.take(datagram) }
                self?.end(call.context.ending.map { APIError($0.kind, stage: .transport) } ?? Self.closed)
            } catch {
                self?.end(error)
            }
        }
        call.context.endsWithCall(task)
    }

    /// - Returns: `false` where it was closed meanwhile.
    private func opened(
        _ wire: any DatagramWire, _ call: ActiveCall<ChannelEndpoint>, since began: Duration
    ) -> Bool {
        let context = call.context
        let now = context.time.now()
        var limits = limits
        // The transport has had its part of it.
        limits.connect = max(limits.connect(context) - (now - began), .zero)
        let isWanted = state.withLock { [random, limits] state in
            guard !state.isEnding else { return false }
            state.machine = DatagramMachine(limits, at: now, random: random)
            state.wire = wire
            state.finish = { call.finish($0) }
            return true
        }
        if isWanted { pump() }
        return isWanted
    }

    private func take(_ datagram: Data) {
        state.withLock { state in
            guard let now = state.context?.time.now() else { return }
            state.machine?.receive(datagram, at: now)
        }
        pump()
    }

    /// Sends what is to be sent, tells what has happened, and sets the alarm for what comes next.
    private func pump() {
        var ending: APIError??
        let (wire, datagrams) = state.withLock { state -> ((any DatagramWire)?, [Data]) in
            guard let context = state.context, var machine = state.machine else { return (nil, []) }
            let now = context.time.now()
            let datagrams = machine.takeDatagrams(at: now)
            while let event = machine.next() {
                switch event {
                case .connected: state.phase = .open
                case .received(let payload): state.inbox.append(payload)
                case .delivered: state.delivered += 1
                case .closed: ending = .some(nil)
                case .timedOut:
                    let phase: TimeoutPhase = if case .open = state.phase { .idle } else { .connect }
                    ending = APIError(.timeout(phase), stage: .transport, debugMessage: Self.silence(phase))
                }
            }
            machine.takesPayloads = state.inbox.count < Self.mostKept
            state.machine = machine
            context.deadlines.remove(state.alarm)
            state.alarm =
                machine.wakesAt.map { moment in context.deadlines.add(moment) { [weak self] in self?.pump() } } ?? .none
            return (state.wire, datagrams)
        }
        for datagram in datagrams { try? wire?.send(datagram) }
        if let ending { end(ending) }
    }

    private func end(_ error: APIError?) {
        let ended = state.withLock {
            state -> (finish: (@Sendable (APIError?) -> APIError?)?, wire: (any DatagramWire)?)? in
            guard !state.isEnding else { return nil }
            state.isEnding = true
            state.context?.deadlines.remove(state.alarm)
            // With the machine go the payloads that it holds.
            defer { (state.finish, state.wire, state.machine) = (nil, nil, nil) }
            return (state.finish, state.wire)
        }
        guard let ended else { return }
        ended.wire?.fail(.connectionLost)
        // Nobody is told before the call is over, and what is told is what the call makes of it.
        let told = ended.finish?(error) ?? error
        state.withLock { $0.phase = .over(told) }
    }
}

extension DatagramLimits {
    /// The time to connect.
    fileprivate func connect(_ context: CallContext) -> Duration { context.settings.timeouts.connect ?? connect }
}

extension APIClient {
    /// A connection over UDP for an app's own payloads, whose other end is a ``DatagramListener``. Nothing is sent before it is
    /// used.
    ///
    /// - Parameters:
    ///   - host: a name, or a numeric address; an IPv6 one in brackets.
    ///   - port: 1 to 65,535.
    ///   - options: what this one channel wants different; there is no way through a proxy.
    ///   - limits: how it behaves. ``Timeouts/connect`` of the options replaces ``DatagramLimits/connect``.
    ///   - scope: ends it when it goes.
    public func datagrams(
        _ host: String, port: Int, options: CallOptions = .init(), _ limits: DatagramLimits = .init(),
        in scope: CallScope? = nil
    ) -> DatagramChannel {
        let endpoint = ChannelEndpoint(route: .get("/"), service: .unnamed)
        return DatagramChannel(limits, configuration.random) { [wasGiven = scope != nil, weak scope] in
            if wasGiven, scope == nil { return nil }
            return self.begin(endpoint, .init(own: options, scope: scope, streams: true, isEndless: true))
        } connect: { context throws(APIError) in
            let url = try Self.origin(host, port, isSecure: false)
            return try await self.state.datagrams(
                try self.exchange(for: url, context), within: limits.connect(context), for: context)
        }
    }
}
