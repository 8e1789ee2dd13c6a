import Foundation

/// How the two ends of a ``TCPChannel`` tell each other that they are there.
public struct Heartbeat<Frame: Sendable>: Sendable {
    /// What is sent after a while without a byte.
    public var frame: Frame
    /// How long that while is. 20 s by default.
    public var interval: Duration
    /// How long no byte comes after it was sent before the connection counts as lost. 20 s by default.
    public var patience: Duration
    /// Which frames are answers to it, or the other end's own, and no messages. None by default.
    public var isBeat: @Sendable (Frame) -> Bool

    /// A heartbeat.
    public init(
        _ frame: Frame, every interval: Duration = .seconds(20), patience: Duration = .seconds(20),
        isBeat: @escaping @Sendable (Frame) -> Bool = { _ in false }
    ) {
        self.frame = frame
        self.interval = interval
        self.patience = patience
        self.isBeat = isBeat
    }
}

/// How a ``TCPChannel`` is kept.
public struct TCPOptions<Frame: Sendable>: Sendable {
    /// What is sent where nothing else is; nothing by default.
    public var heartbeat: Heartbeat<Frame>?
    /// Whether it connects again by itself; not by default. A connection that the other end has closed between two frames then
    /// is followed by another one as well.
    public var reconnection: ChannelReconnection?
    /// How many bytes of frames are kept that nobody has read. 1 MiB by default; then the other end has to wait.
    public var bufferedBytes: Int

    /// The defaults, but for what is named.
    public init(
        heartbeat: Heartbeat<Frame>? = nil, reconnection: ChannelReconnection? = nil, bufferedBytes: Int = 1 << 20
    ) {
        self.heartbeat = heartbeat
        self.reconnection = reconnection
        self.bufferedBytes = bufferedBytes
    }
}

/// A TCP connection that carries the frames of a codec, from ``APIClient/tcp(_:port:codec:isSecure:options:_:in:)``.
///
/// ```swift
/// let line = client.tcp("chat.example.com", port: 7000, codec: LineCodec())
/// try await line.send("NICK alice")
/// for try await text in line.messages { print(text) }
/// ```
///
/// The frames end when the other end closes between two of them, over TLS by saying so (`close_notify`, RFC 8446 §6.1): a socket that just
/// ends may have been cut off by anybody, and counts as a loss. Within a frame they throw ``APIError/Kind/transport(_:)`` with a
/// ``FrameError`` as its `underlying`, as they do for bytes that the codec refuses.
public final class TCPChannel<Codec: FrameCodec>: Channel {
    public typealias Message = Codec.Frame

    let engine: ChannelEngine<FramedMachine<Codec>>
    let hooks: Locked<ChannelHooks<Codec.Frame>>

    init(_ engine: ChannelEngine<FramedMachine<Codec>>, _ hooks: Locked<ChannelHooks<Codec.Frame>>) {
        self.engine = engine
        self.hooks = hooks
    }

    deinit {
        engine.cancel()
    }

    public func open() async throws(APIError) { try await engine.open() }

    /// Sends a frame, and returns when the system has taken it.
    public func send(_ frame: Codec.Frame) async throws(APIError) { try await engine.send(frame) }

    /// The frames as they come.
    public var messages: ChannelMessages<Codec.Frame> {
        ChannelMessages { [self] () async throws(APIError) in try await engine.next() }
    }

    /// Closes it behind what was sent: ends this direction, and waits up to 5 s for the other end to close as well, so that nothing of
    /// what was sent is lost. Frames that come meanwhile are dropped.
    public func close() async { await engine.close() }

    /// Ends it at once.
    public func cancel() { engine.cancel() }

    /// Whether there is a connection at the moment.
    public var isOpen: Bool { engine.isOpen }
}

/// What goes over each connection of a channel first, who waits for what comes, and who is told when one is lost.
struct ChannelHooks<Frame: Sendable>: Sendable {
    var first: @Sendable () -> [Frame] = { [] }
    var isAwaited: @Sendable () -> Bool = { false }
    var lost: @Sendable (APIError?) -> Void = { _ in }
}

/// A codec as the protocol of a channel.
struct FramedMachine<Codec: FrameCodec>: ChannelMachine {
    private var codec: Codec
    private let heartbeat: Heartbeat<Codec.Frame>?
    private var input = FrameInput()
    private var output = Data()
    private var isFinished = false

    init(_ codec: Codec, _ heartbeat: Heartbeat<Codec.Frame>?) {
        self.codec = codec
        self.heartbeat = heartbeat
    }

    mutating func receive(_ bytes: Data) {
        input.append(bytes)
    }

    mutating func event() throws(ChannelFault) -> ChannelEvent<Codec.Frame>? {
        let before = input.count
        do {
            guard let frame = try codec.decode(&input) else { return nil }
            if let heartbeat, heartbeat.isBeat(frame) { return .other }
            return .message(frame, bytes: max(before - input.count, 0))
        } catch {
            throw Self.fault(error)
        }
    }

    mutating func encode(_ frame: Codec.Frame) throws(ChannelFault) {
        guard !isFinished else {
            throw ChannelFault(kind: .transport(.connectionLost), ending: .failed(.connectionLost), reason: nil)
        }
        do {
            output.append(try codec.encode(frame))
        } catch {
            throw ChannelFault(
                kind: .invalidParameter(field: "frame", reason: "\(error)"), ending: .broken, reason: error)
        }
    }

    mutating func probe() throws(ChannelFault) {
        if let heartbeat { try encode(heartbeat.frame) }
    }

    mutating func finish() -> ChannelGoodbye {
        isFinished = true
        return .endOfBytes
    }

