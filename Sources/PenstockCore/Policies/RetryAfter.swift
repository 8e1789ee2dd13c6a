import Foundation

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
