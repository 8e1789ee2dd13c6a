import Penstock

/// What a list shows of a store.
public struct StoreRow: Hashable, Sendable {
    public let title: String
    public let subtitle: String
}

/// What a map shows of a store.
public struct StorePin: Hashable, Sendable {
    public let label: String
    public let latitude: Double
    public let longitude: Double
}

/// The stores for a list, by name.
public struct StoreRows: Reformer {
    public init() {}

    public func reform(_ payload: Payload) async throws -> [StoreRow] {
        try payload.value([Store].self, at: "stores")
            .map { StoreRow(title: $0.name, subtitle: "\($0.street), \($0.city)") }
            .sorted { $0.title < $1.title }
    }
}

/// The stores for a map, from north to south.
public struct StorePins: Reformer {
    public init() {}

    public func reform(_ payload: Payload) async throws -> [StorePin] {
        try payload.value([Store].self, at: "stores")
            .map { StorePin(label: $0.name, latitude: $0.position.lat, longitude: $0.position.lon) }
            .sorted { $0.latitude > $1.latitude }
    }
}

/// A store as the service describes it.
private struct Store: Decodable {
    struct Position: Decodable {
        let lat: Double
        let lon: Double
    }

    let name: String
    let street: String
    let city: String
    let position: Position
}
