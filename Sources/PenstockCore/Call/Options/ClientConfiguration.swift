/// What a client is made of: a value; changing it later changes no client.
public struct ClientConfiguration: Sendable {
    /// The services whose endpoints the client can call. They are set as a list, `[shop, account]`, or changed by
    /// ``ServiceRegistry/register(_:_:)``, for the clients alone that are made of this very configuration.
    public var services: ServiceRegistry
    /// The environment at the start. Production in a release build, development in a debug build, where a service has a
    /// base URL there. In ``APIClient/with(_:)``
    /// it is the one that the client is in at that moment; setting it there gives the derived client one of its own.
    public var environment: ServerEnvironment {
        didSet { setsEnvironment = true }
    }
    /// Whether it was set since the client was made, or since ``beginsDerivation(in:)``.
    private(set) var setsEnvironment = false
    /// Whether the options of the client and of its services have no say in where calls go.
    private(set) var isPinned = false
    /// Whether the environment may be switched while the app runs: by ``APIClient/switchEnvironment(to:)``, for a derived
    /// client, or for one call by ``CallOptions/environment``. In a release build only when set.
    public var allowsEnvironmentSwitch: Bool
    /// The common headers, read anew for every call.
    public var headers: CommonHeaders
    /// The common parameters, read anew for every call.
    public var parameters: CommonParameters
    /// The widest level of options.
    public var options: CallOptions
    /// See one logical call: they may call `next` any number of times, or not at all.
    public var callInterceptors: [any Interceptor]
    /// See what goes to the wire: they call `next` exactly once, or throw.
    public var attemptInterceptors: [any Interceptor]
    /// The user that calls are made for: any text that tells one user from another and stays the same when a token is
    /// renewed, such as a user's number. Connections, cookies and stored responses of two identities are never
    /// shared. Empty, as by default, while nobody is signed in.
    ///
    /// While it is empty the cache goes by the credentials that it sees: what was answered to one set of them
    /// (`Authorization`, `Cookie`, every field in which ``Redaction`` hides something, that is a UUID, or that is named after a
    /// user, an account, a login, a tenant or a device) is found with just that set again. What a stage below the cache adds, such as an attempt interceptor or a signer, cannot
    /// be seen there: what came of such a request is not stored. Setting the identity is better in both cases.
    public var identity: @Sendable () -> String {
        didSet { setsIdentity = true }
    }
    /// Whether it was set since the configuration was made: credentials that are nobody's are one user's otherwise.
    private(set) var setsIdentity = false
    /// Where cookies are kept: by default in memory, until the app ends, apart for each ``identity`` and environment; see
    /// ``MemoryCookieStore``, and ``FileCookieStore`` for those that are to be there when the app is started again. `nil`
    /// keeps none and sends none.
    ///
    /// The store of a client on the platform's own transport knows public suffixes by default, so that cookies go to the
    /// domain that they ask for. Without ``PublicSuffixes`` each goes to its host alone.
    public var cookies: (any CookieStore)? {
        didSet { setsCookies = true }
    }
    /// Whether they were set since the configuration was made.
    package private(set) var setsCookies = false
    /// Where responses are stored. How each call uses them is ``CallOptions/cache``.
    public var cache: CacheChoice
    /// How much may be sent again to each origin, be it a retry, a replay or a hedge.
    public var retryBudget: RetryBudget.Policy
    /// When an origin that fails is left alone; `nil` for never.
    public var circuitBreaker: CircuitBreaker.Policy?
    /// Whether attempts are refused in proportion to how many an origin does not take; `nil`, the default, for never. With
    /// ``circuitBreaker`` it is mostly of no use: the one sends all or nothing, the other a share.
    public var throttle: AdaptiveThrottle.Policy?
    /// How many attempts may be under way, and how fast they may follow one another. No limits by default.
    public var admission: AdmissionPolicy
    /// Where the credentials are kept that services with an ``Authenticator`` use. `nil`, the default, is the platform's own for
    /// a client on the platform's own transport, so that a user who starts the app again is still signed in. For a client
    /// that is given a transport it is a ``MemoryVault`` of that client's.
    public var vault: (any CredentialVault)?
    /// What is known of the network: `Reachability.system`, or one of the app's own. `nil`, as by default, watches nothing.
    ///
    /// It keeps nothing from being sent. Calls that find no way to their server while it says that there is none fail
    /// as ``TransportError/Reachability/offline``, and those that may wait for a way do
    /// (``CallSettings/waitsForConnectivity``).
    public var reachability: Reachability?
    /// What the app makes of errors. Asked where the service's own mapper leaves an error alone. `nil` by default.
    public var errorMapper: ErrorMapper?
    /// The sinks that are told what happens to each call, in this order. None by default.
    public var sinks: [any EventSink]
    /// The clocks for time-outs, ages and dates: the machine's unless a test gives others.
    public var time: TimeSource
    /// The source of randomness for delays that are spread.
    public var random: RandomSource

