import Foundation
import PenstockCore

/// The rules that every outbox store keeps. They need no test library:
///
/// ```swift
/// for rule in OutboxStoreConformance.rules { try await rule.run { MyStore() } }
/// ```
public enum OutboxStoreConformance {
    /// All rules.
    public static let rules = ordering + folding + sending + leasing + deciding + lanes

    /// One rule.
    public struct Rule: Sendable, CustomStringConvertible {
        /// What must hold.
        public let name: String
        private let check: @Sendable (Probe) async throws -> Void

        init(_ name: String, check: @escaping @Sendable (Probe) async throws -> Void) {
            self.name = name
            self.check = check
        }

        public var description: String { name }

        /// Runs the rule on an empty store, and closes it.
        ///
        /// - Throws: ``ConformanceViolation``, which says what was expected and what was seen; or what `makeStore` throws.
        public func run(_ makeStore: @Sendable () async throws -> any OutboxStore) async throws {
            let store = try await makeStore()
            do {
                try await check(Probe(store: store))
            } catch {
                await store.close()
                throw ConformanceViolation(rule: name, explanation: "\(error)")
            }
            await store.close()
        }
    }

    /// The store under test, and what it is tried with. Moments are seconds.
    struct Probe: Sendable {
        let store: any OutboxStore
        let owner = OutboxOwner(identity: "anna", environment: "test")

        func date(_ second: Double) -> Date { Date(timeIntervalSince1970: 1_000_000 + second) }

        /// A row that expires after 1,000 seconds.
        func row(
            _ mark: String, lane: String = "a", fold: String? = nil, at second: Double = 0, expires: Double = 1_000,
            owner: OutboxOwner? = nil, isKept: Bool = false, stopsLane: Bool = false, intent: String? = nil,
            rollback: String? = nil, destination: String? = nil
        ) -> OutboxRow {
            OutboxRow(
                id: OutboxID(), owner: owner ?? self.owner, lane: lane, fold: fold, destination: destination,
                payload: Data(mark.utf8), created: date(second), expires: date(expires), isKept: isKept,
                stopsLane: stopsLane,
                intent: intent.map { Data($0.utf8) }, rollback: rollback.map { Data($0.utf8) })
        }

        @discardableResult
        func put(_ row: OutboxRow, isNumbered: Bool = false) async throws -> OutboxRow {
            try await store.put(row, isNumbered: isNumbered).row
        }

        func lease(_ holder: String = "one", at second: Double = 0) async throws -> OutboxLease {
            guard let lease = try await store.lease(for: holder, at: date(second), duration: .seconds(15)) else {
                throw Unmet(description: "\(holder) did not get the lease at \(second)")
            }
            return lease
        }

        /// The marks of what is claimed, in alphabetical order.
        func claim(_ lease: OutboxLease, _ limit: Int = 100, at second: Double = 1) async throws -> [String] {
            marks(try await store.claim(of: owner, limit: limit, at: date(second), under: lease)).sorted()
        }

        func settle(_ row: OutboxRow, _ step: OutboxStep, at second: Double = 1, _ lease: OutboxLease) async throws {
            try await store.settle(row.id, step, at: date(second), under: lease)
        }

        func wait(_ row: OutboxRow, until second: Double, isHinted: Bool = false, _ lease: OutboxLease) async throws {
            try await settle(row, .wait(OutboxWait(until: date(second), isHinted: isHinted)), lease)
        }

        func marks(_ rows: [OutboxRow]) -> [String] { rows.map { String(decoding: $0.payload, as: UTF8.self) } }

        var pending: [String] {
            get async throws { marks(try await store.rows(.pending(owner), after: 0, limit: 100)) }
        }

        var undeliverable: [String] {
            get async throws { marks(try await store.rows(.undeliverable(owner), after: 0, limit: 100)) }
        }

        func next(at second: Double) async throws -> Double? {
            try await store.nextMoment(of: owner, at: date(second)).map {
                ($0.timeIntervalSince(date(0)) * 1_000).rounded() / 1_000
            }
        }

        func expect<Value: Equatable>(_ seen: Value, _ expected: Value, _ what: String) throws {
            if seen != expected { throw Unmet(description: "\(what): expected \(expected), saw \(seen)") }
        }

