#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Proxies that send without a pause before they open a tunnel. Run apart from other tests: it measures time.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct ProxyFloodTests {
        struct Flood: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let head: String
            let block: Data
            let kind: TransportError.Kind

            static let all = [
                Flood("content of 407", "407 No\r\nContent-Length: 9000000000000\r\n\r\n", "0", .proxyAuthentication),
                Flood(
                    "chunks of 407", "407 No\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "400\r\n\(String(repeating: "0", count: 1_024))\r\n", .proxyAuthentication),
                Flood("fields of 407", "407 No\r\n", "X-A: b\r\n", .proxyAuthentication),
                Flood("fields of 200", "200 OK\r\n", "X-A: b\r\n", .proxy),
                Flood("one field of 200", "200 OK\r\nX-A: ", "b", .proxy),
                Flood("content of 503", "503 No\r\nContent-Length: 9000000000000\r\n\r\n", "0", .proxy),
            ]

            private init(_ name: String, _ head: String, _ unit: String, _ kind: TransportError.Reachability) {
                testDescription = name
                self.head = "HTTP/1.1 \(head)"
                block = Data(String(repeating: unit, count: (256 << 10) / unit.utf8.count).utf8)
                self.kind = .unreachable(kind)
            }

            func proxy() throws -> LoopbackServer {
                try LoopbackServer.serving { wire, _ in
                    var request = Data()
                    while request.range(of: Data("\r\n\r\n".utf8)) == nil {
                        guard let bytes = wire.receive() else { return }
                        request += bytes
                    }
                    var goesOn = wire.send(Data(head.utf8))
                    while goesOn { goesOn = wire.send(block) }
                }
            }
        }

        private static let late = Duration.milliseconds(50)

        private func order(_ url: String, through proxy: LoopbackServer? = nil) throws -> TransportRequest {
            TransportRequest(
                HTTPRequest(method: .get, url: try HTTPURL(url)),
                timeouts: Timeouts(connect: .seconds(30), firstByte: nil, idle: nil, total: .seconds(60)),
                isolation: IsolationKey(proxy: proxy.map { .http($0.url) } ?? .none))
        }

        private func failure(_ body: () async throws(TransportError) -> Void) async -> TransportError? {
            do throws(TransportError) { try await body() } catch { return error }
            return nil
        }

        /// Calls a server directly, one call after the other, until the task is cancelled.
        ///
        /// - Returns: how long the slowest took.
        private func slowestCall(_ transport: CurlTransport, to server: LoopbackServer) async throws -> Duration {
            var slowest = Duration.zero
            while !Task.isCancelled {
                let began = ContinuousClock.now
                #expect(try await transport.perform(order(server.url.absoluteString)).response.status == 200)
                slowest = max(slowest, ContinuousClock.now - began)
                try? await Task.sleep(for: .milliseconds(1))
            }
            return slowest
        }

        /// What else the machine does delays a call now and then, but not each time that it is tried.
        @Test(
            "A proxy that answers without end ends its own calls, and no other host waits for it", .covers("H32"),
            arguments: Flood.all)
        func calls(flood: Flood) async throws {
            var slowest: [Duration] = []
            for _ in 1...8 where slowest.allSatisfy({ $0 > Self.late }) {
                let (transport, good) = (CurlTransport(), try LoopbackServer { _ in .text("ok") })
                let proxies = try (0..<3).map { _ in try flood.proxy() }
                _ = try await transport.perform(order(good.url.absoluteString))
                let watch = Task { try await slowestCall(transport, to: good) }
                let orders = try proxies.map { try order("https://shop.example.com/", through: $0) }
                let began = ContinuousClock.now
                let errors = await withTaskGroup(of: TransportError?.self) { group in
                    for order in orders {
                        group.addTask {
                            await failure { () async throws(TransportError) in _ = try await transport.perform(order) }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(ContinuousClock.now - began < .seconds(3))
                watch.cancel()
                slowest.append(try await watch.value)
                #expect(errors.map { $0?.kind } == [flood.kind, flood.kind, flood.kind])
                #expect(errors.allSatisfy { $0?.sendState == .unsent })
                await transport.shutdown()
                for server in proxies + [good] { server.stop() }
            }
            let best = try #require(slowest.min())
            #expect(best <= Self.late, "the slowest calls to the good host took \(slowest)")
        }

        @Test("A proxy that answers without end ends the connection of a channel", arguments: Flood.all)
        func channels(flood: Flood) async throws {
            let (transport, proxy) = (CurlTransport(), try flood.proxy())
            defer { proxy.stop() }
            for url in ["https://shop.example.com/", "http://shop.example.com/"] {
                let order = try order(url, through: proxy)
                let began = ContinuousClock.now
                let error = await failure { () async throws(TransportError) in
                    try await transport.connect(order, speaking: .http1).close()
                }
                #expect(ContinuousClock.now - began < .seconds(3))
                #expect(error?.kind == flood.kind && error?.sendState == .unsent)
            }
            await transport.shutdown()
        }
    }
#endif
