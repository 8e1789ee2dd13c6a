import Foundation

/// Dates as RFC 3339 writes them, computed on integers: a formatter would cost more than the rest of the call.
enum InternetDate {
    /// Whole milliseconds since 1970, the nearest ones.
    static func milliseconds(_ date: Date) throws(ParameterEncodingError) -> Int64 {
        guard let count = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
            throw ParameterEncodingError(.unrepresentableDate)
        }
        return count
    }

    /// `2026-01-31T08:30:00Z`, for the years 1 to 9999. A fraction that is not written is cut off.
    static func text(_ date: Date, milliseconds withMilliseconds: Bool) throws(ParameterEncodingError) -> String {
        let total = try milliseconds(date)
        let (seconds, fraction) = floorDivide(total, 1000)
        let (days, time) = floorDivide(seconds, 86_400)
        let (year, month, day) = civil(days)
        guard (1...9999).contains(year) else { throw ParameterEncodingError(.unrepresentableDate) }
        var output: [UInt8] = []
        output.reserveCapacity(24)
        append(year, width: 4, then: "-", to: &output)
        append(month, width: 2, then: "-", to: &output)
        append(day, width: 2, then: "T", to: &output)
        append(time / 3600, width: 2, then: ":", to: &output)
        append(time / 60 % 60, width: 2, then: ":", to: &output)
        append(time % 60, width: 2, then: withMilliseconds ? "." : "Z", to: &output)
        if withMilliseconds { append(fraction, width: 3, then: "Z", to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    /// The day of the Gregorian calendar, extended backwards, that is `days` after 1970-01-01. Counts in eras of 400
    /// years whose years begin in March, so that the leap day is the last one.
    static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func append(_ number: Int64, width: Int, then separator: Unicode.Scalar, to output: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
        output.append(UInt8(ascii: separator))
    }
}
