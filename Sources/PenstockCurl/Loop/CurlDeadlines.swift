#if os(Linux)
    import Foundation
    import PenstockCore

    /// The time-outs of one transfer, in nanoseconds of the monotonic clock.
    ///
    /// They are kept here and not in libcurl because libcurl's connect time-out runs on while a transfer waits for a
    /// free connection, and because it knows no first-byte time-out.
    struct CurlClock {
        private let connect: UInt64
        private let firstByte: UInt64
        private var idle: UInt64
        private var total: UInt64
        /// The time, in nanoseconds, for content that is read past, and for what is left of a request that was answered: waiting longer
        /// costs more than another connection.
        private static let haste: UInt64 = 500_000_000
        private let leastBytes: Int
        private let span: UInt64
        /// A phase that has not begun cannot end sooner than this after now.
        private let shortest: UInt64

        /// When the transfer began.
        private(set) var started: UInt64 = 0
        /// The moment since which the total time-out runs.
        private(set) var began: UInt64 = 0
        private var connecting: UInt64?
        private var awaitingAnswer: UInt64?
        private(set) var lastByte: UInt64?
        /// When the span began within which so many bytes of content must come, and how many have.
        private var spanStart: UInt64?
        private var spanBytes = 0
        private var isSuspended = false

        /// A request that the system has taken is looked after this often, in nanoseconds, while it leaves.
        private static let look: UInt64 = 1_000_000_000

        /// - Parameter isSending: whether the request may be long under way after the system has taken it.
        init(_ timeouts: Timeouts, _ throughput: ResponseLimits.Throughput? = nil, isSending: Bool = false) {
            connect = Self.nanoseconds(timeouts.connect)
            firstByte = Self.nanoseconds(timeouts.firstByte)
            idle = Self.nanoseconds(timeouts.idle)
            total = Self.nanoseconds(timeouts.total)
            leastBytes = throughput?.bytes ?? 0
            span = Self.nanoseconds(throughput?.span)
            let phase = min(connect, firstByte, idle, span)
            shortest = max(isSending ? min(phase / 8, Self.look) : phase, 1_000_000)
        }

        // MARK: What happened

        mutating func begin(_ now: UInt64) {
            (started, began) = (now, now)
        }

        /// A name look-up or a connection started; more than one may, for the same connection.
        mutating func connectionStarted(_ now: UInt64) {
            connecting = connecting ?? now
        }

        /// The transfer waits for others before a connection is made for it, which may take as long as they do.
        mutating func connectionAwaited() {
            connecting = nil
        }

        /// The request is about to be sent.
        mutating func sending(_ now: UInt64) {
            connecting = nil
            awaitingAnswer = nil
            spanStart = nil
            lastByte = now
        }

        /// The last byte of the request was handed over. The head of the response may have come before.
        mutating func sent(_ now: UInt64) {
            if spanStart == nil { awaitingAnswer = now }
            lastByte = now
        }

        mutating func moved(_ now: UInt64) {
            lastByte = now
        }

        /// Bytes of the request have come to the other end that the system had taken before.
        mutating func arrived(_ now: UInt64) {
            if awaitingAnswer != nil { awaitingAnswer = now }
            lastByte = now
        }

        /// The head of the response is complete, and its content begins.
        mutating func answered(_ now: UInt64) {
            awaitingAnswer = nil
            lastByte = now
            beginSpan(now)
        }

        private mutating func beginSpan(_ now: UInt64) {
            (spanStart, spanBytes) = (now, 0)
        }

        mutating func received(_ count: Int, _ now: UInt64) {
            lastByte = now
            spanBytes += count
        }

        /// Little more time is given from here on.
        mutating func hurry(_ now: UInt64) {
            (began, total) = (now, min(total, Self.haste))
        }

        /// The rest of the request is not needed any more, since the answer is there.
        ///
        /// - Parameter isMoving: whether it may go on for as long as it moves.
        mutating func hurry(_ now: UInt64, whileMoving isMoving: Bool) {
            guard isMoving else { return hurry(now) }
            (lastByte, idle) = (now, min(idle, Self.haste))
        }

        /// Ends the total time-out: from here on the reader decides how long it takes.
        mutating func endTotal() {
            total = .max
        }

        mutating func suspend() {
            isSuspended = true
        }

        /// The phases that stood still begin anew.
        mutating func resume(_ now: UInt64) {
            isSuspended = false
            if awaitingAnswer != nil { awaitingAnswer = now }
            if lastByte != nil { lastByte = now }
            if spanStart != nil { beginSpan(now) }
        }

        /// When connecting, or the whole, has taken too long.
        var connectingEnds: UInt64 {
            min(Self.end(began, total), connecting.map { Self.end($0, connect) } ?? .max)
        }

        // MARK: What follows

        /// What took too long, or came too slowly. Where the answer is late and the wire is idle for the same reason, the phase
        /// with the shorter time-out is named, and the first byte when they are equal.
        mutating func expired(_ now: UInt64) -> TransportError.Kind? {
            if Self.end(began, total) <= now { return .timeout(.total) }
            if let connecting, Self.end(connecting, connect) <= now { return .timeout(.connect) }
            guard !isSuspended else { return nil }
            if let awaitingAnswer, Self.end(awaitingAnswer, firstByte) <= now { return .timeout(.firstByte) }
            if let lastByte, Self.end(lastByte, idle) <= now { return .timeout(.idle) }
            return checkSpan(now) ? .limitExceeded(.minimumThroughput) : nil
        }

        /// Ends a span that brought enough, and begins the next.
        ///
        /// - Returns: whether one has ended that brought too little.
        private mutating func checkSpan(_ now: UInt64) -> Bool {
            guard let spanStart, Self.end(spanStart, span) <= now else { return false }
            guard spanBytes >= leastBytes else { return true }
            beginSpan(now)
            return false
        }

        /// When to look again, given that nothing has expired.
        func nextLook(_ now: UInt64) -> UInt64 {
            var moment = min(Self.end(began, total), Self.end(now, shortest))
            if let connecting { moment = min(moment, Self.end(connecting, connect)) }
            guard !isSuspended else { return moment }
            if let awaitingAnswer { moment = min(moment, Self.end(awaitingAnswer, firstByte)) }
            if let lastByte { moment = min(moment, Self.end(lastByte, idle)) }
            if let spanStart { moment = min(moment, Self.end(spanStart, span)) }
            return moment
        }

        private static func end(_ start: UInt64, _ length: UInt64) -> UInt64 {
            let (sum, overflow) = start.addingReportingOverflow(length)
            return overflow ? .max : sum
        }

        private static func nanoseconds(_ duration: Duration?) -> UInt64 {
            guard let duration else { return .max }
            return UInt64(clamping: duration.attoseconds / 1_000_000_000)
        }

        static func now() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }

    /// Every transfer under way, ordered by when it must next be looked at.
    ///
    /// A binary heap in which each transfer knows its index in it, so that ending one costs O(log n). Progress never moves a
    /// transfer: it is looked at no later than any of its time-outs could fire, and goes back with a later moment when
    /// none has.
    struct CurlDeadlines {
        private struct Item {
            var moment: UInt64
            let transfer: CurlTransfer
        }

        private var items: [Item] = []

        var isEmpty: Bool { items.isEmpty }
        var count: Int { items.count }
        /// Nanoseconds of the monotonic clock; `.max` when there is nothing to look at.
        var nextMoment: UInt64 { items.first?.moment ?? .max }
        var first: CurlTransfer? { items.first?.transfer }
        /// The transfers, in no order.
        var transfers: [CurlTransfer] { items.map(\.transfer) }

        mutating func insert(_ transfer: CurlTransfer, at moment: UInt64) {
            transfer.state.heapIndex = items.count
            items.append(Item(moment: moment, transfer: transfer))
            siftUp(items.count - 1)
        }

        mutating func remove(_ transfer: CurlTransfer) {
            guard let index = transfer.state.heapIndex else { return }
            transfer.state.heapIndex = nil
            let last = items.removeLast()
            guard index < items.count else { return }
            put(last, at: index)
            siftDown(siftUp(index))
        }

        mutating func move(_ transfer: CurlTransfer, to moment: UInt64) {
            guard let index = transfer.state.heapIndex else { return }
            items[index].moment = moment
            siftDown(siftUp(index))
        }

        private mutating func put(_ item: Item, at index: Int) {
            item.transfer.state.heapIndex = index
            items[index] = item
        }

        @discardableResult
        private mutating func siftUp(_ start: Int) -> Int {
            var index = start
            while index > 0, items[index].moment < items[(index - 1) / 2].moment {
                swapItems(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
            return index
        }

        private mutating func siftDown(_ start: Int) {
            var index = start
            while true {
                var least = index
                for child in (2 * index + 1)...(2 * index + 2) where child < items.count {
                    if items[child].moment < items[least].moment { least = child }
                }
                guard least != index else { return }
                swapItems(index, least)
                index = least
            }
        }

        private mutating func swapItems(_ one: Int, _ other: Int) {
            items.swapAt(one, other)
            items[one].transfer.state.heapIndex = one
            items[other].transfer.state.heapIndex = other
        }
    }
#endif
