/// Which of several calls may begin, and which never will: a state machine without tasks and without time, for batches and
/// for graphs. Each call is known by its number from 0; a batch is a graph in which no call waits for another.
package struct CallSchedule: Sendable {
    /// A call that never begins, because another one that it waits for, directly or not, has failed.
    package struct Skip: Hashable, Sendable {
        package let call: Int
        /// The call that failed.
        package let cause: Int

        package init(call: Int, cause: Int) {
            self.call = call
            self.cause = cause
        }
    }

    private enum State: Sendable {
        case waiting, running, over
    }

    private let limit: Int
    private let stopsAtFailure: Bool
    private let children: [[Int]]
    private var missing: [Int]
    private var states: [State]
    /// Calls whose parents have all succeeded, in the order in which they begin; those before `next` have begun.
    private var ready: [Int] = []
    private var next = 0
    /// How many are under way.
    package private(set) var running = 0
    /// Whether no further call begins: it was stopped, or a call failed and one failure is enough.
    package private(set) var isStopped = false

    /// - Parameters:
    ///   - parents: for each call those it waits for. One that is named twice counts once; one that does not exist is never
    ///     waited for.
    ///   - limit: how many may be under way at a time; less than one counts as one, so that there is always progress.
    ///   - stopsAtFailure: whether the first failure ends everything.
    package init(parents: [[Int]], limit: Int, stopsAtFailure: Bool) {
        self.limit = max(limit, 1)
        self.stopsAtFailure = stopsAtFailure
        var children = [[Int]](repeating: [], count: parents.count)
        var missing = [Int](repeating: 0, count: parents.count)
        for (child, parents) in parents.enumerated() {
            for parent in Set(parents) where children.indices.contains(parent) {
                children[parent].append(child)
                missing[child] += 1
            }
        }
        self.children = children
        self.missing = missing
        states = Array(repeating: .waiting, count: parents.count)
        ready = missing.indices.filter { missing[$0] == 0 }
    }

    /// Calls that wait for none of the others.
    package init(count: Int, limit: Int, stopsAtFailure: Bool) {
        self.init(parents: Array(repeating: [], count: count), limit: limit, stopsAtFailure: stopsAtFailure)
    }

    /// The call that begins now: of those that may, the one that could the longest.
    ///
    /// - Returns: `nil` when none may, or as many as allowed are under way.
    package mutating func begin() -> Int? {
        guard !isStopped, running < limit, next < ready.count else { return nil }
        let call = ready[next]
        next += 1
        states[call] = .running
        running += 1
        return call
    }

    /// Notes the end of a call that had begun; nothing for any other.
    ///
    /// - Returns: the calls that will never begin because of it, parents before their children.
    package mutating func finish(_ call: Int, succeeded: Bool) -> [Skip] {
        guard states.indices.contains(call), states[call] == .running else { return [] }
        states[call] = .over
        running -= 1
        guard !succeeded else {
            release(childrenOf: call)
            return []
        }
        if stopsAtFailure { isStopped = true }
        return skip(descendantsOf: call)
    }

    /// No further call begins.
    package mutating func stop() {
        isStopped = true
    }

    private mutating func release(childrenOf call: Int) {
        for child in children[call].sorted() {
            missing[child] -= 1
            if missing[child] == 0, states[child] == .waiting { ready.append(child) }
        }
    }

    private mutating func skip(descendantsOf cause: Int) -> [Skip] {
        var skipped: [Skip] = []
        var open = [cause]
        var index = 0
        while index < open.count {
            for child in children[open[index]].sorted() where states[child] == .waiting {
                states[child] = .over
                skipped.append(Skip(call: child, cause: cause))
                open.append(child)
            }
            index += 1
        }
        return skipped
    }
}
