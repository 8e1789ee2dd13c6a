import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A value behind a lock, and those who wait for it.
@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
    @Test func `a condition that holds already is not waited for`() async {
        await Monitor(3).wait { $0 == 3 }
    }

    @Test func `a change wakes those whose condition it meets, and no others`() async {
        let monitor = Monitor(0)
        let woken = Box<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for goal in 1...3 {
                group.addTask {
                    await monitor.wait { $0 >= goal }
                    woken.update { $0.append(goal) }
                }
            }
            group.addTask {
                for value in 1...3 {
                    monitor.withLock { $0 = value }
                    while !Task.isCancelled, woken.value.count < value { await Task.yield() }
                }
            }
        }
        #expect(woken.value == [1, 2, 3])
    }

    @Test func `what one takes is no longer there for the next, and who came first takes first`() async {
        let tickets = Monitor(0)
        let waiting = Box(0)
        let served = Box<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in 1...4 {
                group.addTask {
                    let isMine = Box(false)
                    _ = await tickets.wait { left in
                        if !isMine.value { waiting.update { $0 += 1 } }
                        isMine.value = true
                        guard left > 0 else { return nil as Int? }
                        left -= 1
                        served.update { $0.append(number) }
                        return number
                    }
                }
                while !Task.isCancelled, waiting.value < number { await Task.yield() }
            }
            for sold in 1...4 {
                tickets.withLock { $0 += 1 }
                while !Task.isCancelled, served.value.count < sold { await Task.yield() }
                #expect(served.value.count == sold)
            }
        }
        #expect(served.value == [1, 2, 3, 4])
    }

    @Test func `a body that throws changes what it changed, and wakes nobody`() async {
        struct Stop: Error {}
        let monitor = Monitor(0)
        #expect(throws: Stop.self) {
            try monitor.withLock { value in
                value = 1
                throw Stop()
            }
        }
        #expect(monitor.withLock { $0 } == 1)
    }
}
