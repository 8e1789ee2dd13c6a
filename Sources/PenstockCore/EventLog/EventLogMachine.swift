import Foundation

/// When the events of a log are sent, and how many are kept.
public struct EventLogPolicy: Hashable, Sendable {
    /// How many events make a batch. 30 by default.
    public var count: Int
    /// How many bytes of events make a batch. 64 KiB by default: a radio sends that in one burst.
    public var bytes: Int
    /// How long an event waits for others at most. A minute by default: what an app reports is looked at by the minute.
    public var age: Duration
    /// How many events of one user are kept that were not sent. 10,000 by default: some days without a network.
    public var keptCount: Int
    /// How many bytes of events of one user are kept that were not sent. 4 MiB by default.
    public var keptBytes: Int
    /// The wait after a failure, which doubles with each: 5 s by default.
    public var firstDelay: Duration
    /// The longest wait after a failure: 10 minutes by default.
    public var longestDelay: Duration

    /// The defaults, but for what is given.
    public init(
        count: Int = 30, bytes: Int = 65_536, age: Duration = .seconds(60), keptCount: Int = 10_000,
        keptBytes: Int = 4 << 20, firstDelay: Duration = .seconds(5), longestDelay: Duration = .seconds(600)
    ) {
        self.count = count
        self.bytes = bytes
        self.age = age
        self.keptCount = keptCount
        self.keptBytes = keptBytes
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
    }
}

extension EventLogPolicy {
    /// How large the file may grow by what was written off: four times what may be kept, for each user of whom something is.
    package var mostFileBytes: Int {
        let (bytes, isTooMany) = keptBytes.multipliedReportingOverflow(by: 4)
        return isTooMany ? .max : bytes
    }
}

