#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What libcurl calls while a transfer is under way, on the loop's thread.
    extension CurlTransfer {
        /// Memory reserved on the word of a server that has sent nothing yet.
        private static let maxReserve = 1 << 20
        /// Content that is read past rather than closing the connection.
        private static let maxSkipped = 64 << 10
        /// Content that is handed over in one piece, at most.
        private static let maxGathered = 128 << 10

        func connectionStarts(_ now: UInt64) {
            state.clock.connectionStarted(now)
        }

        /// - Parameter connection: what it is to be sent over, if that was made for it.
        /// - Returns: whether the request may be sent now.
        func attempt(
            _ easy: UnsafeMutableRawPointer, over connection: CurlConnectionUse?, _ now: UInt64
        ) -> Bool {
            guard state.attempts == 0 || permitResend(easy) && rewindForResend() else { return false }
            if state.attempts > 0 { countResend(easy) }
            state.originQueue?.sends(self, state.handle?.carriage.connection?.way ?? .unknown)
            state.attempts += 1
            state.isLeftOut = false
            state.isAmongOthers = state.isAmongOthers || state.originQueue?.carriesSeveral == true
            state.connection = connection
            state.clock.sending(now)
            if state.source == nil || state.source?.length == 0 { state.clock.sent(now) }
            return true
        }

        /// libcurl comes back here when it sends a request again by itself: after a connection ended that not only this
        /// transfer has used, without one byte of an answer, where the server may have acted on the request all the same;
        /// after an HTTP/2 server refused the stream, which proves that it did not (RFC 9113 §8.7); and over HTTP/1.1 after the
        /// server required that, whatever it had done or answered by then. It does not say which of the three it was, but the
        /// first cannot happen on connections that nobody else used, nor to a stream that the server's GOAWAY left out. Who
        /// is refused twice is told so. What else was sent twice is for the caller to send again: libcurl would go on up to
        /// five times.
        private func permitResend(_ easy: UnsafeMutableRawPointer) -> Bool {
            guard !state.head.hasBegun else { return refuseResend("the stream ended before its answer did") }
            let isAlone = state.connection?.isShared == false
            // What was remembered of an earlier attempt proves nothing of this one.
            let isRefusal = isAlone && !state.mayRememberRefusal && state.handle?.agreesOnHTTP2 == true
            state.lastIsUnprocessed = state.isLeftOut || isRefusal
            state.wasAlone = state.wasAlone && state.lastIsUnprocessed
            if !isAlone { state.mayRememberRefusal = CurlFault.rememberedRefusal.isPresent }
            state.isRefused = state.wasAlone && state.attempts > 1
            if state.isRefused { return refuseResend("the server refused the stream") }
            let mayRepeat = request.request.method.isIdempotent && state.resends.isEmpty
            let isSafe = state.wasAlone || mayRepeat || !hasSent(easy)
            return isSafe || refuseResend("the connection was lost before an answer came")
        }

        /// The connection that was made for the next attempt is as good as any.
        private func refuseResend(_ message: String) -> Bool {
            let isTooLong = state.handle.map { CurlErrors.isTooLong($0.message) } ?? false
            state.failure = (isTooLong ? .limitExceeded(.headerBytes) : .connectionLost, message)
            return false
        }

        /// An attempt that met a dead connection before it had sent anything does not count.
        private func countResend(_ easy: UnsafeMutableRawPointer) {
            let sent = ccurl_get_long(easy, CURLINFO_REQUEST_SIZE)
            if sent > state.sentBefore {
                state.resends.append(state.lastIsUnprocessed ? .unprocessed : .maybeProcessed)
            }
            state.sentBefore = sent
        }

        /// Takes the body back to its beginning, which libcurl does not do where none of it was written yet
        /// (``CurlFault/forgottenBody``).
        private func rewindForResend() -> Bool {
            guard CurlFault.forgottenBody.isPresent, !rewindBody() else { return true }
            state.failure = (
                .connectionLost, "the connection was lost, and the body cannot be sent from its beginning again"
            )
            return false
        }

        // MARK: The response

        /// Takes what libcurl has of a head: one line as a rule. Of what it read while the transfer was paused it hands over
        /// the lines of each kind in one piece, and it fails where these are of more than three kinds. So a suspended
        /// transfer takes its head all the same, and only the end of the head has to wait.
        ///
        /// - Returns: the number of bytes taken, or the code that pauses; any other number ends the transfer.
        func receiveHeader(_ lines: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            if state.isSuspended, state.head.isEnd(lines) { return Int(CURL_WRITEFUNC_PAUSE) }
            state.clock.moved(now)
            var start = 0
            while start < lines.count {
                let end = Self.endOfLine(lines, from: start)
                guard receiveLine(UnsafeRawBufferPointer(rebasing: lines[start..<end]), now) else { return 0 }
                start = end
            }
            return lines.count
        }

        /// - Returns: where the line after the one at `start` begins. A recipient may take a bare LF for a line's end
        ///   (RFC 9112 §2.2).
        private static func endOfLine(_ lines: UnsafeRawBufferPointer, from start: Int) -> Int {
            guard let base = lines.baseAddress,
                let lineFeed = memchr(base + start, 0x0A, lines.count - start)
            else {
                return lines.count
            }
            return UnsafeRawPointer(lineFeed) - base + 1
        }

        /// - Returns: `false` when the response is not acceptable.
        private func receiveLine(_ line: UnsafeRawBufferPointer, _ now: UInt64) -> Bool {
            let wasComplete = state.head.isComplete
            if let kind = state.head.take(line, request.limits, state.pool?.headerLines) {
                return refuse(kind, "the response head is not acceptable") > 0
            }
            if let interim = state.head.endedInterim { request.control.onInterim?(interim, request.request.url) }
            guard state.head.isComplete, !wasComplete else { return true }
            state.clock.answered(now)
            reportInline()
            if state.head.version == .http2, !maySpeakHTTP2 {
                return refuse(.protocolViolation, "the response speaks of HTTP/2 where none was agreed on") > 0
            }
            if isRefusedByProxy {
                return refuse(.unreachable(.proxyAuthentication), "the proxy wants credentials") > 0
            }
            return prepareForBody()
        }

        /// Whether HTTP/2 was agreed on: in the clear it never is, and over TLS where ALPN says so (RFC 9113 §3.2). Where another
        /// library speaks TLS, that cannot be asked.
        private var maySpeakHTTP2: Bool {
            request.request.url.scheme == .https && state.handle?.agreesOnHTTP2 != false
        }

        func receiveBody(_ bytes: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            guard !state.isSuspended else { return Int(CURL_WRITEFUNC_PAUSE) }
            guard state.chunks == nil else { return receiveChunks(bytes, now) }
            guard hasRoom() else { return Int(CURL_WRITEFUNC_PAUSE) }
            return receiveContent(bytes, now)
        }

        /// Whether the content that comes can be taken now. It is held back where its reader has enough.
        func hasRoom() -> Bool {
            guard let pipe, state.toSkip == nil, !pipe.requestRoom(beside: state.gathered.count) else { return true }
            state.isHeldBack = true
            state.clock.suspend()
            return false
        }

        /// Takes content that there is room for.
        ///
        /// - Returns: the number of bytes taken; any other ends the transfer.
        func receiveContent(_ bytes: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            state.clock.received(bytes.count, now)
            if state.toSkip != nil { return skip(bytes.count) }
            guard pipe == nil else { return passOn(bytes) }
            guard bytes.count <= request.limits.bodyBytes - state.body.count else {
                return refuse(.limitExceeded(.bodyBytes), "the response body is larger than its limit")
            }
            append(bytes)
            reportReceived(bytes.count)
            return bytes.count
        }

        /// - Returns: `false` when the body that is announced will not be taken.
        private func prepareForBody() -> Bool {
            guard state.head.codings <= CurlHead.maxCodings else {
                return refuse(.limitExceeded(.contentCodings), "the content is coded too many times over") > 0
            }
            if request.isContentSkipped(state.head.status, answer) { beginSkipping() }
            beginChunks()
            guard request.request.method != .head, state.head.allowsContent, let length = state.head.contentLength
            else {
                return true
            }
            state.progress.expectedToReceive = length
            guard pipe == nil, state.toSkip == nil, length > request.limits.bodyBytes else { return true }
            return refuse(.limitExceeded(.bodyBytes), "the response body is larger than its limit") > 0
        }

        // MARK: Content that is streamed, or not wanted

        private func passOn(_ bytes: UnsafeRawBufferPointer) -> Int {
            gather(bytes)
            reportReceived(bytes.count)
            return bytes.count
        }

        /// libcurl cuts what it has received into pieces of 16 KiB. They are put together again: each piece that is handed
        /// over costs its reader more than its bytes do.
        private func gather(_ bytes: UnsafeRawBufferPointer) {
            if state.gathered.isEmpty {
                state.handle?.gathersContent()
                state.gathered = Data(capacity: bytes.count < CURL_MAX_WRITE_SIZE ? bytes.count : Self.maxGathered)
            }
            bytes.withMemoryRebound(to: UInt8.self) { state.gathered.append($0) }
            if state.gathered.count > Self.maxGathered - Int(CURL_MAX_WRITE_SIZE) { handOver() }
        }

        /// Gives the reader what was gathered in this round.
        func handOver() {
            guard !state.gathered.isEmpty else { return }
            pipe?.add(state.gathered)
            state.gathered = Data()
        }

        /// What is left of the content is read past while it is short, so that the connection can be used again.
        func beginSkipping() {
            state.toSkip = state.toSkip ?? Self.maxSkipped
        }

        func skip(_ count: Int) -> Int {
            state.toSkip = (state.toSkip ?? 0) - count
            return state.toSkip.map { $0 < 0 } ?? true ? 0 : count
        }

        private func reportReceived(_ count: Int) {
            guard let report = request.control.onProgress else { return }
            state.progress.received += count
            report(state.progress)
            heedSuspension()
        }

        /// A report may suspend its call: what libcurl has read by then waits as well.
        private func heedSuspension() {
            guard request.control.isSuspended, !state.isSuspended else { return }
            state.isSuspended = true
            state.clock.suspend()
            state.handle?.pauseSoon()
        }

        /// A body that comes in one piece is copied once, into memory of its own size.
        private func append(_ bytes: UnsafeRawBufferPointer) {
            if state.body.isEmpty {
                guard let base = bytes.baseAddress else { return }
                let expected = state.head.contentLength
                if (expected ?? 0) <= bytes.count {
                    state.body = Data(bytes: base, count: bytes.count)
                    return
                }
                state.body.reserveCapacity(min(expected ?? 0, Self.maxReserve))
            }
            bytes.withMemoryRebound(to: UInt8.self) { state.body.append($0) }
        }

        @discardableResult
        func refuse(_ kind: TransportError.Kind, _ message: String) -> Int {
            fail(kind, message)
            return 0
        }

        // MARK: The request's body

        func readBody(into buffer: UnsafeMutableRawBufferPointer, _ now: UInt64) -> Int {
            guard let source = state.source else { return 0 }
            guard !state.isSuspended else { return pauseReading() }
            let size = min(buffer.count, state.pace.next(now))
            switch source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])) {
            case .later:
                return pauseReading()
            case .failed(let reason):
                fail(.requestBody, reason)
                return Int(CURL_READFUNC_ABORT)
            case .end:
                state.clock.sent(now)
                return 0
            case .bytes(let count):
                state.clock.moved(now)
                state.unconfirmed = nil
                if source.isFinished, source.length != nil { state.clock.sent(now) }
                reportSent(count)
                return count
            }
        }

        /// The system takes more of a body at once than a slow connection carries in a long time. So what is under way counts as
        /// movement as it becomes less, until there is an answer. Of a connection with other streams their bytes are among it:
        /// only what is less than ever since the last piece was handed over counts, which has an end.
        func lookAfterRequest(_ now: UInt64) {
            guard state.source != nil, !state.head.isComplete, let socket = state.handle?.socket else { return }
            let left = ccurl_unconfirmed(socket)
            guard left >= 0 else { return }
            if let before = state.unconfirmed, left < before { state.clock.arrived(now) }
            state.unconfirmed = min(left, state.unconfirmed ?? left)
        }

        func rewindBody() -> Bool {
            state.progress.sent = 0
            return state.source?.rewind() ?? true
        }

        private func pauseReading() -> Int {
            state.awaitsChunk = true
            return Int(CURL_READFUNC_PAUSE)
        }

        /// A small body leaves with the head of the request, and nothing is heard of it until there is an answer.
        private func reportInline() {
            guard state.source == nil, state.progress.sent == 0, let length = state.progress.expectedToSend, length > 0
            else { return }
            reportSent(length)
        }

        private func reportSent(_ count: Int) {
            guard let report = request.control.onProgress else { return }
            state.progress.sent += count
            report(state.progress)
            heedSuspension()
        }

        private func fail(_ kind: TransportError.Kind, _ message: String) {
            if state.failure == nil { state.failure = (kind, message) }
            state.handle?.closeConnection()
        }
    }
#endif
