import Foundation

/// Content of a streamed response as an interceptor was given it. Where it sends again, this is given up: who reads it all the same
/// must not take what is missing for the end.
final class GivenContent: TransportContent {
    private struct State {
        var isGivenUp = false
        /// Whether it came to its end, or nobody wanted more, before it could be given up.
        var isOver = false
    }

    /// The task it was given to.
    let task = currentTask
    private let content: any TransportContent
    private let state = Locked(State())

    init(_ content: any TransportContent) {
        self.content = content
    }

    /// What tells this task from all others that go on; `nil` outside of tasks.
    static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// Closes the wire, or frees it, unless all has been read.
    func giveUp() {
        let isFirst = state.withLock { state in
            guard !state.isOver, !state.isGivenUp else { return false }
            state.isGivenUp = true
            return true
        }
        if isFirst { content.discard() }
    }

    func next() async throws(TransportError) -> Data? {
        try checkIsWanted()
        if let piece = try await content.next() { return piece }
        state.withLock { state in
            if !state.isGivenUp { state.isOver = true }
        }
        try checkIsWanted()
        return nil
    }

    private func checkIsWanted() throws(TransportError) {
        guard state.withLock(\.isGivenUp) else { return }
        throw TransportError(
            .other, sendState: .answered, message: "an interceptor has sent again before it read this content")
    }

    func discard() {
        state.withLock { $0.isOver = true }
        content.discard()
    }

    var completion: TransportCompletion { content.completion }
}
