import Foundation

/// The values of a response that holds one on each line, read as they come: what nobody asks for stays on the wire.
///
/// A line that cannot be decoded throws ``APIError/Kind/decoding(path:reason:)``; asking the iterator again goes on with the
/// line after it. Cancelling the reading task, or letting go of this before the end, closes the wire.
public struct StreamedLines<Output: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Output

    /// The response the lines come from.
    public let response: StreamedResponse
    private let maxLineLength: Int
    private let decode: @Sendable (Data) throws(APIError) -> Output

    init(
        _ response: StreamedResponse, maxLineLength: Int,
        decode: @escaping @Sendable (Data) throws(APIError) -> Output
    ) {
        self.response = response
        self.maxLineLength = maxLineLength
        self.decode = decode
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(parser: JSONLinesParser(maxLineLength: maxLineLength), response: response, decode: decode)
    }

    /// Gives one value for each line. Take one iterator alone: another one may begin in the middle of a line.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var parser: JSONLinesParser
        fileprivate let response: StreamedResponse
        fileprivate let decode: @Sendable (Data) throws(APIError) -> Output
        private var number = 0
        private var wasRefused = false

        fileprivate init(
            parser: JSONLinesParser, response: StreamedResponse,
            decode: @escaping @Sendable (Data) throws(APIError) -> Output
        ) {
            self.parser = parser
            self.response = response
            self.decode = decode
        }

        /// The value of the next line, as soon as all of the line has come; `nil` after the last one.
        ///
        /// - Throws: ``APIError`` alone; ``APIError/Kind/limitExceeded(_:)`` with ``ResponseLimits/Limit/lineLength`` for a line
        ///   that is too long.
        public mutating func next() async throws(APIError) -> Output? {
            guard let line = try await nextLine() else { return nil }
            number += 1
            do throws(APIError) {
                let value = try decode(line)
                if wasRefused { response.reader.note(nil) }
                wasRefused = false
                return value
            } catch {
                let error = response.note(numbered(error))
                wasRefused = true
                throw error
            }
        }

        private mutating func nextLine() async throws(APIError) -> Data? {
            while true {
                do throws(StreamLimitError) {
                    // The reader tells of a call that has ended, and gives nothing more of it.
                    if !response.reader.isCancelled, let line = try parser.next() { return line }
                } catch {
                    throw response.reader.refuse(.init(error), error)
                }
                guard let bytes = try await response.reader.next() else { return try rest() }
                parser.push(bytes)
            }
        }

        private mutating func rest() throws(APIError) -> Data? {
            parser.finish()
            do throws(StreamLimitError) {
                return try parser.next()
            } catch {
                throw response.reader.refuse(.init(error), error)
            }
        }

        private func numbered(_ error: APIError) -> APIError {
            var error = error
            error.debugMessage = "line \(number): \(error.debugMessage)"
            return error
        }
    }
}
