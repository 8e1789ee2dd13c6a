import Foundation

/// How much a store may keep, and for how long. The least recently used goes first.
public struct CacheLimits: Hashable, Sendable {
    /// How many bytes are kept: bodies and metadata together.
    public var bytes: Int
    /// How many responses are kept. Each variant of a URL counts.
    public var entries: Int
    /// How long a response is kept since it came or was last validated; `nil` for no limit. What is older is not found
    /// any more.
    public var age: Duration?
    /// The largest body that is stored, in bytes.
    public var bodyBytes: Int
    /// How many variants of one key; at most 64.
    public var variants: Int

    /// Limits of a store.
    ///
    /// - Parameters:
    ///   - bodyBytes: an eighth of all when `nil`.
    public init(bytes: Int, entries: Int, age: Duration? = nil, bodyBytes: Int? = nil, variants: Int = 32) {
        self.bytes = bytes
        self.entries = entries
        self.age = age
        self.bodyBytes = bodyBytes ?? bytes / 8
        self.variants = min(max(variants, 1), 64)
    }

    /// 32 MiB and 10,000 responses.
    public static let memory = CacheLimits(bytes: 32 << 20, entries: 10_000)
    /// 256 MiB, 200,000 responses and 90 days.
    public static let disk = CacheLimits(bytes: 256 << 20, entries: 200_000, age: .seconds(90 * 86_400))

    /// The earliest and the latest time at which a response may have come to be found at `now`. Those of more than a day
    /// ahead were stored while the clock was wrong, so nobody knows their age.
    package func validTimes(at now: Date) -> ClosedRange<Date>? {
        guard let age, age >= .zero else { return nil }
        return now - TimeInterval(age.components.seconds)...now + 86_400
    }
}

/// Which cache a client has.
@nonexhaustive
public enum CacheChoice: Sendable {
    /// The platform's: on disk with a memory over it for clients of the module `Penstock`, in memory alone for clients
    /// that are given a transport, and in processes that run tests.
    case standard
    /// Nothing is stored or read; ``CachePolicy`` still says what may be sent.
    case none
    /// This store. It may serve several clients: what is stored is kept apart by environment and identity in any case.
    case store(any CacheStore)
}
