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
