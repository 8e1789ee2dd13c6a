import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Calls that share an exchange and are suspended.
@Suite(.timeLimit(.minutes(5))) struct JoinedSuspensionTests {
    private let script = CallSupport.holding(2)
    private let recorder = EventRecorder()

    private func client() -> APIClient {
        CallSupport.client(script) {
            $0.options.inFlight = .join
            $0.cache = .none
            $0.sinks = [recorder]
        }
    }

    /// Two calls that share the one exchange under way.
    private func pair(_ client: APIClient) async -> (first: Call<Message>, second: Call<Message>) {
        let first = client.start(Hello())
        await script.waitForExchanges(count: 1)
        let second = client.start(Hello())
        while !Task.isCancelled, !recorder.hasJoined { await Task.yield() }
        // It is told of before it waits.
        for _ in 0..<100 { await Task.yield() }
        return (first, second)
    }

    @Test("A suspended call that has joined another is delivered only once it is resumed", arguments: [true, false])
    func held(isFirst: Bool) async throws {
        let client = client()
        let (first, second) = await pair(client)
        let (held, other) = isFirst ? (first, second) : (second, first)
        held.suspend()
        #expect(script.requests.first?.control.isSuspended == false)
        script.release()
        #expect(try await other.value.text == "hello")
        for _ in 0..<1_000 { await Task.yield() }
        #expect(held.state == .suspended)
        held.resume()
        #expect(try await held.value.text == "hello")
        #expect(script.requests.count == 1)
    }

    @Test("A suspended call whose shared exchange is over can be cancelled")
    func cancelled() async throws {
        let client = client()
        let (first, second) = await pair(client)
        second.suspend()
        script.release()
        _ = try await first.value
        second.cancel()
        #expect(await second.result.failure?.kind == .cancelled)
    }

    @Test("The bytes of a shared exchange stand still while all who wait for it are suspended")
    func standsStill() async throws {
        let client = client()
        let (first, second) = await pair(client)
        let control = try #require(script.requests.first?.control)
        second.suspend()
        #expect(!control.isSuspended)
        first.suspend()
        while !Task.isCancelled, !control.isSuspended { await Task.yield() }
        #expect(control.isSuspended)
        first.resume()
        #expect(!control.isSuspended)
        // Who is left is suspended.
        first.cancel()
        _ = await first.result
        while !Task.isCancelled, !control.isSuspended { await Task.yield() }
        #expect(control.isSuspended)
        second.resume()
        script.release()
        #expect(try await second.value.text == "hello")
    }
}

extension EventRecorder {
    fileprivate var hasJoined: Bool {
        records.contains { record in
            if case .inFlightDecided(.joined) = record.event { true } else { false }
        }
    }
}
