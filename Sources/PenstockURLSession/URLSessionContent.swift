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
        if isFirst { control.detach(running) }
        return isFirst
    }
}