        func expectError(
            _ expected: OutboxStoreError, _ what: String, _ body: () async throws -> some Any
        ) async throws {
            do {
                _ = try await body()
            } catch let error as OutboxStoreError {
                return try expect(error, expected, what)
            }
            throw Unmet(description: "\(what): expected \(expected), saw a success")
        }
    }
}

// MARK: What is put

extension OutboxStoreConformance {
    static let ordering = [
        Rule("What is put is found as it was, in the order in which it was put") { probe in
            var first = probe.row(
                "1", fold: "f", isKept: true, stopsLane: true, intent: "yes", rollback: "no", destination: "d")
            first.position = try await probe.put(first).position
            try await probe.put(probe.row("2", lane: "b"))
            let found = try await probe.store.row(first.id)
            try probe.expect(found, first, "the first row")
            try probe.expect(try await probe.pending, ["1", "2"], "the order")
            let later = try await probe.store.rows(.pending(probe.owner), after: first.position, limit: 100)
            try probe.expect(probe.marks(later), ["2"], "what is behind the first")
            let one = try await probe.store.rows(.pending(probe.owner), after: 0, limit: 1)
            try probe.expect(probe.marks(one), ["1"], "one row")
            try probe.expect(
                try await probe.store.counts(of: probe.owner), OutboxCounts(pending: 2), "how many there are")
        },
        Rule("A row that is not there is nil") { probe in
            try probe.expect(try await probe.store.row(OutboxID()), nil, "no row")
        },
        Rule("The rows of one owner are not those of another, nor of the same user elsewhere") { probe in
            let other = OutboxOwner(identity: "bert", environment: "test")
            let elsewhere = OutboxOwner(identity: "anna", environment: "production")
            for (owner, lane) in [(other, "b"), (elsewhere, "c")] {
                try await probe.put(probe.row("x", lane: lane, owner: owner))
            }
            try probe.expect(try await probe.pending, [], "what is pending")
            try probe.expect(try await probe.next(at: 0), nil, "when something is to be done")
            try probe.expect(try await probe.store.counts(of: probe.owner), OutboxCounts(), "how many there are")
            let lease = try await probe.lease()
            try probe.expect(try await probe.claim(lease), [], "what is claimed")
        },
        Rule(
            "Numbers of a lane begin at 1, rise by one, and are not used again; without being asked for there are none"
        ) {
            probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1"), isNumbered: true)
            try probe.expect(first.number, 1, "the first")
            _ = try await probe.claim(lease)
            try await probe.settle(first, .done, lease)
            try probe.expect(try await probe.put(probe.row("2"), isNumbered: true).number, 2, "after the first is gone")
            try probe.expect(try await probe.put(probe.row("3", lane: "b"), isNumbered: true).number, 1, "another lane")
            try probe.expect(try await probe.put(probe.row("4")).number, nil, "without a number")
            let found = try await probe.store.rows(.pending(probe.owner), after: 0, limit: 9).map(\.number)
            try probe.expect(found, [2, 1, nil], "as they are kept")
        },
        Rule("A payload that is too large is refused") { probe in
            var row = probe.row("x")
            row = OutboxRow(
                id: row.id, owner: row.owner, lane: row.lane, payload: Data(count: 513 << 10), created: row.created,
                expires: row.expires)
            let large = row
            try await probe.expectError(.tooLarge(bytes: 513 << 10, limit: 512 << 10), "513 KiB") {
                try await probe.put(large)
            }
            try probe.expect(try await probe.pending, [], "what was kept")
        },
    ]

