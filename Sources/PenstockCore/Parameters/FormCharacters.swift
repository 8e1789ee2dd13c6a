/// The characters that a form or a query may show without an escape.
///
/// Whatever is asked for, characters that structure a form (`& = + # %`), and those that no URL may hold, stay escaped.
/// Square brackets can be allowed in a form; in a query they are escaped again, as no URL holds them there.
public struct FormCharacters: Hashable, Sendable, ExpressibleByStringLiteral {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Letters, digits and `-._~` (RFC 3986 §2.3).
    public static let unreserved = FormCharacters("")
    /// ``unreserved`` and `/?`, which a query may show (RFC 3986 §3.4).
    public static let query: FormCharacters = "/?"

    /// The unreserved characters and those of `text`.
    public init(_ text: String) {
        for byte in 0x21...0x7E as ClosedRange<UInt8> where PercentEncoding.isUnreserved(byte) { insert(byte) }
        for byte in text.utf8 where Self.mayStandAlone(byte) { insert(byte) }
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low : high) & (1 << UInt64(byte & 63)) != 0
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
    }

    static func mayStandAlone(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "@"),
            UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default:
            PercentEncoding.isUnreserved(byte)
        }
    }
}
