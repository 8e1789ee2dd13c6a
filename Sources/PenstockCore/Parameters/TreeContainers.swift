/// The keyed container of ``TreeEncoder``. Leaves go straight into the box, without a generic detour.
struct KeyedTreeContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func put(_ value: ParameterValue, _ key: Key) {
        encoder.box.insert(.value(value), for: key.stringValue)
    }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { put(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { put(value.parameterValue, key) }
    func encode(_ value: Int, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { put(.int(value), key) }
    func encode(_ value: UInt, forKey key: Key) { put(ParameterValue(value), key) }
    func encode(_ value: UInt8, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: UInt64, forKey key: Key) { put(ParameterValue(value), key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        put(try encoder.value(of: value, at: key), key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nestedEncoder(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nestedEncoder(at: ParameterKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(at: key) }

    private func nestedEncoder(at key: any CodingKey) -> TreeEncoder {
        encoder.nested(in: encoder.box.open(at: key.stringValue), at: key)
    }
}

/// Optional properties reach the container through these, and only here can their absence be seen.
extension KeyedTreeContainer {
    private func putIfPresent(_ value: (some ParameterConvertible)?, _ key: Key) {
        guard value != nil || encoder.options.nilProperties == .null else { return }
        put(value.parameterValue, key)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { putIfPresent(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { putIfPresent(value, key) }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if encoder.options.nilProperties == .null { put(.null, key) }
    }
}

/// The unkeyed container of ``TreeEncoder``.
struct UnkeyedTreeContainer: UnkeyedEncodingContainer {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.box.count }

    func encodeNil() { encoder.box.append(.value(.null)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        encoder.box.append(.value(try encoder.value(of: value, at: ParameterKey(index: count))))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nestedEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { nestedEncoder() }

    private func nestedEncoder() -> TreeEncoder {
        let key = ParameterKey(index: count)
        let box = TreeBox()
        encoder.box.append(.open(box))
        return encoder.nested(in: box, at: key)
    }
}

/// The single value container of ``TreeEncoder``.
struct SingleValueTreeContainer: SingleValueEncodingContainer {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.box.set(.null) }
    func encode(_ value: Bool) { encoder.box.set(.bool(value)) }
    func encode(_ value: String) { encoder.box.set(.string(value)) }
    func encode(_ value: Double) { encoder.box.set(.double(value)) }
    func encode(_ value: Float) { encoder.box.set(value.parameterValue) }
    func encode(_ value: Int) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: Int8) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: Int16) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: Int32) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: Int64) { encoder.box.set(.int(value)) }
    func encode(_ value: UInt) { encoder.box.set(ParameterValue(value)) }
    func encode(_ value: UInt8) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: UInt16) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: UInt32) { encoder.box.set(.int(Int64(value))) }
    func encode(_ value: UInt64) { encoder.box.set(ParameterValue(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        encoder.box.set(try encoder.value(of: value, at: nil))
    }
}
