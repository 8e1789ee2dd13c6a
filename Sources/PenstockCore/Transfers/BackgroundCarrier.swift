import Foundation

/// Hands one request of an upload over to the system in the place of the client's transport, and waits for the reply.
///
/// Its content is copied first, since the system reads it when it sees fit: what is read is what the digest was compared of. What
/// was handed over is on disk before it is, so that a later process finds the reply; or nothing, and asks the server.
final class BackgroundCarrier: Transport, PromptTransport {
    private let transfers: BackgroundTransfers
    private let partition: String
    private let source: ResumableUploadSource
    /// Puts on disk what a request is known by. Waits for the disk.
    private let note: @Sendable (BackgroundKey) throws(ResumableUploadError) -> Void
    private let keys: Locked<(adopted: String?, last: String?)>

    /// - Parameter adopted: what an earlier process has handed over, which is waited for in place of the first request.
    init(
        _ transfers: BackgroundTransfers, partition: String, source: ResumableUploadSource, adopting adopted: String?,
        note: @escaping @Sendable (BackgroundKey) throws(ResumableUploadError) -> Void
    ) {
        self.transfers = transfers
        self.partition = partition
        self.source = source
        self.note = note
        keys = Locked((adopted, nil))
    }

    var capabilities: TransportCapabilities { transfers.session?.capabilities ?? [] }

    func shutdown() async {}

    func perform(_ exchange: TransportRequest) async throws(TransportError) -> TransportResponse {
        let adopted = keys.withLock { keys in
            defer { keys.adopted = nil }
            return keys.adopted
        }
        let new = BackgroundKey(in: partition)
        let key = adopted ?? new.text
        let handed = Handed(key, to: transfers)
        guard exchange.control.attach(handed) else {
            throw TransportError(.cancelled, sendState: .unsent, message: "cancelled")
        }
        defer { exchange.control.detach(handed) }
        if adopted == nil { try await handOver(exchange, as: new) }
        // One that is sent in its place comes with the decision on what came of it.
        let last = keys.withLock { keys in
            defer { keys.last = key }
            return keys.last
        }
        if let last { await DiskWork.run { [transfers] in transfers.forget(last) } }
        return TransportResponse(try await reply(to: key, exchange.control))
    }

    private func reply(to key: String, _ control: ExchangeControl) async throws(TransportError) -> HTTPResponse {
        do throws(TransportError) {
            let tell = control.onProgress.map { tell in { @Sendable sent in tell(TransferProgress(sent: sent)) } }
            return try await transfers.reply(to: key, onSent: tell)
        } catch {
            guard error.kind == .cancelled, !control.isCancelled else { throw error }
            throw TransportError(
                .connectionLost, sendState: .maybeProcessed, message: "the system has given the upload up")
        }
    }

    // MARK: Handing over

    private func handOver(_ exchange: TransportRequest, as key: BackgroundKey) async throws(TransportError) {
        do throws(TransportError) {
            try await copy(exchange.request.body, as: key, exchange.control)
            try await disk { [note] in try note(key) }
            var request = exchange.request
            request.body = .none
            try transfers.begin(BackgroundUpload(key: key, request: request, file: transfers.part(of: key)))
        } catch {
            await DiskWork.run { [transfers] in transfers.forget(key.text) }
            throw error
        }
    }

    private func copy(
        _ body: HTTPBody, as key: BackgroundKey, _ control: ExchangeControl
    ) async throws(TransportError) {
        guard case .stream(let open) = body.source else {
            let reason = "content that an interceptor has put in the place of the file's, in the background"
            throw TransportError(.unsupported(reason), sendState: .unsent)
        }
        let part = try await disk { [transfers] in try transfers.makePart(of: key) }
        var offset = 0
        do {
            for try await piece in try open() {
                if control.isCancelled { throw TransportError(.cancelled, sendState: .unsent, message: "cancelled") }
                try await disk { [offset] in try part.write(piece, at: offset) }
                offset += piece.count
            }
            try await disk { try part.synchronize() }
        } catch let error as TransportError {
            throw error
        } catch {
            throw TransportError(.requestBody, sendState: .unsent, underlying: error)
        }
        guard offset == body.length else { throw TransportError(.requestBody, sendState: .unsent) }
    }

    /// Where the disk fails, so does the upload: its source keeps the reason.
    private func disk<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(TransportError) -> Value {
        do throws(ResumableUploadError) {
            return try await source.run { _ throws(ResumableUploadError) in
                do {
                    return try body()
                } catch let error as SystemError {
                    throw .unusableState(reason: String(cString: strerror(error.code)))
                } catch {
                    throw (error as? ResumableUploadError) ?? .unusableState(reason: "\(error)")
                }
            }
        } catch {
            throw TransportError(.requestBody, sendState: .unsent, underlying: error)
        }
    }

    /// A request that the system has.
    private final class Handed: ControlledExchange {
        private let key: String
        private let transfers: BackgroundTransfers

        init(_ key: String, to transfers: BackgroundTransfers) {
            self.key = key
            self.transfers = transfers
        }

        func cancel() { transfers.cancel(key) }
        // The system decides when it sends.
        func suspend() {}
        func resume() {}
    }
}
