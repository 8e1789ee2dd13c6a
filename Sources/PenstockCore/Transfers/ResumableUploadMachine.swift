/// Why an upload cannot be finished: the ``APIError/underlying`` of the error that it ends with.
@nonexhaustive
public enum ResumableUploadError: Error, Hashable, Sendable {
    /// The file is not the one that the upload began with. What the server has stays incomplete.
    case sourceChanged
    /// The file cannot be read.
    case sourceUnreadable(reason: String)
    /// Another upload of the file is under way, in this process or in another one.
    case inUse
    /// The server says that it has bytes which were never sent to it, or expects another length than the file's.
    case impossibleOffset
    /// The server takes requests, and no byte more: as many in a row as ``ResumableUploadPolicy/patience`` says. Or it takes so little with
    /// each that there would be no end of it: more than 1,024 requests, and one for each KiB that it has.
    case stalled
    /// The server does not say where the upload can be continued, or how many bytes it has.
    case notResumable
    /// The server takes no file of this size.
    case sizeRefused(minimum: Int?, maximum: Int?)
    /// The server knows nothing of the upload any more, and it has been begun anew as often as
    /// ``ResumableUploadPolicy/restarts`` says.
    case gone
    /// All was sent, no answer came, and the server knows nothing of the upload any more: it may have been done, so it is not
    /// done again.
    case outcomeUnknown
    /// What the upload has on disk cannot be read or written.
    case unusableState(reason: String)
}

/// An upload as a state machine: what came of the last request decides on the next one. It knows neither protocol nor clock.
///
/// Whatever happens, no more than one object comes of it: a resource that may have been completed is asked, and never begun
/// anew; and bytes go to the server only from the offset that it has named.
struct ResumableUploadMachine: Hashable, Sendable {
    /// What outlives the process.
    struct Progress: Hashable, Sendable {
        var location: HTTPURL?
        /// The highest offset that the server has named.
        var confirmed = 0
        /// The end of the bytes that any request was to bring to this resource: no server has more. `nil` where nobody noted it, as
        /// versions before did not.
        var sent: Int? = 0
        /// Whether a request that completes the upload was sent, and the server has not said since that it is incomplete.
        var mayBeComplete = false
        /// Whether a request with the last bytes was ever sent: until then no server has all.
        var hasSentEnd = false
    }

    /// What came of a step.
    enum Event: Hashable, Sendable {
        /// The upload begins, or is taken up again: after a pause, or in a later process.
        case begun
        case answered(UploadAnswer, to: UploadStep)
        /// No answer came. The next try may go better.
        case failed
        /// The wait is over.
        case waited
    }

    /// What is done next.
    enum Decision: Hashable, Sendable {
        case send(UploadStep)
        /// Another try after a while.
        case wait(try: Int, hint: Duration?)
        /// The server has all. Whether the last answer is that of whoever has processed it.
        case finish(isAnswer: Bool)
        /// The last failure is the upload's.
        case giveUp
        /// The server has all, and its last answer, which is none of success, is that of whoever has processed it. There is
        /// nothing left to go on with.
        case conclude
        case fail(ResumableUploadError)
    }

    let form: ResumableUploadProtocol
    /// The length of the file.
    let length: Int
    let policy: ResumableUploadPolicy
    private(set) var progress: Progress
    private(set) var limits = UploadLimits()
    private var failures = 0
    /// How far the server was when the failures were last forgotten.
    private var forgotten: Int
    /// How many answers of the server say that it has taken more.
    private var answers = 0
    private var restarts = 0

    init(
        _ form: ResumableUploadProtocol, length: Int, _ policy: ResumableUploadPolicy, _ progress: Progress = .init()
    ) {
        self.form = form
        self.length = length
        self.policy = policy
        self.progress = progress
        forgotten = progress.confirmed
    }

    mutating func decide(on event: Event) -> Decision {
        switch event {
        case .begun, .waited: return ask()
        case .failed: return pause(hint: nil)
        case .answered(let answer, let step):
            if let limits = answer.limits { self.limits = limits }
            switch step {
            case .create: return created(answer)
            case .query: return queried(answer)
            case .append(let bytes, let completes): return appended(answer, bytes, completes: completes)
            }
        }
    }

    /// Takes what an interim response (104) says while a request is under way.
    mutating func note(_ answer: UploadAnswer, during step: UploadStep) {
        if let limits = answer.limits { self.limits = limits }
        if step == .create, progress.location == nil { progress.location = answer.location }
        if let offset = answer.offset, case .append(let bytes, completes: _) = step, offset <= bytes.upperBound {
            advance(to: offset)
        }
    }

    /// Notes that a request is to complete the upload; to be called, and kept, before that is sent.
    mutating func expectCompletion() {
        progress.mayBeComplete = true
        progress.hasSentEnd = true
    }

    // MARK: Answers

    private func ask() -> Decision {
        progress.location == nil ? .send(.create) : .send(.query)
    }

    private mutating func created(_ answer: UploadAnswer) -> Decision {
        if isMomentary(answer.status) { return pause(hint: answer.retryAfter) }
        guard isSuccess(answer.status) else { return .giveUp }
        if isRefusedBySize { return .fail(.sizeRefused(minimum: limits.minimumSize, maximum: limits.maximumSize)) }
        guard let location = answer.location else { return .fail(.notResumable) }
        guard answer.offset ?? 0 == 0 else { return .fail(.impossibleOffset) }
        progress.location = location
        return go(on: 0, answer, to: .create)
    }

