import Foundation
import PenstockCore
import PenstockCurl
import PenstockTesting
import Testing

/// Interim responses, which a call that wants them hears of.
@Suite(.timeLimit(.minutes(5)))
struct InterimResponseTests {
    @Test func `each interim response is told with its fields, in order, and is none of the answer`() async throws {
        let server = try LoopbackServer { _ in
            .text("answer").preceded(by: [
                .init(103, fields: ["Link": "</a>"]),
                .init(104, fields: [.location: "/uploads/1", "Upload-Limit": "max-age=1"]),
                .init(104, fields: ["Upload-Offset": "7"]),
            ])
        }
        defer { server.stop() }
        let told = Locked<[(HTTPResponse, HTTPURL)]>([])
        let control = ExchangeControl(onInterim: { response, url in told.withLock { $0.append((response, url)) } })
        let transport = CurlTransport()
        let url = try server.url.resolving("/files")
        let response = try await transport.perform(
            TransportRequest(HTTPRequest(method: .post, url: url), control: control)
        ).response
        #expect(response.body == Data("answer".utf8))
        #expect(response.fields["Link"] == nil && response.fields["Upload-Offset"] == nil)
        let seen = told.withLock { $0 }
        #expect(seen.map(\.0.status) == [103, 104, 104])
        #expect(seen.map { $0.0.fields["Upload-Offset"] } == [nil, nil, "7"])
        #expect(seen.map { $0.0.fields[.location] } == [nil, "/uploads/1", nil])
        #expect(seen.allSatisfy { $0.1 == url && $0.0.body.isEmpty })
        await transport.shutdown()
    }
}
