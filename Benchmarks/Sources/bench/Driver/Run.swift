import Foundation

/// Performs the experiments one after the other, prints what they found, and writes it down.
struct Run {
    private var setting: Setting
    private let results: URL
    /// Those asked for by name; all when none was.
    private var ids: [String] = []
    private var isComplete = true
    private var isQuick = false

    init(program: String, _ arguments: inout Arguments) throws {
        setting = Setting(
            program: program, clear: try arguments.text(), secure: try arguments.text(),
            authorities: try arguments.text(), gibibyte: try arguments.text(), folder: try arguments.text())
        results = URL(fileURLWithPath: try arguments.text())
        while let word = arguments.next() {
            isComplete = false
            switch word {
            case "--quick": (setting.rounds, setting.calls, isQuick) = (3, 4_000, true)
            case "--rounds": setting.rounds = try arguments.count()
            case "--calls": setting.calls = try arguments.count()
            default: ids.append(word)
            }
        }
        let unknown = ids.filter { id in !Self.all.contains { $0.id == id } }
        guard unknown.isEmpty else {
            throw Failure("no \(unknown.joined(separator: ", ")) among \(Self.all.map(\.id).joined(separator: ", "))")
        }
    }

    private static let all: [any Experiment] =
        Level.all + [Waiting(), Growth(), Transfer.download, Transfer.upload, Echo()] + MemoryCache.all + [CachedCall()]
        + DiskCache.all

    func perform() throws {
        let wanted = Self.all.filter { ids.isEmpty ? !(isQuick && $0.isLong) : ids.contains($0.id) }
        var outcomes = try wanted.map { experiment in
            let outcome = try experiment.outcome(setting)
            print(outcome.table)
            return outcome
        }
        outcomes += Outcome.flat(outcomes)
        print(Goal.table(outcomes))
        if isComplete {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(outcomes).write(to: results)
        } else {
            print("Not written down: part of the whole is no result.")
        }
        let missed = Goal.missed(outcomes)
        guard missed == 0 else { throw Failure("\(missed) \(missed == 1 ? "goal" : "goals") missed") }
    }
}

/// Where and how much is measured.
struct Setting {
    let program: String
    /// nginx, as HTTP/1.1 without TLS and as HTTP/2 over TLS.
    let clear: String
    let secure: String
    /// The PEM file that makes the second trusted.
    let authorities: String
    /// A file of 1 GiB, which nginx has as `/gibibyte`.
    let gibibyte: String
    /// Where caches are made, and removed again.
    let folder: String
    var rounds = 5
    /// In a round, of small documents; what is slower is done less often.
    var calls = 20_000
    /// In a round, of a cache.
    var hits: Int { calls * 10 }
}

/// One thing that is measured.
protocol Experiment: Sendable {
    var id: String { get }
    /// Whether it takes minutes to prepare.
    var isLong: Bool { get }
    func outcome(_ setting: Setting) throws -> Outcome
}

extension Experiment {
    var isLong: Bool { false }
}
