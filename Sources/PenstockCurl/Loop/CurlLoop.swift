#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// What drives every transfer: takes messages, calls libcurl, hands results over, sleeps in epoll. It has a thread of
    /// its own; while next to nothing is under way a caller's thread may take a turn (see ``perform(_:)``).
    ///
    /// Unchecked because the compiler cannot see the confinement: after ``start()``, everything but the inbox and the
    /// list of those who wait for the end is touched only by whoever holds the turn.
    final class CurlLoop: @unchecked Sendable {
        let inbox = CurlInbox()
        let poller: CurlPoller
        let configuration: CurlTransport.Configuration
        let reading = CurlReadLimit()
        let finder: any HostFinder
        let mostConnectionsPerHost: Int
        /// The moment the current round began, in nanoseconds.
        @exclusivity(unchecked) private(set) var now = CurlClock.now()

        /// Whether the loop has ended.
        private let end = Monitor(false)
        private let turn = CurlTurn()
        @exclusivity(unchecked) private var lead = CurlLead()
        @exclusivity(unchecked) var pools: CurlPools
        @exclusivity(unchecked) var hunger = CurlHunger()
        @exclusivity(unchecked) private(set) var deadlines = CurlDeadlines()
        @exclusivity(unchecked) private var toPause: [CurlExchange] = []
        @exclusivity(unchecked) private var settled: [CurlExchange] = []
        /// Those with content for their readers.
        @exclusivity(unchecked) private var gathering: [CurlExchange] = []
        /// Those that were answered before their request was sent.
        @exclusivity(unchecked) private var answeredEarly: [CurlExchange] = []
        var hasEarlyAnswers: Bool { !answeredEarly.isEmpty }
        /// Those that were held back, and are no longer.
        @exclusivity(unchecked) private var admitted: [CurlExchange] = []
        private static let batch = 64
        /// Nanoseconds after which a round ends although libcurl has more to do at once.
        private static let slice: UInt64 = 2_000_000
        private var spareMessages: [CurlInbox.Message] = []
        private var isStopping = false

        init(_ configuration: CurlTransport.Configuration, finder: any HostFinder = SystemResolver.shared) {
            self.configuration = configuration
            self.finder = finder
            pools = CurlPools(life: UInt64(Self.idleSeconds(configuration)) * 1_000_000_000)
            mostConnectionsPerHost = configuration.maxConnectionsPerHost ?? max(CurlDescriptors.limit / 4, 16)
            poller = CurlPoller(wakeup: inbox.wakeup)
        }

        var idleSeconds: Int { Self.idleSeconds(configuration) }

        private static func idleSeconds(_ configuration: CurlTransport.Configuration) -> Int {
            max(1, Int(clamping: configuration.idleConnectionLifetime.components.seconds))
        }

        // MARK: Life

        /// - Returns: `false` when the system gives no thread or no descriptors. It takes no exchanges then.
        func start() -> Bool {
            if CurlLibrary.prepare(), poller.isUsable, CurlThread.start({ self.run() }) { return true }
            isStopping = true
            finishThread()
            return false
        }

        /// Ends every exchange and returns when the thread has closed everything.
        func stop() async {
            inbox.post(.stop)
            await end.wait { $0 }
        }

        private func run() {
            turn.take()
            while !isStopping {
                handleMessages()
                serve()
                if lead.isWorthwhile, deadlines.isEmpty { park() } else { sleep() }
            }
            closeDown()
            finishThread()
            turn.leave()
        }

        private func finishThread() {
            for case .start(let exchange) in inbox.close() { exchange.deliver() }
            end.withLock { $0 = true }
        }

        private func closeDown() {
            while let exchange = deadlines.first { finish(exchange, .failure(exchange.error(.cancelled))) }
            deliver()
            pools.closeAll()
        }

        // MARK: Messages

        private func handleMessages() {
            var messages = inbox.take(leaving: spareMessages)
            guard !messages.isEmpty else { return }
            spareMessages = []
            for message in messages { handle(message) }
            messages.removeAll(keepingCapacity: messages.count <= 1_024)
            spareMessages = messages
        }

        private func handle(_ message: CurlInbox.Message) {
            switch message {
            case .start(let exchange): begin(exchange)
            case .cancel(let exchange): cancel(exchange)
            case .suspend(let exchange): suspend(exchange)
            case .resume(let exchange): resume(exchange)
            case .chunk(let exchange, let event): receive(event, for: exchange)
            case .proceed(let exchange): goOn(exchange)
            case .skip(let exchange): skip(exchange)
            case .found(let exchange, let result): found(result, for: exchange)
            case .stop: isStopping = true
            }
        }

        private func begin(_ exchange: CurlExchange) {
            guard !exchange.isCancelled else { return finish(exchange, .failure(.stopped)) }
            exchange.isSuspended = exchange.order.control.isSuspended
            exchange.clock.begin(now)
            lead.hasBegun(now)
            deadlines.insert(exchange, at: exchange.clock.nextLook(now))
            if !exchange.isSuspended { launch(exchange) }
        }

        /// Gives an exchange to libcurl, once or again after it was set aside.
        func launch(_ exchange: CurlExchange) {
            do throws(TransportError) {
                let pool = try pool(of: exchange)
                pools.work(pool)
                guard admits(exchange, to: pool) else { return }
                if configuration.maxConnections == nil { exchange.clock.connectionStarted(now) }
                if exchange.source == nil { exchange.source = try CurlSources.source(for: exchange) }
                guard let handle = pool.take() else { throw .outOfMemory }
                (exchange.pool, exchange.handle) = (pool, handle)
                handle.prepare(for: exchange)
                guard pool.add(handle) else { throw .outOfMemory }
            } catch {
                if !starves(exchange, error) { finish(exchange, .failure(error)) }
            }
        }

        /// Whether it may go now; if not, it comes back by ``launchAdmitted()``.
        private func admits(_ exchange: CurlExchange, to pool: CurlPool) -> Bool {
            guard !exchange.isAdmitted else { return true }
            guard exchange.lane == nil else { return false }
            exchange.pool = pool
            return pool.gate.admits(exchange, now)
        }

        /// What the new connection of an exchange speaks is known.
        func connected(_ exchange: CurlExchange, _ handle: CurlHandle) {
            guard let pool = exchange.pool, pool.key.isShared, exchange.order.request.url.scheme == .https,
                let isHTTP2 = handle.agreesOnHTTP2
            else { return }
            admitted += pool.gate.learned(isHTTP2, from: exchange)
        }

        /// A place in the gate of a pool is free.
        func leaveGate(_ pool: CurlPool, _ exchange: CurlExchange) {
            if exchange.lane != nil { admitted += pool.gate.ended(exchange) }
        }

        private func launchAdmitted() {
            for pool in pools.working { admitted += pool.gate.impatient(now) }
            feed()
            while !admitted.isEmpty {
                let next = admitted
                admitted = []
                for exchange in next where exchange.place != nil && !exchange.isSuspended { launch(exchange) }
            }
        }

        private func cancel(_ exchange: CurlExchange) {
            exchange.isCancelled = true
            guard exchange.place != nil else { return }
            finish(exchange, .failure(exchange.error(.cancelled)))
        }

        private func suspend(_ exchange: CurlExchange) {
            guard exchange.place != nil, !exchange.isSuspended else { return }
            exchange.isSuspended = true
            exchange.clock.suspend()
            applyPause(exchange)
        }

        private func resume(_ exchange: CurlExchange) {
            guard exchange.place != nil, exchange.isSuspended else { return }
            exchange.isSuspended = false
            if !exchange.isHeldBack { exchange.clock.resume(now) }
            guard exchange.handle != nil else {
                if exchange.detour?.isUnderWay != true { launch(exchange) }
                return
            }
            exchange.awaitsChunk = false
            applyPause(exchange)
        }

        private func receive(_ event: CurlStreamSource.Event, for exchange: CurlExchange) {
            guard exchange.place != nil, let source = exchange.source as? CurlStreamSource else { return }
            source.receive(event)
            guard exchange.awaitsChunk, !exchange.isSuspended else { return }
            exchange.awaitsChunk = false
            applyPause(exchange)
        }

        private func goOn(_ exchange: CurlExchange) {
            guard exchange.place != nil, exchange.isHeldBack else { return }
            exchange.isHeldBack = false
            guard !exchange.isSuspended else { return }
            exchange.clock.resume(now)
            applyPause(exchange)
        }

        private func skip(_ exchange: CurlExchange) {
            guard exchange.place != nil else { return }
            exchange.beginSkipping()
            hurry(exchange)
            goOn(exchange)
        }

        /// An exchange whose content nobody wants may not keep its connection for long.
        private func hurry(_ exchange: CurlExchange) {
            exchange.clock.hurry(now)
            deadlines.move(exchange, to: exchange.clock.nextLook(now))
        }

        // MARK: Pausing

        /// An exchange whose connection is only being made cannot be paused yet, nor one that libcurl is in the middle of.
        func pauseSoon(_ exchange: CurlExchange) {
            toPause.append(exchange)
        }

        /// What goes on meanwhile may ask to be paused once more.
        private func pause() {
            guard !toPause.isEmpty else { return }
            let exchanges = toPause
            toPause = []
            for exchange in exchanges where exchange.place != nil { applyPause(exchange) }
        }

        /// A head is received also while its exchange is suspended, up to its end (``CurlExchange/receiveHeader(_:_:)``).
        private func applyPause(_ exchange: CurlExchange) {
            guard let pool = exchange.pool, let handle = exchange.handle else { return }
            var bits = CURLPAUSE_CONT
            if exchange.isHeldBack || exchange.isSuspended && exchange.head.isComplete { bits |= CURLPAUSE_RECV }
            if exchange.isSuspended || exchange.awaitsChunk { bits |= CURLPAUSE_SEND }
            if let code = pool.pause(handle, bits) { finish(exchange, exchange.result(code)) }
        }

        // MARK: A round

        /// While a peer sends faster than libcurl reads, libcurl always has more to do at once. The next round goes on with
        /// it, after the messages, time-outs and sockets of all others.
        private func serve() {
            repeat {
                reading.beginRound()
                for pool in pools.working where !pool.isClosed {
                    if let moment = pool.timerMoment, moment <= now { pool.runTimer() }
                    if let moment = pool.nudges.moment, moment <= now { pool.nudge() }
                    pool.collect { handle, code in conclude(handle, code) }
                    if pool.isBroken { giveUp(pool) }
                }
                pause()
                if hasEarlyAnswers { attendToEarlyAnswers() }
                expire()
                launchAdmitted()
            } while pools.working.contains { !$0.isClosed && ($0.isBroken || ($0.timerMoment ?? .max) <= now) }
                && CurlClock.now() - now < Self.slice
            handOver()
            deliver()
            pools.tidy(now)
        }

        private func conclude(_ handle: CurlHandle, _ code: CURLcode) {
            guard let exchange = handle.exchange else { return }
            handle.isOver = true
            handle.isSpent = code != CURLE_OK && code != CURLE_WRITE_ERROR
            if code == CURLE_OUT_OF_MEMORY { distrust(handle, exchange) }
            if code != CURLE_OK, setAside(exchange, code) { return }
            finish(exchange, exchange.result(code))
        }

        /// Where libcurl had no memory to write a request, 7.88 keeps the connection with what was sent of it, and the next
        /// request would follow upon that. (A line of a head that is too long comes as the same code; there it closes.)
        private func distrust(_ handle: CurlHandle, _ exchange: CurlExchange) {
            handle.distrust()
            guard let pool = exchange.pool, !exchange.head.hasBegun, pool.key.retirement == 0 else { return }
            pools.retire(pool)
        }

        private func expire() {
            while deadlines.nextMoment <= now, let exchange = deadlines.first {
                if let kind = exchange.expired(now) {
                    finish(exchange, exchange.result(expiring: kind))
                } else {
                    deadlines.move(exchange, to: exchange.clock.nextLook(now))
                }
            }
        }

        /// The head of a response is there.
        func headIsThere(_ exchange: CurlExchange) {
            if exchange.isAdmitted, let pool = exchange.pool { admitted += pool.gate.headCame(for: exchange) }
            if exchange.toSkip != nil { hurry(exchange) }
            if !exchange.order.request.body.isNone, exchange.isSending { answeredEarly.append(exchange) }
            guard exchange.settleHead(exchange.response()) else { return }
            if exchange.toSkip == nil { exchange.clock.endTotal() }
            settled.append(exchange)
        }

        /// Ends those whose answer is complete although their request is not.
        private func attendToEarlyAnswers() {
            let exchanges = answeredEarly
            answeredEarly = []
            for exchange in exchanges {
                switch exchange.earlyStep() {
                case .forget: break
                case .wait: answeredEarly.append(exchange)
                case .goOn:
                    answeredEarly.append(exchange)
                    exchange.awaitsChunk = false
                    applyPause(exchange)
                case .hurry:
                    exchange.clock.hurry(now, whileMoving: !(exchange.source is CurlStreamSource))
                    deadlines.move(exchange, to: exchange.clock.nextLook(now))
                case .end(let result): finish(exchange, result)
                }
            }
        }

        func finish(_ exchange: CurlExchange, _ result: Result<TransportResponse, TransportError>) {
            deadlines.remove(exchange)
            lead.hasEnded(after: now - min(now, exchange.clock.began), others: deadlines.count)
            if let handle = exchange.handle { exchange.pool?.remove(handle) }
            exchange.detour?.lookup?.cancel()
            if case .failure(let error) = result, let isLate = error.isUnreached {
                exchange.tellUnreached(isLate: isLate)
            }
            if let pool = exchange.pool { leaveGate(pool, exchange) }
            hunger.hasEnded()
            (exchange.handle, exchange.pool) = (nil, nil)
            exchange.settle(result)
            settled.append(exchange)
            if settled.count >= Self.batch { deliver() }
        }

        /// A piece of content has come for the reader of a stream.
        func hasGathered(_ exchange: CurlExchange) {
            gathering.append(exchange)
        }

        private func handOver() {
            guard !gathering.isEmpty else { return }
            for exchange in gathering { exchange.handOver() }
            gathering.removeAll(keepingCapacity: true)
        }

        /// Tasks are resumed many at a time: each alone would wake a thread of the pool, which costs more than the
        /// rest of a small exchange.
        private func deliver() {
            guard !settled.isEmpty else { return }
            for exchange in settled { exchange.deliver() }
            settled.removeAll(keepingCapacity: true)
        }

        private func sleep() {
            guard !isStopping else { return }
            poller.applyChanges()
            let timeout = inbox.fallAsleep() ? timeout() : 0
            turn.leave()
            let count = poller.wait(timeout)
            turn.take()
            wakeUp(count)
        }

        private func wakeUp(_ count: Int) {
            reading.beginRound()
            poller.dispatch(count) {
                inbox.drainWakeup()
            } _: { pool, descriptor, events in
                pool.act(descriptor, events)
            }
            inbox.wakeUp()
            now = CurlClock.now()
        }

        /// Milliseconds until something is due, rounded up; -1 when nothing is.
        private func timeout() -> Int32 {
            let moment = nextMoment
            let current = CurlClock.now()
            lead.sleepsUntil = moment
            guard moment != .max else { return -1 }
            guard moment > current else { return 0 }
            return Int32(clamping: (moment - current + 999_999) / 1_000_000)
        }

        private var nextMoment: UInt64 {
            var moment = min(
                deadlines.nextMoment, pools.nextSweep, lead.nextLook(now), poller.retryMoment, hunger.moment)
            for pool in pools.working { moment = min(moment, pool.nextMoment) }
            return moment
        }

        // MARK: A caller's turn

        /// Begins an exchange, on the caller's own thread where that is free to be done: handing it to the loop's thread
        /// and back takes longer than the rest of a small exchange.
        ///
        /// - Returns: `false` when the loop takes no more exchanges.
        func perform(_ exchange: CurlExchange) -> Bool {
            guard turn.tryTake() else { return inbox.post(.start(exchange)) }
            defer { turn.leave() }
            guard !isStopping, deadlines.count <= CurlLead.maxOthers else { return inbox.post(.start(exchange)) }
            now = CurlClock.now()
            let isAlone = deadlines.isEmpty
            begin(exchange)
            serve()
            if isAlone, lead.isThreadParked { drive(exchange) }
            poller.applyChanges()
            if nextMoment < lead.sleepsUntil { inbox.wakeLoop() }
            return true
        }

        /// The reader of a stream has room again, and fills it itself where the turn is free.
        func proceed(_ exchange: CurlExchange) {
            guard turn.tryTake() else { return _ = inbox.post(.proceed(exchange)) }
            defer { turn.leave() }
            guard !isStopping else { return }
            now = CurlClock.now()
            goOn(exchange)
            serve()
            poller.applyChanges()
            if nextMoment < lead.sleepsUntil { inbox.wakeLoop() }
        }

        /// Stays with the only exchange there is, for as long as such exchanges took lately.
        private func drive(_ exchange: CurlExchange) {
            let limit = now + CurlLead.patience
            while exchange.place != nil, deadlines.count == 1, now < limit {
                poller.applyChanges()
                let count = poller.wait(inbox.fallAsleep() ? 1 : 0, busily: lead.isImminent ? CurlLead.haste : 0)
                wakeUp(count)
                handleMessages()
                serve()
            }
            let isOver = deadlines.isEmpty && !isStopping && inbox.fallAsleep()
            if isOver { return }
            if exchange.place != nil { lead.giveUp() }
            inbox.wakeLoop()
        }

        /// The thread's part of it: sleeps where callers do not wake it, until one has to.
        private func park() {
            poller.applyChanges()
            guard inbox.fallAsleep() else { return inbox.wakeUp() }
            let timeout = timeout()
            lead.isThreadParked = true
            turn.leave()
            inbox.waitForWakeup(timeout)
            turn.take()
            lead.isThreadParked = false
            inbox.drainWakeup()
            inbox.wakeUp()
            now = CurlClock.now()
        }
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

        /// What an exchange meets that never came to begin.
        static let stopped = TransportError(.cancelled, sendState: .unsent)
        /// libcurl takes no request, or not one of its options.
        static let outOfMemory = TransportError(.other, sendState: .unsent, message: "libcurl has no memory left")
    }
#endif
