import PenstockCore
import PenstockTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TestClockTests {
    @Test func `Sleepers wake in the order of their deadlines, each at its own time`() async throws {
        let clock = TestClock()
        let (woken, wake) = AsyncStream.makeStream(of: Duration.self)
        let seconds: [Duration] = [.seconds(3), .seconds(1), .seconds(2)]
        for duration in seconds {
            Task {
                try await clock.sleep(for: duration)
                wake.yield(duration)
            }
        }
        await clock.waitForSleepers(count: 3)
        var iterator = woken.makeAsyncIterator()
        for second in 1...3 {
            clock.advance(by: .seconds(1))
            #expect(await iterator.next() == .seconds(second))
        }
        #expect(clock.now.offset == .seconds(3))
        #expect(clock.sleeperCount == 0)
    }

    @Test func `One advance wakes each task once: who sleeps again sleeps from where the clock has got to`()
        async throws
    {
        for _ in 0..<100 {
            let clock = TestClock()
            let moments = Task {
                var moments: [Duration] = []
                for _ in 0..<3 {
                    try await clock.sleep(for: .seconds(1))
                    moments.append(clock.now.offset)
                }
                return moments
            }
            for _ in 0..<3 {
                await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(10))
            }
            #expect(try await moments.value == [.seconds(10), .seconds(20), .seconds(30)])
        }
    }

    @Test func `A sleeper wakes at its deadline, and not before`() async throws {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.sleeperCount == 0)
        try await task.value
    }

    @Test func `A sleeper is known by its moment, whoever else sleeps`() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(1))
        let other = Task { try await clock.sleep(for: .seconds(60)) }
        await clock.waitForSleepers(count: 1)
        let hasCome = Locked(false)
        let waiting = Task {
            await clock.waitForSleeper(until: .init(offset: .seconds(3)))
            hasCome.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasCome.withLock { $0 })
        let meant = Task { try await clock.sleep(for: .seconds(2)) }
        await waiting.value
        #expect(clock.sleeperCount == 2)
        for task in [other, meant] { task.cancel() }
    }

    @Test func `A sleeper whose task is cancelled throws at once`() async {
        let clock = TestClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `A sleep in a task that is cancelled already throws`() async {
        let clock = TestClock()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `A deadline in the past does not wait`() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .init(offset: .seconds(4)))
    }

    @Test("A wait for what never comes ends when its task is cancelled, as by a time limit")
    func cancelledWait() async {
        let (clock, script) = (TestClock(), ScriptedTransport([]))
        let waits = [
            Task { await clock.waitForSleepers(count: 1) }, Task { await clock.waitForSleeper(until: .init()) },
            Task { await script.waitForExchanges(count: 1) },
        ]
        for wait in waits {
            wait.cancel()
            await wait.value
        }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await clock.waitForSleepers(count: 1)
        }
        late.cancel()
        await late.value
        #expect(clock.sleeperCount == 0 && script.requests.isEmpty)
    }
}
