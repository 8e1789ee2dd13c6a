/// A day of the Gregorian calendar, extended to all years as in ISO 8601, which is the calendar of all dates on the wire and in
/// archives. It is computed on integers, because a formatter would cost more than the rest of a call.
///
/// Days are counted in eras of 400 years, which are all equally long, and in years that begin in March, so that the leap day is the
/// last one (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
package struct CivilDate: Hashable, Sendable {
    /// The year before 1 is 0.
    package let year: Int64
    /// The month, from 1 to 12.
    package let month: Int64
    /// The day of the month, from 1 to 31.
    package let day: Int64

    private static let daysInEra: Int64 = 146_097
    /// The days from the first of March in the year 0 to the first of January in 1970.
    private static let daysBefore1970: Int64 = 719_468

    /// The day that is so many days after 1970-01-01, or before it where the number is negative.
    package init(daysSince1970 days: Int64) {
        let (era, dayOfEra) = (days + Self.daysBefore1970).dividedDown(by: Self.daysInEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `nil` for a day that no month of that year has.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...Self.length(of: month, in: year)).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// How many days after 1970-01-01 it is; negative before.
    package var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedDown(by: 400)
        let monthFromMarch = month <= 2 ? month + 9 : month - 3
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysInEra + dayOfEra - Self.daysBefore1970
    }

    private static func length(of month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Divides and rounds down, so that the remainder is not negative.
    ///
    /// - Parameter divisor: positive.
    package func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
