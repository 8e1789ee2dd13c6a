#if os(Linux)
    import Foundation
    import PenstockCore

    /// A body that comes from an asynchronous sequence, one chunk at a time: the next is asked for when libcurl has read
    /// the last, so nothing piles up.
    ///
    /// Of a stream with a declared length, the chunk that completes it is handed out only once the stream has ended
    /// there. A request whose body turns out too long is therefore never completed on the wire.
    final class CurlStreamSource: CurlBodySource {
        enum Event: Sendable {
            case data(Data)
            case end
            case failure(any Error)
        }

        private enum State: Sendable {
            case waiting
            case holding(Data, offset: Int)
            case ended
            case failed(String)
        }

        let length: Int?
        private var state = State.waiting
        private var arrived = 0
        private var handedOut = 0
        private var hasEnded = false
        private(set) var failure: (any Error)?
        private var isAsked = false
        private let demand: AsyncStream<Void>.Continuation
        private let task: Task<Void, Never>

        /// - Parameter report: carries what the stream yields to the loop's thread.
        init(
            length: Int?, open: @escaping @Sendable () throws -> HTTPBody.Chunks,
            report: @escaping @Sendable (Event) -> Void
        ) {
            self.length = length
            let (demands, demand) = AsyncStream.makeStream(of: Void.self)
            self.demand = demand
            task = Self.start(open, demands, report)
        }

        var isFinished: Bool { if case .ended = state { true } else { false } }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            switch state {
            case .ended: return .end
            case .failed(let reason): return .failed(reason)
            case .waiting:
                ask()
                return .later
            case .holding(let data, let offset):
                guard !isHeldBack else {
                    ask()
                    return .later
                }
                return hand(out: data, from: offset, into: buffer)
            }
        }

        /// Takes what the stream yielded.
        func receive(_ event: Event) {
            isAsked = false
            switch event {
            case .failure(let error): (state, failure) = (.failed("the stream failed"), error)
            case .end: end()
            case .data(let data): accept(data)
            }
        }

        /// The chunks are gone, and opening the stream again is the retry stage's business.
        func rewind() -> Bool { handedOut == 0 }

        func close() {
            demand.finish()
            task.cancel()
        }

        /// Whether the declared length is there but the stream may yet go on.
        private var isHeldBack: Bool { length == arrived && !hasEnded }

        private func accept(_ data: Data) {
            guard !data.isEmpty else { return ask() }
            let (total, overflow) = arrived.addingReportingOverflow(data.count)
            guard !overflow, total <= length ?? .max else {
                state = .failed("the stream is longer than its declared length")
                return
            }
            arrived = total
            state = .holding(data, offset: 0)
        }

        private func end() {
            hasEnded = true
            if let length, arrived < length {
                state = .failed("the stream is shorter than its declared length")
            } else if case .waiting = state {
                state = .ended
            }
        }

        private func hand(
            out data: Data, from offset: Int, into buffer: UnsafeMutableRawBufferPointer
        ) -> CurlBodyRead {
            let count = min(buffer.count, data.count - offset)
            let start = data.startIndex + offset
            data.copyBytes(to: buffer.bindMemory(to: UInt8.self), from: start..<(start + count))
            handedOut += count
            if offset + count < data.count {
                state = .holding(data, offset: offset + count)
            } else {
                state = hasEnded ? .ended : .waiting
            }
            return .bytes(count)
        }

        private func ask() {
            guard !isAsked else { return }
            isAsked = true
            demand.yield()
        }

        private static func start(
            _ open: @escaping @Sendable () throws -> HTTPBody.Chunks, _ demands: AsyncStream<Void>,
            _ report: @escaping @Sendable (Event) -> Void
        ) -> Task<Void, Never> {
            Task { await pull(open, demands, report) }
        }

        private static func pull(
            _ open: @Sendable () throws -> HTTPBody.Chunks, _ demands: AsyncStream<Void>,
            _ report: @Sendable (Event) -> Void
        ) async {
            var chunks: HTTPBody.Chunks.AsyncIterator?
            do {
                for await _ in demands {
                    // Not before the first demand: a body that can be read once is used up by being opened, and libcurl asks
                    // for nothing until it has a connection.
                    var opened = try chunks ?? open().makeAsyncIterator()
                    guard let chunk = try await opened.next() else { return report(.end) }
                    chunks = opened
                    report(.data(chunk))
                }
            } catch {
                report(.failure(error))
            }
        }
    }
#endif
