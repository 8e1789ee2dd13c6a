/// How values that may hold secrets print. What a value is made of decides: whoever prints or dumps it gets no more.

extension Redaction {
    /// A mirror of `subject` that shows these children, texts among them by the rule for parameters of their names.
    static func mirror<Subject>(
        of subject: Subject, _ children: KeyValuePairs<String, Any>
    ) -> Mirror {
        mirror(of: subject, children: children.map { (label: $0.key, value: $0.value) })
    }

    private static func mirror<Subject>(of subject: Subject, children: [Mirror.Child]) -> Mirror {
        let children: [Mirror.Child] = children.map { ($0.label, shown($0.value, $0.label ?? "")) }
        return Mirror(subject, children: children, displayStyle: .struct)
    }

    /// A mirror of `subject` that shows what it is made of.
    static func mirror<Subject>(of subject: Subject, parts: Any) -> Mirror {
        mirror(of: subject, children: Array(Mirror(reflecting: parts).children))
    }

    private static func shown(_ value: Any, _ name: String) -> Any {
        switch value {
        case let text as String: self.value(text, ofParameter: name)
        case let texts as [String]: texts.map { self.value($0, ofParameter: name) }
        case let texts as [ServerEnvironment: String]: texts.mapValues { self.value($0, ofParameter: name) }
        default: value
        }
    }
}

// MARK: HTTP

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
    public var description: String { query.map { "\(place)?\(Redaction.query($0))" } ?? place }

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

extension ServerSentEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Type and size, never what the event says.
    public var description: String { "event \(name) (\(data.utf8.count) bytes)" }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Redaction.mirror(of: self, ["id": id, "name": name, "bytes": data.utf8.count])
    }
}

extension ServerSentEventParser: CustomReflectable {
    public var customMirror: Mirror { Redaction.mirror(of: self, ["lastEventID": lastEventID]) }
}

extension LineSplitter: CustomReflectable {
    /// Nothing of what waits to be read.
    var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

// MARK: Calls

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

extension RoutePath: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["template": template], displayStyle: .struct) }
}

extension BaseURLs: CustomStringConvertible, CustomReflectable {
    /// Where the service is, without secrets.
    public var description: String {
        let texts = ServerEnvironment.standard.compactMap { environment in
            text(in: environment).map { "\(environment): \(Redaction.value($0, ofParameter: "baseURL"))" }
        }
        return texts.joined(separator: ", ")
    }

    public var customMirror: Mirror { Mirror(self, children: ["urls": description], displayStyle: .struct) }
}

extension Service: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "id": id, "baseURLs": baseURLs, "version": version as Any, "envelope": envelope as Any,
            "headers": headers, "options": options, "callInterceptors": callInterceptors,
            "attemptInterceptors": attemptInterceptors,
        ]
        return Redaction.mirror(of: self, children)
    }
}

extension Payload: CustomStringConvertible, CustomReflectable {
    /// How much there is, and where the paths begin, never what it is.
    public var description: String { "\(data.count) bytes" + (root.isEmpty ? "" : " at \(root)") }

    public var customMirror: Mirror {
        Mirror(self, children: ["bytes": data.count, "root": root], displayStyle: .struct)
    }
}

extension APIError: CustomReflectable {
    /// What ``description`` tells, in parts. Of an underlying error that is not a transport's only the type is shown.
    public var customMirror: Mirror {
        let cause = underlying.map { $0 is TransportError ? $0 as Any : type(of: $0) as Any }
        let children: KeyValuePairs<String, Any> = [
            "kind": kind, "stage": stage, "debugMessage": shownMessage as Any, "request": request as Any,
            "response": response as Any, "sendState": sendState as Any, "underlying": cause as Any,
            "attempts": attempts, "presentation": presentation as Any,
        ]
        return Redaction.mirror(of: self, children)
    }
}

extension TransportError: CustomReflectable {
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "kind": kind, "sendState": sendState, "message": message, "timings": timings,
            "partialResponse": partialResponse as Any,
        ]
        return Redaction.mirror(of: self, children)
    }
}

// MARK: The cache

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

// MARK: What is shared

/// What a lock protects is not read without it, and is not shown: cookies, stored responses, calls under way.
extension Locked: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

extension Once: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .class) }
}
