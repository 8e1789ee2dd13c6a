#if os(Linux)
    import Foundation
    import PenstockCore

    /// Removes the codings of a response's content, one piece at a time (RFC 9110 §8.4).
    ///
    /// Nothing is decoded before somebody asks for it: ``pull(_:)`` reads as much of what was pushed as it takes for one
    /// piece. Between two pulls it holds the windows of its codings, buffers of a fixed size, and what was pushed and
    /// not yet read. One thread at a time may use it.
    ///
    /// ```swift
    /// decoder.push(bytes)
    /// while let piece = try decoder.pull(64 << 10) { … }
    /// try decoder.finish(endsWithConnection: false)  // where the wire has ended
    /// ```
    final class ContentDecoder {
        /// What to ask for with `Accept-Encoding`.
        static let accepted = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")

        /// The most that one pull returns.
        private static let maxPiece = 64 << 10

        private let wire = CodingWire()
        private let stages: [CodingStage]
        private let last: CodingStage
        private let buffer = CodingBuffer(count: maxPiece)
        private var isEmpty = true
        private var failure: TransportError?

        /// `nil` where nothing is to be removed: no coding is listed, or one that is unknown here. The content then
        /// stays as it came, also below the unknown coding, so that it is what its `Content-Encoding` says.
        ///
        /// - Throws: `.limitExceeded(.contentCodings)` above five codings, known or not.
        init?(_ fields: HTTPFields, limits: ResponseLimits) throws(TransportError) {
            guard fields.contains(.contentEncoding), let codings = try ContentCoding.applied(fields) else { return nil }
            let limit = ExpansionLimit(ratio: limits.expansionRatio, wire: wire)
            var stages: [CodingStage] = []
            // What was applied last comes off first.
            for coding in codings.reversed() {
                guard let remover = coding.makeRemover() else {
                    throw TransportError(.other, sendState: .answered, message: "no memory for the content's coding")
                }
                let input: any CodingInput = stages.last.map(CodingLink.init(from:)) ?? wire
                stages.append(CodingStage(remover, from: input, limit: limit))
            }
            guard let last = stages.last else { return nil }
            self.stages = stages
            self.last = last
        }

        /// Gives it the next bytes from the wire. They are kept, not copied, until they are read.
        func push(_ input: Data) {
            isEmpty = isEmpty && input.isEmpty
            wire.append(input)
        }

        /// The next decoded bytes: at most `max`, and never more than 64 KiB at a time.
        ///
        /// - Returns: `nil` when more input is needed.
        /// - Throws: `.protocolViolation` for content that is not what its coding says,
        ///   `.limitExceeded(.expansionRatio)`. The error comes after what could be decoded before it, and again from
        ///   every later call.
        func pull(_ max: Int) throws(TransportError) -> Data? {
            let room = Swift.max(1, Swift.min(max, Self.maxPiece))
            var filled = 0
            while failure == nil, filled < room {
                do throws(TransportError) {
                    let count = try last.read(
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[filled..<room]))
                    guard count > 0 else { break }
                    filled += count
                } catch {
                    failure = error
                }
            }
            guard filled == 0 else { return Data(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<filled])) }
            if let failure { throw failure }
            return nil
        }

        /// Checks that the content is whole; to be called when the wire has ended and ``pull(_:)`` has nothing more.
        ///
        /// - Parameter endsWithConnection: whether the end of the connection is all that ended the content.
        /// - Throws: `.connectionLost` when a coding has not ended. Where the end of the connection ends the content,
        ///   this alone tells that it broke, and asking again may bring the rest, which is not so with content that is
        ///   wrong. Content without a byte is empty, whatever its coding, unless the connection may have broken before
        ///   the first one.
        func finish(endsWithConnection: Bool) throws(TransportError) {
            if let failure { throw failure }
            guard !isEmpty || !endsWithConnection, stages.allSatisfy(\.isComplete) else {
                throw TransportError(
                    .connectionLost, sendState: .answered, message: "the content ends before its coding does")
            }
        }
    }
#endif
