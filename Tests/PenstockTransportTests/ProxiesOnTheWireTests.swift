#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What a proxy and an origin see of a client that changes its way to them.
    @Suite(.timeLimit(.minutes(5)))
    struct ProxiesOnTheWireTests {
        private static let credentials: HTTPFieldName = .proxyAuthorization

        private func basic(_ user: String) -> String {
            "Basic " + Data("\(user):\(user)-word".utf8).base64EncodedString()
        }

        @Test(
            "Credentials of one proxy's user reach no other, and nothing of a proxy that was taken away reaches the origin",
            .covers("H23"), arguments: [true, false])
        func changes(keepsAlive: Bool) async throws {
            let answer: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = { _ in
                keepsAlive ? .text("ok") : .text("ok").ending(.close)
            }
            let (proxy, origin) = (try LoopbackServer(handler: answer), try LoopbackServer(handler: answer))
            defer {
                proxy.stop()
                origin.stop()
            }
            let client = APIClient(
                BaseURLs(origin.url.absoluteString), options: .cleartext(.loopback).cache(.reload),
                transport: CurlTransport())
            let users: [String?] = ["anna", "bert", nil, "bert", "anna"]
            for user in users {
                let known = user.map { ProxyCredentials(user: $0, password: "\($0)-word") }
                for way in [ProxyPolicy.http(proxy.url, credentials: known), .none] {
                    _ = try await client.send(Page(), options: .with { $0.proxy = way })
                }
            }
            await client.transport.shutdown()
            #expect(proxy.requests.map { $0.fields[Self.credentials] } == users.map { $0.map(basic) })
            #expect(proxy.requests.allSatisfy { $0.target == "\(origin.url.origin.text)/page" })
            #expect(origin.requests.count == users.count)
            for request in origin.requests {
                #expect(request.target == "/page")
                #expect(request.fields.allSatisfy { !$0.name.text.lowercased().hasPrefix("proxy-") })
            }
            // No connection has carried two users.
            let carried = Dictionary(grouping: proxy.requests, by: \.connection).values
            #expect(carried.allSatisfy { Set($0.map { $0.fields[Self.credentials] }).count == 1 })
            #expect(carried.count == (keepsAlive ? 3 : 5))
            #expect(origin.connectionCount == (keepsAlive ? 1 : 5))
        }
    }
#endif
