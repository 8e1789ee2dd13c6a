import Foundation

/// The digests that the fields of a request name of its content, made anew where the content is given a coding: all of them are of
/// the content as it is sent, with its coding (RFC 9530 §2 and §3, RFC 3230 §4.3.2, RFC 1864 §2).
struct CodedDigests {
    private let plain: Data
    private let coded: Data

    /// The fields for the coded content.
    ///
    /// - Returns: `nil` where the content has to stay as it is: a digest cannot be made here, which is so of all algorithms but
    ///   SHA-256 and SHA-512; or it is not that of the plain content, which the server is to find out; or a signature that is in
    ///   the fields already covers it.
    static func fields(_ fields: HTTPFields, for coded: Data, of plain: Data) -> HTTPFields? {
        guard fields.first(of: names) != nil else { return fields }
        guard !fields.contains("Content-MD5"), !fields.contains("Signature-Input") else { return nil }
        let digests = CodedDigests(plain: plain, coded: coded)
        var fields = fields
        for (name, renewed) in renewals where fields.contains(name) {
            guard let value = renewed(digests)(fields.values(of: name)) else { return nil }
            fields[name] = value
        }
        return fields
    }

    fileprivate static let names: HTTPFieldNames = ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"]

    /// The names of the fields, and what makes their values anew.
    private static let renewals: [(HTTPFieldName, @Sendable (CodedDigests) -> ([String]) -> String?)] = [
        ("Content-Digest", { $0.structured }), ("Repr-Digest", { $0.structured }), ("Digest", { $0.listed }),
    ]

    /// A Dictionary of byte sequences (RFC 9530 §2).
    private func structured(_ values: [String]) -> String? {
        guard let members = try? StructuredField.dictionary(values.joined(separator: ", ")) else { return nil }
        return joined(members.map { ($0.key, $0.value, ":") })
    }

    /// A list of algorithms in capital or small letters, each with its digest in base64 (RFC 3230 §4.3.2).
    private func listed(_ values: [String]) -> String? {
        joined(
            FieldList.members(values).map { member in
                let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "", "")
            })
    }

    private func joined(_ members: [(name: String, value: String, quote: String)]) -> String? {
        var renewed: [String] = []
        for (name, value, quote) in members {
            guard let algorithm = DigestAlgorithm(rawValue: name.lowercased()),
                value == quote + algorithm.digest(plain).base64EncodedString() + quote
            else { return nil }
            renewed.append(name + "=" + quote + algorithm.digest(coded).base64EncodedString() + quote)
        }
        return renewed.isEmpty ? nil : renewed.joined(separator: ", ")
    }
}

extension HTTPFields {
    /// The same without what tells a digest of the content, for who puts other content in its place.
    package func withoutContentDigests() -> HTTPFields { without(CodedDigests.names) }
}

/// The digests that can be made, by their names in `Content-Digest` and `Repr-Digest` (RFC 9530 §5), the ones to prefer first.
enum DigestAlgorithm: String, CaseIterable, Hashable, Sendable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    var bytes: Int { self == .sha256 ? 32 : 64 }

    /// The digest of bytes that are all there.
    func digest(_ data: Data) -> Data {
        switch self {
        case .sha256: SHA256.bytes(data)
        case .sha512: SHA512.bytes(data)
        }
    }
}
