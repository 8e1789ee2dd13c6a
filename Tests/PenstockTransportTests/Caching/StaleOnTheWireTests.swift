import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What is stored and past its lifetime, where a server is there and does not answer in time.
@Suite(.timeLimit(.minutes(5)))
struct StaleOnTheWireTests {
    @Test(
        "A time-out on the wire is answered by stale content, within the bound", .covers("S3.11"),
        arguments: TransportUnderTest.withWire, StoreUnderTest.allCases)
    func timeouts(transport: TransportUnderTest, kind: StoreUnderTest) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = TestClock()
        let store = kind.make(folder, clock)
        let server = try LoopbackServer { request in
            request.number == 1 ? .text("old", fields: ["Cache-Control": "max-age=60"]) : .hold
        }
        try await Shop.run(transport, on: server) { configuration in
            configuration.cache = .store(store)
            configuration.time = clock.timeSource
            configuration.options.retry = RetryPolicy.none
            configuration.options.cache = CachePolicy(.networkElseCache, maxStale: .seconds(1_000))
        } _: { server, client in
            #expect(try await client.send(Page()) == Data("old".utf8))
            clock.advance(by: .seconds(61))
            let total = CallOptions.timeout(.milliseconds(300))
            // URLSession counts the time to connect with it.
            let firstByte = CallOptions.with {
                $0.timeouts = Timeouts(connect: .seconds(2), firstByte: .milliseconds(300))
            }
            for options in [total, firstByte] {
                let stale = try await client.response(for: Page(), options: options)
                #expect(stale.value == Data("old".utf8))
                #expect(stale.isStale && [.memory, .disk].contains(stale.source))
                #expect(stale.cacheStatus?.reason == .disconnected)
            }
            #expect(server.requestCount == 3)
            clock.advance(by: .seconds(1_000))
            #expect(await client.failure(Page(), options: total)?.kind == .timeout(.total))
            #expect(await client.failure(Page(), options: firstByte)?.kind == .timeout(.firstByte))
        }
        await store.close()
    }
}