    /// Whether the first use of each endpoint type is checked for properties that are sent nowhere, and envelopes for codes of
    /// which none can occur, such as the text `"0"` where codes are integers, which fails the
    /// call as ``APIError/Kind/invalidConfiguration(reason:)``. In a debug build unless set.
    public var checksEndpoints: Bool

    /// The configuration of a client with one service, ``ServiceID/main``.
    ///
    /// ```swift
    /// ClientConfiguration("https://api.example.com")
    /// ```
    public init(_ baseURLs: BaseURLs, options: CallOptions = .init(), build: BuildFlavor = .current) {
        self.init(services: [Service(.main, baseURLs)], options: options, build: build)
    }

    /// A configuration with the default of every property.
    ///
    /// - Parameters:
    ///   - services: those that endpoints name. A name that two of them have fails every call that names it.
    ///   - options: the widest level of options.
    ///   - build: decides the first environment, and whether it may be switched. By default it is how the package
    ///     was built. In a debug build the first environment is development, and production where no service has a base
    ///     URL in development.
    public init(services: [Service], options: CallOptions = .init(), build: BuildFlavor = .current) {
        self.init(registry: ServiceRegistry(services), build: build)
        self.options = options
        let has = { environment in services.contains { $0.baseURLs.text(in: environment) != nil } }
        if !has(environment), has(.production) { environment = .production }
    }

    /// A configuration whose services are made when they are first asked for.
    ///
    /// - Parameters:
    ///   - registry: copied. A service is made once for all copies.
    ///   - build: decides the first environment, and whether it may be switched. By default it is how the package
    ///     was built.
    public init(registry: ServiceRegistry, build: BuildFlavor = .current) {
        services = registry
        environment = .initial(for: build)
        allowsEnvironmentSwitch = build == .debug
        checksEndpoints = build == .debug
        headers = [:]
        parameters = .none
        options = CallOptions()
        callInterceptors = []
        attemptInterceptors = []
        identity = { "" }
        cookies = MemoryCookieStore()
        cache = .standard
        retryBudget = .init()
        circuitBreaker = .init()
        throttle = nil
        admission = .init()
        sinks = []
        time = .system
        random = .system
    }

    /// Has the client stay in an environment, whatever its options and those of its services say.
    mutating func pin(to environment: ServerEnvironment) {
        self.environment = environment
        isPinned = true
    }

    /// Has the client speak for one user, whoever the app's is by then.
    mutating func pin(to identity: String) {
        let wasSet = setsIdentity
        self.identity = { identity }
        setsIdentity = wasSet
    }

    /// Has the calls of a service go to one base URL, whatever it reads by then.
    ///
    /// - Parameter base: with the version.
    mutating func pin(_ service: Service, to base: HTTPURL) {
        guard service.baseURLs.isLive else { return }
        services.register(service.id) { service.staying(at: base) }
    }

    /// Prepares the copy that a derived client's changes are made to.
    mutating func beginsDerivation(in environment: ServerEnvironment) {
        self.environment = environment
        setsEnvironment = false
    }
}
