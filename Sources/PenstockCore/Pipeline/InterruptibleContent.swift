import Foundation

/// Content of a transport of the app's, which may not end when it is told to. Who reads it waits no longer than the call goes
/// on, and each piece costs a task.
final class InterruptibleContent: TransportContent {
    private let content: any TransportContent
    private let call: CallContext
    /// Whether somebody has stopped to wait for a piece, which may still come: no other is asked for then.
    private let isLeft = Locked(false)

    init(_ content: any TransportContent, of call: CallContext) {
        self.content = content
        self.call = call
    }

    func next() async throws(TransportError) -> Data? {
        let left = TransportError(.cancelled, sendState: .answered, message: "cancelled")
        guard !isLeft.withLock({ $0 }) else { throw left }
        let promise = Promise<Result<Data?, TransportError>>()
        let task = Task { [content] in
            promise.keep(await Result { () async throws(TransportError) in try await content.next() })
        }
        guard let result = await call.wait(for: promise) else {
            isLeft.withLock { $0 = true }
            task.cancel()
            throw left
        }
        return try result.get()
    }

    func discard() {
        content.discard()
    }

    var completion: TransportCompletion { content.completion }
}
