import Foundation

/// Starts the contenders in turn, so that what else the machine does meets all of them alike.
struct Rounds {
    let program: String
    let url: String
    let rounds: Int
    let calls: Int

    /// Seconds after which a round is given up.
    private static let limit = 180

    func result(of level: Level) throws -> LevelResult {
        var measured: [Contender: [Measurement]] = [:]
        for _ in 0..<rounds {
            for contender in Contender.allCases {
                measured[contender, default: []].append(try round(contender, level.inFlight))
            }
        }
        return LevelResult(level, measured)
    }

    private func round(_ contender: Contender, _ inFlight: Int) throws -> Measurement {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Nothing is left at work when this process is ended.
        process.arguments =
            ["setpriv", "--pdeathsig", "TERM", "timeout", "\(Self.limit)", program, contender.rawValue, url]
            + ["\(contender.calls(of: calls))", "\(inFlight)"]
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(contender.rawValue) with \(inFlight) in flight ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Measurement.self, from: line)
    }
}
