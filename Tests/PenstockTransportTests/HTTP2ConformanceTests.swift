import PenstockTestSupport
import PenstockTesting
import Testing

/// The rules of HTTP/2 and of TLS on every transport that they apply to.
@Suite(.timeLimit(.minutes(5)), .covers("S1.1", "X1"))
struct HTTP2ConformanceTests {
    typealias Case = ConformanceTests.Case

    @Test(arguments: Case.all(TransportConformance.http2Requests))
    func `A request over HTTP/2 is as HTTP/2 wants it`(example: Case) async throws { try await example.run() }

    @Test(.covers("H8"), arguments: Case.all(TransportConformance.http2Responses))
    func `A response of HTTP/2 is handed up as it came`(example: Case) async throws { try await example.run() }

    @Test(.covers("H3", "H5"), arguments: Case.all(TransportConformance.http2Malformed))
    func `A malformed response of HTTP/2 fails, and its connection goes on`(example: Case) async throws {
        try await example.run()
    }

    @Test(arguments: Case.all(TransportConformance.http2Broken))
    func `A broken connection of HTTP/2 is not used again`(example: Case) async throws { try await example.run() }

    @Test(.covers("H7"), arguments: Case.all(TransportConformance.http2Limits))
    func `Too much of anything ends at a limit over HTTP/2`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.http2Settings))
    func `What the server says about its connection is kept to`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.http2Streams))
    func `Streams share a connection, and nothing else`(example: Case) async throws { try await example.run() }

    @Test(.covers("H5", "H14"), arguments: Case.all(TransportConformance.http2Ends))
    func `A stream that the server ends tells how far it got`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.http2Faults))
    func `Whatever goes wrong over HTTP/2 has its send state`(example: Case) async throws { try await example.run() }

    @Test(arguments: Case.all(TransportConformance.mixedVersions))
    func `Every response belongs to its request, whatever its connection speaks`(example: Case) async throws {
        try await example.run()
    }

    @Test(.covers("H13", "H18"), arguments: Case.all(TransportConformance.secureHandshakes))
    func `A handshake that fails sends nothing`(example: Case) async throws { try await example.run() }

    @Test(.covers("H5"), arguments: Case.all(TransportConformance.secureContent))
    func `Content that is cut off over TLS is not taken for whole`(example: Case) async throws {
        try await example.run()
    }

    @Test(arguments: Case.all(TransportConformance.secureConnections))
    func `Connections of TLS are used again, and kept apart`(example: Case) async throws { try await example.run() }

    @Test(.covers("H19", "H20", "S4.23"), arguments: Case.all(TransportConformance.securePolicies))
    func `What a trust policy asks for is kept, or refused before anything is sent`(example: Case) async throws {
        try await example.run()
    }

    @Test(arguments: Case.all(TransportConformance.secureFaults))
    func `Whatever goes wrong over TLS has its send state`(example: Case) async throws { try await example.run() }
}