/// Which events are sent together and when: a state machine without a file, without tasks and without a clock.
///
/// There is one for each identity whose events a log keeps, so that no batch mixes them, and what cannot be sent for one user
/// delays nobody else's. One batch of it is sent at a time, so that events arrive in their order. A batch that was made keeps its
/// id and its events until it is delivered or refused for good, over any number of attempts and launches: the server can tell a
/// second delivery by it.
package struct EventLogMachine: Sendable {
    package struct Record: Hashable, Sendable {
        /// Counted up for the life of the log.
        package let number: UInt64
        /// The digest of the identity under which it was recorded.
        package let owner: String
        package let data: Data

        package init(number: UInt64, owner: String = EventLogFormat.nobody, data: Data) {
            self.number = number
            self.owner = owner
            self.data = data
        }
    }

    /// Events that are sent together: all that are kept of one identity, up to one number.
    package struct Seal: Hashable, Sendable {
        package let id: String
        package let last: UInt64
        /// The digest of the identity of all its events.
        package let owner: String

        package init(id: String, last: UInt64, owner: String = EventLogFormat.nobody) {
            self.id = id
            self.last = last
            self.owner = owner
        }
    }

    package enum Refusal: Hashable, Sendable {
        case tooManyEvents
        case tooManyBytes
    }

    /// What the end of an attempt that has not arrived says about the next one.
    package enum Failure: Hashable, Sendable {
        /// The server will never take the batch.
        case final
        /// The server has refused the batch, for now or for ever: nobody has said which.
        case refused(APIError.Kind)
        /// Nobody has refused it.
        case passing
    }

    package enum Decision: Hashable, Sendable {
        /// Make a batch of the events up to this number; then tell ``EventLogMachine/seal(_:)``.
        case seal(upTo: UInt64)
        /// Send the batch; then tell ``EventLogMachine/delivered()`` or ``EventLogMachine/failed(_:at:spread:)``.
        case send(Seal, [Record])
        /// Ask again after this long, or after the next event.
        case wait(Duration)
        /// Ask again after the next event.
        case rest
    }

    private enum Sending: Sendable {
        case no
        case under
        case after(Duration)
    }

    package let policy: EventLogPolicy
    /// The digest of the identity whose events these are.
    private let owner: String
    /// What was not delivered, in order: the batch first, where there is one.
    package private(set) var records: [Record]
    package private(set) var batch: Seal?
    /// How many bytes of events were not delivered.
    package private(set) var bytes: Int
    private var nextNumber: UInt64
    private var oldest: Duration?
    private var sending = Sending.no
    private var failures = 0
    /// What the batch was refused with, where that was the last word about it.
    private var refusal: APIError.Kind?
    private var isFlushing: Bool
    /// Whether a flush has come while a batch was under way: where nobody refuses that, it says nothing about an attempt that begins
    /// now, as when the network has come back or another user is named since.
    private var isFlushedMeanwhile = false

    /// Begins with what the log held when it was opened; that is sent without waiting for more.
    package init(
        _ policy: EventLogPolicy, of owner: String = EventLogFormat.nobody, records: [Record] = [], batch: Seal? = nil,
        nextNumber: UInt64 = 1
    ) {
        self.policy = policy
        self.owner = owner
        self.records = records
        self.batch = batch
        // A batch whose events were lost to a damaged file has their numbers all the same: new events are none of it.
        self.nextNumber = max(nextNumber, (records.last?.number ?? 0) + 1, (batch?.last ?? 0) + 1)
        bytes = records.reduce(0) { $0 + $1.data.count }
        isFlushing = !records.isEmpty
    }

    /// Why an event of so many bytes cannot be kept; `nil` where it can.
    package func refusal(of size: Int) -> Refusal? {
        if records.count >= policy.keptCount { return .tooManyEvents }
        if size > policy.keptBytes - bytes { return .tooManyBytes }
        return nil
    }

    /// Gives up a batch that the server refuses, where an event of so many bytes has room without it alone: what is new, and all
    /// that waits behind the batch, would be lost for it otherwise.
    ///
    /// - Returns: the batch, how many events it had, and what it was refused with; `nil` where nothing is given up.
    package mutating func giveUp(for size: Int) -> (seal: Seal, count: Int, kind: APIError.Kind)? {
        guard refusal(of: size) != nil, let batch, let refusal, case .after = sending else { return nil }
        var rest = self
        rest.drop()
        guard rest.refusal(of: size) == nil else { return nil }
        defer { self = rest }
        return (batch, records.count - rest.records.count, refusal)
    }

    /// The number of the next event.
    package var number: UInt64 { nextNumber }

    /// Leaves out the numbers below this one, which events of other identities in the log have.
    package mutating func skip(to number: UInt64) {
        nextNumber = max(nextNumber, number)
    }

    /// The next event, to be written to disk and then taken in.
    package func record(_ data: Data) -> Record { Record(number: nextNumber, owner: owner, data: data) }

    /// Takes in an event that is on disk.
    package mutating func add(_ data: Data, at now: Duration) {
        if waiting.isEmpty { oldest = now }
        records.append(record(data))
        bytes += data.count
        nextNumber += 1
    }

    /// All that is there is to be sent now, without waiting for more.
    package mutating func flush() {
        isFlushing = !records.isEmpty
        if case .under = sending { isFlushedMeanwhile = true }
    }

    /// What is to be done now.
    package mutating func decide(at now: Duration) -> Decision {
        switch sending {
        case .under: return .rest
        case .after(let moment) where moment > now && !isFlushing: return .wait(moment - now)
        case .no, .after: break
        }
        if let batch {
            if let sent = send(batch) { return sent }
            // All its events were lost to a damaged file.
            self.batch = nil
        }
        guard let last = lastOfBatch else {
            isFlushing = false
            return .rest
        }
        // What is left of an earlier launch counts as come when it is first asked about, and waits no longer for others than that.
        let since = oldest ?? now
        oldest = since
        let due = since + policy.age
        guard isFlushing || isFull || due <= now else { return .wait(due - now) }
        return .seal(upTo: last)
    }

    /// A batch is on disk.
    package mutating func seal(_ seal: Seal) {
        batch = seal
    }

    /// The batch has arrived.
    package mutating func delivered() {
        drop()
        failures = 0
    }

    /// The batch has not arrived, or nobody knows whether it has; or none could be made.
    ///
    /// - Parameters:
    ///   - failure: a final one drops it.
    ///   - spread: from 0 to 1, which part of the wait is left to chance.
    package mutating func failed(_ failure: Failure, at now: Duration, spread: Double) {
        switch failure {
        case .final: return drop()
        case .refused(let kind): (refusal, isFlushedMeanwhile) = (kind, false)
        case .passing: refusal = nil
        }
        failures += 1
        let doubled = policy.firstDelay * (1 << min(failures - 1, 30))
        let delay = min(doubled, policy.longestDelay)
        // Half of the wait is certain, so that a crowd of apps does not come back at once, and none comes back too early.
        sending = .after(now + delay / 2 + delay / 2 * min(max(spread, 0), 1))
        (isFlushing, isFlushedMeanwhile) = (isFlushedMeanwhile, false)
    }

    private var waiting: ArraySlice<Record> {
        guard let batch else { return records[...] }
        return records.drop { $0.number <= batch.last }
    }

    private var isFull: Bool { records.count >= policy.count || bytes >= policy.bytes }

    /// The last event that fits: as many as make a batch, at least one; `nil` where there is none.
    private var lastOfBatch: UInt64? {
        var size = 0
        var last: UInt64?
        for record in records.prefix(max(policy.count, 1)) {
            size += record.data.count
            if last != nil, size > policy.bytes { break }
            last = record.number
        }
        return last
    }

    private mutating func send(_ batch: Seal) -> Decision? {
        let events = records.prefix { $0.number <= batch.last }
        guard !events.isEmpty else { return nil }
        sending = .under
        return .send(batch, Array(events))
    }

    private mutating func drop() {
        guard let batch else { return }
        let gone = records.prefix { $0.number <= batch.last }
        bytes -= gone.reduce(0) { $0 + $1.data.count }
        records.removeFirst(gone.count)
        self.batch = nil
        refusal = nil
        sending = .no
        isFlushedMeanwhile = false
    }
}
