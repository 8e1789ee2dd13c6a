#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// The thread that drives every transfer: takes messages, calls libcurl, hands results over, sleeps in epoll.
    ///
    /// Unchecked because the compiler cannot see the confinement: after ``start()``, everything but the inbox and the
    /// list of those who wait for the end is touched on the loop's own thread only.
    final class CurlLoop: @unchecked Sendable {
        let inbox = CurlInbox()
        let poller: CurlPoller
        let configuration: CurlTransport.Configuration
        /// The moment the current round began, in nanoseconds.
        private(set) var now = CurlClock.now()

        private let end = CurlLoopEnd()
        private var pools: [CurlPool.Key: CurlPool] = [:]
        private var lastPool: CurlPool?
        private var deadlines = CurlDeadlines()
        private var toPause: [CurlExchange] = []
        private var settled: [CurlExchange] = []
        private static let batch = 64
        private var spareMessages: [CurlInbox.Message] = []
        private var isStopping = false
        private var nextSweep: UInt64 = 0

        init(_ configuration: CurlTransport.Configuration) {
            self.configuration = configuration
            poller = CurlPoller(wakeup: inbox.wakeup)
        }

        var idleSeconds: Int { max(1, Int(clamping: configuration.idleConnectionLifetime.components.seconds)) }

        // MARK: Life

        func start() {
            CurlLibrary.prepare()
            let isRunning = poller.isUsable && CurlThread.start { self.run() }
            if !isRunning { finishThread() }
        }

        /// Ends every exchange and returns when the thread has closed everything.
        func stop() async {
            inbox.post(.stop)
            await end.wait()
        }

        private func run() {
            while !isStopping {
                handleMessages()
                serve()
                sleep()
            }
            closeDown()
            finishThread()
        }

        private func finishThread() {
            for case .start(let exchange) in inbox.close() { exchange.deliver() }
            end.reach()
        }

        private func closeDown() {
            while let exchange = deadlines.first { finish(exchange, .failure(exchange.error(.cancelled))) }
            deliver()
            for pool in pools.values { pool.close() }
            pools = [:]
            lastPool = nil
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
            case .stop: isStopping = true
            }
        }

        private func begin(_ exchange: CurlExchange) {
            guard !exchange.isCancelled else { return finish(exchange, .failure(.stopped)) }
            exchange.isSuspended = exchange.order.control.isSuspended
            exchange.clock.begin(now)
            deadlines.insert(exchange, at: exchange.clock.nextLook(now))
            if !exchange.isSuspended { launch(exchange) }
        }

        private func launch(_ exchange: CurlExchange) {
            do throws(TransportError) {
                exchange.source = try CurlSources.source(for: exchange)
                let pool = try pool(for: exchange.order)
                guard let handle = pool.take() else { throw TransportError(.other, sendState: .unsent) }
                (exchange.pool, exchange.handle) = (pool, handle)
                handle.prepare(for: exchange)
                guard pool.add(handle) else { throw TransportError(.other, sendState: .unsent) }
            } catch {
                finish(exchange, .failure(error))
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
            exchange.clock.resume(now)
            guard exchange.handle != nil else { return launch(exchange) }
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

        // MARK: Pausing

        /// An exchange whose connection is only being made cannot be paused yet; it is once it is there.
        func pauseSoon(_ exchange: CurlExchange) {
            toPause.append(exchange)
        }

        private func applyPause(_ exchange: CurlExchange) {
            guard let handle = exchange.handle else { return }
            var bits = CURLPAUSE_CONT
            if exchange.isSuspended { bits = CURLPAUSE_ALL } else if exchange.awaitsChunk { bits = CURLPAUSE_SEND }
            curl_easy_pause(handle.easy, bits)
        }

        // MARK: A round

        private func serve() {
            repeat {
                for pool in pools.values {
                    if let moment = pool.timerMoment, moment <= now { pool.runTimer() }
                    pool.collect { handle, code in conclude(handle, code) }
                }
                for exchange in toPause where exchange.place != nil { applyPause(exchange) }
                toPause.removeAll()
                expire()
            } while pools.values.contains { $0.timerMoment.map { $0 <= now } ?? false }
            deliver()
            sweep()
        }

        private func conclude(_ handle: CurlHandle, _ code: CURLcode) {
            guard let exchange = handle.exchange else { return }
            finish(exchange, exchange.result(code))
        }

        private func expire() {
            while deadlines.nextMoment <= now, let exchange = deadlines.first {
                if let phase = exchange.clock.expired(now) {
                    finish(exchange, .failure(exchange.error(.timeout(phase))))
                } else {
                    deadlines.move(exchange, to: exchange.clock.nextLook(now))
                }
            }
        }

        private func finish(_ exchange: CurlExchange, _ result: Result<TransportResponse, TransportError>) {
            deadlines.remove(exchange)
            if let handle = exchange.handle { exchange.pool?.remove(handle) }
            (exchange.handle, exchange.pool) = (nil, nil)
            exchange.settle(result)
            settled.append(exchange)
            if settled.count >= Self.batch { deliver() }
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
            poller.wait(timeout) {
                inbox.drainWakeup()
            } _: { pool, descriptor, events in
                pool.act(descriptor, events)
            }
            inbox.wakeUp()
            now = CurlClock.now()
        }

        /// Milliseconds until something is due, rounded up; -1 when nothing is.
        private func timeout() -> Int32 {
            var moment = min(deadlines.nextMoment, nextSweep)
            for pool in pools.values { moment = min(moment, pool.timerMoment ?? .max) }
            guard moment != .max else { return -1 }
            let current = CurlClock.now()
            guard moment > current else { return 0 }
            return Int32(clamping: (moment - current + 999_999) / 1_000_000)
        }

        // MARK: Pools

        private func pool(for order: TransportRequest) throws(TransportError) -> CurlPool {
            let key = CurlPool.Key(partition: order.partition, trust: order.trust)
            if let lastPool, lastPool.key == key { return lastPool }
            let pool: CurlPool
            if let known = pools[key] { pool = known } else { pool = try open(key) }
            lastPool = pool
            return pool
        }

        private func open(_ key: CurlPool.Key) throws(TransportError) -> CurlPool {
            try CurlLibrary.checkAuthorities(of: key.trust)
            guard let pool = CurlPool(key, loop: self) else { throw TransportError(.other, sendState: .unsent) }
            pools[key] = pool
            nextSweep = min(nextSweep, now + UInt64(idleSeconds) * 1_000_000_000)
            return pool
        }

        /// Drops the pools that nothing has used for the life of an idle connection.
        private func sweep() {
            guard now >= nextSweep else { return }
            let life = UInt64(idleSeconds) * 1_000_000_000
            for (key, pool) in pools where pool.active == 0 && now - pool.lastUse >= life {
                pools[key] = nil
                if lastPool === pool { lastPool = nil }
                pool.close()
            }
            nextSweep = pools.isEmpty ? .max : now + life
        }
    }

    extension TransportError {
        /// What an exchange meets that never came to begin.
        static let stopped = TransportError(.cancelled, sendState: .unsent)
    }
#endif
