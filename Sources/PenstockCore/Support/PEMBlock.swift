import Foundation

/// What stands between two lines of a PEM file (RFC 7468). The form of a whole file is read strictly: a block that is damaged is
/// never passed over, since a file without it means something else.
package struct PEMBlock {
    /// What the block is said to hold, such as `CERTIFICATE`.
    package let label: String
    /// What base64 stood for.
    package let bytes: ArraySlice<UInt8>
    /// Whether a password protects it (RFC 5958 §3, RFC 1421 §4.6.1.1).
    package let isEncrypted: Bool

    /// All blocks of a file, in their order; what stands between them is no part of any.
    ///
    /// - Returns: `nil` where a block has no beginning or no end, stands in another one, or is not base64.
    package static func all(in text: some Sequence<UInt8>) -> [PEMBlock]? {
        var blocks: [PEMBlock] = []
        var open: Open?
        for line in lines(of: Array(text)) {
            if let label = label(of: line, after: "-----BEGIN ") {
                guard open == nil else { return nil }
                open = Open(label: label)
            } else if let label = label(of: line, after: "-----END ") {
                guard let block = open?.closed(by: label) else { return nil }
                blocks.append(block)
                open = nil
            } else {
                open?.take(line)
            }
        }
        return open == nil ? blocks : nil
    }

    /// The certificates of a file, as DER.
    ///
    /// - Returns: `nil` where a block of the file is damaged, whatever it holds.
    package static func certificates(in text: some Sequence<UInt8>) -> [Data]? {
        all(in: text)?.filter { $0.label == "CERTIFICATE" }.map { Data($0.bytes) }
    }

    /// A block whose end has not come yet.
    private struct Open {
        let label: String
        private var base64 = ""
        private var isEncrypted = false

        init(label: String) {
            self.label = label
        }

        /// The form that OpenSSL had before PKCS #8 tells of a password in the first line, and of its algorithm in the second.
        mutating func take(_ line: String) {
            if base64.isEmpty, line.hasPrefix("Proc-Type:") { return isEncrypted = true }
            if isEncrypted, base64.isEmpty, line.hasPrefix("DEK-Info:") { return }
            base64 += line
        }

        func closed(by label: String) -> PEMBlock? {
            guard label == self.label, let bytes = Data(base64Encoded: base64), !bytes.isEmpty,
                bytes.base64EncodedString() == base64
            else { return nil }
            return PEMBlock(
                label: label, bytes: Array(bytes)[...],
                isEncrypted: isEncrypted || label == "ENCRYPTED PRIVATE KEY")
        }
    }

    /// Lines end with CR, LF or both, and blanks around them do not count. One that is not ASCII is no part of a block, and stands
    /// for nothing that only looks like it: to `String`, the sign of the Kelvin is a K.
    private static func lines(of text: [UInt8]) -> [String] {
        text.split { $0 == 0x0A || $0 == 0x0D }.map { line in
            let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            let text = line.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
            return text.allSatisfy { $0 < 0x80 } ? String(decoding: text, as: UTF8.self) : "\u{FFFD}"
        }
    }

    private static func label(of line: String, after mark: String) -> String? {
        guard line.hasPrefix(mark), line.hasSuffix("-----"), line.utf8.count > mark.utf8.count + 5 else { return nil }
        return String(line.dropFirst(mark.count).dropLast(5))
    }
}
