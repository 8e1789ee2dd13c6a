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
        core = try await EventLogCore.open(file, client, policy, onProblem) { id, records in
            // One that this version of the app cannot read any more is left out; it was readable when it was recorded.
            let events = records.compactMap { try? JSONDecoder().decode(Entry.self, from: $0.data) }
            let unreadable = records.count - events.count
            if unreadable > 0 { onProblem(.damagedLines(unreadable)) }
            guard !events.isEmpty else { return .success(()) }
            let hit = endpoint(Batch(id: id, events: events))
            let result = await client.start(hit, options: options.with { $0.keepsMethod = true }).result
            return result.map { _ in }.flatMapError { error -> Result<Void, EventLogCore.Unsent> in
                // The server has the batch, whatever became of what it led to.
                if error.followedSeeOther { return .success(()) }
                let failure = EventLogRule.judge(error, expiry: client.expiry(of: hit), isFinal: isFinal)
                return .failure(EventLogCore.Unsent(failure: failure, kind: error.kind))
            }
        }
    }

    /// Records an event: it is in the file soon, and sent with others. Returns at once, and keeps the order of calls. What goes
    /// wrong is told to `onProblem`.
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

    /// Sends what is there without waiting for more, for one that goes to the background; returns when all of it has arrived, or
    /// an attempt has failed. What is left is sent later, or at the next launch.
    public func flush() async {
        await core.flush()
    }

    /// Lets go of the file, so that it can be opened again. What has not arrived is sent then; what is recorded from now on is
    /// told to `onProblem` as lost. A log that nobody holds any more closes by itself.
    public func close() async {
        await core.close()
    }

    deinit {
        core.end()
    }

    /// How many events have not arrived.
    public var count: Int {
        get async { await core.count() }
    }
}

/// A log whatever its types: carries out what the machine decides. Everything in it happens on one queue.
private final class EventLogCore: Sendable {
    typealias Send = @Sendable (String, [EventLogMachine.Record]) async -> Result<Void, Unsent>

    /// Why a batch has not arrived.
    struct Unsent: Error {
        let failure: EventLogMachine.Failure
        let kind: APIError.Kind
    }

    private struct State {
        var machine: EventLogMachine
        /// `nil` once the log is closed.
        var file: EventLogFile?
        var timer: Task<Void, Never>?
        /// The batches that are not sent any more, where that could not be noted on disk yet.
        var owed: [String] = []
        /// Promises to those who wait for a flush, each kept once everything has been tried.
        var flushes: [Promise<Void>] = []
    }

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
        time = client.configuration.time
        random = client.configuration.random
        self.onProblem = onProblem
        self.send = send
        let machine = EventLogMachine(
            policy, records: content.records, batch: content.batch, nextNumber: content.nextNumber)
        queue = SerialState(State(machine: machine, file: file), label: "penstock.eventlog")
        if content.damagedLines > 0 { onProblem(.damagedLines(content.damagedLines)) }
    }

    func record(_ encode: @escaping @Sendable () -> Result<Data, EventLogError>) {
        queue.run { [self] state in
            do throws(EventLogError) {
                guard let file = state.file else { throw .closed }
                let data = try encode().get()
                makeRoom(for: data.count, &state)
                if state.machine.refusal(of: data.count) != nil { throw .full }
                let record = EventLogMachine.Record(number: state.machine.number, data: data)
                try file.append(EventLogFormat.event(record), isSynced: false)
                state.machine.add(data, at: time.now())
                goOn(&state)
            } catch {
                onProblem(error)
            }
        }
    }

    private func makeRoom(for size: Int, _ state: inout State) {
        guard let gone = state.machine.giveUp(for: size) else { return }
        onProblem(.refused(events: gone.count, gone.kind))
        writeOff(gone.seal, &state)
    }

    func flush() async {
        let flush = Promise<Void>()
        queue.run { [self] state in
            state.machine.flush()
            state.flushes.append(flush)
            goOn(&state)
        }
        await flush.value()
    }

    func count() async -> Int {
        await queue.result(of: { $0.machine.records.count })
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

    /// Does what is to be done now.
    private func goOn(_ state: inout State) {
        state.timer?.cancel()
        state.timer = nil
        guard let file = state.file else { return endFlushes(&state) }
        while true {
            switch state.machine.decide(at: time.now()) {
            case .seal(let last): seal(last, in: file, &state)
            case .send(let seal, let records): return deliver(seal, records)
            case .wait(let delay):
                endFlushes(&state)
                return sleep(delay, &state)
            case .rest:
                if state.machine.records.isEmpty { endFlushes(&state) }
                return
            }
        }
    }

    /// Makes a batch. What cannot be noted on disk is tried again after a while, as what has not arrived.
    private func seal(_ last: UInt64, in file: EventLogFile, _ state: inout State) {
        do throws(EventLogError) {
            let seal = EventLogMachine.Seal(id: UUID().uuidString, last: last)
            // On disk before it is sent: otherwise the next launch would send the same events under another id. So it would those of a
            // batch before it of which nothing says that it is done.
            try file.append(Self.done(state.owed) + EventLogFormat.seal(seal), isSynced: true)
            state.owed = []
            state.machine.seal(seal)
        } catch {
            onProblem(error)
            fail(.passing, &state)
        }
    }

    private func deliver(_ seal: EventLogMachine.Seal, _ records: [EventLogMachine.Record]) {
        Task { [self] in
            let result = await send(seal.id, records)
            queue.run { [self] state in
                arrived(seal, records.count, result, &state)
                goOn(&state)
            }
        }
    }

    private func arrived(
        _ seal: EventLogMachine.Seal, _ count: Int, _ result: Result<Void, Unsent>, _ state: inout State
    ) {
        switch result {
        case .success: state.machine.delivered()
        case .failure(let unsent):
            fail(unsent.failure, &state)
            guard unsent.failure == .final else { return }
            onProblem(.refused(events: count, unsent.kind))
        }
        writeOff(seal, &state)
    }

    private func fail(_ failure: EventLogMachine.Failure, _ state: inout State) {
        var random = random
        state.machine.failed(failure, at: time.now(), spread: Double.random(in: 0...1, using: &random))
    }

    /// Notes on disk that a batch is not sent any more.
    private func writeOff(_ seal: EventLogMachine.Seal, _ state: inout State) {
        do throws(EventLogError) {
            try forget(seal, &state)
        } catch {
            // At the next launch it will be delivered once more, under the same id, unless it can be noted with the next batch.
            state.owed.append(seal.id)
            onProblem(error)
        }
    }

    /// What has arrived is written off; a file that has grown by it is written anew.
    private func forget(_ seal: EventLogMachine.Seal, _ state: inout State) throws(EventLogError) {
        guard let file = state.file else { return }
        let machine = state.machine
        if machine.records.isEmpty || file.size > machine.policy.mostFileBytes {
            try file.replace(with: EventLogFormat.whole(machine.records, machine.batch))
        } else {
            try file.append(Self.done(state.owed + [seal.id]), isSynced: false)
        }
        state.owed = []
    }

    private static func done(_ batches: [String]) -> String {
        batches.map(EventLogFormat.done).joined()
    }

    private func sleep(_ delay: Duration, _ state: inout State) {
        state.timer = Task { [weak self, time] in
            guard (try? await time.sleep(delay)) != nil, let self else { return }
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
