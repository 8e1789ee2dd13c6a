import Foundation

extension HAR {
    /// Reads an archive, whoever has written it. One of Penstock's that was cut off, as its writer has ended in the middle of a write
    /// or writes just now, is read as far as its entries are whole. Of any archive an entry that is none is left out; half of a pair
    /// of surrogates and bytes that are no UTF-8 stand as U+FFFD.
    ///
    /// - Parameter onProblem: told of an archive that was cut off, ``HARError/cutOff(wholeEntries:lostBytes:)``, and of entries that
    ///   are none, ``HARError/unreadable(entries:)``.
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    package init(contentsOf file: URL, onProblem: (HARError) -> Void = { _ in }) throws(HARError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .unusableFile(reason: "\(file.path): \(Words.reason(error))")
        }
        do {
            self = try Self.archive(data)
        } catch {
            guard let (whole, lost) = Self.whole(of: data) else { throw .notAnArchive(reason: Self.reason(error)) }
            self = whole
            onProblem(.cutOff(wholeEntries: log.entries.count, lostBytes: lost))
        }
        guard log.version.hasPrefix("1.") else { throw .notAnArchive(reason: "version \(log.version.prefix(16))") }
        if log.unreadable > 0 { onProblem(.unreadable(entries: log.unreadable)) }
    }

    /// Decodes an archive, with its texts mended where something cannot be read as it is.
    private static func archive(_ data: Data) throws -> HAR {
        let found = Result { try JSONDecoder().decode(HAR.self, from: data) }
        if case .success(let har) = found, har.log.unreadable == 0 { return har }
        guard let mended = HARText.mended(data), let har = try? JSONDecoder().decode(HAR.self, from: mended) else {
            return try found.get()
        }
        return har
    }

    /// The whole entries from the beginning of an archive of Penstock's, each of which is a line, and how many bytes follow that
    /// are neither one nor the end of an archive; `nil` for any other file.
    private static func whole(of data: Data) -> (HAR, Int)? {
        guard data.starts(with: Data(HARFile.beginning.utf8)), let header = line(data),
            var har = try? JSONDecoder().decode(HAR.self, from: header + Data(HARFile.footer.utf8))
        else { return nil }
        var rest = data[header.endIndex...]
        while let line = line(rest), let entry = HARFile.entry(line) {
            har.log.entries.append(entry)
            rest = rest[line.endIndex...]
        }
        return (har, HARFile.footer.utf8.starts(with: rest) ? 0 : rest.count)
    }

    /// The first line with its line feed; `nil` where there is none.
    private static func line(_ data: Data) -> Data? {
        data.firstIndex(of: UInt8(ascii: "\n")).map { data[...$0] }
    }

    private static func reason(_ error: any Error) -> String {
        let context: DecodingError.Context? =
            switch error as? DecodingError {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            default: nil
            }
        let path = context?.codingPath.map(\.stringValue).joined(separator: ".") ?? ""
        return path.isEmpty ? "it is no JSON object with a log" : "at \(path)"
    }
}

extension HAR.Log {
    /// An entry, or why it is none.
    private struct Reading: Decodable {
        let entry: Result<HAR.Entry, any Error>

        init(from decoder: any Decoder) {
            entry = Result { try HAR.Entry(from: decoder) }
        }
    }

    /// - Throws: also where there are entries and all of them are none: it is another format then.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(String.self, forKey: .version)
        creator = try container.decodeIfPresent(HAR.Creator.self, forKey: .creator)
        let found = try container.decode([Reading].self, forKey: .entries)
        entries = found.compactMap { try? $0.entry.get() }
        unreadable = found.count - entries.count
        if entries.isEmpty, let first = found.first { _ = try first.entry.get() }
    }
}

extension HAR.Entry {
    /// Whether its content was left before its end, as its call was ended.
    var isLeft: Bool {
        guard let call = _call else { return false }
        return call.outcome == "cancelled" && call.attempt == call.attempts && response.content?.text == nil
    }
}

extension KeyedDecodingContainer {
    /// A number that may be left out, as other programs write it: rounded where it has a fraction. `nil` for one that is no size. All that
    /// is decoded here by the compiler's own code is decoded by this.
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try decodeIfPresent(Double.self, forKey: key).flatMap { Int(exactly: $0.rounded()) }
    }
}

/// Mends what keeps the texts of an archive from being read.
enum HARText {
    /// - Returns: `nil` where nothing is to be mended.
    static func mended(_ data: Data) -> Data? {
        let text = Data(String(decoding: data, as: UTF8.self).utf8)
        return withoutLoneSurrogates(text) ?? (text == data ? nil : text)
    }

    /// JSON in which half of a pair of surrogates (RFC 8259 §8.2) is U+FFFD; `nil` where there is none.
    private static func withoutLoneSurrogates(_ json: Data) -> Data? {
        let bytes = [UInt8](json)
        var result: [UInt8] = []
        var (copied, index) = (0, 0)
        while let escape = bytes[index...].firstIndex(of: UInt8(ascii: "\\")) {
            let (length, isLone) = step(bytes, at: escape)
            index = min(escape + length, bytes.count)
            guard isLone else { continue }
            result += bytes[copied..<escape]
            result += #"\ufffd"#.utf8
            copied = index
        }
        return copied == 0 ? nil : Data(result + bytes[copied...])
    }

    /// How many bytes belong together from here on, and whether they are half of a pair.
    private static func step(_ bytes: [UInt8], at index: Int) -> (length: Int, isLone: Bool) {
        guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else { return (1, false) }
        guard let unit = unit(bytes, at: index) else { return (2, false) }
        switch unit {
        case 0xD800...0xDBFF:
            let isPair = Self.unit(bytes, at: index + 6).map { (0xDC00...0xDFFF).contains($0) } ?? false
            return isPair ? (12, false) : (6, true)
        case 0xDC00...0xDFFF: return (6, true)
        default: return (6, false)
        }
    }

    /// The code unit that is escaped here; `nil` where there is none.
    private static func unit(_ bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }
}
