#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockSecurity

    /// The vault whose key the kernel holds. Where a container forbids that, what is shown is that it is denied.
    @Suite(.timeLimit(.minutes(1)))
    struct KernelKeyringTests {
        private static let isAllowed: Bool = {
            let name = "penstock-probe-\(UUID().uuidString)"
            do throws(VaultError) {
                try KernelKeyring.add(Data([1]), name: name)
                return try KernelKeyring.remove(name: name)
            } catch {
                return false
            }
        }()

        private let name = "penstock-test-\(UUID().uuidString)"

        @Test("Every rule for vaults holds with a key in the kernel", .enabled(if: KernelKeyringTests.isAllowed))
        func conformance() async throws {
            let folder = try Folder()
            try KernelKeyring.add(VaultKey.random(), name: name)
            for rule in VaultConformance.rules {
                do {
                    try await rule.run { [name] in EncryptedFileVault(file: folder.file, key: .kernelKeyring(name)) }
                } catch {
                    Issue.record("\(error)")
                }
            }
            try KernelKeyring.remove(name: name)
        }

        @Test(
            "The vault is locked while its key is not there, denied by another key, and open with its own",
            .enabled(if: KernelKeyringTests.isAllowed))
        func locked() async throws {
            let folder = try Folder()
            let vault = EncryptedFileVault(file: folder.file, key: .kernelKeyring(name))
            #expect(
                await vaultError { try await vault.save(Sample.item("1"), for: Sample.key, over: .anything) } == .locked
            )
            let key = VaultKey.random()
            try KernelKeyring.add(key, name: name, lifetime: .seconds(600))
            try await vault.save(Sample.item("1"), for: Sample.key, over: .anything)
            #expect(try KernelKeyring.remove(name: name))
            #expect(await vaultError { try await vault.load(Sample.key) } == .locked)
            #expect(try KernelKeyring.remove(name: name) == false)
            try KernelKeyring.add(VaultKey.random(), name: name)
            #expect(await vaultError { try await vault.load(Sample.key) } == .denied)
            try KernelKeyring.add(Data([1, 2, 3]), name: name)
            #expect(await vaultError { try await vault.load(Sample.key) } == .corrupt)
            try KernelKeyring.add(Data(count: 5_000), name: name)
            #expect(await vaultError { try await vault.load(Sample.key) } == .corrupt)
            try KernelKeyring.add(key, name: name)
            #expect(try await vault.load(Sample.key) == Sample.item("1"))
            try KernelKeyring.remove(name: name)
        }

        @Test("What a container forbids is denied", .enabled(if: !KernelKeyringTests.isAllowed))
        func denied() {
            #expect(throws: VaultError.denied) { try KernelKeyring.add(Data([1]), name: name) }
        }

        @Test(
            "What the kernel says of a key is what the vault throws",
            arguments: [
                (ENOKEY, VaultError.locked), (EKEYEXPIRED, .locked), (EKEYREVOKED, .locked), (EACCES, .denied),
                (EPERM, .denied), (ENOSYS, .unavailable), (EDQUOT, .unavailable),
            ])
        func errors(code: Int32, error: VaultError) {
            #expect(VaultError(keyErrno: code) == error)
        }
    }
#endif
