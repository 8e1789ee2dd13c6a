import Foundation

/// Events of an app that are recorded one by one and sent many at a time.
///
/// ```swift
/// let log = try await EventLog(file: url, client: client) { batch in SendEvents(id: batch.id, events: batch.events) }
/// log.record(.tapped("buy"))          // returns at once
/// await log.flush()                    // when the app goes to the background
/// ```
///
/// A redirect that would make a GET of a batch, 301 or 302 after a POST, is not followed: nobody has taken the batch. See Other (303)
/// says that it was taken.
///
/// A batch that the server refuses with a code of its own is sent again too, ever less often, since nobody but the app knows what
/// the code means: `isFinal` says so. Where the log is full because of it, it is given up, and told of.
///
/// **For whom.** An event is sent only while the client names the identity under which it was recorded, and with that user's
/// credential; a batch has events of one identity. What waits for a user is sent with the next event that is recorded for them, at
/// their next ``flush()``, or at a launch, and ``forget(identity:)`` removes it when they have signed out. What was recorded while
/// nobody was signed in is not theirs who signs in later: it is sent whoever is named by then, as a call that nobody has signed in
/// for, with the credential and the cookies of nobody, if there are any. A server that wants a user's for it will not take it. The
/// file holds a digest in place of the identity; a file of an earlier version, which named none, is read as nobody's.
///
/// Each event is in the file before anything is sent, and is removed when the server has it: what is left when the app ends is
/// sent at the next launch. A batch is sent at least once, and always under the same id with the same events, so that the server
/// can tell a second delivery. Events survive the end of the process; those of a batch under way, and those before a
/// ``flush()``, survive a loss of power as well.
public final class EventLog<Entry: Codable & Sendable, API: Endpoint>: Sendable {
    /// Events that are sent together.
    public struct Batch: Sendable {
        /// Unique, and the same at each attempt.
        public let id: String
        /// The events in the order in which they were recorded.
        public let events: [Entry]
    }

    private let core: EventLogCore

    /// Opens the log, and sends what it holds.
    ///
    /// - Parameters:
    ///   - file: of this log alone, in a folder that is there and that the system does not empty. Files with `.lock` and
    ///     `.new` after its name stand beside it.
    ///   - policy: when batches are sent, and how much is kept.
    ///   - options: what the calls want different.
    ///   - onProblem: told of what was lost and why; from any thread. Nothing is lost without it being told.
    ///   - isFinal: whether the server will never take a batch that failed of this, which is dropped then; from any thread. It is
    ///     asked about everything but what the log knows: the statuses 400, 405, 406, 410, 411, 413, 414, 415 and 422 and a
    ///     parameter that breaks a rule are final, and what a service's ``ExpiryRule`` names is not. Nothing else is by default.
    ///   - endpoint: sends a batch.
    /// - Throws: ``EventLogError/newerVersion``, ``EventLogError/foreignFile``, ``EventLogError/inUse`` or
    ///   ``EventLogError/unusableFile(reason:)``. The file is left as it was.
    public init(
        file: URL, client: APIClient, policy: EventLogPolicy = .init(), options: CallOptions = .init(),
        onProblem: @escaping @Sendable (EventLogError) -> Void = { _ in },
        isFinal: @escaping @Sendable (APIError) -> Bool = { _ in false },
        endpoint: @escaping @Sendable (Batch) -> API
    ) async throws(EventLogError) {
        let nobodys = client.with { $0.identity = { "" } }
        core = try await EventLogCore.open(file, client, policy, onProblem) { seal, records in
            // One that this version of the app cannot read any more is left out; it was readable when it was recorded.
            let events = records.compactMap { try? JSONDecoder().decode(Entry.self, from: $0.data) }
            let unreadable = records.count - events.count
            if unreadable > 0 { onProblem(.damagedLines(unreadable)) }
            guard !events.isEmpty else { return .success(()) }
            let hit = endpoint(Batch(id: seal.id, events: events))
            let sender = seal.owner == EventLogFormat.nobody ? nobodys : client
            let call = sender.start(hit, .endpoint, options.with { $0.keepsMethod = true }, in: nil) { audience in
                // Another user may have been named since it was decided what to send, and the call is that one's then.
                let context = audience.context
                if EventLogFormat.owner(context.isolation.identity) != seal.owner { context.end(.requested) }
            }
            return await call.result.map { _ in }.flatMapError { error -> Result<Void, EventLogCore.Unsent> in
                // The server has the batch, whatever became of what it led to.
                if error.followedSeeOther { return .success(()) }
                let failure = EventLogRule.judge(error, expiry: client.expiry(of: hit), isFinal: isFinal)
                return .failure(EventLogCore.Unsent(failure: failure, kind: error.kind))
            }
        }
    }

