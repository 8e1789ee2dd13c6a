import Foundation

extension HTTPDate {
    /// The preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`, in whole seconds (RFC 9110 §5.6.7).
    package static func format(_ date: Date) -> String {
        let seconds = Int(max(-62_135_596_800, min(253_402_300_799, date.timeIntervalSince1970.rounded(.down))))
        let days = (Double(seconds) / 86_400).rounded(.down)
        let second = seconds - Int(days) * 86_400
        let (year, month, day) = civil(Int(days))
        let weekday = dayNames[((Int(days) + 4) % 7 + 7) % 7]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(day, 2)) \(monthNames[month - 1]) \(padded(year, 4)) \(clock) GMT"
    }

    static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// The inverse of counting days in years that begin in March.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
