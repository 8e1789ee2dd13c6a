/// The name of a header or trailer field: compared without regard to case, kept as it was written (RFC 9110 §5.1).
public struct HTTPFieldName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let text: String
    /// Tells most unequal names apart without a look at the text: its length, its first, its middle and its last byte.
    private let mark: UInt32

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
    public static let accept: HTTPFieldName = "Accept"
    public static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
    public static let acceptLanguage: HTTPFieldName = "Accept-Language"
    public static let authorization: HTTPFieldName = "Authorization"
    public static let contentEncoding: HTTPFieldName = "Content-Encoding"
    public static let contentLength: HTTPFieldName = "Content-Length"
    public static let contentType: HTTPFieldName = "Content-Type"
    public static let cookie: HTTPFieldName = "Cookie"
    public static let host: HTTPFieldName = "Host"
    public static let location: HTTPFieldName = "Location"
    public static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
    public static let referer: HTTPFieldName = "Referer"
    public static let setCookie: HTTPFieldName = "Set-Cookie"
    public static let transferEncoding: HTTPFieldName = "Transfer-Encoding"
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
    public let name: HTTPFieldName
    /// The value without the white space around it.
    public let value: String

    public init(name: HTTPFieldName, value: String) {
        self.name = name
        self.value = value
    }
}
