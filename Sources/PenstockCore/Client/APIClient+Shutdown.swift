extension APIClient {
    /// Has the client make no more calls, and waits for those that are under way: for a daemon that was told to end.
    ///
    /// ```swift
    /// let isWhole = await client.shutdown(draining: .seconds(10))
    /// exit(isWhole ? 0 : 1)
    /// ```
    ///
    /// From now on each call that begins fails at once as ``APIError/Kind/blocked(reason:)``, whose reason is that the client was
    /// shut down, and nothing is sent of it; an outbox keeps what is written. The calls under way go on to their end, with all that
    /// they take: they are sent again, follow redirects, and renew their credential. A call that the app's code makes for one of them is
    /// a call of its own, and fails. What is left when the time is up is ended as by
    /// ``cancelAll()``, and so are requests to renew a credential: they fail as ``APIError/Kind/cancelled``. A stream and a channel
    /// are under way as long as they are open, so that whoever has some closes them first.
    ///
    /// It reaches this client and those that were derived from it (``with(_:)``), as all does that is done to a client. After their
    /// calls the transport is shut down, with all of its connections, also where other clients were made with the same one. A
    /// derived client uses the transport of the one that it was derived from, and leaves it as it is: the others go on. So do requests
    /// to renew a credential that it shares with them, whichever call they were made for.
    ///
    /// Nothing is lost by an `exit` that follows a `true`. A client's end waits, as for calls, for its credentials: until a renewal has ended whose
    /// calls have given up, and until the vault has what the server or the user has changed; a derived client's too, where a call
    /// or a login of its own was concerned. It then waits until the cookie stores have written (``CookieStore/settle()``), for a
    /// second at least, whatever is left of the time, and also where the task is cancelled. An ``Outbox`` and an ``EventLog`` are
    /// the app's own, which are closed by themselves.
    ///
    /// Nothing makes a client go on that was shut down. To do it twice does no harm.
    ///
    /// - Parameter limit: how long calls are waited for. Those under way are ended at once by zero, and as soon as the task is
    ///   cancelled.
    /// - Returns: whether all calls and renewals came to their end by themselves, be it a success or a failure, and the cookies are
    ///   where they are kept.
    @discardableResult
    public func shutdown(draining limit: Duration) async -> Bool {
        let end = configuration.time.now() + limit
        state.lineage.shutDown()
        let isDrained = await state.calls.drained(of: state.lineage, within: limit, by: configuration.time)
        // Before they end: a renewal that ends without an answer would be begun once more.
        state.lineage.noteEnd()
        state.calls.end(of: state.lineage) { _ in true }
        let areCookiesKept = await keepsCookies(until: end)
        if state.lineage.isRoot { await transport.shutdown() }
        return isDrained && areCookiesKept
    }

    /// Waits for the cookie stores, which write by themselves. A root waits for those of the clients derived from it too.
    private func keepsCookies(until end: Duration) async -> Bool {
        let stores = state.lineage.isRoot ? state.holdings.cookieStores : [configuration.cookies].compactMap(\.self)
        guard !stores.isEmpty else { return true }
        let (promise, time) = (Promise<Bool>(), configuration.time)
        let least = time.now() + .seconds(1)
        let alarms = Locked<[Task<Void, any Error>]>([])
        let ring: @Sendable (Duration) -> Void = { moment in
            let alarm = Task {
                try await time.sleep(until: moment)
                promise.abandon()
            }
            alarms.withLock { $0.append(alarm) }
        }
        Task {
            var areKept = true
            for store in stores where await !store.settle() { areKept = false }
            promise.keep(areKept)
        }
        ring(max(end, least))
        defer { for alarm in alarms.withLock({ $0 }) { alarm.cancel() } }
        return await withTaskCancellationHandler {
            await promise.value() ?? false
        } onCancel: {
            // What is written already, or is about to be, is not given up for a task that was cancelled.
            ring(least)
        }
    }
}
