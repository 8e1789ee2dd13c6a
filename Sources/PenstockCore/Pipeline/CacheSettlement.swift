import Foundation

/// A response that waits to be stored until its call has judged it.
struct CacheFill: Sendable {
    let response: CachedResponse
    /// `nil` where the content is still on its way.
    let body: Data?
    let ticket: CacheAccess.Ticket
    /// Where several calls got the same response, of which one stores it.
    let load: CacheLoad?
}

/// A stored response that has answered a call.
struct CacheFind: Sendable {
    let response: CachedResponse
    let ticket: CacheAccess.Ticket
}

/// What the cache does once a call has judged what it answered or let through.
final class CacheSettlement: Settlement {
    private let access: CacheAccess
    private let partition: CachePartition
    /// The stored response that became the answer, by which it is dropped when it turns out to be of no use.
    private let entry: CacheEntryID?
    /// What the answer was made of, where it was stored.
    private let find: CacheFind?
    private let fill: CacheFill?
    /// The content that is stored while it is read.
    private let tee: TeedContent?
    /// The key of an answer that is to be refreshed behind the caller's back (RFC 5861 §3).
    private let stale: CacheKey?
    /// Whether the server has done what a request asked that is no read, whatever becomes of its answer (RFC 9111 §4.4).
    private let hasWritten: Bool

    init(
        _ access: CacheAccess, _ partition: CachePartition, entry: CacheEntryID? = nil, find: CacheFind? = nil,
        fill: CacheFill? = nil, tee: TeedContent? = nil, stale: CacheKey? = nil, hasWritten: Bool = false
    ) {
        self.access = access
        self.partition = partition
        self.entry = entry
        self.find = find
        self.hasWritten = hasWritten
        self.fill = fill
        self.tee = tee
        self.stale = stale
    }

    /// Where the store never waits, and nothing but this one response is stored.
    func acceptedAtOnce(by call: any JudgingCall, of request: HTTPRequest) -> Bool {
        guard tee == nil, call.invalidates.isEmpty, !(find?.response.lacks(call.cacheTags) ?? false) else {
            return false
        }
        if let fill, !access.keptAtOnce(fill, tags: call.cacheTags) { return false }
        refresh(request, by: call)
        return true
    }

    /// Stores what came, drops what the endpoint has made out of date, and begins the refresh.
    func accepted(by call: any JudgingCall, of request: HTTPRequest) async {
        if let fill { await store(fill, by: call) }
        if let find { await tag(find, by: call) }
        await invalidate(for: call)
        refresh(request, by: call)
    }

    private func tag(_ find: CacheFind, by call: any JudgingCall) async {
        let tags = call.cacheTags
        guard find.response.lacks(tags) else { return }
        await access.store(0, for: call.context) { [access] in await access.tag(find, tags) }
    }

    private func invalidate(for call: any JudgingCall) async {
        let invalidates = call.invalidates
        guard !invalidates.isEmpty else { return }
        let own = invalidates.map { $0.of(partition) }
        await access.change(for: call.context) { [access] in
            _ = await access.change(nil) { await access.store.invalidate(own) }
        }
    }

    private func refresh(_ request: HTTPRequest, by call: any JudgingCall) {
        guard let stale, access.beginRefresh(of: stale) else { return }
        call.repeatInBackground(request) { [access] in access.endRefresh(of: stale) }
    }

    /// Drops a stored response that turned out to be of no use, and asks anew. What a write has made out of date is so although
    /// its answer cannot be read, unless the server says by a business code that it has not done it.
    func rejected(_ error: APIError, by call: any JudgingCall) async -> Replay? {
        if hasWritten, !error.isBusiness { await invalidate(for: call) }
        guard let entry else { return nil }
        await access.change(for: call.context) { [access] in _ = await access.store.remove([.entry(entry)]) }
        return Replay(reason: .cache)
    }

    private func store(_ fill: CacheFill, by call: any JudgingCall) async {
        let tags = call.cacheTags
        guard let tee else {
            return await access.store(fill.body?.count ?? 0, for: call.context) { [access] in
                await access.keep(fill, tags: tags)
            }
        }
        let response = access.tagged(fill.response, tags)
        await access.change(for: call.context) { [access, response] in
            if let writer = await access.store.writer(for: response) { tee.begin(writer) }
        }
    }
}

extension APIError {
    fileprivate var isBusiness: Bool {
        if case .business = kind { true } else { false }
    }
}
