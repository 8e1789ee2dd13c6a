import Foundation

/// How long attempts took, counted in the buckets that OpenTelemetry advises for HTTP (semantic conventions, "HTTP metrics").
public struct DurationHistogram: Hashable, Sendable {
    /// The upper ends of the buckets in seconds, each of which belongs to its bucket.
    public static let bounds: [Double] = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    /// How many are in each bucket; the last one has no upper end.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in seconds.
    public private(set) var sum = 0.0
    /// How many there are.
    public var count: Int { counts.reduce(0, +) }

    /// A histogram of nothing.
    public init() {}

    /// Counts one.
    public mutating func record(_ duration: Duration) {
        let seconds = max(0, duration / .seconds(1))
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}

/// What was measured since the app began (cumulative): a histogram for each set of attributes.
struct DurationMetric: Sendable {
    /// The most series, as OpenTelemetry's SDK has it ("Cardinality limits"). What comes beyond is counted together.
    static let mostSeries = 2000

    private(set) var series: [[TelemetryAttribute]: DurationHistogram] = [:]

    mutating func record(_ duration: Duration, _ attributes: [TelemetryAttribute]) {
        let isNew = series[attributes] == nil && series.count >= Self.mostSeries - 1
        series[isNew ? [.overflow] : attributes, default: DurationHistogram()].record(duration)
    }
}
