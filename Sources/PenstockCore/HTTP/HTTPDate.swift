import Foundation

/// The dates of HTTP: the preferred form and the two obsolete ones (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Reads the three forms to the letter, spacing included, and nothing that is merely like them: another zone than
    /// GMT, one space where the grammar has two, two where it has one, an hour of one digit, a year of two digits or
    /// dashes in the preferred form, or no date of the calendar give `nil`. Letter case alone does not count, as RFC 9111
    /// §4.2 asks of caches, and the name of the day need not be the right one.
    ///
    /// - Parameter now: decides the century of a year of two digits, which is never more than 50 years ahead.
    package static func parse(_ text: String, at now: Date) -> Date? {
        if let date = parsePreferred(text) { return date }
        guard text.utf8.count <= longest else { return nil }
        // Each word beyond the sixth is one too many, so the rest of a long text is not cut up.
        let words = text.split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
        switch words.count {
        case 6 where isDay(words[0], shortDays, comma: true) && isGMT(words[5]):
            return strict(words[1], words[2], words[3], words[4])
        case 6 where isDay(words[0], shortDays, comma: false) && words[2].isEmpty:
            // A day of one digit has a second space before it in this form.
            return strict("0" + words[3], words[1], words[5], words[4])
        case 5 where isDay(words[0], shortDays, comma: false):
            return strict(words[2], words[1], words[4], words[3])
        case 4 where isDay(words[0], longDays, comma: true) && isGMT(words[3]):
            return obsolete(words[1].split(separator: "-", omittingEmptySubsequences: false), words[2], now)
        default: return nil
        }
    }

    /// The length of the longest form, with the longest name of a day, in bytes: `Wednesday, 09-Nov-94 08:49:37 GMT`.
    private static let longest = 33

    /// The preferred form to the letter, as nearly all dates are: read from fixed places, without cutting up the text.
    private static func parsePreferred(_ text: String) -> Date? {
        guard text.utf8.count == 29 else { return nil }
        return text.utf8.withContiguousStorageIfAvailable(parsePreferred)
            ?? Array(text.utf8).withUnsafeBufferPointer(parsePreferred)
    }

    private static func parsePreferred(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
        guard word(bytes, 3, 2) == packed(", "), word(bytes, 25, 4) == packed(" GMT"), bytes[7] == 0x20,
            bytes[11] == 0x20, bytes[16] == 0x20, bytes[19] == 0x3A, bytes[22] == 0x3A,
            packedDays.contains(word(bytes, 0, 3)), let month = packedMonths.firstIndex(of: word(bytes, 8, 3)),
            let day = number(bytes, 5, 2), let year = number(bytes, 12, 4), year >= 1_601,
            let hour = number(bytes, 17, 2), let minute = number(bytes, 20, 2), let second = number(bytes, 23, 2)
        else { return nil }
        return date(day, month, year, hour, minute, second)
    }

    private static let packedDays = dayNames.map(packed)
    private static let packedMonths = monthNames.map(packed)

    /// Packs up to four characters into a number.
    private static func packed(_ text: String) -> UInt32 {
        text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func word(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in start..<(start + count) { value = value << 8 | UInt32(bytes[index]) }
        return value
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var value = 0
        for index in start..<(start + count) {
            let digit = bytes[index] &- 0x30
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    private static let shortDays: Set = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longDays: Set = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    private static func isDay(_ word: Substring, _ names: Set<String>, comma: Bool) -> Bool {
        guard word.hasSuffix(",") == comma else { return false }
        return names.contains((comma ? word.dropLast() : word).lowercased())
    }

    private static func isGMT(_ word: Substring) -> Bool { word.lowercased() == "gmt" }

    private static func strict(_ day: Substring, _ month: Substring, _ year: Substring, _ time: Substring) -> Date? {
        guard day.utf8.count == 2, year.utf8.count == 4, isClock(time) else { return nil }
        return date(day, month, year, time)
    }

    /// Whether a time has two digits for each of its parts, as all three forms have it.
    private static func isClock(_ time: Substring) -> Bool {
        time.utf8.count == 8
            && time.utf8.enumerated().allSatisfy { place, byte in (byte == UInt8(ascii: ":")) == (place % 3 == 2) }
    }

    /// `06-Nov-94`: a year that would be more than 50 years ahead is one of the past century.
    private static func obsolete(_ parts: [Substring], _ time: Substring, _ now: Date) -> Date? {
        guard parts.count == 3, parts[2].utf8.count == 2, let year = number(parts[2]) else { return nil }
        let present = Int(civil(now).day.year)
        let century = present - present % 100
        let limit = now.addingTimeInterval(50 * 365.2425 * 86_400)
        return [century + 100, century, century - 100].lazy
            .compactMap { strict(parts[0], parts[1], Substring(String($0 + year)), time) }
            .first { $0 <= limit }
    }

    /// The months in lower case, by their first three letters.
    static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func date(
        _ dayText: Substring, _ monthText: Substring, _ yearText: Substring, _ timeText: Substring
    ) -> Date? {
        let time = timeText.split(separator: ":").compactMap { number($0) }
        guard let day = number(dayText), let month = months.firstIndex(of: monthText.lowercased()),
            let year = number(yearText), year >= 1_601
        else { return nil }
        return time.count == 3 ? date(day, month, year, time[0], time[1], time[2]) : nil
    }

    /// `nil` unless the calendar and the clock have it. Months count from 0.
    static func date(_ day: Int, _ month: Int, _ year: Int, _ hour: Int, _ minute: Int, _ second: Int) -> Date? {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            let civil = CivilDate(year: Int64(year), month: Int64(month + 1), day: Int64(day))
        else { return nil }
        let time = Int64(hour * 3_600 + minute * 60 + second)
        return Date(timeIntervalSince1970: TimeInterval(civil.daysSince1970 * 86_400 + time))
    }

    private static func number(_ text: Substring) -> Int? {
        Array(text.utf8).withUnsafeBufferPointer { number($0, 0, $0.count) }
    }
}

extension HTTPDate {
    /// The preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`, in whole seconds (RFC 9110 §5.6.7).
    package static func format(_ date: Date) -> String {
        let (civil, second) = civil(date)
        let weekday = dayNames[Int((civil.daysSince1970 + 4).dividedDown(by: 7).remainder)]
        let month = monthNames[Int(civil.month) - 1]
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(weekday), \(padded(civil.day, 2)) \(month) \(padded(civil.year, 4)) \(clock) GMT"
    }

    /// The day and its second, within the years that four digits have.
    private static func civil(_ date: Date) -> (day: CivilDate, second: Int64) {
        let seconds = Int64(max(-62_135_596_800, min(253_402_300_799, date.timeIntervalSince1970.rounded(.down))))
        let (days, second) = seconds.dividedDown(by: 86_400)
        return (CivilDate(daysSince1970: days), second)
    }

    static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
