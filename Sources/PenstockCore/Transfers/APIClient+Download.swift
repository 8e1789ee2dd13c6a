import Foundation

extension APIClient {
    /// Downloads what an endpoint gives into a file, and gives the handle of the call at once.
    ///
    /// ```swift
    /// let film = client.download(Film(id: 7), to: .file(movies.appending(path: "seven.mp4")))
    /// for try await case .progress(let progress) in film.updates { bar.doubleValue = progress.fraction ?? 0 }
    /// let file = try await film.value        // after a relaunch these lines go on where they were interrupted
    /// ```
    ///
    /// Never is half a file seen under the final name. Until all of it is there, what has come is in a hidden file in the same folder
    /// with a description beside it, and both stay when the call fails, is cancelled, or the process is killed. The next download of
    /// the same to the same place asks for the rest (`Range`, `If-Range`), if the server gave a strong validator; where it has
    /// another version by then, or does not do ranges, all is loaded anew. What is whole already, and did not get its name,
    /// is asked about as well, unless `sha256` says what it is to be. ``APIClient/removePartialDownloads(in:olderThan:)``
    /// removes what nobody will go on with. Within the call, a connection that ends early, or is slower than
    /// ``ResponseLimits/minimumThroughput``, is gone on from in the same way, as often as ``CallOptions/retry`` allows
    /// without headway in between; what is loaded anew is none. An answer that has no content (204, 205) is no empty file,
    /// and fails.
    ///
    /// The content is checked where the server names its SHA-256 or SHA-512 (`Repr-Digest`, RFC 9530), or `sha256` does. Suspending and
    /// resuming the call pauses the bytes. The cache has no part in it, so that one of ``CachePolicy/Mode/cacheOnly`` fails. The
    /// decoding and the endpoint's validators have none either. Of the envelope only a refusal counts: content of up to 1 MiB that
    /// is JSON, and whose envelope has another code than a success, is no file but ``APIError/Kind/business(code:message:)``. Where its
    /// code says that the credential is out of date (``ExpiryRule/codes``), that is renewed, and all asked for once more.
    /// ``Endpoint/envelope-swift.property`` of `.none` takes it for one. A request that is no GET is sent once, and cannot be gone on
    /// with.
    ///
    /// - Parameters:
    ///   - destination: the file, or the folder in which the server or the app names it.
    ///   - id: what tells this download from others to the same place; the URL of the request by default. An app gives one where that
    ///     URL is another one each time, as with a time or a signature in its query.
    ///   - sha256: the digest that the file is to have, in 64 hexadecimal digits. `nil`, the default, for none that is known.
    ///   - options: what this one call wants different.
    ///   - scope: ends the call when it goes.
    /// - Returns: a call that fails, besides what ``stream(_:options:in:)`` throws, as ``APIError/Kind/storage(_:)``; as
    ///   ``APIError/Kind/validation(rule:)`` where the content has not the digest, and nothing of it is kept; and as
    ///   ``APIError/Kind/transport(_:)`` with ``APIError/TransportFault/protocolViolation`` for a server that contradicts itself.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E, to destination: DownloadDestination, id: String? = nil, sha256: String? = nil,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<DownloadedFile> {
        startDownload(endpoint, .endpoint, DownloadOrder(destination, id, sha256), options, scope)
    }

    /// Downloads what a request of no service gives, such as a link that a server gave; see
    /// ``download(_:to:id:sha256:options:in:)-(E,_,_,_,_,_)``. What is no success (2xx) is no file.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to destination: DownloadDestination, id: String? = nil, sha256: String? = nil,
        options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Call<DownloadedFile> {
        let own = options.over(.with { $0.status = .success })
        return startDownload(
            RawRequest(method: request.method), .raw(request), DownloadOrder(destination, id, sha256), own, scope)
    }

    /// Downloads what an endpoint gives into a file, and delivers the result to a closure on the main actor, as
    /// ``start(_:options:in:completion:)`` does; see ``download(_:to:id:sha256:options:in:)-(E,_,_,_,_,_)``.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E, to destination: DownloadDestination, id: String? = nil, sha256: String? = nil,
        options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping CallCompletion<DownloadedFile>
    ) -> Call<DownloadedFile> {
        download(endpoint, to: destination, id: id, sha256: sha256, options: options, in: scope).onResult(completion)
    }

    /// The same for what a request of no service gives.
    @discardableResult
    public func download(
        _ request: HTTPRequest, to destination: DownloadDestination, id: String? = nil, sha256: String? = nil,
        options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping CallCompletion<DownloadedFile>
    ) -> Call<DownloadedFile> {
        download(request, to: destination, id: id, sha256: sha256, options: options, in: scope).onResult(completion)
    }

    /// Removes what interrupted downloads have left in a folder, but for those that are under way.
    ///
    /// - Parameter age: what was written to within this time stays. A week by default: who has not come back by then does not.
    /// - Returns: how many were removed.
    @discardableResult
    public static func removePartialDownloads(
        in folder: URL, olderThan age: Duration = .seconds(604_800)
    ) async -> Int {
        await DiskWork.run { DownloadPlace.removeAll(in: folder, olderThan: age, at: Date()) }
    }

    private func startDownload<E: Endpoint>(
        _ endpoint: E, _ making: ActiveCall<E>.Making, _ order: DownloadOrder, _ options: CallOptions,
        _ scope: CallScope?
    ) -> Call<DownloadedFile> {
        let feed = CallFeed<DownloadedFile>(time: configuration.time)
        let terms = CallTerms(
            own: options, scope: scope, isSilent: true, isDeliveredLater: true, isEndless: true)
        let call = ActiveCall(endpoint, making, terms, of: self)
        let audience = CallAudience(context: call.context, feed: feed, owner: CallOwner(scope), told: call.told)
        let began = configuration.time.now()
        let task = Task { [self] in
            let result = await Result { () async throws(APIError) in
                try await call.run { () async throws(APIError) in try await DownloadRun.response(call, order, feed) }
            }
            tellOfFile(result, call.context, began)
            call.delivered(await feed.end(with: result))
            call.leaveScope()
            return result
        }
        return Call(audience, task)
    }

    /// Tells the sinks of a download that failed of its file, of which its requests know nothing.
    private func tellOfFile(
        _ result: Result<APIResponse<DownloadedFile>, APIError>, _ context: CallContext, _ began: Duration
    ) {
        guard case .failure(let error) = result, error.stage == .file, let sink else { return }
        CallEvents(of: context.id, context.endpointType, to: sink, context.time, started: began)?
            .tell(context.summary, of: error)
    }
}

