import Foundation
import PenstockCore

/// A part of a request that a signature covers (RFC 9421 §2): one that is derived from it, such as its method, or a field.
public struct SignatureComponent: Hashable, Sendable, CustomStringConvertible {
    /// The name in small letters; what is derived begins with `@`.
    public let name: String
    /// How its value is had.
    let selector: Selector

    enum Selector: Hashable, Sendable {
        /// The value as it stands.
        case whole
        /// The value in the one form of a Structured Field (RFC 9421 §2.1.1).
        case structured(StructuredFieldKind)
        /// A member of a dictionary (§2.1.2).
        case member(String)
        /// Each line for itself, in base64 (§2.1.3).
        case binary
        /// A parameter of the query (§2.2.8), its name as the query has it once it is escaped.
        case queryParameter(String)
    }

    private init(_ name: String, _ selector: Selector = .whole) {
        self.name = name
        self.selector = selector
    }

    // MARK: Derived from the request

    /// The method (RFC 9421 §2.2.1).
    public static let method = SignatureComponent("@method")
    /// The whole URL (§2.2.2).
    public static let targetURI = SignatureComponent("@target-uri")
    /// The host, and the port where it is not the scheme's own (§2.2.3).
    public static let authority = SignatureComponent("@authority")
    /// `http` or `https` (§2.2.4).
    public static let scheme = SignatureComponent("@scheme")
    /// Path and query as HTTP/1.1 writes them without a proxy (§2.2.5). HTTP/2 has no such thing: ``path`` and ``query``
    /// are what every version has.
    public static let requestTarget = SignatureComponent("@request-target")
    /// The path (§2.2.6).
    public static let path = SignatureComponent("@path")
    /// The query with its `?`, which stands alone where there is none (§2.2.7).
    public static let query = SignatureComponent("@query")

    /// One parameter of the query, without its escapes; there must be exactly one of the name (§2.2.8). One that is not UTF-8 is
    /// ``SignatureBaseError/unsignable(_:)``: the standard would sign U+FFFD for every byte that is none, and so the same for
    /// parameters that differ.
    public static func queryParameter(_ name: String) -> SignatureComponent {
        SignatureComponent("@query-param", .queryParameter(SignatureValue.formEscaped(Array(name.utf8))))
    }

    // MARK: Fields

    /// A field, its lines joined by commas (§2.1). `Content-Length` and `Host`, which the transport writes, can be covered as
    /// well, the first where the length is known. Of a request without a body it is 0 with POST, PUT and PATCH, as the
    /// transports send it (not run on Apple's systems), and missing with other methods.
    public static func field(_ name: HTTPFieldName) -> SignatureComponent {
        SignatureComponent(name.text.lowercased())
    }

    /// A field in the one form that its kind of Structured Field has, so that a proxy may write it otherwise (§2.1.1).
    public static func structured(_ name: HTTPFieldName, _ kind: StructuredFieldKind) -> SignatureComponent {
        SignatureComponent(name.text.lowercased(), .structured(kind))
    }

    /// One member of a field that is a dictionary, with its parameters (§2.1.2).
    public static func member(_ key: String, of name: HTTPFieldName) -> SignatureComponent {
        SignatureComponent(name.text.lowercased(), .member(key))
    }

    /// A field each of whose lines is covered for itself, for those whose values hold commas of their own (§2.1.3).
    public static func binary(_ name: HTTPFieldName) -> SignatureComponent {
        SignatureComponent(name.text.lowercased(), .binary)
    }

    /// The component as it stands in `Signature-Input`: `"@query-param";name="Pet"`.
    public var description: String {
        let name = SignatureValue.quoted(name)
        return switch selector {
        case .whole: name
        case .structured: name + ";sf"
        case .member(let key): name + ";key=" + SignatureValue.quoted(key)
        case .binary: name + ";bs"
        case .queryParameter(let parameter): name + ";name=" + SignatureValue.quoted(parameter)
        }
    }

    /// Whether its value is another one once a signature is added to the request.
    var isChangedBySigning: Bool {
        guard HTTPFieldName(name) == .signature || HTTPFieldName(name) == .signatureInput else { return false }
        if case .member = selector { return false }
        return true
    }

    /// Whether a request has it, also where its value cannot be written.
    func isPresent(in request: HTTPRequest, _ query: inout SignedQuery) -> Bool {
        do throws(SignatureBaseError) {
            _ = try value(in: request, &query)
        } catch {
            if case .missing = error { return false }
        }
        return true
    }

    /// Its value in a request (RFC 9421 §2.5).
    ///
    /// - Throws: ``SignatureBaseError``.
    public func value(in request: HTTPRequest) throws(SignatureBaseError) -> String {
        var query = SignedQuery()
        return try value(in: request, &query)
    }

