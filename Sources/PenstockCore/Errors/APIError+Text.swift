import Foundation

extension APIError: LocalizedError {
    /// The text for users; see ``userText``.
    public var errorDescription: String? { userText }

    /// What a user may read: the ``ErrorMapper``'s text, else the server's own message of a business error, else the
    /// text of the kind. Where a credential cannot be renewed now, it is the text of what stands in the way.
    ///
    /// The last is looked up in the table `Penstock` of the app's main bundle under `error.` and the kind's name, for
    /// example `error.timeout`; it is English where the app has none. Kinds that mean several things to users have more names:
    /// `error.authentication.vault`, `error.dropped.alreadyLoading`, `error.dropped.tooSoon`, `error.transport.requestBody`.
    public var userText: String {
        if let text = presentation?.userText { return text }
        if case .business(_, let message) = kind, !message.isEmpty { return message }
        let words = (kind == .authentication(.unavailable) ? withoutCredential.kind : kind).words
        return Bundle.main.localizedString(forKey: "error.\(words.key)", value: words.text, table: "Penstock")
    }
}

extension APIError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The error in one line, for developers: without header values, bodies, and the values of the query.
    public var description: String {
        let parts = ["\(kind)", "stage \(stage)", requestText, statusText, shownMessage, underlyingText]
        return "APIError: " + parts.compactMap(\.self).joined(separator: "; ")
    }

    public var debugDescription: String { description }

    private var requestText: String? {
        request.map { "\($0.method) \($0.url.withoutQueryValues)" }
    }

    private var statusText: String? {
        if case .httpStatus = kind { return nil }
        return response.map { "status \($0.status)" }
    }

    /// The message of a malformed envelope shows the beginning of a body: it is there to be asked for, not to be logged.
    var shownMessage: String? {
        if let text = presentation?.debugText { return PrintableText.redacted(text) }
        if case .malformedEnvelope = kind { return nil }
        return debugMessage.isEmpty ? nil : PrintableText.redacted(debugMessage)
    }

    /// Only the type, with those that it is nested in: what an error of the app or the platform prints is not known here.
    private var underlyingText: String? {
        underlying.map { error in
            let type = String(reflecting: type(of: (error as? TransportError)?.underlying ?? error))
            // The module goes, and so does what stands for a private type's file.
            let names = type.split(separator: ".").dropFirst().filter { !$0.hasPrefix("(unknown context") }
            return "caused by \(names.joined(separator: "."))"
        }
    }
}

extension APIError.Kind: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its name and what it is about, without the secrets in that: the server, or the app, has written some of it.
    public var description: String {
        // Each part by itself: what is said of something is no value of it.
        switch self {
        case .invalidParameter(let field, let reason):
            "\(entry.name) \(PrintableText.redacted(field)): \(Redaction.text(PrintableText.redactable(reason)))"
        case .business(let code, let message):
            "\(entry.name) \(code.redacted): \(PrintableText.redacted(message))"
        default: Redaction.text(PrintableText.redactable(text))
        }
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .enum) }

    private var text: String {
        let name = entry.name
        return switch self {
        case .invalidParameter(let field, let reason): "\(name) \(field): \(reason)"
        case .invalidConfiguration(let reason), .blocked(let reason), .malformedEnvelope(let reason),
            .unavailable(let reason):
            "\(name): \(reason)"
        case .unsupported(let feature): "\(name): \(feature)"
        case .dropped(let reason): "\(name): \(reason.rawValue)"
        case .authentication(let failure): "\(name): \(failure)"
        case .unreachable(let how): "\(name): \(how.rawValue)"
        case .timeout(let phase): "\(name): \(phase)"
        case .tls(let failure): "\(name): \(failure.rawValue)"
        case .transport(let fault): "\(name): \(fault.rawValue)"
        case .limitExceeded(let limit): "\(name): \(limit)"
        case .httpStatus(let status): "\(name) \(status)"
        case .business(let code, let message): "\(name) \(code.redacted): \(message)"
        case .validation(let rule): "\(name): \(rule)"
        case .decoding(let path, let reason): "\(name) at \(path.isEmpty ? "the root" : path): \(reason)"
        case .storage(let fault): "\(name): \(fault.rawValue)"
        case .cancelled, .cacheMiss, .decryption: name
        }
    }
}

extension BusinessCode {
    /// The number, or the word in quotes without the secrets in it. They go before it is escaped, which would hide the lines and the
    /// quotes that they are known by.
    fileprivate var redacted: String {
        switch self {
        case .int(let number): String(number)
        case .string(let text): PrintableText.redacted(text, as: \.debugDescription)
        }
    }
}

extension HTTPURL {
    /// The URL with the names of its query items and none of their values.
    var withoutQueryValues: String {
        guard let query else { return place }
        let names = query.split(separator: "&").map { item in
            item.firstIndex(of: "=").map { "\(item[..<$0])=…" } ?? "…"
        }
        return "\(place)?\(names.joined(separator: "&"))"
    }
}

extension APIError.Presentation: CustomStringConvertible, CustomReflectable {
    /// The code and the texts, without the secrets in them.
    public var description: String {
        let texts = [userText, debugText].map { $0.map(Redaction.text) ?? "-" }
        return "\(code.map(String.init) ?? "-"), \(texts[0]), \(texts[1])"
    }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code as Any, "userText": userText.map(Redaction.text) as Any,
                "debugText": debugText.map(Redaction.text) as Any,
            ], displayStyle: .struct)
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
