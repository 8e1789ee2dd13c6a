/// Several calls as one.
///
/// ```swift
/// let (user, cart) = try await client.batch(GetUser(), GetCart())              // the first failure ends the others
/// let products = try await client.batch(ids.map(GetProduct.init), limit: 4)    // in the order of the ids
/// for result in await client.batchResults(ids.map(GetProduct.init)) { … }      // a result for each, whatever the others do
/// ```
///
/// ``batch(_:options:in:)`` fails fast: it throws as soon as one call has failed, and says which. ``batchResults(_:options:in:)``
/// collects all. Both end all their calls at once when their task is cancelled, their scope is told to end its calls, or ``cancelAll()``.
extension APIClient {
    /// How many calls of a list are under way at a time unless told otherwise: as many as browsers open connections to one
    /// host over HTTP/1.1, so that a list does not keep the app's other calls waiting.
    public static let batchLimit = 6

    // MARK: Fail fast

    /// Sends endpoints of any types together and gives their outputs in the same order.
    ///
    /// - Parameters:
    ///   - options: what all of them want different.
    ///   - scope: ends them by ``CallScope/cancelAll()``. It cannot go meanwhile, since whoever waits holds it.
    /// - Throws: the first failure; the other calls are cancelled.
    public func batch<each E: Endpoint>(
        _ endpoint: repeat each E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(BatchError) -> (repeat (each E).Output) {
        let run = CallRun(self, options: options, in: scope)
        let members = (repeat BatchMember(each endpoint, self))
        var list: [any AnyBatchMember] = []
        for member in repeat each members { list.append(member) }
        try await Batch(members: list, limit: list.count).failFast(in: run)
        return try (repeat (each members).output())
    }

    /// Sends endpoints of one type and gives their outputs in the same order.
    ///
    /// - Parameters:
    ///   - limit: how many may be under way at a time; at least one.
    ///   - options: what all of them want different.
    ///   - scope: ends them by ``CallScope/cancelAll()``. It cannot go meanwhile, since whoever waits holds it.
    /// - Throws: the first failure; the other calls are cancelled, and none begins.
    public func batch<E: Endpoint>(
        _ endpoints: [E], limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async throws(BatchError) -> [E.Output] {
        let members = endpoints.map { BatchMember($0, self) }
        let run = CallRun(self, options: options, in: scope)
        try await Batch(members: members, limit: limit).failFast(in: run)
        return try members.map { member throws(BatchError) in try member.output() }
    }

    // MARK: Collect all

    /// Sends endpoints of any types together and gives the result of each in the same order. One failure does not touch
    /// the others.
    public func batchResults<each E: Endpoint>(
        _ endpoint: repeat each E, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async -> (repeat Result<(each E).Output, APIError>) {
        let run = CallRun(self, options: options, in: scope)
        let members = (repeat BatchMember(each endpoint, self))
        var list: [any AnyBatchMember] = []
        for member in repeat each members { list.append(member) }
        await Batch(members: list, limit: list.count).collectAll(in: run)
        return (repeat (each members).result)
    }

    /// Sends endpoints of one type and gives the result of each in the same order. One failure does not touch the others.
    ///
    /// - Parameter limit: how many may be under way at a time; at least one.
    public func batchResults<E: Endpoint>(
        _ endpoints: [E], limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async -> [Result<E.Output, APIError>] {
        let members = endpoints.map { BatchMember($0, self) }
        let run = CallRun(self, options: options, in: scope)
        await Batch(members: members, limit: limit).collectAll(in: run)
        return members.map(\.result)
    }

    // MARK: By a closure

    /// Starts endpoints of any types together, failing fast, and delivers one result for all to a closure on the main actor.
    ///
    /// The closure is called once; not at all once the scope is gone.
    @discardableResult
    public func startBatch<each E: Endpoint>(
        _ endpoint: repeat each E, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping @MainActor @Sendable (Result<(repeat (each E).Output), BatchError>) -> Void
    ) -> CallGroup {
        let run = CallRun(self, options: options, in: scope)
        let members = (repeat BatchMember(each endpoint, self))
        var list: [any AnyBatchMember] = []
        for member in repeat each members { list.append(member) }
        let batch = Batch(members: list, limit: list.count)
        return CallGroup {
            do throws(BatchError) {
                try await batch.failFast(in: run)
                let outputs = try (repeat (each members).output())
                await run.deliver { completion(.success(outputs)) }
            } catch {
                await run.deliver { completion(.failure(error)) }
            }
        }
    }

    /// Starts endpoints of any types together and delivers the result of each to a closure on the main actor, all at once.
    ///
    /// The closure is called once; not at all once the scope is gone.
    @discardableResult
    public func startBatchResults<each E: Endpoint>(
        _ endpoint: repeat each E, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping @MainActor @Sendable (repeat Result<(each E).Output, APIError>) -> Void
    ) -> CallGroup {
        let run = CallRun(self, options: options, in: scope)
        let members = (repeat BatchMember(each endpoint, self))
        var list: [any AnyBatchMember] = []
        for member in repeat each members { list.append(member) }
        let batch = Batch(members: list, limit: list.count)
        return CallGroup {
            await batch.collectAll(in: run)
            await run.deliver { completion(repeat (each members).result) }
        }
    }

    /// Starts endpoints of one type, failing fast, and delivers one result for all to a closure on the main actor.
    ///
    /// The closure is called once; not at all once the scope is gone.
    @discardableResult
    public func startBatch<E: Endpoint>(
        _ endpoints: [E], limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping @MainActor @Sendable (Result<[E.Output], BatchError>) -> Void
    ) -> CallGroup {
        let run = CallRun(self, options: options, in: scope)
        let members = endpoints.map { BatchMember($0, self) }
        let batch = Batch(members: members, limit: limit)
        return CallGroup {
            let result = await Result { () async throws(BatchError) in
                try await batch.failFast(in: run)
                return try members.map { member throws(BatchError) in try member.output() }
            }
            await run.deliver { completion(result) }
        }
    }

    /// Starts endpoints of one type and delivers the result of each to a closure on the main actor, all at once.
    ///
    /// The closure is called once; not at all once the scope is gone.
    @discardableResult
    public func startBatchResults<E: Endpoint>(
        _ endpoints: [E], limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping @MainActor @Sendable ([Result<E.Output, APIError>]) -> Void
    ) -> CallGroup {
        let run = CallRun(self, options: options, in: scope)
        let members = endpoints.map { BatchMember($0, self) }
        let batch = Batch(members: members, limit: limit)
        return CallGroup {
            await batch.collectAll(in: run)
            await run.deliver { completion(members.map(\.result)) }
        }
    }
}

/// Why a batch failed, and which of its calls it was.
public struct BatchError: Error, Sendable {
    /// The place of the first call that failed, from 0; `nil` when the batch was cancelled as a whole.
    public let index: Int?
    /// The type name of that call's endpoint; empty when the batch was cancelled as a whole.
    public let endpoint: String
    /// What the call failed of.
    public let error: APIError

    /// The kind of ``error``.
    public var kind: APIError.Kind { error.kind }
}

extension BatchError: CustomStringConvertible {
    public var description: String {
        guard let index else { return "the batch was cancelled" }
        return "call \(index + 1) of the batch, \(endpoint): \(error)"
    }
}

/// One call of a batch, whatever its type.
private protocol AnyBatchMember: AnyObject, Sendable {
    var endpointName: String { get }
    var hasSucceeded: Bool { get }
    /// What the call failed of; `nil` where it never began.
    var error: APIError? { get }
    func perform(in run: CallRun) async -> Bool
}

/// One call of a batch, and its result once it has one.
private final class BatchMember<E: Endpoint>: AnyBatchMember {
    private let endpoint: E
    private let client: APIClient
    private let outcome = Locked<Result<E.Output, APIError>?>(nil)

    init(_ endpoint: E, _ client: APIClient) {
        self.endpoint = endpoint
        self.client = client
    }

    var endpointName: String { String(describing: E.self) }
    /// What came of the call; a cancellation where it never began.
    var result: Result<E.Output, APIError> {
        outcome.withLock { $0 } ?? .failure(client.presented(.notBegun, of: endpoint.service))
    }

    var hasSucceeded: Bool { outcome.withLock { if case .success? = $0 { true } else { false } } }

    var error: APIError? { outcome.withLock { if case .failure(let error)? = $0 { error } else { nil } } }

    func perform(in run: CallRun) async -> Bool {
        let result = await run.send(endpoint)
        outcome.withLock { $0 = result }
        return (try? result.get()) != nil
    }

    func output() throws(BatchError) -> E.Output {
        do throws(APIError) {
            return try result.get()
        } catch {
            throw BatchError(index: nil, endpoint: "", error: error)
        }
    }
}

/// The calls of a batch under way.
private struct Batch: Sendable {
    let members: [any AnyBatchMember]
    let limit: Int

    func failFast(in run: CallRun) async throws(BatchError) {
        let failed = await perform(in: run, stopsAtFailure: true)
        guard let failed, let error = members[failed].error else {
            guard members.allSatisfy(\.hasSucceeded) else { throw .cancelled(by: run.client) }
            return
        }
        guard !(run.isEnded && error.kind == .cancelled) else { throw .cancelled(by: run.client) }
        throw BatchError(index: failed, endpoint: members[failed].endpointName, error: error)
    }

    func collectAll(in run: CallRun) async {
        _ = await perform(in: run, stopsAtFailure: false)
    }

    private func perform(in run: CallRun, stopsAtFailure: Bool) async -> Int? {
        let schedule = CallSchedule(count: members.count, limit: limit, stopsAtFailure: stopsAtFailure)
        return await run.run(schedule) { await members[$0].perform(in: run) }
    }
}

extension BatchError {
    fileprivate static func cancelled(by client: APIClient) -> BatchError {
        BatchError(index: nil, endpoint: "", error: client.presented(.notBegun, of: nil))
    }
}

extension CallRun {
    /// Hands something to the app on the main actor, unless its owner has gone.
    func deliver(_ body: @MainActor @Sendable () -> Void) async {
        await MainActor.run {
            guard !isOrphaned else { return }
            body()
        }
    }
}
