extension JSONValue: Decodable {
    /// Keys stay as they are in the document, whatever key strategy the decoder has.
    ///
    /// Decoders other than Penstock's must be asked for one type after the other, which is slow for large or deep values.
    public init(from decoder: any Decoder) throws {
        if let value = try decoder.session?.freeForm(at: decoder.codingPath) {
            self = value
            return
        }
        let container = try decoder.singleValueContainer()
        if let scalar = try Self.scalar(in: container) {
            self = scalar
        } else if let elements = try? decoder.unkeyedContainer() {
            self = try .array(Self.elements(of: elements))
        } else {
            self = try .object(container.decode([String: JSONValue].self))
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> JSONValue? {
        if container.decodeNil() { return .null }
        if let text = try? container.decode(String.self) { return .string(text) }
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let number = try? container.decode(Int.self) { return .int(number) }
        if let number = try? container.decode(UInt.self) { return .uint(number) }
        do { return try .double(container.decode(Double.self)) } catch DecodingError.typeMismatch { return nil }
    }

    private static func elements(of container: any UnkeyedDecodingContainer) throws -> [JSONValue] {
        var container = container
        var elements: [JSONValue] = []
        while !container.isAtEnd { try elements.append(container.decode(JSONValue.self)) }
        return elements
    }
}

extension JSONValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .int(let number): try container.encode(number)
        case .uint(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
