import Penstock

/// Base URLs of the two services, by environment.
public struct ShopAddresses: Sendable {
    public var shop: [ServerEnvironment: String]
    public var places: [ServerEnvironment: String]

    public init(shop: [ServerEnvironment: String], places: [ServerEnvironment: String]) {
        self.shop = shop
        self.places = places
    }
}

extension ServiceID {
    /// Maps and opening hours, by another company.
    static let places: ServiceID = "places"
    /// What is for members, on our own servers, behind a token of its own.
    static let members: ServiceID = "members"
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

    /// Another company's: its replies have no envelope.
    static func places(at addresses: [ServerEnvironment: String]) -> Service {
        Service(.places, BaseURLs(addresses))
    }
}
