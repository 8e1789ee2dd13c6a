import Foundation

/// One contender in this process, or the driver that starts each in a process of its own.
@main
struct Bench {
    static let usage = """
        usage: bench c|penstock|penstock-model|urlsession URL CALLS INFLIGHT
               bench run URL RESULTS ROUNDS CALLS
        """

    static func main() async {
        do {
            let arguments = CommandLine.arguments
            guard arguments.count > 1 else { throw Failure(usage) }
            if arguments[1] == "run" { try run(arguments) } else { try await measure(arguments) }
        } catch {
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Prints one line of JSON.
    private static func measure(_ arguments: [String]) async throws {
        guard arguments.count == 5, let contender = Contender(rawValue: arguments[1]) else { throw Failure(usage) }
        let (calls, inFlight) = (try count(arguments[3]), try count(arguments[4]))
        guard let runner = contender.runner(url: arguments[2], inFlight: inFlight) else {
            throw Failure("\(contender.rawValue) cannot begin")
        }
        let measurement = try await Measurement(runner, calls: calls, inFlight: inFlight)
        print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
    }

    /// Prints a table and writes the same as JSON.
    private static func run(_ arguments: [String]) throws {
        guard arguments.count == 6 else { throw Failure(usage) }
        let rounds = Rounds(
            program: arguments[0], url: arguments[2], rounds: try count(arguments[4]), calls: try count(arguments[5]))
        let results = try Level.all.map { level in
            let result = try rounds.result(of: level)
            print(result.table)
            return result
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(results).write(to: URL(fileURLWithPath: arguments[3]))
    }

    private static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw Failure(usage) }
        return count
    }
}
