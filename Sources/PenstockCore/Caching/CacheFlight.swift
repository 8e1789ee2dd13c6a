import Foundation

/// One exchange that any number of calls wait for. It has a task of its own, so that it goes on when the call that
/// started it is cancelled; when nobody waits any more it ends.
final class CacheFlight: Sendable {
    /// What is asked, as far as it decides on the answer: calls that differ in it do not share one.
    struct Purpose: Hashable, Sendable {
        let key: CacheKey
        private let lane: ObjectIdentifier
        private let fields: [String?]

        private static let deciding: [HTTPFieldName] = [
            .authorization, .cookie, .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince,
            .cacheControl, .pragma, .acceptEncoding,
        ]

        init(_ key: CacheKey, _ fields: HTTPFields, _ lane: CacheLane) {
            self.key = key
            self.lane = ObjectIdentifier(lane)
            self.fields = Self.deciding.map(fields.combined)
        }
    }

    typealias Outcome = Result<Exchange, any Error>

    private struct State: Sendable {
        /// Those who wait, and those who are about to.
        var count = 1
        var waiters: [ObjectIdentifier: CheckedContinuation<Outcome?, Never>] = [:]
        var outcome: Outcome?
        var isAbandoned = false
        var hasUpdated = false
        /// What its response was stored with; `nil` before it was stored.
        var tags: Set<String>?
    }

    let purpose: Purpose
    /// Of the call that started it.
    let settings: CallSettings
    let ticket: CacheChanges.Ticket
    /// When its request was made.
    let time: Date
    /// The request it sends.
    let request: HTTPRequest
    private let context: CallContext
    private let events: RelayedEvents
    private let state = Locked(State())
    /// Of those who got the same response, one stores it at a time.
    private let storing = ChangeLane()

    init(_ purpose: Purpose, _ request: HTTPRequest, _ call: CallContext, _ ticket: CacheChanges.Ticket) {
        self.purpose = purpose
        self.request = request
        self.ticket = ticket
        settings = call.settings
        time = call.time.date()
        events = RelayedEvents(to: call)
        context = call.detached(events)
    }

    /// Enters one more that will wait; `false` when it is too late.
    func isJoined() -> Bool {
        let isJoined = state.withLock { state in
            guard !state.isAbandoned, state.outcome == nil else { return false }
            state.count += 1
            return true
        }
        if isJoined { context.control.resume() }
        return isJoined
    }

    /// Whether the caller is the first to note what came of a validation.
    func claimsUpdate() -> Bool {
        state.withLock { state in
            defer { state.hasUpdated = true }
            return !state.hasUpdated
        }
    }

    /// Stores what came, once for all who got it, and once more for one whose tags it does not have yet.
    ///
    /// - Parameter put: is given the tags of all so far.
    func store(_ tags: [String], _ put: ([String]) async -> Void) async {
        await storing.run {
            let all = state.withLock { state -> Set<String>? in
                if let known = state.tags, known.isSuperset(of: tags) { return nil }
                state.tags = (state.tags ?? []).union(tags)
                return state.tags
            }
            if let all { await put(all.sorted()) }
        }
    }

    func start(_ next: Next, in flights: CacheFlights) {
        let task = Task {
            let outcome: Outcome
            do {
                outcome = .success(try await next.on(context)(request))
            } catch {
                outcome = .failure(error)
            }
            flights.end(self)
            land(outcome)
        }
        context.runs(in: task)
    }

    /// Waits for the end of the flight.
    ///
    /// - Returns: `nil` when the call was cancelled first.
    func outcome(for call: CallContext, leads: Bool) async -> Outcome? {
        let seat = Seat(self, leads: leads)
        let outcome = call.control.attach(seat) ? await wait(seat) : nil
        call.control.detach()
        leave(call, leads: leads)
        return outcome
    }

    private func wait(_ seat: Seat) async -> Outcome? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome?? in
                    if let outcome = state.outcome { return .some(outcome) }
                    if seat.isLeft { return .some(nil) }
                    state.waiters[ObjectIdentifier(seat)] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            seat.cancel()
        }
    }

    private func leave(_ call: CallContext, leads: Bool) {
        if leads { events.leave(attempts: context.attempts) }
        let isAbandoned = state.withLock { state in
            state.count -= 1
            guard state.count == 0, state.outcome == nil else { return false }
            state.isAbandoned = true
            return true
        }
        if isAbandoned { context.cancel(.requested) }
    }

    /// Only while nobody else waits.
    private func suspend() {
        if state.withLock({ $0.count == 1 }) { context.control.suspend() }
    }

    private func resume() {
        context.control.resume()
    }

    private func land(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
        context.hasEnded()
    }

    private func cancel(_ seat: Seat) {
        state.withLock { $0.waiters.removeValue(forKey: ObjectIdentifier(seat)) }?.resume(returning: nil)
    }

    /// One call that waits, as its control sees it.
    private final class Seat: ControlledExchange {
        private let flight: CacheFlight
        private let leads: Bool
        private let left = Locked(false)

        init(_ flight: CacheFlight, leads: Bool) {
            self.flight = flight
            self.leads = leads
        }

        var isLeft: Bool { left.withLock { $0 } }

        func cancel() {
            left.withLock { $0 = true }
            flight.cancel(self)
        }

        func suspend() {
            if leads { flight.suspend() }
        }

        func resume() {
            if leads { flight.resume() }
        }
    }
}

/// What the calls of one pipeline have in common. Calls of two pipelines do not share an exchange, since the stages below
/// the cache may treat them differently.
final class CacheLane: Sendable {}
