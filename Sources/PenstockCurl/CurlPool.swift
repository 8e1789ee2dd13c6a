#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The connections of one partition under one trust policy and one proxy policy: a multi handle and the easy handles that go with it.
    final class CurlPool {
        struct Key: Hashable {
            let partition: ConnectionPartition
            let trust: TrustPolicy
            let proxy: ProxyPolicy
            /// Whether many exchanges may go over one connection at a time.
            let isShared: Bool
        }

        /// Handles that are kept for the next exchanges.
        private static let maxSpareHandles = 256

        let key: Key
        let multi: UnsafeMutableRawPointer
        /// The loop outlives its pools.
        unowned(unsafe) let loop: CurlLoop
        /// When libcurl wants to be called, in nanoseconds; `nil` when it does not.
        @exclusivity(unchecked) private(set) var timerMoment: UInt64?
        /// Those in use.
        @exclusivity(unchecked) private(set) var handles: [CurlHandle] = []
        @exclusivity(unchecked) private(set) var lastUse: UInt64
        var active: Int { handles.count }
        @exclusivity(unchecked) var nudges = CurlNudges()
        @exclusivity(unchecked) var gate = CurlGate()
        @exclusivity(unchecked) private var idleLimit = CurlIdleLimit()
        @exclusivity(unchecked) private var spare: [CurlHandle] = []
        let authorities: String?
        let proxy: CurlProxy

        init?(_ key: Key, loop: CurlLoop) {
            guard let multi = curl_multi_init() else { return nil }
            self.key = key
            self.multi = multi
            self.loop = loop
            lastUse = loop.now
            proxy = CurlProxy(key.proxy)
            if case .file(let url) = key.trust.anchors { authorities = url.path } else { authorities = nil }
            setOptions()
        }

        private func setOptions() {
            let context = Unmanaged.passUnretained(self).toOpaque()
            ccurl_multi_set_socket_callback(multi, CurlCallbacks.socket)
            ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
            ccurl_multi_set_timer_callback(multi, CurlCallbacks.timer)
            ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
            ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
            if let limit = loop.configuration.maxConnectionsPerHost {
                ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, limit))
            }
            if let limit = loop.configuration.maxConnections {
                ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(1, limit))
            }
        }

        /// Closes every connection. The handles must all have come back.
        func close() {
            spare = []
            curl_multi_cleanup(multi)
        }

        // MARK: Handles

        func take() -> CurlHandle? {
            spare.popLast() ?? CurlHandle(loop: loop, pool: self)
        }

        func add(_ handle: CurlHandle) -> Bool {
            handle.place = handles.count
            handles.append(handle)
            limitConnections()
            return curl_multi_add_handle(multi, handle.easy) == CURLM_OK
        }

        func remove(_ handle: CurlHandle) {
            handle.letGo()
            curl_multi_remove_handle(multi, handle.easy)
            takeOut(handle)
            lastUse = loop.now
            let isMultiplexed = handle.exchange?.head.version == .http2
            nudges.exchangeEnded(isMultiplexed: isMultiplexed, left: active, loop.now)
            handle.noteUse(isMultiplexed: isMultiplexed)
            handle.clear()
            if spare.count < Self.maxSpareHandles { spare.append(handle) }
        }

        /// The last one takes its place.
        private func takeOut(_ handle: CurlHandle) {
            guard let last = handles.popLast(), last !== handle, handle.place < handles.count else { return }
            last.place = handle.place
            handles[handle.place] = last
        }

        /// libcurl counts the connections in use as well, and closes an idle one whenever there are more than the limit.
        private func limitConnections() {
            let limit = idleLimit.limit(active: active, most: loop.configuration.maxIdleConnections, loop.now)
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit)
        }

        // MARK: Driving

        /// When the pool wants to be looked at, in nanoseconds; `.max` when it does not.
        var nextMoment: UInt64 {
            min(timerMoment ?? .max, nudges.moment ?? .max, gate.moment ?? .max)
        }

        func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: timerMoment = nil
            // Of this round still.
            case 0: timerMoment = loop.now
            default: timerMoment = CurlClock.now() &+ UInt64(milliseconds) &* 1_000_000
            }
        }

        func runTimer() {
            timerMoment = nil
            act(CURL_SOCKET_TIMEOUT, 0)
        }

        func act(_ descriptor: Int32, _ events: Int32) {
            var running: Int32 = 0
            curl_multi_socket_action(multi, descriptor, events, &running)
        }

        /// Calls `body` for each transfer that is over.
        func collect(_ body: (CurlHandle, CURLcode) -> Void) {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let easy = message.easy_handle,
                    let handle = CurlCallbacks.handle(ccurl_private(easy))
                else { continue }
                body(handle, message.data.result)
            }
        }
    }
#endif
