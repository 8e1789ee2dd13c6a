/// Lets through so many requests in so much time: a token bucket, which in addition heeds what a server says of its own limits.
///
/// ```swift
/// var limiter = RateLimiter(.init(10, per: .seconds(1)), at: clock.now)
/// if let wait = limiter.take(at: clock.now) { … }      // none left: ask again after that time
/// ```
public struct RateLimiter: Sendable {
    /// How many requests in how much time.
    public struct Policy: Hashable, Sendable {
        /// How many requests in the time ``period``. At least 1.
        public var permits: Int
        /// The time in which as many come back as ``permits`` says.
        public var period: Duration
        /// How many may go at once after a rest. As many as ``permits`` by default, so that a screen's worth of requests needs no
        /// wait.
        public var burst: Int

        /// So many attempts in a period, evenly, after a burst of as many unless told.
        public init(_ permits: Int, per period: Duration, burst: Int? = nil) {
            self.permits = permits
            self.period = period
            self.burst = burst ?? permits
        }

        /// How long one permit takes to come back. Of a period that is longer than a year a year counts, so that nothing overflows.
        var interval: Duration { min(max(period, .zero), .seconds(365 * 86_400)) / max(permits, 1) }

        /// How long an empty bucket takes to be one permit short of full. No rest is so long that more than a billion would matter.
        var slack: Duration { interval * (min(max(burst, 1), 1_000_000_000) - 1) }
    }

    /// The app's own limit; `nil` where only the server limits.
    public let policy: Policy?
    /// When the bucket will be full again. Kept in place of a number of tokens, it needs no rounding (the "generic cell rate
    /// algorithm" of ATM).
    private var fullAt: Duration
    /// The moment until which the server wants to be left alone.
    private var pausedUntil: Duration?

    /// A full bucket.
    ///
    /// - Parameter policy: `nil` where only the server limits.
    public init(_ policy: Policy?, at now: Duration) {
        self.policy = policy
        fullAt = now
    }

    /// How long the next request has to wait; `nil` when it may go.
    public func wait(at now: Duration) -> Duration? { wait(at: now, behind: 0) }

    /// How long a request has to wait at the least when so many others go before it; `nil` when it may go.
    func wait(at now: Duration, behind others: Int) -> Duration? {
        let start = max(pausedUntil ?? now, now)
        // Each of the others takes its permit as soon as it can, at the earliest when the pause ends.
        let permit = policy.map { max(fullAt, start) + $0.interval * others - $0.slack } ?? start
        let until = max(start, permit)
        return until > now ? until - now : nil
    }

    /// Whether it holds nothing that a new one would not.
    func isFull(at now: Duration) -> Bool {
        fullAt <= now && pausedUntil ?? .zero <= now
    }

    /// Takes a permit.
    ///
    /// - Returns: `nil` when it was there; else how long to wait, and nothing is taken.
    public mutating func take(at now: Duration) -> Duration? {
        if let wait = wait(at: now) { return wait }
        if let policy { fullAt = max(fullAt, now) + policy.interval }
        return nil
    }

    /// The longest pause. What the server says holds for one answer, and closes a whole origin here: after ten minutes one request asks again,
    /// which no server notices.
    static let longestPause = Duration.seconds(600)

    /// The server wants to be left alone for a time, of which ten minutes count at most. A shorter pause does not end a longer one.
    public mutating func pause(for duration: Duration, at now: Duration) {
        pausedUntil = max(pausedUntil ?? .zero, now + min(duration, Self.longestPause))
    }

    /// How long the server still wants to be left alone; `nil` when it does not.
    func pause(at now: Duration) -> Duration? {
        pausedUntil.flatMap { $0 > now ? $0 - now : nil }
    }
}

