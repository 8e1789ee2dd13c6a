#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// What a client of HTTP/2 sees of each effect at each trigger.
    @Suite(.timeLimit(.minutes(5)))
    struct HTTP2FaultTests {
        typealias Fault = LoopbackServer.Fault

        private static let triggers: [Fault.Trigger] = [
            .requestStart, .requestBody(after: 3), .responseStart, .responseBody(after: 4), .responseEnd,
        ]

        /// A server where requests to `/fault` go wrong, and all others well.
        private func rig(_ fault: Fault) throws -> HTTP2Rig {
            try HTTP2Rig(onHead: { $0.path == "/fault" ? .fault(fault.effect, at: fault.trigger) : .proceed }) { _ in
                .text("0123456789")
            }
        }

        private static let body = HTTPBody.bytes(Data("abcdef".utf8))

        @Test(arguments: triggers, [Fault.Effect.close, .reset, .shutDown, .goAway(lastStream: 3, .noError)])
        func `A connection ends at each trigger, and the next request takes another`(
            trigger: Fault.Trigger, effect: Fault.Effect
        ) async throws {
            let rig = try rig(.init(effect, at: trigger))
            defer { rig.server.stop() }
            #expect(try await rig.send().status == 200)
            let error = await rig.failure(.post, "/fault", body: Self.body)
            try await rig.server.waitForFaults(count: 1)
            if trigger == .responseEnd {
                // What begins before the end of the connection has come shares its fate.
                try await rig.server.waitForOpenConnections(atMost: 0)
            } else {
                #expect(error != nil)
            }
            #expect(try await rig.send().status == 200)
            #expect(rig.server.faults.first?.stream == 3 && rig.server.faults.first?.connection == 1)
            #expect(rig.server.connectionCount > 1 && rig.server.abortCount == 0)
            await rig.transport.shutdown()
        }

        @Test(arguments: triggers, [LoopbackServer.HTTP2ErrorCode.enhanceYourCalm, .internalError])
        func `A stream is reset at each trigger with its code, and its connection goes on`(
            trigger: Fault.Trigger, code: LoopbackServer.HTTP2ErrorCode
        ) async throws {
            let rig = try rig(.init(.closeStream(code), at: trigger))
            defer { rig.server.stop() }
            #expect(try await rig.send().status == 200)
            let error = await rig.failure(.post, "/fault", body: Self.body)
            let name = code == .enhanceYourCalm ? "ENHANCE_YOUR_CALM" : "INTERNAL_ERROR"
            if trigger == .responseEnd { #expect(error == nil) } else { #expect(error?.message.contains(name) == true) }
            try await rig.server.waitForFaults(count: 1)
            #expect(try await rig.send().status == 200)
            #expect(rig.server.faults.map(\.fault.effect) == [.closeStream(code)])
            #expect(rig.server.connectionCount == 1 && rig.server.abortCount == 0)
            await rig.transport.shutdown()
        }

        @Test func `A stream is refused, and no request is made of it`() async throws {
            let rig = try rig(.init(.closeStream(.refusedStream), at: .requestStart))
            defer { rig.server.stop() }
            #expect(try await rig.send().status == 200)
            #expect(await rig.failure(.post, "/fault", body: Self.body) != nil)
            #expect(rig.server.requestCount == 1)
            #expect(rig.server.faults.first?.fault == .init(.closeStream(.refusedStream), at: .requestStart))
            await rig.transport.shutdown()
        }

        @Test(arguments: triggers)
        func `A stream stalls at each trigger, and others go on`(trigger: Fault.Trigger) async throws {
            let rig = try rig(.init(.stall, at: trigger))
            defer { rig.server.stop() }
            #expect(try await rig.send().status == 200)
            let stalled = Task { try await rig.send(.post, "/fault", body: Self.body).status }
            try await rig.server.waitForFaults(count: 1)
            #expect(try await rig.send().status == 200)
            if trigger == .responseEnd {
                #expect(try await stalled.value == 200)
            } else {
                stalled.cancel()
                await #expect(throws: (any Error).self) { try await stalled.value }
                try await rig.server.waitForAborts(count: 1)
                #expect(try await rig.send().status == 200)
            }
            #expect(rig.server.connectionCount <= 2)
            await rig.transport.shutdown()
        }

        @Test(arguments: [LoopbackServer.Response.Ending.close, .drop, .reset])
        func `The endings of a response end the connection`(ending: LoopbackServer.Response.Ending) async throws {
            let rig = try HTTP2Rig { _ in .short(Data("abc".utf8), declared: 10, ending: ending) }
            defer { rig.server.stop() }
            #expect(await rig.failure() != nil)
            try await rig.server.waitForOpenConnections(atMost: 0)
            await rig.transport.shutdown()
        }

        @Test func `A length that is not kept is sent when the connection is kept`() async throws {
            let rig = try HTTP2Rig { _ in .short(Data("abc".utf8), declared: 10, ending: .keepAlive) }
            defer { rig.server.stop() }
            // The stream ends well after three bytes of the ten (RFC 9113 §8.1.1), and its connection goes on.
            #expect(await rig.failure()?.kind == .protocolViolation)
            #expect(await rig.failure()?.kind == .protocolViolation)
            #expect(rig.server.connectionCount == 1)
            await rig.transport.shutdown()
        }

        @Test func `A head is answered early, and the content refused`() async throws {
            let rig = try HTTP2Rig(onHead: { _ in .respond(.text("no", status: 401)) }) { _ in .text("never") }
            defer { rig.server.stop() }
            let response = try await rig.send(.post, body: .bytes(Data(count: 1_000_000)))
            #expect(response.status == 401 && response.body == Data("no".utf8))
            #expect(rig.server.requestCount == 0)
            await rig.transport.shutdown()
        }

        @Test func `Raw frames go out as they are`() async throws {
            // A DATA frame on stream 0, which is a connection error (RFC 9113 §6.1).
            let frame = Data([0, 0, 1, 0, 0, 0, 0, 0, 0, 0x41])
            let rig = try HTTP2Rig { _ in .raw(frame, ending: .hold) }
            defer { rig.server.stop() }
            #expect(await rig.failure()?.kind == .connectionLost)
            try await rig.server.waitForOpenConnections(atMost: 0)
            await rig.transport.shutdown()
        }
    }
#endif
