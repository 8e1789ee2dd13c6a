import PenstockTesting
import Testing

@testable import PenstockCore

/// Moments that many wait for and one task sleeps for.
@Suite(.timeLimit(.minutes(5))) struct DeadlinesTests {
    private let clock = TestClock()

    @Test func `each rings at its moment, whatever the order in which they were asked for`() async {
        let deadlines = Deadlines(clock.timeSource)
        let rung = Monitor<[Int]>([])
        for second in [3, 1, 2, 5, 4] {
            _ = deadlines.add(.seconds(second)) { rung.withLock { $0.append(second) } }
        }
        for second in 1...5 {
            while !Task.isCancelled, clock.sleeperCount == 0 { await Task.yield() }
            clock.advance(by: .seconds(1))
            await rung.wait { $0.count >= second }
            #expect(rung.withLock { $0 } == Array(1...second))
        }
        #expect(deadlines.count == 0)
        while !Task.isCancelled, clock.sleeperCount > 0 { await Task.yield() }
    }

    @TaskLocal private static var mark = 0

    @Test func `a bell hears nothing of the task that happened to begin the sleep`() async {
        let deadlines = Deadlines(clock.timeSource)
        let heard = Monitor<[Int]>([])
        Self.$mark.withValue(7) { _ = deadlines.add(.seconds(1)) { heard.withLock { $0.append(Self.mark) } } }
        while !Task.isCancelled, clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(1))
        await heard.wait { !$0.isEmpty }
        #expect(heard.withLock { $0 } == [0])
    }

    @Test func `a moment that passes before its task has begun to sleep is not slept beyond`() async {
        let moved = Locked(false)
        let time = TimeSource(
            now: { [clock] in clock.now.offset }, date: clock.timeSource.date, sleep: clock.timeSource.sleep
        ) { [clock] moment in
            let moves = moved.withLock { moved in
                defer { moved = true }
                return !moved
            }
            if moves { clock.advance(by: .seconds(10)) }
            try await clock.sleep(until: .init(offset: moment))
        }
        let deadlines = Deadlines(time)
        let rung = Monitor(false)
        _ = deadlines.add(.seconds(10)) { rung.withLock { $0 = true } }
        await rung.waitUnlessCancelled { $0 }
        #expect(clock.now == .init(offset: .seconds(10)))
    }

    @Test func `a source that sleeps durations sleeps for what is left until a moment`() async throws {
        let slept = Locked<[Duration]>([])
        var time = TimeSource(now: { .seconds(5) }, date: { .now }) { duration in slept.withLock { $0.append(duration) }
        }
        for second in [4, 5, 7] { try await time.sleep(until: .seconds(second)) }
        #expect(slept.withLock { $0 } == [.seconds(2)])
        // Its parts belong together: with another one in its place a moment is what that one says.
        time = clock.timeSource
        time.now = { .seconds(99) }
        async let sleep: Void = time.sleep(until: .seconds(100))
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(1))
        try await sleep
    }

    @Test func `one that was given back does not ring`() async {
        let deadlines = Deadlines(clock.timeSource)
        let rung = Monitor<[Int]>([])
        let tickets = (0..<200).map { number in
            deadlines.add(.seconds(1 + number % 7)) { rung.withLock { $0.append(number) } }
        }
        for (number, ticket) in tickets.enumerated() where number % 5 != 0 { deadlines.remove(ticket) }
        #expect(deadlines.count <= 40)
        while !Task.isCancelled, clock.sleeperCount == 0, deadlines.count > 0 { await Task.yield() }
        clock.advance(by: .seconds(7))
        await rung.waitUnlessCancelled { $0.count >= 40 }
        #expect(rung.withLock { $0.sorted() } == (0..<40).map { $0 * 5 })
    }

    @Test func `however many there are, one task sleeps, and none once they are gone with their owner`() async {
        var deadlines: Deadlines? = Deadlines(clock.timeSource)
        for second in 1...1_000 { _ = deadlines?.add(.seconds(second)) {} }
        while !Task.isCancelled, clock.sleeperCount != 1 { await Task.yield() }
        deadlines = nil
        while !Task.isCancelled, clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test func `one that is due already rings at once`() async {
        let deadlines = Deadlines(clock.timeSource)
        let rung = Monitor(false)
        _ = deadlines.add(.zero) { rung.withLock { $0 = true } }
        await rung.wait { $0 }
    }
}
