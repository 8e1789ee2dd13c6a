import Foundation

/// Uploads that go on while the app is suspended, or after the system has ended it: on Apple's systems, by background sessions of
/// Foundation's. **Type-checked, and not run on Apple's systems**; what is decided is tested on Linux against a double.
///
/// ```swift
/// let background = BackgroundTransfers(identifier: "com.example.shop.uploads")    // one, as long as the app runs
/// let receipt = try await client.upload(video, to: "/videos", background: background).value
/// ```
///
/// The same line in a later process takes the upload up: it finds the reply that came while the app was away, waits for what the
/// system is still sending, or asks the server what it has.
///
/// - **What is handed over** are the requests with the bytes of the file. Each takes the whole request path first (headers,
///   credentials, cookies, interceptors, signature, events), and the system gets it in place of the client's transport. Beginning the
///   upload, and asking what the server has, is done by the app while it runs: where the server limits how much it takes at a time,
///   the next part goes out when the app runs again.
/// - **What the system sends** is a copy of the rest of the file, in a folder of the app's own, whose SHA-256 was compared before it
///   was handed over. It needs as much room, and goes when the request has ended.
/// - **Whose it is** stays as it is for every upload: each user, in each environment, has a session of their own, and a state.
///   Cancelling or pausing the upload, and the sign-out of its user, end what the system sends. Of uploads that no
///   call waits for, after the app was started again, ``cancelAll()`` does.
/// - **What the system decides by itself** is when it sends and how often it tries, for a week. Time-outs do not count for it,
///   nor do ``ResponseLimits`` and rules below the app; it follows redirects, also to
///   other origins whatever ``RedirectPolicy/sendsBodyAcrossOrigins`` says, for which it strips what it sees fit; a signature or
///   credential is as old as the request. A 401 that comes in a later process has the server asked with a new credential.
///   Cookies are kept where the app waits for the reply.
///
/// What cannot be kept is refused before anything is sent, as ``APIError/Kind/unsupported(feature:)``: sealed content, a trust policy
/// other than ``trust``, a resolver or proxy of the request's own, ``RedirectPolicy/never``, a total time-out; and everything where
/// the platform has no background sessions, as Linux has none.
public final class BackgroundTransfers: Sendable {
    /// How much content of a reply is kept, in bytes. What goes on longer is cut.
    package static let maximumReply = 1 << 20

    /// Whom TLS trusts in its sessions.
    public let trust: TrustPolicy
    /// `nil` where the platform has none.
    let session: (any BackgroundSession)?
    private let identifier: String
    private let folder: BackgroundFolder
    private let state = Monitor(State())

    private struct State {
        var isOpen = false
        var transfers: [String: Transfer] = [:]
        /// What the system waits for, by partition.
        var completions: [String: @MainActor @Sendable () -> Void] = [:]
        /// Partitions that were caught up with before the app's delegate was asked to.
        var caughtUp: Set<String> = []
    }

    private struct Transfer {
        var sent = 0
        var onSent: (@Sendable (Int) -> Void)?
        var outcome: Result<HTTPResponse, TransportError>?
    }

    /// - Parameters:
    ///   - session: `nil` where the platform has none.
    ///   - root: the folder in which those of all identifiers are.
    package init(
        _ session: (any BackgroundSession)?, identifier: String, root: URL, trust: TrustPolicy = .system,
        at date: Date = Date()
    ) {
        self.session = session
        self.identifier = identifier
        self.trust = trust
        folder = BackgroundFolder(
            place: root.appendingPathComponent(String(SHA256.hex(identifier.utf8).prefix(32)), isDirectory: true))
        guard let session else { return }
        Task { await open(session, date) }
    }

    deinit {
        session?.close()
    }

    private func open(_ session: any BackgroundSession, _ date: Date) async {
        let kept = await DiskWork.run { [folder] in
            folder.removeReplies(before: date.addingTimeInterval(-BackgroundFolder.replyLifetime))
            return folder.parts()
        }
        let running = await take(Set(kept.map(\.partition)), session)
        let lost = kept.filter { running[$0.text] == nil }
        await DiskWork.run { [folder] in for key in lost { folder.removePart(of: key) } }
        state.withLock { $0.isOpen = true }
    }

    @discardableResult
    private func take(_ partitions: Set<String>, _ session: any BackgroundSession) async -> [String: Int] {
        let running = await session.open(partitions) { [weak self] event in self?.receive(event) }
        state.withLock { state in
            for (key, sent) in running where state.transfers[key] == nil { state.transfers[key] = Transfer(sent: sent) }
        }
        return running
    }

    // MARK: From the system

    private func receive(_ event: BackgroundEvent) {
        switch event {
        case .sent(let key, let count):
            let tell = state.withLock { state in
                state.transfers[key]?.sent = count
                return state.transfers[key]?.onSent
            }
            tell?(count)
        case .ended(let text, let outcome):
            guard let key = BackgroundKey(text) else { return }
            // On disk before anybody hears of it: the process may end at any time.
            if case .success(let response) = outcome { folder.keep(response, to: key) }
            folder.removePart(of: key)
            state.withLock { state in
                if state.transfers[text]?.outcome == nil {
                    state.transfers[text, default: Transfer()].outcome = outcome
                }
            }
        case .caughtUp(let partition):
            let completion = state.withLock { state in
                let completion = state.completions.removeValue(forKey: partition)
                if completion == nil { state.caughtUp.insert(partition) }
                return completion
            }
            if let completion { Task { @MainActor in completion() } }
        }
    }

