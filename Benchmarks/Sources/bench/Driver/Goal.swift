/// What an experiment is to reach.
struct Goal: Sendable {
    private let id: String
    private let what: String
    private let value: @Sendable (Outcome) -> Double?
    private let limit: Limit

    private enum Limit {
        case atLeast(Double)
        case atMost(Double)
    }

    private init(_ id: String, _ what: String, _ limit: Limit, _ value: @escaping @Sendable (Outcome) -> Double?) {
        self.id = id
        self.what = what
        self.limit = limit
        self.value = value
    }

    private static let all = [
        Goal("X2.h1.32", "requests/s to C", .atLeast(0.85)) { $0.ratioToC },
        Goal("X2.h1.32", "requests/s to URLSession", .atLeast(12)) { $0.ratioToURLSession },
        Goal("X2.h1.32", "CPU/request to C", .atMost(2.5)) { $0.cpuRatioToC },
        Goal("X2.h1.32", "log off to no log", .atLeast(0.98)) { $0.logOffToPenstock },
        Goal("X2.h1.32", "log info to no log", .atLeast(0.95)) { $0.logInfoToPenstock },
        Goal("X3.h2.32", "requests/s to C", .atLeast(0.85)) { $0.ratioToC },
        Goal("X3.h2.32", "CPU/request to C", .atMost(2)) { $0.cpuRatioToC },
        Goal("X3.h1.1", "requests/s to C", .atLeast(0.80)) { $0.ratioToC },
        Goal("X3.h2.1", "requests/s to C", .atLeast(0.80)) { $0.ratioToC },
        Goal("X4.waiting", "growth to C", .atMost(1.25)) { $0.ratioToC },
        Goal("X4.million", "MiB over warm-up", .atMost(1)) { $0.overWarmUpMiB },
        Goal("X4.million", "descriptors over warm-up", .atMost(0)) { $0.descriptorsOverWarmUp },
        // The pool that tasks run on has one more at some moments than at others.
        Goal("X4.million", "threads over warm-up", .atMost(1)) { $0.threadsOverWarmUp },
        Goal("X5.download", "MiB/s to curl", .atLeast(0.9)) { $0.ratioToCurl },
        Goal("X5.download", "MiB over idle", .atMost(32)) { $0.overIdleMiB },
        Goal("X5.upload", "MiB/s to curl", .atLeast(0.9)) { $0.ratioToCurl },
        Goal("X5.upload", "MiB over idle", .atMost(32)) { $0.overIdleMiB },
        Goal("X14.echo", "messages/s to C", .atLeast(0.8)) { $0.ratioToC },
        Goal("X7.store.memory", "million hits/s", .atLeast(1)) { $0.millionHitsPerSecond },
        Goal("X7.memory.1e6", "million hits/s", .atLeast(1)) { $0.millionHitsPerSecond },
        Goal("X7.memory.flat", "hits/s, 1e6 to 1e3", .atLeast(0.8)) { $0.ratioToFewest },
        Goal("X7.send.memory", "million calls/s", .atLeast(0.2)) { $0.millionHitsPerSecond },
        Goal("X7.disk.1e3", "hits/s to C", .atLeast(0.8)) { $0.ratioToC },
        Goal("X7.disk.1e4", "hits/s to C", .atLeast(0.8)) { $0.ratioToC },
        Goal("X7.disk.1e5", "hits/s to C", .atLeast(0.8)) { $0.ratioToC },
        Goal("X7.disk.1e6", "hits/s to C", .atLeast(0.8)) { $0.ratioToC },
        Goal("X7.disk.flat", "hits/s, 1e6 to 1e3", .atLeast(0.8)) { $0.ratioToFewest },
    ]

    /// How many goals of these outcomes are missed.
    static func missed(_ outcomes: [Outcome]) -> Int {
        all.map { goal in
            outcomes.count { outcome in outcome.id == goal.id && !(goal.value(outcome).map(goal.isReached) ?? false) }
        }.reduce(0, +)
    }

    /// A line for each goal of these outcomes.
    static func table(_ outcomes: [Outcome]) -> String {
        let lines = all.flatMap { goal in
            outcomes.filter { $0.id == goal.id }.map(goal.line)
        }
        return ([Table.line(["goal", "measured", "goal", "reached"])] + lines).joined(separator: "\n") + "\n"
    }

    private func line(_ outcome: Outcome) -> String {
        guard let value = value(outcome) else { return Table.line([id, "-", text, "no", "  " + what]) }
        return Table.line([id, Table.text(value, "%.2f"), text, isReached(value) ? "yes" : "no", "  " + what])
    }

    private var text: String {
        switch limit {
        case .atLeast(let least): Table.text(least, "≥ %.2f")
        case .atMost(let most): Table.text(most, "≤ %.2f")
        }
    }

    private func isReached(_ value: Double) -> Bool {
        switch limit {
        case .atLeast(let least): value >= least
        case .atMost(let most): value <= most
        }
    }
}
