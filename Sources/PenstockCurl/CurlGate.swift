#if os(Linux)
    import PenstockCore

    /// Holds exchanges back while the connection to their origin carries as many as it may.
    ///
    /// libcurl opens a connection of its own for each exchange beyond that, and knows only after the first one whether an
    /// origin speaks HTTP/2 at all: ten thousand calls at once would open more than nine thousand connections. Here they
    /// wait their turn. Where all places are taken for long, by streams that do not end, one exchange goes ahead and opens
    /// a further connection, and others follow on it.
    struct CurlGate {
        /// Exchanges on one connection: libcurl's own limit, and the least that a server should allow (RFC 9113 §6.5.2).
        static let places = 100
        /// Nanoseconds that an exchange waits until it opens a further connection.
        static let patience: UInt64 = 1_000_000_000

        private var lanes: [HTTPURL.Origin: Lane] = [:]
        private var waiting = 0

        /// When an exchange will have waited long enough, in nanoseconds; `nil` when none waits.
        var moment: UInt64? {
            waiting == 0 ? nil : lanes.values.lazy.compactMap(\.moment).min()
        }

        /// Counts an exchange in, or holds it back.
        mutating func admits(_ exchange: CurlExchange, _ now: UInt64) -> Bool {
            let isAdmitted = lanes[exchange.order.request.url.origin, default: Lane()].admits(exchange, now)
            if !isAdmitted { waiting += 1 }
            return isAdmitted
        }

        /// A head came: the origin's protocol is known.
        ///
        /// - Returns: those whose turn it is now.
        mutating func headCame(for exchange: CurlExchange) -> [CurlExchange] {
            change(exchange) { $0.headCame(for: exchange) }
        }

        /// - Returns: those whose turn it is now.
        mutating func ended(_ exchange: CurlExchange) -> [CurlExchange] {
            change(exchange) { $0.ended(exchange) }
        }

        /// - Returns: those that have waited long enough.
        mutating func impatient(_ now: UInt64) -> [CurlExchange] {
            guard let moment, moment <= now else { return [] }
            return lanes.keys.compactMap { origin in lanes[origin]?.pioneer(now, &waiting) }
        }

        private mutating func change(_ exchange: CurlExchange, _ body: (inout Lane) -> Void) -> [CurlExchange] {
            let origin = exchange.order.request.url.origin
            guard var lane = lanes[origin] else { return [] }
            body(&lane)
            let next = lane.next(&waiting)
            lanes[origin] = lane.isIdle ? nil : lane
            return next
        }
    }

    /// The exchanges with one origin.
    private struct Lane {
        /// `nil` while it is not known.
        private var isMultiplexed: Bool?
        private var count = 0
        private var limit = CurlGate.places
        private var queue: ArraySlice<CurlExchange> = []
        /// It opens a further connection.
        private var pioneer: CurlExchange?

        var isIdle: Bool { count == 0 && queue.isEmpty }

        var moment: UInt64? {
            guard isMultiplexed == true, pioneer == nil, let first = queue.first else { return nil }
            return first.waitsSince + CurlGate.patience
        }

        private var hasPlace: Bool { isMultiplexed == false || count < limit }

        mutating func admits(_ exchange: CurlExchange, _ now: UInt64) -> Bool {
            guard !hasPlace else {
                count += 1
                exchange.isAdmitted = true
                return true
            }
            exchange.waitsSince = now
            queue.append(exchange)
            return false
        }

        mutating func headCame(for exchange: CurlExchange) {
            isMultiplexed = exchange.head.version == .http2
            guard pioneer === exchange else { return }
            pioneer = nil
            limit += CurlGate.places
        }

        mutating func ended(_ exchange: CurlExchange) {
            count -= 1
            if pioneer === exchange { pioneer = nil }
            if limit > CurlGate.places, count + CurlGate.places < limit { limit -= CurlGate.places }
        }

        mutating func next(_ waiting: inout Int) -> [CurlExchange] {
            var admitted: [CurlExchange] = []
            while hasPlace, let exchange = takeFirst(&waiting) { admitted.append(exchange) }
            return admitted
        }

        mutating func pioneer(_ now: UInt64, _ waiting: inout Int) -> CurlExchange? {
            guard let moment, moment <= now else { return nil }
            pioneer = takeFirst(&waiting)
            return pioneer
        }

        /// Passes over those that have ended meanwhile.
        private mutating func takeFirst(_ waiting: inout Int) -> CurlExchange? {
            while let exchange = queue.popFirst() {
                waiting -= 1
                guard exchange.place != nil else { continue }
                count += 1
                exchange.isAdmitted = true
                return exchange
            }
            queue = []
            return nil
        }
    }
#endif
