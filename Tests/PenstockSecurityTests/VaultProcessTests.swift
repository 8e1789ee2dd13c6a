import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// Several processes with one encrypted file, processes that are killed, and the one that is started after.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct VaultProcessTests {
    private static func program() throws -> URL {
        guard let url = BuiltProgram.url("vault-writer") else { throw CocoaError(.fileNoSuchFile) }
        return url
    }

    /// - Parameter environment: beside that of this process.
    private static func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Subprocess {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        return try await Subprocess.run(
            URL(fileURLWithPath: "/usr/bin/env"), variables + [try program().path] + arguments)
    }

    @Test("A process that is killed while it writes leaves what it has said to be kept, or what it was about to say")
    func kills() async throws {
        let folder = try Folder()
        var random = Seeded.printed("kill")
        for round in 0..<20 {
            let process = Process()
            let output = Pipe()
            process.executableURL = try Self.program()
            process.arguments = ["fill", folder.file.path]
            process.standardOutput = output
            // The process that would write a crash down holds on to what its end is noticed by.
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            try process.run()
            // How far it comes decides nothing but where it is killed.
            try await Task.sleep(for: .milliseconds(Int.random(in: 30...150, using: &random)))
            kill(process.processIdentifier, SIGKILL)
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == SIGKILL, "round \(round): it ended before it was killed")
            let item = try await folder.vault.load(Sample.key)
            // A last line that was cut off is that of a version which is kept.
            let last = said.split(separator: "\n").compactMap { Int($0) }.max() ?? 0
            guard last > 0 else { continue }
            let version = try #require(item.flatMap { Int($0.version) })
            #expect(version == last || version == last + 1, "round \(round)")
            #expect(item?.content == Data(repeating: UInt8(version % 256), count: 1 + version * 37 % 20_000))
        }
        #expect(try await folder.vault.load(Sample.key) != nil, "nothing was ever written")
        try await folder.vault.save(Sample.item("whole"), for: Sample.key, over: .anything)
        let state = folder.file.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path)
        #expect(!names.contains { $0.hasSuffix(".new") }, "what the killed have left is gone")
    }

    @Test("Of what several processes write over the version that they have read, nothing is lost")
    func sharing() async throws {
        let folder = try Folder()
        try await withThrowingTaskGroup(of: Subprocess.self) { group in
            for _ in 0..<3 {
                group.addTask { try await Self.run(["count", folder.file.path, "60"]) }
            }
            for try await process in group { #expect(process.status == 0, "\(process.output)") }
        }
        #expect(try await folder.vault.load(Sample.key)?.version == "180")
    }

    @Test("Processes that make one key at the same time, each for its own vault, come to one key")
    func oneKey() async throws {
        for _ in 0..<5 {
            let folder = try Folder()
            let vaults = (0..<4).map { folder.url.appendingPathComponent("vault-\($0)") }
            try await withThrowingTaskGroup(of: Subprocess.self) { group in
                for vault in vaults {
                    group.addTask { try await Self.run(["keyed", vault.path, folder.keyFile.path]) }
                }
                for try await process in group { #expect(process.status == 0, "\(process.output)") }
            }
            for vault in vaults {
                let opened = EncryptedFileVault(file: vault, key: .file(folder.keyFile))
                #expect(try await opened.load(Sample.key)?.content == Data("kept".utf8))
            }
        }
    }

    @Test("On a full disk nothing is kept, that is said, and what was there stays")
    func full() async throws {
        let folder = try Folder()
        try await folder.vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        let process = try await Self.run(["full", folder.file.path, "65536"])
        #expect(process.output == "unavailable\n")
        #expect(try await folder.vault.load(Sample.key) == Sample.item("1"))
        let state = folder.file.deletingLastPathComponent()
        #expect(try !FileManager.default.contentsOfDirectory(atPath: state.path).contains("credentials.vault.new"))
    }

    @Test("One who holds the lock for too long is an error, and not waited for any longer")
    func patience() async throws {
        let folder = try Folder()
        let file = PrivateFile(folder.file)
        let lock = try FileLock(ofVault: file)
        let start = ContinuousClock.now
        #expect(throws: PrivateFileError.busy) { try FileLock(beside: file, patience: .milliseconds(50)) }
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        withExtendedLifetime(lock) {}
    }

    @Test(
        "A process that is started anew is still signed in, and what it finds is for its user alone", .covers("S4.15"))
    func relaunch() async throws {
        let folder = try Folder()
        let server = try LoopbackServer { _ in .init(status: 200) }
        defer { server.stop() }
        let environment = ["XDG_STATE_HOME": folder.url.path, "XDG_CACHE_HOME": folder.url.path]
        let login = try await Self.run(["login", server.url.absoluteString, "topsecrettoken"], environment)
        #expect(login.status == 0, "\(login.output)")
        #expect(server.requestCount == 0)
        let call = try await Self.run(["call", server.url.absoluteString], environment)
        #expect(call.status == 0, "\(call.output)")
        #expect(server.requests.map { $0.fields[.authorization] } == ["Bearer topsecrettoken"])
        let files = try #require(FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil))
        var names: Set<String> = []
        for url in files.allObjects.compactMap({ $0 as? URL }) {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
            #expect(try Folder.mode(url) == (isFolder.boolValue ? 0o700 : 0o600), "\(url.path)")
            guard !isFolder.boolValue else { continue }
            names.insert(url.lastPathComponent)
            #expect(try Data(contentsOf: url).range(of: Data("topsecret".utf8)) == nil, "\(url.path)")
        }
        #expect(names.isSuperset(of: ["credentials.vault", "credentials.vault.key"]))
    }
}
