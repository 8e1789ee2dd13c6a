extension JSONValue: ParameterConvertible {
    /// The same value; the keys of objects are sorted.
    public var parameterValue: ParameterValue {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .int(let number): .int(Int64(number))
        case .uint(let number): .uint(UInt64(number))
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .array(let elements): elements.parameterValue
        case .object(let members): members.parameterValue
        }
    }
}
