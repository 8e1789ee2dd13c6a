import PenstockTestSupport
import Testing

@testable import PenstockCore

@Suite("The admission queue")
struct AdmissionQueueTests {
    typealias Ticket = AdmissionQueue.Ticket

    /// Enters requests of one host, all at the same moment, and returns the queue.
    private func queue(
        _ policy: AdmissionPolicy, _ priorities: [CallPriority], host: String = "a", at now: Duration = .zero
    ) -> AdmissionQueue {
        var queue = AdmissionQueue(policy)
        for (index, priority) in priorities.enumerated() {
            _ = queue.enter(Ticket(index + 1), host: host, priority: priority, at: now)
        }
        return queue
    }

    /// Lets one after the other go, and returns the order in which they were admitted.
    private func order(_ queue: AdmissionQueue, first: Ticket = 1, at now: Duration = .zero) -> [Ticket] {
        var queue = queue
        var order = [first]
        while let last = order.last, let next = queue.leave(last, at: now).first { order.append(next) }
        return order
    }

    @Test("No more are under way than the cap of the host and the cap in all allow")
    func caps() {
        var queue = AdmissionQueue(.init(total: 5, perHost: 4))
        for ticket in 1...4 {
            #expect(queue.enter(Ticket(ticket), host: "a", priority: .normal, at: .zero) == .admitted)
        }
        #expect(queue.enter(5, host: "a", priority: .high, at: .zero) == .waits(.host))
        #expect(queue.enter(6, host: "b", priority: .low, at: .zero) == .admitted)
        #expect(queue.enter(7, host: "b", priority: .low, at: .zero) == .waits(.total))
        #expect(queue.runningCount == 5 && queue.waitingCount == 2)
        // The place of another host is no place for one that is full.
        #expect(queue.leave(6, at: .zero) == [7])
        #expect(queue.leave(1, at: .zero) == [5])
        #expect(queue.leave(1, at: .zero).isEmpty)
        #expect(queue.leave(99, at: .zero).isEmpty)
        for ticket in 2...7 { _ = queue.leave(Ticket(ticket), at: .zero) }
        #expect(queue.runningCount == 0 && queue.waitingCount == 0)
    }

    @Test("What is held back is not forgotten, however many other hosts come by meanwhile")
    func heldAmongManyHosts() {
        func passBy(_ queue: inout AdmissionQueue) {
            for ticket in Ticket(10)..<400 {
                #expect(queue.enter(ticket, host: "h\(ticket)", priority: .normal, at: .seconds(1)) == .admitted)
                _ = queue.leave(ticket, at: .seconds(1))
            }
        }
        var queue = AdmissionQueue(.init(perHost: 1))
        #expect(queue.enter(1, host: "a", priority: .normal, isHeld: true, at: .zero) == .waits(.paused))
        #expect(queue.enter(2, host: "b", priority: .normal, at: .zero) == .admitted)
        #expect(queue.enter(3, host: "b", priority: .normal, at: .zero) == .waits(.host))
        #expect(queue.hold(3, true, at: .zero).isEmpty)
        _ = queue.leave(2, at: .zero)
        passBy(&queue)
        #expect(queue.hold(1, false, at: .seconds(2)) == [1])
        #expect(queue.hold(3, false, at: .seconds(2)) == [3])
        #expect(queue.waitingCount == 0)
    }

    @Test("The more urgent go first, and of equally urgent ones those that came first")
    func priorities() {
        let all: [CallPriority] = [.normal, .background, .normal, .high, .low, .high, .normal]
        #expect(CallPriority.normal < .high && !(CallPriority.high < .high))
        #expect(order(queue(.init(perHost: 1), all)) == [1, 4, 6, 3, 7, 5, 2])
        #expect(order(queue(.init(total: 1), all)) == [1, 4, 6, 3, 7, 5, 2])
    }

