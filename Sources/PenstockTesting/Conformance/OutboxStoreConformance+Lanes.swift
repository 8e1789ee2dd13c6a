import Foundation
import PenstockCore

extension OutboxStoreConformance {
    static let lanes = [
        Rule(
            "Where the row goes that its lane waits with, the next one does not wait for it, and no other ends the wait"
        ) {
            probe in
            let lease = try await probe.lease()
            for (lane, gone) in [("a", 0), ("b", 1), ("c", 0), ("d", 1), ("e", 0), ("f", 0)] {
                var rows: [OutboxRow] = []
                for index in 0..<3 {
                    let fold = lane == "c" || lane == "d" ? "\(lane)\(index)" : nil
                    let isLate = (lane == "e" || lane == "f") && index == gone
                    let row = probe.row(
                        "\(lane)\(index)", lane: lane, fold: fold, expires: isLate ? 10 : 1_000,
                        isKept: !(lane == "f" && index == gone))
                    rows.append(try await probe.put(row))
                }
                _ = try await probe.claim(lease)
                try await probe.wait(rows[0], until: 50, isHinted: true, lease)
                switch lane {
                case "a", "b":
                    try probe.expect(try await probe.store.remove(rows[gone].id), true, "the removal in \(lane)")
                case "c", "d":
                    let new = probe.row("\(lane)3", lane: lane, fold: "\(lane)\(gone)", at: 2, isKept: true)
                    let replaced = try await probe.store.put(new, isNumbered: false).replaced
                    try probe.expect(replaced, [rows[gone].id], "what is replaced in \(lane)")
                case "e":
                    let late = try await probe.store.expire(
                        of: probe.owner, limit: 9, at: probe.date(10), under: lease)
                    try probe.expect(probe.marks(late), ["e0"], "what expires")
                default:
                    let removed = try await probe.store.removeAll(ofIdentity: probe.owner.identity)
                    try probe.expect(removed, [rows[gone].id], "what is removed for good")
                }
                let next = ["b", "d"].contains(lane) ? [] : ["\(lane)1"]
                try probe.expect(try await probe.claim(lease, at: 11), next, "what is sent of \(lane)")
                let left = try await probe.store.claim(of: probe.owner, limit: 9, at: probe.date(50), under: lease)
                try probe.expect(probe.marks(left), next.isEmpty ? ["\(lane)0"] : [], "what was waiting in \(lane)")
            }
        },
        Rule(
            "Lanes whose first row goes where nothing is sent are passed over, however many there are; others are found"
        ) {
            probe in
            let (far, near) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
            let lease = try await probe.lease()
            for index in 0..<150 {
                try await probe.put(probe.row("far", lane: "far \(index)", destination: far))
            }
            try await probe.put(probe.row("behind", lane: "far 0", destination: near))
            let first = try await probe.put(probe.row("near", lane: "near", at: 5, destination: near))
            try await probe.put(probe.row("far behind", lane: "near", at: 5, destination: far))
            try await probe.put(probe.row("somewhere", lane: "somewhere", at: 6))
            let next = { (second: Double) in
                try await probe.store.nextMoment(of: probe.owner, avoiding: [far, "c"], at: probe.date(second))
            }
            let claimed = { (second: Double) in
                let rows = try await probe.store.claim(
                    of: probe.owner, avoiding: [far, "c"], limit: 9, at: probe.date(second), under: lease)
                return probe.marks(rows)
            }
            try probe.expect(try await next(1), probe.date(5), "when something is to be done")
            try probe.expect(try await claimed(4), [], "before")
            try probe.expect(try await claimed(6), ["near", "somewhere"], "what is claimed")
            try await probe.settle(first, .done, at: 7, lease)
            try probe.expect(try await claimed(8), [], "behind what was sent")
            let rest = try await probe.store.claim(
                of: probe.owner, avoiding: [near], limit: 200, at: probe.date(9), under: lease)
            try probe.expect(rest.count, 151, "how many are left for elsewhere")
        },
        Rule("What is done takes with it what failed before it in its fold, which would undo it") { probe in
            let lease = try await probe.lease()
            let refused = OutboxStep.undeliverable(OutboxFailure(.refused, status: 403))
            let first = try await probe.put(probe.row("1", fold: "f", stopsLane: true))
            let other = try await probe.put(probe.row("x", lane: "x", fold: "g"))
            _ = try await probe.claim(lease)
            let second = try await probe.put(probe.row("2", lane: "b", fold: "f"))
            try await probe.put(probe.row("behind"))
            _ = try await probe.claim(lease)
            let third = try await probe.put(probe.row("3", lane: "c", fold: "f"))
            _ = try await probe.claim(lease)
            for row in [first, other, third] { try await probe.settle(row, refused, lease) }
            try probe.expect(try await probe.claim(lease), [], "while the first stops its lane")
            try await probe.settle(second, .done, lease)
            try probe.expect(try await probe.undeliverable, ["x", "3"], "what was put later stays")
            try probe.expect(
                try await probe.store.requeue(first.id, expires: probe.date(2_000), at: probe.date(1)), false, "again")
            try probe.expect(try await probe.claim(lease), ["behind"], "what the first had stopped")
        },
        Rule(
            "What is done takes with it what may have been processed before it in its fold, but for what is being sent"
        ) {
            probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1", fold: "f"))
            let other = try await probe.put(probe.row("x", lane: "x", fold: "f"))
            _ = try await probe.claim(lease)
            let doubtful = OutboxWait(until: probe.date(50), unanswered: probe.date(1))
            try await probe.settle(first, .wait(doubtful), lease)
            let second = try await probe.put(probe.row("2", lane: "b", fold: "f"))
            try probe.expect(try await probe.claim(lease, at: 2), ["2"], "what is sent meanwhile")
            try await probe.settle(second, .done, at: 3, lease)
            try probe.expect(try await probe.store.row(first.id), nil, "what would undo it")
            try probe.expect(try await probe.store.row(other.id)?.state, .sending, "what is being sent")
        },
        Rule("A row is not queued again while a later one of its fold is on its way") { probe in
            let lease = try await probe.lease()
            let again = { (row: OutboxRow) in
                try await probe.store.requeue(row.id, expires: probe.date(2_000), at: probe.date(2))
            }
            let first = try await probe.put(probe.row("1", fold: "f"))
            _ = try await probe.claim(lease)
            let second = try await probe.put(probe.row("2", lane: "b", fold: "f"))
            let conflict = OutboxFailure(.conflict, status: 409, mayBeProcessed: true)
            try await probe.settle(first, .undeliverable(conflict), lease)
            try probe.expect(try await again(first), false, "while the second waits")
            try probe.expect(try await probe.claim(lease), ["2"], "what is sent")
            try probe.expect(try await again(first), false, "while the second is being sent")
            try probe.expect(try await probe.undeliverable, ["1"], "what is left undeliverable")
            try await probe.settle(second, .undeliverable(OutboxFailure(.refused)), lease)
            try probe.expect(try await again(first), true, "once the second has failed")
            try probe.expect(try await again(second), true, "the second, behind the first")
            try probe.expect(try await probe.pending, ["1", "2"], "the order")
        },
        Rule("A row that is queued again is due at once where it is the first of its lane, and ends no wait of another")
        {
            probe in
            let lease = try await probe.lease()
            let ahead = try await probe.put(probe.row("1"))
            let behind = try await probe.put(probe.row("2", expires: 5))
            let first = try await probe.put(probe.row("3", lane: "b"))
            _ = try await probe.claim(lease)
            try await probe.wait(ahead, until: 50, isHinted: true, lease)
            let last = try await probe.put(probe.row("4", lane: "b"))
            try await probe.settle(first, .undeliverable(OutboxFailure(.refused)), lease)
            _ = try await probe.claim(lease)
            try await probe.wait(last, until: 50, isHinted: true, lease)
            _ = try await probe.store.expire(of: probe.owner, limit: 9, at: probe.date(10), under: lease)
            try probe.expect(try await probe.undeliverable, ["2", "3"], "what failed")
            for row in [behind, first] {
                try probe.expect(
                    try await probe.store.requeue(row.id, expires: probe.date(2_000), at: probe.date(11)), true, "again"
                )
            }
            try probe.expect(try await probe.claim(lease, at: 11), ["3"], "what is due")
            try probe.expect(try await probe.claim(lease, at: 50), ["1"], "what the server has named a moment")
        },
        Rule("A lane in which nothing is queued is due with what is put, whatever a wrong clock has written before") {
            probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1"), isNumbered: true)
            _ = try await probe.claim(lease)
            try await probe.settle(first, .done, at: 500, lease)
            try await probe.put(probe.row("2", at: 2), isNumbered: true)
            try probe.expect(try await probe.next(at: 2), 2, "the next moment")
            try probe.expect(try await probe.claim(lease, at: 2), ["2"], "what is sent")
        },
        Rule("A lane that a failure has stopped is hastened as well") { probe in
            let lease = try await probe.lease()
            let first = try await probe.put(probe.row("1", stopsLane: true))
            _ = try await probe.claim(lease)
            try await probe.put(probe.row("2"))
            try await probe.settle(first, .undeliverable(OutboxFailure(.refused)), at: 500, lease)
            try await probe.store.hasten(probe.owner, at: probe.date(2))
            try probe.expect(try await probe.claim(lease, at: 2), [], "while it is stopped")
            try probe.expect(try await probe.store.remove(first.id), true, "the removal")
            try probe.expect(try await probe.claim(lease, at: 2), ["2"], "what is sent")
        },
        Rule("A lane whose first row rests is not due before that is over, whatever becomes of the one ahead of it") {
            probe in
            let lease = try await probe.lease()
            let resting = { (mark: String, lane: String, fold: String, second: Double) in
                var row = probe.row(mark, lane: lane, fold: fold, at: second)
                row.restsUntil = probe.date(second + 5)
                return try await probe.put(row)
            }
            let ahead = try await probe.put(probe.row("1", fold: "f"))
            let failing = try await probe.put(probe.row("x", lane: "b", fold: "g"))
            try probe.expect(try await probe.claim(lease), ["1", "x"], "what does not rest")
            let second = try await resting("2", "a", "f", 1)
            _ = try await resting("y", "b", "g", 1)
            try await probe.put(probe.row("behind", at: 1))
            try await probe.settle(ahead, .done, at: 2, lease)
            try await probe.settle(failing, .undeliverable(OutboxFailure(.refused)), at: 2, lease)
            try probe.expect(
                try await probe.store.row(second.id)?.restsUntil, probe.date(6), "until when the second rests")
            try probe.expect(try await probe.next(at: 3), 6, "when something is to be done")
            try probe.expect(try await probe.claim(lease, at: 5), [], "while the first row of each lane rests")
            _ = try await resting("3", "a", "f", 5)
            try probe.expect(
                try await probe.claim(lease, at: 5), ["behind"], "what had waited for a row that was replaced")
            try probe.expect(try await probe.claim(lease, at: 6), ["y"], "what has rested")
            try probe.expect(try await probe.claim(lease, at: 10), [], "behind what is being sent")
        },
        Rule("What rests is due once it is hastened, or another holder takes the lease; the same one ends no rest") {
            probe in
            let owners = [probe.owner, OutboxOwner(identity: "ben", environment: "test")]
            for (lane, owner) in zip(["a", "b"], owners) {
                var row = probe.row(lane, lane: lane, owner: owner)
                row.restsUntil = probe.date(5)
                try await probe.put(row)
            }
            let claimed = { (index: Int, lease: OutboxLease) in
                let rows = try await probe.store.claim(of: owners[index], limit: 9, at: probe.date(1), under: lease)
                try probe.expect(rows.compactMap(\.restsUntil), [], "the rest of what is claimed")
                return probe.marks(rows)
            }
            // The first that takes a lease is another holder than none.
            var lease = try await probe.lease()
            try probe.expect(try await claimed(0, lease), ["a"], "what was there before anybody had the lease")
            for (mark, owner) in zip(["c", "d"], owners) {
                var row = probe.row(mark, lane: mark, owner: owner)
                row.restsUntil = probe.date(5)
                try await probe.put(row)
            }
            try await probe.store.release(lease)
            lease = try await probe.lease()
            try probe.expect(try await claimed(0, lease), ["a"], "what rests, for the same holder")
            try await probe.store.hasten(owners[0], at: probe.date(1))
            try probe.expect(try await claimed(0, lease), ["c"], "what was hastened")
            try probe.expect(try await claimed(1, lease), ["b"], "what rests of another user")
            try await probe.store.release(lease)
            lease = try await probe.lease("two")
            try probe.expect(try await claimed(1, lease).sorted(), ["b", "d"], "what had rested for another holder")
        },
        Rule("A claim without a limit takes one row of each lane") { probe in
            let lease = try await probe.lease()
            for lane in ["a", "b", "c"] { try await probe.put(probe.row(lane, lane: lane)) }
            try probe.expect(try await probe.claim(lease, .max), ["a", "b", "c"], "what is claimed")
        },
    ]
}
