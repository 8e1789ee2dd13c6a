import Foundation

/// Looks for secrets that a test has planted, in whatever was written: as they are and in the forms in which bytes are often
/// written.
package struct CanaryScan: Sendable {
    /// A secret for each place that has one. None looks like a secret: it is known by its place alone.
    package static let planted = Dictionary(
        uniqueKeysWithValues: [
            "header", "cookie", "query", "userinfo", "form", "json", "reply", "location", "token", "refresh", "pin",
            "signingkey", "wrongfield", "wrongcookie", "keptquery", "keptcookie", "keptnonce", "sealed", "sealingkey",
            "proxy",
            "clientkey", "passphrase", "outbox", "collector", "labelled", "nested", "escaped", "varied",
        ].map { ($0, "swordfish\($0)") })

    /// What is no secret, and is found in every output that is looked through.
    package static let marker = "songbirdsings"

    /// What is looked for, by where it was planted.
    package let canaries: [String: String]
    private let forms: [(place: String, bytes: Data)]

    /// - Parameter canaries: of letters and digits, at least eight of them.
    package init(_ canaries: [String: String]) {
        self.canaries = canaries
        forms = canaries.flatMap { place, text in Self.forms(of: text).map { (place, $0) } }
    }

    /// The places whose canaries stand in some bytes.
    package func found(in data: Data) -> Set<String> {
        Set(forms.filter { data.range(of: $0.bytes) != nil }.map(\.place))
    }

    /// The places whose canaries stand in a file's content or name, for each file of a folder and those in it.
    package func found(inFolder folder: URL) throws -> [String: Set<String>] {
        guard let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        var found: [String: Set<String>] = [:]
        for case let url as URL in all {
            let name = String(url.path.dropFirst(folder.path.count + 1))
            var places = self.found(in: Data(name.utf8))
            if try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
                places.formUnion(self.found(in: try Data(contentsOf: url)))
            }
            found[name] = places
        }
        return found
    }

    /// The text itself, in hexadecimal digits of both cases, in base64 (of letters and digits the alphabet for URLs makes the same)
    /// wherever it begins in three bytes, each letter escaped as in a URL, and as UTF-16.
    package static func forms(of text: String) -> [Data] {
        let bytes = Array(text.utf8)
        let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let escaped = hexadecimal.map { "%" + $0 }.joined()
        var texts = [text, hexadecimal.joined(), hexadecimal.joined().uppercased(), escaped, escaped.uppercased()]
        for before in 0..<3 {
            // The letters at both ends depend on the bytes beside it.
            let encoded = Data([UInt8](repeating: 0, count: before) + bytes).base64EncodedString()
            let start = before == 0 ? 0 : before + 1
            let end = (before + bytes.count) * 8 / 6
            texts.append(String(encoded.prefix(end).dropFirst(start)))
        }
        return texts.map { Data($0.utf8) } + [Data(bytes.flatMap { [$0, 0] })]
    }
}
