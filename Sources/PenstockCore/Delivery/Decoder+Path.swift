extension Decoder {
    /// The decoder for the value at `path`; `nil` when something on the way is absent or null.
    ///
    /// - Throws: what the decoder throws when something on the way is neither an object nor an array.
    func descend(_ path: JSONPath, options: DecodingOptions) throws -> (any Decoder)? {
        var place: any Decoder = self
        for step in path.steps {
            guard let next = try place.descend(step, options: options) else { return nil }
            place = next
        }
        return try place.singleValueContainer().decodeNil() ? nil : place
    }

    private func descend(_ step: JSONPath.Step, options: DecodingOptions) throws -> (any Decoder)? {
        guard try !singleValueContainer().decodeNil() else { return nil }
        switch step {
        case .key(let key): return try member(options.name(of: key, below: codingPath))
        case .index(let index): return try element(index)
        }
    }

    private func member(_ key: AnyKey) throws -> (any Decoder)? {
        let container = try container(keyedBy: AnyKey.self)
        return container.contains(key) ? try container.superDecoder(forKey: key) : nil
    }

    private func element(_ index: Int) throws -> (any Decoder)? {
        var container = try unkeyedContainer()
        guard index < container.count ?? 0 else { return nil }
        for _ in 0..<index { _ = try container.decode(Ignored.self) }
        return try container.superDecoder()
    }
}

/// Any JSON value, not looked at.
struct Ignored: Decodable, Sendable {
    init(from decoder: any Decoder) {}
}
