import Foundation

/// The addresses that sources have told, for as long as they hold, and for a while longer: then they are used while the source
/// is asked again.
///
/// A pure value: the time is always given. The dates are those of the wall clock, since what is kept on disk outlives the
/// process. An answer that seems to come from the future, since the clock was set back, has run out.
public struct HostCache: Hashable, Sendable {
    /// What an answer is for. What a name means may depend on the network.
    public struct Key: Hashable, Sendable, Codable {
        /// Lower case, without a trailing dot.
        public let host: String
        /// The port of the connection.
        public let port: Int
        /// The network that the app was in, by a name of its choice; empty where it makes no difference.
        public let network: String

        /// A key.
        public init(host: String, port: Int, network: String = "") {
            self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
            self.port = port
            self.network = network
        }
    }

    /// What is known of a name.
    @nonexhaustive
    public enum Finding: Hashable, Sendable {
        /// The addresses hold.
        case fresh([HostAddress])
        /// They have run out lately: good enough until the source has answered.
        case stale([HostAddress])
        /// Nothing that could be used.
        case nothing
    }

    private struct Entry: Hashable, Sendable {
        let answer: HostAnswer
        let told: Date
        /// Grows with each use, of whichever entry.
        var use: UInt64
    }

    /// How many answers are kept; beyond that, the one that was used longest ago goes.
    public let maxHosts: Int
    /// How long an answer is used after it has run out, while its source is asked.
    public let staleness: Duration
    /// No answer holds longer, whatever its source says.
    public static let longestLifetime = Duration.seconds(7 * 86_400)
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    /// A cache with nothing in it.
    ///
    /// - Parameters:
    ///   - maxHosts: 128 by default, more than an app talks to.
    ///   - staleness: a day by default, as RFC 8767 §5 has it.
    public init(maxHosts: Int = 128, staleness: Duration = .seconds(86_400)) {
        self.maxHosts = max(0, maxHosts)
        self.staleness = max(.zero, staleness)
    }

    /// How many answers there are.
    public var count: Int { entries.count }

    /// What is known of a name.
    public mutating func look(up key: Key, at date: Date) -> Finding {
        guard var entry = entries[key] else { return .nothing }
        let age = date.timeIntervalSince(entry.told)
        let lifetime = entry.answer.lifetime / .seconds(1)
        guard age >= 0, age < lifetime + staleness / .seconds(1) else {
            entries[key] = nil
            return .nothing
        }
        uses += 1
        entry.use = uses
        entries[key] = entry
        return age < lifetime ? .fresh(entry.answer.addresses) : .stale(entry.answer.addresses)
    }

    /// Forgets what is known of a name.
    ///
    /// - Returns: whether anything was.
    mutating func forget(_ key: Key) -> Bool { entries.removeValue(forKey: key) != nil }

    /// Keeps an answer in place of the one before. One without addresses, or that holds for no time, takes that place as well, and
    /// is not kept.
    public mutating func keep(_ answer: HostAnswer, for key: Key, at date: Date) {
        guard !answer.addresses.isEmpty, answer.lifetime > .zero, maxHosts > 0 else {
            entries[key] = nil
            return
        }
        if entries[key] == nil, entries.count >= maxHosts,
            let oldest = entries.min(by: { $0.value.use < $1.value.use })?.key
        {
            entries[oldest] = nil
        }
        uses += 1
        let held = HostAnswer(
            Array(answer.addresses.prefix(Self.maxAddresses)), lifetime: min(answer.lifetime, Self.longestLifetime))
        entries[key] = Entry(answer: held, told: date, use: uses)
    }

    /// The most addresses of one host: more than a name has that is spread over the world, and few enough to be kept.
    static let maxAddresses = 32

    // MARK: On disk

    private struct Saved: Codable {
        static let current = 1
        var version = Saved.current
        var hosts: [Host]
    }

    private struct Host: Codable {
        let key: Key
        let addresses: [String]
        /// Seconds.
        let lifetime: Double
        let told: Date
    }

    /// What goes to disk: the answers, those used longest ago first.
    public func encoded() throws -> Data {
        let hosts = entries.sorted { $0.value.use < $1.value.use }.map { key, entry in
            Host(
                key: key, addresses: entry.answer.addresses.map(\.text), lifetime: entry.answer.lifetime / .seconds(1),
                told: entry.told)
        }
        return try JSONEncoder().encode(Saved(hosts: hosts))
    }

    /// Takes in what was on disk. What breaks the format, or comes of another version, is left out: it is only a copy.
    public mutating func restore(_ data: Data) {
        guard let saved = try? JSONDecoder().decode(Saved.self, from: data), saved.version == Saved.current else {
            return
        }
        for host in saved.hosts where entries[host.key] == nil {
            let lifetime = max(0, min(host.lifetime, Self.longestLifetime / .seconds(1)))
            keep(
                HostAnswer(host.addresses.compactMap { HostAddress($0) }, lifetime: .seconds(lifetime)), for: host.key,
                at: host.told)
        }
    }
}
