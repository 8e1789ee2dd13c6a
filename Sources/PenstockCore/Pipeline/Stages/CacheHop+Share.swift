import Foundation

/// What is asked, as far as it decides on the answer: calls that differ in it do not share an exchange.
struct CachePurpose: Hashable, Sendable {
    let key: CacheKey
    private let isolation: IsolationKey
    private let lane: ObjectIdentifier
    private let fields: [ExactText?]

    private static let deciding: [HTTPFieldName] = [
        .authorization, .cookie, .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince,
        .cacheControl, .pragma, .acceptEncoding,
    ]

    init(_ key: CacheKey, _ fields: HTTPFields, _ lane: CacheLane, _ isolation: IsolationKey) {
        self.key = key
        self.isolation = isolation
        self.lane = ObjectIdentifier(lane)
        self.fields = Self.deciding.map { fields.combined($0).map(ExactText.init) }
    }
}

/// What the cache knows of an exchange that calls share: of the call that started it, and of what was done about it.
final class CacheLoad: Sendable {
    let settings: CallSettings
    let ticket: CacheAccess.Ticket
    /// When its request was made.
    let time: Date
    private let state = Locked(State())
    /// The lane for storing: of the calls that got the same response, one stores it at a time.
    private let storing = ChangeLane()

    private struct State: Sendable {
        var hasUpdated = false
        /// What the response was stored with; `nil` before it was stored.
        var tags: Set<String>?
    }

    init(_ call: CallContext, _ ticket: CacheAccess.Ticket) {
        self.ticket = ticket
        settings = call.settings
        time = call.time.date()
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
}

/// What the calls of one pipeline have in common. Calls of two pipelines do not share an exchange, since the stages below
/// the cache may treat them differently.
final class CacheLane: Sendable {}

/// Lets calls that ask for the same wait for one exchange.
extension CacheHop {
    /// Whether other calls may wait for the answer: to validations, and to what is loaded because nothing fresh was stored. A policy that
    /// always asks the server wants an answer of its own, and what breaks HTTP's grammar gets none.
    @inline(never)
    func isShareable(_ sent: Boxed<CacheExchange>) -> Bool {
        guard query.request.method == .get, query.request.body.isNone, !call.streams, !call.control.isSuspended,
            query.policy.mode != .reload, sent.value.request.fields.rejected.isEmpty
        else { return false }
        switch sent.value.purpose {
        case .load: return query.policy.mode == .http && query.bypass == nil
        case .validate: return true
        case .complete: return false
        }
    }

    /// - Returns: `nil` when the call must send a request of its own.
    @inline(never)
    func shared(_ sent: Boxed<CacheExchange>) async throws(APIError) -> Exchange? {
        for _ in 0..<SharedLeaders.most {
            let (load, leads) = share(sent)
            switch await load.outcome(for: call, leads: leads, in: access.exchanges) {
            case nil:
                try call.checkGoesOn(at: .cache)
                throw APIError(.cancelled, stage: .cache)
            case .success(let exchange):
                await unlockDigests(for: exchange.response.fields)
                let answer = CacheAnswer(exchange, to: sent, at: load.note.time, ticket, in: load.note, leads: leads)
                return leads || fits(answer, load.request) ? try await receive(answer) : nil
            case .failure(let error):
                if leads || error.isOfTheExchange { return try await failed(error, sent) }
            }
        }
        return nil
    }

    /// The exchange to wait for, and whether it is the call's own.
    private func share(
        _ sent: Boxed<CacheExchange>
    ) -> (load: SharedExchange<CachePurpose, CacheLoad>, leads: Bool) {
        let purpose = CachePurpose(query.key, sent.value.request.fields, lane, call.isolation)
        let (load, leads) = access.exchanges.exchange(for: purpose, where: { isUsable($0.note) }) {
            SharedExchange(purpose, sent.value.request, for: call, CacheLoad(call, ticket))
        }
        if leads {
            load.start(next, in: access.exchanges)
        } else {
            load.raise(for: call)
            tellOfJoining(sent)
        }
        return (load, leads)
    }

    private func tellOfJoining(_ sent: Boxed<CacheExchange>) {
        var status = CacheStatus(sent.value)
        status.isCollapsed = true
        call.emit(.cacheDecided(sent.value.reason, status))
    }

    /// What was asked before a change must not answer what is asked after it.
    private func isUsable(_ load: CacheLoad) -> Bool {
        access.isValid(load.ticket) && call.settings.mayShareExchange(with: load.settings)
    }

    /// A response to another call is of use when it may be stored, and would be found for this one (RFC 9111 §4). A 304 often leaves
    /// out `Vary`, and may speak of anything that was asked about: both calls have to agree in what that varies by.
    private func fits(_ answer: CacheAnswer, _ request: HTTPRequest) -> Bool {
        guard isOwned(answer.exchange) else { return false }
        let arrival = arrival(of: answer)
        guard arrival.status == 304 || query.storageRefusal(of: arrival) == nil else { return false }
        let sent = answer.sent.value
        let meant = arrival.status == 304 ? sent.candidates.map(\.fields) : []
        return ([arrival.fields] + meant).allSatisfy { fields in
            CacheVariant(response: fields, request: request.fields, query.digests)
                .matches(sent.request.fields, query.digests)
        }
    }
}
