import Foundation

/// How long a response is fresh for a private cache, by what the server says (RFC 9111 §4.2.1, §4.2.2).
enum FreshnessLifetime {
    /// The heuristic gives a tenth of the time since the last change, and no more than a day. A permanent redirect gets the
    /// day in any case.
    static let heuristicFraction = 0.1
    static let heuristicLimit: TimeInterval = 86_400

    /// Statuses that may be reused without being told so (RFC 9110 §15.1).
    static let heuristicStatuses = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    private static let permanentRedirects = [301, 308]

    /// Seconds; 0 when nothing gives it any.
    static func of(
        _ fields: HTTPFields, status: Int, control: ResponseControl, date: Date, modified: Date?, at responseTime: Date
    ) -> TimeInterval {
        switch control.maxAge {
        case .value(let seconds): return TimeInterval(seconds)
        // §4.2.1: what cannot be read is stale, and does not fall back on Expires.
        case .invalid: return 0
        case .absent: break
        }
        // §5.3: an invalid date, such as 0, means that it has expired.
        if fields.contains(.expires) {
            return HTTPDate.only(in: fields, .expires, at: responseTime).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        // RFC 9110 §15.4.2, §15.4.9: the resource has moved for good.
        if permanentRedirects.contains(status), fields.contains(.location) { return heuristicLimit }
        guard heuristicStatuses.contains(status) || control.isPublic, let modified else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) * heuristicFraction, heuristicLimit)
    }

    /// Whether the response itself gives a time (§3, §4.2.1).
    static func isExplicit(_ fields: HTTPFields, _ control: ResponseControl) -> Bool {
        control.maxAge != .absent || fields.contains(.expires)
    }
}

/// How old a response was when it came (RFC 9111 §4.2.3).
enum InitialAge {
    /// - Parameter date: the valid `Date` of the response.
    static func of(_ fields: HTTPFields, date: Date?, requestTime: Date, responseTime: Date) -> TimeInterval {
        let apparent = date.map { apparentAge(since: $0, at: responseTime) } ?? 0
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        return max(apparent, TimeInterval(value(fields)) + delay)
    }

    /// A `Date` has whole seconds, and many servers make one a second and give it to all responses until the next one is
    /// due. So what seems to be less than two seconds old may have been made this moment, and has no age; a cache on the
    /// way would say how old it is by `Age`. A date ahead of the clock, and a clock that was set back during the exchange,
    /// count as no age either.
    private static func apparentAge(since date: Date, at responseTime: Date) -> TimeInterval {
        let seconds = responseTime.timeIntervalSince(date).rounded(.down)
        return seconds < 2 ? 0 : seconds
    }

    /// §5.1: the first member counts, and the field is ignored when that is no number.
    static func value(_ fields: HTTPFields) -> Int {
        FieldList.members(fields.values(of: .age)).first.flatMap { DeltaSeconds.parse($0) } ?? 0
    }
}

/// How a stored response stands at one moment.
struct Freshness {
    /// Seconds (RFC 9111 §4.2.3); what the `Age` field shows.
    let age: TimeInterval
    /// Seconds it stays fresh; not positive when it is stale by so many.
    let remaining: TimeInterval
    /// `false` when the clock was set back behind the time the response came.
    let isAgeKnown: Bool
    /// Whether the app's lifetime stands in place of the server's rules: one of the call's own always, and one that the
    /// response was stored with for as long as it lasts.
    let isAppOwned: Bool

    /// A clock that is a little behind is no wonder where clocks are corrected.
    static let clockTolerance: TimeInterval = 60

    init(_ stored: CachedResponse, ttl: Duration?, now: Date) {
        let terms = stored.terms
        let elapsed = now.timeIntervalSince(stored.responseTime)
        let resident = max(0, elapsed)
        age = terms.initialAge + resident
        isAgeKnown = elapsed >= -Self.clockTolerance
        let appLifetime = ttl ?? stored.appTTL
        let left = appLifetime.map { $0.seconds - resident } ?? terms.lifetime - age
        remaining = isAgeKnown ? left : min(left, 0)
        isAppOwned = ttl != nil || stored.appTTL != nil && remaining > 0
    }

    /// §4.2: the lifetime exceeds the age.
    var isFresh: Bool { remaining > 0 }

    /// Seconds since it went stale.
    var staleness: TimeInterval { max(0, -remaining) }
}

extension Duration {
    /// The duration as a floating-point number of seconds.
    var seconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}