    @Test("A call that waits becomes a step more urgent with every interval, so that nobody starves")
    func ageing() {
        for (wait, first) in [(Duration.seconds(15) - .nanoseconds(1), Ticket(3)), (.seconds(15) + .nanoseconds(1), 2)]
        {
            var queue = AdmissionQueue(.init(perHost: 1))
            _ = queue.enter(1, host: "a", priority: .high, at: .zero)
            _ = queue.enter(2, host: "a", priority: .background, at: .zero)
            _ = queue.enter(3, host: "a", priority: .high, at: wait)
            #expect(queue.leave(1, at: wait) == [first])
        }
        // An interval of nothing is a millisecond.
        for ageing in [Duration.zero, .seconds(-1), .milliseconds(1)] {
            for (wait, first) in [
                (Duration.milliseconds(3) - .nanoseconds(1), Ticket(3)), (.milliseconds(3) + .nanoseconds(1), 2),
            ] {
                var queue = AdmissionQueue(.init(perHost: 1, ageing: ageing))
                _ = queue.enter(1, host: "a", priority: .high, at: .zero)
                _ = queue.enter(2, host: "a", priority: .background, at: .zero)
                _ = queue.enter(3, host: "a", priority: .high, at: wait)
                #expect(queue.leave(1, at: wait) == [first])
            }
        }
        // An endless stream of urgent calls, one a second.
        var queue = AdmissionQueue(.init(perHost: 1))
        _ = queue.enter(1, host: "a", priority: .high, at: .zero)
        _ = queue.enter(2, host: "a", priority: .background, at: .zero)
        var running: Ticket = 1
        var second = 0
        while running != 2, second < 100 {
            second += 1
            _ = queue.enter(Ticket(second + 2), host: "a", priority: .high, at: .seconds(second))
            running = queue.leave(running, at: .seconds(second)).first ?? 0
        }
        #expect(running == 2)
        #expect((15...32).contains(second))
    }

    @Test("Equally urgent calls of different hosts go in the order they came")
    func hosts() {
        var queue = AdmissionQueue(.init(total: 1))
        for ticket in 1...6 {
            _ = queue.enter(Ticket(ticket), host: ticket % 2 == 0 ? "a" : "b", priority: .normal, at: .zero)
        }
        #expect(order(queue) == [1, 2, 3, 4, 5, 6])
    }

    @Test("What is immediate waits for nothing and takes nothing")
    func immediate() {
        var queue = queue(.init(perHost: 1), [.normal, .normal])
        #expect(queue.enter(3, host: "a", priority: .immediate, at: .zero) == .admitted)
        #expect(queue.runningCount == 1)
        #expect(queue.raise(2, to: .immediate, at: .zero) == [2])
        #expect(queue.runningCount == 1 && queue.waitingCount == 0)
    }

    @Test("A call that is made more urgent is overtaken no more; less urgent it never becomes")
    func raising() {
        var queue = queue(.init(perHost: 1), [.normal, .normal, .normal, .low])
        #expect(queue.raise(4, to: .high, at: .zero).isEmpty)
        #expect(queue.raise(4, to: .background, at: .zero).isEmpty)
        #expect(queue.raise(3, to: .normal, at: .zero).isEmpty)
        #expect(queue.raise(1, to: .high, at: .zero).isEmpty)
        #expect(order(queue) == [1, 4, 2, 3])
        // Raised to the urgency of one that came later, it goes before that one.
        var older = self.queue(.init(perHost: 1), [.normal, .low, .high, .high])
        _ = older.raise(2, to: .high, at: .zero)
        #expect(order(older) == [1, 2, 3, 4])
    }

    @Test("A call that is made less urgent goes where its coming puts it; more urgent it never becomes by that")
    func lowering() {
        var queue = queue(.init(perHost: 1), [.normal, .normal, .low, .low, .low])
        _ = queue.raise(4, to: .high, at: .zero)
        queue.lower(4, to: .high)
        queue.lower(3, to: .normal)
        queue.lower(1, to: .background)
        queue.lower(99, to: .background)
        #expect(order(queue) == [1, 4, 2, 3, 5])
        var lowered = self.queue(.init(perHost: 1), [.normal, .normal, .low, .low, .low])
        _ = lowered.raise(4, to: .high, at: .zero)
        lowered.lower(4, to: .low)
        #expect(order(lowered) == [1, 2, 3, 4, 5])
        var last = self.queue(.init(perHost: 1), [.normal, .normal, .low, .low])
        last.lower(2, to: .background)
        #expect(order(last) == [1, 3, 4, 2])
        // It stands before nobody where it was.
        var urgent = self.queue(.init(perHost: 1), [.normal, .high, .high, .high])
        urgent.lower(2, to: .low)
        #expect(order(urgent) == [1, 3, 4, 2])
    }

