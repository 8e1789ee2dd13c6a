import Foundation
import PenstockCore

/// What two contents differ in, line by line, for a person who reads why a test fails. JSON is compared member by member, in
/// the order of its keys.
enum RecordingDifference {
    /// More lines tell nobody more.
    private static let mostLines = 12

    /// - Returns: `nil` where they are the same; else the lines that were recorded, with `-` before them, and those that were
    ///   sent, with `+`.
    static func lines(recorded: Recording.Content?, sent: Recording.Content?) -> [String]? {
        guard let recorded, let sent else { return nil }
        let (old, new) = (lines(of: recorded), lines(of: sent))
        guard old != new else { return nil }
        let start = zip(old, new).prefix { $0 == $1 }.count
        let ending = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        return shown("-", old[start..<(old.count - ending)]) + shown("+", new[start..<(new.count - ending)])
    }

    private static func shown(_ sign: String, _ lines: ArraySlice<String>) -> [String] {
        let rest = lines.count - mostLines
        return lines.prefix(mostLines).map { "\(sign) \($0)" } + (rest > 0 ? ["\(sign) … and \(rest) more lines"] : [])
    }

    private static func lines(of content: Recording.Content) -> [String] {
        guard case .text(let text) = content else {
            return ["\(content.data.count) bytes: \(content.data.base64EncodedString())"]
        }
        return pretty(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func pretty(_ text: String) -> String {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return text }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}

extension Recording.Request {
    /// The content without what is drawn anew for each sending, which is the boundary of a form (RFC 2046 §5.1.1).
    var comparableContent: Recording.Content? {
        guard let content, let type = fields.first(where: { HTTPFieldName($0.name) == .contentType })?.value,
            let parsed = ParameterizedValue(type), parsed.value == "multipart/form-data",
            let boundary = parsed.parameters["boundary"]
        else { return content }
        var (output, rest) = (Data(), content.data[...])
        while let place = rest.range(of: Data("--\(boundary)".utf8)) {
            output += rest[..<place.lowerBound] + Data("--boundary".utf8)
            rest = rest[place.upperBound...]
        }
        return Recording.Content(output + rest)
    }
}
