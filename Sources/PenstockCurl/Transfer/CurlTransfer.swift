#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore
    import Synchronization

    /// The transfer of one exchange: everything about it that lasts no longer than itself.
    ///
    /// Unchecked because the compiler cannot see the confinement: the task writes before it posts the transfer to the
    /// mailbox and reads after the continuation resumes, and in between only whoever drives the loop touches it.
    final class CurlTransfer: @unchecked Sendable {
        let request: TransportRequest
        /// Whether there is to be a connection and no request.
        let connectsOnly: Bool
        /// Where the content goes; `nil` when it is collected.
        let pipe: ContentPipe?
        /// The completion of a streamed transfer, for its reader.
        let completion: Locked<TransportCompletion>?
        private let mailbox: CurlMailbox
        /// Orders the result before whoever awaits it. A continuation does so too, but where it is resumed before its task
        /// waits the thread sanitizer does not see how.
        private let isDelivered = Atomic<Bool>(false)

        /// What changes while the transfer is under way. One thread at a time touches it, so the checks of exclusive access, a
        /// tenth of a transfer's instructions, are left out.
        @exclusivity(unchecked) var state: State

        struct State {
            // MARK: Where it stands

            /// Its index in the heap of the deadlines; `nil` while it is not under way.
            var heapIndex: Int?
            var handle: CurlHandle?
            var pool: CurlPool?
            /// The transfers with its origin, among which it has a place or waits for one.
            var originQueue: CurlOriginQueue?
            /// Whether it has a place among the transfers with its origin.
            var isAdmitted = false
            /// Which way its request goes; `nil` while it has not been about to be sent.
            var way: CurlWay?
            /// The moment since which it is held back, in nanoseconds; 0 for one that never was.
            var waitsSince: UInt64 = 0
            /// What kept it from connecting at once; `nil` where nothing did.
            var detour: CurlDetour?
            var clock: CurlClock
            var probeBackoff = CurlProbeBackoff()

            // MARK: The request

            var tunnel = CurlTunnelWatch()
            var source: (any CurlBodySource)?
            var pace = CurlUploadPace()
            /// The least that was under way at a look since the last piece of the body was handed over; `nil` before the first look.
            var unconfirmed: Int32?
            /// Times the request was about to be sent.
            var attempts = 0
            /// How far each attempt had come that sent at least a part of the request and was followed by another.
            var resends: [SendState] = []
            /// Whether its request was handed to libcurl while other streams were sent over what may be the same connection.
            var isAmongOthers = false
            /// Bytes of the request, its body aside, that were sent in all attempts before this one.
            var sentBefore = 0
            /// Whether the server said that it does not process the stream of the last attempt.
            var isLeftOut = false
            /// Whether each attempt but the last had a connection that was made for it, and that no other used, or was left out.
            var wasAlone = true
            /// Whether the attempt that is followed by another provably was not processed: it was left out, or refused.
            var lastIsUnprocessed = false
            /// The connection of the last attempt, if it was made for it.
            var connection: CurlConnectionUse?
            /// Whether libcurl may still hold an earlier attempt for refused (``CurlFault/rememberedRefusal``).
            var mayRememberRefusal = false
            /// Whether the server refused the stream each time.
            var isRefused = false

            // MARK: The response

            var head = CurlHead()
            var body = Data()
            /// Content for the pipe, of this round.
            var gathered = Data()
            /// The content as it comes, where it comes in chunks.
            var chunks: ChunkReader?
            /// Bytes of it that were no content in a round of the loop.
            var framing: (round: UInt64, bytes: Int) = (0, 0)
            /// Bytes of content nobody wants that are still read past; `nil` while content is wanted.
            var toSkip: Int?
            /// Whether the end of content that ends with its connection over TLS has been announced. `nil` for other content.
            var endsSecurely: Bool?
            /// Whether the answer is complete although the request is not.
            var isAnswered = false
            var progress = TransferProgress()

            // MARK: What holds it up

            var isCancelled = false
            var isSuspended = false
            /// Whether the reader has enough for now.
            var isHeldBack = false
            /// Whether libcurl has been told to read no body until the stream yields more, or more of the file was read.
            var awaitsChunk = false
            /// Whether libcurl was told to go on sending when it had read the whole answer, so that it can say that it is over.
            var hasGoneOn = false

            // MARK: The outcome

            /// Decided by a callback, in place of whatever libcurl makes of the callback's refusal.
            var failure: (kind: TransportError.Kind, message: String)?
            fileprivate var continuation: UnsafeContinuation<Void, Never>?
            fileprivate var result = Result<TransportResponse, TransportError>.failure(.stopped)
            fileprivate var isSettled = false
            fileprivate var isHeadDelivered = false

            init(_ clock: CurlClock) {
                self.clock = clock
            }
        }

        var isUnderWay: Bool { state.heapIndex != nil }

        init(
            _ request: TransportRequest, loop: CurlLoop, streams: Bool = false, connectsOnly: Bool = false
        ) {
            self.request = request
            self.connectsOnly = connectsOnly
            mailbox = loop.mailbox
            let isSending = CurlBodySources.isRead(request.request.body)
            state = State(CurlClock(request.timeouts, request.limits.minimumThroughput, isSending: isSending))
            completion = streams ? Locked(TransportCompletion()) : nil
            let reader = streams ? CurlReader(loop) : nil
            pipe = reader.map { reader in ContentPipe(capacity: Self.streamed) { reader.proceed() } }
            reader?.attach(self)
        }

        /// The capacity for a streamed response, in bytes: as much as two threads hand each other without waiting.
        private static let streamed = 1 << 20

        // MARK: The task's side

        /// Has it performed, and waits for its ``outcome()``.
        func run(on loop: CurlLoop) async {
            await withUnsafeContinuation { continuation in
                state.continuation = continuation
                guard !loop.perform(self) else { return }
                state.continuation = nil
                continuation.resume()
            }
        }

        /// The response; of a streamed transfer, its head.
        func outcome() throws(TransportError) -> TransportResponse {
            _ = isDelivered.load(ordering: .acquiring)
            return try state.result.get()
        }

        // MARK: The loop's side

        /// Decides the result, which is handed over with ``deliver()``; only the first one counts.
        func settle(_ result: Result<TransportResponse, TransportError>) {
            guard !state.isSettled else { return }
            state.isSettled = true
            state.source?.close()
            state.source = nil
            guard state.isHeadDelivered else {
                state.result = result
                return
            }
            if case .success(let response) = result { complete(response) }
            // Also where the connection broke: the pipe knows after which failures what came can still be read.
            handOver()
            pipe?.end(result.map { _ in })
        }

        /// Hands over the head of a streamed response.
        ///
        /// - Returns: `false` where the whole response is awaited.
        func settleHead(_ head: @autoclosure () -> TransportResponse) -> Bool {
            guard pipe != nil, !state.isHeadDelivered else { return false }
            state.isHeadDelivered = true
            let head = head()
            complete(head)
            state.result = .success(head)
            return true
        }

        private func complete(_ response: TransportResponse) {
            let completion = TransportCompletion(
                trailers: response.response.trailers, timings: response.timings, connection: response.connection)
            self.completion?.withLock { $0 = completion }
        }

        func deliver() {
            guard let continuation = state.continuation else { return }
            state.continuation = nil
            isDelivered.store(true, ordering: .releasing)
            continuation.resume()
        }

        // MARK: The reader's side

        /// The rest is not wanted.
        func skip() {
            mailbox.post(.skip(self))
        }

        func stream(_ event: CurlStreamSource.Event) {
            mailbox.post(.chunk(self, event))
        }

        func tellRead(_ event: CurlFileSource.Event) {
            mailbox.post(.piece(self, event))
        }

        // MARK: The resolver's side

        func tellFound(_ result: HostResult) {
            mailbox.post(.found(self, result))
        }
    }

    /// Asks for more content. It stands between a pipe and its transfer, which holds the pipe.
    final class CurlReader: Sendable {
        private let loop: CurlLoop
        private let transfer = Locked<WeakTransfer>(WeakTransfer())

        private struct WeakTransfer: Sendable {
            weak var transfer: CurlTransfer?
        }

        init(_ loop: CurlLoop) {
            self.loop = loop
        }

        func attach(_ transfer: CurlTransfer) {
            self.transfer.withLock { $0.transfer = transfer }
        }

        func proceed() {
            if let transfer = transfer.withLock({ $0.transfer }) { loop.proceed(transfer) }
        }
    }

    extension CurlTransfer: ControlledExchange {
        func cancel() {
            mailbox.post(.cancel(self))
        }

        func suspend() {
            mailbox.post(.suspend(self))
        }

        func resume() {
            mailbox.post(.resume(self))
        }
    }
#endif