    @Test("A place is taken from others where their number has a limit, and by no other limit")
    func places() {
        #expect(AdmissionPolicy(total: 1).hasPlaces && AdmissionPolicy(perHost: 1).hasPlaces)
        #expect(!AdmissionPolicy(rate: .init(1, per: .seconds(1))).hasPlaces)
        #expect(!AdmissionPolicy(heedsServer: true).hasPlaces && !AdmissionPolicy().hasPlaces)
    }

    @Test("A call whose group is paused is passed over, and keeps its place in the order")
    func held() {
        var queue = queue(.init(perHost: 1), [.normal, .normal, .normal, .normal])
        #expect(queue.hold(2, true, at: .zero).isEmpty)
        #expect(queue.hold(2, true, at: .zero).isEmpty)
        #expect(queue.enter(5, host: "a", priority: .normal, isHeld: true, at: .zero) == .waits(.paused))
        #expect(queue.leave(1, at: .zero) == [3])
        #expect(queue.raise(5, to: .high, at: .zero).isEmpty)
        #expect(queue.hold(5, false, at: .zero).isEmpty)
        #expect(queue.hold(2, false, at: .zero).isEmpty)
        #expect(order(queue, first: 3) == [3, 5, 2, 4])
        // With room, resuming sends at once; what is gone cannot be resumed.
        var idle = AdmissionQueue(.init(perHost: 1))
        _ = idle.enter(1, host: "a", priority: .normal, isHeld: true, at: .zero)
        #expect(idle.hold(1, false, at: .zero) == [1])
        #expect(idle.hold(1, true, at: .zero).isEmpty)
        #expect(idle.enter(2, host: "a", priority: .normal, isHeld: true, at: .zero) == .waits(.paused))
        #expect(idle.leave(2, at: .zero).isEmpty)
        #expect(idle.hold(2, false, at: .zero).isEmpty)
        #expect(idle.waitingCount == 0)
    }

    @Test("The rate is kept for each host, and the queue says when it goes on")
    func rate() {
        var queue = AdmissionQueue(.init(rate: .init(2, per: .seconds(1))))
        #expect(queue.nextMoment(after: .zero) == nil)
        for ticket in 1...2 {
            #expect(queue.enter(Ticket(ticket), host: "a", priority: .normal, at: .zero) == .admitted)
        }
        #expect(queue.enter(3, host: "a", priority: .normal, at: .zero) == .waits(.rate))
        #expect(queue.enter(4, host: "a", priority: .normal, at: .zero) == .waits(.rate))
        #expect(queue.enter(5, host: "b", priority: .normal, at: .zero) == .admitted)
        #expect(queue.nextMoment(after: .zero) == .milliseconds(500))
        #expect(queue.advance(to: .milliseconds(499)).isEmpty)
        #expect(queue.leave(1, at: .milliseconds(499)).isEmpty)
        #expect(queue.advance(to: .milliseconds(500)) == [3])
        #expect(queue.nextMoment(after: .milliseconds(500)) == .seconds(1))
        // A new one does not overtake the one whose time has come.
        #expect(queue.enter(6, host: "a", priority: .normal, at: .seconds(1)) == .waits(.turn))
        #expect(queue.nextMoment(after: .seconds(1)) == .seconds(1))
        #expect(queue.advance(to: .seconds(1)) == [4])
    }

    @Test("Of several hosts that wait, the queue goes on with the one whose time comes first")
    func firstMoment() {
        for hosts in [["a", "b"], ["b", "a"]] {
            var queue = AdmissionQueue(.init(rate: .init(1, per: .seconds(1))))
            for (index, host) in hosts.enumerated() {
                let now = Duration.milliseconds(200 * index)
                _ = queue.enter(Ticket(index + 1), host: host, priority: .normal, at: now)
            }
            let now = Duration.milliseconds(200)
            for (index, host) in hosts.enumerated() {
                let verdict = queue.enter(Ticket(index + 3), host: host, priority: .normal, at: now)
                #expect(verdict == .waits(.rate))
            }
            #expect(queue.nextMoment(after: now) == .seconds(1))
            #expect(queue.advance(to: .seconds(1)) == [3])
            #expect(queue.nextMoment(after: .seconds(1)) == .milliseconds(1_200))
        }
    }

