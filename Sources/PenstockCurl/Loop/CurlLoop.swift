#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The event loop that drives every transfer: it takes messages, calls libcurl, hands results over and sleeps in epoll.
    /// It has a thread of its own. While next to nothing is under way, the thread of a caller may drive it for a moment
    /// (`CallerDriving.swift`).
    ///
    /// Unchecked because the compiler cannot see the confinement: after ``start()``, everything but the mailbox and the
    /// list of those who wait for the end is touched only by whoever holds the lock.
    final class CurlLoop: @unchecked Sendable {
        let mailbox = CurlMailbox()
        let poller: CurlPoller
        let configuration: CurlTransport.Configuration
        let reading = CurlReadLimit()
        let finder: any HostFinder
        let mostConnectionsPerHost: Int
        let lock = CurlLoopLock()
        /// Whether the loop has ended.
        private let end = Monitor(false)
        private static let batch = 64
        /// Nanoseconds after which a round ends although libcurl has more to do at once.
        private static let slice: UInt64 = 2_000_000

        /// What changes, the pools aside. Whoever drives the loop is alone in touching it, so the checks of exclusive access are
        /// left out. Nothing that leads to libcurl is called while a part of it is being changed: the callbacks come back here.
        @exclusivity(unchecked) var state: State
        /// The pools, apart from the state, which is read by what libcurl calls back when a pool is closed.
        @exclusivity(unchecked) var pools: CurlPools

        struct State {
            /// The moment the current round began, in nanoseconds.
            var now = CurlClock.now()
            var isStopping = false
            var driving: CurlCallerDriving
            var deadlines = CurlDeadlines()
            var descriptorQueue = CurlDescriptorQueue()
            var http1Origins = CurlHTTP1Origins()
            fileprivate var toPause: [CurlTransfer] = []
            fileprivate var settled: [CurlTransfer] = []
            /// Transfers with content for their readers.
            fileprivate var gathering: [CurlTransfer] = []
            /// Transfers that were answered before their request was sent.
            var answeredEarly: [CurlTransfer] = []
            /// Transfers that were held back, and are no longer.
            fileprivate var admitted: [CurlTransfer] = []
            fileprivate var spareMessages: [CurlMailbox.Message] = []

            init(_ driving: CurlCallerDriving) {
                self.driving = driving
            }
        }

        init(_ configuration: CurlTransport.Configuration, finder: any HostFinder = SystemResolver.shared) {
            self.configuration = configuration
            self.finder = finder
            state = State(CurlCallerDriving(isAllowed: configuration.drivesOnCallersThreads))
            pools = CurlPools(life: UInt64(Self.idleSeconds(configuration)) * 1_000_000_000)
            mostConnectionsPerHost = configuration.maxConnectionsPerHost ?? max(CurlDescriptors.limit / 4, 16)
            poller = CurlPoller(wakeup: mailbox.wakeup)
        }

        var idleSeconds: Int { Self.idleSeconds(configuration) }

        private static func idleSeconds(_ configuration: CurlTransport.Configuration) -> Int {
            max(1, Int(clamping: configuration.idleConnectionLifetime.components.seconds))
        }

        // MARK: Life

        /// - Returns: `false` when the system gives no thread or no descriptors. It takes no transfers then.
        func start() -> Bool {
            if CurlLibrary.prepare(), poller.isUsable, SystemThread.start("penstock.loop", { self.run() }) {
                return true
            }
            state.isStopping = true
            finishThread()
            return false
        }

        /// Ends every transfer and returns when the thread has closed everything.
        func stop() async {
            mailbox.post(.stop)
            await end.wait { $0 }
        }

        private func run() {
            lock.lock()
            while !state.isStopping {
                handleMessages()
                serve()
                if state.driving.isWorthwhile, state.deadlines.isEmpty { park() } else { sleep() }
            }
            closeDown()
            finishThread()
            lock.unlock()
        }

        private func finishThread() {
            for case .start(let transfer) in mailbox.close() { transfer.deliver() }
            end.withLock { $0 = true }
        }

        private func closeDown() {
            while let transfer = state.deadlines.first { finish(transfer, .failure(transfer.error(.cancelled))) }
            deliver()
            pools.closeAll()
        }

        // MARK: Messages

        func handleMessages() {
            var messages = mailbox.take(leaving: state.spareMessages)
            guard !messages.isEmpty else { return }
            state.spareMessages = []
            for message in messages { handle(message) }
            messages.removeAll(keepingCapacity: messages.count <= 1_024)
            state.spareMessages = messages
        }

        private func handle(_ message: CurlMailbox.Message) {
            switch message {
            case .start(let transfer): begin(transfer)
            case .cancel(let transfer): cancel(transfer)
            case .suspend(let transfer): suspend(transfer)
            case .resume(let transfer): resume(transfer)
            case .chunk(let transfer, let event): receive(event, for: transfer)
            case .piece(let transfer, let event): receive(event, for: transfer)
            case .proceed(let transfer): goOn(transfer)
            case .skip(let transfer): skip(transfer)
            case .found(let transfer, let result): found(result, for: transfer)
            case .forget(let identity):
                state.http1Origins.forget(identity)
                pools.forget(identity)
            case .stop: state.isStopping = true
            }
        }

        func begin(_ transfer: CurlTransfer) {
            guard !transfer.state.isCancelled else { return finish(transfer, .failure(.stopped)) }
            transfer.state.isSuspended = transfer.request.control.isSuspended
            transfer.state.clock.begin(now)
            state.driving.noteBegin(now)
            state.deadlines.insert(transfer, at: transfer.state.clock.nextLook(now))
            if !transfer.state.isSuspended { launch(transfer) }
        }

        /// Gives a transfer to libcurl, once or again after it was set aside.
        func launch(_ transfer: CurlTransfer) {
            do throws(TransportError) {
                let pool = try pool(of: transfer)
                pools.work(pool)
                guard admit(transfer, to: pool) else { return }
                if transfer.state.source == nil { transfer.state.source = try CurlBodySources.source(for: transfer) }
                // It comes back when its file is open.
                guard transfer.state.source?.isOpen != false else { return }
                if configuration.maxConnections == nil { transfer.state.clock.connectionStarted(now) }
                guard let handle = pool.take() else { throw .outOfMemory }
                (transfer.state.pool, transfer.state.handle) = (pool, handle)
                handle.prepare(for: transfer)
                guard pool.add(handle) else { throw .outOfMemory }
            } catch {
                if !queueForDescriptors(transfer, after: error) { finish(transfer, .failure(error)) }
            }
        }

        /// Gives it a place, or has it wait for one.
        ///
        /// - Returns: whether it may go now; if not, it comes back by ``launchAdmitted()``.
        private func admit(_ transfer: CurlTransfer, to pool: CurlPool) -> Bool {
            guard !transfer.state.isAdmitted else { return true }
            guard transfer.state.originQueue == nil else { return false }
            transfer.state.pool = pool
            return pool.admit(transfer)
        }

        /// What the new connection of a transfer speaks is known.
        func connected(_ transfer: CurlTransfer, _ handle: CurlHandle) {
            guard let pool = transfer.state.pool, pool.isShared, transfer.request.request.url.scheme == .https,
                let isHTTP2 = handle.agreesOnHTTP2
            else { return }
            state.admitted += pool.learned(isHTTP2, from: transfer)
        }

        /// A transfer has come upon a connection of HTTP/1.1 that another is under way on, which may be news for others too.
        ///
        /// - Returns: whether it may open one of its own now; otherwise it waits in its turn.
        func mayGoAlone(_ transfer: CurlTransfer) -> Bool {
            guard let pool = transfer.state.pool else { return true }
            state.admitted += pool.learned(false, from: transfer)
            return pool.mayGoAlone(transfer)
        }

        /// A transfer leaves the admission of its pool, so that another may take its place.
        func leaveAdmission(_ pool: CurlPool, _ transfer: CurlTransfer) {
            if transfer.state.originQueue != nil { state.admitted += pool.leave(transfer) }
        }

        private func launchAdmitted() {
            for pool in pools.working { state.admitted += pool.impatient() }
            retryForDescriptors()
            while !state.admitted.isEmpty {
                let next = state.admitted
                state.admitted = []
                for transfer in next where transfer.isUnderWay && !transfer.state.isSuspended { launch(transfer) }
            }
        }

        private func cancel(_ transfer: CurlTransfer) {
            transfer.state.isCancelled = true
            guard transfer.isUnderWay else { return }
            finish(transfer, .failure(transfer.error(.cancelled)))
        }

        private func suspend(_ transfer: CurlTransfer) {
            guard transfer.isUnderWay, !transfer.state.isSuspended else { return }
            transfer.state.isSuspended = true
            transfer.state.clock.suspend()
            applyPause(transfer)
        }

        private func resume(_ transfer: CurlTransfer) {
            guard transfer.isUnderWay, transfer.state.isSuspended else { return }
            transfer.state.isSuspended = false
            if !transfer.state.isHeldBack { transfer.state.clock.resume(now) }
            guard transfer.state.handle != nil else {
                if transfer.state.detour?.isUnderWay != true { launch(transfer) }
                return
            }
            transfer.state.awaitsChunk = false
            applyPause(transfer)
        }

        private func receive(_ event: CurlStreamSource.Event, for transfer: CurlTransfer) {
            guard transfer.isUnderWay, let source = transfer.state.source as? CurlStreamSource else { return }
            source.receive(event)
            goOnSending(transfer)
        }

        private func receive(_ event: CurlFileSource.Event, for transfer: CurlTransfer) {
            guard transfer.isUnderWay, let source = transfer.state.source as? CurlFileSource else { return }
            let wasOpen = source.isOpen
            source.receive(event)
            guard !wasOpen else { return goOnSending(transfer) }
            guard let refusal = source.refusal else { return launchIfAwake(transfer) }
            finish(transfer, .failure(transfer.error(.requestBody, refusal)))
        }

        private func goOnSending(_ transfer: CurlTransfer) {
            guard transfer.state.awaitsChunk, !transfer.state.isSuspended else { return }
            transfer.state.awaitsChunk = false
            applyPause(transfer)
        }

        func goOn(_ transfer: CurlTransfer) {
            guard transfer.isUnderWay, transfer.state.isHeldBack else { return }
            transfer.state.isHeldBack = false
            guard !transfer.state.isSuspended else { return }
            transfer.state.clock.resume(now)
            applyPause(transfer)
        }

        private func skip(_ transfer: CurlTransfer) {
            guard transfer.isUnderWay else { return }
            transfer.beginSkipping()
            hurry(transfer)
            goOn(transfer)
        }

        /// A transfer whose content nobody wants may not keep its connection for long.
        private func hurry(_ transfer: CurlTransfer) {
            transfer.state.clock.hurry(now)
            state.deadlines.move(transfer, to: transfer.state.clock.nextLook(now))
        }

        // MARK: Pausing

        /// A transfer whose connection is only being made cannot be paused yet, nor one that libcurl is in the middle of.
        func pauseSoon(_ transfer: CurlTransfer) {
            state.toPause.append(transfer)
        }

        /// What goes on meanwhile may ask to be paused once more.
        private func pause() {
            guard !state.toPause.isEmpty else { return }
            let transfers = state.toPause
            state.toPause = []
            for transfer in transfers where transfer.isUnderWay { applyPause(transfer) }
        }

        /// A head is received also while its transfer is suspended, up to its end (``CurlTransfer/receiveHeader(_:_:)``).
        func applyPause(_ transfer: CurlTransfer) {
            guard let pool = transfer.state.pool, let handle = transfer.state.handle else { return }
            if let code = pool.pause(handle, pausing(transfer)) { finish(transfer, transfer.result(code)) }
        }

        /// Which directions of a transfer are to rest, as libcurl says it.
        func pausing(_ transfer: CurlTransfer) -> Int32 {
            var bits = CURLPAUSE_CONT
            if transfer.state.isHeldBack || transfer.state.isSuspended && transfer.state.head.isComplete {
                bits |= CURLPAUSE_RECV
            }
            if transfer.state.isSuspended || transfer.state.awaitsChunk { bits |= CURLPAUSE_SEND }
            return bits
        }

        // MARK: A round

        /// While a peer sends faster than libcurl reads, libcurl always has more to do at once. The next round goes on with
        /// it, after the messages, time-outs and sockets of all others.
        func serve() {
            repeat {
                reading.beginRound()
                for pool in pools.working where !pool.isClosed {
                    pool.runDue()
                    pool.collect { handle, code in conclude(handle, code) }
                    if pool.isBroken { giveUp(pool) }
                }
                pause()
                if hasEarlyAnswers { attendToEarlyAnswers() }
                expire()
                launchAdmitted()
            } while pools.working.contains { $0.isDue } && CurlClock.now() - now < Self.slice
            handOver()
            deliver()
            pools.tidy(now)
        }

        private func conclude(_ handle: CurlHandle, _ code: CURLcode) {
            guard let transfer = handle.transfer else { return }
            handle.finish(code)
            if code == CURLE_OUT_OF_MEMORY { distrust(handle, transfer) }
            if code != CURLE_OK, setAside(transfer, code) { return }
            finish(transfer, transfer.result(CurlErrors.endsAnswer(code) ? CURLE_OK : code))
        }

        /// Where libcurl had no memory to write a request, no other request may follow over its connection
        /// (``CurlFault/halfSentRequest``). A line of a head that is too long comes as the same code; there libcurl closes it.
        private func distrust(_ handle: CurlHandle, _ transfer: CurlTransfer) {
            handle.distrust()
            guard CurlFault.halfSentRequest.isPresent, let pool = transfer.state.pool, !transfer.state.head.hasBegun,
                !pool.isRetired
            else { return }
            pools.retire(pool)
        }

        private func expire() {
            while state.deadlines.nextMoment <= now, let transfer = state.deadlines.first {
                if let kind = transfer.expired(now) {
                    finish(transfer, transfer.result(expiring: kind))
                } else {
                    state.deadlines.move(transfer, to: transfer.state.clock.nextLook(now))
                }
            }
        }

        /// The head of a response is there.
        func headCompleted(_ transfer: CurlTransfer) {
            if transfer.state.isAdmitted, let pool = transfer.state.pool {
                state.admitted += pool.headCompleted(transfer)
            }
            if transfer.state.toSkip != nil { hurry(transfer) }
            if !transfer.request.request.body.isNone, transfer.isSending {
                state.answeredEarly.append(transfer)
                if transfer.mayLeaveContentUnsent { transfer.state.handle?.closeConnection() }
            }
            guard transfer.settleHead(transfer.responseSoFar()) else { return }
            if transfer.state.toSkip == nil { transfer.state.clock.endTotal() }
            state.settled.append(transfer)
        }

        func finish(_ transfer: CurlTransfer, _ result: Result<TransportResponse, TransportError>) {
            state.deadlines.remove(transfer)
            state.driving.noteEnd(after: now - min(now, transfer.state.clock.began), others: state.deadlines.count)
            if let handle = transfer.state.handle { transfer.state.pool?.remove(handle) }
            transfer.state.detour?.lookup?.cancel()
            if case .failure(let error) = result, let isLate = error.isUnreached {
                transfer.tellUnreached(isLate: isLate)
            }
            if let pool = transfer.state.pool { leaveAdmission(pool, transfer) }
            state.descriptorQueue.noteEnd()
            (transfer.state.handle, transfer.state.pool) = (nil, nil)
            transfer.settle(result)
            state.settled.append(transfer)
            if state.settled.count >= Self.batch { deliver() }
        }

        /// A piece of content has come for the reader of a stream.
        func gathers(_ transfer: CurlTransfer) {
            state.gathering.append(transfer)
        }

        private func handOver() {
            guard !state.gathering.isEmpty else { return }
            for transfer in state.gathering { transfer.handOver() }
            state.gathering.removeAll(keepingCapacity: true)
        }

        /// Tasks are resumed many at a time: each alone would wake a thread of the pool, which costs more than the
        /// rest of a small transfer.
        private func deliver() {
            guard !state.settled.isEmpty else { return }
            for transfer in state.settled { transfer.deliver() }
            state.settled.removeAll(keepingCapacity: true)
        }

        private func sleep() {
            guard !state.isStopping else { return }
            poller.applyChanges()
            let timeout = mailbox.fallAsleep() ? timeout() : 0
            lock.unlock()
            let count = poller.wait(timeout)
            lock.lock()
            wakeUp(count)
        }

        func wakeUp(_ count: Int) {
            reading.beginRound()
            poller.dispatch(count) {
                mailbox.drainWakeup()
            } _: { pool, descriptor, events in
                pool.act(descriptor, events)
            }
            mailbox.wakeUp()
            state.now = CurlClock.now()
        }

        /// Milliseconds until something is due, rounded up; -1 when nothing is.
        func timeout() -> Int32 {
            let moment = nextMoment
            let current = CurlClock.now()
            state.driving.sleepsUntil = moment
            guard moment != .max else { return -1 }
            guard moment > current else { return 0 }
            return Int32(clamping: (moment - current + 999_999) / 1_000_000)
        }

        var nextMoment: UInt64 {
            var moment = min(state.deadlines.nextMoment, state.driving.nextLook(now), state.descriptorQueue.moment)
            moment = min(moment, pools.nextSweep, poller.retryMoment)
            for pool in pools.working { moment = min(moment, pool.nextMoment) }
            return moment
        }
    }

    /// What its pools and their handles ask of it.
    extension CurlLoop {
        /// The moment the current round began, in nanoseconds.
        var now: UInt64 { state.now }
        /// The number of the current round.
        var round: UInt64 { reading.round }
        var sockets: CurlSockets { poller.sockets }

        /// libcurl says what it wants of a socket.
        func watch(_ descriptor: Int32, _ what: Int32, for pool: CurlPool) {
            poller.want(descriptor, what, for: pool)
        }

        func socketOpened(_ descriptor: Int32) {
            poller.opened(descriptor)
        }

        /// What ``CurlCallbacks/close`` is given. A connection keeps this pointer beyond the handle that made it.
        var closingContext: UnsafeMutableRawPointer { Unmanaged.passUnretained(poller).toOpaque() }

        /// Connections of a pool that have carried a transfer.
        func connectionCount(of pool: CurlPool) -> Int { sockets.count(of: pool) }

        /// Has a connection that is about to be secured keep to its share of each round.
        ///
        /// - Returns: `false` when there is no memory for it.
        func boundReading(of context: OpaquePointer) -> Bool { reading.apply(to: context) }
    }

    extension TransportError {
        /// Whether the time was up before a connection was made; `nil` where it ended otherwise, by its caller or by TLS.
        var isUnreached: Bool? {
            switch kind {
            case .unreachable: false
            case .timeout(.connect), .timeout(.total): true
            default: nil
            }
        }

        /// What a transfer meets that never came to begin.
        static let stopped = TransportError(.cancelled, sendState: .unsent)
        /// libcurl takes no request, or not one of its options.
        static let outOfMemory = TransportError(.other, sendState: .unsent, message: "libcurl has no memory left")
    }
#endif
