import Foundation

/// What is to be uploaded, where, and how.
struct ResumableUploadOrder: Sendable {
    let file: URL
    let route: Route
    let service: ServiceID
    let form: ResumableUploadProtocol
    let metadata: UploadMetadata
    /// Where the state of nobody in particular is.
    let state: URL
    let policy: ResumableUploadPolicy
    let options: CallOptions
    /// Where its bytes are handed over; `nil` where the client's transport sends them.
    var background: BackgroundTransfers?
}

/// Carries out what the machine of an upload decides. The upload is one call from its beginning to its end, also while it waits,
/// and each step is a call of its own that works for it.
final class ResumableUploadWorker: Sendable {
    let reports = UploadReports()
    let order: ResumableUploadOrder
    let client: APIClient
    let call: ActiveCall<UploadRequest>
    private let standing = Monitor(Standing())

    private struct Standing {
        var isPaused = false
        /// Whether a request was made, which tells of itself.
        var hasSent = false
        /// The control of the request under way.
        var control: ExchangeControl?
        /// Whether a pause has ended the request under way.
        var isInterrupted = false
        /// The wait under way.
        var wait: Task<Void, any Error>?
    }

    init(_ order: ResumableUploadOrder, _ client: APIClient, in scope: CallScope?) {
        self.order = order
        self.client = client
        call = client.begin(
            UploadRequest(route: order.route, service: order.service, body: .none),
            CallTerms(own: order.options, scope: scope, isSilent: true, isEndless: true))
    }

    /// Where its requests go by now.
    private var environment: ServerEnvironment { call.resolved.settings.environment ?? client.environment }

    // MARK: From outside

    var isPaused: Bool { standing.withLock { $0.isPaused } }

    func pause() {
        let (control, wait) = standing.withLock { standing in
            (standing.isPaused, standing.isInterrupted) = (true, standing.control != nil)
            return (standing.control, standing.wait)
        }
        control?.cancel()
        wait?.cancel()
    }

    func resume() {
        standing.withLock { $0.isPaused = false }
    }

    func cancel() {
        call.context.end(.requested)
    }

    /// Whether it is to end: by its handle, its client or its scope, or with its user.
    private var isCancelled: Bool { call.context.isCancelled }

    /// Returns when the upload is not paused.
    private func waitForLeave() async throws(APIError) {
        await standing.wait { [call] in !$0.isPaused || call.context.isCancelled }
        try call.context.checkGoesOn(at: .transport)
    }

    // MARK: The loop

    func run() async -> Result<ResumableUpload.Receipt, APIError> {
        let began = client.configuration.time.now()
        call.context.endsWithCall(self)
        let result = await Result { () async throws(APIError) in
            try checkOrder()
            let (environment, identity) = (self.environment.name, client.configuration.identity())
            let source = try await openSource()
            let subject = ResumableUploadState.Subject(
                form: order.form, target: "\(order.route.method) \(order.service) \(order.route.path.encoded)",
                environment: environment, identity: identity, length: source.length, digest: source.digest)
            let outcome = await Result { () async throws(APIError) in try await upload(source, subject) }
            await source.end()
            return try outcome.get()
        }
        if case .failure(let error) = result { tell(of: error, began) }
        reports.end()
        call.context.doesNotEnd(self)
        call.finish(nil)
        return result
    }

    /// Tells the sinks of an upload that failed for a reason of its own, of which its requests know nothing.
    private func tell(of error: APIError, _ began: Duration) {
        let isOwn = error.underlying is ResumableUploadError || !standing.withLock { $0.hasSent }
        guard isOwn, error.kind != .cancelled, let sink = client.sink else { return }
        let type = UploadRequest.self
        let summary = Event.CallSummary(
            endpoint: String(describing: type), service: order.service, environment: environment)
        CallEvents(of: .next(), type, to: sink, client.configuration.time, started: began)?.tell(summary, of: error)
    }

    /// Reading all of the file may take a while, and ends with the upload.
    private func openSource() async throws(APIError) -> ResumableUploadSource {
        do throws(ResumableUploadError) {
            return try await ResumableUploadSource.open(
                order.file, while: { [call] in !call.context.isCancelled })
        } catch {
            try call.context.checkGoesOn(at: .transport)
            throw APIError(error)
        }
    }

