#if canImport(Darwin)
    import Foundation
    import PenstockCore

    /// Feeds a streamed body into the stream that a session reads it from, no faster than it is read.
    enum URLSessionBodyStream {
        static func open(_ body: HTTPBody, onFailure: @escaping @Sendable () -> Void) -> InputStream? {
            guard case .stream(let open) = body.source else { return nil }
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: 64 << 10, inputStream: &input, outputStream: &output)
            guard let output else { return nil }
            // Used by one write at a time, each of which is awaited before the next.
            nonisolated(unsafe) let writer = output
            writer.open()
            Task {
                do { for try await chunk in try open() { try await write(chunk, to: writer) } } catch { onFailure() }
                writer.close()
            }
            return input
        }

        /// On a queue of its own, since writing waits for the session to read.
        private static func write(_ chunk: Data, to output: OutputStream) async throws {
            nonisolated(unsafe) let writer = output
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try writeAll(chunk, to: writer) })
                }
            }
        }

        private static func writeAll(_ chunk: Data, to output: OutputStream) throws {
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
