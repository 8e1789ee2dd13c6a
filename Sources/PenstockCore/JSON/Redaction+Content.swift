import Foundation

/// Why content is not kept: nobody can tell what of it is secret.
package struct WithheldContent: Error, Hashable, Sendable {
    /// The reason in words, such as `its coding is gzip`.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}

extension Redaction {
    /// The content of a request as it may be kept.
    ///
    /// - Throws: ``WithheldContent`` where it has a coding (RFC 9110 §8.4), or is not what its `Content-Type` says: what is secret in
    ///   it cannot be found.
    package static func content(of request: HTTPRequest, _ data: Data) throws(WithheldContent) -> Data {
        guard !data.isEmpty else { return data }
        if let coding = ContentCoding.text(request.fields) { throw WithheldContent("its coding is \(coding)") }
        return try readable(data, type: request.fields[.contentType] ?? request.body.contentType)
    }

    /// The content of a response as it may be kept. One that is not the JSON that it says is kept as a text: it may be what a
    /// test is about, or the beginning of what was read.
    ///
    /// - Throws: ``WithheldContent`` where it has a coding that the transport did not remove, or is no form as it says.
    package static func content(
        of response: HTTPResponse, to request: HTTPRequest
    ) throws(WithheldContent) -> Data {
        guard !response.body.isEmpty else { return response.body }
        if let coding = ContentCoding.text(response.fields), ContentCoding.remain(in: response, to: request) {
            throw WithheldContent("its coding is \(coding)")
        }
        let type = response.fields[.contentType]
        guard ContentType(type) != .json else { return content(response.body, type: type) }
        return try readable(response.body, type: type)
    }

    /// Content as it may be shown.
    ///
    /// - Throws: ``WithheldContent`` where it is not what its type says.
    ///
    /// - Parameter isPart: whether it is a part of a body of several, and is not looked into for parts of its own.
    static func readable(_ data: Data, type: String?, isPart: Bool = false) throws(WithheldContent) -> Data {
        switch ContentType(type) {
        case .query:
            if let text = String(utf8: data) { return Data(query(text).utf8) }
            return ReadableText.bytes(ofLatin: query(ReadableText.latin(data)))
        case .form(let boundary):
            if let boundary, let shown = RedactedForm.make(of: data, boundary: boundary) { return shown }
            throw WithheldContent("it is not the form that its type says")
        case .parts(let boundary):
            if let shown = try parts(data, boundary: boundary) { return shown }
            return try plain(data, type: type)
        case .json:
            if let shown = json(data, type: type) { return shown }
            throw WithheldContent("it is not the JSON that its type says")
        case .other:
            if let shown = json(data, type: type) { return shown }
            if !isPart, let shown = try parts(data, boundary: RedactedForm.boundary(of: data)) { return shown }
            return try plain(data, type: type)
        }
    }

    /// A body of several parts, of whatever type; `nil` for what is none.
    private static func parts(_ data: Data, boundary: String?) throws(WithheldContent) -> Data? {
        guard let boundary else { return nil }
        if let shown = RedactedForm.make(of: data, boundary: boundary, isForm: false) { return shown }
        guard data.range(of: Data("form-data".utf8)) == nil else {
            throw WithheldContent("it is a form that cannot be read")
        }
        return nil
    }

    /// Content as it may be shown: without the values of secret parameters of a form, without secret members of JSON, and
    /// without the tokens and secret parameters in other text.
    ///
    /// Secret texts in JSON are replaced by ``mark`` and secret numbers by 0, so that what reads them still can. Of a form of
    /// several parts (`multipart/form-data`) the content of secret ones is replaced; what says that it is one and is not,
    /// as a whole. Everything but the secrets stays byte for byte, and so does what is no text. Text that is not UTF-8 is read as
    /// ISO-8859-1, or as UTF-16 or UTF-32 where its `charset`, its beginning or its zero bytes say so; what is in an encoding that
    /// cannot be read is replaced as a whole.
    ///
    /// - Parameter type: the media type, as `Content-Type` has it.
    public static func content(_ data: Data, type: String?) -> Data {
        guard !data.isEmpty else { return data }
        if let shown = try? readable(data, type: type) { return shown }
        let text = ContentType(type) == .json ? try? plain(data, type: type) : nil
        return text ?? Data(mark.utf8)
    }

    private static func plain(_ data: Data, type: String?) throws(WithheldContent) -> Data {
        if let charset = ReadableText.unreadableCharset(type) { throw WithheldContent("its charset is \(charset)") }
        let text = String(decoding: data, as: UTF8.self)
        // Foundation would take a byte order mark off.
        let isUTF8 = text.utf8.elementsEqual(data)
        if isUTF8 {
            let shown = Data(self.text(lines(text)).utf8)
            if shown != data { return shown }
        }
        for text in ReadableText.wide(data, type: type) {
            let shown = self.text(lines(text))
            if !shown.utf8.elementsEqual(text.utf8) { return Data(shown.utf8) }
        }
        if isUTF8 { return data }
        guard ReadableText.isAsDeclared(data, type: type) else {
            throw WithheldContent("it is not in the charset that its type says")
        }
        return ReadableText.latin(data, type: type).map { ReadableText.bytes(ofLatin: self.text($0)) } ?? data
    }

    /// JSON as it may be shown, in UTF-8 where it was in UTF-16 or UTF-32 and something was replaced; `nil` where it is none.
    private static func json(_ data: Data, type: String?) -> Data? {
        if let shown = RedactedJSON.make(of: data) { return shown }
        for text in ReadableText.wide(data, type: type) {
            let plain = Data(text.utf8)
            if let shown = RedactedJSON.make(of: plain) { return shown == plain ? data : shown }
        }
        return nil
    }

    /// A text whose lines may each be JSON, as those of JSON Lines and of an event stream are.
    private static func lines(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }) else { return text }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let field = "data:".utf8
            let start = (line.starts(with: field) ? line.dropFirst(field.count) : line).drop { $0 <= 0x20 }
            guard start.first == UInt8(ascii: "{") || start.first == UInt8(ascii: "["),
                let shown = RedactedJSON.make(of: Data(start))
            else { return Substring(line) }
            return Substring(line[..<start.startIndex]) + String(decoding: shown, as: UTF8.self)
        }
        return lines.joined(separator: "\n")
    }
}

