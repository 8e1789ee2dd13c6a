import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// The vault in an encrypted file.
@Suite(.timeLimit(.minutes(2)))
struct EncryptedFileVaultTests {
    @Test("Every rule for vaults holds for the encrypted file", .covers("S4.19"), arguments: VaultConformance.rules)
    func conformance(rule: VaultConformance.Rule) async throws {
        let folder = try Folder()
        try await rule.run { folder.vault }
    }

    @Test(
        "Every rule for vaults holds for the encrypted file with a key of the app's", arguments: VaultConformance.rules)
    func conformanceOfApp(rule: VaultConformance.Rule) async throws {
        let folder = try Folder()
        let key = VaultKey.random()
        try await rule.run { EncryptedFileVault(file: folder.file, key: .app { key }) }
    }

    // MARK: Files

    @Test("The vault, its key and its lock are for their owner alone, and so are the folders that are made for them")
    func permissions() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let state = folder.file.deletingLastPathComponent()
        #expect(try Folder.mode(state) == 0o700)
        #expect(try Folder.mode(state.deletingLastPathComponent()) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path).sorted()
        #expect(names == ["credentials.vault", "credentials.vault.key", "credentials.vault.lock"])
        for name in names { #expect(try Folder.mode(state.appendingPathComponent(name)) == 0o600) }
    }

