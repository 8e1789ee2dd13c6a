/// How what is stored prints: keys, selectors and responses show no secret.

extension CacheKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL, the secret parameters redacted, and whose it is.
    public var description: String { "\(method) \(Redaction.text(url)) in \(partition)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["key": description], displayStyle: .struct) }
}

extension CacheVariant.Selector: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field as it would be printed.
    public var description: String {
        value.map { "\(name): \(Redaction.value($0, of: HTTPFieldName(name)))" } ?? "no \(name)"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}

extension CacheStatus: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["status": description], displayStyle: .struct) }
}

extension CachedResponse: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "key": key, "variant": variant, "status": status, "fields": fields, "bodyLength": bodyLength,
            "part": part as Any, "tags": tags, "responseTime": responseTime, "isInvalidated": isInvalidated,
        ]
        return Redaction.mirror(of: self, children)
    }
}

extension StoredResponse: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(
            self, children: ["response": response, "entry": entry, "bytes": body?.count as Any], displayStyle: .struct)
    }
}
