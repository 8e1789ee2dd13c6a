import Foundation
import PenstockCore
import PenstockCurl
import PenstockInspect

/// A client as an app makes it, with everything that a call passes by default.
enum PenstockContender {
    /// - Parameter log: the level of a log that is there; `nil` for a client without one.
    static func bytes(_ target: Target, _ inFlight: Int, log: LogLevel? = nil) -> Contender.Runner? {
        let document = target.document
        return switch document {
        case .item: runner(target, inFlight, GetBytes(), log) { document.isRight($0.count) }
        case .mebibyte: runner(target, inFlight, GetMebibyte(), log) { document.isRight($0.count) }
        case .wait: runner(target, inFlight, Wait(), log) { document.isRight($0.count) }
        case .gibibyte, .fresh: nil
        }
    }

    static func model(_ target: Target, _ inFlight: Int) -> Contender.Runner? {
        runner(target, inFlight, GetItem(), nil) { $0.id == 1 }
    }

    private static func runner<E: Endpoint>(
        _ target: Target, _ inFlight: Int, _ endpoint: E, _ log: LogLevel?,
        _ isRight: @escaping @Sendable (E.Output) -> Bool
    ) -> Contender.Runner {
        let client = client(target, log: log)
        return { calls in
            await Contender.crowd(calls, inFlight) { _ in
                guard let output = try? await client.send(endpoint) else { return false }
                return isRight(output)
            }
        }
    }

    static func client(_ target: Target, policy: CachePolicy = .networkElseCache, log: LogLevel? = nil) -> APIClient {
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: target.server], envelope: .retcode)
        ])
        configuration.environment = .production
        configuration.options.cleartext = .loopback
        configuration.options.trust = target.authorities.map { .authorities(URL(fileURLWithPath: $0)) }
        configuration.options.cache = policy
        if let log { configuration.sinks = [CallLog(level: log, to: DroppedLog())] }
        // Ten thousand calls that wait for one server must all be on their way.
        return APIClient(configuration, transport: CurlTransport(configuration: .init(maxConnectionsPerHost: .max)))
    }
}

/// Takes the lines of a log and keeps none, so that what is measured is their making and not a file or a terminal.
struct DroppedLog: LogDestination {
    func write(_ entry: LogEntry) {}
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
