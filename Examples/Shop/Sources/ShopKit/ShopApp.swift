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
    public let vouchers: VoucherAPI
    public let till: TillAPI
    public let media: MediaAPI
    public let bank: BankAPI
    public let chat: ChatAPI

    /// - Parameters:
    ///   - events: told of everything that happens to a call; `nil` is silent.
    ///   - time: what deadlines are measured by.
    ///   - writes: keeps what is not delivered yet. This shop takes the login as a parameter, which is kept with the order: an
    ///     app of your own sends its credentials in a header, or gives its outbox a cipher.
    ///   - vault: keeps the login, and the members' token, while the app is not running.
    ///   - keys: what the app proves itself by. Without them the shop gives it no vouchers, and it pays nowhere.
    public init(
        at servers: ShopAddresses, transport: any Transport = PlatformTransport.make(), events: (any EventSink)? = nil,
        time: TimeSource = .system, writes: any OutboxStore = PlatformOutbox.shared,
        vault: any CredentialVault = PlatformVault.shared, keys: ShopKeys? = nil
    ) {
        let session = Session(vault: vault)
        var configuration = APIClient.Configuration(services: [
            .shop(at: servers.shop, session: session), .places(at: servers.places), .members(at: servers.shop),
            .vouchers(at: servers.shop, keys: keys), .till(at: servers.shop, keys: keys), .media(at: servers.media),
            .bank(at: servers.bank, keys: keys),
        ])
        configuration.environment = .development
        configuration.allowsEnvironmentSwitch = true
        configuration.identity = { session.user?.id ?? "" }
        configuration.errorMapper = .shop
        configuration.sinks = events.map { [$0] } ?? []
        configuration.time = time
        configuration.vault = vault
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
        vouchers = VoucherAPI(client: client)
        till = TillAPI(client: client)
        media = MediaAPI(client: client)
        bank = BankAPI(client: client)
        chat = ChatAPI(client: client)
    }

    /// Goes on where the user has left the app: whoever was logged in still is.
    ///
    /// - Returns: who that is; `nil` for nobody.
    @discardableResult
    public func resume() async throws(VaultError) -> User? {
        try await session.restore(in: client.environment)
        return session.user
    }

    /// Sends nothing more, and closes every connection. What is not delivered yet stays where it is kept.
    public func end() async {
        await outbox.close()
        await client.transport.shutdown()
    }

    /// Sends the calls that begin from now on to another environment, where the login of this one means nothing.
    public func switchEnvironment(to environment: ServerEnvironment) throws(APIError) {
        try client.switchEnvironment(to: environment)
        session.forget()
    }
}
