#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    @Suite(.timeLimit(.minutes(5))) struct TimeoutTests {
        private static let soon = Duration.milliseconds(60)

        /// Fails with the phase, and the server sees the connection closed.
        private func expectTimeout(
            _ phase: TimeoutPhase, _ timeouts: Timeouts, scheme: String = "http", sendState: SendState,
            _ script: @escaping @Sendable (WireConnection) -> Void
        ) async throws {
            let closed = Gate()
            let server = try WireServer { connection, _ in
                script(connection)
                connection.untilClosed()
                closed.open()
            }
            try await withServer(server) { transport, server in
                let url = try HTTPURL("\(scheme)://127.0.0.1:\(server.port)/")
                let error = try await failure(
                    transport, TransportRequest(HTTPRequest(method: .get, url: url), timeouts: timeouts))
                #expect(error.kind == .timeout(phase))
                // What libcurl tells is as old as the last byte that moved.
                let least = [timeouts.connect, timeouts.firstByte, timeouts.idle, timeouts.total].compactMap(\.self)
                    .min()
                #expect(error.timings.total ?? .zero >= least ?? .zero)
                // A machine that is slow may not have let the server begin its answer.
                #expect(error.sendState == sendState || (sendState == .answered && error.sendState == .maybeProcessed))
                await closed.opened()
            }
        }

        @Test func aHandshakeThatNeverEndsIsTheConnectPhase() async throws {
            let timeouts = Timeouts(connect: Self.soon, firstByte: nil, idle: nil, total: .seconds(20))
            try await expectTimeout(.connect, timeouts, scheme: "https", sendState: .unsent) { _ in }
        }

        @Test func anAnswerThatNeverBeginsIsTheFirstBytePhase() async throws {
            let timeouts = Timeouts(connect: .seconds(20), firstByte: Self.soon, idle: Self.soon, total: .seconds(20))
            try await expectTimeout(.firstByte, timeouts, sendState: .maybeProcessed) { connection in
                _ = connection.readRequest()
            }
        }

        @Test(arguments: ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
        func anAnswerThatStopsIsTheIdlePhase(_ beginning: String) async throws {
            let timeouts = Timeouts(
                connect: .seconds(20), firstByte: .seconds(20), idle: Self.soon, total: .seconds(20))
            try await expectTimeout(.idle, timeouts, sendState: .answered) { connection in
                _ = connection.readRequest()
                connection.send(beginning)
            }
        }

        @Test func anAnswerThatTricklesIsTheTotalPhase() async throws {
            let timeouts = Timeouts(connect: nil, firstByte: nil, idle: .seconds(20), total: .milliseconds(150))
            try await expectTimeout(.total, timeouts, sendState: .answered) { connection in
                _ = connection.readRequest()
                connection.send("HTTP/1.1 200 OK\r\n\r\nabc")
            }
        }

        @Test func noTimeAtAllIsUnsent() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let order = TransportRequest(
                    HTTPRequest(method: .get, url: try server.url()), timeouts: .total(.zero))
                let error = try await failure(transport, order)
                #expect(error.kind == .timeout(.total))
            }
        }

        @Test func aStreamThatYieldsNothingIsIdle() async throws {
            try await withServer(.answering(okay)) { transport, server in
                let (chunks, continuation) = HTTPBody.Chunks.makeStream()
                let request = HTTPRequest(method: .post, url: try server.url(), body: .onceOnly(chunks))
                let timeouts = Timeouts(idle: Self.soon)
                let error = try await failure(transport, TransportRequest(request, timeouts: timeouts))
                #expect(error.kind == .timeout(.idle))
                continuation.finish()
            }
        }
    }

    @Suite(.timeLimit(.minutes(5))) struct ClockTests {
        private let second: UInt64 = 1_000_000_000

        @Test func itLooksNoLaterThanAnyPhaseCouldEnd() {
            var clock = CurlClock(Timeouts(connect: .seconds(10), firstByte: .seconds(3), idle: .seconds(5)))
            clock.begin(0)
            #expect(clock.nextLook(0) == 3 * second)
            clock.connectionStarted(second)
            clock.sending(2 * second)
            clock.sent(2 * second)
            #expect(clock.expired(3 * second) == nil)
            #expect(clock.nextLook(3 * second) == 5 * second)
            #expect(clock.expired(5 * second) == .timeout(.firstByte))
        }

        @Test func phasesStandStillWhileSuspended() {
            var clock = CurlClock(Timeouts(firstByte: .seconds(3), idle: .seconds(3), total: .seconds(100)))
            clock.begin(0)
            clock.sending(0)
            clock.sent(0)
            clock.suspend()
            #expect(clock.expired(50 * second) == nil)
            clock.resume(50 * second)
            #expect(clock.expired(52 * second) == nil)
            #expect(clock.expired(53 * second) == .timeout(.firstByte))
            #expect(clock.expired(100 * second) == .timeout(.total))
        }

        @Test(
            "Content that comes too slowly is due when its span ends; a span that brought enough begins anew",
            .covers("H12"))
        func throughput() {
            var clock = CurlClock(
                Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil), .init(bytes: 10, per: .seconds(4)))
            clock.begin(0)
            clock.sending(0)
            clock.answered(second)
            clock.received(10, 2 * second)
            #expect(clock.nextLook(2 * second) == 5 * second)
            #expect(clock.expired(5 * second) == nil)
            clock.received(9, 8 * second)
            #expect(clock.expired(9 * second - 1) == nil)
            #expect(clock.expired(9 * second) == .limitExceeded(.minimumThroughput))
        }

        @Test("While the reader holds content back, slowness is not the server's", .covers("H12"))
        func throughputOfAHeldStream() {
            var clock = CurlClock(
                Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil), .init(bytes: 10, per: .seconds(4)))
            clock.begin(0)
            clock.answered(0)
            clock.suspend()
            #expect(clock.expired(50 * second) == nil)
            clock.resume(50 * second)
            #expect(clock.expired(54 * second - 1) == nil)
            #expect(clock.expired(54 * second) == .limitExceeded(.minimumThroughput))
        }

        @Test("A transfer has the least throughput of its limits, and none where they have none", .covers("H12"))
        func throughputOfATransfer() throws {
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://a.example/"))
            for (limits, end) in [
                (ResponseLimits(), 30), (ResponseLimits(minimumThroughput: .init(bytes: 1, per: .seconds(4))), 4),
                (ResponseLimits(minimumThroughput: nil), nil),
            ] {
                let timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil)
                let order = TransportRequest(request, timeouts: timeouts, limits: limits)
                let transfer = CurlTransfer(order, loop: CurlLoop(.init()))
                transfer.state.clock.begin(0)
                transfer.state.clock.answered(0)
                guard let end else {
                    #expect(transfer.state.clock.expired(.max - 1) == nil)
                    continue
                }
                #expect(transfer.state.clock.expired(UInt64(end) * second - 1) == nil)
                #expect(transfer.state.clock.expired(UInt64(end) * second) == .limitExceeded(.minimumThroughput))
            }
        }

        @Test("Time-outs that are next to nothing are looked at every millisecond, and no oftener")
        func leastLook() {
            for isSending in [true, false] {
                let clock = CurlClock(Timeouts(firstByte: .microseconds(1), total: nil), isSending: isSending)
                #expect(clock.nextLook(second) == second + 1_000_000)
            }
        }

        @Test("The head of a response that comes before the request is sent is not waited for again")
        func earlyHead() {
            var clock = CurlClock(Timeouts(connect: nil, firstByte: .seconds(3), idle: nil, total: nil))
            clock.begin(0)
            clock.sending(0)
            clock.answered(second)
            clock.sent(2 * second)
            #expect(clock.expired(100 * second) == nil)
        }

        @Test("What arrives of a request after the system has taken it puts off the answer and the silence")
        func arriving() {
            var clock = CurlClock(
                Timeouts(connect: nil, firstByte: .seconds(8), idle: .seconds(8), total: nil), isSending: true)
            clock.begin(0)
            clock.sending(0)
            clock.sent(0)
            #expect(clock.nextLook(0) == second)
            clock.arrived(5 * second)
            #expect(clock.expired(8 * second) == nil)
            #expect(clock.expired(13 * second - 1) == nil)
            #expect(clock.expired(13 * second) == .timeout(.firstByte))
        }

        @Test func withoutTimeoutsNothingIsDue() {
            var clock = CurlClock(Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil))
            clock.begin(5)
            clock.connectionStarted(5)
            #expect(clock.nextLook(6) == .max)
            #expect(clock.expired(.max - 1) == nil)
        }
    }
#endif
