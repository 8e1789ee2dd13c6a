/// One link of a `Link` field (RFC 8288).
///
/// ```
/// Link: <https://api.example.com/products?page=2>; rel="next"; title="more"
/// ```
public struct WebLink: Hashable, Sendable {
    /// A URI reference, as it was written.
    public let target: String
    /// Names in lower case, values without their quotes, in the order in which they were written.
    public let parameters: [Parameter]

    /// One parameter of a link; the value is empty where there is none.
    public struct Parameter: Hashable, Sendable {
        /// The name in lower case; with its `*` where it has one (RFC 8187).
        public let name: String
        /// The value without quotes and escapes; that of a name with an `*` is the text that it stands for, and as it was written
        /// where it stands for none.
        public let value: String
    }

    /// The relation types, in lower case: of the first `rel` alone, as any later one must be ignored (RFC 8288 §3.3).
    public var relations: [String] {
        self["rel"]?.lowercased().split { $0 == " " || $0 == "\t" }.map(String.init) ?? []
    }

    /// The first value of a name, which is compared without regard to case.
    public subscript(name: String) -> String? {
        parameters.first { $0.name == name.lowercased() }?.value
    }

    /// The links of all field lines. What is no link is left out together with everything up to the next comma after it; the
    /// rest is read. Each byte is looked at a fixed number of times, whatever was written.
    public static func links(in values: [String]) -> [WebLink] {
        values.flatMap { value in
            var parser = WebLinkParser(bytes: Array(value.utf8))
            return parser.links()
        }
    }

    /// Whether it stands in a relation to the resource at a URL. A link with another `anchor` is about something else
    /// (RFC 8288 §3.2), also where that is a part of the page.
    func leads(_ relation: String, from url: HTTPURL) -> Bool {
        guard relations.contains(relation.lowercased()) else { return false }
        guard let anchor = self["anchor"] else { return true }
        let isPart = anchor.utf8.firstIndex(of: UInt8(ascii: "#")).map {
            anchor.utf8.index(after: $0) != anchor.endIndex
        }
        return isPart != true && (try? url.resolving(anchor)) == url
    }
}

/// Reads `Link` fields as RFC 8288, appendix B, says.
private struct WebLinkParser {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func links() -> [WebLink] {
        var links: [WebLink] = []
        while index < bytes.count {
            skip { $0 == UInt8(ascii: ",") || FieldList.isSpace($0) }
            if let link = link() { links.append(link) }
            skip { $0 != UInt8(ascii: ",") }
        }
        return links
    }

    private mutating func link() -> WebLink? {
        guard take(UInt8(ascii: "<")) else { return nil }
        let target = text { $0 != UInt8(ascii: ">") }
        guard take(UInt8(ascii: ">")) else { return nil }
        return WebLink(target: target, parameters: parameters())
    }

    private mutating func parameters() -> [WebLink.Parameter] {
        var parameters: [WebLink.Parameter] = []
        while true {
            skip(FieldList.isSpace)
            guard take(UInt8(ascii: ";")) else { return parameters }
            skip(FieldList.isSpace)
            let name = text { !Self.endsName($0) }
            skip(FieldList.isSpace)
            var value = take(UInt8(ascii: "=")) ? value() : ""
            if name.utf8.last == UInt8(ascii: "*") { value = ExtendedValue.decoded(value) ?? value }
            if !name.isEmpty { parameters.append(.init(name: name.lowercased(), value: value)) }
        }
    }

    private mutating func value() -> String {
        skip(FieldList.isSpace)
        // White space does not end a value (appendix B.3): `title=Next page; rel=next` has two parameters.
        guard take(UInt8(ascii: "\"")) else { return HTTPSyntax.trimmed(text { !Self.endsParameter($0) }) }
        var output: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\"), index < bytes.count else {
                output.append(byte)
                continue
            }
            output.append(bytes[index])
            index += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || FieldList.isSpace(byte) || endsParameter(byte)
    }

    private static func endsParameter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",")
    }

    private mutating func text(_ belongs: (UInt8) -> Bool) -> String {
        let start = index
        skip(belongs)
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skip(_ belongs: (UInt8) -> Bool) {
        while index < bytes.count, belongs(bytes[index]) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }
}

// MARK: Printing

extension WebLink: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The link as it stands in the field, its target and the values of its parameters as ``Redaction`` allows.
    public var description: String {
        (["<\(Redaction.text(target))>"] + parameters.map(\.description)).joined(separator: "; ")
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["link": description], displayStyle: .struct) }
}

extension WebLink.Parameter: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, the value as ``Redaction`` allows.
    public var description: String { "\(name)=\"\(Redaction.value(value, ofParameter: name))\"" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["parameter": description], displayStyle: .struct) }
}
