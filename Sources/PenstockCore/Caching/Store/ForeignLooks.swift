/// When a store was last looked at for changes by others, and when it is to be looked at again.
struct ForeignLooks: Sendable {
    /// One look, which may take a while.
    struct Look: Sendable {
        fileprivate let begun: Duration
    }

    /// How long a change may go unnoticed.
    private let coherence: Duration
    /// When the latest look began that has ended: everything from before is known.
    private var latest: Duration
    /// When the one began that is under way.
    private var underWay: Duration?

    /// - Parameter begun: when there was nothing yet that others could change.
    init(_ coherence: Duration, since begun: Duration) {
        self.coherence = coherence
        latest = begun
    }

    /// Whether no change can have gone unnoticed for too long.
    func isRecent(at now: Duration) -> Bool { now - latest <= coherence }

    /// The next look, where it is due: at half the time, so that whoever reads all the time never has to wait for one. One that
    /// does not end is begun again.
    mutating func begin(at now: Duration) -> Look? {
        guard now - latest >= coherence / 2, underWay.map({ now - $0 > coherence }) ?? true else { return nil }
        underWay = now
        return Look(begun: now)
    }

    mutating func end(_ look: Look) {
        latest = max(latest, look.begun)
        if underWay == look.begun { underWay = nil }
    }
}
