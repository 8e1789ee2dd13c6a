import Foundation

/// Dates as archives have them: ISO 8601 in UTC, to the millisecond.
package enum HARDate {
    package static func text(_ date: Date) -> String {
        let (days, rest) = milliseconds(date).dividedDown(by: 86_400_000)
        let (year, month, day) = civil(days)
        let seconds = rest / 1000
        return String(
            format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", Int(year), Int(month), Int(day), Int(seconds / 3600),
            Int(seconds / 60 % 60), Int(seconds % 60), Int(rest % 1000))
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

    /// The date of a day counted from 1970, by whole eras of 400 years (H. Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms").
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).dividedDown(by: 146_097)
        let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let quotient = (self >= 0 ? self : self - divisor + 1) / divisor
        return (quotient, self - quotient * divisor)
    }
}
