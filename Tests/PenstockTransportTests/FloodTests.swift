#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Peers that send without a pause, and faster than anybody can read. Run apart from other tests: it measures time.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct FloodTests {
        struct Flood: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var isHTTP2 = false
            let block: @Sendable (Int) -> Data

            static let all = [
                Flood("chunk extensions", Data("1;\(String(repeating: "x", count: 60_000))\r\nx\r\n".utf8), 16),
                Flood("one chunk extension without end", Data(repeating: 0x78, count: 1 << 20), 1) {
                    $0 == 0 ? Data("1;".utf8) : nil
                },
                Flood("chunks of one byte", Data("1\r\nx\r\n".utf8), 200_000),
                Flood("empty DATA frames", [0, 0, 0, 0, 0, 0, 0, 0, 1], 100_000),
                Flood("PRIORITY frames", [0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 16], 70_000),
                Flood("WINDOW_UPDATE frames", [0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0, 1], 80_000),
                Flood("unknown frames", [0, 0, 1, 0xFA, 0, 0, 0, 0, 1, 0], 100_000),
            ]

            private init(
                _ name: String, _ unit: Data, _ count: Int, _ special: @escaping @Sendable (Int) -> Data? = { _ in nil }
            ) {
                testDescription = name
                let whole = Data(repeatElement(unit, count: count).joined())
                block = { special($0) ?? whole }
            }

            private init(_ name: String, _ frame: [UInt8], _ count: Int) {
                self.init(name, Data(frame), count)
                isHTTP2 = true
            }
        }

        /// Three servers that flood, and one that does not.
        private struct Scene: Sendable {
            let bad: [LoopbackServer]
            let good: LoopbackServer
            let trust: TrustPolicy
            let authority: TestCertificateAuthority
            let transport = CurlTransport()

            init(_ flood: Flood) throws {
                let authority = try TestCertificateAuthority()
                func server(_ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
                    -> LoopbackServer
                {
                    guard flood.isHTTP2 else { return try LoopbackServer(handler: respond) }
                    return try LoopbackServer(
                        .init(tls: .init(try authority.issue(), protocols: [.http2, .http1])), handler: respond)
                }
                bad = try (0..<3).map { _ in
                    try server { request in
                        let head = request.stream.map { Self.head(of: UInt8(truncatingIfNeeded: $0)) }
                        let start = head ?? Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
                        return .raw(start, ending: .hold).followed { flood.block($0) }
                    }
                }
                good = try server { _ in .text("ok") }
                self.authority = authority
                trust = flood.isHTTP2 ? .authorities(authority.file) : .system
            }

            /// HEADERS with `:status: 200` (RFC 7541, Appendix A).
            private static func head(of stream: UInt8) -> Data { Data([0, 0, 1, 1, 4, 0, 0, 0, stream, 0x88]) }

            func order(
                _ server: LoopbackServer, total: Duration, _ control: ExchangeControl = .init()
            ) -> TransportRequest {
                TransportRequest(
                    HTTPRequest(method: .get, url: server.url),
                    timeouts: Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, total: total),
                    limits: ResponseLimits(bodyBytes: .max, headerBytes: .max, minimumThroughput: nil),
                    isolation: IsolationKey(trust: trust), control: control)
            }

            func flooded(_ server: LoopbackServer, _ total: Duration, _ control: ExchangeControl = .init()) async
                -> TransportError?
            {
                do throws(TransportError) {
                    _ = try await transport.perform(order(server, total: total, control))
                    return nil
                } catch {
                    return error
                }
            }

            /// Calls the good server, one call after the other, until the task is cancelled.
            ///
            /// - Returns: how long the slowest took.
            func slowestGoodCall() async throws -> Duration {
                var slowest = Duration.zero
                while !Task.isCancelled {
                    let began = ContinuousClock.now
                    let answer = try await transport.perform(order(good, total: .seconds(60)))
                    #expect(answer.response.body == Data("ok".utf8))
                    slowest = max(slowest, ContinuousClock.now - began)
                    try? await Task.sleep(for: .milliseconds(1))
                }
                return slowest
            }

            func close() async {
                await transport.shutdown()
                for server in bad { server.stop() }
                good.stop()
            }
        }

        private static let late = Duration.milliseconds(50)
        /// Of seven times.
        private static let kept = 4

        /// What else the machine does delays a call now and then, but not most of the times that it is tried.
        @Test("A flood keeps to its deadline, and no other host waits for it", .covers("H32"), arguments: Flood.all)
        func deadlines(flood: Flood) async throws {
            var slowest: [Duration] = []
            for _ in 1...7 where slowest.count(where: { $0 <= Self.late }) < Self.kept {
                let scene = try Scene(flood)
                _ = try await scene.transport.perform(scene.order(scene.good, total: .seconds(60)))
                let watch = Task { try await scene.slowestGoodCall() }
                let ends = await withTaskGroup(of: (TransportError?, Duration).self) { group in
                    for server in scene.bad {
                        group.addTask {
                            let began = ContinuousClock.now
                            let error = await scene.flooded(server, .seconds(1))
                            return (error, ContinuousClock.now - began)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                watch.cancel()
                slowest.append(try await watch.value)
                for (error, duration) in ends {
                    #expect(error?.kind == .timeout(.total))
                    #expect(error?.sendState == .answered)
                    #expect(duration < .seconds(3))
                }
                await scene.close()
            }
            let kept = slowest.count { $0 <= Self.late }
            #expect(kept == Self.kept, "the slowest calls to the good host took \(slowest)")
        }

        @Test("A flood ends at once when it is cancelled", .covers("H32"), arguments: Flood.all)
        func cancellation(flood: Flood) async throws {
            let scene = try Scene(flood)
            let controls = scene.bad.map { _ in ExchangeControl() }
            let calls = zip(scene.bad, controls).map { server, control in
                Task { await scene.flooded(server, .seconds(60), control) }
            }
            for server in scene.bad { try await server.waitForRequests(count: 1) }
            try await Task.sleep(for: .milliseconds(300))
            let began = ContinuousClock.now
            for control in controls { control.cancel() }
            for call in calls { #expect(await call.value?.kind == .cancelled) }
            #expect(ContinuousClock.now - began < .seconds(1))
            await scene.close()
        }

        /// The readers of three streamed floods take processors of their own from the good host's calls, so more time is
        /// allowed here than where the transport alone is at work.
        @Test(
            "A flood that is streamed does not stop the calls to another host",
            arguments: Flood.all.filter { !$0.isHTTP2 })
        func streams(flood: Flood) async throws {
            var slowest: [Duration] = []
            for _ in 1...8 where slowest.allSatisfy({ $0 > .milliseconds(250) }) {
                let scene = try Scene(flood)
                _ = try await scene.transport.perform(scene.order(scene.good, total: .seconds(60)))
                let controls = scene.bad.map { _ in ExchangeControl() }
                let readers = zip(scene.bad, controls).map { server, control in
                    Task {
                        let stream = try await scene.transport.open(scene.order(server, total: .seconds(60), control))
                        while try await stream.content.next() != nil {}
                    }
                }
                let watch = Task { try await scene.slowestGoodCall() }
                try await Task.sleep(for: .seconds(1))
                for control in controls { control.cancel() }
                for reader in readers { await #expect(throws: TransportError.self) { try await reader.value } }
                watch.cancel()
                slowest.append(try await watch.value)
                await scene.close()
            }
            let best = try #require(slowest.min())
            #expect(best <= .milliseconds(250), "the slowest calls to the good host took \(slowest)")
        }
    }
#endif
