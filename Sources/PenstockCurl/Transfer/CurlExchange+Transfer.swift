#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What libcurl calls while an exchange is under way, on the loop's thread.
    extension CurlExchange {
        /// Memory reserved on the word of a server that has sent nothing yet.
        private static let maxReserve = 1 << 20
        /// Content that is read past rather than closing the connection.
        private static let maxSkipped = 64 << 10
        /// Content that is handed over in one piece, at most.
        private static let maxGathered = 128 << 10

        /// A piece of content that is smaller is tiny, in bytes; and as many of them are taken in one round.
        private static let crumb = 64
        private static let maxCrumbs = 512

        func connectionStarts(_ now: UInt64) {
            clock.connectionStarted(now)
        }

        /// - Parameter connection: what it is to be sent over, if that was made for it.
        /// - Returns: whether the request may be sent now.
        func attempt(
            _ easy: UnsafeMutableRawPointer, over connection: CurlConnectionUse?, _ now: UInt64
        ) -> Bool {
            guard attempts == 0 || mayResend(easy) && beginsAnew() else { return false }
            if attempts == 0 { lane?.sends() } else { countResend(easy) }
            attempts += 1
            (stream, isLeftOut) = (nil, false)
            isAmongOthers = isAmongOthers || lane?.carriesSeveral == true
            self.connection = connection
            clock.sending(now)
            if source == nil || source?.length == 0 { clock.sent(now) }
            return true
        }

        /// libcurl comes back here when it sends a request again by itself: after a connection ended that not only this
        /// exchange has used, without one byte of an answer, where the server may have acted on the request all the same;
        /// and after an HTTP/2 server refused the stream, which proves that it did not (RFC 9113 §8.7). It does not say which
        /// of the two it was, but the first cannot happen on connections that nobody else used, nor to a stream that the
        /// server's GOAWAY left out. Who is refused twice is told so.
        private func mayResend(_ easy: UnsafeMutableRawPointer) -> Bool {
            wasAlone = wasAlone && (connection?.isShared == false || isLeftOut)
            isRefused = wasAlone && attempts > 1
            let isSafe =
                wasAlone || order.request.method.isIdempotent || !hasSent(easy)
            guard !isSafe || isRefused else { return true }
            let isTooLong = handle.map { CurlErrors.isTooLong($0.message) } ?? false
            let message = isRefused ? "the server refused the stream" : "the connection was lost before an answer came"
            // The connection that was made for the next attempt is as good as any.
            failure = (isTooLong ? .limitExceeded(.headerBytes) : .connectionLost, message)
            return false
        }

        /// An attempt that met a dead connection before it had sent anything does not count.
        private func countResend(_ easy: UnsafeMutableRawPointer) {
            let sent = ccurl_get_long(easy, CURLINFO_REQUEST_SIZE)
            if sent > sentBefore { resends += 1 }
            sentBefore = sent
        }

        /// libcurl (seen with 7.88) goes back to the beginning of a body only if some of it was written, and forgets what it had
        /// read: the next attempt would be sent without that.
        private func beginsAnew() -> Bool {
            guard !rewindBody() else { return true }
            failure = (.connectionLost, "the connection was lost, and the body cannot be sent from its beginning again")
            return false
        }

        // MARK: The response

        /// Takes what libcurl has of a head: one line as a rule. Of what it read while the transfer was paused it hands over
        /// the lines of each kind in one piece, and it fails where these are of more than three kinds. So a suspended
        /// exchange takes its head all the same, and only the end of the head has to wait.
        ///
        /// - Returns: the number of bytes taken, or the code that pauses; any other number ends the transfer.
        func receiveHeader(_ lines: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            if isSuspended, head.isEnd(lines) { return Int(CURL_WRITEFUNC_PAUSE) }
            clock.moved(now)
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
            guard let base = lines.baseAddress, let feed = memchr(base + start, 0x0A, lines.count - start) else {
                return lines.count
            }
            return UnsafeRawPointer(feed) - base + 1
        }

        /// - Returns: `false` when the response is not acceptable.
        private func receiveLine(_ line: UnsafeRawBufferPointer, _ now: UInt64) -> Bool {
            let wasComplete = head.isComplete
            if let kind = head.take(line, order.limits, pool?.knownLines) {
                return refuse(kind, "the response head is not acceptable") > 0
            }
            guard head.isComplete, !wasComplete else { return true }
            clock.answered(now)
            if head.version == .http2, order.request.url.scheme == .http {
                return refuse(.protocolViolation, "the response speaks of HTTP/2 where none was agreed on") > 0
            }
            if isRefusedByProxy {
                return refuse(.unreachable(.proxyAuthentication), "the proxy wants credentials") > 0
            }
            return prepareForBody()
        }

        func receiveBody(_ bytes: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            guard !isSuspended, !isCrumbling(bytes.count) else { return Int(CURL_WRITEFUNC_PAUSE) }
            clock.received(bytes.count, now)
            if toSkip != nil { return skip(bytes.count) }
            guard pipe == nil else { return passOn(bytes) }
            guard bytes.count <= order.limits.bodyBytes - body.count else {
                return refuse(.limitExceeded(.bodyBytes), "the response body is larger than its limit")
            }
            append(bytes)
            reportReceived(bytes.count)
            return bytes.count
        }

        /// Each chunk comes as a piece of its own, which costs more than its bytes where it is tiny. After some hundreds of
        /// them the exchange pauses until the others have had their turn; libcurl then hands over the rest in one piece.
        private func isCrumbling(_ count: Int) -> Bool {
            guard count < Self.crumb, head.version != .http2, let loop = handle?.loop else { return false }
            if crumbs.round != loop.reading.round { crumbs = (loop.reading.round, 0) }
            crumbs.count += 1
            guard crumbs.count > Self.maxCrumbs else { return false }
            crumbs.count = 0
            loop.pauseSoon(self)
            return true
        }

        /// - Returns: `false` when the body that is announced will not be taken.
        private func prepareForBody() -> Bool {
            guard head.codings <= CurlHead.maxCodings else {
                return refuse(.limitExceeded(.contentCodings), "the content is coded too many times over") > 0
            }
            if order.isContentSkipped(head.status, answer) { beginSkipping() }
            guard order.request.method != .head, head.allowsContent, let length = head.contentLength else {
                return true
            }
            progress.expectedToReceive = length
            guard pipe == nil, toSkip == nil, length > order.limits.bodyBytes else { return true }
            return refuse(.limitExceeded(.bodyBytes), "the response body is larger than its limit") > 0
        }

        // MARK: Content that is streamed, or not wanted

        private func passOn(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard let pipe, pipe.hasRoom(beside: gathered.count) else {
                isHeldBack = true
                clock.suspend()
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            gather(bytes)
            reportReceived(bytes.count)
            return bytes.count
        }

        /// libcurl cuts what it has received into pieces of 16 KiB. They are put together again: each piece that is handed
        /// over costs its reader more than its bytes do.
        private func gather(_ bytes: UnsafeRawBufferPointer) {
            if gathered.isEmpty {
                handle?.loop.hasGathered(self)
                gathered = Data(capacity: bytes.count < CURL_MAX_WRITE_SIZE ? bytes.count : Self.maxGathered)
            }
            bytes.withMemoryRebound(to: UInt8.self) { gathered.append($0) }
            if gathered.count > Self.maxGathered - Int(CURL_MAX_WRITE_SIZE) { handOver() }
        }

        /// Gives the reader what was gathered in this round.
        func handOver() {
            guard !gathered.isEmpty else { return }
            pipe?.add(gathered)
            gathered = Data()
        }

        /// What is left of the content is read past while it is short, so that the connection can be used again.
        func beginSkipping() {
            toSkip = toSkip ?? Self.maxSkipped
        }

        private func skip(_ count: Int) -> Int {
            toSkip = (toSkip ?? 0) - count
            return toSkip.map { $0 < 0 } ?? true ? 0 : count
        }

        private func reportReceived(_ count: Int) {
            guard let report = order.control.onProgress else { return }
            progress.received += count
            report(progress)
            heedSuspension()
        }

        /// A report may suspend its call: what libcurl has read by then waits as well.
        private func heedSuspension() {
            guard order.control.isSuspended, !isSuspended else { return }
            isSuspended = true
            clock.suspend()
            handle?.loop.pauseSoon(self)
        }

        /// A body that comes in one piece is copied once, into memory of its own size.
        private func append(_ bytes: UnsafeRawBufferPointer) {
            if body.isEmpty {
                guard let base = bytes.baseAddress else { return }
                let expected = head.contentLength
                if (expected ?? 0) <= bytes.count {
                    body = Data(bytes: base, count: bytes.count)
                    return
                }
                body.reserveCapacity(min(expected ?? 0, Self.maxReserve))
            }
            bytes.withMemoryRebound(to: UInt8.self) { body.append($0) }
        }

        private func refuse(_ kind: TransportError.Kind, _ message: String) -> Int {
            fail(kind, message)
            return 0
        }

        // MARK: The request's body

        func readBody(into buffer: UnsafeMutableRawBufferPointer, _ now: UInt64) -> Int {
            guard let source else { return 0 }
            guard !isSuspended else { return pauseReading() }
            let size = min(buffer.count, pace.next(now))
            switch source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])) {
            case .later:
                return pauseReading()
            case .failed(let reason):
                fail(.requestBody, reason)
                return Int(CURL_READFUNC_ABORT)
            case .end:
                clock.sent(now)
                return 0
            case .bytes(let count):
                clock.moved(now)
                if source.isFinished, source.length != nil { clock.sent(now) }
                reportSent(count)
                return count
            }
        }

        func rewindBody() -> Bool {
            progress.sent = 0
            return source?.rewind() ?? true
        }

        private func pauseReading() -> Int {
            awaitsChunk = true
            return Int(CURL_READFUNC_PAUSE)
        }

        private func reportSent(_ count: Int) {
            guard let report = order.control.onProgress else { return }
            progress.sent += count
            report(progress)
            heedSuspension()
        }

        private func fail(_ kind: TransportError.Kind, _ message: String) {
            if failure == nil { failure = (kind, message) }
            handle?.closeConnection()
        }
    }
#endif