/// What the app has asked for besides the request.
struct DownloadOrder: Sendable {
    let destination: DownloadDestination
    let id: String?
    let sha256: String?

    init(_ destination: DownloadDestination, _ id: String?, _ sha256: String?) {
        self.destination = destination
        self.id = id
        self.sha256 = sha256?.lowercased()
    }

    /// - Throws: ``APIError/Kind/invalidParameter(field:reason:)``; ``APIError/Kind/storage(_:)`` where it is known already that the
    ///   file cannot get its name.
    func check() throws(APIError) {
        guard destination.folder.isFileURL else {
            throw APIError(.invalidParameter(field: "destination", reason: "is no file URL"), stage: .file)
        }
        if let sha256, sha256.utf8.count != 64 || !sha256.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        {
            throw APIError(.invalidParameter(field: "sha256", reason: "is not 64 hexadecimal digits"), stage: .file)
        }
        guard case .fixed(let name) = destination.naming else { return }
        if name.utf8.count > Int(NAME_MAX) { throw APIError(SystemError(code: ENAMETOOLONG)) }
        guard let facts = FileFacts.at(destination.folder.appendingPathComponent(name).path) else { return }
        if FileFacts.isFolder(facts) { throw APIError(SystemError(code: EISDIR)) }
        if destination.overwriting == .fail { throw APIError(SystemError(code: EEXIST)) }
    }

    /// What the part on the disk is known by. A digest, since a URL may hold secrets.
    func key(_ request: HTTPRequest, _ isolation: IsolationKey) -> String {
        let parts = [
            isolation.environment, isolation.identity, request.method.rawValue, id ?? request.url.absoluteString,
            destination.mark,
        ]
        return SHA256.hex(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
    }
}

/// Carries out what ``DownloadPlan`` decides: sends, writes, checks, and gives the file its name.
struct DownloadRun<E: Endpoint> {
    /// How much may be written before the disk is told to keep it, in bytes: what is at stake when the machine fails. Telling it
    /// costs some milliseconds.
    private static var synchronizedEvery: Int { 8 << 20 }

