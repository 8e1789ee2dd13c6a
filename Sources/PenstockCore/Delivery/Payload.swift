import Foundation

/// The bytes of a response and the way to what is in them.
///
/// Under an ``Envelope`` the paths begin at its data key: ``root`` names it, and ``data`` still holds every byte.
///
/// ```swift
/// let names = try payload.value([String].self, at: "items")
/// let total = try payload.json()["total"]?.int
/// ```
public struct Payload: Sendable {
    private let parts: Boxed<Parts>

    private struct Parts: Sendable {
        let data: Data
        let contentType: String?
        var path: JSONPath
        var options: DecodingOptions
        /// Takes the notes of what is decoded of it, while an output is made.
        var recorder: DecodingSession?
        /// The parsed document, the same for all copies. Two first uses at one moment may both parse.
        let document = Once<JSONValue>()
    }

    /// The bytes of a response, or of anything that is to be read like one.
    ///
    /// - Parameters:
    ///   - contentType: the media type that came with the bytes, which may name the character set of ``text()``.
    ///   - options: how ``value(_:at:)`` decodes.
    public init(_ data: Data, contentType: String? = nil, options: DecodingOptions = DecodingOptions()) {
        self.init(Boxed(Parts(data: data, contentType: contentType, path: JSONPath(""), options: options)))
    }

    private init(_ parts: Boxed<Parts>) {
        self.parts = parts
    }

    /// Every byte of the body, as the pipeline handed it up.
    public var data: Data { parts.data }
    private var path: JSONPath { parts.path }
    /// Whether the media type that came with the bytes is one of JSON (RFC 6839 §3.1). Who sends the field twice has both values joined
    /// by a comma, of which the first counts.
    var isJSON: Bool {
        let type = parts.contentType?.prefix { !";,".contains($0) }.trimmingCharacters(in: .whitespaces).lowercased()
        guard let type else { return false }
        return ["application/json", "text/json"].contains(type) || type.hasSuffix("+json")
    }

    /// Where in the document the paths begin, in dotted form; empty for the whole.
    public var root: String { path.text }

    /// The payload that begins deeper; it shares the bytes and what was parsed of them.
    public func at(_ path: String) -> Payload {
        at(JSONPath(path))
    }

    func at(_ path: JSONPath) -> Payload {
        var parts = parts
        parts.path = self.path.appending(path)
        return Payload(parts)
    }

    func decoding(with options: DecodingOptions) -> Payload {
        var parts = parts
        parts.options = options
        return Payload(parts)
    }

    /// The payload whose decodings leave their notes with another one's.
    func noting(in recorder: DecodingSession) -> Payload {
        var parts = parts
        parts.recorder = recorder
        return Payload(parts)
    }

    /// The JSON at the root (UTF-8, RFC 8259 §8.1); `.null` when there is nothing. The bytes are parsed on first use and the result is kept.
    ///
    /// - Throws: ``APIError/Kind/decoding(path:reason:)`` when the bytes are not JSON.
    public func json() throws(APIError) -> JSONValue {
        try whole()[path] ?? .null
    }

    private func whole() throws(APIError) -> JSONValue {
        do throws(JSONFault) {
            return try parts.document.value { () throws(JSONFault) in
                try JSONParser.parse(data, maximumDepth: parts.options.maximumDepth)
            }
        } catch {
            throw .decoding(error, at: JSONPath(""))
        }
    }

    /// Every byte of the body as text, in the character set that a byte order mark or the `charset` of `Content-Type`
    /// names, or else in UTF-8.
    ///
    /// - Throws: ``APIError/Kind/decoding(path:reason:)`` for a character set that is not known, and for bytes that do not
    ///   fit theirs.
    public func text() throws(APIError) -> String {
        try TextDecoding.text(of: data, contentType: parts.contentType)
    }

    /// Decodes the value at a dotted path below the root.
    ///
    /// - Throws: ``APIError/Kind/decoding(path:reason:)`` with the full path of what could not be read.
    public func value<Value: Decodable>(_ type: Value.Type, at path: String = "") throws(APIError) -> Value {
        let session = DecodingSession(data, options: parts.options, path: self.path.appending(JSONPath(path)))
        let decoded = try JSONReading.decode(type, from: data, session: session)
        parts.recorder?.take(decoded.notes)
        return decoded.value
    }
}

extension Payload: CustomStringConvertible, CustomReflectable {
    /// How much there is, and where the paths begin, never what it is.
    public var description: String { "\(data.count) bytes" + (root.isEmpty ? "" : " at \(root)") }

    public var customMirror: Mirror {
        Mirror(self, children: ["bytes": data.count, "root": root], displayStyle: .struct)
    }
}
