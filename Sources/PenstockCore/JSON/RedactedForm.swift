import Foundation

/// A `multipart/form-data` body (RFC 7578) as it may be shown: without the content of parts whose names are those of secrets.
/// So is any other body of several parts (RFC 2046 §5.1), whose parts need no names.
///
/// It is read to the letter, as what one reader takes for a part's content another one may take for a name: a preamble, an epilogue,
/// a bare line feed, a folded line, or a part without one name make it no form.
struct RedactedForm {
    /// The boundary that a body begins with; `nil` for what does not begin as a body of several parts does.
    static func boundary(of data: Data) -> String? {
        let line = data.prefix(longestBoundary + 3).prefix { $0 > 0x20 && $0 < 0x7F }
        guard line.starts(with: "--".utf8), data[line.endIndex...].starts(with: lineEnd) else { return nil }
        return usable(String(decoding: line.dropFirst(2), as: UTF8.self))
    }

    /// A boundary has 1 to 70 characters (RFC 2046 §5.1.1).
    static func usable(_ boundary: String?) -> String? {
        boundary.flatMap { (1...longestBoundary).contains($0.utf8.count) ? $0 : nil }
    }

    private static let longestBoundary = 70

    /// - Parameter isForm: whether each part has a name.
    /// - Returns: `nil` where the body is no form with this boundary. A form without secrets stays byte for byte.
    static func make(of data: Data, boundary: String, isForm: Bool = true) -> Data? {
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // The line end of the first one would stand before the body.
        guard data.starts(with: delimiter.dropFirst(lineEnd.count)) else { return nil }
        var (output, rest) = (Data(), data.dropFirst(delimiter.count - lineEnd.count))
        output += delimiter.dropFirst(lineEnd.count)
        while rest.starts(with: lineEnd) {
            let part = rest.dropFirst(lineEnd.count)
            guard let end = part.range(of: delimiter), let shown = shown(part[..<end.lowerBound], isForm) else {
                return nil
            }
            output += lineEnd + shown + delimiter
            rest = part[end.upperBound...]
        }
        return rest.elementsEqual("--\r\n".utf8) || rest.elementsEqual("--".utf8) ? output + rest : nil
    }

    private static let lineEnd = Data("\r\n".utf8)

    // MARK: One part

    private static func shown(_ part: Data, _ isForm: Bool) -> Data? {
        guard let end = part.range(of: lineEnd + lineEnd), let lines = lines(part[..<end.lowerBound]) else {
            return nil
        }
        let fields = lines.map { HTTPField(name: HTTPFieldName($0.name), value: HTTPSyntax.trimmed($0.value)) }
        let isNamed = isForm || fields.contains { $0.name == .contentDisposition && $0.value.contains("form-data") }
        guard let name = name(fields) ?? (isNamed ? nil : "") else { return nil }
        let head = zip(lines, fields).map { line, field in
            let shown = Redaction.value(field.value, of: field.name)
            return shown == field.value ? "\(line.name):\(line.value)" : "\(line.name): \(shown)"
        }
        let content = shown(Data(part[end.upperBound...]), name, HTTPFields(fields))
        return Data(head.joined(separator: "\r\n").utf8) + lineEnd + lineEnd + content
    }

    /// The lines of a part's head, the white space around the values kept; `nil` where one is no field.
    private static func lines(_ head: Data) -> [(name: String, value: String)]? {
        var (lines, rest) = ([(name: String, value: String)](), head)
        while true {
            let end = rest.range(of: lineEnd)
            let line = rest[..<(end?.lowerBound ?? rest.endIndex)]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = String(utf8: line[..<colon]), HTTPSyntax.isToken(name),
                let value = String(utf8: line[line.index(after: colon)...]),
                HTTPSyntax.isFieldValue(value), !value.hasRunOfMarks
            else { return nil }
            lines.append((name, value))
            guard let end else { return lines }
            rest = rest[end.upperBound...]
        }
    }

