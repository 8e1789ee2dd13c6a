import PenstockCore

/// The running record of one connection: its own threads write, tests read.
final class ConnectionTally: Sendable {
    let number: Int
    private let state: Locked<LoopbackServer.ConnectionRecord>
    private let isEnding = Locked(false)

    init(number: Int) {
        self.number = number
        state = Locked(.init(number: number))
    }

    var record: LoopbackServer.ConnectionRecord { state.withLock { $0 } }

    func received(_ count: Int) { state.withLock { $0.bytesReceived += count } }
    func sent(_ count: Int) { state.withLock { $0.bytesSent += count } }
    func request() { state.withLock { $0.requests += 1 } }

    func frame(_ frame: LoopbackServer.HTTP2Frame) {
        state.withLock { record in
            if record.frames.count < 10_000 { record.frames.append(frame) }
        }
    }

    func handshake(_ handshake: LoopbackServer.Handshake) {
        state.withLock { $0.handshake = handshake }
    }
    func closed() { state.withLock { $0.isOpen = false } }

    func fault(_ fault: LoopbackServer.ConnectionFault? = nil) {
        state.withLock { record in
            if let fault { record.connectionFault = fault }
            if record.bytesReceivedAtFault == nil { record.bytesReceivedAtFault = record.bytesReceived }
        }
    }

    /// The server closes: what comes after is not the client's doing.
    func serverEnds() { isEnding.withLock { $0 = true } }

    func clientEnded() {
        guard !isEnding.withLock({ $0 }) else { return }
        state.withLock { $0.closedByClient = true }
    }
}
