/// Members of a list-based field (RFC 9110 §5.6.1), split on bytes.
///
/// The work is linear in the length of the field, whatever stands in it: no byte is looked at more than three times.
enum FieldList {
    /// The members of all lines, without empty ones and without the white space around them. A comma in a quoted string
    /// separates nothing; a quote that is never closed quotes nothing, so that what follows it is not lost.
    static func members(_ lines: [String]) -> [Substring] {
        lines.flatMap { members($0) }
    }

    static func members(_ line: String) -> [Substring] {
        var members: [Substring] = []
        let bytes = line.utf8[...]
        var (start, index) = (bytes.startIndex, bytes.startIndex)
        // A quote that is found unclosed ends the search for closing quotes on this line. Reading on behind any later quote
        // begins in the same state as the search that failed had there, so it would fail as well, after as many steps.
        var mayClose = true
        func takeMember() {
            let member = Substring(trimmed(bytes[start..<index]))
            if !member.isEmpty { members.append(member) }
        }
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\""), mayClose {
                let end = endOfQuotes(bytes[index...])
                mayClose = end != nil
                index = end ?? bytes.index(after: index)
                continue
            }
            if byte == UInt8(ascii: ",") {
                takeMember()
                start = bytes.index(after: index)
            }
            index = bytes.index(after: index)
        }
        takeMember()
        return members
    }

    /// The text of a quoted string, its escapes undone; `nil` when it is none (RFC 9110 §5.6.4).
    static func unquoted(_ text: Substring) -> String? {
        let bytes = text.utf8
        guard let end = endOfQuotes(bytes[...]), end == bytes.endIndex else { return nil }
        // The quotes are dropped from the bytes, as a combining character behind a quotation mark is one character with it.
        let content = bytes.dropFirst().dropLast()
        guard content.contains(UInt8(ascii: "\\")) else { return String(Substring(content)) }
        var output: [UInt8] = []
        var isEscaped = false
        for byte in content {
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            if !isEscaped { output.append(byte) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var view = text
        while let byte = view.first, isSpace(byte) { view = view.dropFirst() }
        while let byte = view.last, isSpace(byte) { view = view.dropLast() }
        return view
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Where the quoted string that `text` begins with ends; `nil` when it begins with none.
    static func endOfQuotes(_ text: Substring.UTF8View) -> Substring.Index? {
        guard text.first == UInt8(ascii: "\"") else { return nil }
        var isEscaped = false
        for index in text.indices.dropFirst() {
            let byte = text[index]
            if byte == UInt8(ascii: "\""), !isEscaped { return text.index(after: index) }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return nil
    }
}
