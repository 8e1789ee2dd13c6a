/// Calls back at moments to come. However many there are, one task sleeps for all of them, and none while there is none to
/// come.
///
/// A task for each would do, but a sleep that was cancelled stays in the system's queue until its time: with a minute for
/// each call that would be a minute's worth of calls.
final class Deadlines: Sendable {
    /// A moment that somebody waits for.
    struct Ticket: Sendable {
        fileprivate let number: UInt64

        /// Nobody's.
        static let none = Ticket(number: 0)
    }

    private struct State: Sendable {
        var bells: [UInt64: @Sendable () -> Void] = [:]
        var moments = MomentHeap()
        var last: UInt64 = 0
        /// The task that sleeps until the nearest moment, by its number.
        var sleeper: (task: Task<Void, Never>, number: UInt64, until: Duration)?
        var lastSleeper: UInt64 = 0
    }

    private let time: TimeSource
    private let state = Locked(State())

    init(_ time: TimeSource) {
        self.time = time
    }

    deinit {
        state.withLock { $0.sleeper?.task }?.cancel()
    }

    /// - Parameters:
    ///   - moment: on the clock of ``TimeSource/now``.
    ///   - ring: called once, from any thread, unless the ticket is given back before.
    func add(_ moment: Duration, ring: @escaping @Sendable () -> Void) -> Ticket {
        state.withLock { state in
            state.last += 1
            state.bells[state.last] = ring
            state.moments.add(moment, state.last)
            if state.sleeper.map({ moment < $0.until }) ?? true { sleep(until: moment, &state) }
            return Ticket(number: state.last)
        }
    }

    func remove(_ ticket: Ticket) {
        state.withLock { state in
            guard state.bells.removeValue(forKey: ticket.number) != nil else { return }
            state.moments.sweep { [bells = state.bells] in bells[$0] != nil }
        }
    }

    /// How many are waited for.
    var count: Int { state.withLock { $0.bells.count } }

    private func sleep(until moment: Duration, _ state: inout State) {
        state.sleeper?.task.cancel()
        state.lastSleeper += 1
        let number = state.lastSleeper
        // Detached, since it works for others than the one who happens to begin it, and must not take that one's task-local values
        // to them.
        let task = Task.detached { [weak self, time] in
            while let moment = self?.ring(number) { try? await time.sleep(until: moment) }
        }
        state.sleeper = (task, number, moment)
    }

    /// Rings what is due.
    ///
    /// - Returns: until when the sleeper has to sleep; `nil` when there is nothing to sleep for, or another one does it.
    private func ring(_ sleeper: UInt64) -> Duration? {
        let now = time.now()
        let (due, next) = state.withLock { state -> ([@Sendable () -> Void], Duration?) in
            guard state.sleeper?.number == sleeper else { return ([], nil) }
            var due: [@Sendable () -> Void] = []
            while let first = state.moments.first {
                let bell = state.bells[first.number]
                guard bell == nil || first.moment <= now else { break }
                state.moments.removeFirst()
                state.bells[first.number] = nil
                if let bell { due.append(bell) }
            }
            guard let next = state.moments.first?.moment else {
                state.sleeper = nil
                return (due, nil)
            }
            state.sleeper?.until = next
            return (due, next)
        }
        for ring in due { ring() }
        return next
    }
}

/// Numbered moments, of which the first is at hand: a binary heap. What was removed stays until it comes first, or until
/// most of what is there was removed.
struct MomentHeap: Sendable {
    struct Item: Sendable {
        let moment: Duration
        let number: UInt64
    }

    private(set) var items: [Item] = []
    /// How many were removed and are still there.
    private var removed = 0

    var first: Item? { items.first }

    mutating func add(_ moment: Duration, _ number: UInt64) {
        items.append(Item(moment: moment, number: number))
        var place = items.count - 1
        while place > 0, items[place].moment < items[(place - 1) / 2].moment {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = items.popLast(), !items.isEmpty else { return }
        items[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < items.count {
                if items[child].moment < items[least].moment { least = child }
            }
            guard least != place else { return }
            items.swapAt(place, least)
            place = least
        }
    }

    /// Notes that one was removed, and now and then lets go of all that were.
    mutating func sweep(where isLeft: (UInt64) -> Bool) {
        removed += 1
        guard removed > 32, removed > items.count / 2 else { return }
        removed = 0
        // In order is a heap, too.
        items = items.filter { isLeft($0.number) }.sorted { $0.moment < $1.moment }
    }
}
