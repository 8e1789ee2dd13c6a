#if os(Linux)
    import Foundation
    import PenstockCore

    /// The content of a streamed response, as its reader holds it. The transfer lives on the loop's thread until its
    /// content has ended or this is let go of.
    final class CurlContent: TransportContent {
        /// Unchecked because a decoder is for one thread at a time, which the lock around this sees to.
        private struct State: @unchecked Sendable {
            var decoder: ContentDecoder?
            var isEnded = false
            var failure: TransportError?
        }

        /// Decoded bytes that are handed over at a time.
        private static let piece = 64 << 10

        private let transfer: CurlTransfer
        private let endsWithConnection: Bool
        private let state: Locked<State>

        /// - Throws: when the content is coded in a way that is refused.
        init(of transfer: CurlTransfer, _ head: HTTPResponse) throws(TransportError) {
            self.transfer = transfer
            endsWithConnection = Self.endsWithConnection(head, of: transfer.request)
            let decoder = try Self.decoder(for: head, of: transfer.request)
            state = Locked(State(decoder: decoder))
        }

        deinit {
            if end() { transfer.cancel() }
        }

        func next() async throws(TransportError) -> Data? {
            do throws(TransportError) {
                while !state.withLock({ $0.isEnded }) {
                    if transfer.request.control.isCancelled { throw TransportError(.cancelled, sendState: .answered) }
                    if let decoded = try decoded() { return decoded }
                    guard let raw = try await transfer.pipe?.read() else { break }
                    if let piece = accept(raw) { return piece }
                }
                try finish()
                return nil
            } catch {
                if end() { transfer.cancel() }
                state.withLock { $0.failure = error }
                throw error
            }
        }

        func discard() {
            if end() { transfer.skip() }
        }

        var completion: TransportCompletion { transfer.completion?.withLock { $0 } ?? TransportCompletion() }

        // MARK: Decoding

        /// A caller who names the codings that it accepts removes them itself.
        private static func decoder(
            for head: HTTPResponse, of request: TransportRequest
        ) throws(TransportError) -> ContentDecoder? {
            guard head.fields.contains(.contentEncoding), !request.request.fields.contains(.acceptEncoding) else {
                return nil
            }
            return try ContentDecoder(head.fields, limits: request.limits)
        }

        /// Whether only the end of the connection ends the content of a success (RFC 9112 §6.3). That of another answer may be
        /// passed over without a look.
        private static func endsWithConnection(_ head: HTTPResponse, of request: TransportRequest) -> Bool {
            let isFramed = head.fields.contains(.contentLength) || head.fields.contains(.transferEncoding)
            let hasContent = request.request.method != .head && (200...299).contains(head.status) && head.status != 204
            return hasContent && !isFramed && head.version != .http2
        }

        /// A response whose content was collected, without its codings. One that has none is not copied.
        static func decoded(
            _ coded: TransportResponse, of request: TransportRequest
        ) throws(TransportError) -> TransportResponse {
            var response = coded
            do throws(TransportError) {
                let body = coded.response.body
                let endsWithConnection = endsWithConnection(coded.response, of: request)
                guard !body.isEmpty || endsWithConnection,
                    let decoder = try decoder(for: coded.response, of: request)
                else { return coded }
                response.response.body = try decoded(body, decoder, atMost: request.limits.bodyBytes)
                try decoder.finish(endsWithConnection: endsWithConnection)
                return response
            } catch {
                var error = error
                response.response.body = Data()
                error.partialResponse = response.response
                throw error
            }
        }

        private static func decoded(
            _ raw: Data, _ decoder: ContentDecoder, atMost limit: Int
        ) throws(TransportError) -> Data {
            var content = Data()
            decoder.push(raw)
            while let piece = try decoder.pull(Self.piece) {
                guard piece.count <= limit - content.count else {
                    throw TransportError(
                        .limitExceeded(.bodyBytes), sendState: .answered,
                        message: "the response body is larger than its limit")
                }
                content.append(piece)
            }
            return content
        }

        private func decoded() throws(TransportError) -> Data? {
            try state.withLock { state throws(TransportError) in try state.decoder?.pull(Self.piece) }
        }

        /// - Returns: the bytes themselves where there is nothing to decode.
        private func accept(_ raw: Data) -> Data? {
            state.withLock { state in
                guard state.decoder != nil else { return raw }
                state.decoder?.push(raw)
                return nil
            }
        }

        private func finish() throws(TransportError) {
            let isFirst = end()
            try state.withLock { state throws(TransportError) in
                if let failure = state.failure { throw failure }
                if isFirst { try state.decoder?.finish(endsWithConnection: endsWithConnection) }
            }
        }

        /// - Returns: whether it had not ended yet.
        private func end() -> Bool {
            let isFirst = state.withLock { state in
                defer { state.isEnded = true }
                return !state.isEnded
            }
            if isFirst { transfer.request.control.detach(transfer) }
            return isFirst
        }
    }
#endif
