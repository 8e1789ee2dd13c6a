import Foundation

/// Content that is stored while it is read, once its call has accepted the head. It is kept only when it has ended well and
/// been read to its end.
final class TeedContent: TransportContent {
    private enum Writing: Sendable {
        /// Nothing has been read, and nobody has asked for it to be stored.
        case idle
        case on(any CacheBodyWriter)
        /// Nothing more is to be stored.
        case over
    }

    private let content: any TransportContent
    private let ticket: CacheAccess.Ticket
    private let access: CacheAccess
    private let writing = Locked(Writing.idle)

    init(_ content: any TransportContent, ticket: CacheAccess.Ticket, _ access: CacheAccess) {
        self.content = content
        self.ticket = ticket
        self.access = access
    }

    /// Stores what is read from now on, unless some was read already.
    func begin(_ writer: any CacheBodyWriter) {
        let isOn = writing.withLock { writing in
            guard case .idle = writing else { return false }
            writing = .on(writer)
            return true
        }
        if !isOn { writer.abandon() }
    }

    deinit {
        abandon()
    }

    func next() async throws(TransportError) -> Data? {
        do throws(TransportError) {
            guard let piece = try await content.next() else {
                await finish()
                return nil
            }
            if let writer = writer(), await !writer.append(piece) { abandon() }
            return piece
        } catch {
            abandon()
            throw error
        }
    }

    func discard() {
        abandon()
        content.discard()
    }

    var completion: TransportCompletion { content.completion }

    /// The writer of content whose storing has begun. What is read before cannot be stored any more.
    private func writer() -> (any CacheBodyWriter)? {
        writing.withLock { writing in
            if case .on(let writer) = writing { return writer }
            writing = .over
            return nil
        }
    }

    private func finish() async {
        guard let writer = take() else { return }
        await access.fill(ticket) { _ = await writer.finish() }
        // Does nothing once it has been finished.
        writer.abandon()
    }

    private func abandon() {
        take()?.abandon()
    }

    private func take() -> (any CacheBodyWriter)? {
        writing.withLock { writing in
            defer { writing = .over }
            if case .on(let writer) = writing { return writer }
            return nil
        }
    }
}
