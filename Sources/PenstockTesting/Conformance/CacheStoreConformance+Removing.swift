import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// What is removed, and what stays.
    public static let removing: [Rule] = [
        Rule("By URL goes every variant, method and owner of exactly that URL") { probe in
            try await fill(probe)
            _ = await probe.store.put(
                probe.response(try probe.key("/a?page=2", method: .post, digest: "1")), body: Data())
            try await probe.put("/a?page=2", "nl", language: "nl")
            try await expect(probe, after: .url(probe.url("/a?page=2")), keeps: { $0.target != "/a?page=2" })
            try expect(
                await probe.store.find(probe.key("/a?page=2", method: .post, digest: "1")).isEmpty, "the POST is left")
        },
        Rule("By URL and owner, only those of the owner go") { probe in
            try await fill(probe)
            let owner = CachePartition(environment: "test", identity: "anna")
            try await expect(
                probe, after: .url(probe.url("/a?page=2"), in: .partition(owner)),
                keeps: { $0.target != "/a?page=2" || $0.owner != owner })
        },
        Rule("By path go all parameters of it") { probe in
            try await fill(probe)
            try await expect(probe, after: .path(probe.url("/a?any")), keeps: { !$0.target.hasPrefix("/a") })
        },
        Rule("By key goes exactly that") { probe in
            try await fill(probe)
            let owner = CachePartition(environment: "test", identity: "anna")
            try await expect(
                probe, after: .key(probe.key("/a?page=2", identity: "anna")),
                keeps: { $0.target != "/a?page=2" || $0.owner != owner })
        },
        Rule("By id goes one variant") { probe in
            let gone = try await probe.put("/a", "nl", language: "nl")
            try await probe.put("/a", "en", language: "en")
            _ = await probe.store.remove([.entry(gone.entry)])
            try expect(await probe.marks("/a"), is: ["en"], "left")
        },
        Rule("What has taken an older response's place takes it along") { probe in
            for wait in [false, true] {
                for byTag in [false, true] {
                    try await probe.put("/a", "old")
                    try await probe.put("/a", "nl", language: "nl")
                    await probe.store.flush()
                    let new = try await probe.put("/a", "new", tags: ["t"])
                    if wait { await probe.store.flush() }
                    try expect(await probe.store.remove([byTag ? .tag("t") : .entry(new.entry)]), is: true, "done")
                    try expect(await probe.marks("/a"), is: ["nl"], "left")
                    await probe.store.flush()
                    try expect(await probe.marks("/a"), is: ["nl"], "left afterwards")
                }
            }
        },
        Rule("By a tag that a response was given later goes the response") { probe in
            let old = try await probe.put("/a", "old")
            await probe.store.flush()
            let tagged = probe.response(try probe.key("/a"), mark: "tagged", tags: ["t"])
            try expect(await probe.store.update(old.entry, to: tagged) != nil, "not updated")
            try expect(await probe.store.remove([.tag("t")]), is: true, "done")
            try expect(await probe.marks("/a"), is: [], "left")
            await probe.store.flush()
            try expect(await probe.marks("/a"), is: [], "left afterwards")
        },
        Rule("By tag goes what has the tag") { probe in
            try await fill(probe)
            try await expect(probe, after: .tag("a"), keeps: { !$0.target.hasPrefix("/a") })
        },
        Rule("By user and environment goes what is theirs") { probe in
            try await fill(probe)
            let owner = CachePartition(environment: "test", identity: "anna")
            try await expect(probe, after: .partition(owner), keeps: { $0.owner != owner })
            try await expect(
                probe, after: .identity("bert"), keeps: { $0.owner != owner && $0.owner.identity != "bert" })
        },
        Rule("By environment goes all of it") { probe in
            try await fill(probe)
            try await expect(probe, after: .environment("test"), keeps: { $0.owner.environment != "test" })
        },
        Rule("All means all") { probe in
            try await fill(probe)
            try await expect(probe, after: .all, keeps: { _ in false })
            try expect(await probe.store.statistics(), is: CacheStatistics(), "statistics")
            try await probe.put("/again")
            try expect(await probe.marks("/again"), is: ["body"], "afterwards")
        },
        Rule("Several selections go at one moment") { probe in
            for round in 1...50 {
                try await probe.put("/a", "\(round)")
                try await probe.put("/b", "\(round)")
                async let removal = probe.store.remove([.url(probe.url("/a")), .url(probe.url("/b"))])
                for _ in 1...4 {
                    // Whoever misses the first may not find the second.
                    let isGone = try await probe.marks("/a").isEmpty
                    if isGone { try expect(await probe.marks("/b"), is: [], "the other one") }
                }
                try expect(await removal, is: true, "done")
            }
        },
    ]

    private struct Sample {
        let target: String
        let owner: CachePartition
        var mark: String { "\(target) of \(owner.environment) by \(owner.identity)." }

        static let all = ["/a", "/a?page=2", "/a?page=20", "/b"].flatMap { target in
            ["test", "production"].flatMap { environment in
                ["", "anna", "bert"].map { identity in
                    Sample(target: target, owner: CachePartition(environment: environment, identity: identity))
                }
            }
        }
    }

    private static func fill(_ probe: Probe) async throws {
        for sample in Sample.all {
            try await probe.put(
                sample.target, sample.mark, identity: sample.owner.identity, environment: sample.owner.environment,
                tags: [String(sample.target.prefix(2).dropFirst()), "every"])
        }
    }

    private static func expect(
        _ probe: Probe, after selection: CacheSelection, keeps: (Sample) -> Bool
    ) async throws {
        try expect(await probe.store.remove([selection]), is: true, "done")
        for sample in Sample.all {
            let marks = try await probe.marks(
                sample.target, identity: sample.owner.identity, environment: sample.owner.environment)
            try expect(marks, is: keeps(sample) ? [sample.mark] : [], "\(sample.mark) after \(selection)")
        }
    }
}
