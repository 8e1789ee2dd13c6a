import Foundation

extension HTTPFields {
    /// The fields of a response as they would be had it come so much later: `Date`, `Expires`, the date of a `Retry-After` and that
    /// of a cookie's `Expires` are moved, so that what was fresh is fresh and what had expired has expired.
    ///
    /// `Age` counts from `Date` and stays. So does `Last-Modified`: it names a version, by which the server is asked again
    /// (RFC 9110 §8.8.2). What is no date stays as it is.
    ///
    /// - Parameters:
    ///   - seconds: below zero for an earlier date.
    ///   - recorded: when the response came; it decides the century of a year of two digits.
    package func shifted(by seconds: TimeInterval, recorded: Date) -> HTTPFields {
        HTTPFields(
            map { field in
                switch field.name {
                case "Date", .expires, .retryAfter:
                    guard let date = HTTPDate.parse(field.value, at: recorded) else { return field }
                    return HTTPField(name: field.name, value: Self.text(date, later: seconds))
                case .setCookie: return HTTPField(name: field.name, value: Self.cookie(field.value, later: seconds))
                default: return field
                }
            })
    }

    private static func text(_ date: Date, later seconds: TimeInterval) -> String {
        HTTPDate.format(date.addingTimeInterval(seconds))
    }

    /// One line of `Set-Cookie`. Several cookies that somebody has joined in one line stay as they are.
    private static func cookie(_ line: String, later seconds: TimeInterval) -> String {
        line.split(separator: ";", omittingEmptySubsequences: false).enumerated().map { index, part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard index > 0, pair.count == 2, HTTPSyntax.trimmed(String(pair[0])).lowercased() == "expires",
                !pair[1].contains("="), let date = CookieDate.parse(String(pair[1]))
            else { return String(part) }
            return "\(pair[0])=\(text(date, later: seconds))"
        }.joined(separator: ";")
    }
}
