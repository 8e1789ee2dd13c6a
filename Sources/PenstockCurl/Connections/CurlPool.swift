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

        let isolation: IsolationKey
        /// Whether many transfers may go over one of its connections at a time.
        let isShared: Bool
        let multi: UnsafeMutableRawPointer
        let headerLines = CurlHeaderLineCache()
        let trust: CurlTrust
        let proxy: CurlProxy
        /// The loop outlives its pools.
        private unowned(unsafe) let loop: CurlLoop

        /// What changes. Whoever drives the loop is alone in touching it, so the checks of exclusive access are left out. No
        /// function of libcurl's is called while a part of it is being changed: its callbacks come back here.
        @exclusivity(unchecked) private var state: State

        private struct State {
            var retirement: Int
            /// When libcurl wants to be called, in nanoseconds; `nil` when it does not.
            var timerMoment: UInt64?
            /// The handles in use.
            var handles: [CurlHandle] = []
            var spare: [CurlHandle] = []
            /// The handles that came to harm outside of libcurl's own course.
            var broken: [(CurlHandle, CURLcode)] = []
            var lastUse: UInt64
            var isListed = false
            var isClosed = false
            var isBroken = false
            var admission: CurlAdmission
            var probes = CurlStallProbes()
            var idleLimit = CurlIdleLimit()
            var bufferSize = CurlReceiveBufferSize()
            /// The interfaces of link-local addresses, which libcurl is not told with them.
            var zones: [String: UInt32] = [:]
        }

        init?(_ key: Key, _ trust: CurlTrust, loop: CurlLoop) {
            guard let proxy = CurlProxy(key.isolation.proxy), let multi = curl_multi_init() else { return nil }
            (isolation, isShared) = (key.isolation, key.isShared)
            self.multi = multi
            self.loop = loop
            self.trust = trust
            self.proxy = proxy
            state = State(
                retirement: key.retirement, lastUse: loop.now,
                admission: CurlAdmission(most: loop.mostConnectionsPerHost, isShared: key.isShared))
            guard setOptions() else {
                curl_multi_cleanup(multi)
                return nil
            }
        }

        var key: Key { Key(isolation: isolation, isShared: isShared, retirement: state.retirement) }
        /// Whether no new transfer may use it.
        var isRetired: Bool { state.retirement != 0 }
        var isClosed: Bool { state.isClosed }
        /// Whether libcurl has failed in the middle of its work. It may have passed over transfers that were due and will
        /// not say so again, and where it had no memory its books are wrong: 7.88 ends the process when it goes on.
        var isBroken: Bool { state.isBroken }
        /// Whether it is among those with work.
        var isListed: Bool {
            get { state.isListed }
            set { state.isListed = newValue }
        }
        /// When the pool was used last, in nanoseconds.
        var lastUse: UInt64 {
            get { state.lastUse }
            set { state.lastUse = newValue }
        }

        /// Whether nothing would come of looking at it.
        var isAtRest: Bool {
            state.isClosed
                || active == 0 && state.admission.present == 0 && state.broken.isEmpty && !state.isBroken
                    && state.timerMoment == nil
        }

        /// Whether a transfer may go over its connections.
        func serves(_ request: TransportRequest, isShared: Bool) -> Bool {
            self.isShared == isShared && !isRetired && isolation == request.isolation
        }

        /// - Parameter number: its own.
        func retire(_ number: Int) {
            state.retirement = number
        }

        /// - Returns: whether libcurl took them all.
        private func setOptions() -> Bool {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let codes = [
                ccurl_multi_set_socket_callback(multi, CurlCallbacks.socket),
                ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context),
                ccurl_multi_set_timer_callback(multi, CurlCallbacks.timer),
                ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context),
                ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX)),
            ]
            return codes.allSatisfy { $0 == CURLM_OK } && limitTotal(mostConnections)
        }

        /// Closes every connection. The handles must all have come back.
        func close() {
            state.isClosed = true
            // They end outside of the state.
            var spare = state.spare
            state.spare = []
            spare.removeAll()
            curl_multi_cleanup(multi)
        }

        /// When the current round of the loop began, in nanoseconds.
        var now: UInt64 { loop.now }

        /// Connections that have carried a transfer.
        var connectionCount: Int { loop.connectionCount(of: self) }

        /// Bounds the connections that are open at once.
        ///
        /// - Parameter limit: 0 for as many as are needed.
        /// - Returns: whether libcurl took it.
        @discardableResult
        func limitTotal(_ limit: Int) -> Bool {
            ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit) == CURLM_OK
        }

        /// The limit of the configuration; 0 where it has none.
        var mostConnections: Int { loop.configuration.maxConnections.map { max(1, $0) } ?? 0 }

        // MARK: Admission

        /// Counts a transfer in, or holds it back.
        ///
        /// - Returns: whether it has a place.
        func admit(_ transfer: CurlTransfer) -> Bool { state.admission.admit(transfer, now) }

        /// What a transfer's connection speaks is known.
        ///
        /// - Returns: those whose turn it is now.
        func learned(_ isMultiplexed: Bool, from transfer: CurlTransfer) -> [CurlTransfer] {
            state.admission.learned(isMultiplexed, from: transfer)
        }

        /// A transfer that has a place needs a connection that it may not open: it waits in its turn.
        func takeBack(_ transfer: CurlTransfer) {
            state.admission.takeBack(transfer, now)
        }

        /// A transfer that has a place needs a connection to itself.
        ///
        /// - Returns: whether it may open one now; otherwise it waits in its turn.
        func mayGoAlone(_ transfer: CurlTransfer) -> Bool {
            state.admission.mayGoAlone(transfer, now)
        }

        /// The head of a response is there.
        ///
        /// - Returns: those whose turn it is now.
        func headCompleted(_ transfer: CurlTransfer) -> [CurlTransfer] { state.admission.headCame(for: transfer) }

        /// A transfer has no use for its place any more, or for waiting for one.
        ///
        /// - Returns: those whose turn it is now.
        func leave(_ transfer: CurlTransfer) -> [CurlTransfer] { state.admission.ended(transfer) }

        /// - Returns: those that have waited long enough.
        func impatient() -> [CurlTransfer] { state.admission.impatient(now) }

        // MARK: Handles

        /// The handles in use.
        var handles: [CurlHandle] { state.handles }
        private var active: Int { state.handles.count }

        /// A server leaves: what it has been sent in later streams of the handle's connection it does not process. Where the
        /// connection is not known, or the handle's request has not been given to it yet, nothing follows for anybody.
        func leavesOut(after last: Int, _ teller: CurlHandle) {
            guard let connection = teller.carriage.connection else { return }
            for handle in state.handles where handle.carriage.isLeftOut(after: last, of: connection) {
                handle.transfer?.state.isLeftOut = true
            }
        }

        /// How much a transfer that collects its response is to read at a time.
        var buffer: Int { state.bufferSize.buffer }

        func take() -> CurlHandle? {
            state.spare.popLast() ?? CurlHandle(loop: loop, pool: self)
        }

        /// - Returns: `false` when libcurl does not perform it; it must be removed all the same.
        func add(_ handle: CurlHandle) -> Bool {
            handle.index = state.handles.count
            state.handles.append(handle)
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
            state.lastUse = loop.now
            let isMultiplexed = handle.transfer?.state.head.version == .http2
            state.probes.transferEnded(isMultiplexed: isMultiplexed, left: active, loop.now)
            let isReusable = handle.isReusable
            handle.noteUse(isMultiplexed: isMultiplexed)
            if let size = handle.responseSize { state.bufferSize.note(size) }
            handle.clear()
            guard isFree, isReusable, handle.isSound, state.spare.count < Self.maxSpareHandles else { return }
            state.spare.append(handle)
        }

        /// The last one takes its place.
        private func takeOut(_ handle: CurlHandle) {
            guard let last = state.handles.popLast(), last !== handle, handle.index < state.handles.count else {
                return
            }
            last.index = handle.index
            state.handles[last.index] = last
        }

        /// libcurl counts the connections in use as well, and closes an idle one whenever there are more than the limit.
        private func limitConnections() {
            let limit = state.idleLimit.limit(active: active, most: loop.configuration.maxIdleConnections, loop.now)
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit)
        }

        // MARK: Driving

        /// libcurl says what it wants of a socket.
        func watch(_ descriptor: Int32, _ what: Int32) {
            loop.watch(descriptor, what, for: self)
        }

        /// Whether answers came before their requests were sent, so that what libcurl wants of their sockets is of interest.
        var hasEarlyAnswers: Bool { loop.hasEarlyAnswers }

        /// When the pool wants to be looked at, in nanoseconds; `.max` when it does not.
        var nextMoment: UInt64 {
            if state.isBroken { return 0 }
            return min(state.timerMoment ?? .max, state.probes.moment ?? .max, state.admission.moment ?? .max)
        }

        /// Whether a round may not end without looking at it once more.
        var isDue: Bool { !state.isClosed && (state.isBroken || (state.timerMoment ?? .max) <= loop.now) }

        /// Does what libcurl wants done by now, and probes who has stood still for too long.
        func runDue() {
            if let moment = state.timerMoment, moment <= loop.now { runTimer() }
            guard let moment = state.probes.moment, moment <= loop.now else { return }
            let next = probeStalled()
            state.probes.looked(next)
        }

        /// A part of a head has come over HTTP/2.
        func headCame() {
            state.probes.headCame(loop.now)
        }

        func setTimer(_ milliseconds: Int) {
            switch milliseconds {
            case ..<0: state.timerMoment = nil
            // It is due in this round still.
            case 0: state.timerMoment = loop.now
            default: state.timerMoment = CurlClock.now() &+ UInt64(milliseconds) &* 1_000_000
            }
        }

        func runTimer() {
            state.timerMoment = nil
            act(CURL_SOCKET_TIMEOUT, 0)
        }

        func act(_ descriptor: Int32, _ events: Int32) {
            guard !state.isBroken, !state.isClosed else { return }
            var running: Int32 = 0
            if curl_multi_socket_action(multi, descriptor, events, &running) != CURLM_OK { state.isBroken = true }
        }

        /// Tells libcurl what of a transfer is to rest, and that the rest of it goes on.
        ///
        /// - Returns: the code that ends the transfer by that, if one does.
        func pause(_ handle: CurlHandle, _ bits: Int32) -> CURLcode? {
            guard !state.isBroken else { return nil }
            let code = handle.pause(bits)
            noteBreak(code)
            return CurlErrors.endsTransfer(pausing: code) ? code : nil
        }

        /// Notes that libcurl had no memory to keep who uses a socket: no callback of ours gives that code.
        private func noteBreak(_ code: CURLcode) {
            if code == CURLE_ABORTED_BY_CALLBACK { state.isBroken = true }
        }

        private func dropContent(of handle: CurlHandle) {
            // It goes further where there is nothing to offer.
            guard CurlFault.keptContent.isPresent, handle.kept > (state.isBroken ? .maybe : .nothing) else { return }
            noteBreak(handle.dropContent())
        }

        /// A transfer is to end with a code, although libcurl does not say that it is over.
        func end(_ handle: CurlHandle, _ code: CURLcode) {
            state.broken.append((handle, code))
        }

        /// Calls `body` for each transfer that is over.
        func collect(_ body: (CurlHandle, CURLcode) -> Void) {
            while let (handle, code) = state.broken.popLast() { body(handle, code) }
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left)?.pointee {
                guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
                let known = CurlCallbacks.handle(ccurl_private(easy)) ?? state.handles.first { $0.easy == easy }
                if let handle = known { body(handle, message.data.result) }
            }
        }

        // MARK: Link-local addresses

        /// Keeps the interface of an address, which libcurl loses.
        func noteZone(of address: HostAddress) {
            if address.zone != 0 { state.zones[address.text] = address.zone }
        }

        /// Puts back what libcurl has lost of an address (``CurlFault/lostZone``).
        func restoreZone(of target: UnsafeMutablePointer<curl_sockaddr>) {
            if CurlFault.lostZone.isPresent { HostAddress.restoreZone(of: target, state.zones) }
        }
    }
#endif
