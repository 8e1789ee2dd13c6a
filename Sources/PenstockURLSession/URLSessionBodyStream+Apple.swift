#if canImport(Darwin)
    import Foundation
    import PenstockCore

    extension URLSessionBodyFeed {
        /// Begins to feed a body, and gives what the session is to read it from; `nil` where it is no stream.
        static func open(
            _ body: HTTPBody, onFailure: @escaping @Sendable () -> Void
        ) -> (InputStream, URLSessionBodyFeed)? {
            guard case .stream(let open) = body.source else { return nil }
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: 64 << 10, inputStream: &input, outputStream: &output)
            guard let input, let output else { return nil }
            output.open()
            return (input, URLSessionBodyFeed(open, into: BoundStreams(input, output).sink, onFailure: onFailure))
        }
    }

    /// A stream for the session, and the one that is written to.
    ///
    /// Unchecked because one write at a time uses the output, each of which is awaited before the next, and the input is the
    /// session's until the session reads no more of it.
    private final class BoundStreams: @unchecked Sendable {
        private let input: InputStream
        private let output: OutputStream

        init(_ input: InputStream, _ output: OutputStream) {
            self.input = input
            self.output = output
        }

        var sink: URLSessionBodyFeed.Sink {
            .init(
                write: { try await self.write($0) },
                close: { self.output.close() },
                drop: { self.input.close() })
        }

        /// Writes a chunk on a global queue of Dispatch, since writing waits for the session to read.
        private func write(_ chunk: Data) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try self.writeAll(chunk) })
                }
            }
        }

        private func writeAll(_ chunk: Data) throws {
            var rest = [UInt8](chunk)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
                }
                guard count > 0 else { throw output.streamError ?? CocoaError(.fileWriteUnknown) }
                rest = rest.dropFirst(count)
            }
        }
    }
#endif