    static let folding = [
        Rule("A later write of a fold replaces those that wait and those that failed, and keeps the first rollback") {
            probe in
            let lease = try await probe.lease()
            let failed = try await probe.put(probe.row("1", fold: "f", intent: "on", rollback: "off"))
            _ = try await probe.claim(lease)
            try await probe.settle(failed, .undeliverable(OutboxFailure(.refused, status: 404)), lease)
            let second = probe.row("2", fold: "f", intent: "off", rollback: "other")
            try probe.expect(
                try await probe.store.put(second, isNumbered: false).replaced, [failed.id], "what the second replaced")
            let third = try await probe.store.put(probe.row("3", lane: "b", fold: "f", intent: "on"), isNumbered: false)
            try probe.expect(third.replaced, [second.id], "what the third replaced")
            try probe.expect(third.row.rollback, Data("off".utf8), "what it rolls back to")
            try await probe.put(probe.row("4", fold: "g"))
            try probe.expect(try await probe.pending, ["3", "4"], "what is left")
            try probe.expect(try await probe.store.rows(.fold("f"), after: 0, limit: 9), [third.row], "the fold")
        },
        Rule("What is being sent, and what may have been processed, is not replaced") { probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1", fold: "f"))
            _ = try await probe.claim(lease)
            let second = try await probe.store.put(probe.row("2", fold: "f"), isNumbered: false)
            try probe.expect(second.replaced, [], "while the first is being sent")
            let doubtful = OutboxWait(until: probe.date(5), unanswered: probe.date(1))
            try await probe.settle(first, .wait(doubtful), lease)
            let third = try await probe.store.put(probe.row("3", fold: "f"), isNumbered: false)
            try probe.expect(third.replaced, [second.row.id], "while the first is in doubt")
            try probe.expect(try await probe.pending, ["1", "3"], "what is left")
        },
        Rule("What is done gives the waiting rest of its fold its intent to roll back to") { probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1", fold: "f", intent: "on", rollback: "off"))
            let other = try await probe.put(probe.row("x", lane: "b", fold: "g", intent: "on", rollback: "off"))
            _ = try await probe.claim(lease)
            let second = try await probe.put(probe.row("2", fold: "f", intent: "off", rollback: "off"))
            try await probe.settle(first, .done, lease)
            try probe.expect(try await probe.store.row(second.id)?.rollback, Data("on".utf8), "of the same fold")
            try probe.expect(try await probe.store.row(other.id)?.rollback, Data("off".utf8), "of another fold")
        },
    ]
}

// MARK: The sender

