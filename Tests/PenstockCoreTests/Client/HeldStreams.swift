import Foundation
import PenstockCore
import PenstockTestSupport

/// Answers with heads of these statuses, one after the other, whose content never comes: it ends when somebody ends it.
final class HeldStreams: Transport {
    struct State: Sendable {
        var opened = 0
        /// The numbers of the exchanges that were cancelled, and of those whose content was given up or let go of.
        var cancelled: [Int] = []
        var closed: Set<Int> = []
    }

    let capabilities = TransportCapabilities.all.subtracting(.channels)
    let state = Monitor(State())
    private let statuses: [Int]

    init(_ statuses: [Int]) {
        self.statuses = statuses
    }

    func open(_ request: TransportRequest) async throws(TransportError) -> TransportStream {
        let number = state.withLock { state in
            defer { state.opened += 1 }
            return state.opened
        }
        let running = Running(number, state)
        guard number < statuses.count, request.control.attach(running) else {
            throw TransportError(.cancelled, sendState: .unsent)
        }
        return TransportStream(HTTPResponse(status: statuses[number]), content: Content(running, request.control))
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupported("collecting"), sendState: .unsent)
    }

    func preconnect(_ request: TransportRequest) async throws(TransportError) {}
    func shutdown() async {}

    private final class Running: ControlledExchange {
        let number: Int
        let state: Monitor<State>
        let pipe = ContentPipe {}

        init(_ number: Int, _ state: Monitor<State>) {
            (self.number, self.state) = (number, state)
        }

        func cancel() {
            state.withLock { $0.cancelled.append(number) }
            pipe.end(.failure(TransportError(.cancelled, sendState: .answered)))
        }

        func suspend() {}
        func resume() {}
    }

    private final class Content: TransportContent {
        private let running: Running
        private let control: ExchangeControl

        init(_ running: Running, _ control: ExchangeControl) {
            (self.running, self.control) = (running, control)
        }

        deinit { discard() }

        func next() async throws(TransportError) -> Data? { try await running.pipe.read() }

        func discard() {
            control.detach(running)
            running.state.withLock { _ = $0.closed.insert(running.number) }
            running.pipe.end(.success(()))
        }

        var completion: TransportCompletion { TransportCompletion() }
    }
}
