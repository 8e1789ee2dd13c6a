/// The options of one call with every default filled in.
public struct CallSettings: Sendable {
    public var timeouts: Timeouts
    public var limits: ResponseLimits
    public var trust: TrustPolicy
    public var proxy: ProxyPolicy
    public var redirects: RedirectPolicy
    public var cleartext: CleartextPolicy
    public var status: StatusRule
    public var formFormat: FormFormat
    public var jsonFormat: JSONFormat
    public var modelFormat: DecodingOptions
    /// ``CachePolicy/networkElseCache`` unless set.
    public var cache: CachePolicy
    public var cacheTags: [String]

    init(_ options: CallOptions) {
        timeouts = options.timeouts ?? Timeouts()
        limits = options.limits ?? ResponseLimits()
        trust = options.trust ?? .system
        proxy = options.proxy ?? .none
        redirects = options.redirects ?? .follow
        cleartext = options.cleartext ?? .refused
        status = options.status ?? .success
        formFormat = options.formFormat ?? FormFormat()
        jsonFormat = options.jsonFormat ?? JSONFormat()
        modelFormat = options.modelFormat ?? DecodingOptions()
        cache = options.cache ?? .networkElseCache
        cacheTags = options.cacheTags ?? []
    }
}

/// The options of every level in one, as they were set and with every default filled in. What no call changes is worked
/// out once for its service and shared.
final class ResolvedOptions: Sendable {
    let options: CallOptions
    let settings: CallSettings

    init(_ options: CallOptions) {
        self.options = options
        settings = CallSettings(options)
    }
}
