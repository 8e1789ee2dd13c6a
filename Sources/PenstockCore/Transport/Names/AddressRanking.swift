/// The order in which the addresses of a name are connected to: by the time that connecting took, with those at rest last that did
/// not answer.
///
/// A pure value: what is measured is told to it, and the time is always given. The times are monotonic.
public struct AddressRanking: Hashable, Sendable {
    private struct Record: Hashable, Sendable {
        /// The time that connecting took, and when that was last measured.
        var time: Duration?
        var measured: Duration = .zero
        /// How often connecting has failed in a row.
        var failures = 0
        var restsUntil: Duration?
        /// When it was last heard of.
        var heard: Duration = .zero
    }

    /// How long an address rests that has failed once. Each further failure doubles it, up to ``longestRest``.
    public let rest: Duration
    /// The longest that an address rests.
    public let longestRest: Duration
    /// How long a measurement is believed.
    public let memory: Duration
    /// How many addresses are remembered; beyond that, those heard of longest ago are forgotten.
    public let maxAddresses: Int
    private var records: [HostAddress: Record] = [:]

    /// A ranking that knows nothing yet.
    ///
    /// - Parameters:
    ///   - rest: 30 s by default: long enough not to try a dead address for each call, short enough for one that restarts.
    ///   - longestRest: ten minutes by default.
    ///   - memory: ten minutes by default. Then an address is measured again, since networks and loads change.
    ///   - maxAddresses: 512 by default, some addresses for each of the hosts that an app knows.
    public init(
        rest: Duration = .seconds(30), longestRest: Duration = .seconds(600), memory: Duration = .seconds(600),
        maxAddresses: Int = 512
    ) {
        self.rest = max(.zero, rest)
        self.longestRest = max(self.rest, longestRest)
        self.memory = memory
        self.maxAddresses = max(1, maxAddresses)
    }

    /// A connection was made.
    ///
    /// - Parameter time: how long that took. The mean of it and what is known is kept, so that one slow connection does not
    ///   undo what was measured.
    public mutating func connected(_ address: HostAddress, in time: Duration, at now: Duration) {
        change(address, at: now) { [memory] record in
            let known = Self.isBelieved(record, memory, now) ? record.time : nil
            record.time = known.map { ($0 + time) / 2 } ?? time
            record.measured = now
            (record.failures, record.restsUntil) = (0, nil)
        }
    }

    /// No connection could be made.
    public mutating func failed(_ address: HostAddress, at now: Duration) {
        change(address, at: now) { [rest, longestRest] record in
            // Doubling goes on no further than it can matter.
            let length = min(rest * (1 << min(record.failures, 20)), longestRest)
            record.time = nil
            record.failures += 1
            record.restsUntil = now + length
        }
    }

    /// Whether an address is not to be tried while there are others.
    public func isResting(_ address: HostAddress, at now: Duration) -> Bool {
        records[address]?.restsUntil.map { now < $0 } ?? false
    }

    /// The order in which to try them.
    ///
    /// Those that nothing is known of come first, as they are given, so that each is measured once; then those that were
    /// measured, the fastest first; then those at rest, whose rest ends soonest first.
    public func ranked(_ addresses: [HostAddress], at now: Duration) -> [HostAddress] {
        addresses.enumerated().map { (place($0.element, now), $0.offset, $0.element) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    private func place(_ address: HostAddress, _ now: Duration) -> Place {
        guard let record = records[address] else { return .unknown }
        if let end = record.restsUntil, now < end { return .resting(end) }
        guard Self.isBelieved(record, memory, now), let time = record.time else { return .unknown }
        return .measured(time)
    }

    private static func isBelieved(_ record: Record, _ memory: Duration, _ now: Duration) -> Bool {
        record.time != nil && now - record.measured < memory
    }

    private mutating func change(_ address: HostAddress, at now: Duration, _ body: (inout Record) -> Void) {
        var record = records[address] ?? Record()
        body(&record)
        record.heard = now
        if records[address] == nil, records.count >= maxAddresses,
            let oldest = records.min(by: { ($0.value.heard, $0.key.text) < ($1.value.heard, $1.key.text) })?.key
        {
            records[oldest] = nil
        }
        records[address] = record
    }

    private enum Place: Comparable {
        case unknown
        case measured(Duration)
        case resting(Duration)
    }
}
