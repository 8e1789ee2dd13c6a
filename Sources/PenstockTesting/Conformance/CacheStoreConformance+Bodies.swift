import Foundation
import PenstockCore

extension CacheStoreConformance {
    /// Lengths around those at which stores change their ways.
    private static let lengths = [
        0, 1, 4_095, 4_096, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 131_072, 300_000,
    ]

    /// How bodies come back.
    public static let bodies: [Rule] = [
        Rule("A body comes back byte for byte, whatever its length") { probe in
            for length in lengths {
                let body = bytes(length, seed: UInt64(length))
                let key = try probe.key("/\(length)")
                _ = await probe.store.put(probe.response(key), body: body)
                let stored = try await probe.one(key)
                try expect(stored.response.bodyLength, is: length, "length")
                try expect(await probe.body(stored) == body, "the body of \(length) bytes differs")
            }
        },
        Rule("A body can be read from anywhere, piece by piece, to its end") { probe in
            let body = bytes(200_000)
            let key = try probe.key("/")
            _ = await probe.store.put(probe.response(key), body: body)
            let entry = try await probe.one(key).entry
            for offset in [0, 1, 65_535, 65_536, 100_000, 199_999] {
                var read = Data()
                while let more = await probe.store.bytes(of: entry, from: offset + read.count) {
                    try expect(!more.isEmpty, "an empty piece")
                    read.append(more)
                }
                try expect(read == body.dropFirst(offset), "the body from \(offset) on differs")
            }
            try expect(await probe.store.bytes(of: entry, from: 200_000) == nil, "bytes behind the end")
            try expect(await probe.store.bytes(of: entry, from: -1) == nil, "bytes before the beginning")
        },
        Rule("A body that is written piece by piece is found when it is finished, and not before") { probe in
            for length in lengths {
                let body = bytes(length, seed: UInt64(length))
                let key = try probe.key("/\(length)")
                guard let writer = await probe.store.writer(for: probe.response(key, mark: "w")) else {
                    throw Unmet(description: "no writer")
                }
                for start in stride(from: 0, to: length, by: 1_000) {
                    try expect(await writer.append(body.dropFirst(start).prefix(1_000)), "the writer gave up")
                }
                try expect(await probe.store.find(key).isEmpty, "found before it was finished")
                let finished = await writer.finish()
                try expect(finished?.response.bodyLength, is: length, "length")
                try expect(await probe.body(probe.one(key)) == body, "the body of \(length) bytes differs")
                try expect(await writer.finish() == nil, "finished twice")
            }
        },
        Rule("A body that is abandoned leaves nothing behind") { probe in
            try await probe.put("/kept")
            let before = await probe.store.statistics()
            let key = try probe.key("/a")
            for length in [0, 10, 300_000] {
                let writer = await probe.store.writer(for: probe.response(key))
                _ = await writer?.append(bytes(length))
                writer?.abandon()
                try expect(await writer?.append(Data([1])), is: false, "taken after it was abandoned")
                try expect(await writer?.finish() == nil, "finished after it was abandoned")
                try expect(await probe.store.find(key).isEmpty, "found")
                try expect(await probe.store.statistics(), is: before, "statistics")
            }
        },
        Rule("A writer that is let go of leaves nothing behind") { probe in
            let key = try probe.key("/a")
            do {
                let writer = await probe.store.writer(for: probe.response(key))
                _ = await writer?.append(bytes(300_000))
            }
            try expect(await probe.store.find(key).isEmpty, "found")
            try expect(await probe.store.statistics(), is: CacheStatistics(), "statistics")
        },
        Rule(
            "A body that is too large is not stored, and nothing older in its place",
            limits: CacheLimits(bytes: 4 << 20, entries: 100, bodyBytes: 100_000)
        ) { probe in
            let key = try probe.key("/a")
            try await probe.put("/a", "old")
            try expect(await probe.store.put(probe.response(key), body: bytes(100_001)) == nil, "it was stored")
            try expect(await probe.store.find(key).isEmpty, "found")
            try await probe.put("/a", "old")
            try await probe.put("/a", "nl", language: "nl")
            let writer = await probe.store.writer(for: probe.response(key))
            var isTaken = true
            for _ in 1...11 where isTaken { isTaken = await writer?.append(bytes(10_000)) ?? false }
            try expect(!isTaken, "the writer took too much")
            try expect(await writer?.finish() == nil, "it was stored")
            try expect(await probe.marks("/a"), is: ["nl"], "marks")
        },
    ]
}
