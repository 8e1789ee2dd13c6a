/// Makes one request of many that ask for the same kind of thing by a key, where the service has an API for several keys: what
/// is known as a data loader.
///
/// ```swift
/// let users = RequestMerger(client) { ids in GetUsers(ids: ids) } values: { answer in
///     Dictionary(answer.users.map { ($0.id, $0) }) { first, _ in first }
/// }
/// async let author = users.value(for: post.author)      // each cell of a list asks for its own,
/// async let editor = users.value(for: post.editor)      // and one request is sent
/// ```
///
/// Keys are collected for a moment and asked for once each. Every caller gets the value of its key, and may be cancelled without
/// harm to the others; when the last one has left, the request ends. What is asked for by one user is never sent as another's:
/// keys wait with those of the same identity and environment, and are refused when these have changed before they are sent.
public final class RequestMerger<Key: Hashable & Sendable, API: Endpoint, Value: Sendable>: Sendable {
    private typealias Flight = SharedTask<Result<[Key: Value], APIError>>

    private struct Waiting: Sendable {
        let flight: Flight
        let run: CallRun
        let party: CallParty
    }

    private struct State: Sendable {
        var queue: MergeQueue<CallParty, Key>
        var waiting: [Int: Waiting] = [:]
        /// Of the last request, whose mapper sees the errors that are none of a call.
        var service: ServiceID?
    }

    private let client: APIClient
    private let window: Duration
    private let options: CallOptions
    private let endpoint: @Sendable ([Key]) -> API
    private let values: @Sendable (API.Output) throws -> [Key: Value]
    private let state: Locked<State>

    /// - Parameters:
    ///   - window: how long keys are collected after the first one. 10 ms by default: a frame of a list that scrolls asks for
    ///     all its rows within it, and nobody sees it.
    ///   - limit: how many keys a request has at most; at least one. 100 by default, which fits a query of common length.
    ///   - options: what the requests want different.
    ///   - endpoint: asks for keys, of which none is there twice.
    ///   - values: takes the values by their keys out of an answer. What it throws, all callers of the request get.
    public init(
        _ client: APIClient, window: Duration = .milliseconds(10), limit: Int = 100, options: CallOptions = .init(),
        endpoint: @escaping @Sendable ([Key]) -> API, values: @escaping @Sendable (API.Output) throws -> [Key: Value]
    ) {
        self.client = client
        self.window = window
        self.options = options
        self.endpoint = endpoint
        self.values = values
        state = Locked(State(queue: MergeQueue(limit: limit)))
    }

    /// The value of a key, asked for together with the keys of others.
    ///
    /// - Throws: what the request failed of; ``APIError/Kind/validation(rule:)`` with a ``MergeError`` underneath when the answer
    ///   has nothing for the key; ``APIError/Kind/cancelled`` when the task is cancelled, on ``APIClient/cancelAll()``, and
    ///   when the user or the environment has changed before the request was sent.
    public func value(for key: Key) async throws(APIError) -> Value {
        let (place, flight) = join(key, CallParty(of: client))
        if place.isFirst { closeLater(place.batch) }
        if place.isFull { close(place.batch) }
        guard let result = await flight.value() else {
            state.withLock { $0.queue.leave(key, in: place.batch) }
            throw presented(.notBegun)
        }
        guard let value = try result.get()[key] else { throw presented(APIError(MergeError.noValue)) }
        return value
    }

    /// How many wait for requests that have not been sent.
    package var waiterCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.flight.waiterCount } } }

    private func join(_ key: Key, _ party: CallParty) -> (MergeQueue<CallParty, Key>.Place, Flight) {
        let run = CallRun(client, options: options, in: nil, for: party)
        let (place, flight, ended) = state.withLock { state -> (MergeQueue<CallParty, Key>.Place, Flight, Flight?) in
            var place = state.queue.add(key, of: party)
            var ended: Flight?
            if let known = state.waiting[place.batch], known.run.wasEnded {
                // What was ended is for those alone who had asked by then.
                _ = state.queue.close(place.batch)
                ended = state.waiting.removeValue(forKey: place.batch)?.flight
                place = state.queue.add(key, of: party)
            }
            if let known = state.waiting[place.batch], known.flight.join() { return (place, known.flight, ended) }
            // A new batch, or one that everybody has left: it goes on with those who come now.
            let new = Flight()
            _ = new.join()
            state.waiting[place.batch] = Waiting(flight: new, run: run, party: party)
            return (place, new, ended)
        }
        ended?.start { .failure(self.presented(.notBegun)) }
        return (place, flight)
    }

    private func closeLater(_ batch: Int) {
        let time = client.configuration.time
        let end = time.now() + window
        Task {
            try? await time.sleep(until: end)
            close(batch)
        }
    }

    private func close(_ batch: Int) {
        let closed = state.withLock { state -> (Waiting, [Key])? in
            guard let keys = state.queue.close(batch), let waiting = state.waiting.removeValue(forKey: batch) else {
                return nil
            }
            return (waiting, keys)
        }
        guard let (waiting, keys) = closed, !keys.isEmpty else { return }
        waiting.flight.start { await self.send(keys, waiting) }
    }

    private func send(_ keys: [Key], _ waiting: Waiting) async -> Result<[Key: Value], APIError> {
        guard waiting.party == CallParty(of: client) else { return .failure(presented(.notBegun)) }
        let request = endpoint(keys)
        state.withLock { $0.service = request.service }
        switch await waiting.run.send(request) {
        case .failure(let error): return .failure(error)
        case .success(let output):
            do {
                return .success(try values(output))
            } catch {
                return .failure(presented(.wrapping(error, stage: .validation)))
            }
        }
    }

    private func presented(_ error: APIError) -> APIError {
        client.presented(error, of: state.withLock { $0.service })
    }
}

/// What is wrong with the answer to a merged request. It is what an ``APIError`` of ``APIError/Kind/validation(rule:)`` has
/// underneath, whose rule is `merging`.
@nonexhaustive
public enum MergeError: Error, Hashable, Sendable {
    /// The answer has nothing for the key.
    case noValue
}

extension APIError {
    fileprivate init(_ error: MergeError) {
        self.init(
            .validation(rule: "merging"), stage: .validation, debugMessage: "the answer has nothing for the key",
            underlying: error)
    }
}
