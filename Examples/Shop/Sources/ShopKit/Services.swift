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
}

extension Service {
    /// Our own servers. They, and no others, are told who is logged in.
    static func shop(at addresses: [ServerEnvironment: String], session: Session) -> Service {
        Service(
            .main, addresses, envelope: .retcode, headers: ["X-App": "Shop"],
            parameters: CommonParameters { session.parameters })
    }

    /// Another company's: its replies have no envelope.
    static func places(at addresses: [ServerEnvironment: String]) -> Service {
        Service(.places, addresses)
    }
}
