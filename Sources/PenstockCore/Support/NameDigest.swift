/// Names as 32 hexadecimal digits: what is kept on disk with them tells nobody the names.
enum NameDigest {
    static func of(_ parts: String...) -> String {
        // Lengths before the parts, so that no two lists make one text.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return String(SHA256.hex(text.utf8).prefix(32))
    }

    /// The digest of a user, in every environment.
    static func of(identity: String) -> String { of("identity", identity) }
}
