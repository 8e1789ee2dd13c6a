import Foundation
import PenstockCore

extension HTTPRequest {
    /// The request as a command that a shell can run: to try by hand what an app has sent.
    ///
    /// ```
    /// curl --globoff -X POST -H 'Authorization: ‹redacted›' --data-raw '{"quantity":2}' 'https://shop.example.com/orders'
    /// ```
    ///
    /// Every part that is not the library's own is quoted, so that a shell takes it as it stands (POSIX.1-2024, Shell Command
    /// Language §2.2). What is secret by ``Redaction`` is not in it.
    ///
    /// - Parameter showsContent: whether the content is in it, redacted; by default only its size is. Content that is no
    ///   text, has a coding, or comes from a file or a stream, is named in its place.
    public func curlCommand(showsContent: Bool = false) -> String {
        var parts = ["curl", "--globoff"]
        switch method {
        case .head: parts.append("--head")
        case .get where body.isNone: break
        default: parts += ["-X", Self.shellQuoted(method.rawValue)]
        }
        for field in fields {
            let value = Redaction.value(field.value, of: field.name)
            // Without a value curl would take the field off; with a semicolon it sends it empty.
            parts += ["-H", Self.shellQuoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")]
        }
        if let content = content(showsContent) { parts += content }
        parts.append(Self.shellQuoted("\(url)"))
        return parts.joined(separator: " ")
    }

    private func content(_ isShown: Bool) -> [String]? {
        switch body.source {
        case .none: return nil
        case .bytes(let data):
            guard isShown, let shown = try? Redaction.content(of: self, data),
                let text = String(data: shown, encoding: .utf8), !text.utf8.contains(0)
            else {
                return ["--data-raw", Self.shellQuoted("‹\(data.count) bytes›")]
            }
            return ["--data-raw", Self.shellQuoted(text)]
        case .file(let url): return ["--data-binary", Self.shellQuoted("@\(url.lastPathComponent)")]
        case .stream: return ["--data-binary", "@-"]
        }
    }

    /// One word of a shell: in single quotes, in which everything stands for itself but the quote. With control characters,
    /// which a terminal would obey, in dollar quotes, where they are escaped.
    static func shellQuoted(_ text: String) -> String {
        let hasControls = text.unicodeScalars.contains {
            let category = $0.properties.generalCategory
            return category == .control || category == .format
        }
        guard hasControls else { return "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'" }
        let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "'": result += "\\'"
            case "\\": result += "\\\\"
            default:
                let category = scalar.properties.generalCategory
                guard category == .control || category == .format else { return result.unicodeScalars.append(scalar) }
                // Octal has a fixed length: what follows cannot be taken for a part of it.
                for byte in String(scalar).utf8 { result += String(format: "\\%03o", byte) }
            }
        }
        return "$'\(escaped)'"
    }
}
