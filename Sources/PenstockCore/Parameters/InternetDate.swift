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

    /// Reads what RFC 3339 §5.6 allows: any number of digits after the second, and any offset, also without its colon.
    static func date(_ text: String) -> Date? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2), let fraction = reader.fraction(), let offset = reader.offset(),
            reader.rest.isEmpty
        else { return nil }
        // 60 is a leap second (§5.7), which is counted as the first one of the next minute.
        guard hour <= 23, minute <= 59, second <= 60, let days = days(year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// The inverse of ``civil(_:)``; `nil` for a day that no month of that year has.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
        guard year >= 1, (1...12).contains(month) else { return nil }
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(yearFromMarch, 400)
        let monthFromMarch = month <= 2 ? month + 9 : month - 3
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return civil(days) == (year, month, day) ? days : nil
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        /// Exactly so many digits.
        mutating func number(_ width: Int) -> Int64? {
            let digits = rest.prefix(width)
            guard digits.count == width, digits.allSatisfy(Self.isDigit) else { return nil }
            rest.removeFirst(width)
            return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }

        /// What follows a point, which may be absent; digits past the ninth are too small to count.
        mutating func fraction() -> Double? {
            guard skip(".") else { return 0 }
            let digits = rest.prefix(while: Self.isDigit)
            guard !digits.isEmpty else { return nil }
            rest.removeFirst(digits.count)
            let counted = digits.prefix(9)
            let value = counted.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
            return Double(value) / (0..<counted.count).reduce(1.0) { scale, _ in scale * 10 }
        }

        /// Seconds that the written time is ahead of UTC.
        mutating func offset() -> Int64? {
            if skip("Z") || skip("z") { return 0 }
            let isAhead = skip("+")
            guard isAhead || skip("-"), let hours = number(2) else { return nil }
            _ = skip(":")
            guard let minutes = number(2), hours <= 23, minutes <= 59 else { return nil }
            return (isAhead ? 1 : -1) * (hours * 3600 + minutes * 60)
        }

        private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
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
