import Penstock

/// The app's way to its servers, put together in one place: a session, a client, and a manager for each module.
///
/// ```swift
/// let shop = ShopApp(at: servers)
/// try await shop.users.login(account: "alice", password: "open sesame")
/// let order = try await shop.orders.placeOrder(of: 2, quantity: 3)
/// ```
public struct ShopApp: Sendable {
    public let session: Session
    public let client: APIClient
    public let users: UserAPI
    public let members: MemberAPI
    public let products: ProductAPI
    public let orders: OrderAPI
    public let places: PlaceAPI
    public let events: EventAPI

    /// - Parameters:
    ///   - events: told of everything that happens to a call; `nil` is silent.
    ///   - time: what deadlines are measured by.
    public init(
        at servers: ShopAddresses, transport: any Transport = PlatformTransport.make(), events: (any EventSink)? = nil,
        time: TimeSource = .system
    ) {
        let session = Session()
        var configuration = APIClient.Configuration(services: [
            .shop(at: servers.shop, session: session), .places(at: servers.places), .members(at: servers.shop),
        ])
        configuration.environment = .development
        configuration.allowsEnvironmentSwitch = true
        configuration.identity = { session.user?.id ?? "" }
        configuration.errorMapper = .shop
        configuration.sinks = events.map { [$0] } ?? []
        configuration.time = time
        configuration.options.timeouts = Timeouts(total: .seconds(10))
        configuration.options.cleartext = .loopback

        self.session = session
        client = APIClient(configuration, transport: transport)
        users = UserAPI(client: client, session: session)
        members = MemberAPI(client: client)
        products = ProductAPI(client: client)
        orders = OrderAPI(client: client)
        places = PlaceAPI(client: client)
        self.events = EventAPI(client: client)
    }

    /// Sends the calls that begin from now on to another environment, where the login of this one means nothing.
    public func switchEnvironment(to environment: ServerEnvironment) throws(APIError) {
        try client.switchEnvironment(to: environment)
        session.end()
    }
}
