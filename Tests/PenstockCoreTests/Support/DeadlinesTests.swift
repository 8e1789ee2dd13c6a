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

    @Test func `one that was given back does not ring`() async {
        let deadlines = Deadlines(clock.timeSource)
        let rung = Monitor<[Int]>([])
        let tickets = (0..<200).map { number in
            deadlines.add(.seconds(1 + number % 7)) { rung.withLock { $0.append(number) } }
        }
        for (number, ticket) in tickets.enumerated() where number % 5 != 0 { deadlines.remove(ticket) }
        #expect(deadlines.count <= 40)
        while !Task.isCancelled, clock.sleeperCount == 0, deadlines.count > 0 { await Task.yield() }
        // The task may look at the clock before it is moved, and begin to sleep after that.
        while !Task.isCancelled, rung.withLock({ $0.count < 40 }) {
            clock.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
        }
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
