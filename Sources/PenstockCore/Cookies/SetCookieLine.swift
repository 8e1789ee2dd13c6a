import Foundation

/// One `Set-Cookie` line taken apart as RFC 6265bis §5.6 does it, which is as lax as the servers are. Nothing is judged
/// here by who sent it.
struct SetCookieLine {
    /// The longest that name and value may be together, in bytes.
    private static let maximumBytes = 4_096
    /// The longest that one attribute's value may be, in bytes. A longer attribute is ignored.
    private static let maximumAttributeBytes = 1_024

    /// The longest name of an attribute that is known, in bytes: `HttpOnly` and `SameSite`.
    private static let longestAttributeName = 8

    private(set) var name: String
    private(set) var value: String
    /// The `Domain` in lower case, without its leading dot; empty where the last `Domain` attribute was, or there was none.
    private(set) var domain = ""
    /// `nil` where the last `Path` attribute was no absolute path, or there was none.
    private(set) var path: String?
    /// Whether there was a `Path` attribute at all, readable or not.
    private(set) var hasPath = false
    /// The `Max-Age` in seconds; zero and less mean that the cookie is to be deleted.
    private(set) var maxAge: Int?
    private(set) var expires: Date?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite = Cookie.SameSite.unspecified

    /// - Returns: `nil` for a line with a control character other than a tab, with neither name nor value, with too much of
    ///   both, or with U+FFFD, which stands for bytes that are lost.
    init?(_ line: String) {
        guard HTTPSyntax.isFieldValue(line), !line.unicodeScalars.contains("\u{FFFD}") else { return nil }
        let parts = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let pair = parts.first else { return nil }
        // What has no equals sign is a value without a name.
        let (first, second) = Self.cut(pair)
        (name, value) = second.map { (first, $0) } ?? ("", first)
        guard !name.isEmpty || !value.isEmpty, name.utf8.count + value.utf8.count <= Self.maximumBytes else {
            return nil
        }
        for part in parts.dropFirst() {
            let (name, value) = Self.cut(part)
            guard name.utf8.count <= Self.longestAttributeName else { continue }
            if value?.utf8.count ?? 0 <= Self.maximumAttributeBytes {
                take(Self.lowercased(name.utf8[...]), value ?? "")
            }
        }
    }

    /// The last attribute of a kind wins, also when its value is empty. One that cannot be read leaves what was there.
    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "expires": expires = CookieDate.parse(value) ?? expires
        case "max-age": maxAge = Self.seconds(value) ?? maxAge
        case "domain": domain = Self.lowercased(value.utf8.drop(first: UInt8(ascii: ".")))
        case "path":
            hasPath = true
            path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: Self.lowercased(value.utf8[...])) ?? .unspecified
        default: break
        }
    }

    /// Digits, maybe after a minus sign; a number beyond 64 bits counts as the largest.
    private static func seconds(_ text: String) -> Int? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return isNegative ? 0 : Int(Substring(digits)) ?? .max
    }

    /// Makes small letters of ASCII letters alone, so that no letter from elsewhere becomes one of them.
    private static func lowercased(_ text: Substring.UTF8View) -> String {
        String(decoding: text.map(HTTPSyntax.lowercased), as: UTF8.self)
    }

    /// What stands before and after the first equals sign, without the white space around each.
    private static func cut(_ part: Substring.UTF8View) -> (String, String?) {
        let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { HTTPSyntax.trimmed(String(Substring($0))) }
        return (halves.first ?? "", halves.count == 2 ? halves[1] : nil)
    }
}

extension String.UTF8View {
    /// The bytes without the first one, if it is this.
    fileprivate func drop(first byte: UInt8) -> SubSequence {
        first == byte ? dropFirst() : self[...]
    }
}
