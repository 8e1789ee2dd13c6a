/// The name of a header or trailer field: compared without regard to case, kept as it was written (RFC 9110 §5.1).
public struct HTTPFieldName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let text: String
    /// Tells most unequal names apart without a look at the text: its length, its first, its middle and its last byte.
    private let mark: UInt32

    /// A name as it is to be written. It is not checked here: ``HTTPFields`` refuses one that is no token (RFC 9110
    /// §5.6.2).
    public init(_ text: String) {
        self.text = text
        mark = Self.mark(of: text)
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
        left.mark == right.mark && HTTPSyntax.equalIgnoringCase(left.text, right.text)
    }

    /// One of 64, the same for names that are equal.
    var bit: UInt64 { 1 << (UInt64(mark &* 0x9E37_79B1) >> 26) }

    private static func mark(of text: String) -> UInt32 {
        text.utf8.withContiguousStorageIfAvailable(mark) ?? Array(text.utf8).withUnsafeBufferPointer(mark)
    }

    private static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        guard let first = bytes.first, let last = bytes.last else { return 0 }
        let ends = UInt32(HTTPSyntax.lowercased(first)) << 8 | UInt32(HTTPSyntax.lowercased(last))
        let middle = UInt32(HTTPSyntax.lowercased(bytes[bytes.count / 2]))
        return UInt32(truncatingIfNeeded: bytes.count) << 24 | middle << 16 | ends
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(HTTPSyntax.lowercased(byte)) }
    }

    public var description: String { text }
}

extension HTTPFieldName {
    /// The media types that are wanted (RFC 9110 §12.5.1).
    public static let accept: HTTPFieldName = "Accept"
    /// The content codings that can be removed (RFC 9110 §12.5.3). The transport sets it where the request does not.
    public static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
    /// The languages that are wanted (RFC 9110 §12.5.4).
    public static let acceptLanguage: HTTPFieldName = "Accept-Language"
    /// Credentials for the server (RFC 9110 §11.6.2). A redirect to another origin loses it.
    public static let authorization: HTTPFieldName = "Authorization"
    /// The codings that were applied to the content, such as `gzip` (RFC 9110 §8.4).
    public static let contentEncoding: HTTPFieldName = "Content-Encoding"
    /// The length of the content in bytes, as it goes over the wire (RFC 9110 §8.6). In requests it is the transport's.
    public static let contentLength: HTTPFieldName = "Content-Length"
    /// The media type of the content (RFC 9110 §8.3).
    public static let contentType: HTTPFieldName = "Content-Type"
    /// The cookies that go with a request (RFC 6265 §5.4).
    public static let cookie: HTTPFieldName = "Cookie"
    /// The host and port that are asked (RFC 9110 §7.2). It is made of the URL, and cannot be set.
    public static let host: HTTPFieldName = "Host"
    /// Where a redirect leads, or where something was created (RFC 9110 §10.2.2).
    public static let location: HTTPFieldName = "Location"
    /// Credentials for a proxy (RFC 9110 §11.7.2). ``ProxyPolicy`` sends them to the proxy alone.
    public static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
    /// The page that a request comes from, with the spelling that HTTP has kept (RFC 9110 §10.1.3).
    public static let referer: HTTPFieldName = "Referer"
    /// A cookie to keep (RFC 6265 §4.1). The one field whose lines must never be joined with commas (RFC 9110 §5.3).
    public static let setCookie: HTTPFieldName = "Set-Cookie"
    /// How the content is framed on an HTTP/1.1 connection (RFC 9112 §6.1). In requests it is the transport's.
    public static let transferEncoding: HTTPFieldName = "Transfer-Encoding"
    /// The program that asks (RFC 9110 §10.1.5). Names the app unless it is replaced.
    public static let userAgent: HTTPFieldName = "User-Agent"
}

/// Names of fields, mostly a few, of which most fields are none.
struct HTTPFieldNames: Sendable, ExpressibleByArrayLiteral {
    private let names: [HTTPFieldName]
    /// The names once more, where they are so many that looking through them for every field would cost a server nothing
    /// and the client a lot: `Connection` may name thousands. `nil` for a few, which are found faster one after the other.
    private let table: Set<HTTPFieldName>?
    let bits: UInt64

    init(_ names: [HTTPFieldName]) {
        self.names = names
        table = names.count > 32 ? Set(names) : nil
        bits = names.reduce(0) { $0 | $1.bit }
    }

    init(arrayLiteral names: HTTPFieldName...) {
        self.init(names)
    }

    func contains(_ name: HTTPFieldName) -> Bool {
        bits & name.bit != 0 && (table?.contains(name) ?? names.contains(name))
    }

    static func + (left: HTTPFieldNames, right: [HTTPFieldName]) -> HTTPFieldNames {
        right.isEmpty ? left : HTTPFieldNames(left.names + right)
    }
}

/// One header or trailer field line.
public struct HTTPField: Hashable, Sendable {
    /// The name, as it was written.
    public let name: HTTPFieldName
    /// The value, without white space around it where the field comes from ``HTTPFields``.
    public let value: String

    /// A field line. It is not checked here: ``HTTPFields`` takes white space around the value off, and refuses what
    /// breaks HTTP's grammar.
    public init(name: HTTPFieldName, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, the value as ``Redaction`` allows.
    public var description: String { "\(name): \(Redaction.value(value, of: name))" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}
