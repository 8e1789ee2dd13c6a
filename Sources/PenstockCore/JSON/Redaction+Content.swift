import Foundation

extension Redaction {
    /// Content as it may be shown: without the values of secret parameters of a form, without secret members of JSON, and
    /// without the tokens and secret parameters in other text.
    ///
    /// Secret texts in JSON are replaced by ``mark`` and secret numbers by 0, so that what reads them still can. Content
    /// without secrets stays byte for byte, and so does what is no text.
    ///
    /// - Parameter type: the media type, as `Content-Type` has it.
    public static func content(_ data: Data, type: String?) -> Data {
        if type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true {
            return Data(query(String(decoding: data, as: UTF8.self)).utf8)
        }
        if let value = try? JSONDecoder().decode(JSONValue.self, from: data) {
            return json(value, instead: data)
        }
        guard let text = String(data: data, encoding: .utf8) else { return data }
        return Data(self.text(text).utf8)
    }

    private static func json(_ value: JSONValue, instead data: Data) -> Data {
        let shown = redacted(value, isSecret: false)
        guard shown != value else { return data }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What was decoded can be encoded; if not, nothing is safer than all of it.
        return (try? encoder.encode(shown)) ?? Data()
    }

    private static func redacted(_ value: JSONValue, isSecret: Bool) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .int, .uint, .double: isSecret ? .int(0) : value
        case .string(let text): .string(isSecret ? mark : self.text(text))
        case .array(let elements): .array(elements.map { redacted($0, isSecret: isSecret) })
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, member in
                        let isSecret = isSecret || Redaction.isSecret(HTTPFieldName(name))
                        return (name, redacted(member, isSecret: isSecret))
                    }))
        }
    }
}