    private let call: ActiveCall<E>
    private let order: DownloadOrder
    private let feed: CallFeed<DownloadedFile>
    private let place: DownloadPlace
    private let request: HTTPRequest
    /// Whether some of what is in the part was there before.
    private var wasResumed: Bool
    private var plan: DownloadPlan
    /// Describes what is in the part; `nil` where nobody can go on with it.
    private var part: PartialDownload?
    /// The head of the response that began the part.
    private var head: HTTPResponse
    private var last: StreamedResponse?
    /// Whether the credential was renewed for the last exchange.
    private var hasRenewed = false
    /// The digests of the whole that answers named.
    private var digests: [DownloadPlan.Digest]

    /// Downloads the file, from the request to the file's own name.
    static func response(
        _ call: ActiveCall<E>, _ order: DownloadOrder, _ feed: CallFeed<DownloadedFile>
    ) async throws(APIError) -> APIResponse<DownloadedFile> {
        if let refusal = call.context.settings.cacheMissWithoutCache { throw refusal }
        let request = try call.client.prepare(call)
        let key = order.key(request, call.context.isolation)
        let (place, kept) = try await DiskWork.run { () throws(APIError) in
            try order.check()
            do throws(SystemError) {
                return try DownloadPlace.open(in: order.destination.folder, key: key)
            } catch {
                throw APIError(error)
            }
        }
        var run = DownloadRun(call, order, feed, place, request, kept)
        do throws(APIError) {
            return try await run.response()
        } catch {
            if run.part == nil || run.plan.offset == 0 { await DiskWork.run { place.remove() } }
            throw error
        }
    }

    private init(
        _ call: ActiveCall<E>, _ order: DownloadOrder, _ feed: CallFeed<DownloadedFile>, _ place: DownloadPlace,
        _ request: HTTPRequest, _ kept: (part: PartialDownload, offset: Int)?
    ) {
        self.call = call
        self.order = order
        self.feed = feed
        self.place = place
        self.request = request
        plan = DownloadPlan(
            kept, request.method, retry: call.context.settings.retry, isDigestGiven: order.sha256 != nil)
        part = kept?.part
        wasResumed = kept != nil
        head = HTTPResponse(status: 200, fields: kept?.part.httpFields ?? [:])
        digests = DownloadPlan.digest(head.fields).map { [$0] } ?? []
    }

    private mutating func response() async throws(APIError) -> APIResponse<DownloadedFile> {
        tell()
        var step = plan.next()
        while true {
            switch step {
            case .finish:
                guard let refusal = try await refusal() else { return try await finish() }
                try await renew(after: refusal)
                step = plan.next()
            case .fail(let kind, let reason):
                throw APIError(kind, stage: .transport, debugMessage: reason, request: request)
            case .ask(let ask, let wait):
                if wait > .zero { try await call.context.sleep(for: wait, at: .retry) }
                step = try await exchange(ask)
            }
        }
    }

    private func tell() {
        feed.yield(TransferProgress(expectedToSend: 0, received: plan.offset, expectedToReceive: plan.length))
    }

    // MARK: One exchange

    private mutating func exchange(_ ask: DownloadPlan.Ask) async throws(APIError) -> DownloadPlan.Step {
        let terms = CallTerms(
            own: options(for: ask), control: call.context.control, streams: true, origin: call.context, isAdopted: true)
        let child = ActiveCall(call.endpoint, call.making, terms, of: call.client)
        child.context.onRedirect(feed.yield(redirectedTo:))
        defer { for attempt in child.context.attempts { call.context.record(attempt) } }
        defer { hasRenewed = child.context.hasReplayed(for: .authenticate) }
        let response: StreamedResponse
        do throws(APIError) {
            response = try await child.streamedResponse()
        } catch {
            guard case .httpStatus(416) = error.kind, let fields = error.response?.fields else {
                // Who does not answer whether there is more says nothing against what has come.
                if plan.isComplete, call.context.ending == nil { return .finish }
                throw error
            }
            let verdict = plan.judge(416, fields, to: ask, at: call.context.time.date())
            return try await act(on: verdict) { kind, reason in
                var error = error
                (error.kind, error.debugMessage) = (kind, reason)
                return error
            }
        }
        let fields = response.http.fields
        let verdict = plan.judge(
            response.http.status, fields, to: ask, at: call.context.time.date(),
            mayBeCutOff: response.completion.connection.mayBeCutOff)
        guard case .write(let from, _) = verdict else {
            return try await act(on: verdict) { response.reader.refuse($0, DownloadRefusal(reason: $1)) }
        }
        last = response
        do throws(SystemError) {
            if from == 0 { try await begin(response.http) } else { part?.length = plan.length }
            // In a part as well it is that of the whole (RFC 9530 §3).
            if let digest = DownloadPlan.digest(fields) { digests.append(digest) }
        } catch {
            throw failed(error, response)
        }
        return try await receive(response)
    }

