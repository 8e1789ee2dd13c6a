/// Tells those who listen how far an upload is. What they are told never goes back.
final class UploadReports: Sendable {
    private struct State {
        var progress: TransferProgress?
        var isOver = false
        var listeners: [AsyncStream<TransferProgress>.Continuation] = []
    }

    private let state = Locked(State())

    func stream() -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let (progress, isOver) = state.withLock { state in
            if !state.isOver { state.listeners.append(continuation) }
            return (state.progress, state.isOver)
        }
        if let progress { continuation.yield(progress) }
        if isOver { continuation.finish() }
        return stream
    }

    func begin(total: Int, confirmed: Int) {
        let progress = TransferProgress(expectedToSend: total)
        state.withLock { state in
            state.progress = progress
            for listener in state.listeners { listener.yield(progress) }
        }
        confirm(confirmed)
    }

    /// - Parameter offset: in the file.
    func send(_ offset: Int) {
        change { $0.sent = max($0.sent, offset) }
    }

    /// - Parameter offset: in the file.
    func confirm(_ offset: Int) {
        change { progress in
            progress.acknowledged = max(progress.acknowledged, offset)
            progress.sent = max(progress.sent, offset)
        }
    }

    func complete() {
        change { progress in
            progress.sent = progress.expectedToSend ?? 0
            progress = progress.completed()
        }
    }

    func end() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.finish() }
    }

    private func change(_ body: (inout TransferProgress) -> Void) {
        // Told with the lock held, so that nobody hears of it in another order; a listener's buffer takes it at once.
        state.withLock { state in
            guard var next = state.progress, !next.isComplete else { return }
            body(&next)
            next = next.following(state.progress)
            guard next != state.progress else { return }
            state.progress = next
            for listener in state.listeners { listener.yield(next) }
        }
    }
}