    /// Records an event: it is in the file soon, and sent with others. Returns at once, and keeps the order of calls. What goes
    /// wrong is told to `onProblem`. It is of the user whom the client names at the call.
    public func record(_ entry: Entry) {
        core.record {
            do {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return .success(try encoder.encode(entry))
            } catch {
                return .failure(.unencodable(reason: "\(error)"))
            }
        }
    }

    /// Sends what is there of the present user, and of nobody, without waiting for more, for one that goes to the background; returns
    /// when all of it has arrived, or an attempt has failed; one that was under way, and that no server has refused, is made again
    /// first. What is left is sent later, or at the next launch.
    public func flush() async {
        await core.flush()
    }

    /// Lets go of the file, so that it can be opened again. What has not arrived is sent then; what is recorded from now on is
    /// told to `onProblem` as lost. A log that nobody holds any more closes by itself.
    public func close() async {
        await core.close()
    }

    /// A user has signed out: removes their events from the log and from its file, in every environment. What is being sent of
    /// them may arrive, unless the logout (``APIClient/signOut(_:)``) has ended it before.
    ///
    /// - Parameter identity: as the client's configuration names it; empty for what was recorded while nobody was signed in.
    /// - Returns: how many events were removed.
    /// - Throws: ``EventLogError/closed``, or ``EventLogError/unusableFile(reason:)`` where nothing was removed.
    @discardableResult
    public func forget(identity: String) async throws(EventLogError) -> Int {
        try await core.forget(EventLogFormat.owner(identity)).get()
    }

    deinit {
        core.end()
    }

    /// How many events have not arrived, of all users.
    public var count: Int {
        get async { await core.count() }
    }
}

/// A log whatever its types: carries out what the machine decides. Everything in it happens on one queue.
private final class EventLogCore: Sendable {
    typealias Send = @Sendable (EventLogMachine.Seal, [EventLogMachine.Record]) async -> Result<Void, Unsent>

    /// Why a batch has not arrived.
    struct Unsent: Error {
        let failure: EventLogMachine.Failure
        let kind: APIError.Kind
    }

    private struct State {
        /// By the digest of the identity whose events they are.
        var machines: [String: EventLogMachine]
        /// The number of the next event, whosever it is.
        var nextNumber: UInt64
        /// `nil` once the log is closed.
        var file: EventLogFile?
        var timer: Task<Void, Never>?
        /// The batches that are not sent any more, where that could not be noted on disk yet.
        var owed: [String] = []
        /// Promises to those who wait for a flush, each kept once everything has been tried.
        var flushes: [Promise<Void>] = []

        var count: Int { machines.values.reduce(0) { $0 + $1.records.count } }

        /// How many bytes the file may have for each of those of whom something is kept.
        func isOvergrown(_ file: EventLogFile, _ policy: EventLogPolicy) -> Bool {
            let users = machines.values.count { !$0.records.isEmpty }
            return file.size / max(users, 1) > policy.mostFileBytes
        }

        /// Whether more of the file is done with than is kept, and worth the writing.
        func isMostlyDone(_ file: EventLogFile) -> Bool {
            let kept = machines.values.reduce(0) { $0 + $1.bytes }
            return count == 0 || file.size > 65_536 + 2 * kept
        }

        /// All that is kept, but of one.
        func whole(without owner: String? = nil) -> String {
            let kept = machines.filter { $0.key != owner }.values
            let records = kept.flatMap(\.records).sorted { $0.number < $1.number }
            return EventLogFormat.whole(records, kept.compactMap(\.batch))
        }
    }

    private let policy: EventLogPolicy
    private let identity: @Sendable () -> String
    private let time: TimeSource
    private let random: RandomSource
    private let onProblem: @Sendable (EventLogError) -> Void
    private let send: Send
    private let queue: SerialState<State>

    static func open(
        _ url: URL, _ client: APIClient, _ policy: EventLogPolicy,
        _ onProblem: @escaping @Sendable (EventLogError) -> Void,
        send: @escaping Send
    ) async throws(EventLogError) -> EventLogCore {
        let core = try await DiskWork.run { () throws(EventLogError) in
            let (file, content) = try EventLogFile.open(url)
            return EventLogCore(client, policy, onProblem, send, file, content)
        }
        core.queue.run { core.goOn(&$0) }
        return core
    }