    /// What there is to do where nothing is written.
    private mutating func act(
        on verdict: DownloadPlan.Verdict, refuse: (APIError.Kind, String) -> APIError
    ) async throws(APIError) -> DownloadPlan.Step {
        switch verdict {
        case .fail(let kind, let reason): throw refuse(kind, reason)
        case .finish:
            _ = refuse(.cancelled, "all of it is there")
            return .finish
        case .drop, .write:
            _ = refuse(.cancelled, "the part is of no use")
            part = nil
            do throws(SystemError) {
                try await DiskWork.run { [place] () throws(SystemError) in try place.begin(nil) }
            } catch {
                throw APIError(error)
            }
            return plan.next()
        }
    }

    private mutating func begin(_ response: HTTPResponse) async throws(SystemError) {
        (head, wasResumed, digests) = (response, false, [])
        part = plan.validator.map { validator in
            let kept = DownloadPlan.keptFields.flatMap { name in
                response.fields.values(of: name).map { [name.text, $0] }
            }
            return PartialDownload(key: place.key, validator: validator, length: plan.length, fields: kept)
        }
        try await DiskWork.run { [place, part] () throws(SystemError) in try place.begin(part) }
    }

    private mutating func receive(_ response: StreamedResponse) async throws(APIError) -> DownloadPlan.Step {
        var random = call.client.configuration.random
        tell()
        while true {
            let piece: Data?
            do throws(APIError) {
                piece = try await response.reader.next()
            } catch {
                let step = plan.failed(error.kind, using: &random)
                if case .fail = step { throw error }
                return step
            }
            guard let piece else { return plan.ended(using: &random) }
            let offset = plan.offset
            guard plan.take(piece.count) else {
                part = nil
                throw response.reader.refuse(
                    .transport(.protocolViolation), DownloadRefusal(reason: "more came than the server has said"))
            }
            do throws(SystemError) {
                try await write(piece, at: offset)
            } catch {
                throw failed(error, response)
            }
            tell()
        }
    }

    private mutating func write(_ piece: Data, at offset: Int) async throws(SystemError) {
        let end = offset + piece.count
        var due: PartialDownload?
        if var part, end - part.synced >= Self.synchronizedEvery {
            part.synced = end
            due = part
        }
        try await DiskWork.run { [place, due] () throws(SystemError) in
            try place.write(piece, at: offset)
            if let due { try place.synchronize(due) }
        }
        if let due { part = due }
    }

    private func failed(_ error: SystemError, _ response: StreamedResponse) -> APIError {
        let told = APIError(error)
        var refused = response.reader.refuse(told.kind)
        (refused.stage, refused.underlying) = (.file, told.underlying)
        return refused
    }

    // MARK: What is asked

    private func options(for ask: DownloadPlan.Ask) -> CallOptions {
        var headers = HeaderEdits().removing(.range).removing(.ifRange)
        switch ask {
        case .coded: headers = headers.removing(.acceptEncoding)
        case .whole: headers = headers.setting(.acceptEncoding, "identity")
        case .rest(let from, let validator):
            headers = headers.setting(.acceptEncoding, "identity").setting(.range, "bytes=\(from)-")
                .setting(.ifRange, validator)
        }
        var redirects = call.context.settings.redirects
        // They say nothing of the user, and the file may lie on another host.
        redirects.crossOriginFields.formUnion([.range, .ifRange])
        var options = call.own.headers(headers).cache(.networkOnly)
        (options.redirects, options.inFlight) = (redirects, .independent)
        return options
    }

