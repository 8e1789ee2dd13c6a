import Foundation
import Penstock

/// Looks into a vault, and puts values into it and takes them out: the secret goes through the standard streams alone, and is
/// in no argument, which other users of the machine can read.
struct VaultCommand: Sendable {
    let options: VaultOptions

    func run() async throws(UsageError) -> Int32 {
        let vault = options.vault
        do throws(VaultError) {
            switch options.task {
            case .list: return Self.show(try await vault.keys())
            case .get(let key):
                guard let item = try await vault.load(key) else { return Self.notFound() }
                return Self.show(item)
            case .set(let key):
                let content = try Self.input()
                // A command before the pipe that failed has written nothing, and the old secret is not lost for that.
                guard !content.isEmpty else { return Self.nothingGiven() }
                let item = VaultItem(version: UUID().uuidString, content: content)
                try await vault.save(item, for: key, over: .anything)
            case .remove(let key):
                guard try await vault.delete(key, where: .anything) else { return Self.notFound() }
            }
            return ExitCode.success
        } catch {
            Console.note(Self.text(error))
            return ExitCode.of(error)
        }
    }

    /// One byte more than may be kept is enough to know that it is too much.
    private static func input() throws(VaultError) -> Data {
        var content = Data()
        while content.count <= VaultItem.maximumSize {
            let more: Data?
            do { more = try FileHandle.standardInput.read(upToCount: 65_536) } catch { throw .unavailable }
            guard let more, !more.isEmpty else { break }
            content += more
        }
        return content
    }

    private static func show(_ item: VaultItem) -> Int32 {
        do throws(OutputFailure) {
            try Console.out(item.content)
            return ExitCode.success
        } catch {
            Console.note(error.message)
            return ExitCode.output
        }
    }

    private static func show(_ keys: [CredentialKey]) -> Int32 {
        let lines = keys.map { key in
            [key.service, key.environment, key.origin, key.account].map(Self.printable).joined(separator: "\t")
        }
        return lines.isEmpty ? ExitCode.success : Console.show(lines.sorted().joined(separator: "\n"))
    }

    /// Names may hold anything: one line is one item, whatever they hold.
    private static func printable(_ name: String) -> String {
        let plain = CharacterSet(charactersIn: "\u{21}"..."\u{7E}").subtracting(["%"])
        return name.isEmpty ? "-" : name.addingPercentEncoding(withAllowedCharacters: plain) ?? "-"
    }

    private static func nothingGiven() -> Int32 {
        Console.note("set: standard input is empty, and nothing was changed; rm takes an item out")
        return ExitCode.usage
    }

    private static func notFound() -> Int32 {
        Console.note("there is no such item")
        return ExitCode.vaultNotFound
    }

    private static func text(_ error: VaultError) -> String {
        switch error {
        case .locked: "the vault is locked: its key, or the keyring, is not there now"
        case .denied: "the vault is denied: it is another user's, sealed by another key, or may not be used"
        case .corrupt:
            "the vault is corrupt: it is no vault, was damaged, or is of a later version; it was left as it is"
        case .invalid: "the value may not be kept: it is longer than 1 MiB, or its name is none"
        default: "the vault cannot be used now"
        }
    }
}

/// What `vault` was asked to do, checked.
struct VaultOptions: Sendable {
    enum Task: Sendable {
        case list
        case get(CredentialKey), set(CredentialKey), remove(CredentialKey)
    }

    let task: Task
    let vault: any CredentialVault

    static let table =
        [
            OptionRule(names: ["--vault"], placeholder: "FILE", help: "the encrypted file"),
            OptionRule(names: ["--key"], placeholder: "FILE", help: "its key: FILE.key unless told otherwise"),
        ] + platformTable + [
            OptionRule(names: ["--origin"], placeholder: "URL", help: "where it is used; none unless told otherwise"),
            OptionRule(names: ["--environment"], placeholder: "NAME", help: "production unless told otherwise"),
            OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
            OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        task = try Self.task(arguments)
        // What lists or takes out finds nothing where there is no file; set makes it.
        if case .list = task, let path = arguments.value("--vault"), !FileManager.default.fileExists(atPath: path) {
            throw UsageError("--vault: there is no such file")
        }
        vault = try Self.vault(arguments)
        if case .set = task, isatty(FileHandle.standardInput.fileDescriptor) == 1 {
            throw UsageError("set reads the value from a file or a pipe, since a terminal would show it")
        }
    }

    private static func task(_ arguments: Arguments) throws(UsageError) -> Task {
        let words = arguments.operands
        if words == ["ls"] {
            for name in ["--origin", "--environment"] where arguments.has(name) {
                throw UsageError("\(name) does not go with ls, which lists everything")
            }
            return .list
        }
        let key = CredentialKey(
            service: words.dropFirst().first ?? "", environment: arguments.value("--environment") ?? "production",
            origin: try origin(arguments), account: words.dropFirst(2).first ?? "")
        guard (2...3).contains(words.count), !key.service.isEmpty else { throw wanted }
        switch words[0] {
        case "get": return .get(key)
        case "set": return .set(key)
        case "rm": return .remove(key)
        default: throw wanted
        }
    }

    private static let wanted = UsageError("one of ls, and get, set and rm with SERVICE and perhaps ACCOUNT is wanted")

    private static func origin(_ arguments: Arguments) throws(UsageError) -> String {
        guard let text = arguments.value("--origin") else { return "" }
        do throws(HTTPURL.ParseError) {
            return try HTTPURL(text).origin.text
        } catch {
            throw UsageError("--origin: \(error)")
        }
    }

    private static func vault(_ arguments: Arguments) throws(UsageError) -> any CredentialVault {
        if let vault = try platformVault(arguments) { return vault }
        guard let path = arguments.value("--vault") else { throw UsageError("--vault is missing") }
        let key = arguments.value("--key").map { VaultKey.file(URL(fileURLWithPath: $0)) }
        return EncryptedFileVault(file: URL(fileURLWithPath: path), key: try platformKey(arguments) ?? key)
    }
}
