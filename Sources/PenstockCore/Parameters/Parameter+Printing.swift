/// How parameters print: the values of secret names redacted, however deep they are.

extension ParameterValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value, texts in quotes, data by its size, the secret members of objects redacted.
    public var description: String { text(isSecret: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["value": description], displayStyle: .enum) }

    fileprivate func text(isSecret: Bool) -> String {
        switch self {
        case .null: "null"
        case .object(let object): object.text(isSecret: isSecret)
        case .array(let elements): "[" + elements.map { $0.text(isSecret: isSecret) }.joined(separator: ", ") + "]"
        case _ where isSecret: Redaction.mark
        case .string(let text): "\"\(PrintableText.escaped(Redaction.text(text)))\""
        case .bool(let flag): "\(flag)"
        case .int(let number): "\(number)"
        case .uint(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .data(let data): "\(data.count) bytes"
        case .date(let date): "\(date)"
        }
    }
}

extension ParameterObject: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The members in their order, the values of secret ones redacted.
    public var description: String { text(isSecret: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        let shown = map { key, value in (key, value.text(isSecret: Redaction.isSecret(parameter: key)) as Any) }
        return Mirror(self, children: shown.map { (label: $0.0, value: $0.1) }, displayStyle: .dictionary)
    }

    fileprivate func text(isSecret: Bool) -> String {
        let members = map { key, value in
            "\"\(PrintableText.escaped(key))\": \(value.text(isSecret: isSecret || Redaction.isSecret(parameter: key)))"
        }
        return members.isEmpty ? "[:]" : "[" + members.joined(separator: ", ") + "]"
    }
}
