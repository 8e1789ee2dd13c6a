#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport

    @testable import PenstockSecurity

    /// A session bus with GNOME Keyring on it, which nobody else sees. All its files are in a folder of its own.
    final class Desktop: Sendable {
        static let isInstalled =
            ProcessInfo.processInfo.environment["CI"] == "true"
            || ["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool"].allSatisfy { name in
                FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)")
            }

        private static let password = "correct horse"

        private let folder: Folder
        private let processes = Locked<[Process]>([])
        private let revivals = Locked(0)
        private var address: String { "unix:path=\(folder.url.path)/bus" }

        init(hasKeyring: Bool = true) async throws {
            folder = try Folder()
            let settings = """
                <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
                <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
                </busconfig>
                """
            let file = folder.url.appendingPathComponent("bus.conf")
            try Data(settings.utf8).write(to: file)
            try start("dbus-daemon", ["--config-file=\(file.path)", "--nofork", "--nopidfile", "--nosyslog"])
            try await wait { FileManager.default.fileExists(atPath: "\(folder.url.path)/bus") }
            if hasKeyring { try await startKeyring() }
        }

        /// With the password that a user who logs in has typed.
        func startKeyring() async throws {
            try start(
                "gnome-keyring-daemon",
                ["--foreground", "--components=secrets", "--unlock", "--control-directory=\(folder.url.path)/control"],
                input: Self.password)
            let vault = vault(patience: .zero)
            try await wait { await vaultError { try await vault.keys() } == nil || hasLostKeyring }
            try await reviveKeyring()
        }

        /// Starts the keyring anew, as a session would, where it has ended itself: GLib ends a program of which it cannot make
        /// sense with SIGTRAP, and GNOME Keyring 42 is one once in some hundred starts. A test does not go on for ever with
        /// one that does so again and again.
        ///
        /// - Returns: whether it had.
        @discardableResult func reviveKeyring() async throws -> Bool {
            guard hasLostKeyring else { return false }
            let words = try? String(contentsOf: log("gnome-keyring-daemon"), encoding: .utf8)
            print("GNOME Keyring ended itself: \(words ?? "")")
            guard
                revivals.withLock({
                    $0 += 1; return $0 <= 2
                })
            else { throw CocoaError(.featureUnsupported) }
            processes.withLock { _ = $0.popLast() }
            try await startKeyring()
            return true
        }

        /// Whether the keyring, which is the program that was started last, has ended without being told to.
        private var hasLostKeyring: Bool {
            processes.withLock { $0.last.map { !$0.isRunning && $0.terminationReason == .uncaughtSignal } ?? false }
        }

        private func log(_ name: String) -> URL { folder.url.appendingPathComponent("\(name).log") }

        deinit {
            stop()
        }

        /// A process that a test starts may have what would end it politely blocked, as the test's own threads have.
        private static func end(_ process: Process) {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        /// As patient as one of an app's.
        var vault: SecretServiceVault { vault(patience: KeyringOpening.patience) }

        /// - Parameter patience: how long it waits for the keyring.
        func vault(patience: Duration) -> SecretServiceVault {
            SecretServiceVault(
                application: "shop", address: address, lock: folder.url.appendingPathComponent("lock"),
                patience: patience)
        }

        /// What a vault opens for each request.
        func keyring() throws -> Keyring {
            try Keyring(Bus(address), "shop")
        }

        func stop() {
            while let process = processes.withLock({ $0.popLast() }) { Self.end(process) }
        }

        /// Runs a line of the shell on this desktop.
        func shell(_ line: String) async throws -> Subprocess {
            let variables = environment.map { "\($0.key)=\($0.value)" }
            return try await Subprocess.run(URL(fileURLWithPath: "/usr/bin/env"), variables + ["sh", "-c", line])
        }

        func lock() async throws {
            let sent = try await shell(
                """
                dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
                org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login
                """)
            guard sent.status == 0 else { throw CocoaError(.featureUnsupported, userInfo: ["output": sent.output]) }
        }

        /// As when the user logs in again: the keyring is another process, with the same files.
        func logInAgain() async throws {
            if let keyring = processes.withLock({ $0.popLast() }) { Self.end(keyring) }
            try await startKeyring()
        }

        private var environment: [String: String] {
            [
                "DBUS_SESSION_BUS_ADDRESS": address, "HOME": folder.url.path,
                "XDG_DATA_HOME": "\(folder.url.path)/data",
                "XDG_RUNTIME_DIR": folder.url.path, "GNOME_KEYRING_CONTROL": "\(folder.url.path)/control",
                "LC_ALL": "C.UTF-8",
            ]
        }

        private func start(_ name: String, _ arguments: [String], input: String = "") throws {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/\(name)")
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardInput = pipe
            process.standardOutput = FileHandle.nullDevice
            try Data().write(to: log(name))
            process.standardError = try FileHandle(forWritingTo: log(name))
            try process.run()
            try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try pipe.fileHandleForWriting.close()
            processes.withLock { $0.append(process) }
        }

        /// Until a program that nobody here wrote has come so far.
        private func wait(_ condition: () async -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(30)
            while await !condition() {
                guard ContinuousClock.now < end else { throw CocoaError(.featureUnsupported) }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
#endif