    private func upload(
        _ source: ResumableUploadSource, _ subject: ResumableUploadState.Subject
    ) async throws(APIError) -> ResumableUpload.Receipt {
        let record = try await told { () async throws(ResumableUploadError) in
            let place = ResumableUploadState.place(
                at: order.state, for: subject.identity, in: subject.environment)
            return try await source.run { _ throws(ResumableUploadError) in
                try UploadRecord.open(place, subject)
            }
        }
        let known = record.progress
        let machine = Locked(
            ResumableUploadMachine(order.form, length: source.length, order.policy, known))
        reports.begin(total: source.length, confirmed: known.confirmed)
        let job = Job(source: source, record: record, machine: machine, background: order.background)
        var (event, last) = try await takeUp(job)
        while true {
            let (decision, progress) = machine.withLock { [event] in ($0.decide(on: event), $0.progress) }
            reports.confirm(progress.confirmed)
            switch decision {
            case .send(let step):
                try await told { () async throws(ResumableUploadError) in try await job.keep() }
                try await waitForLeave()
                guard let outcome = await send(step, of: job) else {
                    event = .begun
                    continue
                }
                last = outcome
                event = try self.event(outcome, of: step, source)
            case .wait(let number, let hint):
                if let hint, try hint > longestHint() {
                    await job.letGo()
                    throw failure(last)
                }
                await sleep(before: number, hint)
                event = .waited
            case .finish(let isAnswer):
                try await told { () async throws(ResumableUploadError) in try await job.end() }
                reports.complete()
                let answer = isAnswer ? last : nil
                return ResumableUpload.Receipt(url: progress.location, response: try? answer?.get())
            case .giveUp:
                await job.letGo()
                throw failure(last)
            case .conclude:
                try await told { () async throws(ResumableUploadError) in try await job.end() }
                throw failure(last)
            case .fail(let error):
                await job.letGo()
                throw APIError(error)
            }
        }
    }

    /// What the steps of one run share.
    private struct Job: Sendable {
        let source: ResumableUploadSource
        let record: UploadRecord
        let machine: Locked<ResumableUploadMachine>
        let background: BackgroundTransfers?

        /// Puts on disk what the machine knows. What came of a request that was handed over is among it from then on.
        func keep() async throws(ResumableUploadError) {
            let progress = machine.withLock { $0.progress }
            try await source.run { [record, background] _ throws(ResumableUploadError) in
                let known = record.handover
                try record.keep(progress)
                if let known { background?.forget(known.key) }
            }
        }

        /// Removes what is on disk.
        func end() async throws(ResumableUploadError) {
            try await source.run { [record, background] _ in
                record.remove()
                if let known = record.handover { background?.forget(known.key) }
            }
        }

        /// A reply that has ended the upload is not to end the next one.
        func letGo() async {
            if record.handover != nil { try? await keep() }
        }

        /// Puts on disk that the last bytes go out, before they do. Waits for the disk.
        @Sendable func markEnd() throws(ResumableUploadError) {
            let progress = machine.withLock { machine in
                machine.expectCompletion()
                return machine.progress
            }
            try record.keep(progress)
        }

        /// Puts on disk that a step is handed over, before it is. Waits for the disk.
        func note(_ step: UploadStep, as key: BackgroundKey) throws(ResumableUploadError) {
            try record.keep(
                machine.withLock { $0.progress }, ResumableUploadState.Handover(step, as: key.text))
        }
    }

    // MARK: In the background

    /// What the upload begins with: where an earlier process has handed a request over, with what came of that.
    private func takeUp(
        _ job: Job
    ) async throws(APIError) -> (ResumableUploadMachine.Event, Result<APIResponse<Data>, APIError>?) {
        guard let background = order.background, let handover = job.record.handover,
            let step = handover.step(of: job.source.length), await background.has(handover.key)
        else { return (.begun, nil) }
        do throws(APIError) { try await waitForLeave() } catch {
            background.cancel(handover.key)
            throw error
        }
        let outcome = await send(step, of: job, adopting: handover.key)
        // Who cancels or pauses before it is waited for ends it all the same.
        if isPaused || isCancelled { background.cancel(handover.key) }
        guard let outcome else { return (.begun, nil) }
        // It was sent with a credential of that time; whether the user may go on is for the present one to say.
        if case .success(let response) = outcome, response.http.status == 401 { return (.begun, nil) }
        return (try event(outcome, of: step, job.source), outcome)
    }

