/// What may be set for a client, a service, an endpoint or one call: a value, each field of which is left to the next
/// wider level while it is `nil`.
///
/// ```swift
/// try await client.send(Products(), options: .timeout(.seconds(5)))
/// try await client.send(Products(), options: .with { $0.baseURL = "https://mirror.example.com" })
/// ```
public struct CallOptions: Sendable {
    private var parts: Boxed<Parts>

    private struct Parts: Sendable {
        var baseURL: String?
        var environment: ServerEnvironment?
        var headers: HeaderEdits?
        var parameters: ParameterObject?
        var timeouts: Timeouts?
        var limits: ResponseLimits?
        var trust: TrustPolicy?
        var proxy: ProxyPolicy?
        var redirects: RedirectPolicy?
        var cleartext: CleartextPolicy?
        var status: StatusRule?
        var formFormat: FormFormat?
        var jsonFormat: JSONFormat?
        var modelFormat: DecodingOptions?
        var cache: CachePolicy?
        var cacheTags: [String]?
    }

    public init() {
        parts = Boxed(Parts())
    }

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

    public static func cache(_ policy: CachePolicy) -> CallOptions {
        with { $0.cache = policy }
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
        merged.proxy = proxy ?? wider.proxy
        merged.redirects = redirects ?? wider.redirects
        merged.cleartext = cleartext ?? wider.cleartext
        merged.status = status ?? wider.status
        merged.formFormat = formFormat ?? wider.formFormat
        merged.jsonFormat = jsonFormat ?? wider.jsonFormat
        merged.modelFormat = modelFormat ?? wider.modelFormat
        merged.cache = cache ?? wider.cache
        merged.cacheTags = cacheTags ?? wider.cacheTags
        return merged
    }

    /// Where the call goes in place of the service's base URL; the service's version is still appended.
    public var baseURL: String? {
        get { parts.baseURL }
        set { parts.baseURL = newValue }
    }

    public var environment: ServerEnvironment? {
        get { parts.environment }
        set { parts.environment = newValue }
    }

    /// Applied after the common headers, wider levels first.
    public var headers: HeaderEdits? {
        get { parts.headers }
        set { parts.headers = newValue }
    }

    /// Win over the parameters of wider levels. The endpoint's own stand between the options of an
    /// endpoint and those of its service.
    public var parameters: ParameterObject? {
        get { parts.parameters }
        set { parts.parameters = newValue }
    }

    public var timeouts: Timeouts? {
        get { parts.timeouts }
        set { parts.timeouts = newValue }
    }

    public var limits: ResponseLimits? {
        get { parts.limits }
        set { parts.limits = newValue }
    }

    public var trust: TrustPolicy? {
        get { parts.trust }
        set { parts.trust = newValue }
    }

    public var proxy: ProxyPolicy? {
        get { parts.proxy }
        set { parts.proxy = newValue }
    }

    public var redirects: RedirectPolicy? {
        get { parts.redirects }
        set { parts.redirects = newValue }
    }

    public var cleartext: CleartextPolicy? {
        get { parts.cleartext }
        set { parts.cleartext = newValue }
    }

    /// Which statuses mean success.
    public var status: StatusRule? {
        get { parts.status }
        set { parts.status = newValue }
    }

    /// How parameters become a query or a form.
    public var formFormat: FormFormat? {
        get { parts.formFormat }
        set { parts.formFormat = newValue }
    }

    /// How parameters become JSON.
    public var jsonFormat: JSONFormat? {
        get { parts.jsonFormat }
        set { parts.jsonFormat = newValue }
    }

    /// How JSON becomes models.
    public var modelFormat: DecodingOptions? {
        get { parts.modelFormat }
        set { parts.modelFormat = newValue }
    }

    /// When a stored response is the answer, and whether one is stored.
    public var cache: CachePolicy? {
        get { parts.cache }
        set { parts.cache = newValue }
    }

    /// Marks for the responses that are stored, besides ``Endpoint/cacheTags``; they are found by them again to be cleared.
    public var cacheTags: [String]? {
        get { parts.cacheTags }
        set { parts.cacheTags = newValue }
    }
}

extension CallOptions: CustomReflectable {
    /// What is set, without secrets.
    public var customMirror: Mirror { Redaction.mirror(of: self, parts: parts) }
}
