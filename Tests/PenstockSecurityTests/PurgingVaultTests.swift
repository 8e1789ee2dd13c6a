import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// What an earlier installation has left.
@Suite(.timeLimit(.minutes(1)))
struct PurgingVaultTests {
    private static func marker(_ folder: Folder) -> URL { folder.url.appendingPathComponent("app/installed") }

    @Test("Every rule for vaults holds for one that is emptied first", arguments: VaultConformance.rules)
    func conformance(rule: VaultConformance.Rule) async throws {
        let folder = try Folder()
        let vault = MemoryVault()
        try await rule.run { PurgingVault(vault, marker: Self.marker(folder)) }
    }

    @Test(
        "After the app was installed anew nothing of the earlier installation is found; while it stays, everything is")
    func purge() async throws {
        let folder = try Folder()
        let kept = MemoryVault()
        try await kept.save(Sample.item("1"), for: Sample.key, over: .anything)
        let first = PurgingVault(kept, marker: Self.marker(folder))
        #expect(try await first.load(Sample.key) == nil)
        #expect(try await kept.keys() == [])
        try await first.save(Sample.item("2"), for: Sample.key, over: .absent)
        let relaunched = PurgingVault(kept, marker: Self.marker(folder))
        #expect(try await relaunched.load(Sample.key) == Sample.item("2"))
        try FileManager.default.removeItem(at: Self.marker(folder))
        #expect(try await relaunched.keys() == [Sample.key], "it looks once")
        #expect(try await PurgingVault(kept, marker: Self.marker(folder)).keys() == [])
    }

    @Test("Where no file stays, another marker tells the installations apart, and an emptied folder signs nobody out")
    func markerElsewhere() async throws {
        let marker = MemoryMarker()
        let kept = MemoryVault()
        try await kept.save(Sample.item("1"), for: Sample.key, over: .anything)
        let first = PurgingVault(kept, marker: marker)
        #expect(try await first.load(Sample.key) == nil)
        try await first.save(Sample.item("2"), for: Sample.key, over: .absent)
        #expect(try await PurgingVault(kept, marker: marker).load(Sample.key) == Sample.item("2"))
        #expect(try await PurgingVault(kept, marker: MemoryMarker()).load(Sample.key) == nil)
    }

    @Test("A file that the device keeps closed until it is unlocked is locked, and one that is forbidden is denied")
    func sealedFiles() {
        #expect(VaultError(.system(EPERM), sealed: EPERM) == .locked)
        #expect(VaultError(.system(EACCES), sealed: EPERM) == .denied)
        #expect(VaultError(.system(EPERM), sealed: nil) == .denied)
    }

    @Test("Of many that begin at the same time, none deletes what another one has kept")
    func race() async throws {
        let folder = try Folder()
        let kept = MemoryVault()
        try await kept.save(Sample.item("old"), for: Sample.key("old"), over: .anything)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<24 {
                group.addTask {
                    let vault = PurgingVault(kept, marker: Self.marker(folder))
                    try await vault.save(Sample.item("1"), for: Sample.key("\(index)"), over: .absent)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Set(kept.keys()) == Set((0..<24).map { Sample.key("\($0)") }))
    }

    @Test(
        "Of many that begin at the same time with one object, one empties the vault, and all others wait for that alone"
    )
    func shared() async throws {
        let folder = try Folder()
        let kept = MemoryVault()
        try await kept.save(Sample.item("old"), for: Sample.key("old"), over: .anything)
        let begun = Locked(0)
        let vault = PurgingVault(CrowdedVault(kept, begun, 24), marker: Self.marker(folder))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<24 {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    try await vault.save(Sample.item("1"), for: Sample.key("\(index)"), over: .absent)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Set(kept.keys()) == Set((0..<24).map { Sample.key("\($0)") }))
    }

    @Test("What cannot be read yet is not deleted, and what is corrupt is", arguments: [VaultError.locked, .denied])
    func unreadable(error: VaultError) async throws {
        let folder = try Folder()
        let kept = MemoryVault()
        try await kept.save(Sample.item("1"), for: Sample.key, over: .anything)
        let failure = Locked<VaultError?>(error)
        let vault = PurgingVault(BlindVault(kept, failure), marker: Self.marker(folder))
        #expect(await vaultError { try await vault.load(Sample.key) } == error)
        #expect(await vaultError { try await vault.keys() } == error)
        #expect(try await kept.keys() == [Sample.key])
        #expect(!FileManager.default.fileExists(atPath: Self.marker(folder).path))
        failure.withLock { $0 = .corrupt }
        #expect(try await vault.keys() == [])
        #expect(try await kept.keys() == [])
    }
}

/// What an app's defaults are.
private struct MemoryMarker: InstallationMarker {
    private let made = Locked(false)

    var isThere: Bool { made.withLock(\.self) }
    func lock() -> FileLock? { nil }
    func make() { made.withLock { $0 = true } }
}

/// A vault that lists and deletes what it cannot read.
private final class BlindVault: CredentialVault {
    private let vault: MemoryVault
    private let failure: Locked<VaultError?>

    init(_ vault: MemoryVault, _ failure: Locked<VaultError?>) {
        (self.vault, self.failure) = (vault, failure)
    }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        if let error = failure.withLock(\.self) { throw error }
        return try await vault.load(key)
    }

    func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try await vault.save(item, for: key, over: condition)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try await vault.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] { try await vault.keys() }
}

/// A vault that lists nothing before so many have begun to ask.
private final class CrowdedVault: CredentialVault {
    private let vault: MemoryVault
    private let begun: Locked<Int>
    private let crowd: Int

    init(_ vault: MemoryVault, _ begun: Locked<Int>, _ crowd: Int) {
        (self.vault, self.begun, self.crowd) = (vault, begun, crowd)
    }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
        try await vault.load(key)
    }

    func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try await vault.save(item, for: key, over: condition)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try await vault.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] {
        while !Task.isCancelled, begun.withLock(\.self) < crowd { await Task.yield() }
        return try await vault.keys()
    }
}
