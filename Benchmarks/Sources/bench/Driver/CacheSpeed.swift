import Foundation

/// Look-ups in the store on disk, beside a prepared select by key from a table with as many rows of the same size.
struct DiskCache: Experiment {
    let id: String
    let entries: Int
    /// Before each look-up, in microseconds; `nil` where one follows on the other.
    var pause: UInt32?

    static let all: [any Experiment] = [
        DiskCache(id: "X7.disk.lone", entries: 10_000, pause: 1_000),
        DiskCache(id: "X7.disk.1e3", entries: 1_000), DiskCache(id: "X7.disk.1e4", entries: 10_000),
        DiskCache(id: "X7.disk.1e5", entries: 100_000), DiskCache(id: "X7.disk.1e6", entries: 1_000_000),
    ]

    private static let contenders = [Contender.c, .penstock]

    var isLong: Bool { entries > 100_000 }

    /// Both files are made once; the rounds take turns in reading them.
    func outcome(_ setting: Setting) throws -> Outcome {
        let folder = URL(fileURLWithPath: setting.folder).appendingPathComponent(id)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = Self.contenders.reduce(into: [Contender: String]()) { files, contender in
            files[contender] = folder.appendingPathComponent(contender.rawValue).path
        }
        for (contender, file) in files { try fill(contender, file, setting) }
        var measured: [Contender: [Measurement]] = [:]
        for round in 0..<setting.rounds {
            for contender in round.isMultiple(of: 2) ? Self.contenders : Self.contenders.reversed() {
                guard let file = files[contender] else { continue }
                var arguments = ["disk", contender.rawValue, file, "\(entries)"]
                arguments += pause.map { ["\(min(setting.hits, 2_000))", "\($0)"] } ?? ["\(setting.hits)"]
                measured[contender, default: []].append(try CacheSpeed.measure(setting, arguments))
            }
        }
        var outcome = CacheSpeed.outcome(id, measured)
        outcome.ratioToC = Outcome.ratio(outcome.hitsPerSecond, .penstock, to: .c)
        return outcome
    }

    private func fill(_ contender: Contender, _ file: String, _ setting: Setting) throws {
        let child = try Child(setting.program, ["fill", contender.rawValue, file, "\(entries)"], limit: 900)
        try child.finish()
    }
}

extension Outcome {
    /// Whether look-ups take as long among a million entries as among a thousand: in memory, and on disk.
    ///
    /// - Returns: nothing of a store of which one of the two was not measured.
    static func flat(_ outcomes: [Outcome]) -> [Outcome] {
        func hits(_ id: String) -> Double? {
            outcomes.first { $0.id == id }?.hitsPerSecond?[Contender.penstock.rawValue]
        }
        return [
            ("X7.memory.flat", "X7.memory.1e6", "X7.store.memory"), ("X7.disk.flat", "X7.disk.1e6", "X7.disk.1e3"),
        ].compactMap { id, most, fewest in
            guard let most = hits(most), let fewest = hits(fewest) else { return nil }
            var outcome = Outcome(id: id)
            outcome.ratioToFewest = most / fewest
            return outcome
        }
    }
}

/// Look-ups in the store in memory.
struct MemoryCache: Experiment {
    let id: String
    let entries: Int

    static let all: [any Experiment] = [
        MemoryCache(id: "X7.store.memory", entries: 1_000), MemoryCache(id: "X7.memory.1e6", entries: 1_000_000),
    ]

    func outcome(_ setting: Setting) throws -> Outcome {
        let measured = try (0..<setting.rounds).map { _ in
            try CacheSpeed.measure(setting, ["memory", "\(entries)", "\(setting.hits)"])
        }
        return CacheSpeed.outcome(id, [.penstock: measured])
    }
}

/// Calls of a client whose answer is in memory.
struct CachedCall: Experiment {
    let id = "X7.send.memory"

    func outcome(_ setting: Setting) throws -> Outcome {
        let measured = try (0..<setting.rounds).map { _ in
            try CacheSpeed.measure(setting, ["cached", setting.clear, "\(setting.hits)"])
        }
        return CacheSpeed.outcome(id, [.penstock: measured])
    }
}

/// What the experiments on caches have in common.
private enum CacheSpeed {
    static func measure(_ setting: Setting, _ arguments: [String]) throws -> Measurement {
        let child = try Child(setting.program, arguments, limit: 300)
        let measurement: Measurement = try child.value()
        try child.finish()
        return measurement
    }

    static func outcome(_ id: String, _ measured: [Contender: [Measurement]]) -> Outcome {
        var outcome = Outcome(id: id)
        outcome.hitsPerSecond = Outcome.medians(measured, \.requestsPerSecond)
        outcome.cpuMicroseconds = Outcome.medians(measured, \.cpuMicroseconds)
        return outcome
    }
}
