import Foundation

/// The dates of HTTP: the preferred form and the two obsolete ones (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// `nil` for anything that is none of the three forms, or no date of the calendar.
    package static func parse(_ text: String) -> Date? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.dropFirst()
        let parts = Array(words)
        switch parts.count {
        case 5 where parts[3].contains(":"): return date(parts[0], parts[1], parts[2], parts[3])
        case 4 where parts[2].contains(":"): return date(parts[1], parts[0], parts[3], parts[2])
        default: return nil
        }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func date(
        _ dayText: Substring, _ monthText: Substring, _ yearText: Substring, _ timeText: Substring
    ) -> Date? {
        let time = timeText.split(separator: ":", omittingEmptySubsequences: false).compactMap { number($0) }
        guard let day = number(dayText), let month = months.firstIndex(of: monthText.lowercased()),
            let year = fullYear(yearText), time.count == 3, (1...31).contains(day),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        let nextMonth = month == 11 ? (year + 1, 1) : (year, month + 2)
        guard days < daysSince1970(year: nextMonth.0, month: nextMonth.1, day: 1) else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]))
    }

    /// A year of two digits is the one nearest to now in the past (RFC 9110 §5.6.7), by the rule of RFC 6265 §5.1.1.
    private static func fullYear(_ text: Substring) -> Int? {
        guard let year = number(text) else { return nil }
        switch text.utf8.count {
        case 2: return year < 70 ? 2_000 + year : 1_900 + year
        case 4: return year >= 1_601 ? year : nil
        default: return nil
        }
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        return Int(text)
    }

    /// Days in the proleptic Gregorian calendar, counted in years that begin in March.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
