/// What calls are asking a server for at the moment, so that nobody asks for the same twice.
final class CacheFlights: Sendable {
    private let refreshes = Locked<Set<CacheKey>>([])
    private let flights = Locked<[CacheFlight.Purpose: CacheFlight]>([:])

    /// - Returns: `false` when the response is being refreshed already.
    func beginRefresh(of key: CacheKey) -> Bool {
        refreshes.withLock { $0.insert(key).inserted }
    }

    func endRefresh(of key: CacheKey) {
        refreshes.withLock { _ = $0.remove(key) }
    }

    /// The flight that a call may wait for, and whether it is a new one, which the call must start.
    ///
    /// - Parameter isUsable: whether one that is under way will do.
    func flight(
        for purpose: CacheFlight.Purpose, where isUsable: (CacheFlight) -> Bool, or make: () -> CacheFlight
    ) -> (flight: CacheFlight, isNew: Bool) {
        flights.withLock { flights in
            if let known = flights[purpose], isUsable(known), known.isJoined() { return (known, false) }
            let new = make()
            flights[purpose] = new
            return (new, true)
        }
    }

    func end(_ flight: CacheFlight) {
        flights.withLock { flights in
            if flights[flight.purpose] === flight { flights[flight.purpose] = nil }
        }
    }
}
