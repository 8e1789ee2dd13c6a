import Foundation
import PenstockCore
import PenstockCurl

/// A client as an app makes it, with everything that a call passes by default.
enum PenstockContender {
    static func bytes(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        let document = target.document
        return switch document {
        case .item: runner(target, inFlight, GetBytes()) { document.isRight($0.count) }
        case .mebibyte: runner(target, inFlight, GetMebibyte()) { document.isRight($0.count) }
        case .wait: runner(target, inFlight, Wait()) { document.isRight($0.count) }
        case .gibibyte, .fresh: nil
        }
    }

    static func model(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        runner(target, inFlight, GetItem()) { $0.id == 1 }
    }

    private static func runner<E: Endpoint>(
        _ target: Target, _ inFlight: Int, _ endpoint: E, _ isRight: @escaping @Sendable (E.Output) -> Bool
    ) -> Contender.Runner {
        let client = client(target)
        return { calls in
            await Contender.crowd(calls, inFlight) { _ in
                guard let output = try? await client.send(endpoint) else { return false }
                return isRight(output)
            }
        }
    }

    static func client(_ target: Target, policy: CachePolicy = .networkElseCache) -> APIClient {
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: target.server], envelope: .retcode)
        ])
        configuration.environment = .production
        configuration.options.cleartext = .loopback
        configuration.options.trust = target.authorities.map { .authorities(URL(fileURLWithPath: $0)) }
        configuration.options.cache = policy
        // Ten thousand calls that wait for one server must all be on their way.
        return APIClient(configuration, transport: CurlTransport(configuration: .init(maxConnectionsPerHost: .max)))
    }
}

/// The bytes as they came.
struct GetBytes: Endpoint {
    typealias Output = Data
    var route: Route { .get("/item") }
    var envelope: EnvelopeChoice { .none }
}

struct GetMebibyte: Endpoint {
    typealias Output = Data
    var route: Route { .get("/mebibyte") }
    var envelope: EnvelopeChoice { .none }
}

struct GetFresh: Endpoint {
    typealias Output = Data
    var route: Route { .get("/fresh") }
    var envelope: EnvelopeChoice { .none }
}

struct Wait: Endpoint {
    typealias Output = Data
    var route: Route { .get("/wait") }
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
