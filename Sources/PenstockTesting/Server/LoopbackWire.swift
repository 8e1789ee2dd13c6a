import Foundation
import PenstockCore

/// A connection of the server after its protocol has changed, or from its beginning: bytes both ways, on the connection's thread.
public final class LoopbackWire {
    private let wire: Wire
    private var rest: Data

    init(_ wire: Wire, rest: Data = Data()) {
        self.wire = wire
        self.rest = rest
    }

    /// Waits for bytes; `nil` once the client has closed, or the server is stopped.
    public func receive() -> Data? {
        guard rest.isEmpty else {
            defer { rest = Data() }
            return rest
        }
        return wire.receive().map { Data($0) }
    }

    /// Whether there is something to receive, or the end, within the time.
    public func isReadable(within duration: Duration) -> Bool {
        !rest.isEmpty || wire.isReadable(within: duration)
    }

    /// - Returns: `false` when the client was gone.
    @discardableResult
    public func send(_ bytes: Data) -> Bool {
        wire.send(bytes)
    }

    /// Makes the close that follows a reset.
    public func reset() {
        wire.resetOnClose()
    }

    /// Waits until the client goes or the server stops, and reads nothing meanwhile.
    public func waitForHangUp() {
        wire.waitForHangUp()
    }
}

extension LoopbackServer.Response {
    /// Changes the protocol (RFC 9110 §7.8), and hands the connection over to `serve`, at whose end it is closed. HTTP/1.1 alone.
    public static func upgrade(
        _ fields: HTTPFields, serve: @escaping @Sendable (LoopbackWire) -> Void
    ) -> Self {
        var response = Self(status: 101, fields: fields)
        response.content = .takeOver(serve)
        response.ending = .close
        return response
    }

    /// Answers a request for a WebSocket, or refuses it with 400, or with 426 where it asks for another version than 13.
    ///
    /// ```swift
    /// let server = try LoopbackServer { .webSocket($0) { $0.echo() } }
    /// ```
    ///
    /// - Parameters:
    ///   - request: whose handshake it is.
    ///   - fields: besides those of the handshake, which they replace where the names are the same.
    ///   - subprotocols: those that the server speaks, by preference. None by default.
    ///   - compression: what compresses; `nil`, the default, for none.
    ///   - serve: what the server does with it; the connection is closed when it returns.
    public static func webSocket(
        _ request: LoopbackServer.Request, fields: HTTPFields = [:], subprotocols: [String] = [],
        compression: (any WebSocketCompression)? = nil,
        serve: @escaping @Sendable (LoopbackWebSocket) -> Void
    ) -> Self {
        guard
            var (agreement, answer) = try? WebSocketHandshake.answer(
                request.method, request.fields, subprotocols: subprotocols, compresses: compression != nil)
        else {
            let versions = request.fields.values(of: "Sec-WebSocket-Version")
            guard !versions.isEmpty, versions != ["13"] else { return Self(status: 400) }
            // RFC 6455 §4.4, and RFC 9110 §15.5.22 for the field that every such answer has.
            return Self(status: 426, fields: ["Sec-WebSocket-Version": "13", "Upgrade": "websocket"])
        }
        answer.merge(fields)
        agreement.deflate = compression == nil ? nil : agreement.deflate
        return .upgrade(answer) { [agreement] wire in
            let machine = try? WebSocketMachine(.server, deflate: agreement.deflate, compression: compression)
            guard let machine else { return }
            serve(LoopbackWebSocket(wire, machine))
        }
    }
}

/// The server's end of a WebSocket, for the connection's thread.
public final class LoopbackWebSocket {
    /// The bytes below, for what no good server would send.
    public let wire: LoopbackWire
    private var machine: WebSocketMachine

    init(_ wire: LoopbackWire, _ machine: WebSocketMachine) {
        self.wire = wire
        self.machine = machine
    }

    /// Waits for what comes next; `nil` once the client is gone or has broken the protocol, which it is told.
    public func receive() -> WebSocketMachine.Event? {
        while true {
            let event = try? machine.next()
            wire.send(machine.takeOutput())
            if let event { return event }
            guard machine.state != .closed, let bytes = wire.receive() else { return nil }
            machine.receive(bytes)
        }
    }

    /// Waits for the next message; `nil` once there is none to come.
    public func message() -> WebSocketMessage? {
        while let event = receive() {
            if case .message(let message) = event { return message }
        }
        return nil
    }

    /// Sends each message back, until the client closes.
    public func echo() {
        while let message = message() { send(message) }
    }

    /// - Returns: `false` when the client was gone, or the socket is closing.
    @discardableResult
    public func send(_ message: WebSocketMessage, fragmentBytes: Int = .max) -> Bool {
        do {
            try machine.send(message, fragmentBytes: fragmentBytes)
            return wire.send(machine.takeOutput())
        } catch {
            return false
        }
    }

    /// Sends a ping.
    public func ping(_ payload: Data = Data()) {
        try? machine.ping(payload)
        wire.send(machine.takeOutput())
    }

    /// Sends a Close frame, and waits for the client's.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        try? machine.close(code, reason: reason)
        while receive() != nil {}
    }
}