    @Test("Nothing of what is kept, or for whom, can be read in the file")
    func secrecy() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1", "topsecret"), for: Sample.key, over: .anything)
        let bytes = try Data(contentsOf: folder.file)
        for word in ["topsecret", "alice", "a.example", Data("topsecret".utf8).base64EncodedString()] {
            #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)")
        }
    }

    @Test("A vault that others could read is narrowed, and a key that others could read is refused")
    func wide() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        try Folder.setMode(0o644, folder.file)
        #expect(try await folder.vault.load(Sample.key) == Sample.item("1"))
        #expect(try Folder.mode(folder.file) == 0o600)
        for mode in [0o640, 0o604, 0o620] {
            try Folder.setMode(mode, folder.keyFile)
            #expect(await vaultError { try await folder.vault.load(Sample.key) } == .denied)
            #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .denied)
        }
        try Folder.setMode(0o600, folder.keyFile)
        #expect(try await folder.vault.load(Sample.key) == Sample.item("1"))
    }

    @Test("Vaults that make one key at the same time come to one key, and an empty file is no key yet")
    func oneKey() async throws {
        for round in 0..<20 {
            let folder = try Folder()
            let key = VaultKey.file(folder.keyFile)
            if round % 2 == 1 {
                try PrivateFile(folder.keyFile).makeFolder()
                try PrivateFile(folder.keyFile).replace(with: Data())
            }
            let files = (0..<8).map { folder.url.appendingPathComponent("vault-\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for file in files {
                    group.addTask {
                        let vault = EncryptedFileVault(file: file, key: key)
                        try await vault.save(Sample.item(file.lastPathComponent), for: Sample.key, over: .absent)
                    }
                }
                try await group.waitForAll()
            }
            for file in files {
                let item = try await EncryptedFileVault(file: file, key: key).load(Sample.key)
                #expect(item == Sample.item(file.lastPathComponent), "round \(round)")
            }
        }
    }

    @Test("An empty key of a vault that there is, and one that is too short, are corrupt and stay")
    func shortKeys() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let other = EncryptedFileVault(
            file: folder.url.appendingPathComponent("other"), key: .file(folder.keyFile))
        try PrivateFile(folder.keyFile).replace(with: Data())
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .corrupt)
        #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .corrupt)
        try PrivateFile(folder.keyFile).replace(with: Data(count: 31))
        for vault in [folder.vault, other] {
            #expect(
                await vaultError { try await vault.save(Sample.item("2"), for: Sample.key, over: .anything) }
                    == .corrupt)
        }
        #expect(try Data(contentsOf: folder.keyFile) == Data(count: 31))
    }

    @Test("A link or a pipe in the place of the vault is neither followed nor waited for")
    func links() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let other = folder.url.appendingPathComponent("other")
        try FileManager.default.moveItem(at: folder.file, to: other)
        try FileManager.default.createSymbolicLink(at: folder.file, withDestinationURL: other)
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .denied)
        #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .denied)
        try FileManager.default.removeItem(at: folder.file)
        #expect(mkfifo(folder.file.path, 0o600) == 0)
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .corrupt)
    }

    @Test("Where no folder can be made, nothing is kept, and that is said")
    func noFolder() async throws {
        let folder = try Folder()
        try Data().write(to: folder.url.appendingPathComponent("state"))
        let error = await vaultError { try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything) }
        #expect(error == .unavailable)
    }

    // MARK: Four errors

    @Test("Where the key is missing the vault is locked, reads and writes alike, and opens when the key is there again")
    func lockedByFile() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let bytes = try Data(contentsOf: folder.file)
        let away = folder.url.appendingPathComponent("away")
        try FileManager.default.moveItem(at: folder.keyFile, to: away)
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .locked)
        #expect(await vaultError { try await folder.vault.keys() } == .locked)
        #expect(
            await vaultError { try await folder.vault.save(Sample.item("2"), for: Sample.key, over: .anything) }
                == .locked)
        #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .locked)
        #expect(try Data(contentsOf: folder.file) == bytes)
        try FileManager.default.moveItem(at: away, to: folder.keyFile)
        #expect(try await folder.vault.load(Sample.key) == Sample.item("1"))
    }

    @Test("A vault of nothing has nothing to lock: nothing is found without a key")
    func emptyWithoutKey() async throws {
        let folder = try Folder()
        #expect(try await folder.vault.load(Sample.key) == nil)
        #expect(try await folder.vault.keys() == [])
        #expect(try await folder.vault.delete(Sample.key, where: .anything) == false)
        #expect(!FileManager.default.fileExists(atPath: folder.keyFile.path))
    }

    @Test("What the app throws instead of a key is what the vault throws; what is no error of vaults is locked")
    func appKey() async throws {
        let folder = try Folder()
        let given = Locked<Result<Data, any Error>>(.success(VaultKey.random()))
        let vault = EncryptedFileVault(file: folder.file, key: .app { try given.withLock { $0 }.get() })
        try await vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let good = given.withLock { $0 }
        let cases: [(Result<Data, any Error>, VaultError)] = [
            (.failure(VaultError.denied), .denied), (.failure(CancellationError()), .locked),
            (.success(Data(count: VaultKey.size - 1)), .invalid), (.success(Data(count: VaultKey.size + 1)), .invalid),
            (.success(VaultKey.random()), .denied),
        ]
        for (result, error) in cases {
            given.withLock { $0 = result }
            #expect(await vaultError { try await vault.load(Sample.key) } == error)
            #expect(await vaultError { try await vault.delete(Sample.key, where: .anything) } == error)
        }
        given.withLock { $0 = good }
        #expect(try await vault.load(Sample.key) == Sample.item("1"))
    }

    @Test("A key of the wrong length is corrupt, and nothing is written over it", arguments: [0, 31, 33, 5_000])
    func damagedKey(count: Int) async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        try Data(count: count).write(to: folder.keyFile)
        try Folder.setMode(0o600, folder.keyFile)
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .corrupt)
        #expect(try Data(contentsOf: folder.keyFile) == Data(count: count))
    }

    @Test("What is corrupt stays as it is until it is erased, after which the vault is a new one")
    func corrupt() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let damaged = try Data(contentsOf: folder.file).dropLast()
        try damaged.write(to: folder.file)
        #expect(await vaultError { try await folder.vault.load(Sample.key) } == .corrupt)
        #expect(
            await vaultError { try await folder.vault.save(Sample.item("2"), for: Sample.key, over: .anything) }
                == .corrupt)
        #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .corrupt)
        #expect(try Data(contentsOf: folder.file) == damaged)
        try await folder.vault.erase()
        #expect(!FileManager.default.fileExists(atPath: folder.file.path))
        #expect(!FileManager.default.fileExists(atPath: folder.keyFile.path))
        #expect(try await folder.vault.load(Sample.key) == nil)
        try await folder.vault.save(Sample.item("3"), for: Sample.key, over: .absent)
        #expect(try await folder.vault.load(Sample.key) == Sample.item("3"))
    }

    @Test("What is no vault is corrupt, with a key or without, and stays as it is with nothing beside it")
    func foreign() async throws {
        for (text, mode) in [
            ("a list of the team's", 0o664), ("PNSTKVLT", 0o600), ("", 0o664), ("PNSTKVLT\u{2}x", 0o600),
        ] {
            let folder = try Folder()
            try FileManager.default.createDirectory(
                at: folder.file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.file)
            try Folder.setMode(0o664, folder.file)
            #expect(await vaultError { try await folder.vault.load(Sample.key) } == .corrupt)
            #expect(await vaultError { try await folder.vault.keys() } == .corrupt)
            #expect(await vaultError { try await folder.vault.delete(Sample.key, where: .anything) } == .corrupt)
            #expect(
                await vaultError { try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything) }
                    == .corrupt)
            #expect(try Data(contentsOf: folder.file) == Data(text.utf8))
            #expect(try Folder.mode(folder.file) == mode, "\(text)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: folder.file.deletingLastPathComponent().path)
            #expect(names == [folder.file.lastPathComponent])
        }
    }

    // MARK: The client

    @Test("A locked vault signs nobody out: the call fails, and goes with the credential when the vault is open")
    func lockedClient() async throws {
        let folder = try Folder()
        let key = VaultKey.random()
        let isLocked = Locked(false)
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        func client() -> APIClient {
            var configuration = APIClient.Configuration(services: [
                Service(.main, [.production: "https://a.example"], authenticator: BearerAuthenticator())
            ])
            configuration.environment = .production
            configuration.cache = .none
            configuration.vault = EncryptedFileVault(
                file: folder.file,
                key: .app {
                    if isLocked.withLock(\.self) { throw VaultError.locked }
                    return key
                })
            return APIClient(configuration, transport: stub)
        }
        try await client().signIn(Credential("token"))
        isLocked.withLock { $0 = true }
        let later = client()
        let error = await #expect(throws: APIError.self) { try await later.get("/me") }
        #expect(error?.kind == .authentication(.vault(.locked)))
        #expect(stub.requests.isEmpty)
        isLocked.withLock { $0 = false }
        try await later.get("/me")
        #expect(stub.requests.map { $0.fields[.authorization] } == ["Bearer token"])
    }
}
