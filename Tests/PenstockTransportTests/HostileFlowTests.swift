import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a server does to retries and to the renewal of credentials, on every transport that has a wire.
@Suite(.timeLimit(.minutes(5)))
struct HostileFlowTests {
    @Test(
        "Retry-After of 10⁹, −1, a past date or garbage: nothing is waited for past the deadline, and nothing crashes",
        .covers("H16"), arguments: TransportUnderTest.withWire,
        ["1000000000", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "garbage"])
    func retryAfter(transport: TransportUnderTest, value: String) async throws {
        for options in [CallOptions.timeout(.seconds(30)), CallOptions()] {
            let hits = Locked(0)
            let server = try LoopbackServer { _ in
                let number = hits.withLock { hits in
                    hits += 1
                    return hits
                }
                return number == 1 ? .text("busy", status: 503, fields: ["Retry-After": value]) : .text("ok")
            }
            try await Shop.run(transport, on: server, configured: { $0.random = RandomSource { 0 } }) { _, client in
                let error = await client.failure(Page(), options: options)
                let isTooLong = value == "1000000000"
                #expect(error?.kind == (isTooLong ? .httpStatus(503) : nil))
                #expect(hits.withLock(\.self) == (isTooLong ? 1 : 2))
            }
        }
    }

    @Test(
        "However many calls a server answers with 503, what is sent again stays within the budget and its floor",
        .covers("H17"), arguments: TransportUnderTest.withWire)
    func outage(transport: TransportUnderTest) async throws {
        // Waits pass at once, on a clock of their own.
        let now = Locked(Duration.zero)
        let server = try LoopbackServer { _ in .text("down", status: 503) }
        try await Shop.run(
            transport, on: server,
            configured: {
                $0.time = TimeSource(
                    now: { now.withLock(\.self) },
                    date: { Date(timeIntervalSince1970: now.withLock(\.self) / .seconds(1)) },
                    sleep: { duration in now.withLock { $0 += duration } })
                $0.random = RandomSource { 0 }
                $0.cache = .none
                $0.circuitBreaker = nil
                $0.options.timeouts = Timeouts(total: nil)
            }
        ) { server, client in
            let calls = 1_000
            for round in 0..<(calls / 50) {
                let kinds = await withTaskGroup(of: APIError.Kind?.self) { group in
                    for number in 0..<50 {
                        group.addTask { await client.failure(Page("/\(round)/\(number)"))?.kind }
                    }
                    return await group.reduce(into: Set<APIError.Kind?>()) { $0.insert($1) }
                }
                #expect(kinds == [.httpStatus(503)])
            }
            let passed = now.withLock(\.self) / .seconds(1)
            #expect(server.requestCount > calls)
            #expect(Double(server.requestCount) <= 1.1 * Double(calls) + 10)
            // Of successes, which pay for more, there was none.
            #expect(Double(server.requestCount) <= Double(calls) + 10 + (passed / 10).rounded(.up))
        }
    }

    enum Trouble: CaseIterable { case hangs, isCancelled, isRejected }

    /// Lets nobody see a response before so many have come.
    private struct Gathering: Interceptor {
        let count: Int
        let arrived = Monitor(0)

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let exchange = try await next(request)
            arrived.withLock { $0 += 1 }
            await arrived.wait { $0 >= count }
            return exchange
        }
    }

    @Test(
        "Of a hundred 401s at the same time comes one refresh, which ends though it hangs, is cancelled or is rejected, with the same error for all",
        .covers("H30"), arguments: TransportUnderTest.withWire, Trouble.allCases)
    func hundred(transport: TransportUnderTest, trouble: Trouble) async throws {
        let (clock, recorder, refreshed) = (TestClock(), EventRecorder(), Locked<[String]>([]))
        let gathering = Gathering(count: 100)
        let server = try LoopbackServer { _ in
            .init(status: 401, fields: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
        }
        let authenticator = BearerAuthenticator { old, _ in
            refreshed.withLock { $0.append(old.token) }
            switch trouble {
            case .hangs: try await clock.timeSource.sleep(.seconds(1_000_000))
            case .isCancelled: throw CancellationError()
            case .isRejected: throw AuthenticationFailure.rejected
            }
            return old
        }
        let service = Service(.main, [.development: server.url.absoluteString], authenticator: authenticator)
        try await Shop.run(
            transport, on: server,
            configured: {
                $0.services = ServiceRegistry([service])
                $0.vault = MemoryVault()
                $0.time = clock.timeSource
                $0.cache = .none
                $0.sinks = [recorder]
                $0.attemptInterceptors = [gathering]
                $0.options.timeouts = Timeouts(total: .seconds(900_000))
            }
        ) { server, client in
            try await client.signIn(Credential("old", refreshToken: "r", obtained: clock.timeSource.date()))
            // The time that a refresh may take passes once all are refused.
            let ticking = Task {
                await gathering.arrived.waitUnlessCancelled { $0 >= 100 }
                while !Task.isCancelled {
                    if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(250)) }
                    // What is quick, such as the vault, has a moment of its own, or its time would be up too.
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            let kinds = await withTaskGroup(of: APIError.Kind?.self) { group in
                for number in 0..<100 { group.addTask { await client.failure(Page("/\(number)"))?.kind } }
                return await group.reduce(into: Set<APIError.Kind?>()) { $0.insert($1) }
            }
            ticking.cancel()
            #expect(kinds == [.authentication(trouble == .isRejected ? .rejected : .lost)])
            // What may have been processed is asked once more with the same token, as part of the same refresh.
            #expect((1...(trouble == .isRejected ? 1 : 2)).contains(refreshed.withLock(\.count)))
            #expect(Set(refreshed.withLock(\.self)) == ["old"])
            let renewals = recorder.records.count { record in
                if case .credentialDecided(.renewing) = record.event { true } else { false }
            }
            #expect(renewals == 1)
            #expect(server.requestCount == 100)
        }
    }
}
