/// The options of one call with every default filled in.
public struct CallSettings: Sendable {
    public var timeouts: Timeouts
    public var limits: ResponseLimits
    public var trust: TrustPolicy
    public var redirects: RedirectPolicy
    public var cleartext: CleartextPolicy
    public var status: StatusRule
    public var formFormat: FormFormat
    public var jsonFormat: JSONFormat
    public var modelFormat: DecodingOptions

    init(_ options: CallOptions) {
        timeouts = options.timeouts ?? Timeouts()
        limits = options.limits ?? ResponseLimits()
        trust = options.trust ?? .system
        redirects = options.redirects ?? .follow
        cleartext = options.cleartext ?? .refused
        status = options.status ?? .success
        formFormat = options.formFormat ?? FormFormat()
        jsonFormat = options.jsonFormat ?? JSONFormat()
        modelFormat = options.modelFormat ?? DecodingOptions()
    }
}