    /// - Parameter query: the parameters of the request's query, which the components of one signature share.
    func value(in request: HTTPRequest, _ query: inout SignedQuery) throws(SignatureBaseError) -> String {
        let value = try name.hasPrefix("@") ? derived(from: request, &query) : fieldValue(in: request)
        // A line break would begin another component, and the base is ASCII (RFC 9421 §2.5).
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            throw .unsignable(description)
        }
        return value
    }

    private func derived(
        from request: HTTPRequest, _ query: inout SignedQuery
    ) throws(SignatureBaseError) -> String {
        let url = request.url
        switch name {
        case "@method": return request.method.rawValue
        case "@target-uri": return url.absoluteString
        case "@authority": return url.authority
        case "@scheme": return url.scheme.rawValue
        case "@request-target": return url.target
        case "@path": return url.path
        case "@query": return "?" + (url.query ?? "")
        default:
            guard case .queryParameter(let wanted) = selector else { throw .missing(description) }
            let found = query.values(of: wanted, in: url.query)
            guard let parameter = found.first else { throw .missing(description) }
            guard found.count == 1 else { throw .ambiguous(description) }
            guard let value = parameter else { throw .unsignable(description) }
            return value
        }
    }

    private func fieldValue(in request: HTTPRequest) throws(SignatureBaseError) -> String {
        let lines = lines(in: request)
        guard !lines.isEmpty else { throw .missing(description) }
        let joined = lines.joined(separator: ", ")
        switch selector {
        case .structured(let kind):
            return try reading { () throws(StructuredField.Malformed) in
                try StructuredField.canonical(joined, as: kind)
            }
        case .member(let key):
            let members = try reading { () throws(StructuredField.Malformed) in
                try StructuredField.dictionary(joined)
            }
            guard let member = members.first(where: { $0.key == key }) else { throw .missing(description) }
            return member.value
        case .binary:
            return lines.map { ":\(Data($0.utf8).base64EncodedString()):" }.joined(separator: ", ")
        case .whole, .queryParameter:
            return joined
        }
    }

    private func reading<Value>(
        _ read: () throws(StructuredField.Malformed) -> Value
    ) throws(SignatureBaseError) -> Value {
        do throws(StructuredField.Malformed) { return try read() } catch { throw .malformed(description) }
    }

    /// The lines of the field, of which the transport writes two from the request itself.
    private func lines(in request: HTTPRequest) -> [String] {
        let lines = request.fields.values(of: HTTPFieldName(name))
        guard lines.isEmpty else { return lines }
        switch name {
        case "host": return [request.url.authority]
        case "content-length":
            // A body that is not there has the length 0 as well, which is told with some methods alone.
            guard !request.body.isNone || request.method.expectsContent else { return [] }
            return request.body.length.map { ["\($0)"] } ?? []
        default: return []
        }
    }
}

/// The parameters of one query, read when the first of them is asked for. However many a signature covers, the work is that of
/// reading the query once.
struct SignedQuery {
    private var values: [String: [String?]]?

    /// The values of a name, of which `nil` is one that is not UTF-8.
    ///
    /// - Parameter query: the same each time.
    mutating func values(of name: String, in query: String?) -> [String?] {
        let read =
            values
            ?? Dictionary(grouping: SignatureValue.parameters(of: query), by: \.name).mapValues { $0.map(\.value) }
        values = read
        return read[name] ?? []
    }
}

/// Why what a signature covers cannot be written down. Each names the component.
@nonexhaustive
public enum SignatureBaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request has no such field, member or parameter.
    case missing(String)
    /// The query has several parameters of the name.
    case ambiguous(String)
    /// The field is no Structured Field of its kind.
    case malformed(String)
    /// Its value holds what the text of a signature cannot: characters beyond ASCII, or in a parameter of the query bytes that
    /// are not UTF-8.
    case unsignable(String)
    /// It is covered twice: two that are written alike, which is what counts (RFC 9421 §2).
    case duplicate(String)
    /// The signature itself is added to the field, whose value is another one then: of `Signature` and
    /// `Signature-Input` the members of other signatures can be covered, and nothing else (RFC 9421 §4.3).
    case selfChanging(String)
    /// A parameter of the signature holds what a String of Structured Fields cannot, or its label is no key.
    case invalidParameter(String)
    /// The query has a parameter of this name, by which a ``SortedParameterSigner`` signs what it sends in a field: the
    /// two could change places.
    case taken(String)

    public var description: String {
        switch self {
        case .missing(let name): "the request has no \(name)"
        case .ambiguous(let name): "the query has more than one \(name)"
        case .malformed(let name): "\(name) is no structured field of its kind"
        case .unsignable(let name): "\(name) holds characters beyond ASCII, or is no UTF-8"
        case .duplicate(let name): "\(name) is covered twice"
        case .selfChanging(let name): "the signature itself is added to \(name)"
        case .invalidParameter(let name): "the parameter \(name) of the signature cannot be written"
        case .taken(let name): "the query has a parameter \(name), which is a name of the signature's own"
        }
    }
}

extension SignatureBaseError {
    /// What the call ends with: it is not signed, and so not sent.
    func refusal(of request: HTTPRequest) -> APIError {
        APIError(
            .unsupported(feature: "a signature, since \(self)"), stage: .sign, request: request, underlying: self)
    }
}

/// The small forms that the text of a signature is made of.
enum SignatureValue {
    /// A String of Structured Fields (RFC 9651 §4.1.6). What cannot stand in one is looked for before.
    static func quoted(_ text: String) -> String {
        "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
    }

    static func isQuotable(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Names and values of a query, each without its escapes and escaped again as forms are, spaces as `%20` (RFC 9421 §2.2.8). A
    /// name stands as the standard's decoder reads it, with U+FFFD in place of what is not UTF-8, so that it is found under it.
    ///
    /// - Returns: no value for a parameter whose name or value is not UTF-8.
    static func parameters(of query: String?) -> [(name: String, value: String?)] {
        (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { PercentEncoding.decoded($0.replacingOccurrences(of: "+", with: "%20")) }
            let texts = parts.map { Array(String(decoding: $0, as: UTF8.self).utf8) }
            let value = parts.count > 1 ? formEscaped(parts[1]) : ""
            return (formEscaped(texts[0]), texts == parts ? value : nil)
        }
    }

    /// Everything is escaped but letters, digits and `*-._`.
    static func formEscaped(_ bytes: [UInt8]) -> String {
        CanonicalQuery.escaped(bytes) { byte in
            PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "~") || byte == UInt8(ascii: "*")
        }
    }
}
