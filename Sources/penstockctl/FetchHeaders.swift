import Foundation

/// What `-H` stands for: the field itself, or those of a file, so that a token need not stand in an argument, which others on
/// the machine can read.
enum FetchHeaders {
    /// More than servers take.
    private static let limit = 1 << 20

    /// - Parameter argument: a field, or `@` and the name of a file with a field on each line. Empty lines are passed over.
    static func lines(_ argument: String) throws(UsageError) -> [String] {
        // No field begins so: `@` may not stand in a name.
        guard argument.hasPrefix("@") else { return [argument] }
        let path = String(argument.dropFirst())
        guard !path.isEmpty else { throw UsageError("-H: @ needs the name of a file") }
        let name = String(reflecting: path)
        guard let data = content(of: path) else { throw UsageError("-H: there is no readable file \(name)") }
        guard data.count <= limit else { throw UsageError("-H: \(name) is longer than \(limit) bytes") }
        guard let text = String(data: data, encoding: .utf8) else { throw UsageError("-H: \(name) is not UTF-8") }
        // The text is split by bytes, since a carriage return and a line feed are one character.
        return text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return line.isEmpty ? nil : String(Substring(line))
        }
    }

    /// The content of a file, as much as tells whether it is too long; `nil` where the file cannot be read. A pipe gives its content in
    /// pieces.
    private static func content(of path: String) -> Data? {
        guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)) else { return nil }
        defer { try? file.close() }
        var content = Data()
        do {
            while content.count <= limit, let piece = try file.read(upToCount: limit + 1 - content.count),
                !piece.isEmpty
            {
                content += piece
            }
        } catch {
            return nil
        }
        return content
    }
}
