/// A compression of content that transports remove (RFC 9110 §8.4.1, RFC 7932, RFC 8878). The field that tells of it stays in the
/// response all the same.
package enum ContentCoding: String, CaseIterable, Sendable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// - Parameter name: as it is listed, in any case. `nil` for a coding that is unknown here.
    package init?(name: String) {
        let name = name.lowercased()
        // RFC 9110 §8.4.1.3 has the two mean the same.
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// The names of the codings that content has, in the order they were applied and as they are listed; `identity` is none.
    package static func names(in fields: HTTPFields) -> [String] {
        // A coding is a token (RFC 9110 §8.4.1), so that no comma is quoted.
        fields.values(of: .contentEncoding)
            .flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
            .map { HTTPSyntax.trimmed(String(Substring($0))) }
            .filter { !$0.isEmpty && !HTTPSyntax.equalIgnoringCase($0, "identity") }
    }

    /// Whether a response's content was coded when it came.
    static func isCoded(_ fields: HTTPFields) -> Bool {
        !names(in: fields).isEmpty
    }
}
