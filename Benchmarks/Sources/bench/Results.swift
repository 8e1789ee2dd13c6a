import Foundation

/// How many calls are in flight at any moment, under the id that results are known by.
struct Level {
    let id: String
    let inFlight: Int

    static let all = [
        Level(id: "X3.h1.1", inFlight: 1), Level(id: "X2.h1.32", inFlight: 32), Level(id: "h1.256", inFlight: 256),
    ]
}

/// The medians of a level, by the names of the contenders.
struct LevelResult: Encodable {
    let id: String
    /// Requests per second of Penstock's plain bytes, over those of the bare loop.
    let ratioToC: Double
    /// The same over those of URLSession.
    let ratioToURLSession: Double
    let requestsPerSecond: [String: Double]
    let cpuMicroseconds: [String: Double]

    init(_ level: Level, _ measured: [Contender: [Measurement]]) {
        id = level.id
        requestsPerSecond = Self.medians(measured, \.requestsPerSecond)
        cpuMicroseconds = Self.medians(measured, \.cpuMicroseconds)
        ratioToC = Self.ratio(requestsPerSecond, .penstock, to: .c)
        ratioToURLSession = Self.ratio(requestsPerSecond, .penstock, to: .urlSession)
    }

    /// A line for each contender: requests a second, those over the bare loop's and URLSession's, CPU time a request.
    var table: String {
        let lines = Contender.allCases.map { contender in
            Self.line([
                contender.rawValue, Self.text(requestsPerSecond[contender.rawValue], "%.0f"),
                Self.text(Self.ratio(requestsPerSecond, contender, to: .c), "%.2f"),
                Self.text(Self.ratio(requestsPerSecond, contender, to: .urlSession), "%.2f"),
                Self.text(cpuMicroseconds[contender.rawValue], "%.1f"),
            ])
        }
        let head = Self.line([id, "requests/s", "to C", "to URLSession", "CPU µs/request"])
        return ([head] + lines).joined(separator: "\n") + "\n"
    }

    private static func medians(
        _ measured: [Contender: [Measurement]], _ value: (Measurement) -> Double
    ) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: measured.map { ($0.rawValue, median($1.map(value))) })
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    private static func ratio(_ values: [String: Double], _ one: Contender, to other: Contender) -> Double {
        (values[one.rawValue] ?? .nan) / (values[other.rawValue] ?? .nan)
    }

    private static func line(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let space = String(repeating: " ", count: max(0, 16 - cell.count))
            return index == 0 ? cell + space : space + cell
        }.joined()
    }

    private static func text(_ value: Double?, _ format: String) -> String {
        value.map { String(format: format, $0) } ?? "-"
    }
}
