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
        Rule("A claim without a limit takes one row of each lane") { probe in
            let lease = try await probe.lease()
            for lane in ["a", "b", "c"] { try await probe.put(probe.row(lane, lane: lane)) }
            try probe.expect(try await probe.claim(lease, .max), ["a", "b", "c"], "what is claimed")
        },
    ]
}
