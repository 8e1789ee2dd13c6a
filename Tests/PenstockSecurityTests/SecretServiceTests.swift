#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    @testable import PenstockSecurity

    /// The vault in the desktop's keyring, against GNOME Keyring on a bus of the test's own.
    @Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: Desktop.isInstalled))
    struct SecretServiceTests {
        @Test("The keychain's rules, GNOME Keyring, the encrypted file and memory pass one suite", .covers("S4.19"))
        func oneSuite() async throws {
            let desktop = try await Desktop()
            let folder = try Folder()
            let (keychain, memory) = (FakeKeychain(), MemoryVault())
            let vaults: [(String, @Sendable () -> any CredentialVault)] = [
                ("keychain", { FakeKeychainVault(keychain) }), ("Secret Service", { desktop.vault }),
                ("encrypted file", { folder.vault }), ("memory", { memory }),
            ]
            for (name, make) in vaults {
                for rule in VaultConformance.rules {
                    do {
                        try await rule.run { make() }
                    } catch {
                        guard try await desktop.reviveKeyring() else {
                            Issue.record("\(name): \(error)")
                            continue
                        }
                        try await rule.run { make() }
                    }
                }
            }
            desktop.stop()
        }

        @Test("What the vault keeps secret-tool prints, and what secret-tool stores the vault finds")
        func interoperation() async throws {
            let desktop = try await Desktop()
            let item = Sample.item("1", #"{"token":"tøken"}"#)
            try await desktop.vault.save(item, for: Sample.key, over: .absent)
            let who = "application shop service main environment production origin https://a.example account"
            let printed = try await desktop.shell("secret-tool lookup \(who) alice")
            #expect(printed.output == #"{"token":"tøken"}"#)
            try await desktop.vault.save(Sample.item("2", "newer"), for: Sample.key, over: .version("1"))
            #expect(try await desktop.shell("secret-tool lookup \(who) alice").output == "newer")
            #expect(
                try await desktop.shell("secret-tool search --all application shop 2>/dev/null | grep -c '^secret'")
                    .output == "1\n")

            let stored = try await desktop.shell("printf %s 'by hand' | secret-tool store --label=Bob \(who) bob")
            #expect(stored.status == 0, "\(stored.output)")
            let found = try #require(try await desktop.vault.load(Sample.key("bob")))
            #expect(found.content == Data("by hand".utf8))
            #expect(try await Set(desktop.vault.keys()) == [Sample.key, Sample.key("bob")])
            #expect(
                try await desktop.vault.save(Sample.item("3"), for: Sample.key("bob"), over: .version(found.version)))
            #expect(try await desktop.vault.load(Sample.key("bob")) == Sample.item("3"))
            #expect(try await desktop.vault.delete(Sample.key("bob"), where: .anything))
            #expect(try await desktop.shell("secret-tool lookup \(who) bob").status != 0)
            desktop.stop()
        }

        @Test("Items of other applications, and those that lack an attribute, are none of ours")
        func foreign() async throws {
            let desktop = try await Desktop()
            let key = "service main environment production origin https://a.example"
            for attributes in [
                "application other \(key) account alice", "application shop \(key)",
                "application shop \(key) account alice revision -1",
                "application shop \(key) account alice revision 1e9",
            ] {
                let stored = try await desktop.shell("printf x | secret-tool store --label=x -- \(attributes)")
                #expect(stored.status == 0, "\(stored.output)")
            }
            #expect(try await desktop.vault.load(Sample.key) == nil)
            #expect(try await desktop.vault.keys() == [])
            desktop.stop()
        }

        @Test("Of two items that a killed process has left, the newer one counts, and both go with it")
        func remains() async throws {
            let desktop = try await Desktop()
            try await desktop.vault.save(Sample.item("1", "old"), for: Sample.key, over: .absent)
            let who = "application shop service main environment production origin https://a.example account alice"
            let stored = try await desktop.shell(
                "printf new | secret-tool store --label=x \(who) version 2 revision 2")
            #expect(stored.status == 0, "\(stored.output)")
            #expect(try await desktop.vault.load(Sample.key) == Sample.item("2", "new"))
            #expect(try await desktop.vault.keys() == [Sample.key])
            #expect(try await desktop.vault.delete(Sample.key, where: .version("1")) == false)
            #expect(try await desktop.vault.delete(Sample.key, where: .version("2")))
            #expect(try await desktop.vault.load(Sample.key) == nil)
            desktop.stop()
        }

        @Test("An item whose revision leaves no room for a later one is not replaced, and nothing is lost")
        func lastRevision() async throws {
            let desktop = try await Desktop()
            let who = "application shop service main environment production origin https://a.example account alice"
            let stored = try await desktop.shell(
                "printf last | secret-tool store --label=x \(who) version 1 revision \((1 << 53) - 1)")
            #expect(stored.status == 0, "\(stored.output)")
            let vault = desktop.vault
            #expect(
                await vaultError { try await vault.save(Sample.item("2"), for: Sample.key, over: .version("1")) }
                    == .corrupt)
            #expect(try await vault.load(Sample.key) == Sample.item("1", "last"))
            #expect(try await vault.delete(Sample.key, where: .version("1")))
            desktop.stop()
        }

        @Test("While the keyring is locked the vault is, for what is in it and for what is not, until it is unlocked")
        func locked() async throws {
            let desktop = try await Desktop()
            try await desktop.vault.save(Sample.item("1"), for: Sample.key, over: .absent)
            try await desktop.lock()
            let vault = desktop.vault
            #expect(await vaultError { try await vault.load(Sample.key) } == .locked)
            #expect(await vaultError { try await vault.load(Sample.key("nobody")) } == .locked)
            #expect(await vaultError { try await vault.keys() } == .locked)
            #expect(
                await vaultError { try await vault.save(Sample.item("2"), for: Sample.key, over: .anything) } == .locked
            )
            #expect(await vaultError { try await vault.delete(Sample.key, where: .anything) } == .locked)
            try await desktop.logInAgain()
            #expect(try await vault.load(Sample.key) == Sample.item("1"))
            desktop.stop()
        }

        @Test("A collection that is locked between two calls is locked, and nothing is missing or deleted in it")
        func lockedMeanwhile() async throws {
            let desktop = try await Desktop()
            try await desktop.vault.save(Sample.item("1"), for: Sample.key, over: .absent)
            let keyring = try desktop.keyring()
            let entry = try #require(try keyring.entries(Sample.key).last)
            let gone = Keyring.Entry(path: entry.path + "0", key: entry.key, version: "0", revision: 0)
            try keyring.delete(gone)
            try await desktop.lock()
            let locked = Bus.Failure.vault(.locked)
            #expect(throws: locked) { try keyring.entries(Sample.key("nobody")) }
            #expect(throws: locked) { try keyring.secret(of: entry) }
            #expect(throws: locked) { try keyring.create(Sample.item("2"), for: Sample.key, revision: 2) }
            #expect(throws: locked) { try keyring.delete(entry) }
            #expect(throws: locked) { try keyring.delete(gone) }
            try await desktop.logInAgain()
            #expect(try await desktop.vault.load(Sample.key) == Sample.item("1"))
            desktop.stop()
        }

        @Test("A keyring that starts while the vault is used for the first time is waited for")
        func late() async throws {
            let desktop = try await Desktop(hasKeyring: false)
            let vault = desktop.vault(patience: .seconds(120))
            async let saved = vault.save(Sample.item("1"), for: Sample.key, over: .absent)
            try await desktop.startKeyring()
            #expect(try await saved)
            #expect(try await vault.load(Sample.key) == Sample.item("1"))
            desktop.stop()
        }

        @Test("A keyring that was waited for in vain is found once it is there")
        func vain() async throws {
            let desktop = try await Desktop(hasKeyring: false)
            let vault = desktop.vault(patience: .milliseconds(100))
            for _ in 1...2 {
                #expect(await vaultError { try await vault.load(Sample.key) } == .unavailable)
            }
            try await desktop.startKeyring()
            #expect(try await vault.load(Sample.key) == nil)
            desktop.stop()
        }

        @Test("Where no bus is, or no service on it, the vault is unavailable")
        func absent() async throws {
            let folder = try Folder()
            let lock = folder.url.appendingPathComponent("lock")
            let nowhere = SecretServiceVault(
                application: "shop", address: "unix:path=\(folder.url.path)/nobody", lock: lock)
            #expect(await vaultError { try await nowhere.load(Sample.key) } == .unavailable)
            let nonsense = SecretServiceVault(application: "shop", address: "nonsense", lock: lock)
            #expect(await vaultError { try await nonsense.load(Sample.key) } == .unavailable)
            let desktop = try await Desktop(hasKeyring: false)
            let vault = desktop.vault(patience: .zero)
            #expect(await vaultError { try await vault.load(Sample.key) } == .unavailable)
            #expect(await vaultError { try await vault.keys() } == .unavailable)
            desktop.stop()
        }
    }

    /// What needs no keyring.
    struct SecretServiceNameTests {
        @Test(
            "What was replaced, or could not be done, is tried five times, what was locked is unlocked once, and all else ends the request"
        )
        func retries() {
            for failure in [Bus.Failure.gone, .failed] {
                var retries = KeyringRetries()
                let pauses = (0..<5).map { _ in retries.pause(after: failure) }
                #expect(pauses == [.milliseconds(10), .milliseconds(20), .milliseconds(40), .milliseconds(80), nil])
                #expect(retries.pause(after: .vault(.locked)) == .zero)
                #expect(retries.pause(after: .vault(.locked)) == nil)
            }
            for error in [VaultError.denied, .unavailable, .corrupt] {
                var retries = KeyringRetries()
                #expect(retries.pause(after: .vault(error)) == nil)
            }
        }

        @Test(
            "What the service calls an error is what the vault throws",
            arguments: [
                ("org.freedesktop.Secret.Error.IsLocked", Bus.Failure.vault(.locked)),
                ("org.freedesktop.Secret.Error.NoSuchObject", .gone),
                ("org.freedesktop.DBus.Error.UnknownObject", .gone),
                ("org.freedesktop.DBus.Error.UnknownMethod", .gone),
                ("org.freedesktop.DBus.Error.Failed", .failed),
                ("org.freedesktop.DBus.Error.AccessDenied", .vault(.denied)),
                ("org.freedesktop.DBus.Error.AuthFailed", .vault(.denied)),
                ("org.freedesktop.DBus.Error.ServiceUnknown", .vault(.unavailable)),
                ("org.freedesktop.DBus.Error.NoReply", .vault(.unavailable)), ("", .vault(.unavailable)),
            ])
        func names(name: String, failure: Bus.Failure) {
            #expect(Bus.Failure(named: name) == failure)
        }

        @Test("The bus is the session's, by its address or by its socket, escaped as addresses are")
        func address() {
            #expect(SecretServiceVault.sessionBus(["DBUS_SESSION_BUS_ADDRESS": "tcp:host=a"]) == "tcp:host=a")
            #expect(
                SecretServiceVault.sessionBus(["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/run/user/7"])
                    == "unix:path=/run/user/7/bus")
            #expect(SecretServiceVault.sessionBus(["XDG_RUNTIME_DIR": "/a;b~"]) == "unix:path=/a%3Bb%7E/bus")
            #expect(SecretServiceVault.sessionBus(["XDG_RUNTIME_DIR": "run"]) == nil)
            #expect(SecretServiceVault.sessionBus([:]) == nil)
        }
    }
#endif