    mutating func conclude() -> Bool { false }

    mutating func takeOutput() -> Data {
        defer { output = Data() }
        return output
    }

    func judgeEnd() -> ChannelFault? {
        guard input.count == 0 else {
            return ChannelFault(
                kind: .transport(.connectionLost), ending: .failed(.connectionLost),
                reason: FrameError(.truncated, "the connection ended within a frame"))
        }
        return ChannelFault(
            kind: .transport(.connectionLost), ending: .failed(.connectionLost), reason: nil, isGraceful: true)
    }

    private static func fault(_ error: any Error) -> ChannelFault {
        let isTooLong = (error as? FrameError)?.kind == .tooLong
        return ChannelFault(
            kind: isTooLong ? .limitExceeded(.bodyBytes) : .transport(.protocolViolation), ending: .broken,
            reason: error)
    }
}

extension APIClient {
    /// A TCP connection for an app's own protocol. Nothing is sent before it is used.
    ///
    /// It is made under the trust policy, the proxy and the time-out of the client's options, as any other; plain TCP needs
    /// ``CallOptions/cleartext`` to allow the host. No service has a part in it: no header, cookie or credential is sent.
    ///
    /// - Parameters:
    ///   - host: a name, or a numeric address; an IPv6 one in brackets.
    ///   - port: 1 to 65,535.
    ///   - codec: cuts the bytes into frames; each connection has a copy.
    ///   - isSecure: whether TLS is spoken; it is by default.
    ///   - options: what this one channel wants different.
    ///   - settings: how it is kept.
    ///   - scope: ends it when it goes.
    public func tcp<Codec: FrameCodec>(
        _ host: String, port: Int, codec: Codec, isSecure: Bool = true, options: CallOptions = .init(),
        _ settings: TCPOptions<Codec.Frame> = .init(), in scope: CallScope? = nil
    ) -> TCPChannel<Codec> {
        let hooks = Locked(ChannelHooks<Codec.Frame>())
        let terms = ChannelTerms(
            reconnection: settings.reconnection, pingInterval: settings.heartbeat?.interval,
            pongTimeout: settings.heartbeat?.patience ?? .zero, bufferedBytes: settings.bufferedBytes)
        let endpoint = ChannelEndpoint(route: .get("/"), service: .unnamed)
        let engine = ChannelEngine<FramedMachine<Codec>>(terms, random: configuration.random) {
            [wasGiven = scope != nil, weak scope] in
            if wasGiven, scope == nil { return nil }
            return self.channelSession(endpoint, options, in: scope)
        } connect: { session throws(APIError) in
            let url = try Self.origin(host, port, isSecure: isSecure)
            let (wire, ended) = try await self.wire(to: url, options, session)
            return ChannelConnection(
                wire: wire, machine: FramedMachine(codec, settings.heartbeat), first: hooks.withLock { $0.first }(),
                isAwaited: { hooks.withLock { $0.isAwaited }() },
                ended: { error in
                    ended(error)
                    hooks.withLock { $0.lost }(error)
                })
        }
        return TCPChannel(engine, hooks)
    }

    static func origin(_ host: String, _ port: Int, isSecure: Bool) throws(APIError) -> HTTPURL {
        let text = "\(isSecure ? "https" : "http")://\(host):\(port)/"
        // Whatever could end the host, or be before it, would make another one of it.
        guard 1...65_535 ~= port, !host.isEmpty, !host.contains(where: { "@/?#\\".contains($0) }),
            let url = try? HTTPURL(text), url.path == "/", url.query == nil, url.port == port
        else {
            throw APIError(
                .invalidParameter(field: "host", reason: "is no host, or the port is none"), stage: .prepare)
        }
        return url
    }

    /// A connection for bytes, as a call that lasts as long as it.
    private func wire(
        to url: HTTPURL, _ options: CallOptions, _ session: ChannelSession
    ) async throws(APIError) -> (any TransportWire, @Sendable (APIError?) -> Void) {
        let request = HTTPRequest(method: .get, url: url)
        let endpoint = ChannelEndpoint(route: .get("/"), service: .unnamed)
        let terms = CallTerms(
            own: options, streams: true, origin: session.context, isAdopted: true)
        let call = ActiveCall(endpoint, .raw(request), terms, of: self)
        let wire = try await call.run { () async throws(APIError) -> any TransportWire in
            try await state.wire(try self.exchange(for: url, call.context), for: call.context)
        }
        return (wire, { call.finish($0) })
    }

    /// What a channel's connection is made with, once it is certain that there may be one.
    func exchange(for url: HTTPURL, _ context: CallContext) throws(APIError) -> TransportRequest {
        try context.checkGoesOn(at: .transport)
        try state.signOuts.check(context.isolation.identity)
        guard configuration.identity().isWritten(as: context.isolation.identity) else {
            throw APIError(.cancelled, stage: .prepare)
        }
        let cleartext = context.settings.cleartext
        guard cleartext.allows(url, by: context.isolation.proxy) else {
            let reason = cleartext.refusal(of: url, "a channel without encryption")
            throw APIError(.blocked(reason: reason), stage: .transport)
        }
        let (trust, resolver) = (context.isolation.trust, context.isolation.resolver)
        let capabilities = transport.capabilities
        if let missing = trust.refusal(by: capabilities) ?? resolver.refusal(by: capabilities) {
            throw APIError(.unsupported(feature: missing), stage: .transport)
        }
        return TransportRequest(
            HTTPRequest(method: .get, url: url), timeouts: context.settings.timeouts, limits: context.settings.limits,
            isolation: context.isolation, control: context.control)
    }
}
