import Foundation
import Penstock

/// `penstockctl`: HTTP from a shell, by the library's public interface alone.
@main
enum Command {
    static func main() async {
        StandardStreams.prepare()
        exit(await run())
    }

    /// The words after the program's name. What is not UTF-8 would be sent as something else than it is.
    private static func words() throws(UsageError) -> [String] {
        var words: [String] = []
        for (number, word) in CommandLine.arguments.enumerated().dropFirst() {
            let bytes = CommandLine.unsafeArgv[number]
            guard bytes.map({ String(validatingCString: $0) }) == word else {
                throw UsageError("argument \(number) is not UTF-8; content in another encoding can be sent from a file")
            }
            words.append(word)
        }
        return words
    }

    private static func run() async -> Int32 {
        do throws(UsageError) {
            return try await dispatch(try words())
        } catch {
            Console.note(error.message)
            Console.note("see penstockctl \(error.command.map { "\($0) " } ?? "")--help")
            return ExitCode.usage
        }
    }

    private static func dispatch(_ words: [String]) async throws(UsageError) -> Int32 {
        switch words.first {
        case "fetch": return try await fetch(Array(words.dropFirst()))
        case "drive": return try await drive(Array(words.dropFirst()))
        case "cache": return try await cache(Array(words.dropFirst()))
        case "vault": return try await vault(Array(words.dropFirst()))
        case "report", "replay", "record", "completions", "manual":
            return try await other(words[0], Array(words.dropFirst()))
        case "--help", "-h": return Console.show(Help.program)
        case "--version": return Console.show(Help.version)
        // What is attached to a short option may be a secret.
        case .some(let word) where word.hasPrefix("-") && !word.hasPrefix("--"):
            throw UsageError("no such option: \(String(word.unicodeScalars.prefix(2)))")
        case .some(let word): throw UsageError("no such command\(UsageError.named(word))")
        case .none: throw UsageError("a command is missing")
        }
    }

    private static func fetch(_ words: [String]) async throws(UsageError) -> Int32 {
        do throws(UsageError) {
            let arguments = try Arguments(words, options: FetchOptions.table)
            if arguments.has("--help") { return Console.show(Help.fetch) }
            if arguments.has("--version") { return Console.show(Help.version) }
            let options = try FetchOptions(arguments)
            return try await Fetch(options: options, request: try options.request()).run()
        } catch {
            throw UsageError(error.message, command: "fetch")
        }
    }

    private static func cache(_ words: [String]) async throws(UsageError) -> Int32 {
        do throws(UsageError) {
            let arguments = try Arguments(words, options: CacheOptions.table)
            if arguments.has("--help") { return Console.show(Help.cache) }
            if arguments.has("--version") { return Console.show(Help.version) }
            return try await CacheCommand(options: try CacheOptions(arguments)).run()
        } catch {
            throw UsageError(error.message, command: "cache")
        }
    }

    private static func vault(_ words: [String]) async throws(UsageError) -> Int32 {
        do throws(UsageError) {
            let arguments = try Arguments(words, options: VaultOptions.table)
            if arguments.has("--help") { return Console.show(Help.vault) }
            if arguments.has("--version") { return Console.show(Help.version) }
            return try await VaultCommand(options: try VaultOptions(arguments)).run()
        } catch {
            throw UsageError(error.message, command: "vault")
        }
    }

    /// The commands whose help says no more than their options.
    private static func other(_ name: String, _ words: [String]) async throws(UsageError) -> Int32 {
        let options = CommandRule.all.first { $0.name == name }?.options ?? CommandRule.plain
        do throws(UsageError) {
            let arguments = try Arguments(words, options: options)
            if arguments.has("--help") { return Console.show(Help.text(of: name)) }
            if arguments.has("--version") { return Console.show(Help.version) }
            switch name {
            case "report": return try ReportCommand.run(arguments)
            case "replay": return try await ReplayCommand.run(arguments)
            case "record": return try await RecordCommand(arguments).run()
            case "manual" where arguments.operands.isEmpty: return Console.show(Manual.text)
            case "completions" where arguments.operands.count == 1:
                return Console.show(try Completions.script(for: arguments.operands[0]))
            default: throw UsageError("wrong number of arguments")
            }
        } catch {
            throw UsageError(error.message, command: name)
        }
    }

    private static func drive(_ words: [String]) async throws(UsageError) -> Int32 {
        do throws(UsageError) {
            let arguments = try Arguments(words, options: DriveOptions.table)
            if arguments.has("--help") { return Console.show(Help.drive) }
            if arguments.has("--version") { return Console.show(Help.version) }
            return try await Drive(options: try DriveOptions(arguments)).run()
        } catch {
            throw UsageError(error.message, command: "drive")
        }
    }
}