/// What a server says of its limits: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10).
///
/// ```
/// RateLimit-Policy: "burst";q=100;w=60, "daily";q=1000;w=86400
/// RateLimit: "burst";r=0;t=12
/// ```
public struct ServerRateLimit: Hashable, Sendable {
    /// Which of the server's policies it is.
    public var name: String
    /// `q`: how many requests the policy allows in all.
    public var quota: Int?
    /// `w`: in which time.
    public var window: Duration?
    /// `r`: how many of them are left.
    public var remaining: Int?
    /// `t`: after which time there are more.
    public var reset: Duration?

    /// What was said, and `nil` for what was not.
    public init(
        _ name: String, quota: Int? = nil, window: Duration? = nil, remaining: Int? = nil, reset: Duration? = nil
    ) {
        self.name = name
        self.quota = quota
        self.window = window
        self.remaining = remaining
        self.reset = reset
    }

    /// More policies than any server has. What comes after them is not looked at.
    static let most = 16

    /// The policies of both fields, joined by their names, in the order in which the fields name them. A field that is no List
    /// says nothing, whatever else stands in it (RFC 9651 §4.2); of one that is, the members that the draft does not know, such
    /// as those of its older versions, are left out.
    public static func all(in fields: HTTPFields) -> [ServerRateLimit] {
        var limits: [ServerRateLimit] = []
        for field in [HTTPFieldName.rateLimitPolicy, .rateLimit] {
            let members = try? StructuredField.list(fields.values(of: field).joined(separator: ", "))
            for member in (members ?? []).prefix(most) {
                guard let item = StructuredItem(member[...]) else { continue }
                let place = limits.firstIndex { $0.name == item.name } ?? limits.count
                if place == limits.count { limits.append(ServerRateLimit(item.name)) }
                limits[place].take(item)
            }
        }
        return limits
    }

    private mutating func take(_ item: StructuredItem) {
        quota = item["q"] ?? quota
        window = item["w"].map(Self.seconds) ?? window
        remaining = item["r"] ?? remaining
        reset = item["t"].map(Self.seconds) ?? reset
    }

    /// So many seconds, at most a day, so that nothing overflows and no server puts a client off for ever.
    private static func seconds(_ number: Int) -> Duration {
        min(.seconds(number), RetryAfter.longest)
    }

    /// How long the server wants to be sent nothing: the longest reset of those policies that have nothing left; `nil` when
    /// there is none.
    public static func pause(by limits: [ServerRateLimit]) -> Duration? {
        limits.filter { $0.remaining == 0 }.compactMap(\.reset).max()
    }
}

/// A string or a token of a structured field, with those parameters that are whole numbers and not below zero (RFC 9651 §3.1.2).
private struct StructuredItem {
    let name: String
    private var parameters: [Substring: Int] = [:]

    /// `nil` for a member of a dictionary, such as `limit=100` in the draft's older versions.
    init?(_ member: Substring) {
        var parts = Self.split(member)
        guard let first = parts.first else { return nil }
        parts.removeFirst()
        guard let name = FieldList.unquoted(first) ?? (HTTPSyntax.isToken(String(first)) ? String(first) : nil) else {
            return nil
        }
        self.name = name
        for part in parts {
            guard let sign = part.firstIndex(of: "=") else { continue }
            let digits = part[part.index(after: sign)...]
            // An integer has at most 15 digits (RFC 9651 §3.3.1).
            guard (1...15).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
                continue
            }
            parameters[part[..<sign]] = Int(digits)
        }
    }

    subscript(key: Substring) -> Int? { parameters[key] }

    /// Splits a member at the semicolons that are not in quotes, without the white space around the parts.
    private static func split(_ member: Substring) -> [Substring] {
        var parts: [Substring] = []
        var start = member.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in member.utf8.indices {
            let byte = member.utf8[index]
            if byte == UInt8(ascii: ";"), !isQuoted {
                parts.append(Substring(FieldList.trimmed(member.utf8[start..<index])))
                start = member.utf8.index(after: index)
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return parts + [Substring(FieldList.trimmed(member.utf8[start...]))]
    }
}

extension HTTPFieldName {
    static let rateLimit: HTTPFieldName = "RateLimit"
    static let rateLimitPolicy: HTTPFieldName = "RateLimit-Policy"
}
