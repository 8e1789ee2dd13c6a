import Foundation
import PenstockCore

/// One long transfer through a client, in pieces.
enum TransferContender {
    /// Resident memory in bytes: with nothing to do, and at its highest.
    struct Measurement: Codable {
        let seconds: Double
        let idle: Int
        let peak: Int
    }

    static func download(_ server: String) async throws -> Measurement {
        try await measure(server) { client in
            var length = 0
            for try await piece in try await client.stream(GetGibibyte()) { length += piece.count }
            return Document.gibibyte.isRight(length)
        }
    }

    static func upload(_ server: String, _ file: String) async throws -> Measurement {
        let body = HTTPBody.file(URL(fileURLWithPath: file))
        return try await measure(server) { try await !$0.send(PutGibibyte(file: body)).isEmpty }
    }

    private static func measure(
        _ server: String, _ transfer: (APIClient) async throws -> Bool
    ) async throws -> Measurement {
        let client = PenstockContender.client(Target(server: server, document: .item))
        _ = try await client.send(GetBytes())
        let (idle, begin) = (try Memory.resident(), ContinuousClock.now)
        guard try await transfer(client) else { throw Failure("the transfer is not complete") }
        let seconds = begin.duration(to: .now) / .seconds(1)
        return Measurement(seconds: seconds, idle: idle, peak: try Memory.peak())
    }
}

private struct GetGibibyte: Endpoint {
    typealias Output = Data
    var route: Route { .get("/gibibyte") }
}

private struct PutGibibyte: Endpoint {
    typealias Output = Data
    let file: HTTPBody
    var route: Route { .put("/gibibyte") }
    var body: HTTPBody { file }
    var envelope: EnvelopeChoice { .none }
}
