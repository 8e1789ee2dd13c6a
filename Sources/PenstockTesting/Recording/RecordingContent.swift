import Foundation
import PenstockCore

/// Content that is kept while it is read, and told of once: at its end, when it fails, or when nobody wants more of it.
final class RecordingContent: TransportContent {
    private let content: any TransportContent
    private let request: HTTPRequest
    private let seen: Locked<HTTPResponse?>
    private let keep: @Sendable (Recording.Outcome) -> Void

    init(
        _ content: any TransportContent, of head: HTTPResponse, to request: HTTPRequest,
        keep: @escaping @Sendable (Recording.Outcome) -> Void
    ) {
        self.content = content
        self.request = request
        self.keep = keep
        seen = Locked(head)
    }

    deinit {
        end()
    }

    func next() async throws(TransportError) -> Data? {
        do throws(TransportError) {
            guard let piece = try await content.next() else {
                end()
                return nil
            }
            seen.withLock { $0?.body.append(piece) }
            return piece
        } catch {
            end(error)
            throw error
        }
    }

    func discard() {
        content.discard()
        end()
    }

    var completion: TransportCompletion { content.completion }

    private func end(_ error: TransportError? = nil) {
        let ended = seen.withLock { seen in
            defer { seen = nil }
            return seen
        }
        guard var response = ended else { return }
        response.trailers = content.completion.trailers
        keep(error.map { .failure(.init($0)) } ?? .response(.init(response, to: request)))
    }
}
