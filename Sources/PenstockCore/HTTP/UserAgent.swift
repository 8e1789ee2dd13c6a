import Foundation

/// The `User-Agent` that requests have unless the app sets or removes it (RFC 9110 §10.1.5): the app and its version as its
/// bundle names them, or the name of its program, and then this package.
///
/// ```
/// User-Agent: Shop/2.1 Penstock/0.1.0
/// ```
enum UserAgent {
    static let standard = text(
        name: bundle("CFBundleName") ?? ProcessInfo.processInfo.processName,
        version: bundle("CFBundleShortVersionString"))

    private static func bundle(_ key: String) -> String? {
        Bundle.main.object(forInfoDictionaryKey: key) as? String
    }

    /// - Parameter name: as people read it; what a token may not hold becomes a hyphen. One that has no letter or digit of
    ///   ASCII is left out.
    static func text(name: String, version: String?) -> String {
        let own = "Penstock/\(PenstockVersion.current)"
        guard let name = token(name) else { return own }
        return name + (version.flatMap(token).map { "/\($0)" } ?? "") + " " + own
    }

    private static func token(_ text: String) -> String? {
        let bytes = text.utf8.map { isPlain($0) ? $0 : UInt8(ascii: "-") }
        guard bytes.contains(where: { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