    @Test("Where there is no place, time alone brings none")
    func noPlace() {
        var queue = AdmissionQueue(.init(total: 1, rate: .init(1, per: .seconds(1))))
        _ = queue.enter(1, host: "a", priority: .normal, at: .zero)
        _ = queue.enter(2, host: "a", priority: .normal, at: .zero)
        #expect(queue.nextMoment(after: .zero) == nil)
        #expect(queue.leave(1, at: .zero).isEmpty)
        #expect(queue.nextMoment(after: .zero) == .seconds(1))
        var host = AdmissionQueue(.init(perHost: 1, rate: .init(1, per: .seconds(1))))
        _ = host.enter(1, host: "a", priority: .normal, at: .zero)
        _ = host.enter(2, host: "a", priority: .normal, at: .zero)
        #expect(host.nextMoment(after: .zero) == nil)
    }

    @Test("A wait that is known to reach the deadline is refused at once")
    func deadline() {
        var queue = AdmissionQueue(.init(rate: .init(1, per: .seconds(10))))
        _ = queue.enter(1, host: "a", priority: .normal, at: .zero)
        let enter = { (queue: inout AdmissionQueue, ticket: Ticket, left: Duration?) in
            queue.enter(ticket, host: "a", priority: .normal, timeLeft: left, at: .zero)
        }
        #expect(enter(&queue, 2, .seconds(10)) == .refused(wait: .seconds(10)))
        #expect(queue.waitingCount == 0)
        #expect(enter(&queue, 3, .seconds(10) + .nanoseconds(1)) == .waits(.rate))
        #expect(enter(&queue, 4, nil) == .waits(.rate))
    }

    @Test(
        "Those that go before count for a wait that reaches the deadline: the more urgent, and the equal that came earlier"
    )
    func deadlineBehindOthers() {
        // One leaves at 0 s; those that wait leave 10 s apart.
        for (priorities, new, expected) in [
            ([], .normal, 1), ([.normal], .normal, 2), ([.high], .normal, 2), ([.low], .normal, 1),
            ([.normal, .high, .low, .normal], .normal, 4), ([.normal, .high], .high, 2),
            ([.low, .background], .low, 2),
        ] as [([CallPriority], CallPriority, Int)] {
            var queue = AdmissionQueue(.init(rate: .init(1, per: .seconds(10))))
            _ = queue.enter(1, host: "a", priority: .normal, at: .zero)
            for (index, priority) in priorities.enumerated() {
                _ = queue.enter(Ticket(index + 2), host: "a", priority: priority, at: .zero)
            }
            _ = queue.enter(98, host: "b", priority: .high, at: .zero)
            _ = queue.enter(99, host: "b", priority: .high, at: .zero)
            let wait = Duration.seconds(10 * expected)
            let refused = queue.enter(100, host: "a", priority: new, timeLeft: wait, at: .zero)
            #expect(refused == .refused(wait: wait), "\(priorities)")
            let waits = queue.enter(101, host: "a", priority: new, timeLeft: wait + .nanoseconds(1), at: .zero)
            #expect(waits == .waits(.rate), "\(priorities)")
        }
    }

    @Test("What has become as urgent by its wait goes before as well, and what has left or is held does not")
    func agedBefore() {
        for (age, isBefore) in [(Duration.seconds(5) - .nanoseconds(1), false), (.seconds(5), true)] {
            var queue = AdmissionQueue(.init(rate: .init(1, per: .seconds(100))))
            _ = queue.enter(1, host: "a", priority: .normal, at: .zero)
            for ticket in 2...5 { _ = queue.enter(Ticket(ticket), host: "a", priority: .low, at: .zero) }
            // Came later, and is not as urgent yet.
            _ = queue.enter(6, host: "a", priority: .low, at: .seconds(1))
            _ = queue.leave(3, at: .zero)
            _ = queue.hold(4, true, at: .zero)
            let verdict = queue.enter(7, host: "a", priority: .normal, timeLeft: .seconds(1), at: age)
            #expect(verdict == .refused(wait: .seconds(isBefore ? 300 : 100) - age), "\(age)")
        }
    }

