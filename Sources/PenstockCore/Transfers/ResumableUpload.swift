import Foundation

/// An upload of a file that goes on where it was interrupted: by a lost connection, by ``pause()``, by the end of the process.
///
/// ```swift
/// let upload = client.upload(video, to: "/videos", resumableBy: .tus)
/// for await progress in upload.progress { bar.value = progress.fraction ?? 0 }
/// let receipt = try await upload.value
/// ```
///
/// The same line in a later process takes the upload up: what it needs is in a file beside the one that is sent
/// (`video.mov.upload`), which goes when the upload is done. Each user has one of their own, told apart by a mark behind the name:
/// who uploads the same file next does not lose what another one has begun. Nobody else may read it (0600), since the place at the server is
/// in it; who uploads, and to which path, is in it as a digest.
///
/// - **One object.** No more than one object comes of it, whatever is lost: the server is asked what it has before anything is
///   sent again, and an upload that may be complete is never begun anew.
/// - **One file.** The server completes the file that the upload began with or nothing: its SHA-256 is taken when the upload
///   begins, in a later process before it goes on, and of the bytes as they are sent before the last of them goes out.
/// - **One call.** From its beginning to its end it counts as one call, also while it waits or is paused: its scope,
///   ``APIClient/cancelAll()``, ``APIClient/cancel(_:)-(CallID)`` and ``APIClient/signOut(_:)`` end it, and what is on disk stays.
/// - **The path of every call.** Each request is a call of its own: the service's headers and credentials, retries, time-outs
///   and events apply. Where the server puts the upload at another origin than the service's, what goes there is what
///   ``RedirectPolicy`` lets go there: nothing by default, and the file without headers of the app's, cookies and credentials
///   where ``RedirectPolicy/sendsBodyAcrossOrigins`` is set.
/// - **As it is.** The file is neither compressed nor sealed, since offsets count its own bytes: where the service has a sealer,
///   the upload fails as ``APIError/Kind/unsupported(feature:)`` unless its options say ``CallOptions/plain``.
///
/// Letting go of the handle does not end the upload.
public final class ResumableUpload: Sendable {
    private let task: Task<Result<Receipt, APIError>, Never>
    private let worker: ResumableUploadWorker

    /// What a server made of an upload.
    public struct Receipt: Sendable {
        /// The upload resource.
        public let url: HTTPURL?
        /// The answer to the request that has completed the upload: with the IETF's draft what the app's own request would have
        /// been answered. `nil` where that answer was lost, and the server has said when it was asked that it has all.
        public let response: APIResponse<Data>?
    }

    init(_ worker: ResumableUploadWorker) {
        self.worker = worker
        task = Task { await worker.run() }
    }

    /// What came of the upload, once it is over. Any number may wait. A waiting task that is cancelled cancels the upload.
    ///
    /// - Throws: why it could not be finished; a ``ResumableUploadError`` as its ``APIError/underlying`` where it was not a
    ///   request that failed. What is on disk stays, and the next upload of the file goes on from there.
    public var value: Receipt {
        get async throws(APIError) {
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                worker.cancel()
            }
            return try result.get()
        }
    }

    /// How far the upload is, from now on: at once how far it is already, then whenever that changes, and the last is its end. Who
    /// is slow misses what has been overtaken. ``TransferProgress/sent`` counts from the beginning of the file, and what the
    /// server has from before is ``TransferProgress/acknowledged`` at once; neither goes back.
    public var progress: AsyncStream<TransferProgress> { worker.reports.stream() }

    /// Whether ``pause()`` was called and ``resume()`` was not since.
    public var isPaused: Bool { worker.isPaused }

    /// Ends the request under way and begins no other. It holds no connection and no memory while it is paused.
    public func pause() {
        worker.pause()
    }

    /// Goes on after ``pause()``: asks the server what it has, and sends the rest.
    public func resume() {
        worker.resume()
    }

    /// Forgets what uploads of a file that have not ended have on disk, whoever's they are: the next one begins anew, also where
    /// the file was changed. Waits for the disk.
    ///
    /// - Parameter state: where it is, if not beside the file.
    /// - Throws: why it cannot be removed. That there is none is no reason.
    public static func forget(_ file: URL, state: URL? = nil) throws {
        for place in try ResumableUploadState.places(at: state ?? ResumableUploadState.place(of: file)) {
            do {
                try FileManager.default.removeItem(at: place)
            } catch CocoaError.fileNoSuchFile {
                continue
            }
        }
    }

    /// Ends the upload; whoever waits gets ``APIError/Kind/cancelled``. What is on disk stays, and so does what the server has:
    /// the next upload of the file goes on from there.
    public func cancel() {
        worker.cancel()
    }
}

