import Foundation

/// What one experiment found: medians, by the names of the contenders where there are several.
struct Outcome: Encodable {
    let id: String
    /// Penstock's plain bytes over the bare loop: requests a second, or growth of memory.
    var ratioToC: Double?
    var ratioToURLSession: Double?
    /// Requests a second of a client with a log that is off, and with one that tells of each call, over those of one without.
    var logOffToPenstock: Double?
    var logInfoToPenstock: Double?
    /// Hits a second among the most entries, over those among the fewest.
    var ratioToFewest: Double?
    /// CPU time for each call, over the bare loop's.
    var cpuRatioToC: Double?
    /// Throughput over the `curl` tool's.
    var ratioToCurl: Double?
    /// Resident memory beyond that of a process with nothing to do, at its highest.
    var overIdleMiB: Double?
    /// Resident memory beyond that after the calls that warm up.
    var overWarmUpMiB: Double?
    /// Open descriptors and threads beyond those after the calls that warm up.
    var descriptorsOverWarmUp: Double?
    var threadsOverWarmUp: Double?

    var requestsPerSecond: [String: Double]?
    /// Look-ups in a cache, or calls that a cache answers.
    var hitsPerSecond: [String: Double]?
    var cpuMicroseconds: [String: Double]?
    var residentMiB: [String: Double]?
    var growthMiB: [String: Double]?
    var mebibytesPerSecond: [String: Double]?

    init(id: String) {
        self.id = id
    }

    init(_ id: String, _ measured: [Contender: [Measurement]]) {
        self.init(id: id)
        requestsPerSecond = Self.medians(measured, \.requestsPerSecond)
        cpuMicroseconds = Self.medians(measured, \.cpuMicroseconds)
        ratioToC = Self.ratio(requestsPerSecond, .penstock, to: .c)
        ratioToURLSession = Self.ratio(requestsPerSecond, .penstock, to: .urlSession)
        logOffToPenstock = Self.ratio(requestsPerSecond, .penstockLogOff, to: .penstock)
        logInfoToPenstock = Self.ratio(requestsPerSecond, .penstockLogInfo, to: .penstock)
        cpuRatioToC = Self.ratio(cpuMicroseconds, .penstock, to: .c)
    }

    static func medians<Value>(
        _ measured: [Contender: [Value]], _ value: (Value) -> Double
    ) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: measured.map { ($0.rawValue, median($1.map(value))) })
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    var millionHitsPerSecond: Double? {
        hitsPerSecond?[Contender.penstock.rawValue].map { $0 / 1_000_000 }
    }

    /// `nil` where one of the two was not measured.
    static func ratio(_ values: [String: Double]?, _ one: Contender, to other: Contender) -> Double? {
        guard let one = values?[one.rawValue], let other = values?[other.rawValue] else { return nil }
        return one / other
    }
}

extension Outcome {
    /// A line for each contender.
    var table: String {
        let names = columns.reduce(into: [String]()) { names, column in
            names += column.values.keys.filter { !names.contains($0) }
        }
        let lines = names.sorted().map { name in
            Table.line([name] + columns.map { Table.text($0.values[name], $0.format) })
        }
        return ([Table.line([id] + columns.map(\.title))] + lines).joined(separator: "\n") + "\n"
    }

    private var columns: [(title: String, values: [String: Double], format: String)] {
        [
            ("requests/s", requestsPerSecond, "%.0f"), ("to C", requestsPerSecond.map { ratios($0, to: .c) }, "%.2f"),
            ("hits/s", hitsPerSecond, "%.0f"), ("to C", hitsPerSecond.map { ratios($0, to: .c) }, "%.2f"),
            ("to URLSession", requestsPerSecond.map { ratios($0, to: .urlSession) }, "%.2f"),
            ("CPU µs/request", cpuMicroseconds, "%.1f"), ("MiB resident", residentMiB, "%.1f"),
            ("MiB of growth", growthMiB, "%.1f"), ("MiB/s", mebibytesPerSecond, "%.0f"),
        ].compactMap { title, values, format in values.map { (title, $0, format) } }
    }

    private func ratios(_ values: [String: Double], to other: Contender) -> [String: Double] {
        guard let other = values[other.rawValue] else { return [:] }
        return values.mapValues { $0 / other }
    }
}

/// Columns of text.
enum Table {
    static func line(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let space = String(repeating: " ", count: max(1, 16 - cell.count))
            return index == 0 ? cell + space : space + cell
        }.joined()
    }

    static func text(_ value: Double?, _ format: String) -> String {
        value.map { String(format: format, $0) } ?? "-"
    }
}
