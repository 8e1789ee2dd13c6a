import Foundation

/// Content that is stored while it is read. It is kept only when it has ended well and been read to its end.
final class TeedContent: TransportContent {
    private let content: any TransportContent
    private let fill: CacheFill
    private let cache: CacheAccess
    /// `nil` once nothing more is to be stored.
    private let writer: Locked<(any CacheBodyWriter)?>

    init(_ content: any TransportContent, writer: any CacheBodyWriter, fill: CacheFill, cache: CacheAccess) {
        self.content = content
        self.fill = fill
        self.cache = cache
        self.writer = Locked(writer)
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
            if let writer = writer.withLock({ $0 }), await !writer.append(piece) { abandon() }
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

    private func finish() async {
        guard let writer = take() else { return }
        await cache.fill(fill.ticket) { _ = await writer.finish() }
        // Does nothing once it has been finished.
        writer.abandon()
    }

    private func abandon() {
        take()?.abandon()
    }

    private func take() -> (any CacheBodyWriter)? {
        writer.withLock { writer in
            defer { writer = nil }
            return writer
        }
    }
}
