#if os(Linux)
    import CKernelKeyring
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
                try KernelKeyring.add(VaultKey.random(), name: name)
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
            // By other means than ours.
            for count in [3, 5_000] {
                #expect(
                    ckernelkeyring_add(name, [UInt8](repeating: 1, count: count), count, 0, KEY_SPEC_USER_KEYRING) == 0)
                #expect(await vaultError { try await vault.load(Sample.key) } == .corrupt)
            }
            try KernelKeyring.add(key, name: name)
            #expect(try await vault.load(Sample.key) == Sample.item("1"))
            try KernelKeyring.remove(name: name)
        }

        /// On a thread that ends with it: which session's keyring there is belongs to the thread, and writing into it
        /// may make a new one.
        private static func onOwnThread<Value: Sendable>(
            _ body: @escaping @Sendable () throws -> Value
        ) async throws -> Value {
            try await withCheckedThrowingContinuation { done in
                Thread.detachNewThread { done.resume(with: Result { try body() }) }
            }
        }

        @Test(
            "A key in the session's keyring hides none of the user's, and opens what that has none for",
            .enabled(if: KernelKeyringTests.isAllowed))
        func shadowed() async throws {
            let (name, key, other) = (name, VaultKey.random(), VaultKey.random())
            try await Self.onOwnThread {
                let bytes = [UInt8](other)
                #expect(ckernelkeyring_add(name, bytes, bytes.count, 0, KEY_SPEC_SESSION_KEYRING) == 0)
                let session = ckernelkeyring_find(name, KEY_SPEC_SESSION_KEYRING)
                #expect(session >= 0)
                defer { _ = ckernelkeyring_remove(session, KEY_SPEC_SESSION_KEYRING) }
                #expect(try KernelKeyring.key(name) == other)
                // It is not the user's, and stays.
                #expect(try KernelKeyring.remove(name: name) == false)
                try KernelKeyring.add(key, name: name)
                #expect(try KernelKeyring.key(name) == key)
                #expect(try KernelKeyring.remove(name: name))
                #expect(try KernelKeyring.key(name) == other)
            }
            #expect(throws: VaultError.locked) { try KernelKeyring.key(name) }
        }

        @Test(
            "A session that is not linked to the user's keyring adds, replaces and removes keys there all the same",
            .enabled(if: KernelKeyringTests.isAllowed))
        func unlinked() async throws {
            let (name, keys) = (name, [VaultKey.random(), VaultKey.random()])
            try await Self.onOwnThread {
                // Where the process has no session of its own, writing into it makes one.
                #expect(ckernelkeyring_add(name, [1], 1, 0, KEY_SPEC_SESSION_KEYRING) == 0)
                #expect(ckernelkeyring_remove(ckernelkeyring_find_anywhere(name), KEY_SPEC_SESSION_KEYRING) == 0)
                for key in keys {
                    try KernelKeyring.add(key, name: name, lifetime: .seconds(600))
                    // Nothing is left in the thread's keyring.
                    #expect(ckernelkeyring_find(name, KEY_SPEC_THREAD_KEYRING) < 0)
                    #expect(try KernelKeyring.key(name) == key)
                }
            }
            #expect(try KernelKeyring.key(name) == keys[1])
            #expect(try KernelKeyring.remove(name: name))
            #expect(throws: VaultError.locked) { try KernelKeyring.key(name) }
        }

        @Test("A key that has expired is none", .enabled(if: KernelKeyringTests.isAllowed))
        func lifetime() async throws {
            try KernelKeyring.add(VaultKey.random(), name: name, lifetime: .nanoseconds(1))
            let deadline = ContinuousClock.now + .seconds(30)
            var error: VaultError?
            while error == nil, ContinuousClock.now < deadline {
                error = await vaultError { try KernelKeyring.key(name) }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(error == .locked)
        }

        @Test(
            "A name that the kernel would cut off or not take is invalid, wherever it is given",
            arguments: ["", "penstock\0other", "\0", String(repeating: "n", count: 4_096)])
        func names(name: String) async throws {
            #expect(throws: VaultError.invalid) { try KernelKeyring.add(VaultKey.random(), name: name) }
            #expect(throws: VaultError.invalid) { try KernelKeyring.remove(name: name) }
            let folder = try Folder()
            let vault = EncryptedFileVault(file: folder.file, key: .kernelKeyring(name))
            #expect(
                await vaultError { try await vault.save(Sample.item("1"), for: Sample.key, over: .anything) }
                    == .invalid)
        }

        @Test(
            "A name may be as long as the kernel's are", .enabled(if: KernelKeyringTests.isAllowed),
            arguments: [1, 4_095])
        func lengths(count: Int) throws {
            let name = String(repeating: "\u{7F}", count: count)
            let key = VaultKey.random()
            try KernelKeyring.add(key, name: name)
            #expect(try KernelKeyring.key(name) == key)
            #expect(try KernelKeyring.remove(name: name))
        }

        @Test("A key of another length is invalid, and the one that is there stays", arguments: [0, 31, 33])
        func sizes(count: Int) {
            #expect(throws: VaultError.invalid) { try KernelKeyring.add(Data(count: count), name: name) }
            #expect(throws: (Self.isAllowed ? VaultError.locked : .denied)) { try KernelKeyring.key(name) }
        }

        @Test(
            "A lifetime that is over before it begins is invalid",
            arguments: [Duration.zero, .nanoseconds(-1), .seconds(-5)])
        func over(lifetime: Duration) {
            #expect(throws: VaultError.invalid) {
                try KernelKeyring.add(VaultKey.random(), name: name, lifetime: lifetime)
            }
        }

        @Test("What a container forbids is denied", .enabled(if: !KernelKeyringTests.isAllowed))
        func denied() {
            #expect(throws: VaultError.denied) { try KernelKeyring.add(VaultKey.random(), name: name) }
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