    private init(
        _ client: APIClient, _ policy: EventLogPolicy, _ onProblem: @escaping @Sendable (EventLogError) -> Void,
        _ send: @escaping Send, _ file: EventLogFile, _ content: EventLogFormat.Content
    ) {
        self.policy = policy
        identity = client.configuration.identity
        time = client.configuration.time
        random = client.configuration.random
        self.onProblem = onProblem
        self.send = send
        var machines: [String: EventLogMachine] = [:]
        let records = Dictionary(grouping: content.records, by: \.owner)
        for owner in Set(records.keys).union(content.batches.map(\.owner)) {
            machines[owner] = EventLogMachine(
                policy, of: owner, records: records[owner] ?? [],
                batch: content.batches.first { $0.owner == owner }, nextNumber: content.nextNumber)
        }
        let next = machines.values.map(\.number).max() ?? content.nextNumber
        queue = SerialState(State(machines: machines, nextNumber: next, file: file), label: "penstock.eventlog")
        if content.damagedLines > 0 { onProblem(.damagedLines(content.damagedLines)) }
    }

    func record(_ encode: @escaping @Sendable () -> Result<Data, EventLogError>) {
        // Asked for here: another user may have signed in before the queue comes to it.
        let owner = EventLogFormat.owner(identity())
        queue.run { [self] state in
            do throws(EventLogError) {
                guard let file = state.file else { throw .closed }
                let data = try encode().get()
                makeRoom(for: data.count, of: owner, &state)
                var machine = state.machines[owner] ?? EventLogMachine(policy, of: owner)
                if machine.refusal(of: data.count) != nil { throw .full }
                machine.skip(to: state.nextNumber)
                try file.append(EventLogFormat.event(machine.record(data)), isSynced: false)
                machine.add(data, at: time.now())
                state.machines[owner] = machine
                state.nextNumber = machine.number
                goOn(&state)
            } catch {
                onProblem(error)
            }
        }
    }

    private func makeRoom(for size: Int, of owner: String, _ state: inout State) {
        guard let gone = state.machines[owner]?.giveUp(for: size) else { return }
        onProblem(.refused(events: gone.count, gone.kind))
        writeOff(gone.seal, &state)
    }

    func flush() async {
        let flush = Promise<Void>()
        queue.run { [self] state in
            for owner in present { state.machines[owner]?.flush() }
            state.flushes.append(flush)
            goOn(&state)
        }
        await flush.value()
    }

    func count() async -> Int {
        await queue.result(of: { $0.count })
    }

    func forget(_ owner: String) async -> Result<Int, EventLogError> {
        await queue.result(of: { [self] state in
            do throws(EventLogError) {
                guard let file = state.file else { throw .closed }
                guard let machine = state.machines[owner] else { return .success(0) }
                try file.replace(with: state.whole(without: owner))
                state.owed = []
                state.machines[owner] = nil
                goOn(&state)
                return .success(machine.records.count)
            } catch {
                return .failure(error)
            }
        })
    }

    func close() async {
        await queue.result(of: { [self] in close(&$0) })
    }

    /// The same, for one that nobody waits for.
    func end() {
        queue.run { [self] in close(&$0) }
    }

    private func close(_ state: inout State) {
        state.timer?.cancel()
        state.file = nil
        endFlushes(&state)
    }

    /// Whose events may be sent now.
    private var present: Set<String> { [EventLogFormat.owner(identity()), EventLogFormat.nobody] }

    /// Does what is to be done now.
    private func goOn(_ state: inout State) {
        state.timer?.cancel()
        state.timer = nil
        guard let file = state.file else { return endFlushes(&state) }
        var delays: [Duration] = []
        var isSending = false
        for owner in present {
            var isBusy = true
            while isBusy, let decision = state.machines[owner]?.decide(at: time.now()) {
                switch decision {
                case .seal(let last): seal(last, of: owner, in: file, &state)
                case .send(let seal, let records):
                    deliver(seal, records)
                    (isSending, isBusy) = (true, false)
                case .wait(let delay):
                    delays.append(delay)
                    isBusy = false
                case .rest:
                    if state.machines[owner]?.records.isEmpty == false { isSending = true }
                    isBusy = false
                }
            }
        }
        if !isSending { endFlushes(&state) }
        if let delay = delays.min() { sleep(delay, &state) }
    }

