import Foundation
import PenstockCore
import PenstockCurl

/// A client as an app makes it, with everything that a call passes by default.
enum PenstockContender {
    static func runner<E: Endpoint>(
        _ url: String, _ inFlight: Int, _ endpoint: E, _ isRight: @escaping @Sendable (E.Output) -> Bool
    ) -> Contender.Runner {
        let client = client(url)
        return { calls in
            await Contender.crowd(calls, inFlight) {
                guard let output = try? await client.send(endpoint) else { return false }
                return isRight(output)
            }
        }
    }

    private static func client(_ url: String) -> APIClient {
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: url], envelope: .retcode)
        ])
        configuration.environment = .production
        configuration.options.cleartext = .loopback
        return APIClient(configuration, transport: CurlTransport())
    }
}

/// The bytes as they came.
struct GetBytes: Endpoint {
    typealias Output = Data
    var route: Route { .get("/item") }
    var envelope: EnvelopeChoice { .none }
}

/// A model out of an envelope.
struct GetItem: Endpoint {
    typealias Output = Item
    var route: Route { .get("/item") }
}

struct Item: Decodable, Sendable {
    let id: Int
    let name: String
}
