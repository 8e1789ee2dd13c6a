import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// How much is kept, and for how long.
    public static let limiting: [Rule] = [
        Rule("No more responses are kept than the limit", limits: CacheLimits(bytes: 64 << 20, entries: 20)) { probe in
            for index in 0..<100 {
                try await probe.put("/\(index)", "\(index)")
                try expect(await probe.store.statistics().entries <= 20, "too many after \(index)")
            }
            try expect(await probe.store.statistics().entries, is: 20, "entries")
            for index in 80..<100 { try expect(await probe.marks("/\(index)"), is: ["\(index)"], "the newest") }
        },
        Rule(
            "No more bytes are kept than the limit",
            limits: CacheLimits(bytes: 200_000, entries: 10_000, bodyBytes: 50_000)
        ) { probe in
            for index in 0..<100 {
                let key = try probe.key("/\(index)")
                _ = await probe.store.put(probe.response(key), body: bytes(index * 331 % 40_000))
                try expect(await probe.store.statistics().bytes <= 200_000, "too much after \(index)")
            }
            try expect(await probe.store.statistics().bytes > 100_000, "hardly anything is kept")
        },
        Rule("What was used last is kept longest", limits: CacheLimits(bytes: 64 << 20, entries: 20)) { probe in
            for index in 0..<20 { try await probe.put("/\(index)", "\(index)") }
            for index in [3, 0, 7] { _ = try await probe.marks("/\(index)") }
            await probe.store.flush()
            for index in 20..<37 { try await probe.put("/\(index)", "\(index)") }
            await probe.store.flush()
            for index in [3, 0, 7] { try expect(await probe.marks("/\(index)"), is: ["\(index)"], "what was used") }
            try expect(await probe.marks("/1"), is: [], "what was not used")
        },
        Rule(
            "What is too old is not found", limits: CacheLimits(bytes: 64 << 20, entries: 100, age: .seconds(60))
        ) { probe in
            let first = try await probe.put("/a", "old")
            try await probe.put("/b", "validated")
            probe.clock.advance(by: .seconds(59))
            try expect(await probe.marks("/a"), is: ["old"], "a second before")
            let later = probe.response(try probe.key("/b"), mark: "validated")
            _ = await probe.store.update(await probe.store.find(try probe.key("/b"))[0].entry, to: later)
            probe.clock.advance(by: .seconds(2))
            try expect(await probe.marks("/a"), is: [], "a second after")
            try expect(await probe.marks("/b"), is: ["validated"], "validated since")
            try await probe.put("/c")
            try expect(await probe.store.bytes(of: first.entry, from: 0) == nil, "its body is still there")
        },
        Rule(
            "What was stored by a clock far ahead is not found",
            limits: CacheLimits(bytes: 64 << 20, entries: 100, age: .seconds(60))
        ) { probe in
            let key = try probe.key("/a")
            let ahead = probe.now + 366 * 86_400
            _ = await probe.store.put(
                CachedResponse(
                    key: key, status: 200, fields: [:], requestTime: ahead, responseTime: ahead, bodyLength: 0),
                body: Data())
            try expect(await probe.store.find(key).isEmpty, "found")
        },
        Rule(
            "A key has no more variants than the limit",
            limits: CacheLimits(bytes: 64 << 20, entries: 1_000, variants: 8)
        ) { probe in
            for index in 0..<50 { try await probe.put("/a", "\(index)", language: "l\(index)") }
            try expect(await probe.store.find(probe.key("/a")).count, is: 8, "variants")
            try expect(await probe.marks("/a").contains("49"), "the newest is missing")
        },
    ]
}