    /// Makes a batch. What cannot be noted on disk is tried again after a while, as what has not arrived.
    private func seal(_ last: UInt64, of owner: String, in file: EventLogFile, _ state: inout State) {
        do throws(EventLogError) {
            let seal = EventLogMachine.Seal(id: UUID().uuidString, last: last, owner: owner)
            // On disk before it is sent: otherwise the next launch would send the same events under another id. So it would those of a
            // batch before it of which nothing says that it is done.
            try file.append(Self.done(state.owed) + EventLogFormat.seal(seal), isSynced: true)
            state.owed = []
            state.machines[owner]?.seal(seal)
        } catch {
            onProblem(error)
            fail(.passing, of: owner, &state)
        }
    }

    private func deliver(_ seal: EventLogMachine.Seal, _ records: [EventLogMachine.Record]) {
        Task { [self] in
            let result = await send(seal, records)
            queue.run { [self] state in
                arrived(seal, records.count, result, &state)
                goOn(&state)
            }
        }
    }

    private func arrived(
        _ seal: EventLogMachine.Seal, _ count: Int, _ result: Result<Void, Unsent>, _ state: inout State
    ) {
        // It was forgotten while it was sent.
        guard state.machines[seal.owner]?.batch == seal else { return }
        switch result {
        case .success: state.machines[seal.owner]?.delivered()
        case .failure(let unsent):
            fail(unsent.failure, of: seal.owner, &state)
            guard unsent.failure == .final else { return }
            onProblem(.refused(events: count, unsent.kind))
        }
        writeOff(seal, &state)
    }

    private func fail(_ failure: EventLogMachine.Failure, of owner: String, _ state: inout State) {
        var random = random
        state.machines[owner]?.failed(failure, at: time.now(), spread: Double.random(in: 0...1, using: &random))
    }

    /// Notes on disk that a batch is not sent any more.
    private func writeOff(_ seal: EventLogMachine.Seal, _ state: inout State) {
        do throws(EventLogError) {
            try strike(seal, &state)
        } catch {
            // At the next launch it will be delivered once more, under the same id, unless it can be noted with the next batch.
            state.owed.append(seal.id)
            onProblem(error)
        }
    }

    /// What has arrived is written off; a file that has grown by it is written anew.
    private func strike(_ seal: EventLogMachine.Seal, _ state: inout State) throws(EventLogError) {
        guard let file = state.file else { return }
        let isDone = state.machines[seal.owner]?.records.isEmpty ?? true
        if isDone && state.isMostlyDone(file) || state.isOvergrown(file, policy) {
            try file.replace(with: state.whole())
        } else {
            try file.append(Self.done(state.owed + [seal.id]), isSynced: false)
        }
        state.owed = []
    }

    private static func done(_ batches: [String]) -> String {
        batches.map(EventLogFormat.done).joined()
    }

    private func sleep(_ delay: Duration, _ state: inout State) {
        state.timer = Task { [weak self, time, end = time.now() + delay] in
            guard (try? await time.sleep(until: end)) != nil, let self else { return }
            queue.run { [self] in goOn(&$0) }
        }
    }

    private func endFlushes(_ state: inout State) {
        for flush in state.flushes { flush.keep(()) }
        state.flushes = []
    }
}

/// Whether a server will never take what it has refused.
package enum EventLogRule {
    /// What the app or the server finds wrong with the request itself stays wrong. Everything else may pass: what the network
    /// did, what a server could not do now, and what a login or a newer app puts right. A code of the server's own may mean either,
    /// and only the app knows.
    ///
    /// - Parameters:
    ///   - expiry: what means that the credential is out of date, which says nothing about the batch.
    ///   - isFinal: asked where the rule does not say so itself.
    package static func judge(
        _ error: APIError, expiry: ExpiryRule?, isFinal: (APIError) -> Bool
    ) -> EventLogMachine.Failure {
        if error.wantsCredential(by: expiry) { return .passing }
        if isFinalAnyhow(error.kind) || isFinal(error) { return .final }
        if case .business = error.kind { return .refused(error.kind) }
        return .passing
    }

    private static func isFinalAnyhow(_ kind: APIError.Kind) -> Bool {
        switch kind {
        case .httpStatus(let status): [400, 405, 406, 410, 411, 413, 414, 415, 422].contains(status)
        case .invalidParameter: true
        default: false
        }
    }
}

extension EventLog.Batch: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many events there are, never what they are.
    public var description: String { "\(events.count) events, batch \(id)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["batch": description], displayStyle: .struct) }
}
