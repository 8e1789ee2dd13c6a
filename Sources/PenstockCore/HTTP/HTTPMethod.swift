/// A request method: one of the standard ones or any other token (RFC 9110 §9).
///
/// Methods are case-sensitive. A value that is no token cannot be made, so there is no method that a switch could
/// mistake for another one.
///
/// ```swift
/// let purge = HTTPMethod(rawValue: "PURGE")   // HTTPMethod?
/// ```
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// `nil` unless `rawValue` is a token (RFC 9110 §5.6.2): at least one character, none of them a control character,
    /// a space or a delimiter.
    public init?(rawValue: String) {
        guard HTTPSyntax.isToken(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    private init(standard name: String) {
        rawValue = name
    }

    public static let get = HTTPMethod(standard: "GET")
    public static let head = HTTPMethod(standard: "HEAD")
    public static let post = HTTPMethod(standard: "POST")
    public static let put = HTTPMethod(standard: "PUT")
    public static let delete = HTTPMethod(standard: "DELETE")
    public static let connect = HTTPMethod(standard: "CONNECT")
    public static let options = HTTPMethod(standard: "OPTIONS")
    public static let trace = HTTPMethod(standard: "TRACE")
    /// RFC 5789.
    public static let patch = HTTPMethod(standard: "PATCH")

    /// Whether the method asks for no change on the server (RFC 9110 §9.2.1). Unknown methods are not safe.
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }

    /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2). Unknown methods are not.
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    public var description: String { rawValue }
}
