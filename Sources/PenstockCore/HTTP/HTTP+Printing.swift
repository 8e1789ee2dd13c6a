/// How the values of HTTP print. What a value is made of decides: whoever prints or dumps it gets no more.

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name and value, the value as ``Redaction`` allows.
    public var description: String { "\(name): \(Redaction.value(value, of: name))" }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line a field, the values as ``Redaction`` allows.
    public var description: String { map(\.description).joined(separator: "\n") }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection) }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL with its secret parameters redacted; ``absoluteString`` is the whole of it.
    public var description: String {
        let (path, query) = (RedactedText.make(of: path, byShape: false), query.map { Redaction.query($0) })
        // As most are, of which the text is at hand.
        if path == self.path, query == self.query { return absoluteString }
        return origin.text + Self.target(path, query)
    }

    /// Origin and path, the parameters of the path redacted.
    var place: String { origin.text + RedactedText.make(of: path, byShape: false) }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["url": description], displayStyle: .struct) }
}

extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How much there is, never what it is.
    public var description: String {
        switch source {
        case .none: "no body"
        case .bytes(let data): "\(data.count) bytes"
        case .file(let url): "file \(url.lastPathComponent)"
        case .stream: "stream"
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["body": description], displayStyle: .struct) }
}

extension HTTPRequest: CustomStringConvertible {
    public var description: String { "\(method) \(url) (\(body))" }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(status) (\(body.count) bytes)" }

    public var customMirror: Mirror {
        Mirror(
            self, children: ["status": status, "fields": fields, "bytes": body.count, "trailers": trailers],
            displayStyle: .struct)
    }
}
