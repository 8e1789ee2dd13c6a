#if os(Linux)
    import PenstockCore

    /// Admission control: holds transfers back while the connections to their origin carry as many as they may.
    ///
    /// There are three limits. Over HTTP/1.1 as many transfers go at once as there may be connections to a host. Over HTTP/2 a
    /// connection carries a hundred transfers, or fewer where its server says so: libcurl would open a further connection
    /// for each transfer beyond that. And where nothing is known of an origin yet, no more go than one connection carries,
    /// because libcurl opens a connection for each of them as soon as it turns out not to be HTTP/2.
    ///
    /// A host may speak HTTP/2 on some connections and HTTP/1.1 on others. Which limit holds there is what was learnt last, and
    /// what goes the other way takes nothing of it but the connections themselves: streams may be without end. Where HTTP/1.1 was
    /// learnt last, what comes waits for one of its connections, also while those of HTTP/2 could carry more.
    ///
    /// A transfer that is held back waits in its turn. Where all places on HTTP/2 connections are taken for long, by streams
    /// that do not end, one transfer (the opener) goes ahead and opens a further connection, and others follow on it. It does so at
    /// once where the host has spoken HTTP/1.1 as well, and may have a connection that rests.
    struct CurlAdmission {
        /// Transfers on one connection: libcurl's own limit, and the least that a server should allow (RFC 9113 §6.5.2).
        static let places = 100
        /// Nanoseconds that a transfer waits until it opens a further connection.
        static let patience: UInt64 = 1_000_000_000
        /// Origins without transfers of which it is still known what they speak.
        private static let mostIdleOrigins = 64

        /// Connections to one host.
        private let most: Int
        /// Whether transfers over TLS may share connections.
        private let isShared: Bool
        private var originQueues: [HTTPURL.Origin: CurlOriginQueue] = [:]
        /// The one that was used last, which is found without hashing.
        private var last: CurlOriginQueue?
        /// The queues in which somebody waits, or has waited.
        private var queued: [CurlOriginQueue] = []
        /// Transfers that have a place or wait for one.
        private(set) var present = 0

        init(most: Int, isShared: Bool) {
            self.most = max(1, most)
            self.isShared = isShared
        }

        /// When a transfer will have waited long enough, in nanoseconds; `nil` when none waits.
        var moment: UInt64? {
            queued.isEmpty ? nil : queued.lazy.compactMap(\.moment).min()
        }

        /// Counts a transfer in, or holds it back.
        ///
        /// - Returns: whether it has a place.
        mutating func admit(_ transfer: CurlTransfer, _ now: UInt64) -> Bool {
            let originQueue = originQueue(for: transfer.request.request.url.origin)
            transfer.state.originQueue = originQueue
            present += 1
            if originQueue.admit(transfer) { return true }
            wait(in: originQueue)
            originQueue.append(transfer, now)
            return false
        }

        /// What a transfer's connection speaks is known.
        ///
        /// - Returns: those whose turn it is now.
        mutating func learned(_ isMultiplexed: Bool, from transfer: CurlTransfer) -> [CurlTransfer] {
            guard let originQueue = transfer.state.originQueue else { return [] }
            originQueue.learn(isMultiplexed)
            return originQueue.next()
        }

        /// A head came.
        ///
        /// - Returns: those whose turn it is now.
        mutating func headCame(for transfer: CurlTransfer) -> [CurlTransfer] {
            guard let originQueue = transfer.state.originQueue else { return [] }
            originQueue.headCame(for: transfer)
            return originQueue.hasQueue ? originQueue.next() : []
        }

        /// A transfer that was let go needs a connection that it may not open: it waits in its turn.
        mutating func takeBack(_ transfer: CurlTransfer, _ now: UInt64) {
            guard let originQueue = transfer.state.originQueue, transfer.state.isAdmitted else { return }
            wait(in: originQueue)
            originQueue.takeBack(transfer, now)
        }

        /// A transfer that was let go needs a connection to itself, after it was ``learned(_:from:)`` that its host speaks
        /// HTTP/1.1 too.
        ///
        /// - Returns: whether it may open one now; otherwise it waits in its turn.
        mutating func mayGoAlone(_ transfer: CurlTransfer, _ now: UInt64) -> Bool {
            guard let originQueue = transfer.state.originQueue, transfer.state.isAdmitted else { return true }
            originQueue.leavesWire(transfer)
            if !originQueue.isOverfull { return true }
            takeBack(transfer, now)
            return false
        }

        /// A transfer ended, with a place or without.
        ///
        /// - Returns: those whose turn it is now.
        mutating func ended(_ transfer: CurlTransfer) -> [CurlTransfer] {
            guard let originQueue = transfer.state.originQueue else { return [] }
            transfer.state.originQueue = nil
            present -= 1
            originQueue.ended(transfer)
            if originQueue.hasQueue { return originQueue.next() }
            if originQueue.isIdle, originQueues.count > Self.mostIdleOrigins { originQueues[originQueue.origin] = nil }
            return []
        }

        /// - Returns: those that have waited long enough, and those whose turn it is because others went over HTTP/2.
        mutating func impatient(_ now: UInt64) -> [CurlTransfer] {
            guard !queued.isEmpty else { return [] }
            queued.removeAll { originQueue in
                originQueue.isQueued = originQueue.hasQueue
                return !originQueue.isQueued
            }
            return queued.flatMap { $0.due(now) }
        }

        private mutating func wait(in originQueue: CurlOriginQueue) {
            guard !originQueue.isQueued else { return }
            originQueue.isQueued = true
            queued.append(originQueue)
        }

        private mutating func originQueue(for origin: HTTPURL.Origin) -> CurlOriginQueue {
            if let last, last.origin == origin { return last }
            let originQueue =
                originQueues[origin]
                ?? CurlOriginQueue(origin, most: most, isSerial: !isShared || origin.scheme == .http)
            originQueues[origin] = originQueue
            last = originQueue
            return originQueue
        }
    }

    /// How the request of a transfer goes that has a place.
    enum CurlWay {
        /// As one of those that an HTTP/2 connection carries.
        case stream
        /// On a connection that carries nothing else meanwhile.
        case alone
        /// Over a connection of which that is not known yet.
        case unknown
    }

    /// The transfers with one origin: those that have a place on its connections, and the queue of those that wait for one.
    final class CurlOriginQueue {
        let origin: HTTPURL.Origin
        private let most: Int
        /// What changes while there are transfers. Whoever drives the loop is alone in touching it, so the checks of exclusive
        /// access are left out, once for all of it.
        @exclusivity(unchecked) private var state: State

        private struct State {
            /// Whether it is HTTP/2; `nil` while it is not known.
            var isMultiplexed: Bool?
            /// Whether a connection has ever spoken HTTP/1.1.
            var isMixed = false
            /// Transfers on one HTTP/2 connection; fewer than its server takes only until all have ended.
            var places = CurlAdmission.places
            /// HTTP/2 connections that may be used at once.
            var connections = 1
            /// Transfers that have a place.
            var count = 0
            /// How many of those had a request that was about to be sent, and which way it went.
            var onTheWire = 0
            var streams = 0
            var alone = 0
            var queue: ArraySlice<CurlTransfer> = []
            /// Transfers in the queue that have not ended.
            var waiting = 0
            /// The transfer that opens a further connection.
            var opener: CurlTransfer?
            var isQueued = false
        }

        init(_ origin: HTTPURL.Origin, most: Int, isSerial: Bool) {
            self.origin = origin
            self.most = most
            state = State(isMultiplexed: isSerial ? false : nil)
        }

        /// Whether the admission has it among the queues in which somebody waits.
        var isQueued: Bool {
            get { state.isQueued }
            set { state.isQueued = newValue }
        }
        /// Transfers that one HTTP/2 connection may carry.
        var places: Int { state.places }
        var isIdle: Bool { state.count == 0 && state.waiting == 0 }
        var hasQueue: Bool { !state.queue.isEmpty }
        /// Whether more have a place than there are places by what is known now.
        var isOverfull: Bool { occupied > limit }

        var moment: UInt64? {
            guard state.isMultiplexed == true, state.opener == nil, state.connections < most,
                let first = state.queue.first
            else { return nil }
            return hasRoomAlone ? first.state.waitsSince : first.state.waitsSince + CurlAdmission.patience
        }

        /// Whether one that goes ahead may come upon a connection of HTTP/1.1, of which there is one left.
        private var hasRoomAlone: Bool { state.isMixed && state.alone < most - state.connections }

        private var limit: Int {
            switch state.isMultiplexed {
            // Those of HTTP/2 are connections as well, but whatever goes over them, another is never kept from going at all.
            case false: max(1, most - min(state.streams, state.connections))
            case true: state.places * state.connections
            default: min(CurlAdmission.places, most)
            }
        }

        /// How many of the transfers that have a place count towards the limit: not those that are known to go the other way.
        private var occupied: Int {
            switch state.isMultiplexed {
            case false: state.count - state.streams
            case true: state.count - state.alone
            default: state.count
            }
        }

        /// Gives a transfer a place where there is one.
        func admit(_ transfer: CurlTransfer) -> Bool {
            guard occupied < limit else { return false }
            state.count += 1
            transfer.state.isAdmitted = true
            return true
        }

        /// Puts a transfer at the end of the queue. While nothing is known of the origin, its connection is what the transfer waits for.
        func append(_ transfer: CurlTransfer, _ now: UInt64) {
            transfer.state.waitsSince = max(now, 1)
            if state.isMultiplexed == nil { transfer.state.clock.connectionStarted(now) }
            state.queue.append(transfer)
            state.waiting += 1
        }

        func takeBack(_ transfer: CurlTransfer, _ now: UInt64) {
            // What waits opens nothing, and another may have to.
            if state.opener === transfer { state.opener = nil }
            leavesWire(transfer)
            state.count -= 1
            transfer.state.isAdmitted = false
            transfer.state.waitsSince = max(now, 1)
            transfer.state.clock.connectionAwaited()
            let later = state.queue.firstIndex { $0.state.clock.began > transfer.state.clock.began }
            state.queue.insert(transfer, at: later ?? state.queue.endIndex)
            state.waiting += 1
        }

        func learn(_ isMultiplexed: Bool) {
            if state.isMultiplexed == nil { for transfer in state.queue { transfer.state.clock.connectionAwaited() } }
            state.isMultiplexed = isMultiplexed
            if !isMultiplexed { state.isMixed = true }
        }

        /// A connection that carries so many takes no more.
        func lowerPlaces(to streams: Int) {
            state.places = min(state.places, max(1, streams))
        }

        func headCame(for transfer: CurlTransfer) {
            let isMultiplexed = transfer.state.head.version == .http2
            if state.isMultiplexed != isMultiplexed { learn(isMultiplexed) }
            if transfer.state.isAdmitted { note(isMultiplexed ? .stream : .alone, of: transfer) }
            guard state.opener === transfer else { return }
            state.opener = nil
            if isMultiplexed { state.connections += 1 }
        }

        /// The request of a transfer is about to be sent, for the first time or again.
        func sends(_ transfer: CurlTransfer, _ way: CurlWay) {
            note(way, of: transfer)
        }

        /// The request is not being sent any more, nor is its answer awaited.
        func leavesWire(_ transfer: CurlTransfer) {
            note(nil, of: transfer)
        }

        private func note(_ way: CurlWay?, of transfer: CurlTransfer) {
            let before = transfer.state.way
            guard way != before else { return }
            transfer.state.way = way
            if let before { count(before, -1) }
            if let way { count(way, 1) }
        }

        private func count(_ way: CurlWay, _ change: Int) {
            state.onTheWire += change
            switch way {
            case .stream: state.streams += change
            case .alone: state.alone += change
            case .unknown: break
            }
        }

        /// Whether several requests are being sent over what may be one connection.
        var carriesSeveral: Bool { state.isMultiplexed != false && state.onTheWire > 1 }

        /// Whether a transfer that is about to open a connection has no reason to wait for a place on one that is there.
        func mayConnect(_ transfer: CurlTransfer) -> Bool {
            state.isMultiplexed != true || state.onTheWire == 0 || state.opener === transfer
                || transfer.state.attempts > 0
        }

        func ended(_ transfer: CurlTransfer) {
            if state.opener === transfer { state.opener = nil }
            leavesWire(transfer)
            guard transfer.state.isAdmitted else {
                state.waiting -= 1
                if state.queue.count > 2 * state.waiting + 16 { state.queue.removeAll { !$0.isUnderWay } }
                return
            }
            transfer.state.isAdmitted = false
            state.count -= 1
            let (shared, all) = (state.count - state.alone, state.places * state.connections)
            if state.connections > 1, shared + state.places < all { state.connections -= 1 }
            if state.count == 0 { state.places = CurlAdmission.places }
        }

        func next() -> [CurlTransfer] {
            var admitted: [CurlTransfer] = []
            while occupied < limit, let transfer = takeFirst() { admitted.append(transfer) }
            return admitted
        }

        /// Those that need not wait any more, although no transfer has ended or been answered. Where HTTP/1.1 holds them back,
        /// others that were sent over HTTP/2 have given way. Where HTTP/2 does, the first that has waited long enough opens a
        /// connection.
        func due(_ now: UInt64) -> [CurlTransfer] {
            if state.isMultiplexed == false { return next() }
            guard let moment, moment <= now, let opener = takeFirst() else { return [] }
            state.opener = opener
            return [opener]
        }

        /// Passes over those that have ended meanwhile.
        private func takeFirst() -> CurlTransfer? {
            while let transfer = state.queue.popFirst() {
                guard transfer.isUnderWay else { continue }
                state.waiting -= 1
                state.count += 1
                transfer.state.isAdmitted = true
                return transfer
            }
            state.queue = []
            return nil
        }
    }
#endif
