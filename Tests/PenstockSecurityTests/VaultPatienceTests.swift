import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// An encrypted file whose lock somebody holds, such as a process that was stopped.
@Suite(.timeLimit(.minutes(1)))
struct VaultPatienceTests {
    /// A vault that has an item of the version 1, and its clock.
    private static func filled(_ folder: Folder, _ clock: TestClock) async throws -> EncryptedFileVault {
        let vault = EncryptedFileVault(file: folder.file, time: clock.timeSource)
        try await vault.save(Sample.item("1"), for: Sample.key, over: .anything)
        return vault
    }

    private static func saving(_ vault: EncryptedFileVault, _ version: String = "2") -> Task<VaultError?, Never> {
        Task { await vaultError { try await vault.save(Sample.item(version), for: Sample.key, over: .anything) } }
    }

    @Test func `each that writes waits for ten seconds from its own call, however many wait`() async throws {
        let (folder, clock) = (try Folder(), TestClock())
        let vault = try await Self.filled(folder, clock)
        let lock = try FileLock(ofVault: PrivateFile(folder.file))
        let first = (0..<3).map { _ in Self.saving(vault) }
        await clock.waitForSleepers(count: 3)
        let erasing = Task { await vaultError { try await vault.erase() } }
        await clock.waitForSleepers(count: 4)
        clock.advance(by: .milliseconds(9_999))
        await clock.waitForSleepers(count: 4)
        let late = Self.saving(vault)
        await clock.waitForSleepers(count: 5)
        clock.advance(by: .milliseconds(1))
        for task in first + [erasing] { #expect(await task.value == .unavailable) }
        clock.advance(by: .milliseconds(9_998))
        await clock.waitForSleepers(count: 1)
        withExtendedLifetime(lock) {}
        clock.advance(by: .milliseconds(1))
        #expect(await late.value == .unavailable)
        #expect(try await vault.load(Sample.key)?.version == "1")
    }

    @Test func `one who holds the lock keeps nobody from reading, whoever waits to write`() async throws {
        let (folder, clock) = (try Folder(), TestClock())
        let vault = try await Self.filled(folder, clock)
        let lock = try FileLock(ofVault: PrivateFile(folder.file))
        let writers = (0..<3).map { _ in Self.saving(vault) }
        await clock.waitForSleepers(count: 3)
        #expect(try await vault.load(Sample.key)?.version == "1")
        #expect(try await vault.keys() == [Sample.key])
        withExtendedLifetime(lock) {}
        for writer in writers { writer.cancel() }
        for writer in writers { #expect(await writer.value == .unavailable) }
    }

    @Test func `who waits to write goes on as soon as the lock is free`() async throws {
        let (folder, clock) = (try Folder(), TestClock())
        let vault = try await Self.filled(folder, clock)
        var lock: FileLock? = try FileLock(ofVault: PrivateFile(folder.file))
        #expect(lock != nil)
        let writer = Self.saving(vault)
        await clock.waitForSleepers(count: 1)
        lock = nil
        clock.advance(by: .milliseconds(1))
        #expect(await writer.value == nil)
        #expect(try await vault.load(Sample.key)?.version == "2")
    }

    @Test func `a task that is cancelled waits for nobody, and writes where nobody is in its way`() async throws {
        let (folder, clock) = (try Folder(), TestClock())
        let vault = try await Self.filled(folder, clock)
        var lock: FileLock? = try FileLock(ofVault: PrivateFile(folder.file))
        #expect(lock != nil)
        let writers = [Self.saving(vault), Self.saving(vault)]
        await clock.waitForSleepers(count: 2)
        writers[0].cancel()
        #expect(await writers[0].value == .unavailable)
        writers[1].cancel()
        #expect(await writers[1].value == .unavailable)
        lock = nil
        #expect(try await vault.load(Sample.key)?.version == "1")
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await vaultError { try await vault.delete(Sample.key, where: .anything) }
        }
        #expect(await cancelled.value == nil)
        #expect(try await vault.keys().isEmpty)
    }

    @Test func `who makes the key of several vaults is waited for as who writes is`() async throws {
        let (folder, clock) = (try Folder(), TestClock())
        let vault = EncryptedFileVault(file: folder.file, time: clock.timeSource)
        try PrivateFile(folder.keyFile).makeFolder()
        try PrivateFile(folder.keyFile).replace(with: Data())
        let descriptor = open(folder.keyFile.path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let writers = [Self.saving(vault), Self.saving(vault)]
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(10))
        for writer in writers { #expect(await writer.value == .unavailable) }
        #expect(flock(descriptor, LOCK_UN) == 0)
        #expect(await Self.saving(vault).value == nil)
        #expect(try await vault.load(Sample.key)?.version == "2")
    }

    @Test func `a vault that is erased while it is read is empty, and has not lost its key`() async throws {
        let folder = try Folder()
        let good = VaultKey.random()
        try await EncryptedFileVault(file: folder.file, key: .app { good })
            .save(Sample.item("1"), for: Sample.key, over: .anything)
        let file = PrivateFile(folder.file)
        let reader = EncryptedFileVault(
            file: folder.file,
            key: VaultKey(
                origin: .held { () throws(VaultError) in
                    try VaultError.ofFile { () throws(PrivateFileError) in try file.remove() }
                    throw .locked
                }))
        #expect(try await reader.keys().isEmpty)
    }
}
