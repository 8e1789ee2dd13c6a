import Foundation

/// The bytes of a connection as its protocol sees them: counted, held back where a throttle says so, and by way of TLS
/// where there is TLS. For one thread.
final class Wire {
    let socket: Socket
    let tally: ConnectionTally
    private let sending: LoopbackServer.Throttle?
    private let receiving: LoopbackServer.Throttle?
    private var tls: (any TLSEngine)?
    private var pending: [UInt8] = []
    private var hasEnded = false

    init(_ socket: Socket, tally: ConnectionTally, configuration: LoopbackServer.Configuration) {
        self.socket = socket
        self.tally = tally
        sending = configuration.sending
        receiving = configuration.receiving
    }

    // MARK: Reading

    /// Waits for bytes and returns some; `nil` once the peer has closed or the connection broke.
    func receive() -> [UInt8]? {
        while pending.isEmpty, !hasEnded { pull() }
        defer { pending = [] }
        return pending.isEmpty ? nil : pending
    }

    /// Whether there is something to read (or the end of the stream) within the time; `nil` means for ever.
    func isReadable(within duration: Duration?) -> Bool {
        let clock = ContinuousClock()
        let deadline = duration.map { clock.now.advanced(by: $0) }
        while pending.isEmpty, !hasEnded {
            let rest = deadline.map { max(.zero, clock.now.duration(to: $0)) }
            guard socket.isReadable(within: rest) else { return false }
            pull()
        }
        return true
    }

    /// Waits for something to read, or for another descriptor to have something.
    ///
    /// - Returns: whether it is the connection that has.
    func hasArrived(orWoken other: Int32) -> Bool {
        if !pending.isEmpty || hasEnded { return true }
        return socket.isReadable(orWoken: other)
    }

    /// What has arrived, maybe nothing when TLS needs more; `nil` once the peer has closed or the connection broke. To be
    /// called when ``hasArrived(orWoken:)`` says so, and does not wait then.
    func receiveArrived() -> [UInt8]? {
        if pending.isEmpty, !hasEnded { pull() }
        defer { pending = [] }
        return pending.isEmpty && hasEnded ? nil : pending
    }

    private func pull() {
        guard let bytes = receiveRaw() else {
            hasEnded = true
            return
        }
        guard let tls else {
            pending = bytes
            return
        }
        let opened = tls.open(bytes)
        pending = opened.content
        hasEnded = opened.isLast
        // An answer that TLS itself owes, to a key update for instance.
        _ = sendRaw(tls.takeOutput())
    }

    private func receiveRaw() -> [UInt8]? {
        guard let bytes = socket.receive(upTo: min(receiving?.bytes ?? .max, 64 << 10)) else {
            tally.clientEnded()
            return nil
        }
        tally.received(bytes.count)
        if let receiving { socket.waitForHangUp(within: receiving.interval) }
        return bytes
    }

    // MARK: Writing

    /// - Returns: `false` when the connection broke before all was handed to the system.
    func send(_ bytes: Data) -> Bool {
        guard let tls else { return sendRaw(bytes) }
        return tls.seal(bytes) && sendRaw(tls.takeOutput())
    }

    private func sendRaw(_ bytes: some ContiguousBytes & Collection<UInt8>) -> Bool {
        guard let sending else { return sendAtOnce(bytes) }
        var rest = Data(bytes)
        while !rest.isEmpty {
            guard sendAtOnce(rest.prefix(sending.bytes)) else { return false }
            rest = rest.dropFirst(sending.bytes)
            if !rest.isEmpty { socket.waitForHangUp(within: sending.interval) }
        }
        return true
    }

    private func sendAtOnce(_ bytes: some ContiguousBytes & Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return true }
        guard socket.send(bytes) else { return false }
        tally.sent(bytes.count)
        return true
    }

    // MARK: TLS

    /// Speaks TLS from here on.
    ///
    /// - Returns: how the handshake went.
    func secure(with engine: any TLSEngine) -> LoopbackServer.Handshake {
        var step = engine.handshake([])
        while true {
            let isSent = sendRaw(engine.takeOutput())
            switch step {
            case .complete(let rest):
                (tls, pending) = (engine, rest)
                return engine.summary(failure: nil)
            case .failed(let reason): return engine.summary(failure: reason)
            case .needsMore:
                guard isSent, let bytes = receiveRaw() else {
                    return engine.summary(failure: "the client closed the connection")
                }
                step = engine.handshake(bytes)
            }
        }
    }

    // MARK: Ending

    /// Closes both directions without a word. What the client has already sent is read first: unread bytes would turn the
    /// close into a reset.
    func closeSilently() {
        tally.serverEnds()
        socket.finishSending()
        discardArrived()
    }

    /// Ends the sending direction as the protocol wants it, and reads until the client closes too.
    func finish(within limit: Duration? = nil) {
        sayGoodbye()
        tally.serverEnds()
        socket.finishSending()
        while socket.isReadable(within: limit), receiveRaw() != nil {}
    }

    /// Says goodbye in TLS, and leaves the rest to the close of the socket.
    func sayGoodbye() {
        if let tls { _ = sendRaw(tls.goodbye()) }
    }

    /// Makes the close that follows a reset.
    func resetOnClose() {
        tally.serverEnds()
        socket.resetOnClose()
    }

    /// Waits until the client goes or the server stops, without reading what the client sends meanwhile.
    func waitForHangUp() {
        socket.waitForHangUp(within: nil)
        discardArrived()
        tally.clientEnded()
    }

    private func discardArrived() {
        for _ in 0..<1_000 {
            guard socket.isReadable(within: .zero), let bytes = socket.receive() else { return }
            tally.received(bytes.count)
        }
    }
}