/// How much an upload bears before it fails.
public struct ResumableUploadPolicy: Hashable, Sendable {
    /// How many requests in a row may fail, or bring the server no further. 8 by default: with the waits between them, about half
    /// a minute without a connection. The count begins anew when the server has 64 KiB more.
    public var patience: Int
    /// How often the upload may be begun anew in one process because the server knows nothing of it any more (404, 410). 3 by
    /// default: a server that forgets it more often keeps none. With 0 it fails as ``ResumableUploadError/gone`` at once. An upload
    /// that may be complete is never begun anew.
    public var restarts: Int

    /// The defaults, but for what is named. What is below zero is taken as zero.
    public init(patience: Int = 8, restarts: Int = 3) {
        self.patience = max(patience, 0)
        self.restarts = max(restarts, 0)
    }

    /// The defaults.
    public static let standard = ResumableUploadPolicy()
}

extension APIClient {
    /// Uploads a file so that it can be taken up where it was interrupted. It begins at once.
    ///
    /// - Parameters:
    ///   - file: a regular file. Nobody may change it until the upload is over; an upload of a file that was changed fails
    ///     as ``ResumableUploadError/sourceChanged``, and nothing comes of it.
    ///   - path: where uploads begin, below the service's base URL.
    ///   - form: by which rules. The IETF's draft by default.
    ///   - method: by what the upload is begun. `POST` by default; one that sends nothing, as `GET` and `DELETE`, is refused.
    ///   - service: ``ServiceID/main`` by default.
    ///   - contentType: the media type of the file. `application/octet-stream` by default.
    ///   - fileName: what the server is told the file is called; its own name by default, nothing where it is empty.
    ///   - metadata: more that a server of tus is told (`Upload-Metadata`), by keys of ASCII without spaces and commas. None by
    ///     default; with the IETF's draft, which has no form for it, anything else is refused.
    ///   - state: where the state is kept until the upload is over. Beside the file by default: `video.mov.upload`. That of a user
    ///     (`APIClient.Configuration.identity`) has a mark behind this name, such as `video.mov.upload-1f0e…`.
    ///   - policy: how much it bears before it fails. ``ResumableUploadPolicy/standard`` by default.
    ///   - options: for each of its requests, ``Timeouts/total`` too.
    ///   - background: what goes on with it while the app is suspended, or was ended by the system. `nil`, the default, leaves it to
    ///     the client's transport, and so to the time in which the app runs.
    ///   - scope: ends the upload when it goes.
    public func upload(
        _ file: URL, to path: RoutePath, resumableBy form: ResumableUploadProtocol = .httpDraft,
        method: HTTPMethod = .post, service: ServiceID = .main, contentType: String = "application/octet-stream",
        fileName: String? = nil, metadata: [String: String] = [:], state: URL? = nil,
        policy: ResumableUploadPolicy = .standard, options: CallOptions = .init(),
        background: BackgroundTransfers? = nil, in scope: CallScope? = nil
    ) -> ResumableUpload {
        let name = fileName ?? file.lastPathComponent
        let order = ResumableUploadOrder(
            file: file, route: Route(method, path), service: service, form: form,
            metadata: UploadMetadata(fileName: name.isEmpty ? nil : name, contentType: contentType, others: metadata),
            state: state ?? ResumableUploadState.place(of: file), policy: policy, options: options,
            background: background)
        return ResumableUpload(ResumableUploadWorker(order, self, in: scope))
    }
}
