import Penstock

/// The bank that backs the gift cards. A server with another key than the bank's is sent nothing.
public struct BankAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// What is left on a gift card, in cents.
    public func balance(ofCard card: Int) async throws(APIError) -> Int {
        try await client.send(GetBalance(card: card))
    }
}

struct GetBalance: Endpoint {
    typealias Output = Int
    let card: Int
    var service: ServiceID { .bank }
    var route: Route { .get("/cards/\(card)") }
    var options: CallOptions { .cache(.reload) }
    var decoding: ResponseDecoding<Int> { .json }
}
