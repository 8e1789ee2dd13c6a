#if os(Linux)
    import CCurl
    import COpenSSL
    import Foundation
    import PenstockCore

    /// What is to be done about a transfer whose answer began before its request was sent.
    enum CurlEarlyResponseStep {
        /// The answer is not complete yet.
        case wait
        /// The request has been sent after all.
        case forget
        /// libcurl may be over, but does not say so while sending is paused: it must be told to go on.
        case goOn
        /// The answer is complete, and the request not over yet. It has little time left.
        case hurry
        case end(Result<TransportResponse, TransportError>)
    }

    /// A server may answer before it has read the whole request (RFC 9112 §9.3). The answer is the outcome, however long
    /// the rest of the request would take. libcurl stops sending where the status is 300 or more, or the connection is to
    /// close, but does not say so while sending is paused (``CurlFault/silentEnd``). For other answers it goes on without end.
    extension CurlTransfer {
        /// Whether libcurl has not sent all of the request's body, as far as it tells.
        var isSending: Bool {
            let body = request.request.body
            guard !body.isNone, let handle = state.handle else { return false }
            guard let length = body.length else { return state.source.map { !$0.isFinished } ?? false }
            return Int(ccurl_get_sent(handle.easy)) < length
        }

        /// Whether libcurl may end the transfer, at this answer that came early, with content that it keeps to itself. Of HTTP/2
        /// that is the end of a stream alone.
        var mayLeaveContentUnsent: Bool {
            CurlFault.unsentContent.isPresent && state.head.version != .http2
                && request.request.fields.contains("Expect")
        }

        /// What is to be done about an early answer; to be asked after each round from the head of the answer on.
        func earlyStep() -> CurlEarlyResponseStep {
            guard isUnderWay, let handle = state.handle else { return .forget }
            guard isSending else { return .forget }
            guard !state.isSuspended, !state.isHeldBack, hasAllContent(handle) else { return .wait }
            if state.awaitsChunk, !state.hasGoneOn, CurlFault.silentEnd.isPresent {
                state.hasGoneOn = true
                return .goOn
            }
            guard isWhole(handle) else {
                return .end(.failure(error(.connectionLost, "the connection ended before the response did")))
            }
            state.isAnswered = true
            return handle.hasEnded ? .end(result(CURLE_OK)) : .hurry
        }

        /// Whether libcurl reads no more for this transfer. Of a connection that is shared only the length tells. In the midst of
        /// chunks it may rest.
        private func hasAllContent(_ handle: CurlHandle) -> Bool {
            if lacksChunks, handle.kept != .nothing || !handle.hasEnded { return false }
            guard state.head.version == .http2 else { return handle.hasStoppedReading }
            return state.head.contentLength.map { Int(ccurl_get_received(handle.easy)) >= $0 } ?? false
        }

        /// Whether what came is all of the content. Chunks may have been cut off before the last one where the connection has
        /// ended, which libcurl does not tell while it still wants to send.
        private func isWhole(_ handle: CurlHandle) -> Bool {
            guard request.request.method != .head, state.head.allowsContent else { return true }
            if let length = state.head.contentLength { return Int(ccurl_get_received(handle.easy)) >= length }
            if hasAllChunks || lacksChunks { return hasAllChunks }
            return state.head.endsWithConnection || !handle.hasEnded
        }
    }

    extension CurlHandle {
        /// Whether the server has closed its side of the connection.
        fileprivate var hasEnded: Bool {
            if let session = ccurl_openssl_session(easy),
                SSL_get_shutdown(OpaquePointer(session)) & SSL_RECEIVED_SHUTDOWN != 0
            {
                return true
            }
            guard let watched else { return false }
            return ccurl_peek(watched) == ccurl_socket_ended
        }
    }

    extension CurlLoop {
        /// Whether answers came before their requests were sent.
        var hasEarlyAnswers: Bool { !state.answeredEarly.isEmpty }

        /// Ends those whose answer is complete although their request is not.
        func attendToEarlyAnswers() {
            let transfers = state.answeredEarly
            state.answeredEarly = []
            for transfer in transfers {
                switch transfer.earlyStep() {
                case .forget: break
                case .wait: state.answeredEarly.append(transfer)
                case .goOn:
                    state.answeredEarly.append(transfer)
                    transfer.state.awaitsChunk = false
                    applyPause(transfer)
                case .hurry:
                    transfer.state.clock.hurry(now, whileMoving: !(transfer.state.source is CurlStreamSource))
                    state.deadlines.move(transfer, to: transfer.state.clock.nextLook(now))
                case .end(let result): finish(transfer, result)
                }
            }
        }
    }

    /// Content that nothing but the end of its connection delimits is whole only where TLS announced that end, or else
    /// anybody on the way could have cut it off (RFC 9112 §9.8). libcurl does not tell the two apart
    /// (``CurlFault/unannouncedEnd``), and forgets the session before it tells that a transfer is over. So the session is looked
    /// at as the content comes.
    extension CurlTransfer {
        /// Whether the content came to an end that was not announced.
        var isCutOff: Bool { state.endsSecurely == false && state.toSkip == nil }

        /// - Parameter easy: whose head is complete.
        /// - Returns: whether ``lookForEnd(_:)`` is to be called from here on.
        func beginWatchingEnd(_ easy: UnsafeMutableRawPointer) -> Bool {
            guard CurlFault.unannouncedEnd.isPresent, request.request.url.scheme == .https,
                state.head.endsWithConnection, request.request.method != .head,
                ccurl_openssl_session(easy) != nil
            else { return false }
            state.endsSecurely = false
            return true
        }

        func lookForEnd(_ easy: UnsafeMutableRawPointer) {
            guard state.endsSecurely != nil, let session = ccurl_openssl_session(easy) else { return }
            state.endsSecurely = SSL_get_shutdown(OpaquePointer(session)) & SSL_RECEIVED_SHUTDOWN != 0
        }
    }
#endif
