import Foundation
import PenstockCore

/// The server's threads: one that accepts, and one for each connection.
final class LoopbackEngine: Sendable {
    private struct State {
        var isStopped = false
        var wires: [Int: (socket: Socket, tally: ConnectionTally)] = [:]
    }

    private let listener: Locked<Listener?>
    let service: LoopbackService
    private let state = Locked(State())
    private let threads = ThreadGroup()

    init(listener: Listener, service: LoopbackService) {
        self.listener = Locked(listener)
        self.service = service
    }

    func start() {
        threads.start { [self] in acceptAll() }
    }

    func stop() {
        service.ledger.stop()
        let wires = state.withLock { state in
            state.isStopped = true
            return Array(state.wires.values)
        }
        listener.withLock { $0?.wake() }
        for wire in wires {
            wire.tally.serverEnds()
            wire.socket.shutDown()
        }
        threads.wait()
        listener.withLock { $0 = nil }
    }

    private func acceptAll() {
        guard let listener = listener.withLock({ $0 }) else { return }
        while let descriptor = listener.accept() { serve(descriptor) }
    }

    private func serve(_ descriptor: Int32) {
        let tally = service.ledger.recordConnection()
        guard enter(descriptor, tally) else { return service.ledger.recordClose(tally) }
        threads.start { [self] in
            run(tally)
            service.ledger.recordClose(tally)
        }
    }

    /// The only reference that is left is the engine's. This thread, if it were stopped while it held another, would keep a
    /// socket open whose end has been recorded.
    ///
    /// - Returns: `false` once the server has stopped.
    private func enter(_ descriptor: Int32, _ tally: ConnectionTally) -> Bool {
        let socket = Socket(adopting: descriptor)
        return state.withLock { state in
            if !state.isStopped { state.wires[tally.number] = (socket, tally) }
            return !state.isStopped
        }
    }

    /// Holds the only lasting references to the socket, so that it is closed on return.
    private func run(_ tally: ConnectionTally) {
        guard let socket = state.withLock({ $0.wires[tally.number]?.socket }) else { return }
        let wire = Wire(socket, tally: tally, configuration: service.configuration)
        LoopbackConnection(wire: wire, service: service, threads: threads).run()
        _ = state.withLock { $0.wires.removeValue(forKey: tally.number) != nil }
    }
}
