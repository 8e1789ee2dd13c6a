import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a client makes of an answer that is not the call's own, and whose content is not what it says.
@Suite(.timeLimit(.minutes(5)), .covers("H11"))
struct DiscardedRepliesTests {
    private static let transports = TransportUnderTest.withWire.filter { $0.capabilities.contains(.skipsContent) }

    /// Why the first answer is not the call's own.
    enum Reason: CaseIterable, Sendable {
        case redirected, repeated, renewed

        var status: Int {
            switch self {
            case .redirected: 302
            case .repeated: 500
            case .renewed: 401
            }
        }
    }

    /// What is no gzip behind its first bytes, so that whoever decodes it fails.
    private static let noGzip = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Array(repeating: 0xFF, count: 5_000))

    private static func reply(_ status: Int, _ request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard request.number == 1 else { return .text("ok") }
        let fields: HTTPFields = [.contentEncoding: "gzip", .location: "/next"]
        return LoopbackServer.Response(status: status, fields: fields, body: noGzip)
    }

    @Test(
        "Content that is thrown away is not decoded: what is wrong with it fails nobody", arguments: transports,
        Reason.allCases)
    func discarded(transport: TransportUnderTest, reason: Reason) async throws {
        let server = try LoopbackServer { Self.reply(reason.status, $0) }
        let service = Service(
            .main, [.development: server.url.absoluteString],
            authenticator: BearerAuthenticator { _, _ in Credential("new") })
        let change: (inout APIClient.Configuration) -> Void = { configuration in
            configuration.services = ServiceRegistry([service])
            configuration.options.retry = RetryPolicy(limit: 1, backoff: .init(base: .zero), statuses: [500])
        }
        try await Shop.run(transport, on: server, configured: change) { server, client in
            try await client.signIn(Credential("old"))
            let response = try await client.start(Page()).response
            #expect(response.value == Data("ok".utf8))
            #expect(response.attempts.map(\.status) == [reason.status, 200])
            #expect(server.requestCount == 2)
        }
    }

    @Test("Content that the call ends with is decoded, and fails it", arguments: transports, [500, 401])
    func kept(transport: TransportUnderTest, status: Int) async throws {
        let server = try LoopbackServer { Self.reply(status, $0) }
        // It has nothing to renew a credential by.
        let service = Service(.main, [.development: server.url.absoluteString], authenticator: BearerAuthenticator())
        try await Shop.run(transport, on: server, configured: { $0.services = ServiceRegistry([service]) }) {
            _, client in
            try await client.signIn(Credential("old"))
            let error = await client.failure(Page(), options: .retry(.none))
            #expect(error?.kind == .transport(.protocolViolation))
        }
    }
}
