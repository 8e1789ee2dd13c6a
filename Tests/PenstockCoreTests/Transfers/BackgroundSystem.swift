import Foundation
import PenstockCore

@testable import PenstockCore

/// Plays the system's background sessions: what it was given outlives the process that gave it, and each later process asks for
/// it by a session of its own.
final class BackgroundSystem: Sendable {
    struct State: Sendable {
        /// What it has not sent yet.
        var tasks: [BackgroundUpload] = []
        /// Everything that it was ever given.
        var begun: [BackgroundUpload] = []
        var cancelled: [String] = []
        var partitions: [Set<String>] = []
        /// What happened while no process was there to be told.
        var untold: [BackgroundEvent] = []
        var listener: (process: ObjectIdentifier, tell: @Sendable (BackgroundEvent) -> Void)?
        /// Whether it sends at once what it is given.
        var isEager = true
        /// What it refuses to take.
        var refusal: TransportError?
    }

    let server: UploadServer
    let state = Monitor(State())

    init(_ server: UploadServer, isEager: Bool = true) {
        self.server = server
        state.withLock { $0.isEager = isEager }
    }

    func process() -> Process { Process(self) }

    /// Returns once it has so many requests that it has not sent.
    func hasTasks(_ count: Int = 1) async {
        await state.waitUnlessCancelled { $0.tasks.count == count }
    }

    /// Sends what it has.
    func send() async {
        while let upload = state.withLock({ $0.tasks.first }) { await send(upload) }
    }

    private func send(_ upload: BackgroundUpload) async {
        var request = upload.request
        let content = (try? Data(contentsOf: upload.file)) ?? Data()
        request.body = .bytes(content)
        let exchange = TransportRequest(request)
        let outcome = await Result { () async throws(TransportError) in
            try await self.server.perform(exchange).response
        }
        guard end(upload.key.text) else { return }
        tell(.sent(upload.key.text, content.count))
        tell(.ended(upload.key.text, outcome))
    }

    /// Gives up what it has.
    func giveUp(_ kind: TransportError.Kind) {
        for key in state.withLock({ $0.tasks.map(\.key.text) }) where end(key) {
            tell(.ended(key, .failure(TransportError(kind, sendState: .maybeProcessed))))
        }
    }

    /// Forgets what it has, and tells nobody.
    func lose() {
        state.withLock { ($0.tasks, $0.untold) = ([], []) }
    }

    /// - Returns: whether it had it still.
    private func end(_ key: String) -> Bool {
        state.withLock { state in
            let count = state.tasks.count
            state.tasks.removeAll { $0.key.text == key }
            return state.tasks.count < count
        }
    }

    func tell(_ event: BackgroundEvent) {
        let tell = state.withLock { state in
            if state.listener == nil { state.untold.append(event) }
            return state.listener?.tell
        }
        tell?(event)
    }

    /// The system, as one process knows it.
    final class Process: BackgroundSession {
        private let system: BackgroundSystem
        private let isDead = Locked(false)

        fileprivate init(_ system: BackgroundSystem) {
            self.system = system
        }

        let capabilities: TransportCapabilities = [.trustPolicy, .pinning]

        func open(
            _ partitions: Set<String>, _ tell: @escaping @Sendable (BackgroundEvent) -> Void
        ) async -> [String: Int] {
            guard !isDead.withLock({ $0 }) else { return [:] }
            let untold = system.state.withLock { state in
                state.partitions.append(partitions)
                state.listener = (ObjectIdentifier(self), tell)
                defer { state.untold = [] }
                return state.untold
            }
            for event in untold { tell(event) }
            return system.state.withLock { state in
                Dictionary(state.tasks.map { ($0.key.text, 7) }) { first, _ in first }
            }
        }

        func begin(_ upload: BackgroundUpload) throws(TransportError) {
            guard !isDead.withLock({ $0 }) else { return }
            let (isEager, refusal) = system.state.withLock { state in
                if state.refusal == nil {
                    state.tasks.append(upload)
                    state.begun.append(upload)
                }
                return (state.isEager, state.refusal)
            }
            if let refusal { throw refusal }
            if isEager { Task { [system] in await system.send() } }
        }

        func cancel(_ key: String) {
            guard !isDead.withLock({ $0 }) else { return }
            system.state.withLock { $0.cancelled.append(key) }
            guard system.end(key) else { return }
            system.tell(.ended(key, .failure(TransportError(.cancelled, sendState: .maybeProcessed))))
        }

        func close() {
            system.state.withLock { state in
                if state.listener?.process == ObjectIdentifier(self) { state.listener = nil }
            }
        }

        /// Ends the process: nothing that it does from now on reaches the system, and it hears of nothing.
        func kill() {
            isDead.withLock { $0 = true }
            close()
        }
    }
}
