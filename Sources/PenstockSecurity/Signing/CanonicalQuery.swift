import Foundation
import PenstockCore

/// A query or a form as it is signed: every name and every value escaped in one way, sorted by what that gives.
enum CanonicalQuery {
    /// Names and values, each without its escapes and escaped again. Empty pieces are none.
    static func items(of query: String?) -> [(name: String, value: String)] {
        (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(reescaped(form:))
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }

    /// The items, sorted by name and then by value: byte by byte, as they are ASCII.
    static func text(of items: [(name: String, value: String)]) -> String {
        let sorted = items.sorted { left, right in
            left.name == right.name
                ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
                : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// A text without its escapes, escaped again with everything escaped that is not unreserved (RFC 3986 §2.3).
    static func reescaped(_ text: some StringProtocol) -> String {
        escaped(PercentEncoding.decoded(text), keeping: PercentEncoding.isUnreserved)
    }

    /// The same of a part of a query or a form, in which `+` is a space.
    static func reescaped(form text: Substring) -> String {
        reescaped(text.replacingOccurrences(of: "+", with: "%20"))
    }

    /// Bytes, which need be no text, with all escaped that is not kept.
    static func escaped(_ bytes: [UInt8], keeping isKept: (UInt8) -> Bool) -> String {
        var output = ""
        for byte in bytes {
            if isKept(byte) {
                output.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                output += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return output
    }
}

extension HTTPURL {
    /// The host, and the port where it is not the scheme's own: the value of `Host`.
    var authority: String { String(origin.text.dropFirst(scheme.rawValue.utf8.count + 3)) }

    /// The URL with parameters behind those that it has.
    func adding(_ items: [(String, String)]) -> HTTPURL {
        let added = items.map { "\(PercentEncoding.escaped($0.0))=\(PercentEncoding.escaped($0.1))" }
        let own = query.flatMap { $0.isEmpty ? nil : [$0] } ?? []
        return HTTPURL(origin: origin, path: path, query: (own + added).joined(separator: "&"))
    }

    /// The URL without the parameters of some names, in any letter case, and as it stands where it has none of them.
    func removing(_ names: [String]) -> HTTPURL {
        guard let query else { return self }
        let names = Set(names.map { $0.lowercased() })
        let items = query.split(separator: "&", omittingEmptySubsequences: false)
        let rest = items.filter { item in
            let name = PercentEncoding.decoded(item.prefix { $0 != "=" })
            return !names.contains(String(decoding: name, as: UTF8.self).lowercased())
        }
        guard rest.count < items.count else { return self }
        return HTTPURL(origin: origin, path: path, query: rest.isEmpty ? nil : rest.joined(separator: "&"))
    }
}
