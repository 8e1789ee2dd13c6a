import Foundation

/// What an attacker can make who has not got the authority's key.
public enum ForgedSignature {
    /// A PEM text whose first block, a certificate or a revocation list, has a signature that does not fit: it stands last in both
    /// (RFC 5280 §4.1, §5.1), and its last byte is changed.
    public static func on(_ text: Data) throws -> Data {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        let content = lines.dropFirst().prefix { !$0.hasPrefix("-----END ") }
        guard var bytes = Data(base64Encoded: content.joined()), !bytes.isEmpty else { throw NoBlock() }
        bytes[bytes.count - 1] ^= 1
        let changed = [lines[0], bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])]
        return Data((changed + lines.dropFirst(1 + content.count) + [""]).joined(separator: "\n").utf8)
    }

    /// The text does not begin with a block.
    public struct NoBlock: Error {}
}
