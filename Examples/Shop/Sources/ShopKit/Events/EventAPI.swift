import Foundation
import Penstock

/// What the app tells of how it is used: recorded tap by tap, sent many at a time.
public struct EventAPI: Sendable {
    public typealias Log = EventLog<Tap, TapReport>

    private let client: APIClient

    public init(client: APIClient) {
        self.client = client
    }

    /// Opens the log, and sends what an earlier run of the app has left in it.
    public func log(in file: URL) async throws(EventLogError) -> Log {
        try await Log(file: file, client: client) { batch in TapReport(id: batch.id, taps: batch.events) }
    }
}

/// Something was tapped.
public struct Tap: Codable, Hashable, Sendable {
    public let button: String

    public init(_ button: String) {
        self.button = button
    }
}

/// Taps that are told of together.
public struct TapReport: Endpoint, Encodable {
    public typealias Output = Void
    /// The same at each attempt, so that the server counts no tap twice.
    public let id: String
    public let taps: [Tap]
    public var route: Route { .post("/taps") }
}
