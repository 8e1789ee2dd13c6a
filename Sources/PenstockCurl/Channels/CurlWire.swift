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
            /// Whether nothing is written behind it.
            var isLast = false
            let waiting: Waiting<WriteResult>
        }

        /// Whether the wire is there; the lock of all that follows, so that the checks of exclusive access are left out.
        private let isOpen = Locked(true)
        @exclusivity(unchecked) private var handle: CurlWireHandle?
        @exclusivity(unchecked) private var reader: Waiting<ReadResult>?
        @exclusivity(unchecked) private var writer: Writer?
        @exclusivity(unchecked) private var failure: TransportError?
        @exclusivity(unchecked) private var hasEnded = false
        @exclusivity(unchecked) private var isSuspended = false
        @exclusivity(unchecked) private var wait = CurlReadWait()
        /// When the reader was left to the poller, in nanoseconds.
        @exclusivity(unchecked) private var parked: UInt64 = 0
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
            if let result = attemptRead() { return try result.get() }
            if isOpen.withLock({ _ in wait.isWorthwhile }) {
                // Who was just given what had come goes first, on this very thread: what is waited for may be the answer to it.
                await Task.yield()
                if let result = awaitedRead() { return try result.get() }
            }
            return try await Waiting<ReadResult>(.success(nil)).value { park(reader: $0) }.get()
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
        private func park(reader waiting: Waiting<ReadResult>) {
            let result = isOpen.withLock { _ -> ReadResult? in
                if reader != nil { return .failure(Self.misuse("two tasks read")) }
                if let failure { return .failure(failure) }
                if handle == nil || hasEnded { return .success(nil) }
                reader = waiting
                parked = CurlClock.now()
                watch()
                return nil
            }
            if let result { waiting.end(with: result) }
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
            try await Waiting<WriteResult>(.success(())).value { [sent] in
                park(Writer(bytes: bytes, offset: sent, waiting: $0))
            }
            .get()
        }

        private func park(_ new: Writer) {
            let result = isOpen.withLock { _ -> WriteResult? in
                if writer != nil { return .failure(Self.misuse("two tasks write")) }
                var new = new
                if let result = send(new.bytes, &new.offset, isLast: new.isLast) { return result }
                writer = new
                watch()
                return nil
            }
            if let result { new.waiting.end(with: result) }
        }

        /// - Returns: `nil` where the system takes no more for now.
        private func send(_ bytes: Data, _ offset: inout Int, isLast: Bool = false) -> WriteResult? {
            if let failure { return .failure(failure) }
            guard let handle else { return .failure(TransportError(.connectionLost, sendState: .unsent)) }
            if isSuspended { return nil }
            while offset < bytes.count {
                switch handle.send(bytes, from: offset) {
                case .bytes(let count): offset += count
                case .later: return nil
                case .failed(let message): return lost(message)
                }
            }
            guard isLast else { return .success(()) }
            switch handle.endWriting() {
            case .bytes: return .success(())
            case .later: return nil
            case .failed(let message): return lost(message)
            }
        }

        private func lost(_ message: String) -> WriteResult {
            end(CurlErrors.kindOfLoss(message), message)
            return .failure(failure ?? TransportError(.connectionLost, sendState: .maybeProcessed))
        }

        func endWriting() async throws(TransportError) -> Bool {
            guard isOpen.withLock({ _ in handle?.mayEndWriting() ?? true }) else { return false }
            try await Waiting<WriteResult>(.success(())).value {
                park(Writer(bytes: Data(), isLast: true, waiting: $0))
            }
            .get()
            return true
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
                    written = send(waiting.bytes, &waiting.offset, isLast: waiting.isLast)
                    writer = waiting
                }
                return (read, written)
            }
        }

        private func wake(_ body: () -> (ReadResult?, WriteResult?)) {
            let (ended, read, written) = isOpen.withLock {
                _ -> ((Waiting<ReadResult>?, Waiting<WriteResult>?), ReadResult?, WriteResult?) in
                let (read, written) = body()
                var ended: (Waiting<ReadResult>?, Waiting<WriteResult>?)
                if read != nil { swap(&ended.0, &reader) }
                if written != nil {
                    ended.1 = writer?.waiting
                    writer = nil
                }
                watch()
                return (ended, read, written)
            }
            if let read { ended.0?.end(with: read) }
            if let written { ended.1?.end(with: written) }
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
            control.detach(self)
        }
    }

    /// A task that waits for a wire. In an object, and without a check of the system's: what holds a checked continuation is
    /// handled by looking its type up, at every touch.
    ///
    /// Unchecked because the compiler cannot see that the result is left before the task goes on, and read after that.
    private final class Waiting<Value: Sendable>: @unchecked Sendable {
        @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
        @exclusivity(unchecked) private var result: Value

        /// - Parameter result: anything; it is replaced before anybody reads it.
        init(_ result: Value) {
            self.result = result
        }

        /// - Parameter body: hands what waits to whoever calls ``end(with:)``.
        func value(_ body: (Waiting) -> Void) async -> Value {
            await withUnsafeContinuation { continuation in
                self.continuation = continuation
                body(self)
            }
            return result
        }

        /// Ends the wait with a result; to be called once.
        func end(with result: Value) {
            let continuation = self.continuation.take()
            self.result = result
            continuation?.resume()
        }
    }
#endif
