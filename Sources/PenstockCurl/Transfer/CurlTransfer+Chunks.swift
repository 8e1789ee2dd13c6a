#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Content in chunks, which libcurl hands over as it came, and of which it finds only the end (``ChunkReader``).
    extension CurlTransfer {
        /// Bytes that are no content and are looked at in one round, at most. Each costs more than one of content does.
        private static let maxFraming = 4 << 10

        func beginChunks() {
            guard state.head.isChunked, state.head.allowsContent, request.request.method != .head else { return }
            state.chunks = ChunkReader(maxLine: request.limits.headerBytes)
        }

        /// Whether what libcurl takes for the end of the content is not.
        var lacksChunks: Bool { state.chunks?.isOver == false && state.toSkip == nil && !isLostByLibrary }

        /// Whether all chunks have come, the last one with them.
        var hasAllChunks: Bool { state.chunks?.isOver == true }

        /// Whether libcurl keeps the content to itself (``CurlFault/followedRefusal``).
        private var isLostByLibrary: Bool {
            CurlFault.followedRefusal.isPresent && state.head.status == 417
                && request.request.fields.contains("Expect")
        }

        /// - Returns: the number of bytes taken, or the code that pauses; any other number ends the transfer.
        func receiveChunks(_ bytes: UnsafeRawBufferPointer, _ now: UInt64) -> Int {
            guard !pauseForFraming(), hasRoom() else { return Int(CURL_WRITEFUNC_PAUSE) }
            guard state.chunks?.takeContent(bytes.count) != true else { return receiveContent(bytes, now) }
            return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { content in
                guard let count = takeChunks(bytes, into: content, now) else { return 0 }
                state.framing.bytes += bytes.count - count
                if state.toSkip != nil {
                    if count > 0 { state.clock.received(count, now) }
                    return skip(bytes.count)
                }
                guard count > 0 else { return bytes.count }
                let taken = receiveContent(UnsafeRawBufferPointer(rebasing: content[..<count]), now)
                return taken == count ? bytes.count : taken
            }
        }

        /// Copies the content to one place: who takes it gets it as one piece, however many chunks there are.
        ///
        /// - Returns: how much content it is; `nil` where the chunks are refused.
        private func takeChunks(
            _ bytes: UnsafeRawBufferPointer, into content: UnsafeMutableRawBufferPointer, _ now: UInt64
        ) -> Int? {
            var (place, count) = (0, 0)
            while let piece = state.chunks?.next(in: bytes, from: &place) {
                switch piece {
                case .content(let range):
                    if let base = content.baseAddress, let source = bytes.baseAddress {
                        memcpy(base + count, source + range.lowerBound, range.count)
                    }
                    count += range.count
                case .trailer(let line):
                    let taken = line.withUnsafeBytes { receiveHeader($0, now) }
                    guard taken == line.count else { return nil }
                case .failure(let kind):
                    refuse(kind, "the chunks of the content are not acceptable")
                    return nil
                }
            }
            // What libcurl has read behind the end is for no request.
            if place < bytes.count { state.handle?.closeConnection() }
            return count
        }

        /// After so much that is no content the transfer pauses until the others have had their turn.
        private func pauseForFraming() -> Bool {
            guard let handle = state.handle else { return false }
            if state.framing.round != handle.round { state.framing = (handle.round, 0) }
            guard state.framing.bytes > Self.maxFraming else { return false }
            state.framing.bytes = 0
            handle.pauseSoon()
            return true
        }
    }
#endif
