import Foundation
import PenstockCore

/// The server's threads: one that accepts, and one for each connection.
final class LoopbackEngine: Sendable {
    private struct State {
        var isStopped = false
        var sockets: [Int: Socket] = [:]
    }

    private let listener: Locked<Listener?>
    private let ledger: LoopbackLedger
    private let configuration: LoopbackServer.Configuration
    let handler: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    private let state = Locked(State())
    private let threads = DispatchGroup()

    init(
        listener: Listener, ledger: LoopbackLedger, configuration: LoopbackServer.Configuration,
        handler: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) {
        self.listener = Locked(listener)
        self.ledger = ledger
        self.configuration = configuration
        self.handler = handler
    }

    func start() {
        startThread { [self] in acceptAll() }
    }

    func stop() {
        ledger.stop()
        let sockets = state.withLock { state in
            state.isStopped = true
            return Array(state.sockets.values)
        }
        listener.withLock { $0?.wake() }
        for socket in sockets { socket.shutDown() }
        threads.wait()
        listener.withLock { $0 = nil }
    }

    private func acceptAll() {
        guard let listener = listener.withLock({ $0 }) else { return }
        while let socket = listener.accept() { serve(socket) }
    }

    private func serve(_ socket: Socket) {
        let number = ledger.recordConnection()
        let isStopped = state.withLock { state in
            if !state.isStopped { state.sockets[number] = socket }
            return state.isStopped
        }
        guard !isStopped else { return ledger.recordClose() }
        startThread { [self] in
            run(number)
            ledger.recordClose()
        }
    }

    /// Holds the only lasting references to the socket, so that it is closed on return.
    private func run(_ number: Int) {
        guard let socket = state.withLock({ $0.sockets[number] }) else { return }
        LoopbackConnection(
            number: number, socket: socket, ledger: ledger, configuration: configuration, handler: handler
        ).run()
        _ = state.withLock { $0.sockets.removeValue(forKey: number) }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let thread = Thread { [threads] in
            body()
            threads.leave()
        }
        // Hundreds of connections at a time; a handler that decodes JSON fits well.
        thread.stackSize = 256 << 10
        thread.start()
    }
}
