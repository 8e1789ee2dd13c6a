import Foundation

/// How a ``WebSocket`` is asked for and kept.
public struct WebSocketOptions: Sendable {
    /// The application's protocols, by preference; the server chooses one or none. None by default. Each is a token (RFC 6455
    /// §4.1); with another name the socket fails as ``APIError/Kind/invalidParameter(field:reason:)``, and nothing is sent.
    public var subprotocols: [String]
    /// What is offered about compression; `nil` for none. By default messages are compressed with whole windows, where the
    /// transport can (``Transport/messageCompression``) and the server will.
    public var deflate: WebSocketDeflate?
    /// How much of what comes is accepted.
    public var limits: WebSocketLimits
    /// How long no byte comes before the server is sent a ping; `nil` for never. 20 s by default, which is below the 30 s after
    /// which the strictest of mobile networks forget a connection.
    public var pingInterval: Duration?
    /// How long no byte comes after a ping before the connection counts as lost: ``APIError/Kind/timeout(_:)`` with
    /// ``TimeoutPhase/idle``. 20 s by default.
    public var pongTimeout: Duration
    /// Whether it connects again by itself; not by default.
    public var reconnection: ChannelReconnection?
    /// How many bytes of messages are kept that nobody has read. 1 MiB by default; then the server has to wait. One message
    /// always has room, and more than 1,024 never have.
    public var bufferedBytes: Int

    /// The defaults, but for what is named.
    public init(
        subprotocols: [String] = [], deflate: WebSocketDeflate? = WebSocketDeflate(), limits: WebSocketLimits = .init(),
        pingInterval: Duration? = .seconds(20), pongTimeout: Duration = .seconds(20),
        reconnection: ChannelReconnection? = nil, bufferedBytes: Int = 1 << 20
    ) {
        self.subprotocols = subprotocols
        self.deflate = deflate
        self.limits = limits
        self.pingInterval = pingInterval
        self.pongTimeout = pongTimeout
        self.reconnection = reconnection
        self.bufferedBytes = bufferedBytes
    }
}

extension WebSocketOptions: CustomReflectable {
    /// A subprotocol may carry a token, as browsers can send no field of their own: `bearer.…`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "subprotocols": Redaction.subprotocols(subprotocols), "deflate": deflate as Any, "limits": limits,
                "pingInterval": pingInterval as Any, "pongTimeout": pongTimeout, "reconnection": reconnection as Any,
                "bufferedBytes": bufferedBytes,
            ], displayStyle: .struct)
    }
}

/// A WebSocket of a client (RFC 6455), from ``APIClient/webSocket(_:options:_:in:)-(E,_,_,_)``.
///
/// ```swift
/// let socket = client.webSocket("/chat")
/// try await socket.send("hello")
/// for try await message in socket.messages { print(message.text ?? "") }
/// await socket.close()
/// ```
///
/// Its upgrade is a request of the service: common headers, cookies, credential and interceptors as any other has them, and a
/// refused credential is renewed once. The 101 is in the events. Redirects are not followed.
///
/// The messages end when the server closes with 1000, 1001 or no code; they throw ``APIError/Kind/transport(_:)`` with a
/// ``WebSocketClosure`` as its `underlying` for any other code, and with a ``WebSocketFailure`` where the server broke the
/// protocol. Pings are answered by themselves while there is room for messages.
public final class WebSocket: Channel {
    private let engine: ChannelEngine<WebSocketChannel>
    private let agreement: Locked<WebSocketHandshake.Agreement>
    private let closure: Locked<WebSocketClosure?>

    init(
        _ engine: ChannelEngine<WebSocketChannel>, _ agreement: Locked<WebSocketHandshake.Agreement>,
        _ closure: Locked<WebSocketClosure?>
    ) {
        self.engine = engine
        self.agreement = agreement
        self.closure = closure
    }

    deinit {
        engine.cancel()
    }

    public func open() async throws(APIError) { try await engine.open() }

    /// Sends a message, and returns when the system has taken it.
    public func send(_ message: WebSocketMessage) async throws(APIError) { try await engine.send(message) }

