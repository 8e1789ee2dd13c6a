/// A single range of bytes as a request asks for it (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    case from(Int, through: Int?)
    /// The last so many.
    case suffix(Int)

    /// What a `Range` field asks for.
    enum Field: Equatable {
        /// No field, or one that is to be ignored: another unit, a malformed one, several ranges (§14.2 lets a server
        /// ignore any).
        case whole
        case one(ByteRange)
    }

    static func field(_ request: HTTPRequest) -> Field {
        // §14.2: Range means something for GET alone.
        let lines = request.fields.values(of: .range)
        guard request.method == .get, lines.count == 1, let range = parse(lines[0]) else { return .whole }
        return .one(range)
    }

    private static func parse(_ text: String) -> ByteRange? {
        let halves = text.split(separator: "=", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return nil }
        let members = FieldList.members(String(halves[1]))
        guard members.count == 1 else { return nil }
        let ends = members[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty { return ByteOffset.parse(ends[1]).map { .suffix($0) } }
        guard let first = ByteOffset.parse(ends[0]) else { return nil }
        if ends[1].isEmpty { return .from(first, through: nil) }
        guard let last = ByteOffset.parse(ends[1]), last >= first else { return nil }
        return .from(first, through: last)
    }

    /// The bytes meant in a representation of this length; `nil` when there are none of them (§15.5.17).
    func resolved(in length: Int) -> Range<Int>? {
        switch self {
        case .suffix(let count):
            count > 0 && length > 0 ? max(0, length - count)..<length : nil
        case .from(let first, nil):
            first < length ? first..<length : nil
        case .from(let first, .some(let last)):
            first < length ? first..<(min(last, length - 1) + 1) : nil
        }
    }

    /// The bytes meant in a representation of unknown length, where the range says both ends itself.
    var absolute: Range<Int>? {
        if case .from(let first, .some(let last)) = self { first..<(last + 1) } else { nil }
    }
}

/// A number of bytes that is safe to calculate with.
enum ByteOffset {
    static func parse(_ text: some StringProtocol) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        return Int(text)
    }
}

/// The value of `Content-Range` in a 206 (RFC 9110 §14.4).
struct ContentRange: Equatable {
    /// The bytes that follow.
    let bytes: Range<Int>
    /// `nil` for `*`.
    let completeLength: Int?

    init?(_ fields: HTTPFields) {
        let lines = fields.values(of: .contentRange)
        guard lines.count == 1, lines[0].utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = lines[0].split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteOffset.parse(ends[0]), let last = ByteOffset.parse(ends[1]),
            first <= last
        else { return nil }
        completeLength = ByteOffset.parse(halves[1])
        guard completeLength.map({ last < $0 }) ?? (halves[1] == "*") else { return nil }
        bytes = first..<(last + 1)
    }

    private init(_ bytes: Range<Int>, of length: Int?) {
        self.bytes = bytes
        completeLength = length
    }

    /// Its first bytes, at most as many as it has.
    func prefix(_ count: Int) -> ContentRange {
        ContentRange(bytes.lowerBound..<min(bytes.upperBound, bytes.lowerBound + count), of: completeLength)
    }

    static func text(_ bytes: Range<Int>, of length: Int?) -> String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length.map(String.init) ?? "*")"
    }
}