    /// What carries the request of a step in place of the client's transport; `nil` where that does.
    private func carrier(of step: UploadStep, _ job: Job, adopting key: String?) -> BackgroundCarrier? {
        guard let background = order.background, case .append(let bytes, completes: _) = step, !bytes.isEmpty else {
            return nil
        }
        let subject = job.record.subject
        return BackgroundCarrier(
            background, partition: ResumableUploadState.mark(of: subject.identity, in: subject.environment),
            source: job.source, adopting: key
        ) { key throws(ResumableUploadError) in try job.note(step, as: key) }
    }

    private func told<Value>(
        _ body: () async throws(ResumableUploadError) -> Value
    ) async throws(APIError) -> Value {
        do throws(ResumableUploadError) {
            return try await body()
        } catch {
            throw APIError(error)
        }
    }

    private func event(
        _ outcome: Result<APIResponse<Data>, APIError>, of step: UploadStep, _ source: ResumableUploadSource
    ) throws(APIError) -> ResumableUploadMachine.Event {
        switch outcome {
        case .success(let response):
            let now = client.configuration.time.date()
            return .answered(order.form.answer(response.http, from: response.request.url, at: now), to: step)
        case .failure(let error):
            if let reason = source.whyItFailed { throw APIError(reason) }
            guard error.kind.isMomentary else { throw error }
            return .failed
        }
    }

    private func failure(_ last: Result<APIResponse<Data>, APIError>?) -> APIError {
        switch last {
        case .failure(let error): error
        case .success(let response):
            APIError(
                .httpStatus(response.http.status), stage: .transport, request: response.request,
                response: response.http, sendState: .answered)
        case nil: APIError(.cancelled, stage: .transport)
        }
    }

    /// How long a server may ask to be left alone, as with any call.
    private func longestHint() throws(APIError) -> Duration {
        let runtime = try client.runtime(for: order.service)
        return client.resolve(order.options, endpoint(.query), runtime).settings.retry.longestHint
    }

    private func sleep(before number: Int, _ hint: Duration?) async {
        var random = client.configuration.random
        let delay = hint ?? Backoff().delay(before: number, using: &random)
        let time = client.configuration.time
        let end = time.now() + delay
        let sleep = Task { try await time.sleep(until: end) }
        let isInterrupted = standing.withLock { standing in
            standing.wait = sleep
            return standing.isPaused || isCancelled
        }
        if isInterrupted { sleep.cancel() }
        _ = await sleep.result
        standing.withLock { $0.wait = nil }
    }

    // MARK: Requests

    /// - Returns: `nil` where it was interrupted by a pause.
    private func send(
        _ step: UploadStep, of job: Job, adopting key: String? = nil
    ) async -> Result<APIResponse<Data>, APIError>? {
        let control = control(for: step, job)
        let isPaused = standing.withLock { standing in
            (standing.control, standing.isInterrupted) = (control, standing.isPaused)
            return standing.isPaused
        }
        if isPaused { control.cancel() }
        let result = await Result { () async throws(APIError) in
            try await perform(step, of: job, control, adopting: key)
        }
        let isInterrupted = standing.withLock { standing in
            standing.control = nil
            return standing.isInterrupted
        }
        guard case .failure(let error) = result, error.kind == .cancelled else { return result }
        // Whatever else has ended it ends the upload.
        return isInterrupted && !isCancelled ? nil : result
    }

    private func perform(
        _ step: UploadStep, of job: Job, _ control: ExchangeControl, adopting key: String?
    ) async throws(APIError) -> APIResponse<Data> {
        let subject = job.record.subject
        guard client.configuration.identity().isWritten(as: subject.identity), environment.name == subject.environment
        else {
            let message = "the client has another user or environment than the upload"
            throw APIError(.cancelled, stage: .prepare, debugMessage: message)
        }
        let (making, own) = try way(of: step, job)
        let body = try await told { () async throws(ResumableUploadError) in try await self.body(of: step, job) }
        var terms = CallTerms(
            own: own.over(order.options), control: control, origin: call.context, isAdopted: true)
        if let carrier = carrier(of: step, job, adopting: key) {
            (terms.carrier, terms.isEndless, terms.own.retry) = (carrier, true, RetryPolicy.none)
            // Nothing is sent that a credential would have to be renewed for.
            if key != nil { terms.own.authentication = .anonymous }
        }
        standing.withLock { $0.hasSent = true }
        guard case .ready(var request) = making else {
            return try await ActiveCall(self.endpoint(step, body), making, terms, of: client).response()
        }
        request.body = body
        return try await ActiveCall(self.endpoint(step, body), .ready(request), terms, of: client).response()
    }

