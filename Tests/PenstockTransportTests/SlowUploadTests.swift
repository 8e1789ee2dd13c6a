#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTesting
    import Testing

    /// Requests that leave more slowly than the system takes them.
    @Suite(.timeLimit(.minutes(5)))
    struct SlowUploadTests {
        /// In the first case the system takes all of the body at once, and in the second as much as it has room for.
        @Test("A body that leaves slowly is no silence, however much of it the system has taken", arguments: [1, 3])
        func moving(mebibytes: Int) async throws {
            var configuration = LoopbackServer.Configuration()
            configuration.receiving = .init(bytes: 32 << 10, per: .milliseconds(50))
            let server = try LoopbackServer(configuration) { request in .text("\(request.body.count)") }
            defer { server.stop() }
            let transport = CurlTransport()
            let body = Data(count: mebibytes << 20)
            let limit = Duration.milliseconds(750)
            let answer = try await transport.perform(
                TransportRequest(
                    HTTPRequest(method: .post, url: server.url, body: .bytes(body)),
                    timeouts: Timeouts(firstByte: limit, idle: limit, total: .seconds(120))))
            #expect(answer.response.body == Data("\(body.count)".utf8))
            #expect(answer.timings.total ?? .zero > limit, "or nothing was slow")
            await transport.shutdown()
        }

        @Test("A server that has the whole body and says nothing is late after the time that it has")
        func silent() async throws {
            let server = try LoopbackServer { _ in .hold }
            defer { server.stop() }
            let transport = CurlTransport()
            let limit = Duration.seconds(1)
            let order = TransportRequest(
                HTTPRequest(method: .post, url: server.url, body: .bytes(Data(count: 1 << 20))),
                timeouts: Timeouts(firstByte: limit, idle: nil, total: .seconds(120)))
            let began = ContinuousClock.now
            let error = await #expect(throws: TransportError.self) { try await transport.perform(order) }
            #expect(error?.kind == .timeout(.firstByte))
            #expect(ContinuousClock.now - began < limit * 10)
            await transport.shutdown()
        }
    }
#endif
