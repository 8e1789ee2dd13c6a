#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Exchanges that cannot connect for want of file descriptors.
    ///
    /// What nothing uses is closed for them first: idle pools, then idle connections, the oldest first. Where nothing is
    /// idle they wait, in order: the end of another exchange lets one of them try again, and so does a short time, since the
    /// rest of the process may have closed something. Their time to connect runs meanwhile.
    struct CurlHunger {
        /// Nanoseconds between two tries.
        private static let pause: UInt64 = 20_000_000

        private var waiting: ArraySlice<CurlExchange> = []
        /// How many may try again now.
        private var tries = 0
        /// When one may try again though nothing ended, in nanoseconds; `.max` when none waits.
        private(set) var moment: UInt64 = .max

        var isEmpty: Bool { waiting.isEmpty }

        mutating func add(_ exchange: CurlExchange, _ now: UInt64) {
            let later = waiting.firstIndex { $0.clock.began > exchange.clock.began }
            waiting.insert(exchange, at: later ?? waiting.endIndex)
            moment = min(moment, now + Self.pause)
        }

        mutating func hasEnded() {
            if !waiting.isEmpty { tries += 1 }
        }

        /// - Returns: those that may try again now.
        mutating func take(_ now: UInt64) -> [CurlExchange] {
            if moment <= now { tries += 1 }
            guard tries > 0 else { return [] }
            var taken: [CurlExchange] = []
            while taken.count < tries, let exchange = waiting.popFirst() {
                if exchange.place != nil { taken.append(exchange) }
            }
            (tries, moment) = (0, waiting.isEmpty ? .max : now + Self.pause)
            if waiting.isEmpty { waiting = [] }
            return taken
        }
    }

    extension CurlLoop {
        /// Closes what nothing uses, the oldest first.
        ///
        /// - Returns: whether that has freed a descriptor.
        func giveUpIdle() -> Bool {
            pools.closeIdle(1) || pools.closeIdleConnection()
        }

        func starve(_ exchange: CurlExchange, _ detour: CurlDetour) {
            detour.isStarving = true
            hunger.add(exchange, now)
        }

        /// - Returns: whether an exchange that failed before libcurl had it waits for descriptors.
        func starves(_ exchange: CurlExchange, _ error: TransportError) -> Bool {
            guard error.kind == .requestBody || error.kind == .tls(.trustMaterial), CurlDescriptors.areShort,
                exchange.handle == nil
            else { return false }
            let detour = exchange.detour ?? CurlDetour(now)
            exchange.detour = detour
            exchange.clock.connectionStarted(now)
            _ = giveUpIdle()
            starve(exchange, detour)
            return true
        }

        /// Lets those that wait for descriptors try again.
        func feed() {
            guard !hunger.isEmpty else { return }
            for exchange in hunger.take(now) {
                exchange.detour?.isStarving = false
                launchIfAwake(exchange)
            }
        }
    }

    extension CurlExchange {
        /// What took too long; the want of descriptors where that kept the exchange from its connection.
        func expired(_ now: UInt64) -> TransportError.Kind? {
            guard let kind = clock.expired(now) else { return nil }
            guard detour?.isStarving ?? false else { return kind }
            return .unreachable(.noDescriptors)
        }
    }

    extension CurlPool {
        /// Closes the connection that has been idle for longest. libcurl does so for a new connection when there are as many
        /// as there may be, so one is asked for that nothing can come of.
        ///
        /// - Returns: whether there was one.
        func closeIdleConnection() -> Bool {
            let before = loop.poller.sockets.count(of: self)
            let inUse = Set(handles.compactMap(\.socket)).count
            guard before > inUse, !isBroken, let easy = curl_easy_init() else { return false }
            defer { curl_easy_cleanup(easy) }
            // What is due goes first: it is not to meet the limit.
            runTimer()
            guard ccurl_set_text(easy, CURLOPT_URL, "http://nowhere.invalid/") == CURLE_OK,
                ccurl_set_text(easy, CURLOPT_PROXY, "") == CURLE_OK,
                ccurl_set_resolver_callback(easy, CurlCallbacks.resolver) == CURLE_OK,
                ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1) == CURLM_OK
            else { return false }
            if curl_multi_add_handle(multi, easy) == CURLM_OK { runTimer() }
            curl_multi_remove_handle(multi, easy)
            ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(0, loop.configuration.maxConnections ?? 0))
            return loop.poller.sockets.count(of: self) < before
        }
    }
#endif