    @Test("What is paused waits, however little time it has: nobody knows when it is resumed")
    func pausedWithDeadline() {
        var queue = queue(.init(rate: .init(1, per: .seconds(10))), [.normal])
        let verdict = queue.enter(2, host: "a", priority: .normal, isHeld: true, timeLeft: .seconds(5), at: .zero)
        #expect(verdict == .waits(.paused))
    }

    @Test("Who has left the middle of the line is not waited for by those who come after")
    func leftBeforeDeadline() {
        var queue = queue(.init(rate: .init(1, per: .seconds(10))), [.normal, .normal, .normal, .normal])
        #expect(queue.leave(3, at: .zero).isEmpty)
        // Behind 2 and 4 it goes after 30 s.
        let verdict = queue.enter(5, host: "a", priority: .normal, timeLeft: .seconds(30), at: .zero)
        #expect(verdict == .refused(wait: .seconds(30)))
        let later = queue.enter(6, host: "a", priority: .normal, timeLeft: .seconds(31), at: .zero)
        #expect(later == .waits(.rate))
    }

    @Test("What is paused stays so when it becomes more or less urgent")
    func pausedPriority() {
        var queue = queue(.init(perHost: 1), [.normal])
        for (ticket, priority) in [(2, CallPriority.high), (3, .low)] {
            let verdict = queue.enter(Ticket(ticket), host: "a", priority: priority, isHeld: true, at: .zero)
            #expect(verdict == .waits(.paused))
        }
        queue.lower(2, to: .low)
        #expect(queue.raise(3, to: .high, at: .zero).isEmpty)
        #expect(queue.leave(1, at: .zero).isEmpty)
        // The one that is more urgent now goes first.
        #expect(queue.hold([2: false, 3: false], at: .zero) == [3])
        #expect(queue.leave(3, at: .zero) == [2])
    }

    @Test("What becomes immediate while it waits leaves the line, and nobody waits behind it")
    func raisedToImmediate() {
        var queue = queue(.init(perHost: 1), [.normal, .normal, .normal])
        #expect(queue.raise(2, to: .immediate, at: .zero) == [2])
        #expect(queue.leave(1, at: .zero) == [3])
    }

    @Test("What is resumed overtakes nobody who came before it")
    func resumedInOrder() {
        var queue = queue(.init(perHost: 1), [.normal, .normal])
        #expect(queue.enter(3, host: "a", priority: .normal, isHeld: true, at: .zero) == .waits(.paused))
        #expect(queue.enter(4, host: "a", priority: .normal, at: .zero) == .waits(.host))
        #expect(queue.hold(3, false, at: .zero).isEmpty)
        #expect(order(queue) == [1, 2, 3, 4])
    }

    @Test("One that is taken out of the line lets nobody go before it leaves, and one that has leave keeps its place")
    func withdrawn() {
        var queue = queue(.init(rate: .init(1, per: .seconds(10))), [.normal, .normal, .normal])
        queue.withdraw(1)
        #expect(queue.runningCount == 1 && queue.waitingCount == 2)
        queue.withdraw(2)
        #expect(queue.runningCount == 1 && queue.waitingCount == 1)
        // Its time has come, and only now anybody is let go.
        #expect(queue.leave(2, at: .seconds(10)) == [3])
    }

