import Foundation
import PenstockCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The content of a streamed response, as its reader holds it. The session's task goes on until its content has ended
/// or this is let go of.
final class URLSessionContent: TransportContent {
    private let running: URLSessionExchange
    private let pipe: ContentPipe
    private let control: ExchangeControl
    private let state = Locked(State())

    private struct State {
        var isEnded = false
        var isDiscarded = false
    }

    init(of running: URLSessionExchange, _ pipe: ContentPipe, _ control: ExchangeControl) {
        self.running = running
        self.pipe = pipe
        self.control = control
    }

    deinit {
        discard()
    }

    func next() async throws(TransportError) -> Data? {
        guard !control.isCancelled else {
            end()
            throw TransportError(.cancelled, sendState: .answered)
        }
        let state = state.withLock { $0 }
        guard !state.isDiscarded else { return nil }
        guard !state.isEnded else { return try await pipe.read() }
        do throws(TransportError) {
            let piece = try await pipe.read()
            if piece == nil { end() }
            return piece
        } catch {
            end()
            throw error
        }
    }

    /// Foundation decodes what it receives and cannot be told not to, so only content without codings is passed over.
    func discard() {
        guard end() else { return }
        state.withLock { $0.isDiscarded = true }
        running.leave()
    }

    var completion: TransportCompletion { running.completion }

    @discardableResult
    private func end() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { control.detach() }
        return isFirst
    }
}

/// Stops a task while the reader of its content has enough, where the platform can.
final class URLSessionBrake: Sendable {
    private struct State {
        var task: URLSessionTask?
        var onRelease: (@Sendable () -> Void)?
        var isOn = false
    }

    private let state = Locked(State())

    /// - Parameter onRelease: called each time that the task goes on.
    func attach(_ task: URLSessionTask, onRelease: @escaping @Sendable () -> Void) {
        state.withLock { ($0.task, $0.onRelease) = (task, onRelease) }
    }

    /// - Returns: whether the task stops for it.
    func pull() -> Bool {
        let task = set(true)
        task?.suspend()
        return task != nil
    }

    func release() {
        guard let task = set(false) else { return }
        task.resume()
        state.withLock(\.onRelease)?()
    }

    private func set(_ isOn: Bool) -> URLSessionTask? {
        guard URLSessionPlatform.capabilities.contains(.suspension) else { return nil }
        return state.withLock { state in
            guard state.isOn != isOn else { return nil }
            state.isOn = isOn
            return state.task
        }
    }
}
