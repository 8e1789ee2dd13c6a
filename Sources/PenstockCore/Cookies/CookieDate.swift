import Foundation

/// The date of a cookie's `Expires` attribute, read by the algorithm of RFC 6265 §5.1.1.
///
/// Servers write it in dozens of ways, so the algorithm does not know forms. It cuts the text into words and takes the
/// first word that looks like a time, the first that looks like a day, a month and a year, in whatever order they stand.
/// Names of days and zones are ignored; the time counts as GMT.
enum CookieDate {
    /// - Returns: `nil` where one of the four parts is missing or no calendar or clock has it.
    static func parse(_ text: String) -> Date? {
        var parts = Parts()
        for word in text.utf8.split(whereSeparator: isDelimiter) { parts.take(word) }
        return parts.date
    }

    /// What was found so far. A word fills the first part that it fits and that is still missing.
    private struct Parts {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func take(_ word: Substring.UTF8View) {
            if time == nil, let found = CookieDate.time(word) {
                time = found
            } else if day == nil, let found = CookieDate.number(word, digits: 1...2) {
                day = found
            } else if month == nil, let found = CookieDate.month(word) {
                month = found
            } else if year == nil, let found = CookieDate.number(word, digits: 2...4) {
                year = found
            }
        }

        var date: Date? {
            guard let time, let day, let month, let year, time.second <= 59 else { return nil }
            let fullYear =
                switch year {
                case 70...99: 1_900 + year
                case 0...69: 2_000 + year
                default: year
                }
            guard fullYear >= 1_601 else { return nil }
            return HTTPDate.date(day, month, fullYear, time.hour, time.minute, time.second)
        }
    }

    /// Everything but digits, letters, colons, control characters and bytes beyond ASCII.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Three numbers of one or two digits with colons between them; what follows the third is ignored.
    private static func time(_ word: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let fields = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].allSatisfy(isDigit), fields[1].allSatisfy(isDigit),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The number that a word begins with, if it has so many digits; what follows them is ignored.
    private static func number(_ word: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let number = word.prefix(while: isDigit)
        guard digits.contains(number.count) else { return nil }
        return number.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }

    /// Counted from 0. Only the first three letters of the name matter.
    private static func month(_ word: Substring.UTF8View) -> Int? {
        HTTPDate.months.firstIndex { name in
            word.count >= 3 && name.utf8.elementsEqual(word.prefix(3).map(HTTPSyntax.lowercased))
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
