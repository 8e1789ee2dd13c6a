#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore
    import Synchronization

    /// One request on its way: everything about it that lasts no longer than itself.
    ///
    /// Unchecked because the compiler cannot see the confinement: the task writes before it posts the exchange to the
    /// inbox and reads after the continuation resumes, and in between only who drives the loop touches it. For the same
    /// reason the checks of exclusive access, a tenth of an exchange's instructions, are left out here and in the loop.
    final class CurlExchange: @unchecked Sendable {
        let order: TransportRequest
        /// Whether there is to be a connection and no request.
        let connectsOnly: Bool
        /// Where the content goes; `nil` when it is collected.
        let pipe: ContentPipe?
        /// Of a streamed exchange, for its reader.
        let completion: Locked<TransportCompletion>?
        private let inbox: CurlInbox
        @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
        @exclusivity(unchecked) private var result: Result<TransportResponse, TransportError>

        /// Where it stands among the deadlines; `nil` while it is not under way.
        @exclusivity(unchecked) var place: Int?
        @exclusivity(unchecked) var handle: CurlHandle?
        @exclusivity(unchecked) var pool: CurlPool?
        @exclusivity(unchecked) var source: (any CurlBodySource)?
        @exclusivity(unchecked) var clock: CurlClock
        @exclusivity(unchecked) var pace = CurlPace()
        @exclusivity(unchecked) var patience = CurlPatience()
        /// The exchanges with its origin, among which it has a place or waits for one.
        @exclusivity(unchecked) var lane: CurlLane?
        /// Since when it is held back, in nanoseconds; 0 for one that never was.
        @exclusivity(unchecked) var waitsSince: UInt64 = 0
        /// What kept it from connecting at once; `nil` where nothing did.
        @exclusivity(unchecked) var detour: CurlDetour?
        /// Whether it has a place among the exchanges with its origin.
        @exclusivity(unchecked) var isAdmitted = false

        @exclusivity(unchecked) var head = CurlHead()
        @exclusivity(unchecked) var body = Data()
        /// Content for the pipe, of this round.
        @exclusivity(unchecked) var gathered = Data()
        /// Decided by a callback, in place of whatever libcurl makes of the callback's refusal.
        @exclusivity(unchecked) var failure: (kind: TransportError.Kind, message: String)?
        @exclusivity(unchecked) var progress = TransferProgress()

        @exclusivity(unchecked) private var isSettled = false
        /// Orders the result before whoever awaits it. A continuation does so too, but where it is resumed before its task
        /// waits the thread sanitizer does not see how.
        private let isDelivered = Atomic<Bool>(false)
        @exclusivity(unchecked) private var isHeadDelivered = false
        @exclusivity(unchecked) var isCancelled = false
        @exclusivity(unchecked) var isSuspended = false
        /// Whether the reader has enough for now.
        @exclusivity(unchecked) var isHeldBack = false
        /// Bytes of content nobody wants that are still read past; `nil` while content is wanted.
        @exclusivity(unchecked) var toSkip: Int?
        /// Whether libcurl has been told to read no body until the stream yields more.
        @exclusivity(unchecked) var awaitsChunk = false
        /// Whether libcurl was told to go on sending when it had read the whole answer, so that it can say that it is over.
        @exclusivity(unchecked) var hasGoneOn = false
        /// Whether the answer is complete although the request is not.
        @exclusivity(unchecked) var isAnswered = false
        /// Tiny pieces of content in a round of the loop.
        @exclusivity(unchecked) var crumbs: (round: UInt64, count: Int) = (0, 0)
        /// Of content that ends with its connection over TLS: whether that end has been announced. `nil` for other content.
        @exclusivity(unchecked) var endsSecurely: Bool?
        /// Times the request was about to be sent.
        @exclusivity(unchecked) var attempts = 0
        /// Times the request was sent again, at least in part.
        @exclusivity(unchecked) var resends = 0
        /// Whether its request was handed to libcurl while other streams were sent over what may be the same connection.
        @exclusivity(unchecked) var isAmongOthers = false
        /// Bytes of the request, its body aside, that were sent in all attempts before this one.
        @exclusivity(unchecked) var sentBefore = 0
        /// The stream of the last attempt, where libcurl was asked to tell it.
        @exclusivity(unchecked) var stream: Int?
        /// Whether the server said that it does not process the stream of the last attempt.
        @exclusivity(unchecked) var isLeftOut = false
        /// Whether each attempt but the last had a connection that was made for it, and that no other used, or was left out.
        @exclusivity(unchecked) var wasAlone = true
        /// The connection of the last attempt, if it was made for it.
        @exclusivity(unchecked) var connection: CurlConnectionUse?
        /// Whether the server refused the stream each time.
        @exclusivity(unchecked) var isRefused = false

        init(
            _ order: TransportRequest, loop: CurlLoop, streams: Bool = false, connectsOnly: Bool = false
        ) {
            self.order = order
            self.connectsOnly = connectsOnly
            inbox = loop.inbox
            clock = CurlClock(order.timeouts, order.limits.minimumThroughput)
            result = Self.notBegun
            completion = streams ? Locked(TransportCompletion()) : nil
            let reader = streams ? CurlReader(loop) : nil
            pipe = reader.map { reader in ContentPipe(capacity: Self.streamed) { reader.proceed() } }
            reader?.attach(self)
        }

        private static let notBegun = Result<TransportResponse, TransportError>.failure(.stopped)
        /// Of a streamed response, in bytes: as much as two threads hand each other without waiting.
        private static let streamed = 1 << 20

        // MARK: The task's side

        /// Has it performed, and waits for its ``outcome()``.
        func run(on loop: CurlLoop) async {
            await withUnsafeContinuation { continuation in
                self.continuation = continuation
                guard !loop.perform(self) else { return }
                self.continuation = nil
                continuation.resume()
            }
        }

        /// The response; of a streamed exchange, its head.
        func outcome() throws(TransportError) -> TransportResponse {
            _ = isDelivered.load(ordering: .acquiring)
            return try result.get()
        }

        // MARK: The loop's side

        /// Decides the result, which is handed over with ``deliver()``; only the first one counts.
        func settle(_ result: Result<TransportResponse, TransportError>) {
            guard !isSettled else { return }
            isSettled = true
            source?.close()
            source = nil
            guard isHeadDelivered else {
                self.result = result
                return
            }
            if case .success(let response) = result {
                complete(response)
                handOver()
            }
            pipe?.end(result.map { _ in })
        }

        /// Hands over the head of a streamed response.
        ///
        /// - Returns: `false` where the whole response is awaited.
        func settleHead(_ head: @autoclosure () -> TransportResponse) -> Bool {
            guard pipe != nil, !isHeadDelivered else { return false }
            isHeadDelivered = true
            let head = head()
            complete(head)
            result = .success(head)
            return true
        }

        private func complete(_ response: TransportResponse) {
            let completion = TransportCompletion(
                trailers: response.response.trailers, timings: response.timings, connection: response.connection)
            self.completion?.withLock { $0 = completion }
        }

        func deliver() {
            guard let continuation else { return }
            self.continuation = nil
            isDelivered.store(true, ordering: .releasing)
            continuation.resume()
        }

        // MARK: The reader's side

        /// The rest is not wanted.
        func skip() {
            inbox.post(.skip(self))
        }

        func stream(_ event: CurlStreamSource.Event) {
            inbox.post(.chunk(self, event))
        }

        // MARK: The resolver's side

        func tellFound(_ result: HostResult) {
            inbox.post(.found(self, result))
        }
    }

    /// Asks for more content. It stands between a pipe and its exchange, which holds the pipe.
    final class CurlReader: Sendable {
        private let loop: CurlLoop
        private let exchange = Locked<WeakExchange>(WeakExchange())

        private struct WeakExchange: Sendable {
            weak var exchange: CurlExchange?
        }

        init(_ loop: CurlLoop) {
            self.loop = loop
        }

        func attach(_ exchange: CurlExchange) {
            self.exchange.withLock { $0.exchange = exchange }
        }

        func proceed() {
            if let exchange = exchange.withLock({ $0.exchange }) { loop.proceed(exchange) }
        }
    }

    extension CurlExchange: ControlledExchange {
        func cancel() {
            inbox.post(.cancel(self))
        }

        func suspend() {
            inbox.post(.suspend(self))
        }

        func resume() {
            inbox.post(.resume(self))
        }
    }
#endif