/// How content is to be read.
private enum ContentType: Equatable {
    /// Pairs of names and values, as in a query.
    case query
    /// `nil` where its boundary is not said (RFC 2046 §5.1.1).
    case form(boundary: String?)
    /// Several parts that are no form.
    case parts(boundary: String?)
    case json
    case other

    init(_ type: String?) {
        let text = type ?? ""
        let name = HTTPSyntax.trimmed(String(text.prefix { $0 != ";" })).lowercased()
        switch name {
        case "application/x-www-form-urlencoded": self = .query
        case "multipart/form-data":
            self = .form(boundary: RedactedForm.usable(ParameterizedValue(text)?.parameters["boundary"]))
        case "application/json", "text/json": self = .json
        case _ where name.hasPrefix("multipart/"):
            self = .parts(boundary: RedactedForm.usable(ParameterizedValue(text)?.parameters["boundary"]))
        default: self = name.hasSuffix("+json") ? .json : .other
        }
    }
}

extension ContentCoding {
    /// What content says it has (RFC 9110 §8.4), in words; `nil` where that is none.
    fileprivate static func text(_ fields: HTTPFields) -> String? {
        let names = names(in: fields).map { $0.lowercased() }
        return names.isEmpty ? nil : Redaction.text(names.joined(separator: ", "))
    }

    /// Whether the content still has them: the transport does not know one of them, or the caller, who named those that it
    /// accepts, removes them. A transport that removed them nevertheless may have left a text.
    fileprivate static func remain(in response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard names(in: response.fields).allSatisfy({ ContentCoding(name: $0) != nil }) else { return true }
        return request.fields.contains(.acceptEncoding) && String(utf8: response.body) == nil
    }
}
