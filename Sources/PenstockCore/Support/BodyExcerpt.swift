import Foundation

/// The beginning of a body, made safe to print.
enum BodyExcerpt {
    static let limit = 256

    /// Control characters and backslashes are escaped; what is no UTF-8 becomes U+FFFD.
    static func text(of data: Data) -> String {
        let prefix = String(decoding: data.prefix(limit), as: UTF8.self)
        return PrintableText.escaped(prefix) + (data.count > limit ? "… (\(data.count) bytes)" : "")
    }
}

/// Text from outside, made safe for a terminal and a log line.
enum PrintableText {
    /// Escapes control and format characters, line separators and backslashes, so that one text stays one line.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            result += isPlain(scalar) ? String(scalar) : scalar.escaped(asASCII: true)
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
        default: scalar != "\\"
        }
    }
}

extension PrintableText {
    /// Escaped, and at most `limit` scalars of it.
    static func bounded(_ text: String, to limit: Int = 256) -> String {
        let head = text.head(limit)
        return escaped(String(head)) + (head.endIndex < text.endIndex ? "…" : "")
    }
}

extension StringProtocol {
    /// The first scalars. A bound for what comes from outside counts these: a character has as many of them as its writer likes.
    package func head(_ limit: Int) -> SubSequence { self[..<unicodeScalars.prefix(limit).endIndex] }
}
