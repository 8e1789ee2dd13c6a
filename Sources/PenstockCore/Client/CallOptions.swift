/// What may be set for a client, a service, an endpoint or one call: a value, each field of which is left to the next
/// wider level while it is `nil`.
///
/// ```swift
/// try await client.send(Products(), options: .timeout(.seconds(5)))
/// try await client.send(Products(), options: .with { $0.baseURL = "https://mirror.example.com" })
/// ```
public struct CallOptions: Sendable {
    /// Where the call goes in place of the service's base URL; the service's version is still appended.
    public var baseURL: String?
    public var environment: ServerEnvironment?
    /// Applied after the common headers, wider levels first.
    public var headers: HeaderEdits?
    /// Win over the parameters of wider levels. The endpoint's own stand between the options of an
    /// endpoint and those of its service.
    public var parameters: ParameterObject?
    public var timeouts: Timeouts?
    public var limits: ResponseLimits?
    public var trust: TrustPolicy?
    public var redirects: RedirectPolicy?
    public var cleartext: CleartextPolicy?
    /// Which statuses mean success.
    public var status: StatusRule?
    /// How parameters become a query or a form.
    public var formFormat: FormFormat?
    /// How parameters become JSON.
    public var jsonFormat: JSONFormat?
    /// How JSON becomes models.
    public var modelFormat: DecodingOptions?

    public init() {}

    /// Options made in one expression.
    public static func with(_ change: (inout CallOptions) -> Void) -> CallOptions {
        var options = CallOptions()
        change(&options)
        return options
    }

    /// The whole call may take this long.
    public static func timeout(_ total: Duration) -> CallOptions {
        with { $0.timeouts = Timeouts(total: total) }
    }

    public static func headers(_ edits: HeaderEdits) -> CallOptions {
        with { $0.headers = edits }
    }

    /// These options where they are set, `wider` where they are not. Headers are applied one level after the other.
    public func over(_ wider: CallOptions) -> CallOptions {
        var merged = wider
        merged.baseURL = baseURL ?? wider.baseURL
        merged.environment = environment ?? wider.environment
        merged.headers = headers.map { wider.headers?.followed(by: $0) ?? $0 } ?? wider.headers
        merged.parameters = parameters ?? wider.parameters
        merged.timeouts = timeouts ?? wider.timeouts
        merged.limits = limits ?? wider.limits
        merged.trust = trust ?? wider.trust
        merged.redirects = redirects ?? wider.redirects
        merged.cleartext = cleartext ?? wider.cleartext
        merged.status = status ?? wider.status
        merged.formFormat = formFormat ?? wider.formFormat
        merged.jsonFormat = jsonFormat ?? wider.jsonFormat
        merged.modelFormat = modelFormat ?? wider.modelFormat
        return merged
    }
}