    // MARK: The end

    private func finish() async throws(APIError) -> APIResponse<DownloadedFile> {
        try await check()
        let name = order.destination.name(for: head, from: last?.request.url ?? request.url)
        let destination = order.destination
        try call.context.checkGoesOn(at: .file)
        let given: String
        do throws(SystemError) {
            given = try await DiskWork.run { [place] () throws(SystemError) in
                try place.finish(as: name, destination.overwriting)
            }
        } catch {
            throw APIError(error)
        }
        let file = DownloadedFile(
            url: destination.folder.appendingPathComponent(given), length: plan.offset,
            wasResumed: wasResumed)
        return response(file)
    }

    /// - Throws: ``APIError/Kind/validation(rule:)``, and nothing is kept.
    private func check() async throws(APIError) {
        let given = order.sha256.map { DownloadPlan.Digest(algorithm: .sha256, hex: $0) }
        let expected = digests.map { ("Repr-Digest", $0) } + (given.map { [("sha256", $0)] } ?? [])
        let algorithms = DigestAlgorithm.allCases.filter { algorithm in
            expected.contains { $0.1.algorithm == algorithm }
        }
        for algorithm in algorithms {
            let digest = try await DiskWork.run { [place, plan, context = call.context] () throws(APIError) in
                try place.digest(plan.offset, algorithm) { () throws(APIError) in try context.checkGoesOn(at: .file) }
            }
            guard let broken = expected.first(where: { $0.1.algorithm == algorithm && $0.1.hex != digest }) else {
                continue
            }
            await DiskWork.run { [place] in place.remove() }
            throw APIError(.validation(rule: broken.0), stage: .file, request: request, response: head)
        }
    }

    /// What is longer than this is no refusal, in bytes.
    private static var longestRefusal: Int { 1 << 20 }

    /// ``APIError/Kind/business(code:message:)`` where the content is a refusal in the service's envelope; `nil` for a file.
    private func refusal() async throws(APIError) -> APIError? {
        let (length, type) = (plan.offset, head.fields.combined(.contentType))
        guard let envelope = try call.client.envelope(of: call), length <= Self.longestRefusal,
            Payload(Data(), contentType: type).isJSON,
            let data = await DiskWork.run({ [place] in place.contents(length) }),
            var refusal = Payload(data, contentType: type).refusal(
                under: envelope, call.context.settings.modelFormat)
        else { return nil }
        var response = head
        response.body = data
        (refusal.stage, refusal.request, refusal.response) = (.file, request, response)
        refusal.sendState = .answered
        return refusal
    }

    /// Has the credential renewed where the refusal says that it is out of date, after which all is asked for anew: once, as for any call.
    ///
    /// - Throws: what the call fails of otherwise, and nothing is kept.
    private mutating func renew(after refusal: APIError) async throws(APIError) {
        part = nil
        guard let last, !hasRenewed else { throw refusal }
        let rejection = await call.rejection(of: last.reader.exchange, refusal, request)
        guard let replay = rejection.replay else {
            var error = rejection.error
            error.stage = .file  // its requests have gone well
            throw error
        }
        call.context.beginPass(for: replay)
        self = DownloadRun(call, order, feed, place, request, nil)
        do throws(SystemError) {
            try await DiskWork.run { [place] () throws(SystemError) in try place.begin(nil) }
        } catch {
            throw APIError(error)
        }
    }

    private func response(_ file: DownloadedFile) -> APIResponse<DownloadedFile> {
        let payload = Payload(Data(), contentType: head.fields.combined(.contentType))
        let completion = last?.completion
        let exchange = Exchange(
            request: last?.request ?? request, response: last?.http ?? head, timings: completion?.timings ?? .init(),
            connection: completion?.connection ?? .init(),
            source: last == nil ? .disk : file.wasResumed ? .revalidated : .network)
        let opened = Opened<DownloadedFile>(nil, payload: payload) { () throws(APIError) in (file, []) }
        return APIResponse(file, [], opened, exchange, attempts: call.context.attempts)
    }
}

/// Why an answer to a download was of no use.
struct DownloadRefusal: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
