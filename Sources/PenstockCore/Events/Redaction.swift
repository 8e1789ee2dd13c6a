/// What is kept out of everything that prints: a property of the values themselves, not of who prints them.
public enum Redaction {
    /// What stands in place of a secret.
    public static let mark = "‹redacted›"

    private static let fieldNames: Set<HTTPFieldName> = [
        .authorization, .proxyAuthorization, .cookie, .setCookie, "Authentication-Info", "Proxy-Authentication-Info",
        "WWW-Authenticate", "Proxy-Authenticate", "Set-Cookie2", "X-API-Key", "Api-Key", "X-Auth-Token",
        "X-Access-Token", "X-Csrf-Token", "X-Xsrf-Token", "X-Amz-Security-Token",
    ]

    private static let words = [
        "token", "secret", "password", "passwd", "pwd", "apikey", "api_key", "api-key", "signature", "credential",
        "session", "auth",
    ]

    /// Whether the values of a field are secret: the fields that carry credentials, and any whose name says so.
    public static func isSecret(_ name: HTTPFieldName) -> Bool {
        fieldNames.contains(name) || saysSecret(name.text)
    }

    /// Whether the value of a parameter is secret, by its name.
    public static func isSecret(parameter name: some StringProtocol) -> Bool {
        saysSecret(name) || name.lowercased() == "code"
    }

    /// A query with the values of its secret parameters replaced.
    public static func query(_ query: String) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let mark = pair.firstIndex(of: "="), isSecret(parameter: pair[..<mark]) else { return String(pair) }
            return pair[...mark] + Redaction.mark
        }.joined(separator: "&")
    }

    private static func saysSecret(_ name: some StringProtocol) -> Bool {
        let lower = name.lowercased()
        return words.contains { lower.contains($0) }
    }
}

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "\(name): \(Redaction.isSecret(name) ? Redaction.mark : value)"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["field": description], displayStyle: .struct) }
}

extension HTTPFields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line a field, the values of secret ones redacted.
    public var description: String { map(\.description).joined(separator: "\n") }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection) }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL with the values of secret query parameters redacted; ``absoluteString`` is the whole of it.
    public var description: String {
        guard let query else { return origin.text + path }
        return "\(origin.text)\(path)?\(Redaction.query(query))"
    }

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
        Mirror(self, children: ["status": status, "fields": fields, "bytes": body.count], displayStyle: .struct)
    }
}