    @Test("A server's pause gives back those that cannot be sent in the time that they have, of its host alone")
    func lateByPause() {
        var queue = AdmissionQueue(.init(perHost: 1, heedsServer: true))
        for (ticket, host, left) in [
            (1, "a", nil), (2, "a", 10), (3, "a", 10.001), (4, "a", nil), (5, "b", nil), (6, "b", 10), (7, "a", 9),
        ] as [(Ticket, String, Double?)] {
            _ = queue.enter(
                ticket, host: host, priority: .normal, isHeld: ticket == 7, timeLeft: left.map { .seconds($0) },
                at: .zero)
        }
        #expect(queue.pause(host: "a", for: .seconds(10), at: .zero) == [2, 7])
        #expect(queue.waitingCount == 3)
        #expect(queue.hold(7, false, at: .zero).isEmpty)
        #expect(queue.leave(1, at: .zero).isEmpty)
        #expect(queue.advance(to: .seconds(10)) == [3])
        #expect(queue.leave(3, at: .seconds(10)) == [4])
        // A pause that is shorter than the one before ends no earlier, and one of nothing holds nobody.
        #expect(queue.pause(host: "b", for: .zero, at: .zero).isEmpty)
        var longer = AdmissionQueue(.init(perHost: 1, heedsServer: true))
        longer.pause(host: "a", for: .seconds(9), at: .zero)
        _ = longer.enter(1, host: "a", priority: .normal, timeLeft: .seconds(10), at: .zero)
        _ = longer.enter(2, host: "a", priority: .normal, timeLeft: .seconds(9.5), at: .zero)
        #expect(longer.pause(host: "a", for: .seconds(5), at: .zero).isEmpty)
        #expect(longer.pause(host: "a", for: .seconds(9.5), at: .zero) == [2])
        var deaf = AdmissionQueue(.init(perHost: 1))
        _ = deaf.enter(1, host: "a", priority: .normal, at: .zero)
        _ = deaf.enter(2, host: "a", priority: .normal, timeLeft: .seconds(1), at: .zero)
        #expect(deaf.pause(host: "a", for: .seconds(5), at: .zero).isEmpty)
        #expect(deaf.waitingCount == 1)
    }

    @Test(
        "A server's pause refuses those whom it would have wait for longer than they do, and not those who are held back"
    )
    func overlongPause() {
        func entered(
            _ queue: inout AdmissionQueue, _ ticket: Ticket, _ longest: Double?, isHeld: Bool = false,
            host: String = "a"
        ) -> AdmissionQueue.Verdict {
            queue.enter(
                ticket, host: host, priority: .normal, isHeld: isHeld, longestPause: longest.map { .seconds($0) },
                at: .zero)
        }
        var queue = AdmissionQueue(.init(heedsServer: true))
        queue.pause(host: "a", for: .seconds(60), at: .zero)
        #expect(entered(&queue, 1, 60) == .waits(.rate))
        #expect(entered(&queue, 2, 59.999) == .refused(wait: .seconds(60)))
        #expect(entered(&queue, 3, nil) == .waits(.rate))
        #expect(entered(&queue, 4, 10, isHeld: true) == .waits(.paused))
        #expect(entered(&queue, 5, 60, isHeld: true) == .waits(.paused))
        #expect(entered(&queue, 6, 10, host: "b") == .admitted)
        #expect(queue.refuseLate(at: .zero).isEmpty)
        #expect(queue.hold([4: false, 5: false], at: .zero).isEmpty)
        let late = queue.refuseLate(at: .zero)
        #expect(late.map(\.ticket) == [4] && late.map(\.wait) == [.seconds(60)])
        #expect(queue.waitingCount == 3)
        #expect(queue.pause(host: "a", for: .seconds(60.001), at: .zero) == [1, 5])
        // A rate of the app's own is waited for, however long that takes.
        var rated = AdmissionQueue(.init(rate: .init(1, per: .seconds(100)), heedsServer: true))
        #expect(entered(&rated, 1, 10) == .admitted)
        #expect(entered(&rated, 2, 10) == .waits(.rate))
        #expect(rated.refuseLate(at: .zero).isEmpty)
        #expect(rated.pause(host: "a", for: .seconds(10), at: .zero).isEmpty)
    }

