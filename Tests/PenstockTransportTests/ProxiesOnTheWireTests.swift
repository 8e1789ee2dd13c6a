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

        @Test(
            "Channels of two users of a proxy show it their own credentials, and the origin gets the messages alone",
            .covers("H23"))
        func channels() async throws {
            let (heads, received) = (Locked<[String]>([]), Locked(Data()))
            let proxy = try LoopbackServer.serving { wire, _ in
                var head = Data()
                while head.range(of: Data("\r\n\r\n".utf8)) == nil {
                    guard let bytes = wire.receive() else { return }
                    head += bytes
                }
                heads.withLock { $0.append(String(decoding: head, as: UTF8.self)) }
                wire.send(Data("HTTP/1.1 200 OK\r\n\r\n".utf8))
                while let bytes = wire.receive() { wire.send(bytes) }
            }
            let origin = try LoopbackServer.serving { wire, _ in
                while let bytes = wire.receive() {
                    received.withLock { $0 += bytes }
                    wire.send(bytes)
                }
            }
            defer {
                proxy.stop()
                origin.stop()
            }
            let client = APIClient(
                BaseURLs(origin.url.absoluteString), options: .cleartext(.loopback), transport: CurlTransport())
            let users: [String?] = ["anna", "bert", nil]
            let known = users.map { user in user.map { ProxyCredentials(user: $0, password: "\($0)-word") } }
            for way in known.map({ ProxyPolicy.http(proxy.url, credentials: $0) }) + [.none] {
                let channel = client.tcp(
                    "127.0.0.1", port: origin.url.port, codec: LineCodec(), isSecure: false,
                    options: .with { $0.proxy = way })
                try await channel.send("hello")
                var messages = channel.messages.makeAsyncIterator()
                #expect(try await messages.next() == "hello")
                await channel.close()
            }
            await client.transport.shutdown()
            let seen = heads.withLock { $0 }
            #expect(seen.allSatisfy { $0.hasPrefix("CONNECT 127.0.0.1:\(origin.url.port) HTTP/1.1\r\n") })
            let shown = seen.map { head in
                head.components(separatedBy: "\r\n").first { $0.hasPrefix("Proxy-Authorization: ") }
            }
            #expect(shown == users.map { $0.map { "Proxy-Authorization: \(basic($0))" } })
            #expect(received.withLock { $0 } == Data("hello\n".utf8))
        }
    }
#endif
