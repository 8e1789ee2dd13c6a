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

    /// Asks for a representation (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(standard: "GET")
    /// Asks for what GET would bring, without the content (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(standard: "HEAD")
    /// Has the target process the content (RFC 9110 §9.3.3). Neither safe nor idempotent: it is sent again only where
    /// the server has certainly not processed it.
    public static let post = HTTPMethod(standard: "POST")
    /// Replaces what the target holds by the content (RFC 9110 §9.3.4). Idempotent.
    public static let put = HTTPMethod(standard: "PUT")
    /// Removes what the target holds (RFC 9110 §9.3.5). Idempotent.
    public static let delete = HTTPMethod(standard: "DELETE")
    /// Asks a proxy for a tunnel (RFC 9110 §9.3.6). Transports make those themselves and refuse it as a request.
    public static let connect = HTTPMethod(standard: "CONNECT")
    /// Asks what can be done with the target (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(standard: "OPTIONS")
    /// Asks for the request back as it arrived (RFC 9110 §9.3.8).
    public static let trace = HTTPMethod(standard: "TRACE")
    /// Changes a part of what the target holds (RFC 5789). Neither safe nor idempotent.
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

    /// Whether a request without content says so by `Content-Length: 0`, as it mostly has some (RFC 9110 §8.6).
    package var expectsContent: Bool { self == .post || self == .put || self == .patch }

    public var description: String { rawValue }
}
