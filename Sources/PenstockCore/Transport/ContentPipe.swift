import Foundation

/// The content of a response between the thread that receives it and the task that reads it. For transports.
///
/// What was received and not yet read never exceeds ``capacity`` by more than one piece: past it the transport stops
/// receiving, until `onDemand` asks for more.
public final class ContentPipe: Sendable {
    fileprivate struct State {
        var pieces: ArraySlice<Data> = []
        var byteCount = 0
        var isFull = false
        var end: Result<Void, TransportError>?
        /// The reader, apart from the others, for which an array would be made: there is to be one.
        var reader: UnsafeContinuation<Void, Never>?
        var others: [UnsafeContinuation<Void, Never>] = []
    }

    /// How much the pipe holds, in bytes. 256 KiB by default.
    public let capacity: Int
    private let onDemand: @Sendable () -> Void
    private let state = Locked(State())

    /// An empty pipe.
    ///
    /// - Parameter onDemand: called by the reader, once after each time that ``requestRoom(beside:)`` or ``push(_:)`` gave
    ///   `false`, when there is room again; must return at once.
    public init(capacity: Int = 256 << 10, onDemand: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.onDemand = onDemand
    }

    // MARK: The transport's side

    /// Asks for room for more. Where there is none, `onDemand` tells when there is.
    ///
    /// - Parameter count: bytes that the transport is about to add. 0 by default.
    /// - Returns: `false` when no more should come before `onDemand`.
    public func requestRoom(beside count: Int = 0) -> Bool {
        state.withLock { state in
            state.isFull = state.byteCount + count >= capacity
            return !state.isFull
        }
    }

    /// Adds a piece.
    ///
    /// - Returns: `false` when no more should come before `onDemand`.
    public func push(_ piece: Data) -> Bool {
        add(piece)
        return requestRoom()
    }

    /// Whether no more should come for now: ``push(_:)`` said so, and `onDemand` has not been called for it since. Nobody is held
    /// back after the end.
    package var isHoldingBack: Bool { state.withLock { $0.isFull && $0.end == nil } }

    /// Nothing more comes; only the first end counts. What is buffered can still be read, also where the connection was lost or
    /// fell silent, so that an interrupted download goes on behind all that came. Any other failure ends the reading at once.
    public func end(_ result: Result<Void, TransportError>) {
        let (reader, others) = state.withLock { state in
            guard state.end == nil else { return ContentPipe.State.nobody }
            state.end = result
            if case .failure(let error) = result, !Self.leavesContent(error.kind) {
                (state.pieces, state.byteCount) = ([], 0)
            }
            return state.takeReaders()
        }
        reader?.resume()
        for other in others { other.resume() }
    }

    private static func leavesContent(_ kind: TransportError.Kind) -> Bool {
        kind == .connectionLost || kind == .timeout(.idle)
    }

    /// Adds a piece, if it is not empty.
    public func add(_ piece: Data) {
        guard !piece.isEmpty else { return }
        let (reader, others) = state.withLock { state in
            guard state.end == nil else { return ContentPipe.State.nobody }
            state.pieces.append(piece)
            state.byteCount += piece.count
            return state.takeReaders()
        }
        reader?.resume()
        for other in others { other.resume() }
    }

    // MARK: The reader's side

    /// The next piece as it was received; `nil` at the end. There is to be one reader: of several each gets other pieces, and all
    /// of them the end.
    ///
    /// - Throws: the failure that was the end.
    public func read() async throws(TransportError) -> Data? {
        while true {
            let (step, mustAsk) = take()
            if mustAsk { onDemand() }
            switch step {
            case .piece(let piece): return piece
            case .end(let result):
                try result.get()
                return nil
            case .wait: await untilThereIsMore()
            }
        }
    }

    private enum Step: Sendable {
        case piece(Data)
        case end(Result<Void, TransportError>)
        case wait
    }

    private func take() -> (Step, mustAsk: Bool) {
        state.withLock { state in
            guard let piece = state.pieces.popFirst() else { return (state.end.map(Step.end) ?? .wait, false) }
            state.byteCount -= piece.count
            // An empty slice may still hold the memory of all that went through it.
            if state.pieces.isEmpty { state.pieces = [] }
            let mustAsk = state.isFull && state.byteCount <= capacity / 2
            if mustAsk { state.isFull = false }
            return (.piece(piece), mustAsk)
        }
    }

    private func untilThereIsMore() async {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.pieces.isEmpty, state.end == nil else { return true }
                if state.reader == nil { state.reader = continuation } else { state.others.append(continuation) }
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension ContentPipe.State {
    fileprivate typealias Readers = (UnsafeContinuation<Void, Never>?, [UnsafeContinuation<Void, Never>])

    fileprivate static var nobody: Readers { (nil, []) }

    fileprivate mutating func takeReaders() -> Readers {
        defer { (reader, others) = (nil, []) }
        return (reader, others)
    }
}