    @Test("Who cannot be sent in time for the app's own rate goes on waiting, whoever else comes or goes")
    func lateByRate() {
        var queue = AdmissionQueue(.init(rate: .init(1, per: .seconds(100)), heedsServer: true))
        #expect(queue.enter(1, host: "a", priority: .normal, at: .zero) == .admitted)
        #expect(
            queue.enter(2, host: "a", priority: .normal, timeLeft: .seconds(101), at: .zero) == .waits(.rate))
        #expect(queue.enter(3, host: "a", priority: .high, at: .zero) == .waits(.rate))
        #expect(queue.advance(to: .seconds(100)) == [3])
        #expect(queue.refuseLate(at: .seconds(100)).isEmpty)
        #expect(queue.refuseLate(2, at: .seconds(100)) == nil)
        // Where the server says it, there is no use in waiting.
        queue.pause(host: "b", for: .seconds(9), at: .seconds(100))
        #expect(queue.refuseLate(at: .seconds(100)).isEmpty)
        #expect(queue.pause(host: "a", for: .seconds(9), at: .seconds(100)) == [2])
    }

    @Test("One that is let go is refused alone where its server has it wait for too long")
    func lateAlone() {
        var queue = AdmissionQueue(.init(heedsServer: true))
        queue.pause(host: "a", for: .seconds(60), at: .zero)
        for ticket: Ticket in 1...3 {
            _ = queue.enter(
                ticket, host: "a", priority: .normal, isHeld: true, longestPause: .seconds(ticket == 3 ? 60 : 10),
                at: .zero)
        }
        for ticket: Ticket in 1...3 {
            #expect(queue.refuseLate(ticket, at: .zero) == nil)
            _ = queue.hold(ticket, false, at: .zero)
        }
        #expect(queue.refuseLate(1, at: .zero) == .seconds(60))
        #expect(queue.refuseLate(1, at: .zero) == nil)
        #expect(queue.refuseLate(3, at: .zero) == nil)
        #expect(queue.waitingCount == 2)
    }

    @Test("A server's pause holds its host where the policy heeds it, and only then")
    func serverPause() {
        for heeds in [true, false] {
            var queue = AdmissionQueue(.init(heedsServer: heeds))
            queue.pause(host: "a", for: .seconds(3), at: .zero)
            let verdict = queue.enter(1, host: "a", priority: .normal, at: .zero)
            #expect(verdict == (heeds ? .waits(.rate) : .admitted))
            #expect(queue.enter(2, host: "b", priority: .normal, at: .zero) == .admitted)
            #expect(queue.advance(to: .seconds(3)) == (heeds ? [1] : []))
        }
    }

    @Test("A cap below 1 is 1, as 0 would stop everything")
    func senseless() {
        var queue = AdmissionQueue(.init(total: 0, perHost: -1))
        #expect(queue.enter(1, host: "a", priority: .normal, at: .zero) == .admitted)
        #expect(queue.enter(2, host: "a", priority: .normal, at: .zero) == .waits(.total))
        #expect(queue.leave(1, at: .zero) == [2])
    }

    @Test("100,000 that wait, of which most leave again, are admitted in order and in time", .timeLimit(.minutes(5)))
    func many() {
        var queue = AdmissionQueue(.init(perHost: 1))
        for ticket in 1...100_000 { _ = queue.enter(Ticket(ticket), host: "a", priority: .normal, at: .zero) }
        for ticket in 2...100_000 where ticket % 10 != 0 { _ = queue.leave(Ticket(ticket), at: .zero) }
        #expect(queue.waitingCount == 10_000)
        #expect(order(queue) == [1] + stride(from: 10, through: 100_000, by: 10).map { Ticket($0) })
    }

    @Test("Of very many hosts only those are forgotten that have nothing under way, nothing waiting and nothing owed")
    func manyHosts() {
        var capped = AdmissionQueue(.init(perHost: 1))
        #expect(capped.enter(1, host: "busy", priority: .normal, at: .zero) == .admitted)
        for ticket in 2...600 {
            #expect(capped.enter(Ticket(ticket), host: "h\(ticket)", priority: .normal, at: .zero) == .admitted)
            _ = capped.leave(Ticket(ticket), at: .zero)
        }
        #expect(capped.enter(601, host: "busy", priority: .normal, at: .zero) == .waits(.host))
        #expect(capped.leave(1, at: .zero) == [601])

        var full = AdmissionQueue(.init(total: 1))
        for ticket in 1...600 {
            _ = full.enter(Ticket(ticket), host: "h\(ticket)", priority: .normal, at: .zero)
        }
        #expect(order(full) == (1...600).map { Ticket($0) })

        var rated = AdmissionQueue(.init(rate: .init(1, per: .seconds(10)), heedsServer: true))
        #expect(rated.enter(1, host: "spent", priority: .normal, at: .zero) == .admitted)
        rated.pause(host: "paused", for: .seconds(10), at: .zero)
        for ticket in 2...600 {
            _ = rated.enter(Ticket(ticket), host: "h\(ticket)", priority: .normal, at: .zero)
            _ = rated.leave(Ticket(ticket), at: .zero)
        }
        _ = rated.leave(1, at: .zero)
        #expect(rated.enter(601, host: "spent", priority: .normal, at: .seconds(9)) == .waits(.rate))
        #expect(rated.enter(602, host: "paused", priority: .normal, at: .seconds(9)) == .waits(.rate))
    }

    @Test("Hosts that nothing is owed to take no room, however many there were")
    func room() {
        func size(afterHosts count: Int) -> Int {
            var queue = AdmissionQueue(.init(perHost: 1))
            for ticket in 1...count {
                _ = queue.enter(Ticket(ticket), host: "h\(ticket)", priority: .normal, at: .zero)
                _ = queue.leave(Ticket(ticket), at: .zero)
            }
            return "\(queue)".utf8.count
        }
        #expect(size(afterHosts: 2_000) < 2 * size(afterHosts: 250))
    }

    @Test("Hosts whose calls were paused and left, or were resumed, take no room either")
    func roomAfterPauses() {
        func size(afterHosts count: Int) -> Int {
            var queue = AdmissionQueue(.init(perHost: 1))
            for ticket in 1...count {
                let ticket = Ticket(ticket)
                _ = queue.enter(ticket, host: "h\(ticket)", priority: .normal, isHeld: true, at: .zero)
                if ticket.isMultiple(of: 2) { _ = queue.hold(ticket, false, at: .zero) }
                _ = queue.leave(ticket, at: .zero)
            }
            return "\(queue)".utf8.count
        }
        #expect(size(afterHosts: 2_000) < 2 * size(afterHosts: 250))
    }

    @Test("A rate that is used up stays so, however many other hosts come by meanwhile")
    func rateAmongManyHosts() {
        var queue = queue(.init(rate: .init(1, per: .seconds(10))), [.normal])
        _ = queue.leave(1, at: .zero)
        for ticket in Ticket(2)...600 {
            _ = queue.enter(ticket, host: "h\(ticket)", priority: .normal, at: .zero)
            _ = queue.leave(ticket, at: .zero)
        }
        #expect(queue.enter(601, host: "a", priority: .normal, at: .zero) == .waits(.rate))
    }

    @Test("Whatever happens, caps are kept, nobody is lost, and an empty queue admits at once", arguments: 0..<20)
    func random(_ seed: UInt64) {
        var random = Seeded(seed: seed)
        var queue = AdmissionQueue(.init(total: 5, perHost: 3))
        var (running, waiting): (Set<Ticket>, Set<Ticket>) = ([], [])
        var hosts: [Ticket: String] = [:]
        var now = Duration.zero
        func note(_ admitted: [Ticket]) {
            for ticket in admitted { #expect(waiting.remove(ticket) != nil) }
            running.formUnion(admitted)
        }
        for ticket in 1...400 {
            now += .milliseconds(Int.random(in: 0...500, using: &random))
            let (ticket, host) = (Ticket(ticket), ["a", "b", "c"].randomElement(using: &random) ?? "a")
            hosts[ticket] = host
            let priority = CallPriority(rawValue: Int.random(in: 0...3, using: &random)) ?? .normal
            switch queue.enter(ticket, host: host, priority: priority, at: now) {
            case .admitted: running.insert(ticket)
            default: waiting.insert(ticket)
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                guard let gone = running.union(waiting).sorted().randomElement(using: &random) else { continue }
                running.remove(gone)
                waiting.remove(gone)
                note(queue.leave(gone, at: now))
            }
            if let some = waiting.sorted().randomElement(using: &random) { note(queue.raise(some, to: .high, at: now)) }
            #expect(running.count <= 5)
            #expect(["a", "b", "c"].allSatisfy { host in running.filter { hosts[$0] == host }.count <= 3 })
            #expect(queue.runningCount == running.count && queue.waitingCount == waiting.count)
        }
        while let gone = running.sorted().first {
            running.remove(gone)
            note(queue.leave(gone, at: now))
        }
        #expect(waiting.isEmpty)
    }
}
