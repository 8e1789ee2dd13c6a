import PenstockCore

/// Which trace a request belongs to, as W3C "Trace Context" (Recommendation of 2021) writes it into `traceparent` and `tracestate`.
public struct TraceContext: Hashable, Sendable {
    /// 32 hexadecimal digits in small letters, not all of them 0.
    public let traceID: String
    /// The ID of the span that sent the request: 16 hexadecimal digits in small letters, not all of them 0.
    public let spanID: String
    /// Whether whoever made the trace records it.
    public let isSampled: Bool
    /// What tracing systems have to say to each other, in their order; empty where they say nothing.
    public let state: TraceState

    init(traceID: String, spanID: String, isSampled: Bool, state: TraceState = TraceState()) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// Reads `traceparent` (§3.2) and `tracestate` (§3.3).
    ///
    /// - Parameters:
    ///   - parent: the value of `traceparent`. Of a version after 00 the parts that 00 has are read.
    ///   - state: every value of `tracestate`, in its order. What is broken there is left out, and the trace goes on.
    /// - Returns: `nil` for a value that is none: another form, the version `ff`, an id of zeros.
    public init?(parent: String, state: [String] = []) {
        let bytes = Array(parent.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHexadecimal(parts[0], 2), Self.isHexadecimal(parts[1], 32),
            Self.isHexadecimal(parts[2], 16), Self.isHexadecimal(parts[3], 2), !parts[0].elementsEqual("ff".utf8),
            !parts[0].elementsEqual("00".utf8) || parts.count == 4
        else { return nil }
        guard let flags = UInt8(String(decoding: parts[3], as: UTF8.self), radix: 16) else { return nil }
        let isZero = { (part: ArraySlice<UInt8>) in part.allSatisfy { $0 == UInt8(ascii: "0") } }
        guard !isZero(parts[1]), !isZero(parts[2]) else { return nil }
        self.init(
            traceID: String(decoding: parts[1], as: UTF8.self), spanID: String(decoding: parts[2], as: UTF8.self),
            isSampled: flags & 1 == 1, state: TraceState(state))
    }

    /// The value of `traceparent`: version 00, of whose flags `sampled` alone has a meaning (§3.2.2.5).
    public var parent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The same trace, seen from another span.
    func with(spanID: String) -> TraceContext {
        TraceContext(traceID: traceID, spanID: spanID, isSampled: isSampled, state: state)
    }

    private static func isHexadecimal(_ part: ArraySlice<UInt8>, _ count: Int) -> Bool {
        part.count == count
            && part.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}

/// The members of `tracestate`, the one that was changed last first (W3C "Trace Context" §3.3).
public struct TraceState: Hashable, Sendable {
    /// The most members: more make it no `tracestate` (§3.3.1.1).
    static let mostMembers = 32
    /// How many characters are passed on; the specification asks for no less (§3.3.1.5).
    static let mostCharacters = 512
    /// The length beyond which members go first when there is too much (§3.3.1.5).
    static let longMember = 128

    /// Key and value as they are written, in order.
    public let members: [String]

    /// Reads values of `tracestate`. A list that breaks the grammar, has a key twice or more than 32 members says nothing, and
    /// is read as an empty one; of one longer than 512 characters those beyond go, long members first.
    public init(_ values: [String] = []) {
        let members = values.flatMap { $0.split(separator: ",") }.map(Self.trimmed).filter { !$0.isEmpty }
        let keys = members.compactMap(Self.key)
        guard members.count <= Self.mostMembers, keys.count == members.count, Set(keys).count == keys.count else {
            self.members = []
            return
        }
        self.members = Self.shortened(members)
    }

    /// The value of `tracestate`; `nil` where there are no members, as the field is left out then.
    public var value: String? { members.isEmpty ? nil : members.joined(separator: ",") }

    private static func shortened(_ members: [String]) -> [String] {
        var kept = members
        func length() -> Int { kept.reduce(-1) { $0 + $1.utf8.count + 1 } }
        while length() > mostCharacters, let last = kept.lastIndex(where: { $0.utf8.count > longMember }) {
            kept.remove(at: last)
        }
        while length() > mostCharacters { kept.removeLast() }
        return kept
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    /// The key of a member (§3.3.1.3.1); `nil` for what is no member.
    private static func key(_ member: String) -> String? {
        let parts = member.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, isKey(parts[0]), isValue(parts[1]) else { return nil }
        return String(Substring(parts[0]))
    }

    private static func isKey(_ key: Substring.UTF8View) -> Bool {
        let parts = key.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return isWord(parts[0], upTo: 256, startsWithDigit: false)
        case 2:
            return isWord(parts[0], upTo: 241, startsWithDigit: true)
                && isWord(parts[1], upTo: 14, startsWithDigit: false)
        default: return false
        }
    }

    private static func isWord(_ word: Substring.UTF8View, upTo limit: Int, startsWithDigit: Bool) -> Bool {
        guard let first = word.first, word.count <= limit, isSmall(first) || startsWithDigit && isDigit(first) else {
            return false
        }
        return word.allSatisfy { isSmall($0) || isDigit($0) || "_-*/".utf8.contains($0) }
    }

    private static func isValue(_ value: Substring.UTF8View) -> Bool {
        (1...256).contains(value.count)
            && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
    }

    private static func isSmall(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension HTTPFieldName {
    static let traceParent: HTTPFieldName = "traceparent"
    static let traceState: HTTPFieldName = "tracestate"
}

extension HTTPFields {
    /// The trace that a request says it belongs to; `nil` where it says none, or more than one.
    var traceContext: TraceContext? {
        let parents = values(of: .traceParent)
        guard parents.count == 1, let parent = parents.first else { return nil }
        return TraceContext(parent: parent, state: values(of: .traceState))
    }
}
