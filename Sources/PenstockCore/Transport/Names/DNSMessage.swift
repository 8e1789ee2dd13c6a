import Foundation

/// The messages of name servers (RFC 1035 §4), as far as they ask for addresses and answer with them. What a server sends is
/// read within its bounds, and believed only where it answers what was asked.
enum DNSMessage {
    /// A type of record.
    enum Kind: UInt16, Sendable {
        /// IPv4 addresses.
        case a = 1
        /// IPv6 addresses (RFC 3596 §2.1).
        case aaaa = 28
    }

    /// Another name that has the addresses.
    private static let alias: UInt16 = 5
    private static let internet: UInt16 = 1
    /// RFC 1035 §3.1: of a name as it is sent.
    private static let longestName = 255
    /// The most pointers that are followed, as many as a name has labels at most: more than one pointer for a label serves nothing.
    private static let mostPointers = 127

    /// A question for a name, with the number 0, so that answers to the same question can be cached (RFC 8484 §4.1).
    ///
    /// - Returns: `nil` of a name that cannot be asked for: a label of more than 63 bytes, or none.
    static func question(_ host: String, _ kind: Kind) -> Data? {
        guard let name = encoded(host) else { return nil }
        // Recursion is desired; there is one question.
        return Data([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + name + bytes(kind.rawValue) + bytes(internet)
    }

    /// What a server has made of a question.
    enum Reply: Hashable, Sendable {
        /// The addresses, and how long they hold; none where the name, or its addresses of that kind, do not exist.
        case addresses(HostAnswer)
        /// It has not found out (RFC 1035 §4.1.1): with this code.
        case refused(code: UInt8)
    }

    /// What a message says to a question; `nil` where the bytes are no answer to it.
    static func reply(_ message: Data, to host: String, _ kind: Kind) -> Reply? {
        var reader = Reader(message)
        guard reader.number() == 0, let flags = reader.number(), let questions = reader.number(),
            let answers = reader.number(), reader.skip(4)
        else { return nil }
        // A response, not cut off.
        guard flags & 0x8000 != 0, flags & 0x7A00 == 0 else { return nil }
        let code = UInt8(flags & 0xF)
        // Who could not read the question need not repeat it.
        if questions == 0, !isOutcome(code) { return .refused(code: code) }
        guard questions == 1 else { return nil }
        guard let asked = reader.name(), asked == canonical(host), reader.number() == kind.rawValue,
            reader.number() == internet
        else { return nil }
        guard isOutcome(code) else { return .refused(code: code) }
        // Whatever addresses come with a name that does not exist are none of it (RFC 8020 §2).
        guard code == 0 else { return .addresses(HostAnswer([])) }
        return records(&reader, Int(answers), asked, kind).map { .addresses($0) }
    }

    /// Whether a code says what there is: no error, or that there is no such name.
    private static func isOutcome(_ code: UInt8) -> Bool { code == 0 || code == 3 }

    /// Aliases may stand in any order, so that the addresses are chosen when all are known.
    private static func records(_ reader: inout Reader, _ count: Int, _ asked: String, _ kind: Kind) -> HostAnswer? {
        var aliases: [String: (name: String, lifetime: UInt32)] = [:]
        var found: [(owner: String, address: HostAddress, lifetime: UInt32)] = []
        for _ in 0..<count {
            guard let owner = reader.name(), let type = reader.number(), let group = reader.number(),
                let lifetime = reader.lifetime(), let length = reader.number(), let content = reader.content(length)
            else { return nil }
            guard group == internet else { continue }
            if type == kind.rawValue {
                guard content.count == (kind == .a ? 4 : 16), let address = HostAddress(bytes: content) else {
                    return nil
                }
                found.append((owner, address, lifetime))
            } else if type == alias {
                guard let name = reader.name(endingBefore: Int(length)) else { return nil }
                aliases[owner] = (name, lifetime)
            }
        }
        var (owner, least, seen) = (asked, UInt32.max, Set([asked]))
        while let alias = aliases[owner], seen.insert(alias.name).inserted {
            (owner, least) = (alias.name, min(least, alias.lifetime))
        }
        let own = found.filter { $0.owner == owner }
        guard !own.isEmpty else { return HostAnswer([]) }
        least = own.reduce(least) { min($0, $1.lifetime) }
        return HostAnswer(own.map(\.address), lifetime: .seconds(Int64(least)))
    }

    private static func canonical(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    private static func encoded(_ host: String) -> Data? {
        var data = Data()
        for label in canonical(host).utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...63).contains(label.count) else { return nil }
            data.append(UInt8(label.count))
            data.append(contentsOf: label)
        }
        data.append(0)
        return data.count <= longestName ? data : nil
    }

    private static func bytes(_ number: UInt16) -> Data {
        withUnsafeBytes(of: number.bigEndian) { Data($0) }
    }

    /// Reads on from where it stands, never beyond the message.
    private struct Reader {
        private let bytes: [UInt8]
        private var place = 0

        init(_ data: Data) {
            bytes = Array(data)
        }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= bytes.count - place else { return false }
            place += count
            return true
        }

        mutating func number() -> UInt16? {
            guard let pair = content(2), let first = pair.first, let last = pair.last else { return nil }
            return UInt16(first) << 8 | UInt16(last)
        }

        /// Reads a lifetime of 31 bits; one with the highest bit set means none (RFC 2181 §8).
        mutating func lifetime() -> UInt32? {
            guard let high = number(), let low = number() else { return nil }
            return high & 0x8000 == 0 ? UInt32(high) << 16 | UInt32(low) : 0
        }

        mutating func content(_ count: UInt16) -> ArraySlice<UInt8>? {
            let start = place
            return skip(Int(count)) ? bytes[start..<place] : nil
        }

        /// The name that the content just read is.
        func name(endingBefore length: Int) -> String? {
            var other = self
            other.place = place - length
            guard let name = other.name(), other.place == place else { return nil }
            return name
        }

        /// Reads a name, in lower case. A pointer leads back, so that following them ends; and a server that lets pointers lead to pointers
        /// does so to make every record cost as much as a message.
        mutating func name() -> String? {
            var (labels, length, cursor, limit) = ([String](), 1, place, place)
            var (end, pointers): (Int?, Int) = (nil, 0)
            while true {
                guard cursor < bytes.count else { return nil }
                let count = Int(bytes[cursor])
                if count >= 0xC0 {
                    guard cursor + 1 < bytes.count else { return nil }
                    end = end ?? cursor + 2
                    pointers += 1
                    let target = (count & 0x3F) << 8 | Int(bytes[cursor + 1])
                    guard target < limit, pointers <= DNSMessage.mostPointers else { return nil }
                    (cursor, limit) = (target, target)
                    continue
                }
                guard count < 64, cursor + 1 + count <= bytes.count else { return nil }
                cursor += 1
                if count == 0 { break }
                length += count + 1
                guard length <= DNSMessage.longestName else { return nil }
                let label = bytes[cursor..<cursor + count]
                // A dot within a label would make two names of one.
                guard !label.contains(UInt8(ascii: ".")) else { return nil }
                labels.append(String(decoding: label, as: UTF8.self).lowercased())
                cursor += count
            }
            place = end ?? cursor
            return labels.joined(separator: ".")
        }
    }
}
