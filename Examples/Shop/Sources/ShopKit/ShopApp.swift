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
    /// Sends since the app was put together.
    public let outbox: Outbox
    public let users: UserAPI
    public let members: MemberAPI
    public let products: ProductAPI
    public let orders: OrderAPI
    public let places: PlaceAPI
    public let events: EventAPI

    /// - Parameters:
    ///   - events: told of everything that happens to a call; `nil` is silent.
    ///   - time: what deadlines are measured by.
    ///   - writes: keeps what is not delivered yet. This shop takes the login as a parameter, which is kept with the order: an
    ///     app of your own sends its credentials in a header, or gives its outbox a cipher.
    public init(
        at servers: ShopAddresses, transport: any Transport = PlatformTransport.make(), events: (any EventSink)? = nil,
        time: TimeSource = .system, writes: any OutboxStore = PlatformOutbox.shared
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
        outbox = Outbox(client, store: writes, .init(endpoints: [PlaceOrder.self, SetLike.self]))
        outbox.start()
        users = UserAPI(client: client, session: session)
        members = MemberAPI(client: client)
        products = ProductAPI(client: client, outbox: outbox)
        orders = OrderAPI(client: client, outbox: outbox)
        places = PlaceAPI(client: client)
        self.events = EventAPI(client: client)
    }

    /// Sends the calls that begin from now on to another environment, where the login of this one means nothing.
    public func switchEnvironment(to environment: ServerEnvironment) throws(APIError) {
        try client.switchEnvironment(to: environment)
        session.end()
    }
}
