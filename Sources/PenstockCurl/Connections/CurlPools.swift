#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// Every pool of a loop, and which of them have work.
    ///
    /// A pool stays for the life of an idle connection after its last transfer. There may be thousands, so what is done
    /// in each round is done for those with work alone.
    struct CurlPools {
        /// The pools that new transfers may use, and retired ones that still have work.
        private var all: [CurlPool.Key: CurlPool] = [:]
        /// The one that was used last, which is found without hashing.
        private var last: CurlPool?
        /// The pools that must be looked at in each round.
        private(set) var working: [CurlPool] = []
        /// When the idle ones are to be looked at, in nanoseconds.
        private(set) var nextSweep: UInt64 = .max
        private var retirements = 0
        /// Pools beyond which the oldest idle ones are closed.
        private let most: Int
        /// How long an idle one is kept, in nanoseconds.
        private let life: UInt64

        /// An idle pool has two descriptors of its own and its connections. Idle ones may take half of what the process
        /// may open.
        init(life: UInt64, descriptors: Int = CurlDescriptors.limit) {
            self.life = life
            most = min(max(descriptors / 6, 8), 1_024)
        }

        mutating func find(_ request: TransportRequest, isShared: Bool) -> CurlPool? {
            if let last, last.serves(request, isShared: isShared) { return last }
            last = all[Self.key(request, isShared: isShared)] ?? last
            return last.flatMap { $0.serves(request, isShared: isShared) ? $0 : nil }
        }

        static func key(_ request: TransportRequest, isShared: Bool) -> CurlPool.Key {
            CurlPool.Key(isolation: request.isolation, isShared: isShared)
        }

        mutating func add(_ pool: CurlPool, _ now: UInt64) {
            if all.count >= most { closeIdle(max(1, most / 16)) }
            all[pool.key] = pool
            last = pool
            nextSweep = min(nextSweep, now + life)
        }

        /// The pool has work from here on, until ``tidy(_:)`` finds none.
        mutating func work(_ pool: CurlPool) {
            guard !pool.isListed else { return }
            pool.isListed = true
            working.append(pool)
        }

        /// No new transfer uses the pool.
        mutating func retire(_ pool: CurlPool) {
            all[pool.key] = nil
            if last === pool { last = nil }
            retirements += 1
            pool.retire(retirements)
            all[pool.key] = pool
        }

        /// Closes what was connected for an identity, as soon as nothing uses it.
        mutating func forget(_ identity: String) {
            for pool in all.values where pool.isolation.identity.isWritten(as: identity) && !pool.isRetired {
                if pool.isAtRest { close(pool) } else { retire(pool) }
            }
        }

        mutating func close(_ pool: CurlPool) {
            all[pool.key] = nil
            if last === pool { last = nil }
            pool.close()
        }

        mutating func closeAll() {
            for pool in all.values { pool.close() }
            (all, last, working) = ([:], nil, [])
        }

        /// Closes idle pools, those that were used longest ago first.
        ///
        /// - Returns: `false` when there is none.
        @discardableResult
        mutating func closeIdle(_ count: Int) -> Bool {
            let idle = all.values.filter(\.isAtRest)
            let oldest =
                count == 1
                ? Array(idle.min { $0.lastUse < $1.lastUse }.map { [$0] } ?? [])
                : Array(idle.sorted { $0.lastUse < $1.lastUse }.prefix(count))
            for pool in oldest { close(pool) }
            return !oldest.isEmpty
        }

        /// Closes an idle connection of a pool that has work.
        ///
        /// - Returns: `false` when there is none.
        func closeIdleConnection() -> Bool {
            working.sorted { $0.lastUse < $1.lastUse }.contains { !$0.isClosed && $0.closeIdleConnection() }
        }

        /// Forgets which have no work any more, and closes those that nothing has used for long. One that is alone stays
        /// among those with work, since the next transfer is likely to be its.
        mutating func tidy(_ now: UInt64) {
            // Nothing will ever use the connections of one that is retired.
            for pool in working where pool.isRetired && !pool.isClosed && pool.isAtRest { close(pool) }
            if working.count > 1 || working.first?.isClosed == true {
                working.removeAll { pool in
                    pool.isListed = !pool.isAtRest
                    return !pool.isListed
                }
            }
            guard now >= nextSweep else { return }
            for pool in all.values where pool.isAtRest && now - pool.lastUse >= life { close(pool) }
            nextSweep = all.isEmpty ? .max : now + life
        }
    }

    extension CurlLoop {
        /// The pool of a transfer that comes again, or the one it belongs in.
        func pool(of transfer: CurlTransfer) throws(TransportError) -> CurlPool {
            if let pool = transfer.state.pool {
                if !pool.isRetired { return pool }
                leaveAdmission(pool, transfer)
            }
            let isShared =
                CurlMultiplexing.suits(transfer.request.request) && !state.http1Origins.contains(transfer.request)
            if let pool = pools.find(transfer.request, isShared: isShared) {
                if pool.trust.isCurrent { return pool }
                pools.retire(pool)
            }
            let key = CurlPools.key(transfer.request, isShared: isShared)
            let trust = try CurlTrust(key.isolation.trust)
            guard let pool = CurlPool(key, trust, loop: self) else { throw .outOfMemory }
            pools.add(pool, now)
            return pool
        }

        /// The next transfer opens another.
        func giveUp(_ pool: CurlPool) {
            for transfer in state.deadlines.transfers where transfer.state.pool === pool {
                finish(transfer, .failure(transfer.error(.other, "libcurl has no memory left")))
            }
            pools.close(pool)
        }
    }
#endif
