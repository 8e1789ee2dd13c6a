import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Calls over a store that does not come to an end: a disk that hangs, a file that another process holds.
@Suite(.timeLimit(.minutes(5))) struct StalledStoreTests {
    private struct Stalled: Sendable {
        let store = StalledStore()
        let clock = TestClock()
        let rig: Rig

        init(total: Duration? = .seconds(1)) {
            let (store, clock) = (store, clock)
            rig = Rig {
                $0.cache = .store(store)
                $0.options.cache = .http
                $0.options.timeouts = Timeouts(total: total)
                $0.time = clock.timeSource
            } answering: { _ in
                .tea(1)
            }
        }

        /// Lets the deadline come once a call waits for the store.
        func passDeadline() async {
            await store.waiting.waitUnlessCancelled { $0 > 0 }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
        }

        /// Stores a response that is to be found without its body.
        func fill() async throws {
            let stall = store.stalls.value
            store.stalls.value = nil
            _ = try await rig.client.send(Tea())
            store.stalls.value = stall
        }
    }

    @Test("A response is delivered at the deadline, though it is not stored yet")
    func storing() async throws {
        let stalled = Stalled()
        stalled.store.stalls.value = .put
        let call = stalled.rig.client.start(Tea())
        await stalled.passDeadline()
        #expect(try await call.value.id == 1)
        #expect(await stalled.store.memory.statistics().entries == 0)
        // It is stored all the same once the store can.
        stalled.store.free.open()
        while !Task.isCancelled, await stalled.store.memory.statistics().entries == 0 { await Task.yield() }
        #expect(stalled.rig.client.callCount == 0)
    }

    @Test(
        "A call without a deadline does not wait for ever to be stored",
        arguments: [Duration.milliseconds(999), .seconds(1)])
    func patience(passed: Duration) async throws {
        let stalled = Stalled(total: nil)
        stalled.store.stalls.value = .put
        let call = stalled.rig.client.start(Tea())
        await stalled.store.waiting.waitUnlessCancelled { $0 > 0 }
        await stalled.clock.waitForSleepers(count: 1)
        stalled.clock.advance(by: passed)
        if passed < .seconds(1) {
            for _ in 0..<100 { await Task.yield() }
            #expect(stalled.rig.client.callCount == 1)
            stalled.store.free.open()
        }
        #expect(try await call.value.id == 1)
        stalled.store.free.open()
    }

    @Test("What waits to be stored does not pile up")
    func backlog() async throws {
        let large = Data(repeating: 0x20, count: 40 << 20)
        let (store, clock) = (
            StalledStore(limits: .init(bytes: 1 << 30, entries: 100, bodyBytes: 1 << 30)), TestClock()
        )
        store.stalls.value = .put
        let client = CallSupport.client(
            StubTransport { _ in HTTPResponse(status: 200, fields: ["Cache-Control": "max-age=60"], body: large) }
        ) {
            $0.cache = .store(store)
            $0.time = clock.timeSource
        }
        let calls = try (1...3).map { number in
            let url = try HTTPURL("https://a.example/\(number)")
            return Task { try await client.send(HTTPRequest(method: .get, url: url)).http.status }
        }
        // One waits for the store; the others would be too much beside it.
        await store.waiting.waitUnlessCancelled { $0 >= 1 }
        while !Task.isCancelled, client.callCount > 1 { await Task.yield() }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value == 200) }
        store.free.open()
        while !Task.isCancelled, await store.memory.statistics().entries < 1 { await Task.yield() }
        #expect(await store.memory.statistics().entries == 1)
    }

    @Test("Cancelling a call that waits for the store ends it")
    func cancelled() async throws {
        for stall in [StalledStore.Stall.put, .find, .body, .invalidate] {
            let stalled = Stalled(total: nil)
            stalled.store.stalls.value = stall
            if stall == .body { try await stalled.fill() }
            let call = stalled.rig.client.start(Tea(invalidates: [.tag("other")]))
            await stalled.store.waiting.waitUnlessCancelled { $0 > 0 }
            stalled.rig.client.cancelAll()
            #expect(await call.result.failure?.kind == .cancelled, "\(stall)")
            stalled.store.free.open()
        }
    }

    @Test("A look-up that takes too long is the end of its call")
    func finding() async throws {
        for stall in [StalledStore.Stall.find, .body] {
            let stalled = Stalled()
            stalled.store.stalls.value = stall
            if stall == .body { try await stalled.fill() }
            let call = stalled.rig.client.start(Tea())
            await stalled.passDeadline()
            #expect(await call.result.failure?.kind == .timeout(.total), "\(stall)")
            stalled.store.free.open()
        }
    }

    @Test("A write waits for what it makes out of date, but not past its deadline", .covers("S4.21"))
    func invalidating() async throws {
        for endpoint in [Pour(), Pour(invalidates: [])] {
            let stalled = Stalled()
            stalled.store.stalls.value = .invalidate
            let call = stalled.rig.client.start(endpoint)
            await stalled.store.waiting.waitUnlessCancelled { $0 > 0 }
            #expect(stalled.rig.client.callCount == 1)
            await stalled.passDeadline()
            #expect(try await call.value.id == 1)
            stalled.store.free.open()
        }
    }

    @Test("The content of a stream does not wait for a store that cannot begin to write")
    func streaming() async throws {
        let stalled = Stalled()
        stalled.store.stalls.value = .writer
        let task = Task { try await stalled.rig.client.stream(Leaves()).collect() }
        await stalled.passDeadline()
        #expect(try await task.valueOfTest.isEmpty == false)
        stalled.store.free.open()
        #expect(await stalled.store.memory.statistics().entries == 0)
    }
}

/// A memory whose answers come only when a test lets them.
final class StalledStore: MemoryBackedStore {
    enum Stall: Sendable { case find, body, put, writer, invalidate }

    let memory: MemoryCacheStore
    let stalls = Box<Stall?>(nil)
    /// How many wait.
    let waiting = Monitor(0)
    let free = Latch()

    init(limits: CacheLimits = .memory) {
        memory = MemoryCacheStore(limits: limits)
    }

    private func pass(_ stall: Stall) async {
        guard stalls.value == stall else { return }
        waiting.withLock { $0 += 1 }
        await free.wait()
    }

    func responses(for key: CacheKey) async -> [StoredResponse] {
        await pass(.find)
        let found = memory.responsesAtHand(for: key) ?? []
        return found.map { StoredResponse($0.response, entry: $0.entry, body: nil) }
    }

    func bytes(of entry: CacheEntryID, from offset: Int) async -> Data? {
        await pass(.body)
        return await memory.bytes(of: entry, from: offset)
    }

    func put(_ response: CachedResponse, body: Data) async -> StoredResponse? {
        await pass(.put)
        return await memory.put(response, body: body)
    }

    func writer(for response: CachedResponse) async -> (any CacheBodyWriter)? {
        await pass(.writer)
        return await memory.writer(for: response)
    }

    func invalidate(_ selections: [CacheSelection]) async -> Bool {
        await pass(.invalidate)
        return await memory.invalidate(selections)
    }
}
