/// Carries out a schedule: begins what may begin, waits, and ends everything at once when it is to end.
struct CallRun: Sendable {
    let client: APIClient
    let options: CallOptions
    private let owner: Owner
    private let party: CallParty

    /// - Parameter party: for whom it is; `nil`, the default, for the user and the environment of the moment.
    init(_ client: APIClient, options: CallOptions, in scope: CallScope?, for party: CallParty? = nil) {
        self.client = client
        self.options = options
        owner = Owner(client, scope)
        self.party = party ?? CallParty(of: client)
    }

    /// Whether nobody is left to be told: the scope has gone.
    var isOrphaned: Bool { owner.isGone }

    /// Whether everything was ended from outside: by the task, the scope or the client.
    var isEnded: Bool { Task.isCancelled || wasEnded }

    /// The same but for the task that asks: whether the scope or the client has ended everything.
    var wasEnded: Bool { owner.hasEnded }

    /// Sends one of the calls, unless the user or the environment is another one by now: what comes first may decide on what comes
    /// later, and none of it is for that one.
    func send<E: Endpoint>(_ endpoint: E) async -> Result<E.Output, APIError> {
        guard let call = begin(endpoint) else { return .failure(client.presented(.notBegun, of: endpoint.service)) }
        return await call.result.map(\.value)
    }

    /// Begins the call and returns its handle, out of line with the wait for it: what is awaited with its scope would keep the scope alive.
    ///
    /// - Returns: `nil` where everything was ended before.
    @inline(never)
    private func begin<E: Endpoint>(_ endpoint: E) -> Call<E.Output>? {
        // Taken before the look at it: one that goes in between would leave a call without an owner.
        let scope = owner.scope
        guard !isEnded else { return nil }
        return client.start(endpoint, .endpoint, options, in: scope) { audience in
            party.claim(audience.context)
            // Whoever has ended everything since the look did not find this one.
            if isEnded { audience.context.end(.requested) }
        }
    }

    /// Runs the calls of a schedule, each in a task of its own.
    ///
    /// - Parameters:
    ///   - perform: runs one call; whether it succeeded.
    ///   - skipped: hears of those that will never begin because one they wait for has failed.
    /// - Returns: the number of the first call that failed.
    func run(
        _ schedule: CallSchedule, skipped: @Sendable ([CallSchedule.Skip]) -> Void = { _ in },
        perform: @escaping @Sendable (Int) async -> Bool
    ) async -> Int? {
        await withTaskGroup(of: (call: Int, succeeded: Bool).self) { group in
            var schedule = schedule
            var failed: Int?
            while true {
                if isEnded { schedule.stop() }
                while let call = schedule.begin() { group.addTask { (call, await perform(call)) } }
                guard let end = await group.next() else { return failed }
                if !end.succeeded, failed == nil { failed = end.call }
                skipped(schedule.finish(end.call, succeeded: end.succeeded))
                if schedule.isStopped { group.cancelAll() }
            }
        }
    }
}

extension APIError {
    /// The error of a call that was ended before it began.
    static var notBegun: APIError {
        APIError(.cancelled, stage: .prepare, debugMessage: "ended before the call began")
    }
}

/// The owners that may end a group of calls besides its task: the scope it was given, and the client. Calls that have not begun are in
/// neither's table, so the group looks whether they were told to end everything since it began.
private struct Owner: Sendable {
    private weak let weakScope: CallScope?
    private let isOwned: Bool
    private let client: APIClient
    private let cancellationsOfClient: Int
    private let cancellationsOfScope: Int

    init(_ client: APIClient, _ scope: CallScope?) {
        self.client = client
        weakScope = scope
        isOwned = scope != nil
        cancellationsOfClient = client.state.lineage.cancellationCount
        cancellationsOfScope = scope?.cancellationCount ?? 0
    }

    var scope: CallScope? { weakScope }

    var isGone: Bool { isOwned && weakScope == nil }

    var hasEnded: Bool {
        if client.state.lineage.cancellationCount != cancellationsOfClient { return true }
        guard isOwned else { return false }
        return weakScope?.cancellationCount != cancellationsOfScope
    }
}

/// Several calls under way, as the object that started them holds them. Letting go of it does not end them.
public final class CallGroup: Sendable {
    private let task: Task<Void, Never>

    init(_ body: @escaping @Sendable () async -> Void) {
        task = Task { await body() }
    }

    /// Ends all calls of the group and begins no further one. Nothing once it is over.
    public func cancel() {
        task.cancel()
    }

    /// Returns when the group is over and its result was delivered.
    public func wait() async {
        await task.value
    }
}
