import Foundation

/// What a response says of how its content is to be kept: `Content-Disposition` (RFC 6266).
///
/// ```swift
/// let name = ContentDisposition(response.fields)?.fileName.map { FileNameRules.harmless($0) }
/// ```
public struct ContentDisposition: Hashable, Sendable {
    /// The disposition in lower case: `attachment` for what is to be saved, `inline` for what may be shown. Any other means `attachment`
    /// (RFC 6266 §4.2).
    public let type: String
    /// The name that the server suggests, **as it wrote it**: it may hold anything, such as `../`. ``FileNameRules/harmless(_:or:)``
    /// makes a name of it that can be used. `nil` where the server suggests none that can be read.
    ///
    /// Of `filename*` and `filename` the first is taken, whatever their order (§4.3), unless it is broken. Names in pieces, such
    /// as `filename*0`, are no part of HTTP (RFC 8187 §3.1) and are passed over.
    public let fileName: String?

    /// Reads the value of a field. Broken parameters are passed over, as browsers do; the work is linear in the length.
    ///
    /// - Returns: `nil` where there is no type, also where a parameter stands in its place.
    public init?(_ value: String) {
        var scanner = Scanner(value)
        guard let type = scanner.token(), !scanner.isAtValue else { return nil }
        self.type = type.lowercased()
        var plain: String?
        var extended: String?
        while let (name, value) = scanner.parameter() {
            switch name.lowercased() {
            case "filename": plain = plain ?? value
            case "filename*": extended = extended ?? ExtendedValue.decoded(value)
            default: break
            }
        }
        fileName = extended ?? plain
    }

    /// The disposition of a response. `nil` also where there are several: which one counts would be a guess.
    public init?(_ fields: HTTPFields) {
        let lines = fields.values(of: .contentDisposition)
        guard lines.count == 1, let line = lines.first else { return nil }
        self.init(line)
    }
}

/// Reads the value from its beginning to its end, each byte once.
private struct Scanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text.utf8[...]
    }

    /// The token at the beginning; `nil` where there is none.
    mutating func token() -> String? {
        skipSpace()
        let token = take { HTTPSyntax.isTokenByte($0) }
        return token.isEmpty ? nil : token
    }

    /// Whether the token that was just read is the name of a parameter, the white space behind it passed over.
    var isAtValue: Bool {
        mutating get {
            skipSpace()
            return rest.first == UInt8(ascii: "=")
        }
    }

    /// The next parameter that has a name and a value; `nil` at the end.
    mutating func parameter() -> (name: String, value: String)? {
        while true {
            _ = take { $0 != UInt8(ascii: ";") }
            guard rest.popFirst() != nil else { return nil }
            guard let name = token() else { continue }
            guard isAtValue else { continue }
            rest = rest.dropFirst()
            skipSpace()
            if rest.first == UInt8(ascii: "\"") {
                guard let value = quoted() else { return nil }
                return (name, value)
            }
            // More than a token may hold: servers leave out the quotes around names with spaces.
            return (name, HTTPSyntax.trimmed(take { $0 != UInt8(ascii: ";") }))
        }
    }

    /// `nil` where the quotes are not closed.
    private mutating func quoted() -> String? {
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: bytes, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            bytes.append(escaped)
        }
        return nil
    }

    private mutating func take(while isWanted: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex { !isWanted($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(Substring(rest[..<end]))
    }

    private mutating func skipSpace() {
        rest = rest[(rest.firstIndex { !FieldList.isSpace($0) } ?? rest.endIndex)...]
    }
}

extension HTTPFieldName {
    /// How a response wants its content to be kept, and under what name (RFC 6266).
    public static let contentDisposition: HTTPFieldName = "Content-Disposition"
}
