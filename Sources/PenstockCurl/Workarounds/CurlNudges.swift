#if os(Linux)
    import CCurl

    /// When exchanges that share connections are to be looked at although no event says so.
    ///
    /// An exchange on an HTTP/2 connection reads for all the others on it. When it ends, and the reading with it, libcurl
    /// may hold bytes of another, or its end, without having told that one; no event of the socket will, and it would wait
    /// until its time-out. (Seen with libcurl 7.88 in one of forty bursts of a hundred exchanges, and not with 8.14.) So
    /// an exchange that has been quiet for a moment is asked to look for itself: soon at first, then ever more seldom.
    struct CurlNudges {
        /// Nanoseconds without a byte until an exchange is asked for the first time; doubles each time up to ``rarest``.
        static let delay: UInt64 = 5_000_000
        static let rarest: UInt64 = 1_280_000_000

        /// When to look, in nanoseconds; `nil` when there is nothing to look at.
        private(set) var moment: UInt64?
        private var isMultiplexed = false

        /// - Parameter left: exchanges still under way.
        mutating func exchangeEnded(isMultiplexed isOne: Bool, left: Int, _ now: UInt64) {
            isMultiplexed = isMultiplexed || (isOne && !CurlMultiplexing.isSound)
            if left == 0 { return moment = nil }
            if isMultiplexed { moment = moment ?? now + Self.delay }
        }

        /// libcurl may hold more of a head than it has handed over, and of content that came with it.
        mutating func headCame(_ now: UInt64) {
            if !CurlMultiplexing.isSound { moment = moment ?? now + Self.delay }
        }

        /// - Parameter next: when an exchange is due next; `nil` when none is left.
        mutating func looked(_ next: UInt64?) {
            moment = next
        }
    }

    /// How often an exchange has been asked, and when again.
    struct CurlPatience {
        private var lastMove: UInt64 = 0
        private var lastAsked: UInt64 = 0
        private var times: UInt64 = 0

        /// - Parameter moved: when the exchange last moved, in nanoseconds.
        /// - Returns: when it is to be asked; at once, if that is not after `now`, and then the asking is counted.
        mutating func isDue(_ moved: UInt64, _ now: UInt64) -> (isDue: Bool, next: UInt64) {
            if moved != lastMove { (lastMove, lastAsked, times) = (moved, moved, 0) }
            let isDue = next <= now
            if isDue { (lastAsked, times) = (now, times + 1) }
            return (isDue, next)
        }

        private var next: UInt64 { lastAsked + min(CurlNudges.delay << min(times, 16), CurlNudges.rarest) }
    }

    extension CurlPool {
        /// Asks the exchanges that are due to look for bytes that libcurl holds already.
        func nudge() {
            var next: UInt64?
            for handle in handles {
                guard let exchange = handle.exchange, exchange.isOnTheWire, let moved = exchange.clock.lastByte else {
                    continue
                }
                let (isDue, moment) = exchange.patience.isDue(moved, loop.now)
                next = min(next ?? .max, moment)
                if isDue, exchange.isFree { look(handle) }
            }
            nudges.looked(next ?? (handles.isEmpty ? nil : loop.now + CurlNudges.rarest))
        }

        /// Unpausing is what makes libcurl look; the content it would pause is sent or is none of this exchange's.
        private func look(_ handle: CurlHandle) {
            let codes = [pause(handle, CURLPAUSE_SEND), pause(handle, CURLPAUSE_CONT)]
            if let code = codes.lazy.compactMap({ $0 }).first { broken.append((handle, code)) }
            act(CURL_SOCKET_TIMEOUT, 0)
        }
    }

    extension CurlExchange {
        fileprivate var isOnTheWire: Bool { attempts > 0 }
        /// Whether nothing is paused that would have to stay so.
        fileprivate var isFree: Bool { !isSuspended && !isHeldBack && !awaitsChunk }
    }
#endif