    /// The name by `Content-Disposition` (RFC 7578 §4.2); `nil` where there is not just one.
    private static func name(_ fields: [HTTPField]) -> String? {
        let dispositions = fields.filter { $0.name == .contentDisposition }
        guard dispositions.count == 1, let disposition = ParameterizedValue(dispositions[0].value),
            disposition.value == "form-data", disposition.parameters["name*"] == nil
        else { return nil }
        return disposition.parameters["name"]
    }

    private static func shown(_ content: Data, _ name: String, _ fields: HTTPFields) -> Data {
        guard !content.isEmpty else { return content }
        let mark = Data(Redaction.mark.utf8)
        guard !Redaction.isSecret(parameter: name), !isCoded(fields) else { return mark }
        let type = fields[.contentType]
        // A form in a form has no meaning, and parts in parts no end.
        guard type.map({ HTTPSyntax.trimmed($0).lowercased().hasPrefix("multipart/") }) != true else { return mark }
        return (try? Redaction.readable(content, type: type, isPart: true)) ?? mark
    }

    /// Whether what is secret in the content cannot be found as it stands: form data should have no such coding (RFC 7578 §4.7).
    private static func isCoded(_ fields: HTTPFields) -> Bool {
        let plain: Set<String> = ["7bit", "8bit", "binary", "identity"]
        return (fields.values(of: "Content-Transfer-Encoding") + fields.values(of: .contentEncoding))
            .contains { !plain.contains(HTTPSyntax.trimmed($0).lowercased()) }
    }
}

/// A value with parameters, as `Content-Type` and `Content-Disposition` have them (RFC 9110 §5.6.6, RFC 6266 §4.1).
package struct ParameterizedValue {
    /// The value in lower case.
    package let value: String
    /// The parameters by their names in lower case; the texts of quoted ones without their quotes and escapes.
    package let parameters: [String: String]

    /// `nil` where it breaks the grammar, or has two parameters of one name.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        let first = rest.prefix { $0 != UInt8(ascii: ";") }
        value = HTTPSyntax.trimmed(String(Substring(first))).lowercased()
        guard !value.isEmpty else { return nil }
        rest = rest[first.endIndex...]
        var found: [String: String] = [:]
        while !rest.isEmpty {
            guard let (name, value) = Self.parameter(&rest) else { return nil }
            // An empty one, as behind a semicolon at the end.
            guard !name.isEmpty else { continue }
            guard found.updateValue(value, forKey: name) == nil else { return nil }
        }
        parameters = found
    }

    /// Reads one parameter with the semicolon before it.
    private static func parameter(_ rest: inout Substring.UTF8View) -> (String, String)? {
        rest = rest.dropFirst().drop(while: FieldList.isSpace)
        let name = rest.prefix { HTTPSyntax.isTokenByte($0) }
        rest = rest[name.endIndex...]
        if name.isEmpty { return rest.isEmpty || rest.first == UInt8(ascii: ";") ? ("", "") : nil }
        guard rest.first == UInt8(ascii: "=") else { return nil }
        rest = rest.dropFirst()
        guard let value = rest.first == UInt8(ascii: "\"") ? quoted(&rest) : token(&rest) else { return nil }
        rest = rest.drop(while: FieldList.isSpace)
        return rest.isEmpty || rest.first == UInt8(ascii: ";") ? (String(Substring(name)).lowercased(), value) : nil
    }

    private static func token(_ rest: inout Substring.UTF8View) -> String? {
        let token = rest.prefix { $0 != UInt8(ascii: ";") && !FieldList.isSpace($0) && $0 != UInt8(ascii: "\"") }
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(Substring(token))
    }

    private static func quoted(_ rest: inout Substring.UTF8View) -> String? {
        guard let end = FieldList.endOfQuotes(rest) else { return nil }
        let text = FieldList.unquoted(Substring(rest[..<end]))
        rest = rest[end...]
        return text
    }
}
