import Foundation

extension RoutePath {
    /// Collects the text and the arguments of a path. Optional values cannot be interpolated: they would write "nil".
    public struct Interpolation: StringInterpolationProtocol, Sendable {
        private(set) var encoded = ""
        private(set) var template = ""
        private(set) var failure: Invalid?
        private var argumentCount = 0

        public init(literalCapacity: Int, interpolationCount: Int) {
            encoded.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: String) {
            guard !literal.isEmpty else { return }
            if encoded.isEmpty, PathRules.isURL(literal) { fail(.literal, .url) }
            if let reason = PathRules.flaw(inTemplate: literal) { fail(.literal, reason) }
            let text = PercentEncoding.repaired(literal)
            encoded += text
            template += text
        }

        /// An argument: its text with everything but unreserved characters escaped, slashes too.
        ///
        /// - Parameter name: stands in the template and in errors.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible, name: String? = nil) {
            append(argument: value.description, name)
        }

        /// The raw value of an enumeration or of an identifier type.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value, name: String? = nil)
        where Value.RawValue: LosslessStringConvertible {
            append(argument: value.rawValue.description, name)
        }

        /// The raw value, for types that have both.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(
            _ value: Value, name: String? = nil
        ) where Value.RawValue: LosslessStringConvertible {
            append(argument: value.rawValue.description, name)
        }

        /// The UUID in upper case, as Foundation writes it.
        public mutating func appendInterpolation(_ value: UUID, name: String? = nil) {
            append(argument: value.uuidString, name)
        }

        /// What would write `nil`, and what has no text that a path could be made of.
        @available(
            *, unavailable,
            message: "a path is made of a String, a number, a UUID or a raw value, and of no optional: unwrap it first"
        )
        public mutating func appendInterpolation<Value>(_ value: Value?, name: String? = nil) {}

        private mutating func append(argument: String, _ name: String?) {
            let part = Invalid.Part.argument(index: argumentCount, name: name)
            if let reason = PathRules.flaw(inArgument: argument) { fail(part, reason) }
            argumentCount += 1
            encoded += PercentEncoding.escaped(argument)
            template += name.map { "{" + PercentEncoding.escaped($0) + "}" } ?? "{}"
        }

        private mutating func fail(_ part: Invalid.Part, _ reason: Invalid.Reason) {
            failure = failure ?? Invalid(part, reason)
        }
    }
}

/// What may not stand in a path, decided on bytes.
enum PathRules {
    static func flaw(inTemplate text: String) -> RoutePath.Invalid.Reason? {
        if text.utf8.allSatisfy({ isHarmless($0) || $0 == UInt8(ascii: "/") }) { return nil }
        if text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { return .queryOrFragment }
        let decoded = PercentEncoding.decoded(text)
        if hasControl(decoded) { return .controlCharacter }
        return decoded.contains(UInt8(ascii: "\\")) ? .backslash : nil
    }

    /// Whether a template begins as URLs do and paths do not.
    static func isURL(_ text: String) -> Bool {
        let head = text.prefix(8).lowercased()
        return head.hasPrefix("http://") || head == "https://"
    }

    /// Whether it is by far the most common kind of path: one that can be used as it is.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && text.utf8.dropFirst().first != UInt8(ascii: "/")
            && text.utf8.allSatisfy { isHarmless($0) || $0 == UInt8(ascii: "/") }
    }

    static func flaw(inArgument text: String) -> RoutePath.Invalid.Reason? {
        if text.isEmpty { return .empty }
        if text.utf8.allSatisfy(isHarmless) { return nil }
        if hasControl(PercentEncoding.decoded(text)) { return .controlCharacter }
        return hasDotSegment(text) ? .dotSegment : nil
    }

    /// Whether a server that decodes escapes, before or after it splits the path, would find `.` or `..` in it.
    static func hasDotSegment(_ text: String) -> Bool {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return false }
        return PercentEncoding.decoded(text)
            .split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.count <= 2 && $0.allSatisfy { $0 == UInt8(ascii: ".") } }
    }

    /// Unreserved, and no dot: nothing has to be looked at twice.
    private static func isHarmless(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: ".")
    }

    /// C0, DEL, or C1, which UTF-8 writes as C2 80 to C2 9F.
    private static func hasControl(_ bytes: [UInt8]) -> Bool {
        for (index, byte) in bytes.enumerated() {
            if byte < 0x20 || byte == 0x7F { return true }
            if byte == 0xC2, index + 1 < bytes.count, (0x80...0x9F).contains(bytes[index + 1]) { return true }
        }
        return false
    }
}
