import Foundation
import Penstock
import PenstockCurl
import PenstockURLSession
import Testing

/// A transport that the end-to-end tests run on.
enum Wire: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case libcurl
    case urlSession

    var testDescription: String { rawValue }

    func make() -> any Transport {
        switch self {
        case .libcurl: CurlTransport()
        case .urlSession: URLSessionTransport()
        }
    }

    var capabilities: TransportCapabilities { make().capabilities }

    /// Gives `body` a client for one server, as an app would make it, and checks that it leaves nothing behind.
    func client(
        for base: String, with change: (inout APIClient.Configuration) -> Void = { _ in },
        _ body: (APIClient) async throws -> Void
    ) async throws {
        var configuration = APIClient.Configuration(services: [Service(.main, [.test: base])])
        configuration.environment = .test
        configuration.options.cleartext = .loopback
        change(&configuration)
        let client = APIClient(configuration, transport: make())
        do {
            try await body(client)
        } catch {
            await client.transport.shutdown()
            throw error
        }
        #expect(client.callCount == 0)
        await client.transport.shutdown()
    }
}

extension APIClient {
    /// The error that a call ends with; a call that succeeds is an issue of the test.
    func failure<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .init(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> APIError {
        let error = await #expect(throws: APIError.self, sourceLocation: sourceLocation) {
            _ = try await self.send(endpoint, options: options)
        }
        return try #require(error, sourceLocation: sourceLocation)
    }
}

extension APIError {
    /// The name of the kind, without what it holds.
    var kindName: String { String("\(kind)".prefix { $0.isLetter }) }
}

/// So much content, with every byte value and the number of each KiB at its end. Not made byte by byte, which takes seconds
/// in a debug build, in which nobody else gets on.
func pattern(kibibytes count: Int) -> Data {
    let block = (0..<1_024).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8)) }
    return (0..<count).reduce(into: Data(capacity: count << 10)) { data, number in
        data.append(contentsOf: block.dropLast(4))
        withUnsafeBytes(of: UInt32(number).bigEndian) { data.append(contentsOf: $0) }
    }
}

/// Whether two contents are the same. As one word, since a failed comparison of megabytes would be shown byte by byte.
func areSame(_ one: Data?, _ other: Data) -> Bool {
    one == other
}
