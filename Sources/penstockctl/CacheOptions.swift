import Foundation
import Penstock

/// What `cache` was asked to do, checked.
struct CacheOptions: Sendable {
    enum Task: Sendable {
        case list, statistics
        case show(HTTPURL)
        case clear(CacheSelection)
    }

    let task: Task
    let file: URL

    static let table = [
        OptionRule(names: ["--cache"], placeholder: "FILE", help: "the file that holds the responses"),
        OptionRule(names: ["--url"], placeholder: "URL", help: "clear: this URL with exactly its query"),
        OptionRule(names: ["--tag"], placeholder: "TAG", help: "clear: what the app has marked so"),
        OptionRule(names: ["--all"], placeholder: nil, help: "clear: everything"),
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]

    init(_ arguments: Arguments) throws(UsageError) {
        guard let path = arguments.value("--cache") else { throw UsageError("--cache is missing") }
        guard FileManager.default.fileExists(atPath: path) else { throw UsageError("--cache: there is no such file") }
        file = URL(fileURLWithPath: path)
        task = try Self.task(arguments)
    }

    private static func task(_ arguments: Arguments) throws(UsageError) -> Task {
        let words = arguments.operands
        let chosen = try selections(arguments)
        switch (words.first, words.count) {
        case ("clear", 1):
            guard chosen.count == 1 else { throw UsageError("clear takes one of --url, --tag and --all") }
            return .clear(chosen[0])
        case ("ls", 1) where chosen.isEmpty: return .list
        case ("stats", 1) where chosen.isEmpty: return .statistics
        case ("show", 2) where chosen.isEmpty: return .show(try url(words[1]))
        default: throw UsageError("one of ls, show URL, clear and stats is wanted")
        }
    }

    private static func selections(_ arguments: Arguments) throws(UsageError) -> [CacheSelection] {
        var chosen: [CacheSelection] = []
        if let text = arguments.value("--url") { chosen.append(.url(try url(text), in: .everyone)) }
        if let tag = arguments.value("--tag") { chosen.append(.tag(tag, in: .everyone)) }
        if arguments.has("--all") { chosen.append(.all) }
        return chosen
    }

    private static func url(_ text: String) throws(UsageError) -> HTTPURL {
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(text)
        } catch {
            throw UsageError("URL: \(error)")
        }
    }
}
