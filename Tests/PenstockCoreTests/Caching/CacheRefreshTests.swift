import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Stale answers that are refreshed behind the caller's back (RFC 5861 §3).
@Suite(.timeLimit(.minutes(5))) struct CacheRefreshTests {
    private static let fields: HTTPFields = [
        "Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\"",
    ]

    private func client(
        _ script: ScriptedTransport, _ clock: TestClock, _ events: EventRecorder,
        _ inFlight: InFlightPolicy = .independent
    ) -> APIClient {
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(MemoryCacheStore(time: clock.timeSource))
        configuration.time = clock.timeSource
        configuration.options.cache = .http
        configuration.options.inFlight = inFlight
        // Nobody moves the clock for a wait between attempts.
        configuration.options.retry = RetryPolicy.none
        configuration.sinks = [events]
        return APIClient(configuration, transport: script)
    }

    @Test("The caller gets what is stale at once, and the next one what the refresh brought", .covers("S3.37"))
    func refresh() async throws {
        let script = ScriptedTransport([.respond(.tea(1, Self.fields)), .held(.respond(.tea(2, Self.fields)))])
        let (clock, events) = (TestClock(), EventRecorder())
        let client = client(script, clock, events)
        _ = try await client.send(Tea())
        clock.advance(by: .seconds(61))
        let stale = try await client.response(for: Tea())
        #expect(stale.isStale)
        #expect(stale.value.id == 1)
        await script.waitForExchanges(count: 2)
        #expect(script.requests.last?.request.fields["If-None-Match"] == "\"1\"")
        // While one refresh is under way there is no other.
        #expect(try await client.response(for: Tea()).isStale)
        script.release()
        await client.untilIdle()
        let fresh = try await client.response(for: Tea())
        #expect(fresh.value.id == 2)
        #expect(fresh.source == .memory)
        #expect(script.requests.count == 2)
        #expect(events.grammarViolations.isEmpty)
    }

    @Test(
        "A refresh is no newer call: it drops none of the user's, none drops it, and it comes never too soon",
        .covers("S3.37"), arguments: [InFlightPolicy.cancelPrevious, .ignoreNew, .throttle(.seconds(60)), .join])
    func refreshIsNoCall(policy: InFlightPolicy) async throws {
        let script = ScriptedTransport([.respond(.tea(1, Self.fields)), .held(.respond(.tea(2, Self.fields)))])
        let (clock, events) = (TestClock(), EventRecorder())
        let client = client(script, clock, events, policy)
        _ = try await client.send(Tea())
        clock.advance(by: .seconds(61))
        #expect(try await client.response(for: Tea()).isStale)
        // A refresh that was dropped is over.
        while !Task.isCancelled, client.callCount > 0, script.requests.count < 2 { await Task.yield() }
        try #require(script.requests.count == 2)
        // Another call of the user's, while the refresh is under way, long enough after the first.
        clock.advance(by: .seconds(61))
        let another = client.start(Tea())
        func isHeld() -> Bool {
            events.records.contains { if case .inFlightDecided = $0.event { true } else { false } }
        }
        while !Task.isCancelled, client.callCount > 1, !isHeld() { await Task.yield() }
        try #require(!isHeld())
        #expect(try await another.response.isStale)
        #expect(script.openExchangeCount == 1)
        script.release()
        await client.untilIdle()
        #expect(try await client.response(for: Tea(), options: .inFlight(.independent)).value.id == 2)
        #expect(script.requests.count == 2)
        #expect(!isHeld())
    }

    @Test("Nobody hears of a refresh that fails", .covers("S3.37"))
    func failing() async throws {
        let lost = TransportError(.connectionLost, sendState: .maybeProcessed)
        let script = ScriptedTransport([.respond(.tea(1, Self.fields)), .fail(lost), .respond(.tea(3, Self.fields))])
        let (clock, events) = (TestClock(), EventRecorder())
        let client = client(script, clock, events)
        _ = try await client.send(Tea())
        clock.advance(by: .seconds(61))
        #expect(try await client.send(Tea()).id == 1)
        await script.waitForExchanges(count: 2)
        await client.untilIdle()
        #expect(try await client.send(Tea()).id == 1)
        await script.waitForExchanges(count: 3)
        await client.untilIdle()
        #expect(try await client.send(Tea()).id == 3)
    }
}

extension APIClient {
    /// Returns when no call is under way.
    func untilIdle() async {
        while !Task.isCancelled, callCount > 0 { await Task.yield() }
    }
}
