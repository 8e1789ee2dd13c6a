import Foundation

/// A connection that bytes go over both ways, and nothing else: under WebSockets and the app's own protocols. It was made under
/// the trust policy, the proxy policy and the time-out of the exchange that it was asked for with.
///
/// One task reads at a time, and one writes. What nobody reads stays on the wire, so that the other end has to wait. Letting go
/// of it closes it.
public protocol TransportWire: ControlledExchange {
    /// When the phases of the connection ended.
    var timings: Timings { get }
    /// What the bytes go over.
    var connection: ConnectionInfo { get }

    /// The next bytes, as soon as there are any, 64 KiB at most; `nil` at the end, and from then on. Over TLS a protocol without a
    /// name has an end only where TLS announces it, and any other is ``TransportError/Kind/connectionLost`` (RFC 8446 §6.1).
    ///
    /// - Throws: what broke the connection, or what it was ended with; again for every call that follows.
    func read() async throws(TransportError) -> Data?

    /// Returns once the system has taken all of the bytes.
    ///
    /// - Throws: what ``read()`` throws.
    func write(_ bytes: Data) async throws(TransportError)

    /// Tells the other end that nothing more is written: by the end of TLS where that is spoken, and by that of TCP. What the other
    /// end has still to say can be read on. Returns once the system has taken it.
    ///
    /// - Returns: `false`, also by default, where the wire has no such end: it is closed as a whole then.
    /// - Throws: what ``read()`` throws.
    func endWriting() async throws(TransportError) -> Bool

    /// Closes the connection behind what was written. Where bytes have come that nobody has read, the system may take back what the
    /// other end has not got yet. Nothing where it is closed.
    func close()

    /// Ends the connection at once; who reads or writes is told so. Nothing where it is closed.
    func fail(_ kind: TransportError.Kind)
}

extension TransportWire {
    /// Returns `false`, for wires that have no such end.
    public func endWriting() async throws(TransportError) -> Bool { false }
}

/// A socket for datagrams to one address and from it, and nothing else.
public protocol DatagramWire: ControlledExchange {
    /// The next datagram.
    ///
    /// - Throws: what ended the socket; again for every call that follows.
    func receive() async throws(TransportError) -> Data

    /// Hands a datagram to the system, which may lose it.
    ///
    /// - Throws: what ended the socket.
    func send(_ datagram: Data) throws(TransportError)

    /// Closes the socket, with this as the error of whoever uses it. Nothing where it is closed.
    func fail(_ kind: TransportError.Kind)
}

/// What is to be spoken over a wire, as far as TLS has to know (ALPN, RFC 7301).
@nonexhaustive
public enum WireProtocol: Hashable, Sendable {
    /// HTTP/1.1, which the connection is then taken over from.
    case http1
    /// A protocol that has no name there.
    case unnamed
}

extension Transport {
    /// Refuses, for transports that cannot give a wire.
    public func connect(
        _ request: TransportRequest, speaking: WireProtocol
    ) async throws(TransportError) -> any TransportWire {
        throw TransportError(.unsupported("channels"), sendState: .unsent)
    }

    /// Refuses, for transports that cannot send datagrams.
    public func datagrams(_ request: TransportRequest) async throws(TransportError) -> any DatagramWire {
        throw TransportError(.unsupported("datagrams"), sendState: .unsent)
    }

    /// No compression, for transports that have none.
    public var messageCompression: (any WebSocketCompression)? { nil }
}
