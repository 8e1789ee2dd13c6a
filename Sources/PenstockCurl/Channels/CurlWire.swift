#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// A connection that libcurl has made and handed over (`CURLOPT_CONNECT_ONLY`): TLS, the proxy and the check of the
    /// certificate are libcurl's. Who reads or writes does so on a thread of its own; what has to wait, waits in epoll.
    ///
    /// Unchecked because of the C handle, which is touched with the lock held, or by the connecting thread before that hands
    /// it over.
    final class CurlWire: TransportWire, CurlPolled, @unchecked Sendable {
        typealias ReadResult = Result<Data?, TransportError>
        typealias WriteResult = Result<Void, TransportError>

        private struct Writer {
            let bytes: Data
            var offset = 0
            let continuation: CheckedContinuation<WriteResult, Never>
        }

        /// Whether the wire is there; the lock of all that follows.
        private let isOpen = Locked(true)
        private var handle: CurlWireHandle?
        private var reader: CheckedContinuation<ReadResult, Never>?
        private var writer: Writer?
        private var failure: TransportError?
        private var hasEnded = false
        private var isSuspended = false
        private var wait = CurlReadWait()
        /// When the reader was left to the poller, in nanoseconds.
        private var parked: UInt64 = 0
        private let poller: CurlWirePoller
        private let number: UInt64
        private let control: ExchangeControl
        let timings: Timings
        let connection: ConnectionInfo
        private static let mostRead = 64 << 10

        init(_ handle: CurlWireHandle, _ control: ExchangeControl, _ poller: CurlWirePoller) {
            self.handle = handle
            self.control = control
            self.poller = poller
            number = poller.nextNumber()
            timings = handle.timings
            connection = handle.connection
            isSuspended = control.isSuspended
        }

        deinit {
            poller.forget(number)
        }

        // MARK: Reading

        func read() async throws(TransportError) -> Data? {
            if let result = attemptRead() ?? awaitedRead() { return try result.get() }
            return try await withCheckedContinuation { park(reader: $0) }.get()
        }

        private func attemptRead() -> ReadResult? {
            isOpen.withLock { _ in received() }
        }

        /// Waits for the socket on the caller's thread, where that is likely to take less than handing it to another.
        ///
        /// A socket that is closed meanwhile is not looked at again: what is read is read with the lock held.
        private func awaitedRead() -> ReadResult? {
            let socket = isOpen.withLock { _ in wait.isWorthwhile && !isSuspended ? handle?.socket : nil }
            guard let socket, let hasCome = poller.waitOnCaller(for: socket, CurlReadWait.longest) else { return nil }
            guard !hasCome else { return attemptRead() }
            isOpen.withLock { _ in wait.backOff() }
            return nil
        }

        /// Nothing had come a moment ago, and what has come since is reported by epoll at once, so the socket is not asked again.
        private func park(reader continuation: CheckedContinuation<ReadResult, Never>) {
            let result = isOpen.withLock { _ -> ReadResult? in
                if reader != nil { return .failure(Self.misuse("two tasks read")) }
                if let failure { return .failure(failure) }
                if handle == nil || hasEnded { return .success(nil) }
                reader = continuation
                parked = CurlClock.now()
                watch()
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }

        /// - Returns: `nil` where nothing has come.
        private func received() -> ReadResult? {
            if let failure { return .failure(failure) }
            guard let handle, !hasEnded else { return .success(nil) }
            if isSuspended { return nil }
            switch handle.receive(upTo: Self.mostRead) {
            case .bytes(let bytes): return .success(bytes)
            case .later: return nil
            case .end:
                hasEnded = true
                return .success(nil)
            case .failed(let message):
                end(CurlErrors.kindOfLoss(message), message)
                return .failure(failure ?? TransportError(.connectionLost, sendState: .answered))
            }
        }

        // MARK: Writing

        func write(_ bytes: Data) async throws(TransportError) {
            var sent = 0
            if let result = isOpen.withLock({ _ in writer == nil ? send(bytes, &sent) : nil }) {
                return try result.get()
            }
            try await withCheckedContinuation { [sent] in park(Writer(bytes: bytes, offset: sent, continuation: $0)) }
                .get()
        }

        private func park(_ new: Writer) {
            let result = isOpen.withLock { _ -> WriteResult? in
                if writer != nil { return .failure(Self.misuse("two tasks write")) }
                var new = new
                if let result = send(new.bytes, &new.offset) { return result }
                writer = new
                watch()
                return nil
            }
            if let result { new.continuation.resume(returning: result) }
        }

        /// - Returns: `nil` where the system takes no more for now.
        private func send(_ bytes: Data, _ offset: inout Int) -> WriteResult? {
            if let failure { return .failure(failure) }
            guard let handle else { return .failure(TransportError(.connectionLost, sendState: .unsent)) }
            if isSuspended { return nil }
            while offset < bytes.count {
                switch handle.send(bytes, from: offset) {
                case .bytes(let count): offset += count
                case .later: return nil
                case .failed(let message):
                    end(CurlErrors.kindOfLoss(message), message)
                    return .failure(failure ?? TransportError(.connectionLost, sendState: .maybeProcessed))
                }
            }
            return .success(())
        }

        private static func misuse(_ what: String) -> TransportError {
            TransportError(.other, sendState: .maybeProcessed, message: "\(what) at a time")
        }

        // MARK: Waiting

        /// Tells the poller what those who wait, wait for. To be called with the lock held.
        private func watch() {
            guard let handle, !isSuspended, reader != nil || writer != nil else { return }
            poller.watch(self, number, handle.socket, reads: reader != nil, writes: writer != nil)
        }

        /// The socket has something for those who wait. On the poller's thread.
        func becameReady() {
            wake { [self] in
                let read = reader == nil ? nil : received()
                if read != nil { wait.note(CurlClock.now() - parked) }
                var written: WriteResult?
                if var waiting = writer {
                    written = send(waiting.bytes, &waiting.offset)
                    writer = waiting
                }
                return (read, written)
            }
        }

        private func wake(_ body: () -> (ReadResult?, WriteResult?)) {
            let (read, written) = isOpen.withLock { _ -> (Woken<ReadResult>?, Woken<WriteResult>?) in
                let (read, written) = body()
                var woken: (Woken<ReadResult>?, Woken<WriteResult>?)
                if let read, let reader {
                    woken.0 = Woken(continuation: reader, result: read)
                    self.reader = nil
                }
                if let written, let writer {
                    woken.1 = Woken(continuation: writer.continuation, result: written)
                    self.writer = nil
                }
                watch()
                return woken
            }
            read?.resume()
            written?.resume()
        }

        private struct Woken<Value: Sendable>: Sendable {
            let continuation: CheckedContinuation<Value, Never>
            let result: Value

            func resume() {
                continuation.resume(returning: result)
            }
        }

        // MARK: The end

        func close() {
            wake { [self] in
                if failure == nil { end(.connectionLost, "the wire was closed") }
                return losers
            }
        }

        func fail(_ kind: TransportError.Kind) {
            wake { [self] in
                handle?.abort()
                end(kind, "")
                return losers
            }
        }

        func cancel() {
            fail(.cancelled)
        }

        func suspend() {
            isOpen.withLock { _ in isSuspended = true }
        }

        func resume() {
            isOpen.withLock { _ in isSuspended = false }
            becameReady()
        }

        private var losers: (ReadResult?, WriteResult?) {
            guard let failure else { return (nil, nil) }
            return (.failure(failure), .failure(failure))
        }

        /// The first reason stays. The socket closes with the handle.
        private func end(_ kind: TransportError.Kind, _ message: String) {
            guard failure == nil else { return }
            failure = TransportError(
                kind, sendState: .maybeProcessed, message: message, timings: timings, connection: connection)
            // The number of the socket is somebody else's as soon as it is closed.
            poller.forget(number)
            handle = nil
            control.detach()
        }
    }
#endif
