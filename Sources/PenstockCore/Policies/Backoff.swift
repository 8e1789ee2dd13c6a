import Foundation

/// How long to wait before an attempt is repeated: exponential backoff with full jitter.
///
/// The wait is drawn evenly between nothing and a ceiling that doubles with each retry. Clients that failed together
/// therefore do not come back together, which is what a server that has just recovered can bear least. Of the known ways to
/// spread retries, full jitter loads the server least for the time it takes (M. Brooker, "Exponential Backoff And Jitter").
///
/// ```swift
/// var random = RandomSource.system
/// let wait = Backoff().delay(before: 1, using: &random)   // somewhere in 0 ..< 250 ms
/// ```
public struct Backoff: Hashable, Sendable {
    /// The ceiling before the first retry. 250 ms by default: about two round trips of a mobile network, so that what was
    /// a lost packet or a restarted worker is over, and a person who waits does not notice.
    public var base: Duration
    /// The highest ceiling. 20 s by default: who waits longer than that for a screen has left it.
    public var cap: Duration

    /// The longest duration that is looked at, so that no value an app may set can overflow.
    static let longest = Duration.seconds(86_400)

    /// The defaults, but for what is given.
    public init(base: Duration = .milliseconds(250), cap: Duration = .seconds(20)) {
        self.base = base
        self.cap = cap
    }

    /// The longest wait before a retry: ``base`` doubled for each retry before it, at most ``cap``. Durations below zero
    /// count as zero, and those of more than a day as a day.
    ///
    /// - Parameter retry: 1 for the first retry, which is the second attempt; less counts as 1.
    public func ceiling(before retry: Int) -> Duration {
        let cap = min(max(cap, .zero), Self.longest)
        var ceiling = min(max(base, .zero), cap)
        // 63 doublings of a nanosecond are three centuries.
        for _ in 0..<min(max(retry - 1, 0), 63) where ceiling < cap { ceiling = min(ceiling * 2, cap) }
        return ceiling
    }

    /// The wait before a retry: drawn evenly from zero up to its ceiling, which itself is never drawn.
    public func delay(before retry: Int, using random: inout some RandomNumberGenerator) -> Duration {
        ceiling(before: retry) * Double.random(in: 0..<1, using: &random)
    }
}

/// Reads `Retry-After`: how long a server asks to be left alone (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// What longer waits become: a day. Nothing that a call could wait for is longer, and nothing can overflow.
    public static let longest = Duration.seconds(86_400)

    /// The wait that a response asks for; `nil` when it has no `Retry-After`, or one that cannot be read.
    ///
    /// A date is compared with the response's own `Date` where it has one: the clock of a phone may be wrong by hours, and
    /// the server has written both with the same clock.
    ///
    /// - Parameter now: the date by the client's clock, for a response without a `Date`.
    public static func delay(in fields: HTTPFields, at now: Date) -> Duration? {
        guard let value = fields[.retryAfter] else { return nil }
        let serverDate = fields["Date"].flatMap { HTTPDate.parse($0, at: now) }
        return delay(value, at: serverDate ?? now)
    }

    /// The wait that a value stands for: a whole number of seconds, or a date in one of HTTP's three forms (RFC 9110
    /// §5.6.7).
    ///
    /// - Parameters:
    ///   - value: of the field. A sign, a fraction, an exponent or any other text is no number.
    ///   - now: what a date is compared with.
    /// - Returns: at least zero, which is also what a date in the past gives, and at most ``longest``; `nil` for what is
    ///   neither a number nor a date.
    public static func delay(_ value: String, at now: Date) -> Duration? {
        let text = HTTPSyntax.trimmed(value)
        if let seconds = seconds(text) { return min(.seconds(seconds), longest) }
        guard let date = HTTPDate.parse(text, at: now) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds <= 0 ? .zero : seconds >= longest / .seconds(1) ? longest : .seconds(seconds)
    }

    /// Any number of digits; more than a day's worth is a day.
    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return Int64(text) ?? Int64(longest / .seconds(1))
    }
}

extension HTTPFieldName {
    /// When to come back (RFC 9110 §10.2.3).
    public static let retryAfter: HTTPFieldName = "Retry-After"
}
