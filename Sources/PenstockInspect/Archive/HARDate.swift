import Foundation
import PenstockCore

/// Dates as archives have them: ISO 8601 in UTC, to the millisecond.
package enum HARDate {
    package static func text(_ date: Date) -> String {
        let (days, rest) = milliseconds(date).dividedDown(by: 86_400_000)
        let civil = CivilDate(daysSince1970: days)
        let seconds = rest / 1000
        return String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", Int(civil.year), Int(civil.month), Int(civil.day),
            Int(seconds / 3600), Int(seconds / 60 % 60), Int(seconds % 60), Int(rest % 1000))
    }

    /// Reads a date with any zone and any number of decimals, as archives of others have it; `nil` where it is none.
    static func date(_ text: String) -> Date? {
        let fraction = text.firstIndex(of: ".").map { text[$0...].prefix { $0 == "." || $0.isNumber } } ?? ""
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = .withInternetDateTime
        let seconds = formatter.date(from: text.replacingOccurrences(of: fraction, with: ""))
        return seconds?.addingTimeInterval(Double("0\(fraction)") ?? 0)
    }

    /// Whole milliseconds since 1970. Counted in microseconds first: a millisecond is no binary fraction, and what is a little less
    /// than it was would become the one before.
    static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1_000_000).rounded()).dividedDown(by: 1000).quotient
    }
}
