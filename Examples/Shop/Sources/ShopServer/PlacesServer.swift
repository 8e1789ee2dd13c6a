import PenstockCore
import PenstockTesting

/// Another company's server, which knows where stores are. It uses no envelope.
public final class PlacesServer: Sendable {
    /// The sockets, and the server's own count of what came by them.
    public let wire: LoopbackServer

    public init() throws {
        wire = try LoopbackServer { request in
            guard request.path == "/stores" else { return .init(status: 404) }
            return request.fields["If-None-Match"] == Self.edition ? Self.unchanged : Self.list
        }
    }

    public var url: String { wire.url.absoluteString }

    private static let edition = #""stores-1""#

    /// Good for an hour, and easily checked after that.
    private static let fields: HTTPFields = ["Cache-Control": "max-age=3600", "ETag": edition]

    private static var list: LoopbackServer.Response {
        var list = LoopbackServer.Response.json(stores)
        list.fields.merge(fields)
        return list
    }

    private static var unchanged: LoopbackServer.Response { .init(status: 304, fields: fields) }

    private static let stores = """
        {"stores": [
            {"name": "Quay", "street": "Kade 3", "city": "Rotterdam", "position": {"lat": 51.907, "lon": 4.488}},
            {"name": "Market", "street": "Dam 12", "city": "Amsterdam", "position": {"lat": 52.373, "lon": 4.893}},
            {"name": "Old Town", "street": "Vismarkt 1", "city": "Groningen", "position": {"lat": 53.216, "lon": 6.566}}
        ]}
        """
}
