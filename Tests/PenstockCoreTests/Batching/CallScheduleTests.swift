import PenstockCore
import PenstockTestSupport
import Testing

/// Which call begins, and which never will.
struct CallScheduleTests {
    private func begun(_ schedule: inout CallSchedule) -> [Int] {
        var begun: [Int] = []
        while let call = schedule.begin() { begun.append(call) }
        return begun
    }

    @Test("Calls begin in their order, as many as the limit allows", arguments: [1, 2, 3, 5, 6, 100])
    func ordered(limit: Int) {
        var schedule = CallSchedule(count: 5, limit: limit, stopsAtFailure: false)
        #expect(begun(&schedule) == Array(0..<min(limit, 5)))
        #expect(schedule.running == min(limit, 5))
        #expect(schedule.finish(0, succeeded: true).isEmpty)
        #expect(begun(&schedule) == (limit < 5 ? [limit] : []))
    }

    @Test("A limit below one lets one call at a time through", arguments: [0, -1, .min])
    func absurdLimits(limit: Int) {
        var schedule = CallSchedule(count: 2, limit: limit, stopsAtFailure: false)
        #expect(begun(&schedule) == [0])
        _ = schedule.finish(0, succeeded: true)
        #expect(begun(&schedule) == [1])
        _ = schedule.finish(1, succeeded: true)
        #expect(begun(&schedule) == [])
        #expect(schedule.running == 0)
    }

    @Test("A child begins once all its parents have succeeded, and not before")
    func diamond() {
        var schedule = CallSchedule(parents: [[], [0], [0], [1, 2, 1]], limit: 9, stopsAtFailure: false)
        #expect(begun(&schedule) == [0])
        _ = schedule.finish(0, succeeded: true)
        #expect(begun(&schedule) == [1, 2])
        _ = schedule.finish(2, succeeded: true)
        #expect(begun(&schedule) == [])
        _ = schedule.finish(1, succeeded: true)
        #expect(begun(&schedule) == [3])
    }

    @Test("A failure skips every descendant once, with the call that failed, and nothing else")
    func skips() {
        // 0 → 1 → 3, 0 → 2 → 3; 4 → 5 beside them; 6 waits for both sides.
        var schedule = CallSchedule(
            parents: [[], [0], [0], [1, 2], [], [4], [3, 5]], limit: 9, stopsAtFailure: false)
        #expect(begun(&schedule) == [0, 4])
        #expect(
            schedule.finish(0, succeeded: false) == [1, 2, 3, 6].map { CallSchedule.Skip(call: $0, cause: 0) })
        #expect(!schedule.isStopped)
        #expect(schedule.finish(4, succeeded: true).isEmpty)
        #expect(begun(&schedule) == [5])
        #expect(schedule.finish(5, succeeded: false).isEmpty)
        #expect(begun(&schedule) == [])
    }

    @Test("Of two failures the first is the cause of a common descendant's skip")
    func firstCause() {
        var schedule = CallSchedule(parents: [[], [], [0, 1]], limit: 9, stopsAtFailure: false)
        _ = begun(&schedule)
        #expect(schedule.finish(1, succeeded: false) == [CallSchedule.Skip(call: 2, cause: 1)])
        #expect(schedule.finish(0, succeeded: false).isEmpty)
    }

    @Test("Where one failure is enough nothing begins after it; otherwise everything does", arguments: [true, false])
    func stopping(stops: Bool) {
        var schedule = CallSchedule(count: 4, limit: 2, stopsAtFailure: stops)
        _ = begun(&schedule)
        _ = schedule.finish(1, succeeded: false)
        #expect(schedule.isStopped == stops)
        #expect(begun(&schedule) == (stops ? [] : [2]))
        _ = schedule.finish(0, succeeded: true)
        #expect(begun(&schedule) == (stops ? [] : [3]))
    }

    @Test("After a stop nothing begins")
    func stopped() {
        var schedule = CallSchedule(count: 3, limit: 1, stopsAtFailure: false)
        #expect(schedule.begin() == 0)
        schedule.stop()
        _ = schedule.finish(0, succeeded: true)
        #expect(schedule.begin() == nil)
    }

    @Test("The end of a call that is not under way changes nothing", arguments: [-1, 1, 2])
    func strayEnds(call: Int) {
        var schedule = CallSchedule(parents: [[], [0]], limit: 1, stopsAtFailure: true)
        #expect(schedule.begin() == 0)
        #expect(schedule.finish(call, succeeded: false).isEmpty)
        #expect(!schedule.isStopped)
        #expect(schedule.running == 1)
        _ = schedule.finish(0, succeeded: true)
        #expect(schedule.finish(0, succeeded: false).isEmpty)
        #expect(schedule.running == 0)
        #expect(schedule.begin() == 1)
    }

    @Test("A parent that does not exist is not waited for", arguments: [-1, 1, 7])
    func missingParents(parent: Int) {
        var schedule = CallSchedule(parents: [[parent]], limit: 1, stopsAtFailure: false)
        #expect(schedule.begin() == 0)
    }

    @Test("Random graphs: every call begins once, after its parents, or is skipped below a failure")
    func randomGraphs() {
        var random = Seeded(seed: 20_261)
        for _ in 0..<300 {
            let count = Int.random(in: 1...12, using: &random)
            let parents = (0..<count).map { child in
                (0..<child).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
            }
            let limit = Int.random(in: 1...4, using: &random)
            var schedule = CallSchedule(parents: parents, limit: limit, stopsAtFailure: false)
            var (running, succeeded, failed, skipped): ([Int], Set<Int>, Set<Int>, Set<Int>) = ([], [], [], [])
            repeat {
                while let call = schedule.begin() {
                    #expect(parents[call].allSatisfy(succeeded.contains), "seed \(random.seed)")
                    running.append(call)
                }
                #expect(running.count <= limit)
                guard let index = running.indices.randomElement(using: &random) else { break }
                let call = running.remove(at: index)
                let isSuccess = Int.random(in: 0..<4, using: &random) > 0
                if isSuccess { succeeded.insert(call) } else { failed.insert(call) }
                for skip in schedule.finish(call, succeeded: isSuccess) {
                    #expect(skip.cause == call)
                    #expect(skipped.insert(skip.call).inserted)
                }
            } while true
            #expect(succeeded.count + failed.count + skipped.count == count, "seed \(random.seed)")
            for call in skipped {
                #expect(parents[call].contains { failed.contains($0) || skipped.contains($0) })
            }
        }
    }
}
