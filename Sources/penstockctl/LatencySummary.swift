import Foundation
import Penstock

/// How long calls took, and how many failed: what `--repeat` prints.
struct LatencySummary {
    private var times: [Duration] = []
    private var failures: [String: Int] = [:]

    mutating func note(_ time: Duration, _ failure: String?) {
        times.append(time)
        if let failure { failures[failure, default: 0] += 1 }
    }

    /// The time below which a part of the calls stayed: the nearest rank.
    static func quantile(_ part: Double, of sorted: [Duration]) -> Duration {
        guard !sorted.isEmpty else { return .zero }
        let rank = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    /// - Parameter elapsed: how long all of it took.
    func lines(elapsed: Duration) -> [String] {
        let sorted = times.sorted()
        let failed = failures.values.reduce(0, +)
        let rate = elapsed > .zero ? Double(times.count) / (elapsed / .seconds(1)) : 0
        var lines = [
            "\(times.count) calls in \(Self.text(elapsed)), \(String(format: "%.1f", rate)) a second, \(failed) failed"
        ]
        let parts: [(String, Double)] = [("50 %", 0.5), ("90 %", 0.9), ("95 %", 0.95), ("99 %", 0.99)]
        let quantiles = parts.map { "\($0.0) \(Self.text(Self.quantile($0.1, of: sorted)))" }
        let ends =
            ["least \(Self.text(sorted.first ?? .zero))"] + quantiles + ["most \(Self.text(sorted.last ?? .zero))"]
        lines.append(ends.joined(separator: ", "))
        for (name, count) in failures.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("\(count) × \(name)")
        }
        return lines
    }

    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 10_000
            ? String(format: "%.1f ms", milliseconds) : String(format: "%.1f s", milliseconds / 1000)
    }
}

/// A bar on standard error while calls are made; where that is no terminal, nothing is drawn.
struct ProgressBar {
    private let total: Int
    private let isShown: Bool
    private let started = ContinuousClock.now

    init(total: Int, isShown: Bool = isatty(2) == 1) {
        self.total = total
        self.isShown = isShown && total > 1
    }

    func draw(_ done: Int) {
        guard isShown, done == total || done.isMultiple(of: max(1, total / 200)) else { return }
        Console.redraw(done == total ? "" : Self.line(done, of: total, after: ContinuousClock.now - started))
    }

    /// The bar, how many of how many, how many a second, and how long it will take.
    static func line(_ done: Int, of total: Int, after elapsed: Duration) -> String {
        let part = total > 0 ? min(1, Double(done) / Double(total)) : 1
        let filled = Int(part * 30)
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        let rate = elapsed > .zero ? Double(done) / (elapsed / .seconds(1)) : 0
        let left = rate > 0 ? String(format: "%.0f s left", Double(total - done) / rate) : ""
        return "\(bar) \(done)/\(total)  \(String(format: "%.0f", rate))/s  \(left)"
    }
}
