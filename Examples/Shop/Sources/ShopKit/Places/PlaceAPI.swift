import Penstock

/// Where the shop has stores. The service is another company's.
public struct PlaceAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// The stores as they came. ``StoreRows`` and ``StorePins`` make of them what a view needs.
    public func stores() async throws(APIError) -> Payload {
        try await client.send(StoreList())
    }
}

struct StoreList: Endpoint {
    typealias Output = Payload
    var service: ServiceID { .places }
    var route: Route { .get("/stores") }
}
