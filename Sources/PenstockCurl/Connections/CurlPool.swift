#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The connections of one isolation key: a multi handle and the easy handles that go with it.
    final class CurlPool {
        struct Key: Hashable {
            let isolation: IsolationKey
            /// Whether many transfers may go over one connection at a time.
            let isShared: Bool
            /// 0 for a pool that new transfers may use, a number of its own for any other.
            var retirement = 0
        }

        /// Handles that are kept for the next transfers.
        private static let maxSpareHandles = 256

        @exclusivity(unchecked) var key: Key
        let multi: UnsafeMutableRawPointer
        /// The loop outlives its pools.
        unowned(unsafe) let loop: CurlLoop
        /// When libcurl wants to be called, in nanoseconds; `nil` when it does not.
        @exclusivity(unchecked) private(set) var timerMoment: UInt64?
        /// Those in use.
        @exclusivity(unchecked) private(set) var handles: [CurlHandle] = []
        @exclusivity(unchecked) var lastUse: UInt64
        var active: Int { handles.count }
        @exclusivity(unchecked) var probes = CurlStallProbes()
        @exclusivity(unchecked) var admission: CurlAdmission
        /// Whether it is among those with work.
        @exclusivity(unchecked) var isListed = false
        @exclusivity(unchecked) private(set) var isClosed = false
        @exclusivity(unchecked) private var idleLimit = CurlIdleLimit()
        @exclusivity(unchecked) private var bufferSize = CurlReceiveBufferSize()
        let headerLines = CurlHeaderLineCache()
        /// The interfaces of link-local addresses, which libcurl is not told with them.
        @exclusivity(unchecked) var zones: [String: UInt32] = [:]
        @exclusivity(unchecked) private var spare: [CurlHandle] = []
        /// Those that came to harm outside of libcurl's own course.
        @exclusivity(unchecked) var broken: [(CurlHandle, CURLcode)] = []
        /// Whether libcurl has failed in the middle of its work. It may have passed over transfers that were due and will
        /// not say so again, and where it had no memory its books are wrong: 7.88 ends the process when it goes on.
        @exclusivity(unchecked) private(set) var isBroken = false
        let trust: CurlTrust
        let proxy: CurlProxy

        init?(_ key: Key, _ trust: CurlTrust, loop: CurlLoop) {
            guard let proxy = CurlProxy(key.isolation.proxy), let multi = curl_multi_init() else { return nil }
            self.key = key
            self.multi = multi
            self.loop = loop
            lastUse = loop.now
            self.trust = trust
            self.proxy = proxy
            admission = CurlAdmission(most: loop.mostConnectionsPerHost, isShared: key.isShared)
            guard setOptions() else {
                curl_multi_cleanup(multi)
                return nil
            }
        }

        /// Whether nothing would come of looking at it.
        var isAtRest: Bool {
            isClosed || active == 0 && admission.present == 0 && broken.isEmpty && !isBroken && timerMoment == nil
        }

        /// Whether a transfer may go over its connections.
        func serves(_ request: TransportRequest) -> Bool {
            key.retirement == 0 && key.isolation == request.isolation
        }

        /// - Returns: whether libcurl took them all.
        private func setOptions() -> Bool {
            let context = Unmanaged.passUnretained(self).toOpaque()
            var codes = [
                ccurl_multi_set_socket_callback(multi, CurlCallbacks.socket),
                ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context),
                ccurl_multi_set_timer_callback(multi, CurlCallbacks.timer),
                ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context),
                ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
            ]
            if let limit = loop.configuration.maxConnections {
                codes.append(ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(1, limit)))
            }
            return codes.allSatisfy { $0 == CURLM_OK }
        }

        /// Closes every connection. The handles must all have come back.
        func close() {
            isClosed = true
            spare = []
            curl_multi_cleanup(multi)
        }

        // MARK: Handles

        /// A server leaves: what it has been sent in later streams of the handle's connection it does not process. Where the
        /// connection is not known, or the handle's request has not been given to it yet, nothing follows for anybody.
        func leavesOut(after last: Int, _ teller: CurlHandle) {
            guard let connection = teller.carriage.connection else { return }
            for handle in handles where handle.carriage.isLeftOut(after: last, of: connection) {
                handle.transfer?.state.isLeftOut = true
            }
        }

        /// How much a transfer that collects its response is to read at a time.
        var buffer: Int { bufferSize.buffer }

        func take() -> CurlHandle? {
            spare.popLast() ?? CurlHandle(loop: loop, pool: self)
        }

        /// - Returns: `false` when libcurl does not perform it; it must be removed all the same.
        func add(_ handle: CurlHandle) -> Bool {
            handle.index = handles.count
            handles.append(handle)
            limitConnections()
            if handle.isSound, curl_multi_add_handle(multi, handle.easy) == CURLM_OK { return true }
            handle.distrust()
            return false
        }

        func remove(_ handle: CurlHandle) {
            handle.letGo()
            dropContent(of: handle)
            // A handle that libcurl does not let go of is given up, which takes it away as well.
            let isFree = curl_multi_remove_handle(multi, handle.easy) == CURLM_OK
            takeOut(handle)
            lastUse = loop.now
            let isMultiplexed = handle.transfer?.state.head.version == .http2
            probes.transferEnded(isMultiplexed: isMultiplexed, left: active, loop.now)
            let hasRunSmoothly = handle.isOver && (handle.transfer?.state.attempts ?? 0) <= 1
            let isSpent = handle.isSpent || handle.isLarge || !hasRunSmoothly
            handle.noteUse(isMultiplexed: isMultiplexed)
            if let size = handle.responseSize { bufferSize.note(size) }
            handle.clear()
            if isFree, handle.isSound, !isSpent, spare.count < Self.maxSpareHandles { spare.append(handle) }
        }

        /// The last one takes its place.
        private func takeOut(_ handle: CurlHandle) {
            guard let last = handles.popLast(), last !== handle, handle.index < handles.count else { return }
            last.index = handle.index
            handles[handle.index] = last
        }

        /// libcurl counts the connections in use as well, and closes an idle one whenever there are more than the limit.
        private func limitConnections() {
            let limit = idleLimit.limit(active: active, most: loop.configuration.maxIdleConnections, loop.now)
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit)
        }

        // MARK: Driving

        /// libcurl says what it wants of a socket.
        func watch(_ descriptor: Int32, _ what: Int32) {
            loop.poller.want(descriptor, what, for: self)
        }

        /// Whether answers came before their requests were sent, so that what libcurl wants of their sockets is of interest.
        var hasEarlyAnswers: Bool { loop.hasEarlyAnswers }

        /// When the pool wants to be looked at, in nanoseconds; `.max` when it does not.
        var nextMoment: UInt64 {
            isBroken ? 0 : min(timerMoment ?? .max, probes.moment ?? .max, admission.moment ?? .max)
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
            guard !isBroken, !isClosed else { return }
            var running: Int32 = 0
            if curl_multi_socket_action(multi, descriptor, events, &running) != CURLM_OK { isBroken = true }
        }

        /// Tells libcurl what of a transfer is to rest, and that the rest of it goes on.
        ///
        /// - Returns: the code that ends the transfer by that, if one does.
        func pause(_ handle: CurlHandle, _ bits: Int32) -> CURLcode? {
            guard !isBroken else { return nil }
            let before = handle.kept
            handle.kept = bits & CURLPAUSE_RECV == 0 ? .nothing : max(before, .maybe)
            let code = tell(handle, bits)
            if code != CURLE_OK { handle.kept = before }
            return CurlErrors.endsTransfer(pausing: code) ? code : nil
        }

        private func tell(_ handle: CurlHandle, _ bits: Int32) -> CURLcode {
            let code = curl_easy_pause(handle.easy, bits)
            // No callback of ours says so: it had no memory to note who uses a socket.
            if code == CURLE_ABORTED_BY_CALLBACK { isBroken = true }
            return code
        }

        /// Has libcurl offer once more what it keeps of a paused transfer, and refuses it, so that the handle's next transfer does
        /// not get it (``CurlFault/keptContent``).
        private func dropContent(of handle: CurlHandle) {
            // It goes further where there is nothing to offer.
            guard CurlFault.keptContent.isPresent, handle.kept > (isBroken ? .maybe : .nothing) else { return }
            handle.refusesContent = true
            defer { handle.refusesContent = false }
            let code = tell(handle, CURLPAUSE_CONT)
            if code != CURLE_OK, code != CURLE_WRITE_ERROR { handle.isSpent = true }
            handle.kept = .nothing
        }

        /// Calls `body` for each transfer that is over.
        func collect(_ body: (CurlHandle, CURLcode) -> Void) {
            while let (handle, code) = broken.popLast() { body(handle, code) }
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
                let known = CurlCallbacks.handle(ccurl_private(easy)) ?? handles.first { $0.easy == easy }
                if let handle = known { body(handle, message.data.result) }
            }
        }
    }
#endif