    func endpoint(_ step: UploadStep, _ body: HTTPBody = .none) -> UploadRequest {
        let method = order.form.method(of: step, creating: order.route.method)
        return UploadRequest(route: Route(method, order.route.path), service: order.service, body: body)
    }

    /// What the request of a step is sent with.
    private func way(
        of step: UploadStep, _ job: Job
    ) throws(APIError) -> (ActiveCall<UploadRequest>.Making, CallOptions) {
        let fields = order.form.fields(of: step, length: job.source.length, metadata: order.metadata)
        let own = CallOptions.headers(fields).cache(CachePolicy(.networkOnly)).with { $0.status = .any }
        let runtime = try call.runtime.get()
        // Asked for before the first step, so that all of them go where the upload began.
        let base = try client.baseURL(of: call, runtime)
        guard step != .create, let place = job.machine.withLock({ $0.progress.location }) else {
            return (.endpoint, own)
        }
        let options = client.resolve(order.options, endpoint(step), runtime)
        switch UploadWay(to: place, from: base.origin, options.settings.redirects) {
        case .ofService: return (.endpoint, own.at(place))
        case .refused(let reason): throw APIError(.blocked(reason: reason), stage: .prepare)
        case .bare:
            var headers = client.commonFields()
            headers.merge(runtime.service.headers.read())
            options.settings.headers.apply(to: &headers)
            var request = HTTPRequest(method: endpoint(step).route.method, url: place, fields: headers)
            options.settings.redirects.keepHarmlessFields(of: &request)
            fields.apply(to: &request.fields)
            return (.ready(request), own)
        }
    }

    private func body(of step: UploadStep, _ job: Job) async throws(ResumableUploadError) -> HTTPBody {
        switch step {
        case .create: return .bytes(Data())
        case .query: return .none
        case .append(let bytes, completes: _):
            guard bytes.isEmpty else { return job.source.body(bytes, willEnd: job.markEnd) }
            try await job.source.check(willEnd: job.markEnd)
            return .bytes(Data())
        }
    }

    private func control(for step: UploadStep, _ job: Job) -> ExchangeControl {
        let start = if case .append(let bytes, completes: _) = step { bytes.lowerBound } else { 0 }
        return ExchangeControl(
            onProgress: { [reports] in reports.send(start + $0.sent) },
            onInterim: { [reports, form = order.form] response, url in
                guard response.status == 104 else { return }
                let answer = form.answer(response, from: url, at: .distantPast)
                reports.confirm(
                    job.machine.withLock { machine in
                        machine.note(answer, during: step)
                        return machine.progress.confirmed
                    })
            })
    }
}

extension APIError.Kind {
    /// Whether another try, with what the server has by then, may go better.
    fileprivate var isMomentary: Bool {
        switch self {
        case .unreachable, .timeout, .transport, .unavailable, .limitExceeded(.minimumThroughput): true
        default: false
        }
    }
}

extension ResumableUploadWorker: CallWait {
    /// Its call has ended, and with it the request under way.
    func abandon() {
        standing.withLock { $0.wait }?.cancel()
    }
}

/// A request of an upload, as the client sees it.
struct UploadRequest: UntypedEndpoint {
    typealias Output = Data

    let route: Route
    let service: ServiceID
    let body: HTTPBody
    var envelope: EnvelopeChoice { .none }
}

extension APIError {
    /// The error of a call that could not be made, or brought nothing, for a reason of the upload's own.
    init(_ error: ResumableUploadError) {
        let kind: Kind =
            switch error {
            case .sourceChanged: .blocked(reason: "the file has changed since its upload began")
            case .inUse: .blocked(reason: "another upload of the file is under way")
            case .unusableState(let reason): .blocked(reason: "the upload has no place for its state: \(reason)")
            case .sizeRefused: .blocked(reason: "the server takes no file of this size")
            case .sourceUnreadable: .transport(.requestBody)
            case .impossibleOffset, .stalled: .transport(.protocolViolation)
            case .outcomeUnknown: .transport(.connectionLost)
            case .notResumable: .unsupported(feature: "resumable uploads, by the server")
            case .gone: .unavailable(reason: "the server has forgotten the upload each time it was begun")
            }
        self.init(
            kind, stage: .transport, debugMessage: "\(error)",
            sendState: error == .outcomeUnknown ? .maybeProcessed : nil, underlying: error)
    }
}