extension OutboxStoreConformance {
    static let sending = [
        Rule("One row of a lane is sent at a time, the first; lanes go side by side, up to the limit") { probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("a1", lane: "a"))
            for (mark, lane, second) in [("a2", "a", 0.0), ("b1", "b", 0.1), ("b2", "b", 0.1), ("c1", "c", 0.2)] {
                try await probe.put(probe.row(mark, lane: lane, at: second))
            }
            try probe.expect(try await probe.claim(lease, 2), ["a1", "b1"], "the lanes that have waited the longest")
            try probe.expect(try await probe.claim(lease, 2), ["c1"], "the last lane")
            try probe.expect(try await probe.claim(lease, 2), [], "while all lanes are busy")
            try await probe.settle(first, .done, lease)
            try probe.expect(try await probe.claim(lease, 2), ["a2"], "once the first is done")
            try probe.expect(try await probe.store.row(first.id), nil, "the row that is done")
            try probe.expect(try await probe.claim(lease, 0), [], "with no place")
        },
        Rule("A claim counts the attempt and notes when it began") { probe in
            let lease = try await probe.lease()
            let row = try await probe.put(probe.row("1"))
            let claimed = try await probe.store.claim(of: probe.owner, limit: 1, at: probe.date(3), under: lease)
            try probe.expect(claimed.first?.attempts, 1, "attempts")
            try probe.expect(claimed.first?.state, .sending, "state")
            try probe.expect(try await probe.store.row(row.id), claimed.first, "as it is kept")
            try probe.expect(claimed.first?.started, probe.date(3), "started")
            try await probe.wait(row, until: 3, lease)
            let kept = try await probe.store.row(row.id)
            try probe.expect(kept?.state, .queued, "state afterwards")
            try probe.expect(kept?.started, nil, "started afterwards")
        },
        Rule("A lane waits until its moment, and not longer than any wait is") { probe in
            let lease = try await probe.lease()
            let row = try await probe.put(probe.row("1"))
            try probe.expect(try await probe.next(at: 0), 0, "at first")
            _ = try await probe.claim(lease)
            try probe.expect(try await probe.next(at: 1), 15, "while it is being sent: the end of the lease")
            try await probe.settle(
                row, .wait(OutboxWait(until: probe.date(10), conflicts: 2, unanswered: probe.date(1))), lease)
            try probe.expect(try await probe.store.row(row.id)?.conflicts, 2, "conflicts")
            try probe.expect(try await probe.store.row(row.id)?.unanswered, probe.date(1), "unanswered")
            try probe.expect(try await probe.next(at: 1), 10, "the next moment")
            try probe.expect(try await probe.claim(lease, at: 9.999), [], "before its moment")
            try probe.expect(try await probe.claim(lease, at: 10), ["1"], "at its moment")
            try await probe.wait(row, until: 500, lease)
            try probe.expect(try await probe.store.row(row.id)?.expires, probe.date(1_000), "its own end")
            // The clock is set back by more than a day.
            try probe.expect(try await probe.next(at: 500 - 86_400), 500, "a day before its moment")
            try probe.expect(try await probe.claim(lease, at: 500 - 86_400), [], "a day before its moment")
            try probe.expect(try await probe.next(at: 499 - 86_400), 499 - 86_400, "earlier than any wait is long")
            try probe.expect(try await probe.claim(lease, at: 499 - 86_400), ["1"], "earlier than any wait is long")
            try await probe.settle(row, .wait(OutboxWait(until: probe.date(0), expires: probe.date(700))), lease)
            try probe.expect(try await probe.store.row(row.id)?.expires, probe.date(700), "an end that the wait names")
            try probe.expect(try await probe.claim(lease, at: 700), [], "at that end")
        },
        Rule("What is undeliverable is listed, and the lane goes on unless the row stops it") { probe in
            let lease = try await probe.lease()
            let failure = OutboxFailure(.refused, status: 410, mayBeProcessed: true)
            var first: [OutboxRow] = []
            for (lane, stops) in [("a", false), ("b", true)] {
                first.append(try await probe.put(probe.row("\(lane)1", lane: lane, stopsLane: stops)))
                try await probe.put(probe.row("\(lane)2", lane: lane, stopsLane: stops))
            }
            _ = try await probe.claim(lease)
            for row in first {
                try await probe.settle(row, .undeliverable(failure), lease)
                try probe.expect(try await probe.store.row(row.id)?.state, .undeliverable(failure), "the failure")
            }
            try probe.expect(try await probe.undeliverable, ["a1", "b1"], "the list")
            try probe.expect(
                try await probe.store.counts(of: probe.owner), OutboxCounts(pending: 2, undeliverable: 2), "how many")
            let claimed = try await probe.store.claim(of: probe.owner, limit: 9, at: probe.date(1), under: lease)
            try probe.expect(probe.marks(claimed), ["a2"], "what goes on")
            guard let second = claimed.first else { return }
            try probe.expect(try await probe.next(at: 2), 15, "the end of the lease under which the rest is sent")
            try await probe.settle(second, .done, lease)
            try probe.expect(
                try await probe.next(at: 2), 1_000, "what is to be done: the rest of the stopped lane expires")
        },
        Rule("An answer settles the doubt about an earlier attempt, unless the failure says otherwise") { probe in
            let lease = try await probe.lease()
            let cases: [(mayBeProcessed: Bool, before: Double?, left: Double?)] = [
                (false, nil, nil), (false, 0, nil), (true, 0, 0), (true, nil, 2),
            ]
            for (index, (mayBeProcessed, before, left)) in cases.enumerated() {
                let row = try await probe.put(probe.row("1", lane: "\(index)"))
                _ = try await probe.claim(lease)
                let wait = OutboxWait(until: probe.date(0), unanswered: before.map { probe.date($0) })
                try await probe.settle(row, .wait(wait), lease)
                _ = try await probe.claim(lease, at: 2)
                try await probe.settle(
                    row, .undeliverable(OutboxFailure(.refused, mayBeProcessed: mayBeProcessed)), at: 3, lease)
                let kept = try await probe.store.row(row.id)?.unanswered
                try probe.expect(
                    kept, left.map { probe.date($0) }, "\(mayBeProcessed) after \(String(describing: before))")
            }
        },
        Rule("What has expired is not claimed, and goes to the undeliverable, wherever it stands in its lane") {
            probe in
            let lease = try await probe.lease()
            try await probe.put(probe.row("a1", expires: 10))
            let second = try await probe.put(probe.row("a2", expires: 20))
            try await probe.put(probe.row("a3", expires: 10))
            try probe.expect(try await probe.claim(lease, at: 10), [], "at its end")
            try probe.expect(try await probe.next(at: 11), 0, "when there is something to do")
            let late = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(9.999), under: lease)
            try probe.expect(late, [], "before the end")
            let one = try await probe.store.expire(of: probe.owner, limit: 1, at: probe.date(10), under: lease)
            try probe.expect(one.count, 1, "one at a time")
            let rest = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(10), under: lease)
            try probe.expect(rest.map(\.state), [.undeliverable(OutboxFailure(.expired))], "the rest")
            try probe.expect(try await probe.undeliverable, ["a1", "a3"], "the list")
            try probe.expect(try await probe.claim(lease, at: 19), ["a2"], "what is left goes on")
            let expired = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(99), under: lease)
            try probe.expect(expired, [], "what is being sent does not expire")
            try await probe.settle(
                second, .wait(OutboxWait(until: probe.date(30), unanswered: probe.date(19))), at: 20, lease)
            let doubtful = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(99), under: lease)
            try probe.expect(
                doubtful.map(\.state), [.undeliverable(OutboxFailure(.expired, mayBeProcessed: true))], "in doubt")
        },
        Rule("What came of a row that is gone is nothing") { probe in
            let lease = try await probe.lease()
            try await probe.settle(probe.row("x"), .done, lease)
            try await probe.wait(probe.row("x"), until: 1, lease)
        },
    ]

    static let leasing = [
        Rule("One has the lease until it lets go, renews it as often as it likes, and cannot get it from another") {
            probe in
            let first = try await probe.lease(at: 0)
            let second = try await probe.store.lease(for: "two", at: probe.date(14), duration: .seconds(15))
            try probe.expect(second, nil, "while it is held")
            let renewed = try await probe.lease(at: 14)
            try probe.expect(renewed.token, first.token, "the token of a lease that is renewed")
            try probe.expect(renewed.expires, probe.date(29), "its end")
            let late = try await probe.store.lease(for: "two", at: probe.date(28.9), duration: .seconds(15))
            try probe.expect(late, nil, "before its new end")
            try await probe.store.release(renewed)
            let other = try await probe.lease("two", at: 20)
            try probe.expect(other.token, first.token + 1, "the token of the next")
            try await probe.store.release(renewed)
            let held = try await probe.store.lease(for: "one", at: probe.date(21), duration: .seconds(15))
            try probe.expect(held, nil, "a release of a lease that is another's")
        },
        Rule("A lease that ran out is another's, and whoever had it is fenced off") { probe in
            let old = try await probe.lease(at: 0)
            let row = try await probe.put(probe.row("1"))
            _ = try await probe.claim(old)
            let new = try await probe.lease("two", at: 15)
            for (what, body) in [
                ("claim", { _ = try await probe.claim(old) }), ("settle", { try await probe.settle(row, .done, old) }),
                (
                    "expire",
                    { _ = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(1), under: old) }
                ),
            ] as [(String, () async throws -> Void)] {
                try await probe.expectError(.fenced, what) { try await body() }
            }
            try probe.expect(try await probe.claim(new, at: 15), ["1"], "what the new one claims")
            try await probe.store.release(new)
            try await probe.expectError(.fenced, "after letting go") { try await probe.claim(new) }
        },
        Rule("Who takes the lease finds what was being sent queued, due and in doubt") { probe in
            let old = try await probe.lease(at: 0)
            let row = try await probe.put(probe.row("1"))
            let other = OutboxOwner(identity: "bert", environment: "test")
            let foreign = try await probe.put(probe.row("x", lane: "x", owner: other))
            _ = try await probe.claim(old, at: 2)
            _ = try await probe.store.claim(of: other, limit: 1, at: probe.date(3), under: old)
            _ = try await probe.lease(at: 5)
            try probe.expect(try await probe.store.row(row.id)?.state, .sending, "while it is only renewed")
            try probe.expect(try await probe.next(at: 6), 20, "when the lease ends")
            try probe.expect(try await probe.next(at: 20), 20, "once the lease has ended")
            try probe.expect(try await probe.next(at: 30), 30, "after the lease has ended")
            let new = try await probe.lease("two", at: 20)
            for (id, second) in [(row.id, 2.0), (foreign.id, 3)] {
                let found = try await probe.store.row(id)
                try probe.expect(found?.state, .queued, "its state")
                try probe.expect(found?.attempts, 1, "its attempts")
                try probe.expect(found?.unanswered, probe.date(second), "since when it is in doubt")
                try probe.expect(found?.started, nil, "when it was begun")
            }
            _ = try await probe.claim(new, at: 20)
            let third = try await probe.lease("three", at: 40)
            try probe.expect(try await probe.store.row(row.id)?.unanswered, probe.date(2), "the first doubt stays")
            try probe.expect(try await probe.claim(third, at: 40), ["1"], "what is claimed again")
        },
        Rule("A lease that a wrong clock made holds nothing") { probe in
            _ = try await probe.lease(at: 100_000)
            let now = try await probe.lease("two", at: 0)
            try probe.expect(now.token, 2, "the token")
        },
    ]

    static let deciding = [
        Rule("What waits can be hastened, but for what a server has named a moment") { probe in
            let lease = try await probe.lease()
            for (lane, isHinted) in [("a", false), ("b", true)] {
                let row = try await probe.put(probe.row(lane, lane: lane))
                _ = try await probe.claim(lease)
                try await probe.wait(row, until: 50, isHinted: isHinted, lease)
            }
            try await probe.store.hasten(OutboxOwner(identity: "bert", environment: "test"), at: probe.date(2))
            try probe.expect(try await probe.claim(lease, at: 2), [], "of another owner")
            try await probe.store.hasten(probe.owner, at: probe.date(2))
            try probe.expect(try await probe.claim(lease, at: 2), ["a"], "what is hastened")
            try probe.expect(try await probe.claim(lease, at: 50), ["b"], "what the server has named a moment")
        },
        Rule("An undeliverable row is queued again in its old place, and its lane goes on") { probe in
            let lease = try await probe.lease()
            let row = try await probe.put(probe.row("1", stopsLane: true))
            try await probe.put(probe.row("2"))
            try probe.expect(
                try await probe.store.requeue(row.id, expires: probe.date(2_000), at: probe.date(1)), false,
                "one that waits")
            _ = try await probe.claim(lease)
            try await probe.settle(row, .undeliverable(OutboxFailure(.conflict, status: 409)), lease)
            try probe.expect(try await probe.claim(lease), [], "while the lane is stopped")
            try probe.expect(
                try await probe.store.requeue(row.id, expires: probe.date(2_000), at: probe.date(5)), true, "requeued")
            let found = try await probe.store.row(row.id)
            try probe.expect(found?.expires, probe.date(2_000), "its end")
            try probe.expect(found?.attempts, 0, "its attempts")
            try probe.expect(try await probe.pending, ["1", "2"], "the order")
            try probe.expect(try await probe.claim(lease, at: 5), ["1"], "what is sent")
        },
        Rule("What is removed is gone, its lane goes on, and what is being sent stays") { probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1", stopsLane: true))
            let second = try await probe.put(probe.row("2"))
            _ = try await probe.claim(lease)
            try probe.expect(try await probe.store.remove(first.id), false, "what is being sent")
            try await probe.settle(first, .undeliverable(OutboxFailure(.refused)), lease)
            try probe.expect(try await probe.store.remove(first.id), true, "what failed")
            try probe.expect(try await probe.store.remove(first.id), true, "what is gone already")
            try probe.expect(try await probe.claim(lease), ["2"], "what goes on")
            try await probe.wait(second, until: 1, lease)
            try probe.expect(try await probe.store.remove(second.id), true, "what waits")
            try probe.expect(try await probe.pending, [], "what is left")
        },
        Rule("A user's rows are removed in every environment, being sent or not, but those that are kept") { probe in
            let lease = try await probe.lease()
            let elsewhere = OutboxOwner(identity: "anna", environment: "production")
            let other = OutboxOwner(identity: "bert", environment: "test")
            let first = try await probe.put(probe.row("1"))
            let second = try await probe.put(probe.row("2", lane: "b", owner: elsewhere))
            try await probe.put(probe.row("3", lane: "c", isKept: true))
            try await probe.put(probe.row("4", lane: "d", owner: other))
            _ = try await probe.claim(lease)
            let gone = try await probe.store.removeAll(ofIdentity: probe.owner.identity)
            try probe.expect(Set(gone), [first.id, second.id], "what was removed")
            try probe.expect(try await probe.pending, ["3"], "what was kept")
            try probe.expect(try await probe.store.counts(of: other), OutboxCounts(pending: 1), "of another user")
            try await probe.settle(first, .done, lease)
            try await probe.put(probe.row("5"))
            try probe.expect(try await probe.claim(lease), ["5"], "the lane of what was removed")
        },
        Rule("A store that was closed says so") { probe in
            await probe.store.close()
            try await probe.expectError(.closed, "put") { try await probe.put(probe.row("x")) }
        },
    ]
}
