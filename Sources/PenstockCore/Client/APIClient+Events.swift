import Foundation

extension APIClient {
    /// The events that an endpoint sends (server-sent events, WHATWG HTML §9.2), over as many connections as it takes.
    ///
    /// ```swift
    /// for try await price in client.events(of: Prices()).values { show(price) }
    /// for try await event in client.events(of: Prices()) { show(event.id, event.name, event.data) }
    /// ```
    ///
    /// Nothing is sent before the first event is asked for. When a connection ends, the next one is made after the delay
    /// that `reconnection` or the server says, with the `Last-Event-ID` that came last; each is a call of its own, for
    /// which parameters and headers are made anew. The sequence ends when the server answers 204, and throws what cannot be
    /// mended by trying again.
    ///
    /// What is not safe (RFC 9110 §9.2.1), such as the POST of a question whose answer comes in pieces, is not made twice: the sequence
    /// ends with the first answer that is complete, and throws what breaks it off. It connects again after a failure alone, where the
    /// server provably did not process the request, or where the endpoint or the options say that it may be sent twice
    /// (``CallOptions/idempotency``; PUT and DELETE may by themselves); ``Idempotency/key`` is one key for all of the
    /// connections, and so is an `Idempotency-Key` among the headers. What a server refused for its credential alone it has not
    /// processed. With ``EventStreamReconnection/never`` nothing connects again.
    ///
    /// From its first connection to its end it counts as one call, also while it waits for the next connection: its scope,
    /// ``cancelAll()``, ``cancel(_:)-(CallID)`` and ``signOut(_:)`` end it then as well. It belongs to the user for
    /// whom it was begun, and ends with ``APIError/Kind/cancelled`` rather than go on for another one.
    ///
    /// Time-outs: the total one ends with the head of each response; without one byte for the idle time-out (30 s unless
    /// set), also a comment, the connection counts as lost. There is no minimum throughput unless the options set one.
    ///
    /// - Parameters:
    ///   - lastEventID: where to go on from; `nil` for the beginning.
    ///   - maxEventBytes: of one event's data. 1 MiB by default. A larger event throws ``APIError/Kind/limitExceeded(_:)``
    ///     with ``ResponseLimits/Limit/eventBytes``.
    ///   - maxLineLength: in bytes, without the line end. `nil`, the default, leaves room for the largest event in one line.
    ///     A longer line throws ``APIError/Kind/limitExceeded(_:)`` with ``ResponseLimits/Limit/lineLength``.
    ///   - scope: ends the sequence when it goes.
    public func events<E: Endpoint>(
        of endpoint: E, options: CallOptions = .init(), reconnection: EventStreamReconnection = .init(),
        lastEventID: String? = nil, maxEventBytes: Int = 1 << 20, maxLineLength: Int? = nil, in scope: CallScope? = nil
    ) -> ServerSentEvents<E.Output> {
        let decode = decoding(of: endpoint, options)
        return ServerSentEvents(
            EventSource(
                lastEventID: lastEventID,
                limits: EventLimits(maxEventBytes: maxEventBytes, maxLineLength: maxLineLength),
                reconnection: reconnection, random: configuration.random,
                told: { self.presented($0, of: endpoint.service) }
            ) { [wasGiven = scope != nil, weak scope] previous in
                if wasGiven, scope == nil { return nil }
                return self.session(of: endpoint, options, in: scope, after: previous)
            }
        ) { event throws(APIError) in try decode(Data(event.data.utf8)) }
    }

    /// - Parameter previous: the session that failed before this one, whose user it has.
    /// - Returns: `nil` where the client has another user by now.
    private func session<E: Endpoint>(
        of endpoint: E, _ options: CallOptions, in scope: CallScope?, after previous: EventSession?
    ) -> EventSession? {
        let call = begin(
            endpoint,
            .init(own: options, scope: scope, isSilent: true, isEndless: true, origin: previous?.context))
        let isOwners = { @Sendable in self.configuration.identity().isWritten(as: call.context.isolation.identity) }
        guard isOwners() else {
            call.finish(nil)
            return nil
        }
        let (settings, method) = (call.context.settings, endpoint.route.method)
        let key = method.isSafe ? nil : ownKey(of: endpoint, settings)
        return EventSession(
            context: call.context, method: method,
            isDeclaredIdempotent: settings.idempotency != .byMethod || key != nil,
            expiry: expiry(of: endpoint) ?? .standard
        ) { lastEventID throws(APIError) in
            guard isOwners() else { throw APIError(.cancelled, stage: .prepare) }
            let options = self.eventOptions(options, endpoint, lastEventID, key, call.context)
            let terms = CallTerms(own: options, streams: true, origin: call.context, isAdopted: true)
            return try await self.begin(endpoint, terms).streamedResponse()
        } finish: {
            call.finish(nil)
        }
    }

    /// The key by which the server knows the request, where the headers have one.
    private func ownKey(of endpoint: some Endpoint, _ settings: CallSettings) -> String? {
        var fields = commonFields()
        if let runtime = try? runtime(for: endpoint.service) { fields.merge(runtime.service.headers.read()) }
        settings.headers.apply(to: &fields)
        return fields[IdempotencyKey.field]
    }

    /// - Parameter key: which all connections have, also where the headers would have another one each time.
    private func eventOptions(
        _ options: CallOptions, _ endpoint: some Endpoint, _ lastEventID: String?, _ key: String?,
        _ session: CallContext
    ) -> CallOptions {
        var edits: HeaderEdits = ["Accept": "text/event-stream", "Cache-Control": "no-store"]
        if let lastEventID { edits = edits.setting("Last-Event-ID", lastEventID) }
        if let key { edits = edits.setting(IdempotencyKey.field, key) }
        let settings = resolve(options, endpoint, try? runtime(for: endpoint.service)).settings
        var redirects = settings.redirects
        // It says nothing of the user, and without it the stream would begin anew each time.
        redirects.crossOriginFields.insert("Last-Event-ID")
        return options.with {
            $0.headers = $0.headers.over(edits)
            $0.redirects = redirects
            // Connecting again has rules of its own.
            $0.retry = RetryPolicy.none
            // To the server every connection is the same request once more.
            if settings.idempotency == .key, !endpoint.route.method.isSafe {
                $0.idempotency = .keyed(session.idempotencyKey(using: configuration.random))
            }
            if !settings.limits.setsMinimumThroughput { $0.limits.minimumThroughput = nil }
        }
    }
}
