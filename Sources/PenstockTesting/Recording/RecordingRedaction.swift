import Foundation
import PenstockCore

/// Takes the secrets out of what is recorded, by the rules of ``Redaction``.
enum RecordingRedaction {
    static func fields(_ fields: HTTPFields) -> [Recording.Field] {
        fields.map { .init(name: $0.name.text, value: Redaction.value($0.value, of: $0.name)) }
    }

    /// The content without the values of secret parameters of a form, or of secret members of JSON: texts are replaced,
    /// and numbers by 0, so that what reads them still can. Other texts lose what looks like a secret, and the secrets of the
    /// URLs in them. Content without secrets stays byte for byte.
    static func content(_ data: Data, of type: String?) -> Data {
        if type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true {
            return Data(Redaction.query(String(decoding: data, as: UTF8.self)).utf8)
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: data) else {
            guard type?.lowercased().hasPrefix("text/") == true, let text = String(data: data, encoding: .utf8) else {
                return data
            }
            return Data(Redaction.text(text).utf8)
        }
        let redacted = redacted(value, isSecret: false)
        guard redacted != value else { return data }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What was decoded can be encoded; if not, nothing is safer than all of it.
        return (try? encoder.encode(redacted)) ?? Data()
    }

    private static func redacted(_ value: JSONValue, isSecret: Bool) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .int, .uint, .double: isSecret ? .int(0) : value
        case .string(let text): .string(isSecret ? Redaction.mark : Redaction.text(text))
        case .array(let elements): .array(elements.map { redacted($0, isSecret: isSecret) })
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, member in
                        (name, redacted(member, isSecret: isSecret || Redaction.isSecret(HTTPFieldName(name))))
                    }))
        }
    }
}
