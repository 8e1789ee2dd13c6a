import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// What holds when everybody uses the store at once.
    public static let sharing: [Rule] = [
        Rule(
            "Ten thousand operations at once find whole responses of their own key or nothing",
            limits: CacheLimits(bytes: 400_000, entries: 60, bodyBytes: 100_000)
        ) { probe in
            let hits = Locked(Hits())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<100 {
                    group.addTask {
                        try await findOwn(probe, UInt64(worker), hits)
                        for step in 0..<100 { try await operate(probe, UInt64(worker), UInt64(step), hits) }
                    }
                }
                try await group.waitForAll()
            }
            let statistics = await probe.store.statistics()
            try expect(statistics.entries <= 60 && statistics.bytes <= 400_000, "over the limits: \(statistics)")
            // A store that keeps nothing would break none of the rules above.
            let seen = hits.withLock { $0 }
            try expect(seen.responses > 0, "no look-up has found anything")
            try expect(seen.bodies > 0, "no body was there")
        }
    ]

    /// What the look-ups have found.
    private struct Hits {
        var responses = 0
        var bodies = 0
    }

    /// Looks up what was stored a moment ago under a key that nobody else uses. Of the others some order removes each before it
    /// is looked up.
    private static func findOwn(_ probe: Probe, _ worker: UInt64, _ hits: Locked<Hits>) async throws {
        let target = "/own/\(worker)"
        let key = try probe.key(target)
        let mark = "\(target) 1000"
        _ = await probe.store.put(probe.response(key, mark: mark), body: content(mark, 1_000))
        try await verify(probe, key, target, hits)
    }

    /// One of the operations, on one of a hundred keys.
    private static func operate(_ probe: Probe, _ worker: UInt64, _ step: UInt64, _ hits: Locked<Hits>) async throws {
        let choice = (worker &* 7_919 &+ step &* 104_729) % 1_000
        let target = "/\(choice % 100)"
        let key = try probe.key(target)
        switch choice / 100 {
        case 0, 1, 2:
            let length = Int(choice * 97 % 20_000)
            let mark = "\(target) \(worker) \(step) \(length)"
            _ = await probe.store.put(probe.response(key, mark: mark), body: content(mark, length))
        case 3:
            let mark = "\(target) \(worker) \(step) 70000"
            let writer = await probe.store.writer(for: probe.response(key, mark: mark))
            _ = await writer?.append(content(mark, 70_000))
            if step % 2 == 0 { _ = await writer?.finish() } else { writer?.abandon() }
        case 4: _ = try await probe.store.remove([.key(key), .url(probe.url("/\((choice + 1) % 100)"))])
        case 5: _ = await probe.store.invalidate([.key(key)])
        default: try await verify(probe, key, target, hits)
        }
    }

    private static func verify(_ probe: Probe, _ key: CacheKey, _ target: String, _ hits: Locked<Hits>) async throws {
        for stored in await probe.store.find(key) {
            let mark = stored.response.fields["X-Mark"] ?? ""
            try expect(mark.hasPrefix(target + " "), "\(mark) was found at \(target)")
            hits.withLock { $0.responses += 1 }
            guard let body = await probe.store.body(of: stored) else { continue }
            try expect(body == content(mark, stored.response.bodyLength), "the body of \(mark) is another")
            hits.withLock { $0.bodies += 1 }
        }
    }

    private static func content(_ mark: String, _ length: Int) -> Data {
        var content = Data(mark.utf8)
        while content.count < length { content.append(content) }
        return content.prefix(length)
    }
}
