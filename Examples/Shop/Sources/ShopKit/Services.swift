import Penstock

/// Base URLs of the services, by environment.
public struct ShopAddresses: Sendable {
    public var shop: [ServerEnvironment: String]
    public var places: [ServerEnvironment: String]
    public var media: [ServerEnvironment: String]
    public var bank: [ServerEnvironment: String]

    public init(
        shop: [ServerEnvironment: String], places: [ServerEnvironment: String],
        media: [ServerEnvironment: String] = [:], bank: [ServerEnvironment: String] = [:]
    ) {
        self.shop = shop
        self.places = places
        self.media = media
        self.bank = bank
    }
}

/// What the app proves itself by, what it seals with, and what it knows its bank by. An app of your own brings along the public
/// ones, gets the others from its servers, and keeps them in a vault.
public struct ShopKeys: Sendable {
    /// Between the shop and its app: signs the calls for vouchers.
    public var vouchers: SharedSecret
    /// Seals for the till, and opens what it answers.
    public var till: JWESealer
    /// Which keys may speak for the bank.
    public var bank: TrustPolicy

    public init(vouchers: SharedSecret, till: JWESealer, bank: TrustPolicy = .system) {
        self.vouchers = vouchers
        self.till = till
        self.bank = bank
    }
}

extension ServiceID {
    /// Maps and opening hours, by another company.
    static let places: ServiceID = "places"
    /// What is for members, on our own servers, behind a token of its own.
    static let members: ServiceID = "members"
    /// What is for this app alone, on our own servers.
    static let vouchers: ServiceID = "vouchers"
    /// Where users pay, on our own servers.
    static let till: ServiceID = "till"
    /// Pictures and films.
    static let media: ServiceID = "media"
    /// Another company's, which is not to be mistaken for anybody.
    static let bank: ServiceID = "bank"
}

extension Service {
    /// Our own servers. They, and no others, are told who is logged in.
    static func shop(at addresses: [ServerEnvironment: String], session: Session) -> Service {
        Service(
            .main, BaseURLs(addresses), envelope: .retcode, headers: ["X-App": "Shop"],
            parameters: CommonParameters { session.parameters })
    }

    /// Our own servers again: the token is renewed when it has expired.
    static func members(at addresses: [ServerEnvironment: String]) -> Service {
        let authenticator = OAuth2Authenticator(
            tokenURL: { "\(addresses[$0] ?? "")/token" }, clientID: "shop-app")
        return Service(.members, BaseURLs(addresses), envelope: .retcode, authenticator: authenticator)
    }

    /// Our own servers once more: each request proves that it comes from this app.
    static func vouchers(at addresses: [ServerEnvironment: String], keys: ShopKeys?) -> Service {
        let signer = keys.map { SortedParameterSigner(appKey: "shop-app", secret: $0.vouchers) }
        return Service(.vouchers, BaseURLs(addresses), envelope: .retcode, signer: signer)
    }

    /// Our own servers as well: nobody on the way reads what users pay with, nor what the till answers.
    static func till(at addresses: [ServerEnvironment: String], keys: ShopKeys?) -> Service {
        Service(.till, BaseURLs(addresses), envelope: .retcode, sealer: keys?.till)
    }

    /// Another company's: its replies have no envelope.
    static func places(at addresses: [ServerEnvironment: String]) -> Service {
        Service(.places, BaseURLs(addresses))
    }

    /// Files, without an envelope.
    static func media(at addresses: [ServerEnvironment: String]) -> Service {
        Service(.media, BaseURLs(addresses))
    }

    /// The bank, by its own key and no other, whatever authority has signed that.
    static func bank(at addresses: [ServerEnvironment: String], keys: ShopKeys?) -> Service {
        Service(.bank, BaseURLs(addresses), options: .trust(keys?.bank ?? .system))
    }
}
