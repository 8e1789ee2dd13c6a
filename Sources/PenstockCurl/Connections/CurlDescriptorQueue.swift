#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The queue of transfers that cannot connect for want of file descriptors.
    ///
    /// Idle pools, then idle connections, are closed for them first, the oldest first. Where nothing is idle they wait in order.
    /// The end of another transfer lets one of them try again, and so does a short time, since the rest of the process may have
    /// closed something. Their time to connect runs meanwhile.
    struct CurlDescriptorQueue {
        /// Nanoseconds between two tries.
        private static let pause: UInt64 = 20_000_000

        private var waiting: ArraySlice<CurlTransfer> = []
        /// Transfers that may try again now.
        private var tries = 0
        /// When one may try again though nothing ended, in nanoseconds; `.max` when none waits.
        private(set) var moment: UInt64 = .max

        var isEmpty: Bool { waiting.isEmpty }

        mutating func add(_ transfer: CurlTransfer, _ now: UInt64) {
            let later = waiting.firstIndex { $0.state.clock.began > transfer.state.clock.began }
            waiting.insert(transfer, at: later ?? waiting.endIndex)
            moment = min(moment, now + Self.pause)
        }

        /// A transfer ended, and may have freed a descriptor.
        mutating func noteEnd() {
            if !waiting.isEmpty { tries += 1 }
        }

        /// - Returns: those that may try again now.
        mutating func take(_ now: UInt64) -> [CurlTransfer] {
            if moment <= now { tries += 1 }
            guard tries > 0 else { return [] }
            var taken: [CurlTransfer] = []
            while taken.count < tries, let transfer = waiting.popFirst() {
                if transfer.isUnderWay { taken.append(transfer) }
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
        func closeIdle() -> Bool {
            pools.closeIdle(1) || pools.closeIdleConnection()
        }

        func queueForDescriptors(_ transfer: CurlTransfer, _ detour: CurlDetour) {
            detour.awaitsDescriptors = true
            state.descriptorQueue.add(transfer, now)
        }

        /// - Returns: whether a transfer that failed before libcurl had it waits for descriptors.
        func queueForDescriptors(_ transfer: CurlTransfer, after error: TransportError) -> Bool {
            guard error.kind == .requestBody || error.kind == .tls(.trustMaterial), CurlDescriptors.areShort,
                transfer.state.handle == nil
            else { return false }
            let detour = transfer.state.detour ?? CurlDetour(now)
            transfer.state.detour = detour
            transfer.state.clock.connectionStarted(now)
            _ = closeIdle()
            queueForDescriptors(transfer, detour)
            return true
        }

        /// Lets those that wait for descriptors try again.
        func retryForDescriptors() {
            guard !state.descriptorQueue.isEmpty else { return }
            for transfer in state.descriptorQueue.take(now) {
                transfer.state.detour?.awaitsDescriptors = false
                launchIfAwake(transfer)
            }
        }
    }

    extension CurlTransfer {
        /// What took too long; the want of descriptors where that kept the transfer from its connection.
        func expired(_ now: UInt64) -> TransportError.Kind? {
            lookAfterRequest(now)
            guard let kind = state.clock.expired(now) else { return nil }
            guard state.detour?.awaitsDescriptors ?? false else { return kind }
            return .unreachable(.noDescriptors)
        }
    }

    extension CurlPool {
        /// Closes the connection that has been idle for longest. libcurl does so for a new connection when there are as many
        /// as there may be, so one is asked for that nothing can come of.
        ///
        /// - Returns: whether there was one.
        func closeIdleConnection() -> Bool {
            let before = connectionCount
            let inUse = Set(handles.compactMap(\.socket)).count
            guard before > inUse, !isBroken, let easy = curl_easy_init() else { return false }
            defer { curl_easy_cleanup(easy) }
            // What is due goes first: it is not to meet the limit.
            runTimer()
            guard ccurl_set_text(easy, CURLOPT_URL, "http://nowhere.invalid/") == CURLE_OK,
                ccurl_set_text(easy, CURLOPT_PROXY, "") == CURLE_OK,
                ccurl_set_resolver_callback(easy, CurlCallbacks.resolver) == CURLE_OK,
                limitTotal(1)
            else { return false }
            if curl_multi_add_handle(multi, easy) == CURLM_OK { runTimer() }
            curl_multi_remove_handle(multi, easy)
            limitTotal(mostConnections)
            return connectionCount < before
        }
    }

    /// The file descriptors of the process.
    enum CurlDescriptors {
        /// How many the process may open (`RLIMIT_NOFILE`).
        static var limit: Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
            return Int(clamping: limit.rlim_cur)
        }

        /// Whether the process or the system has none left.
        static var areShort: Bool {
            let descriptor = eventfd(0, Int32(EFD_CLOEXEC))
            guard descriptor < 0 else {
                close(descriptor)
                return false
            }
            return isShortage(errno)
        }

        /// Whether an error of the system's says so.
        static func isShortage(_ number: Int32) -> Bool {
            number == EMFILE || number == ENFILE
        }
    }
#endif
