import Foundation
import PenstockCore

/// Feeds a streamed body to one sending of it, no faster than the session reads.
///
/// The session takes the end of its stream for the end of the body. So the stream of a body that failed, or is not wanted any more,
/// stays open until the session reads no more of it: a part of a body never looks like all of it.
final class URLSessionBodyFeed: Sendable {
    /// What the session reads from, from the other side.
    struct Sink: Sendable {
        /// Returns when the session has room for more.
        ///
        /// - Throws: where the session reads no more.
        let write: @Sendable (Data) async throws -> Void
        /// Ends the body. Nothing is written then, nor after.
        let close: @Sendable () -> Void
        /// Takes away what the session reads from, so that no write waits for it.
        let drop: @Sendable () -> Void
    }

    private struct State: Sendable {
        var task: Task<Void, Never>?
        var isCancelled = false
        var isOver = false
    }

    private enum End {
        case complete
        case bodyFailed
        case sessionLeft
    }

    private let sink: Sink
    private let state = Monitor(State())

    /// - Parameters:
    ///   - open: the app's body, from its beginning.
    ///   - onFailure: called when that fails, as long as this sending counts. That the session reads no more is no failure of the
    ///     body: the session says itself what comes of it.
    init(
        _ open: @escaping @Sendable () throws -> HTTPBody.Chunks, into sink: Sink,
        onFailure: @escaping @Sendable () -> Void
    ) {
        self.sink = sink
        let task = Task {
            let end = await Self.feed(open, into: sink)
            // One that is cancelled may end like one that has come to its end.
            let isCancelled = self.state.withLock(\.isCancelled)
            if end == .bodyFailed, !isCancelled { onFailure() }
            if end != .complete || isCancelled { await self.state.wait { $0.isOver } }
            sink.close()
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private static func feed(_ open: () throws -> HTTPBody.Chunks, into sink: Sink) async -> End {
        do {
            for try await chunk in try open() {
                guard !Task.isCancelled else { return .sessionLeft }
                do { try await sink.write(chunk) } catch { return .sessionLeft }
            }
            return .complete
        } catch {
            return .bodyFailed
        }
    }

    /// Asks the app for no more. What the session has stays without an end until ``end()``.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// The session reads no more of it.
    func end() {
        cancel()
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { sink.drop() }
    }
}
