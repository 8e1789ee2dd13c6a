/// A mark by which a server knows a request that it has seen before, so that sending it twice has the effect of sending it
/// once: the value of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).
///
/// A key belongs to one call: it is made before the first attempt, and every attempt and every replay carries
/// it. A call that waited for the response of another (``InFlightPolicy/Strategy/join``) has sent nothing yet, and is replayed
/// under a key of its own.
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The name of the field.
    public static let field: HTTPFieldName = "Idempotency-Key"
    /// More bytes than any server takes; a key of 36 is usual.
    public static let longest = 255

    /// The key itself, without quotes.
    public let value: String

    /// A key of the app's own, such as the number of an order.
    ///
    /// - Returns: `nil` unless it has 1 to 255 characters, all of them printable ASCII, as a string of a structured field has
    ///   to (RFC 9651 §3.3.3).
    public init?(_ value: String) {
        guard (1...Self.longest).contains(value.utf8.count),
            value.utf8.allSatisfy({ $0 >= 0x20 && $0 <= 0x7E })
        else { return nil }
        self.value = value
    }

    /// A random UUID (RFC 9562 §5.4): with 122 random bits, no two calls ever get the same.
    public init(using random: inout some RandomNumberGenerator) {
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & ~(0xC0 << 56) | 0x80 << 56
        let digits = Self.hex(high) + Self.hex(low)
        value = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }

    private static func hex(_ number: UInt64) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return (0..<16).map { digits[Int(number >> UInt64(60 - 4 * $0) & 0xF)] }
    }

    /// The value of the field: a string of a structured field, in quotes, with `"` and `\` escaped (RFC 9651 §4.1.6).
    public var fieldValue: String {
        let escaped = value.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"" + String(escaped) + "\""
    }

    public var description: String { value }
}

/// Whether a call may be sent twice without being done twice, beyond what its method says.
///
/// A key goes with every method but those that only read (``HTTPMethod/isSafe``), which do nothing that a server would have to know
/// again.
@nonexhaustive
public enum Idempotency: Hashable, Sendable {
    /// The method says so (RFC 9110 §9.2.2): GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be, POST, PATCH and unknown methods may not.
    case byMethod
    /// The app knows that the server does the same thing once, however often it is asked.
    case declared
    /// A key of the call's own goes with each attempt, and the server heeds it.
    case key
    /// This key goes with each attempt: for one that must outlive the call, such as that of an order which is on disk.
    case keyed(IdempotencyKey)
}