    /// Takes up what was handed over; to be called by the app's delegate when the system has started the app, or woken it, for that.
    ///
    /// ```swift
    /// func application(
    ///     _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
    ///     completionHandler: @escaping () -> Void
    /// ) {
    ///     background.handleEvents(of: identifier, completionHandler)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - identifier: of the session, which begins with the one that these transfers were made with.
    ///   - completion: called on the main actor once all that has happened is known and on disk; the system may suspend the app
    ///     then.
    /// - Returns: whether the session is one of these transfers'. Where it is not, `completion` is not called.
    @MainActor @discardableResult
    public func handleEvents(of identifier: String, _ completion: @escaping () -> Void) -> Bool {
        guard let session, identifier.hasPrefix(self.identifier + "-") else { return false }
        let partition = String(identifier.dropFirst(self.identifier.count + 1))
        guard ResumableUploadState.isMark(partition) else { return false }
        let done: @MainActor @Sendable () -> Void = { completion() }
        let isOver = state.withLock { state in
            if state.caughtUp.remove(partition) != nil { return true }
            state.completions[partition] = done
            return false
        }
        if isOver { done() } else { Task { await take([partition], session) } }
        return true
    }

    /// Ends everything that was handed over, whoever's it is, and forgets the replies that no upload has taken: for a sign-out
    /// after which nothing of the user may go on. An upload that waits for one of them goes on by asking the server.
    public func cancelAll() async {
        guard session != nil else { return }
        await state.wait { $0.isOpen }
        for key in state.withLock({ $0.transfers.filter { $0.value.outcome == nil }.map(\.key) }) { cancel(key) }
        await DiskWork.run { [folder] in folder.removeReplies() }
    }

    // MARK: For uploads

    /// The part of an upload's settings that cannot be kept; `nil` where all can.
    func refusal(of settings: CallSettings) -> String? {
        guard let session else { return "background sessions on this platform" }
        if settings.trust != trust { return "a trust policy other than the background session's own" }
        if let missing = trust.refusal(by: session.capabilities) { return "\(missing), in a background session" }
        if let missing = settings.resolver.refusal(by: session.capabilities) {
            return "\(missing), in a background session"
        }
        if settings.proxy != .none { return "a proxy of the request's own, in a background session" }
        if !settings.redirects.isFollowing { return "refusing redirects, in a background session" }
        if settings.timeouts.total != nil { return "a total time-out, in a background session" }
        return nil
    }

    /// Where the content of a request is.
    func part(of key: BackgroundKey) -> URL { folder.part(of: key) }

    func makePart(of key: BackgroundKey) throws(SystemError) -> FileDescriptor { try folder.makePart(of: key) }

    /// Whether the system still has a request, or its reply is here.
    func has(_ text: String) async -> Bool {
        guard session != nil, let key = BackgroundKey(text) else { return false }
        await state.wait { $0.isOpen }
        if let known = state.withLock({ $0.transfers[text] }) {
            if case .failure = known.outcome { return false }
            return true
        }
        guard let reply = await DiskWork.run({ [folder] in folder.reply(to: key) }) else { return false }
        state.withLock { $0.transfers[text] = Transfer(outcome: .success(reply)) }
        return true
    }

    /// Hands a request over.
    ///
    /// - Throws: ``TransportError/Kind/cancelled`` where it was cancelled meanwhile.
    func begin(_ upload: BackgroundUpload) throws(TransportError) {
        guard let session else { throw TransportError(.unsupported("background sessions"), sendState: .unsent) }
        let key = upload.key.text
        let outcome = state.withLock { state in
            if state.transfers[key] == nil { state.transfers[key] = Transfer() }
            return state.transfers[key]?.outcome
        }
        if case .failure(let error) = outcome { throw error }
        try session.begin(upload)
        // Who has cancelled it meanwhile has found nothing to end.
        if case .failure = state.withLock({ $0.transfers[key]?.outcome }) { session.cancel(key) }
    }

    /// The reply to a request, once there is one.
    func reply(to key: String, onSent: (@Sendable (Int) -> Void)?) async throws(TransportError) -> HTTPResponse {
        let sent = state.withLock { state in
            state.transfers[key]?.onSent = onSent
            return state.transfers[key]?.sent ?? 0
        }
        if sent > 0 { onSent?(sent) }
        let lost = TransportError(.connectionLost, sendState: .maybeProcessed, message: "the system has it no more")
        return try await state.wait(for: { state in state.transfers[key].map { $0.outcome } ?? .failure(lost) }).get()
    }

    func cancel(_ key: String) {
        state.withLock { state in
            guard state.transfers[key]?.outcome == nil else { return }
            let error = TransportError(.cancelled, sendState: .maybeProcessed, message: "cancelled")
            state.transfers[key, default: Transfer()].outcome = .failure(error)
        }
        session?.cancel(key)
    }

    /// What came of it is decided on, and nobody will ask for it again. Waits for the disk.
    func forget(_ text: String) {
        guard let key = BackgroundKey(text) else { return }
        state.withLock { $0.transfers[text] = nil }
        folder.remove(key)
    }
}
