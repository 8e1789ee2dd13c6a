import Foundation
import PenstockCore

extension HTTPRequest {
    /// The request as a command that a shell can run: to try by hand what an app has sent.
    ///
    /// ```
    /// curl -X 'POST' -H 'Authorization: ‹redacted›' -H 'Content-Type:' --data-raw '{"quantity":2}' 'https://shop.example.com/orders'
    /// ```
    ///
    /// It sends what the request has, byte for byte, and nothing that curl would add for its content (curl(1)). Every part that is
    /// not the library's own is quoted, so that a shell takes it as it stands: in single quotes (POSIX.1-2024, Shell Command
    /// Language §2.2.2), or in dollar quotes (§2.2.4), which bash and zsh know, where it holds control characters, line breaks or
    /// bytes that are no UTF-8. What is secret by ``Redaction`` is not in it.
    ///
    /// - Parameter showsContent: whether the content is in it, redacted; by default only its size is. Content that has a NUL
    ///   byte, which no argument can have, more than 100,000 bytes, which may be too much for one, or a coding, or comes from a file or a stream, is named in its place.
    public func curlCommand(showsContent: Bool = false) -> String {
        let content = curlContent(showsContent)
        var parts = ["curl"] + curlSwitches + curlMethod + curlFields(hasContent: content != nil)
        parts += content ?? []
        parts.append(ShellWord.quoted("\(url)"))
        return parts.joined(separator: " ")
    }

    /// What keeps curl from reading the URL in its own way, and has it undo the codings that are asked for.
    private var curlSwitches: [String] {
        var switches: [String] = []
        if url.absoluteString.utf8.contains(where: { "[]{}".utf8.contains($0) }) { switches.append("--globoff") }
        let hasDots = url.path.split(separator: "/").contains { PercentEncoding.dots($0) > 0 }
        if hasDots { switches.append("--path-as-is") }
        let codings = fields.values(of: .acceptEncoding).map { $0.lowercased() }
        if codings.contains(where: { $0 != "identity" && !$0.isEmpty }) { switches.append("--compressed") }
        return switches
    }

    private var curlMethod: [String] {
        switch method {
        case .head where body.isNone: ["--head"]
        // curl has no `--head` with content. It waits for content of the answer, which does not come where the connection stays
        // open, so that the head is shown at once.
        case .head: ["--include", "-X", ShellWord.quoted(method.rawValue)]
        case .get where body.isNone: []
        default: ["-X", ShellWord.quoted(method.rawValue)]
        }
    }

    private func curlFields(hasContent: Bool) -> [String] {
        var lines = fields.filter { $0.name != .contentLength }.map { field in
            let value = Redaction.value(field.value, of: field.name)
            // Without a value curl would take the field off; with a semicolon it sends it empty.
            let isBlank = value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            return isBlank ? "\(field.name);" : "\(field.name): \(value)"
        }
        if hasContent, !fields.contains(.contentType) {
            // A field without a value takes off the one of forms, which curl sends with any content.
            lines.append(body.contentType.map { "Content-Type: \($0)" } ?? "Content-Type:")
        }
        return lines.flatMap { ["-H", ShellWord.quoted($0)] }
    }

    /// `--data-binary` reads a file where its argument begins with `@`; `--data-raw` takes it as it stands.
    private func curlContent(_ isShown: Bool) -> [String]? {
        switch body.source {
        // No content of a method that mostly has some is said to be none (RFC 9110 §8.6).
        case .none: method.expectsContent ? ["--data-raw", "''"] : nil
        case .bytes(let data): ["--data-raw", ShellWord.quoted(shown(data, isShown))]
        case .file(let url):
            // A file of the name `-` would be the standard input.
            ["--data-binary", ShellWord.quoted(url.lastPathComponent == "-" ? "@./-" : "@\(url.lastPathComponent)")]
        case .stream: ["--data-binary", "@-"]
        }
    }

    /// Linux has 128 KiB for one (execve(2), "Limits on size of arguments and environment").
    private static let longestArgument = 100_000

    private func shown(_ data: Data, _ isShown: Bool) -> [UInt8] {
        guard !data.isEmpty else { return [] }
        // Text in another encoding is looked through as if it were ISO-8859-1, in which every byte is a character.
        let isUTF8 = ShellWord.isText(data)
        let text = isUTF8 ? data : Data(String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) })).utf8)
        guard isShown, data.count <= Self.longestArgument, !data.contains(0),
            let redacted = try? Redaction.content(of: self, text), redacted.count <= Self.longestArgument
        else {
            return Array("‹\(data.count) bytes›".utf8)
        }
        guard !isUTF8 else { return Array(redacted) }
        return String(decoding: redacted, as: UTF8.self).unicodeScalars.flatMap { scalar in
            UInt8(exactly: scalar.value).map { [$0] } ?? Array(String(scalar).utf8)
        }
    }
}

/// One word of a shell.
enum ShellWord {
    /// Whether bytes are UTF-8.
    static func isText(_ bytes: some Collection<UInt8>) -> Bool {
        String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
    }

    static func quoted(_ text: String) -> String { quoted(Array(text.utf8)) }

    /// The bytes in single quotes, in which everything stands for itself but the quote. With control and format characters, which
    /// a terminal would obey, or with bytes that are no UTF-8, they stand in dollar quotes, where those are escaped.
    static func quoted(_ bytes: [UInt8]) -> String {
        guard isText(bytes) else { return "$'\(bytes.map(escaped).joined())'" }
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        guard scalars.contains(where: isControl) else {
            return "'\(scalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined())'"
        }
        return "$'\(scalars.map(escaped).joined())'"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar.isASCII { return escaped(UInt8(ascii: scalar)) }
        return isControl(scalar) ? String(scalar).utf8.map(octal).joined() : String(scalar)
    }

    private static func escaped(_ byte: UInt8) -> String {
        // An exclamation mark would mean something to an interactive shell that is unsure where the quotes end.
        let isPlain = (0x20...0x7E).contains(byte) && !#"'\!"#.utf8.contains(byte)
        return isPlain ? String(Unicode.Scalar(byte)) : octal(byte)
    }

    /// Three digits: what follows cannot be taken for a part of it.
    private static func octal(_ byte: UInt8) -> String { String(format: "\\%03o", byte) }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
