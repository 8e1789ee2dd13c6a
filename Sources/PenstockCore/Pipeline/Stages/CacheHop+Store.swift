import Foundation

/// What a response leaves in the store: fields of a validation at once, a new body only once it has passed.
extension CacheHop {
    /// Whether the response belongs to whom the key says. While the client has no identity, a stage below may have added
    /// credentials that nobody can know of when the next request is looked up.
    func isOwned(_ answer: Exchange) -> Bool {
        (owner.isNamed || !answer.remains.hasCredential)
            && owner.isOwner(of: answer.sentRequest, asked: query.request, isSealed: query.key.partition.isSealed)
    }

    /// What a write at these URLs makes out of date.
    ///
    /// - Parameter ticket: of the write.
    /// - Returns: the ticket to store its own answer with.
    func invalidate(_ urls: [HTTPURL], by ticket: CacheAccess.Ticket) async -> CacheAccess.Ticket {
        let renewed = Locked(ticket)
        await access.change(for: call) { [access, partition = call.isolation.partition] in
            let ticket = await access.invalidate(urls, in: partition, by: ticket)
            renewed.withLock { $0 = ticket }
        }
        return renewed.withLock { $0 }
    }

    /// Notes that a validation brought new fields (RFC 9111 §4.3.4).
    func apply(_ updates: [CacheUpdate], by answer: CacheAnswer) async {
        guard isOwned(answer.exchange) else { return }
        await access.change(for: call) { [self] in
            await access.fill(answer.ticket) {
                for update in updates {
                    await apply(
                        isSelectable(update.updated, answer) ? update : CacheUpdate(invalidating: update.stored))
                }
            }
        }
    }

    private func apply(_ update: CacheUpdate) async {
        guard let place = place(of: update.stored) else { return }
        if update.updated.variant == update.stored.variant {
            await access.store.update(place.entry, to: access.tagged(update.updated))
        } else if let body = await access.store.body(of: place) {
            await access.store.put(access.tagged(update.updated), body: body)
            // What the request was answered with has moved: at its old place it would go on to answer requests that the new
            // `Vary` tells apart from this one. It answers nothing more unasked, and is there for those who read its content.
            if update.stored.variant.matches(query.request.fields, query.digests) {
                await access.store.invalidate([.entry(place.entry)])
            }
        }
    }

    /// What is to be stored of a response; `nil` when nothing is.
    @inline(__always)
    func fill(_ insertion: CacheInsertion?, _ answer: CacheAnswer) async throws(APIError) -> CacheFill? {
        let exchange = answer.exchange
        let ticket = answer.ticket
        guard let insertion, mayStore(insertion, answer) else { return nil }
        if insertion.response.isHeadAlone {
            return CacheFill(response: insertion.response, body: Data(), ticket: ticket, load: answer.load)
        }
        // Who finds it is to find what a call has accepted, and what is stored already has been.
        if call.leavesUnjudged(exchange.response) { return nil }
        guard exchange.content == nil else {
            guard insertion.response.part == nil, insertion.received != nil else { return nil }
            return CacheFill(response: insertion.response, body: nil, ticket: ticket, load: nil)
        }
        guard let body = try await body(of: insertion, exchange.response.body) else { return nil }
        return CacheFill(response: insertion.response, body: body, ticket: ticket, load: answer.load)
    }

    private func mayStore(_ insertion: CacheInsertion, _ answer: CacheAnswer) -> Bool {
        isOwned(answer.exchange) && isSelectable(insertion.response, answer)
            && (!query.key.partition.isSealed || access.store.holdsSealedReplies)
    }

    /// Whether requests that it answers can be told from others. A field that a stage below has set, a cookie for example,
    /// is not known when the next request is looked up.
    private func isSelectable(_ response: CachedResponse, _ answer: CacheAnswer) -> Bool {
        response.variant.selectors.allSatisfy { selector in
            let name = HTTPFieldName(selector.name)
            let (sent, asked) = (answer.exchange.sentRequest.fields, answer.sent.value.request.fields)
            return sent.combined(name).map(ExactText.init) == asked.combined(name).map(ExactText.init)
        }
    }

    @inline(__always)
    private func body(of insertion: CacheInsertion, _ received: Data) async throws(APIError) -> Data? {
        if insertion.received == 0..<received.count { return received }
        var body = Data()
        for piece in insertion.pieces {
            switch piece {
            case .received(let range): body.append(received.bytes(range))
            case .stored(let range):
                guard let place = place(of: insertion.response), let old = try await access.body(of: place, call) else {
                    return nil
                }
                body.append(old.bytes(range))
            }
        }
        return body.count == insertion.response.bodyLength ? body : nil
    }
}

extension CacheInsertion {
    /// The bytes of the response, where the body is made of nothing else.
    fileprivate var received: Range<Int>? {
        guard pieces.count == 1, case .received(let range) = pieces.first else { return nil }
        return range
    }
}
