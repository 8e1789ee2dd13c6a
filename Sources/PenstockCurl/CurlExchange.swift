#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// One request on its way: everything about it that lasts no longer than itself.
    ///
    /// Unchecked because the compiler cannot see the confinement: the task writes before it posts the exchange to the
    /// inbox and reads after the continuation resumes, and in between only the loop's thread touches it.
    final class CurlExchange: @unchecked Sendable {
        let order: TransportRequest
        private let inbox: CurlInbox
        private var continuation: UnsafeContinuation<Void, Never>?
        private var result: Result<TransportResponse, TransportError>

        /// Where it stands among the deadlines; `nil` while it is not under way.
        var place: Int?
        var handle: CurlHandle?
        var pool: CurlPool?
        var source: (any CurlBodySource)?
        var clock: CurlClock

        var head = CurlHead()
        var body = Data()
        /// Decided by a callback, in place of whatever libcurl makes of the callback's refusal.
        var failure: (kind: TransportError.Kind, message: String)?
        var progress = TransferProgress()

        private var isSettled = false
        var isCancelled = false
        var isSuspended = false
        /// Whether libcurl has been told to read no body until the stream yields more.
        var awaitsChunk = false
        /// Times the request was about to be sent.
        var attempts = 0
        /// Whether the first attempt went over a connection that was made for it.
        var beganOnNewConnection = false

        init(_ order: TransportRequest, inbox: CurlInbox) {
            self.order = order
            self.inbox = inbox
            clock = CurlClock(order.timeouts)
            result = .failure(TransportError(.cancelled, sendState: .unsent))
        }

        // MARK: The task's side

        func outcome() async throws(TransportError) -> TransportResponse {
            await withUnsafeContinuation { continuation in
                self.continuation = continuation
                guard !inbox.post(.start(self)) else { return }
                self.continuation = nil
                continuation.resume()
            }
            return try result.get()
        }

        // MARK: The loop's side

        /// Decides the result, which is handed over with ``deliver()``; only the first one counts.
        func settle(_ result: Result<TransportResponse, TransportError>) {
            guard !isSettled else { return }
            isSettled = true
            source?.close()
            source = nil
            self.result = result
        }

        func deliver() {
            guard let continuation else { return }
            self.continuation = nil
            continuation.resume()
        }

        func stream(_ event: CurlStreamSource.Event) {
            inbox.post(.chunk(self, event))
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
