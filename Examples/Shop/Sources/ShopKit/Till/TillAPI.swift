import Penstock

/// Paying. What goes both ways is sealed, and the one option that says so is all there is to it.
public struct TillAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// Pays an amount in cents.
    public func pay(_ cents: Int, by card: String) async throws(APIError) -> Payment {
        try await client.send(Pay(cents: cents, card: card))
    }
}

/// What was paid.
public struct Payment: Decodable, Hashable, Sendable {
    public let id: Int
    public let cents: Int
    /// The last digits of the card.
    public let card: String
}

struct Pay: Endpoint, Encodable {
    typealias Output = Payment
    let cents: Int
    let card: String
    var service: ServiceID { .till }
    var route: Route { .post("/payments") }
    var options: CallOptions { .sealed }

    static let parameterRules: ParameterRules<Self> = [.range("cents", \.cents, 1...1_000_000)]
}
