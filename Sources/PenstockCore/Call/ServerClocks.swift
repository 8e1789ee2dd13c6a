import Foundation

/// How far the clock of a server is from the device's own, as the `Date` of its responses tells (RFC 9110 §6.6.1).
///
/// A server writes the second in which it answers, at some moment between the sending of the request and the coming of the
/// response. So each response gives an interval that the difference lies in, and what is known is left as it is while it
/// lies in that: a slow network and whole seconds do not make the clock tremble.
public struct ClockSkew: Hashable, Sendable {
    /// The server's clock less the device's: positive where the server's is ahead. None until a response has told otherwise.
    public private(set) var offset = Duration.zero

    /// A clock that is as the device's own.
    public init() {}

    /// Takes note of a response.
    ///
    /// - Parameters:
    ///   - date: its `Date`.
    ///   - sent: when its request was handed over, by the device's clock.
    ///   - received: when it came, by the same. Where that is before `sent`, the clock was set meanwhile, and nothing is learnt.
    /// - Returns: how far what was known was wrong; zero where it may have been right.
    @discardableResult
    public mutating func learn(_ date: Date, sent: Date, received: Date) -> Duration {
        guard received >= sent else { return .zero }
        let least = date.timeIntervalSince(received)
        let most = date.timeIntervalSince(sent) + Self.resolution
        let known = offset / .seconds(1)
        let error = max(least - known, known - most)
        guard error > 0 else { return .zero }
        offset = .seconds((least + most) / 2)
        return .seconds(error)
    }

    /// A `Date` tells whole seconds.
    private static let resolution: TimeInterval = 1
}

/// What is known of the servers' clocks, one entry for each origin.
///
/// Kept by origin and not by user: what time it is at a server is nobody's secret.
final class ServerClocks: Sendable {
    /// More servers than an app signs for. Beyond that all is forgotten, and learnt again from the next response.
    static let mostOrigins = 64

    private let skews = Locked<[HTTPURL.Origin: ClockSkew]>([:])

    /// The date by a server's clock, where it is known to differ.
    func date(of origin: HTTPURL.Origin, at now: Date) -> Date {
        guard let skew = skews.withLock({ $0[origin] }) else { return now }
        return now.addingTimeInterval(skew.offset / .seconds(1))
    }

    /// Takes note of a response. One that was stored on the way (`Age`) tells the time of another moment.
    ///
    /// - Returns: how far what was known was wrong.
    func learn(
        from response: HTTPResponse, of origin: HTTPURL.Origin, sent: Date, received: Date
    ) -> Duration {
        guard !response.fields.contains("Age"), let text = response.fields["Date"],
            let date = HTTPDate.parse(text, at: received)
        else { return .zero }
        return skews.withLock { skews in
            if skews[origin] == nil, skews.count >= Self.mostOrigins { skews.removeAll() }
            return skews[origin, default: ClockSkew()].learn(date, sent: sent, received: received)
        }
    }
}
