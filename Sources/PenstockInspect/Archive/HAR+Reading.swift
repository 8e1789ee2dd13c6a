import Foundation

extension HAR {
    /// Reads an archive, whoever has written it. One of Penstock's that was cut off, as its writer has ended in the middle of a write
    /// or writes just now, is read as far as its entries are whole.
    ///
    /// - Parameter onProblem: told of an archive that was cut off, ``HARError/cutOff(wholeEntries:lostBytes:)``.
    /// - Throws: ``HARError/notAnArchive(reason:)`` or ``HARError/unusableFile(reason:)``.
    package init(contentsOf file: URL, onProblem: (HARError) -> Void = { _ in }) throws(HARError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .unusableFile(reason: "\(file.path): \(Words.reason(error))")
        }
        do {
            self = try JSONDecoder().decode(HAR.self, from: data)
        } catch {
            guard let (whole, lost) = Self.whole(of: data) else { throw .notAnArchive(reason: Self.reason(error)) }
            self = whole
            onProblem(.cutOff(wholeEntries: log.entries.count, lostBytes: lost))
        }
        guard log.version.hasPrefix("1.") else { throw .notAnArchive(reason: "version \(log.version.prefix(16))") }
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
