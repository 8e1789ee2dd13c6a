import PenstockCore

// What is signed may hold secrets: an `Authorization` field, a session token, a parameter. The members say it to whoever asks for them
// by name; what prints, also by reflection, shows the request as it is redacted everywhere, and of the rest its size.

/// What has steps to a signature, printed.
private func printed(_ kind: String, _ request: HTTPRequest, _ text: String) -> String {
    "\(kind) over \(text.utf8.count) bytes of \(request)"
}

extension AWSSignatureV4.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String {
        "\(printed("AWS Signature V4", request, canonicalRequest)): \(signedFields), \(scope)"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["signedFields": signedFields, "scope": scope, "request": request] as KeyValuePairs<String, Any>)
    }
}

extension SortedParameterSigner.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String { printed("HMAC-SHA256", request, text) }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request] as KeyValuePairs<String, Any>)
    }
}

extension HTTPMessageSigner.Steps: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What was signed, without its secrets.
    public var description: String { "\(printed("HTTP message signature", request, base.text)): \(base.input)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["base": base, "request": request] as KeyValuePairs<String, Any>)
    }
}

extension SignatureBase: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of what is signed, without their values.
    public var description: String { "\(input), \(text.utf8.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["input": input] as KeyValuePairs<String, Any>)
    }
}
