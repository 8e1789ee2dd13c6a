#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The connections of one partition under one trust policy: a multi handle and the easy handles that go with it.
    final class CurlPool {
        struct Key: Hashable {
            let partition: ConnectionPartition
            let trust: TrustPolicy
        }

        /// Handles that are kept for the next exchanges.
        private static let maxSpareHandles = 256

        let key: Key
        let multi: UnsafeMutableRawPointer
        /// The loop outlives its pools.
        unowned(unsafe) let loop: CurlLoop
        /// When libcurl wants to be called, in nanoseconds; `nil` when it does not.
        private(set) var timerMoment: UInt64?
        private(set) var active = 0
        private(set) var lastUse: UInt64
        private var spare: [CurlHandle] = []
        private let authorities: String?

        init?(_ key: Key, loop: CurlLoop) {
            guard let multi = curl_multi_init() else { return nil }
            self.key = key
            self.multi = multi
            self.loop = loop
            lastUse = loop.now
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
        }

        /// Closes every connection. The handles must all have come back.
        func close() {
            spare = []
            curl_multi_cleanup(multi)
        }

        // MARK: Handles

        func take() -> CurlHandle? {
            spare.popLast() ?? CurlHandle(loop: loop, authorities: authorities)
        }

        func add(_ handle: CurlHandle) -> Bool {
            active += 1
            limitConnections()
            return curl_multi_add_handle(multi, handle.easy) == CURLM_OK
        }

        func remove(_ handle: CurlHandle) {
            curl_multi_remove_handle(multi, handle.easy)
            active -= 1
            lastUse = loop.now
            handle.clear()
            if spare.count < Self.maxSpareHandles { spare.append(handle) }
        }

        /// libcurl counts the connections in use as well, and closes an idle one whenever there are more than the limit.
        private func limitConnections() {
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, active + max(0, loop.configuration.maxIdleConnections))
        }

        // MARK: Driving

        func setTimer(_ milliseconds: Int) {
            timerMoment = milliseconds < 0 ? nil : CurlClock.now() &+ UInt64(milliseconds) &* 1_000_000
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