    /// The messages as they come.
    public var messages: ChannelMessages<WebSocketMessage> {
        ChannelMessages { [self] () async throws(APIError) in try await engine.next() }
    }

    /// Closes it with ``WebSocketCloseCode/normal``, and waits up to 5 s for the server to do the same. Messages that come
    /// meanwhile are dropped.
    public func close() async { await engine.close() }

    /// Ends it at once, without a word to the server.
    public func cancel() { engine.cancel() }

    /// Whether there is a connection at the moment.
    public var isOpen: Bool { engine.isOpen }

    /// The subprotocol that the server has chosen; `nil` where it has chosen none, and before it has.
    public var subprotocol: String? { agreement.withLock { $0.subprotocol } }

    /// How messages are compressed; `nil` where they are not.
    public var compression: WebSocketDeflate? { agreement.withLock { $0.deflate } }

    /// How the server has closed the last connection; `nil` while it has not.
    public var closedBy: WebSocketClosure? { closure.withLock { $0 } }
}

/// How the other end of a WebSocket has closed it.
public struct WebSocketClosure: Error, Hashable, Sendable, CustomStringConvertible {
    /// ``WebSocketCloseCode/none`` where it gave none, ``WebSocketCloseCode/abnormal`` where the connection ended without.
    public let code: WebSocketCloseCode
    /// The reason as the other end wrote it; empty where it wrote none.
    public let reason: String

    /// A closure.
    public init(code: WebSocketCloseCode, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    public var description: String {
        code == .abnormal
            ? "the connection has ended, and the other end has not closed the socket before"
            : "the other end has closed the socket with \(code)"
    }
}

/// A WebSocket's machine as the protocol of a channel.
struct WebSocketChannel: ChannelMachine {
    private var machine: WebSocketMachine
    private let closure: Locked<WebSocketClosure?>

    init(_ machine: WebSocketMachine, _ closure: Locked<WebSocketClosure?>) {
        self.machine = machine
        self.machine.concludesLater = true
        self.closure = closure
    }

    mutating func receive(_ bytes: Data) {
        machine.receive(bytes)
    }

    mutating func event() throws(ChannelFault) -> ChannelEvent<WebSocketMessage>? {
        do throws(WebSocketFailure) {
            switch try machine.next() {
            case .message(let message): return .message(message, bytes: message.size)
            case .ping, .pong: return .other
            case .closed(let code, let reason): return .closed(fault(WebSocketClosure(code: code, reason: reason)))
            case nil: return nil
            }
        } catch {
            throw ChannelFault(error)
        }
    }

    mutating func encode(_ message: WebSocketMessage) throws(ChannelFault) {
        do throws(WebSocketFailure) { try machine.send(message) } catch { throw ChannelFault(error) }
    }

    mutating func probe() throws(ChannelFault) {
        do throws(WebSocketFailure) { try machine.ping() } catch { throw ChannelFault(error) }
    }

    mutating func finish() -> ChannelGoodbye {
        let isOpen = machine.state == .open
        try? machine.close()
        return isOpen && machine.state == .closing ? .answered : .none
    }

    mutating func conclude() -> Bool {
        defer { machine.conclude() }
        return machine.owesGoodbye
    }

    mutating func takeOutput() -> Data { machine.takeOutput() }

    func judgeEnd() -> ChannelFault? { fault(WebSocketClosure(code: .abnormal)) }

    private func fault(_ closed: WebSocketClosure) -> ChannelFault? {
        closure.withLock { $0 = closed }
        if closed.code == .normal { return nil }
        return ChannelFault(
            kind: .transport(.connectionLost), ending: .closed(closed.code), reason: closed,
            isGraceful: closed.code == .goingAway || closed.code == .none)
    }
}

extension WebSocketMessage {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }
}

extension ChannelFault {
    init(_ failure: WebSocketFailure) {
        let kind: APIError.Kind =
            switch failure.kind {
            case .messageTooBig, .tooManyFragments: .limitExceeded(.bodyBytes)
            case .notOpen: .transport(.connectionLost)
            case .invalidRequest: .invalidParameter(field: "message", reason: failure.reason)
            default: .transport(.protocolViolation)
            }
        self.init(kind: kind, ending: .broken, reason: failure)
    }
}
