#if os(Linux)
    import PenstockCore

    /// Holds exchanges back while the connections to their origin carry as many as they may.
    ///
    /// It keeps three limits. Over HTTP/1.1 as many exchanges go at once as there may be connections to a host. Over HTTP/2 a
    /// connection carries a hundred exchanges, or fewer where its server says so: libcurl would open a further connection
    /// for each exchange beyond that. And where nothing is known of an origin yet, no more go than one connection carries,
    /// because libcurl opens a connection for each of them as soon as it turns out not to be HTTP/2.
    ///
    /// Whoever is held back waits in order. Where all places on HTTP/2 connections are taken for long, by streams that do
    /// not end, one exchange goes ahead and opens a further connection, and others follow on it.
    struct CurlGate {
        /// Exchanges on one connection: libcurl's own limit, and the least that a server should allow (RFC 9113 §6.5.2).
        static let places = 100
        /// Nanoseconds that an exchange waits until it opens a further connection.
        static let patience: UInt64 = 1_000_000_000
        /// Origins without exchanges of which it is still known what they speak.
        private static let mostIdleLanes = 64

        /// Connections to one host.
        private let most: Int
        /// Whether exchanges over TLS may share connections.
        private let isShared: Bool
        private var lanes: [HTTPURL.Origin: CurlLane] = [:]
        /// The one that was used last, which is found without hashing.
        private var last: CurlLane?
        /// Those in which somebody waits, or has waited.
        private var queued: [CurlLane] = []
        /// Exchanges that have a place or wait for one.
        private(set) var present = 0

        init(most: Int, isShared: Bool) {
            self.most = max(1, most)
            self.isShared = isShared
        }

        /// When an exchange will have waited long enough, in nanoseconds; `nil` when none waits.
        var moment: UInt64? {
            queued.isEmpty ? nil : queued.lazy.compactMap(\.moment).min()
        }

        /// Counts an exchange in, or holds it back.
        mutating func admits(_ exchange: CurlExchange, _ now: UInt64) -> Bool {
            let lane = lane(for: exchange.order.request.url.origin)
            exchange.lane = lane
            present += 1
            if lane.admits(exchange) { return true }
            wait(in: lane)
            lane.append(exchange, now)
            return false
        }

        /// What an exchange's connection speaks is known.
        ///
        /// - Returns: those whose turn it is now.
        mutating func learned(_ isMultiplexed: Bool, from exchange: CurlExchange) -> [CurlExchange] {
            guard let lane = exchange.lane else { return [] }
            lane.learn(isMultiplexed)
            return lane.next()
        }

        /// A head came.
        ///
        /// - Returns: those whose turn it is now.
        mutating func headCame(for exchange: CurlExchange) -> [CurlExchange] {
            guard let lane = exchange.lane else { return [] }
            lane.headCame(for: exchange)
            return lane.hasQueue ? lane.next() : []
        }

        /// An exchange that was let go needs a connection that it may not open: it waits in its turn.
        mutating func takeBack(_ exchange: CurlExchange, _ now: UInt64) {
            guard let lane = exchange.lane, exchange.isAdmitted else { return }
            wait(in: lane)
            lane.takeBack(exchange, now)
        }

        /// An exchange ended, with a place or without.
        ///
        /// - Returns: those whose turn it is now.
        mutating func ended(_ exchange: CurlExchange) -> [CurlExchange] {
            guard let lane = exchange.lane else { return [] }
            exchange.lane = nil
            present -= 1
            lane.ended(exchange)
            if lane.hasQueue { return lane.next() }
            if lane.isIdle, lanes.count > Self.mostIdleLanes { lanes[lane.origin] = nil }
            return []
        }

        /// - Returns: those that have waited long enough.
        mutating func impatient(_ now: UInt64) -> [CurlExchange] {
            guard !queued.isEmpty else { return [] }
            queued.removeAll { lane in
                lane.isQueued = lane.hasQueue
                return !lane.isQueued
            }
            return queued.compactMap { $0.pioneer(now) }
        }

        private mutating func wait(in lane: CurlLane) {
            guard !lane.isQueued else { return }
            lane.isQueued = true
            queued.append(lane)
        }

        private mutating func lane(for origin: HTTPURL.Origin) -> CurlLane {
            if let last, last.origin == origin { return last }
            let lane = lanes[origin] ?? CurlLane(origin, most: most, isSerial: !isShared || origin.scheme == .http)
            lanes[origin] = lane
            last = lane
            return lane
        }
    }

    /// The exchanges with one origin.
    final class CurlLane {
        let origin: HTTPURL.Origin
        private let most: Int
        /// Whether it is HTTP/2; `nil` while it is not known.
        @exclusivity(unchecked) private(set) var isMultiplexed: Bool?
        /// Exchanges on one HTTP/2 connection; fewer than its server takes only until all have ended.
        @exclusivity(unchecked) private(set) var places = CurlGate.places
        /// HTTP/2 connections that may be used at once.
        @exclusivity(unchecked) private var connections = 1
        /// Exchanges that have a place.
        @exclusivity(unchecked) private var count = 0
        /// Of those, the ones whose request was about to be sent.
        @exclusivity(unchecked) private var onTheWire = 0
        @exclusivity(unchecked) private var queue: ArraySlice<CurlExchange> = []
        /// Exchanges in the queue that have not ended.
        @exclusivity(unchecked) private var waiting = 0
        /// It opens a further connection.
        @exclusivity(unchecked) private var pioneer: CurlExchange?
        /// Whether the gate has it among those in which somebody waits.
        @exclusivity(unchecked) var isQueued = false

        init(_ origin: HTTPURL.Origin, most: Int, isSerial: Bool) {
            self.origin = origin
            self.most = most
            isMultiplexed = isSerial ? false : nil
        }

        var isIdle: Bool { count == 0 && waiting == 0 }
        var hasQueue: Bool { !queue.isEmpty }

        var moment: UInt64? {
            guard isMultiplexed == true, pioneer == nil, connections < most, let first = queue.first else { return nil }
            return first.waitsSince + CurlGate.patience
        }

        private var limit: Int {
            switch isMultiplexed {
            case false: most
            case true: places * connections
            default: min(CurlGate.places, most)
            }
        }

        func admits(_ exchange: CurlExchange) -> Bool {
            guard count < limit else { return false }
            count += 1
            exchange.isAdmitted = true
            return true
        }

        /// While nothing is known of the origin, its connection is what the exchange waits for.
        func append(_ exchange: CurlExchange, _ now: UInt64) {
            exchange.waitsSince = max(now, 1)
            if isMultiplexed == nil { exchange.clock.connectionStarted(now) }
            queue.append(exchange)
            waiting += 1
        }

        func takeBack(_ exchange: CurlExchange, _ now: UInt64) {
            count -= 1
            exchange.isAdmitted = false
            exchange.waitsSince = max(now, 1)
            exchange.clock.connectionAwaited()
            let later = queue.firstIndex { $0.clock.began > exchange.clock.began }
            queue.insert(exchange, at: later ?? queue.endIndex)
            waiting += 1
        }

        func learn(_ isMultiplexed: Bool) {
            if self.isMultiplexed == nil { for exchange in queue { exchange.clock.connectionAwaited() } }
            self.isMultiplexed = isMultiplexed
        }

        /// A connection that carries so many takes no more.
        func isFull(_ streams: Int) {
            places = min(places, max(1, streams))
        }

        func headCame(for exchange: CurlExchange) {
            let isMultiplexed = exchange.head.version == .http2
            if self.isMultiplexed != isMultiplexed { learn(isMultiplexed) }
            guard pioneer === exchange else { return }
            pioneer = nil
            connections += 1
        }

        func sends() {
            onTheWire += 1
        }

        /// Whether several requests are being sent over what may be one connection.
        var carriesSeveral: Bool { isMultiplexed != false && onTheWire > 1 }

        /// Whether an exchange that is about to open a connection has no reason to wait for a place on one that is there.
        func mayConnect(_ exchange: CurlExchange) -> Bool {
            isMultiplexed != true || onTheWire == 0 || pioneer === exchange || exchange.attempts > 0
        }

        func ended(_ exchange: CurlExchange) {
            if pioneer === exchange { pioneer = nil }
            guard exchange.isAdmitted else {
                waiting -= 1
                if queue.count > 2 * waiting + 16 { queue.removeAll { $0.place == nil } }
                return
            }
            exchange.isAdmitted = false
            count -= 1
            if exchange.attempts > 0 { onTheWire -= 1 }
            if connections > 1, count + places < limit { connections -= 1 }
            if count == 0 { places = CurlGate.places }
        }

        func next() -> [CurlExchange] {
            var admitted: [CurlExchange] = []
            while count < limit, let exchange = takeFirst() { admitted.append(exchange) }
            return admitted
        }

        func pioneer(_ now: UInt64) -> CurlExchange? {
            guard let moment, moment <= now else { return nil }
            pioneer = takeFirst()
            return pioneer
        }

        /// Passes over those that have ended meanwhile.
        private func takeFirst() -> CurlExchange? {
            while let exchange = queue.popFirst() {
                guard exchange.place != nil else { continue }
                waiting -= 1
                count += 1
                exchange.isAdmitted = true
                return exchange
            }
            queue = []
            return nil
        }
    }
#endif
