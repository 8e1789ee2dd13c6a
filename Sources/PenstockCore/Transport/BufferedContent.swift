import Foundation

/// Content that is there already, handed over piece by piece: of doubles, and of responses that no wire brought.
public final class BufferedContent: TransportContent {
    private struct State {
        var pieces: ArraySlice<Data>
        var failure: TransportError?
        var isDiscarded = false
    }

    private let state: Locked<State>
    private let final: TransportCompletion

    /// Content of these pieces.
    ///
    /// - Parameters:
    ///   - pieces: empty ones are left out.
    ///   - failure: what ends the content after the last piece; `nil` for a good end.
    public init(
        _ pieces: [Data], failure: TransportError? = nil, completion: TransportCompletion = TransportCompletion()
    ) {
        state = Locked(State(pieces: pieces.filter { !$0.isEmpty }[...], failure: failure))
        final = completion
    }

    public func next() async throws(TransportError) -> Data? {
        try state.withLock { state throws(TransportError) in
            guard !state.isDiscarded else { return nil }
            if let piece = state.pieces.popFirst() { return piece }
            if let failure = state.failure { throw failure }
            return nil
        }
    }

    public func discard() {
        state.withLock { $0.isDiscarded = true }
    }

    public var completion: TransportCompletion { final }
}