    private mutating func queried(_ answer: UploadAnswer) -> Decision {
        if isGone(answer.status) { return restart() }
        if isMomentary(answer.status) { return pause(hint: answer.retryAfter) }
        guard isSuccess(answer.status) else { return .giveUp }
        guard let offset = answer.offset else { return .fail(.notResumable) }
        guard answer.length ?? length == length, offset <= progress.sent ?? length else {
            return .fail(.impossibleOffset)
        }
        return go(on: offset, answer, to: .query)
    }

    private mutating func appended(_ answer: UploadAnswer, _ bytes: Range<Int>, completes: Bool) -> Decision {
        if completes, answer.isComplete == true {
            guard isSuccess(answer.status) else { return .conclude }
            return mayBeAll ? .finish(isAnswer: true) : .fail(.impossibleOffset)
        }
        if isGone(answer.status) { return restart() }
        if answer.status == 409 || answer.isCompletedProblem { return askAgain() }
        if isMomentary(answer.status) { return pause(hint: answer.retryAfter) }
        // Too much at a time, where the answer says how much is not.
        if answer.status == 413, bytes.count > limits.maximumAppend ?? .max { return askAgain() }
        guard isSuccess(answer.status) else { return .giveUp }
        // An answer of the draft that does not say that the upload is complete is none to all of it; one to a part of it need not
        // say more than that the part was taken.
        if form == .httpDraft, completes { return askAgain() }
        guard let offset = answer.offset ?? (form == .httpDraft ? bytes.upperBound : nil) else { return askAgain() }
        guard offset <= max(bytes.upperBound, progress.confirmed) else { return .fail(.impossibleOffset) }
        // The server has taken nothing, or has lost what it had.
        guard offset > bytes.lowerBound else { return askAgain() }
        answers += 1
        guard answers <= Self.mostAnswers + offset >> 10 || offset == length else { return .fail(.stalled) }
        return go(on: offset, answer, to: .append(bytes, completes: completes))
    }

    /// Continues from where the server is.
    private mutating func go(on offset: Int, _ answer: UploadAnswer, to step: UploadStep) -> Decision {
        let isComplete = answer.isComplete ?? (form == .tus && offset == length)
        let isAll = offset == length && mayBeAll
        // Who has the last byte, or says that it has all, was sent the end.
        guard isAll || offset < length && !isComplete else { return .fail(.impossibleOffset) }
        advance(to: offset)
        if isComplete { return .finish(isAnswer: step != .query) }
        progress.mayBeComplete = false
        if isRefusedBySize { return .fail(.sizeRefused(minimum: limits.minimumSize, maximum: limits.maximumSize)) }
        let room = max(limits.maximumAppend ?? length, 1)
        let end = length - offset > room ? offset + room : length
        progress.sent = progress.sent.map { max($0, end) }
        return .send(.append(offset..<end, completes: end == length))
    }

    private var mayBeAll: Bool { progress.hasSentEnd || length == 0 }

    private mutating func advance(to offset: Int) {
        guard offset > progress.confirmed else { return }
        progress.confirmed = offset
        guard offset - forgotten >= Self.headway else { return }
        (failures, forgotten) = (0, offset)
    }

    /// What counts as headway, in bytes. Failures in a row are counted until the server has taken so much more: one that takes less
    /// each time is no better than one that takes nothing.
    static let headway = 64 << 10

    /// How many answers a file may be taken in, besides one for each KiB: what is taken in less at a time for long is not taken.
    static let mostAnswers = 1_024

    // MARK: What goes wrong

    private mutating func pause(hint: Duration?) -> Decision {
        failures += 1
        return failures > policy.patience ? .giveUp : .wait(try: failures, hint: hint)
    }

    /// The first time at once, since the server has answered. Then it may still be busy with an earlier request.
    private mutating func askAgain() -> Decision {
        let decision = pause(hint: nil)
        if decision == .giveUp { return .fail(.stalled) }
        return failures == 1 ? .send(.query) : decision
    }

    private mutating func restart() -> Decision {
        guard !progress.mayBeComplete else { return .fail(.outcomeUnknown) }
        restarts += 1
        guard restarts <= policy.restarts else { return .fail(.gone) }
        progress = Progress()
        (forgotten, answers) = (0, 0)
        return .send(.create)
    }

    private var isRefusedBySize: Bool {
        length > limits.maximumSize ?? length || length < limits.minimumSize ?? length
    }

    private func isSuccess(_ status: Int) -> Bool { (200...299).contains(status) }

    /// tus lets a server answer 403 for what it does not know any more, but such an answer may as well be about who asks.
    private func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

    /// Speaks of the moment and not of the upload; 423 of a lock that an earlier request has not let go of yet. A server that
    /// does not know the method (501) or the version of HTTP (505) will not know it later.
    private func isMomentary(_ status: Int) -> Bool {
        status >= 500 && status != 501 && status != 505 || [408, 423, 425, 429].contains(status)
    }
}
