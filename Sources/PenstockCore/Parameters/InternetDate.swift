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
        let (seconds, fraction) = total.dividedDown(by: 1000)
        let (days, time) = seconds.dividedDown(by: 86_400)
        let civil = CivilDate(daysSince1970: days)
        guard (1...9999).contains(civil.year) else { throw ParameterEncodingError(.unrepresentableDate) }
        var output: [UInt8] = []
        output.reserveCapacity(24)
        append(civil.year, width: 4, then: "-", to: &output)
        append(civil.month, width: 2, then: "-", to: &output)
        append(civil.day, width: 2, then: "T", to: &output)
        append(time / 3600, width: 2, then: ":", to: &output)
        append(time / 60 % 60, width: 2, then: ":", to: &output)
        append(time % 60, width: 2, then: withMilliseconds ? "." : "Z", to: &output)
        if withMilliseconds { append(fraction, width: 3, then: "Z", to: &output) }
        return String(decoding: output, as: UTF8.self)
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
        guard hour <= 23, minute <= 59, second <= 60, year >= 1,
            let civil = CivilDate(year: year, month: month, day: day)
        else { return nil }
        let seconds = civil.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
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
