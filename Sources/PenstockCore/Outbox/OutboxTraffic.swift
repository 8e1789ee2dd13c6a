/// Which rows are held back: those to a host that is not there, and those whose calls the app has paused. The others go on,
/// however many of these there are. A value without a clock of its own.
struct OutboxTraffic {
    /// What is known of one host.
    private struct Standing {
        var throttle = OutboxThrottle()
        /// The destinations that lead there.
        var destinations: Set<String> = []
    }

    private var hosts: [HTTPURL.Origin: Standing] = [:]
    /// One of the writes of each destination that is paused.
    private var paused: [String: any OutboxEndpoint] = [:]

    /// Notes where a destination leads: rows hold digests, so it shows when the first one of them is opened.
    ///
    /// - Parameter destination: `nil` for a row that an earlier version put, which is held back by itself alone.
    mutating func learn(_ destination: String?, leadsTo origin: HTTPURL.Origin) {
        guard let destination else { return }
        hosts[origin, default: Standing()].destinations.insert(destination)
    }

    /// Notes what came of an attempt.
    mutating func note(_ result: OutboxOutcome.Result, from origin: HTTPURL.Origin, at now: Duration) {
        hosts[origin, default: Standing()].throttle.note(result, at: now)
    }

    /// Leaves a host alone for a while, as the client does: so does what waits, rather than be refused row by row.
    mutating func spare(_ origin: HTTPURL.Origin, for pause: Duration, at now: Duration) {
        hosts[origin, default: Standing()].throttle.spare(for: pause, at: now)
    }

    /// Every host may be tried again.
    mutating func hasten() {
        for origin in hosts.keys { hosts[origin]?.throttle = OutboxThrottle() }
    }

    /// The moment until which a host is not tried; `nil` where it may be.
    func rest(of origin: HTTPURL.Origin, at now: Duration) -> Duration? {
        hosts[origin]?.throttle.until.flatMap { $0 > now ? $0 : nil }
    }

    /// When the first host that rests may be tried again; `nil` where none rests.
    func firstEnd(after now: Duration) -> Duration? {
        hosts.keys.compactMap { rest(of: $0, at: now) }.min()
    }

    /// The destinations of which nothing may be begun: those of a host that rests, and of one that has failed and is being
    /// tried by one row already.
    ///
    /// - Parameter sending: the destinations of what is under way.
    func held(at now: Duration, sending: [String]) -> Set<String> {
        let closed = hosts.values.filter { host in
            let count = sending.count { host.destinations.contains($0) }
            return host.throttle.free(sending: count, lanes: .max, at: now) == 0
        }
        return closed.reduce(into: Set(paused.keys)) { $0.formUnion($1.destinations) }
    }

    /// Whether a host that has failed, or was left alone, may be tried again, by one row alone, so that rows are to be taken one
    /// at a time.
    func isProbing(at now: Duration) -> Bool {
        hosts.values.contains { host in host.throttle.until.map { $0 <= now } ?? false }
    }

    // MARK: Pauses

    /// Whether anything is held back because the app has paused it.
    var hasPauses: Bool { !paused.isEmpty }

    /// The app has paused the calls of a destination, of which this is one.
    mutating func pause(_ destination: String?, _ endpoint: any OutboxEndpoint) {
        guard let destination else { return }
        paused[destination] = endpoint
    }

    /// Lets those go on that are paused no more.
    mutating func review(_ isPaused: (any OutboxEndpoint) -> Bool) {
        guard hasPauses else { return }
        paused = paused.filter { isPaused($0.value) }
    }
}
