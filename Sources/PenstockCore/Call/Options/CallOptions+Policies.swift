/// The options whose values are policies, under their names: to set, to begin a chain with, and to go on with.
///
/// One property of ``CallSettings`` declares an option; these are here because an option of its own name reads better than a
/// closure that sets it.
extension CallOptions {
    /// Where the names of hosts lead.
    public var resolver: HostResolver? {
        get { self[dynamicMember: \.resolver] }
        set { self[dynamicMember: \.resolver] = newValue }
    }

    /// Where the names of hosts lead.
    public static func resolver(_ resolver: HostResolver) -> CallOptions { CallOptions().resolver(resolver) }

    /// Where the names of hosts lead.
    public func resolver(_ resolver: HostResolver) -> CallOptions { with { $0.resolver = resolver } }

    /// Which proxy requests go by.
    public var proxy: ProxyPolicy? {
        get { self[dynamicMember: \.proxy] }
        set { self[dynamicMember: \.proxy] = newValue }
    }

    /// Which proxy requests go by.
    public static func proxy(_ policy: ProxyPolicy) -> CallOptions { CallOptions().proxy(policy) }

    /// Which proxy requests go by.
    public func proxy(_ policy: ProxyPolicy) -> CallOptions { with { $0.proxy = policy } }

    /// Whom TLS trusts, and as whom the client shows itself.
    public var trust: TrustPolicy? {
        get { self[dynamicMember: \.trust] }
        set { self[dynamicMember: \.trust] = newValue }
    }

    /// Whom TLS trusts, and as whom the client shows itself.
    public static func trust(_ policy: TrustPolicy) -> CallOptions { CallOptions().trust(policy) }

    /// Whom TLS trusts, and as whom the client shows itself.
    public func trust(_ policy: TrustPolicy) -> CallOptions { with { $0.trust = policy } }

    /// How urgent the call is among those that wait to be sent.
    public var priority: CallPriority? {
        get { self[dynamicMember: \.priority] }
        set { self[dynamicMember: \.priority] = newValue }
    }

    /// How urgent the call is among those that wait to be sent.
    public static func priority(_ priority: CallPriority) -> CallOptions { CallOptions().priority(priority) }

    /// How urgent the call is among those that wait to be sent.
    public func priority(_ priority: CallPriority) -> CallOptions { with { $0.priority = priority } }

    /// Which hosts may be spoken to over plain `http`.
    public var cleartext: CleartextPolicy? {
        get { self[dynamicMember: \.cleartext] }
        set { self[dynamicMember: \.cleartext] = newValue }
    }

    /// Which hosts may be spoken to over plain `http`.
    public static func cleartext(_ policy: CleartextPolicy) -> CallOptions { CallOptions().cleartext(policy) }

    /// Which hosts may be spoken to over plain `http`.
    public func cleartext(_ policy: CleartextPolicy) -> CallOptions { with { $0.cleartext = policy } }

    /// Whether the call may be sent twice, beyond what its method says.
    public var idempotency: Idempotency? {
        get { self[dynamicMember: \.idempotency] }
        set { self[dynamicMember: \.idempotency] = newValue }
    }

    /// Whether the call may be sent twice, beyond what its method says.
    public static func idempotency(_ idempotency: Idempotency) -> CallOptions { CallOptions().idempotency(idempotency) }

    /// Whether the call may be sent twice, beyond what its method says.
    public func idempotency(_ idempotency: Idempotency) -> CallOptions { with { $0.idempotency = idempotency } }

    /// What becomes of the call while another one of its kind is under way.
    public var inFlight: InFlightPolicy? {
        get { self[dynamicMember: \.inFlight] }
        set { self[dynamicMember: \.inFlight] = newValue }
    }

    /// What becomes of the call while another one of its kind is under way.
    public static func inFlight(_ policy: InFlightPolicy) -> CallOptions { CallOptions().inFlight(policy) }

    /// What becomes of the call while another one of its kind is under way.
    public func inFlight(_ policy: InFlightPolicy) -> CallOptions { with { $0.inFlight = policy } }

    /// Which attempts are repeated, how often, and after what wait. It is replaced whole: what is not set here has its default,
    /// whatever the wider levels say.
    ///
    /// It is never `nil` to who reads it, but ``RetryPolicy/standard`` where it is not set, so that one field can be set:
    /// `$0.retry.limit = 4`. `nil` leaves it to the wider levels again.
    public var retry: RetryPolicy! {
        get { self[dynamicMember: \.retry] ?? .standard }
        set { self[dynamicMember: \.retry] = newValue }
    }

    /// Which attempts are repeated, how often, and after what wait.
    public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }

    /// Which attempts are repeated, how often, and after what wait.
    public func retry(_ policy: RetryPolicy) -> CallOptions { with { $0.retry = policy } }

    /// Whether and how the content of requests is compressed.
    public var requestCompression: RequestCompression? {
        get { self[dynamicMember: \.requestCompression].flatMap(\.self) }
        set { self[dynamicMember: \.requestCompression] = newValue.map(Optional.some) }
    }

    /// Whether and how the content of requests is compressed.
    public static func requestCompression(_ compression: RequestCompression) -> CallOptions {
        CallOptions().requestCompression(compression)
    }

    /// Whether and how the content of requests is compressed.
    public func requestCompression(_ compression: RequestCompression) -> CallOptions {
        with { $0.requestCompression = compression }
    }

    /// Whether the call is made with the credential of its service.
    public var authentication: AuthenticationChoice? {
        get { self[dynamicMember: \.authentication] }
        set { self[dynamicMember: \.authentication] = newValue }
    }

    /// The call goes without the credential of its service, and a refusal renews nothing: for a login.
    public static var anonymous: CallOptions { .with { $0.authentication = .anonymous } }

    /// Whether a call that finds no way to its server waits until there is one. It takes a client whose
    /// ``ClientConfiguration/reachability`` is set, as to `Reachability.system`; of another one the call fails as
    /// ``APIError/Kind/invalidConfiguration(reason:)``. The call is sent first in any case.
    public var waitsForConnectivity: ConnectivityWait? {
        get { self[dynamicMember: \.waitsForConnectivity] }
        set { self[dynamicMember: \.waitsForConnectivity] = newValue }
    }

    /// Whether a call that finds no way to its server waits until there is one.
    public static func waitsForConnectivity(_ wait: ConnectivityWait) -> CallOptions {
        CallOptions().waitsForConnectivity(wait)
    }

    /// These options with another wait for connectivity.
    public func waitsForConnectivity(_ wait: ConnectivityWait) -> CallOptions {
        with { $0.waitsForConnectivity = wait }
    }

    /// Whether the payload of the call is sealed.
    public var sealing: SealingChoice? {
        get { self[dynamicMember: \.sealing] }
        set { self[dynamicMember: \.sealing] = newValue }
    }

    /// The payload is sealed by the sealer of the service, and the reply opened. Without a sealer nothing is sent.
    public static var sealed: CallOptions { .with { $0.sealing = .sealed } }

    /// The payload is not sealed, although the service has a sealer, and the reply is taken as it is.
    public static var plain: CallOptions { .with { $0.sealing = .plain } }

    /// What of these options decides whom a request is sent to, and by which way: for what is sent on a service's behalf without being
    /// one of its calls.
    var connection: CallOptions {
        .with { connection in
            connection.trust = trust
            connection.proxy = proxy
            connection.resolver = resolver
            connection.cleartext = cleartext
        }
    }
}
