import Penstock

/// Talking with the shop, over a WebSocket.
public struct ChatAPI: Sendable {
    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// A conversation, which begins with the first message and lasts until it is closed.
    public func conversation() -> WebSocket {
        client.webSocket(Chat())
    }
}

struct Chat: Endpoint {
    typealias Output = Payload
    var route: Route { .get("/chat") }
}
