/// All that can be set for a call, with every default filled in: what stages, interceptors, signers and sealers go by.
///
/// This is the one list of options. A stored property here is an option of the client, of a service, of an endpoint and of
/// one call, since ``CallOptions`` has each property of this type, to be set. Its value at declaration is the default; its
/// type decides how levels meet: a narrower level replaces the value, unless the type is a ``LayeredOption``.
///
/// ```swift
/// // Here, one line with its comment:
/// public var retry = RetryPolicy.standard
///
/// // Beside the stage that reads it, where it shall begin a chain of options and go on with one; an option that shall not
/// // needs nothing here:
/// extension CallOptions {
///     public var retry: RetryPolicy? {
///         get { self[dynamicMember: \.retry] }
///         set { self[dynamicMember: \.retry] = newValue }
///     }
///     public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }
///     public func retry(_ policy: RetryPolicy) -> CallOptions { with { $0.retry = policy } }
/// }
///
/// // In the stage, a stored field:
/// let policy = call.settings.retry
/// ```
public struct CallSettings: Sendable {
    /// Where the call goes in place of the service's base URL.
    var baseURL: BaseURL?
    /// The URL that the call is sent to, in place of one that is made of the endpoint's route.
    var link: Link?
    /// The environment in place of the client's.
    var environment: ServerEnvironment?
    /// The edits of all levels, the widest first.
    var headers = HeaderEdits()
    /// The parameters of the call over those in the options of its endpoint. A service's and a client's are not among them, since the
    /// endpoint's own parameters stand between.
    var parameters = ParameterObject()

    /// Whether a redirect that would make a GET of what was to be written is the answer, so that nobody takes the answer to
    /// the GET for a success of the write. See Other (303) is followed all the same: it says that the write was done.
    var keepsMethod = false

    /// Which of the app's interceptors have no part in the call.
    var skippedInterceptors = SkippedInterceptors()

    /// How long the phases of an exchange and the whole call may take.
    public var timeouts = Timeouts()
    /// How much of a response is accepted.
    public var limits = ResponseLimits()
    /// Whom TLS trusts; the system's authorities unless set.
    public var trust = TrustPolicy.system
    /// The way by which connections are made; without a proxy unless set.
    public var proxy = ProxyPolicy.none
    /// Where the names of hosts lead; wherever the system says unless set.
    public var resolver = HostResolver.system
    /// Which redirects are followed; all that lead somewhere, 20 at most, unless set.
    public var redirects = RedirectPolicy.follow
    /// Which hosts may be spoken to over plain `http`; none unless set.
    public var cleartext = CleartextPolicy.refused
    /// Which statuses mean success; 200 to 299 unless set.
    public var status = StatusRule.success
    /// How parameters become a query or a form.
    public var formFormat = FormFormat()
    /// How parameters become JSON.
    public var jsonFormat = JSONFormat()
    /// How JSON becomes models.
    public var modelFormat = DecodingOptions()
    /// When a stored response is the answer, and whether one is stored; ``CachePolicy/networkElseCache`` unless set.
    public var cache = CachePolicy.networkElseCache
    /// Marks for the responses that are stored, besides ``Endpoint/cacheTags``; they are found by them again to be cleared.
    public var cacheTags: [String] = []
    /// Which attempts are repeated, how often, and after what wait; ``RetryPolicy/standard`` unless set.
    public var retry = RetryPolicy.standard
    /// Whether the call may be sent twice, beyond what its method says; as the method says unless set.
    public var idempotency = Idempotency.byMethod
    /// How urgent the call is among those that wait to be sent; ``CallPriority/normal`` unless set.
    public var priority = CallPriority.normal
    /// Names of groups that the call belongs to, by which it is paused: ``APIClient/pause(_:)``.
    public var tags: [String] = []
    /// What becomes of the call while another one of its kind is under way; nothing unless set.
    public var inFlight = InFlightPolicy.independent
    /// Whether the call is made with the credential of its service; with it, where there is one, unless set.
    public var authentication = AuthenticationChoice.automatic
    /// Whether the payload is sealed; by the sealer of its service, where that has one, unless set.
    public var sealing = SealingChoice.automatic
    /// Whether a call that finds no way to its server waits until there is one; it does not unless set.
    public var waitsForConnectivity = ConnectivityWait.no
    /// Whether the content of the request is compressed, and how; it is not unless set.
    public var requestCompression: RequestCompression?

    init() {}

    init(_ options: CallOptions) {
        options.apply(to: &self)
    }

    /// Whether a call with these settings may wait for the exchange of a call with others, where both ask for the same.
    ///
    /// Each setting of what happens to an exchange is compared, by whichever stage: a call must not get what an interceptor
    /// made that it leaves out, nor wait while the other one's group is paused. Not compared are what the request says and
    /// the isolation key has, what becomes of a response afterwards, and the priority, which is the highest of all who wait.
    func mayShareExchange(with other: CallSettings) -> Bool {
        timeouts == other.timeouts && limits == other.limits && redirects == other.redirects
            && keepsMethod == other.keepsMethod && cleartext == other.cleartext && retry == other.retry
            && idempotency == other.idempotency && tags == other.tags && authentication == other.authentication
            && sealing == other.sealing
            && waitsForConnectivity == other.waitsForConnectivity && skippedInterceptors == other.skippedInterceptors
    }
}

/// The base URL of one call, as it was written.
struct BaseURL: Sendable {
    let text: String
}

/// The options of every level in one, with every default filled in. What no call changes is worked out once for its
/// service and shared.
final class ResolvedOptions: Sendable {
    let settings: CallSettings

    /// The same for a call that has as much time as it takes.
    var withoutTotalTimeout: ResolvedOptions {
        var settings = settings
        settings.timeouts.total = nil
        return ResolvedOptions(settings)
    }

    init(_ settings: CallSettings) {
        self.settings = settings
    }
}
