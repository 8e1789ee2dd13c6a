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

    /// The stores, and where they came from: the server, or what was kept of an earlier answer.
    public func stores(by policy: CachePolicy) async throws(APIError) -> APIResponse<Payload> {
        try await client.response(for: StoreList(), options: .cache(policy))
    }

    /// What was kept, and then what the server says.
    public func storesTwice() -> CachedResponses<Payload> {
        client.responses(to: StoreList())
    }
}

struct StoreList: Endpoint {
    typealias Output = Payload
    var service: ServiceID { .places }
    var route: Route { .get("/stores") }
}
