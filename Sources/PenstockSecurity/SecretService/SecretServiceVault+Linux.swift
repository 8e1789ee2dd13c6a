#if os(Linux)
    import Foundation
    import PenstockCore

    /// Keeps credentials in the keyring of the user's desktop: whatever answers to the Secret Service API on the session bus, such
    /// as GNOME Keyring, KeePassXC and KWallet.
    ///
    /// ```swift
    /// configuration.vault = SecretServiceVault(application: "com.example.shop")
    /// ```
    ///
    /// Items lie in the default collection under the attributes `application`, `service`, `environment`, `origin` and `account`,
    /// and what is secret is the item's content and nothing else, so that `secret-tool lookup application com.example.shop …`
    /// prints it; what `secret-tool store` has put there under all five is found. The attributes `version` and `revision` are
    /// the vault's own. Attributes are not secret: a keyring may keep them readable.
    ///
    /// The API has no way to compare and replace in one step, so processes of the user's wait for one another by a lock on a
    /// file. A new item is written beside the old one, which is deleted after, and the one of the highest revision counts:
    /// whoever is killed in between has lost nothing.
    ///
    /// The service decrypts; over the bus, which is a socket of the user's own, the content goes as it is (the algorithm `plain`).
    ///
    /// Its errors: ``VaultError/locked`` while the collection is locked, in which case nothing is said about what is in it: it is
    /// unlocked where the service does so without a question to the user, once for each request;
    /// ``VaultError/denied`` where the service or the bus refuses, or would have to ask the user first;
    /// ``VaultError/unavailable`` where there is no bus, no service or no default collection. For the last two the vault waits up
    /// to 5 s, since the session may still be starting them. It makes no collection, for whose password the user has to be
    /// asked: `secret-tool store` does, and the desktop when its user logs in.
    public final class SecretServiceVault: CredentialVault {
        private let opening: KeyringOpening?
        private let lock: PrivateFile
        private let queue = VaultQueue("secret-service")

        /// Nothing is asked before it is first used.
        ///
        /// - Parameters:
        ///   - application: whose items they are; programs that name the same one share them.
        ///   - address: of the bus; that of the session unless told otherwise, which is `DBUS_SESSION_BUS_ADDRESS` or the socket
        ///     `bus` in `XDG_RUNTIME_DIR`.
        ///   - lock: the file beside which the lock lies; unless told otherwise `penstock/secret-service` in the folder of the
        ///     user's session, `XDG_RUNTIME_DIR`, or in `~/.local/state` where there is none.
        public init(application: String, address: String? = nil, lock: URL? = nil) {
            (opening, self.lock) = Self.parts(application, address, lock, KeyringOpening.patience)
        }

        /// - Parameter patience: how long a keyring is waited for that is not there.
        init(application: String, address: String?, lock: URL?, patience: Duration) {
            (opening, self.lock) = Self.parts(application, address, lock, patience)
        }

        private static func parts(
            _ application: String, _ address: String?, _ lock: URL?, _ patience: Duration
        ) -> (KeyringOpening?, PrivateFile) {
            let environment = ProcessInfo.processInfo.environment
            let opening = (address ?? sessionBus(environment)).map {
                KeyringOpening($0, application, patience: patience)
            }
            return (opening, PrivateFile(lock ?? lockFile(environment)))
        }

        static func sessionBus(_ environment: [String: String]) -> String? {
            if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
            // In an address, bytes beyond a few are escaped as in a URL.
            return runtimeFolder(environment).map {
                "unix:path=" + PercentEncoding.escape($0 + "/bus", keeping: isPlain)
            }
        }

        private static func isPlain(_ byte: UInt8) -> Bool {
            byte != UInt8(ascii: "~") && PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: "/")
        }

        private static func runtimeFolder(_ environment: [String: String]) -> String? {
            environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }

        private static func lockFile(_ environment: [String: String]) -> URL {
            let folder = runtimeFolder(environment) ?? NSHomeDirectory() + "/.local/state"
            return URL(fileURLWithPath: folder).appendingPathComponent("penstock/secret-service")
        }

        public func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? {
            try await ask(isChange: false) { keyring throws(Bus.Failure) in
                guard let entry = try keyring.entries(key).last else { return nil }
                return VaultItem(version: entry.version, content: Data(try keyring.secret(of: entry)))
            }
        }

        public func keys() async throws(VaultError) -> [CredentialKey] {
            try await ask(isChange: false) { keyring throws(Bus.Failure) in
                Array(Set(try keyring.entries(nil).map(\.key)))
            }
        }

        @discardableResult
        public func save(
            _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
        ) async throws(VaultError) -> Bool {
            try item.validate(for: key)
            return try await ask(isChange: true) { keyring throws(Bus.Failure) in
                let old = try keyring.entries(key)
                guard condition.allows(old.last?.version) else { return false }
                let revision = (old.last?.revision ?? 0) + 1
                // The vault would not find the new item, and the old ones go: what has no room above it is another program's.
                guard Keyring.Entry.revisions.contains(revision) else { throw .vault(.corrupt) }
                try keyring.create(item, for: key, revision: revision)
                // What is not deleted now counts for less than the new one, and is deleted with it.
                for entry in old { try? keyring.delete(entry) }
                return true
            }
        }

        @discardableResult
        public func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
            try await ask(isChange: true) { keyring throws(Bus.Failure) in
                let entries = try keyring.entries(key)
                guard let last = entries.last, condition.allows(last.version) else { return false }
                // The one that counts goes last, so that none of the older ones ever takes its place.
                for entry in entries { try keyring.delete(entry) }
                return true
            }
        }

        /// Whoever reads does not wait for others: an item that is replaced meanwhile is looked for again.
        private func ask<Value: Sendable>(
            isChange: Bool, _ body: @escaping @Sendable (Keyring) throws(Bus.Failure) -> Value
        ) async throws(VaultError) -> Value {
            try await queue.run { [opening, lock] () throws(VaultError) in
                guard let opening else { throw .unavailable }
                // Before the lock is taken: no other process is to wait for a keyring that is being started.
                var keyring = try Self.ofKeyring { () throws(Bus.Failure) in try opening.keyring() }
                let held = try VaultError.ofFile { () throws(PrivateFileError) in
                    isChange ? try FileLock(ofVault: lock) : nil
                }
                defer { withExtendedLifetime(held) {} }
                var retries = KeyringRetries()
                while true {
                    do throws(Bus.Failure) {
                        return try body(keyring)
                    } catch {
                        guard let pause = retries.pause(after: error) else { throw error.vaultError }
                        KeyringOpening.sleep(for: pause)
                        keyring = try Self.ofKeyring { () throws(Bus.Failure) in try opening.keyring() }
                    }
                }
            }
        }

        private static func ofKeyring<Value>(_ body: () throws(Bus.Failure) -> Value) throws(VaultError) -> Value {
            do throws(Bus.Failure) { return try body() } catch { throw error.vaultError }
        }
    }

    /// The items of an application in the default collection, over one connection (Secret Service API Draft 0.2).
    final class Keyring {
        struct Entry: Equatable {
            let path: String
            let key: CredentialKey
            let version: String
            let revision: Int
        }

        private static let root = "/org/freedesktop/secrets"
        private static let serviceInterface = "org.freedesktop.Secret.Service"
        private static let collectionInterface = "org.freedesktop.Secret.Collection"
        private static let itemInterface = "org.freedesktop.Secret.Item"
        private static let properties = "org.freedesktop.DBus.Properties"

        private let bus: Bus
        private let application: String
        private let session: String
        private let collection: String

        /// - Throws: ``VaultError/locked`` while the collection is, before anything is said of what is in it: some services find
        ///   nothing then, which must not be taken for a user who is signed out. ``VaultError/unavailable`` while there is none.
        init(_ bus: Bus, _ application: String) throws(Bus.Failure) {
            self.bus = bus
            self.application = application
            let opened = try bus.call(Self.root, Self.serviceInterface, "OpenSession") { message throws(Bus.Failure) in
                try message.write("plain")
                try message.write("v", "s") { () throws(Bus.Failure) in try message.write("") }
            }
            try opened.skip("v")
            session = try opened.text("o")
            collection = try Self.defaultCollection(bus)
            if try isLocked { try unlock() }
            try requireUnlocked()
        }

        /// GNOME Keyring makes the collection of the login first, and then the alias that leads there. The collection of the session
        /// will not do, since it goes with the session.
        private static func defaultCollection(_ bus: Bus) throws(Bus.Failure) -> String {
            for alias in ["default", "login"] {
                let path = try bus.call(root, serviceInterface, "ReadAlias") { message throws(Bus.Failure) in
                    try message.write(alias)
                }.text("o")
                if path != "/" { return path }
            }
            throw .vault(.unavailable)
        }

        private var isLocked: Bool {
            get throws(Bus.Failure) {
                let state = try property("Locked", of: Self.collectionInterface, at: collection)
                return try state.read("v", "b") { () throws(Bus.Failure) in try state.flag() }
            }
        }

        /// Where the service finds nothing, or has no such item: a collection that has been locked meanwhile may look the same.
        private func requireUnlocked() throws(Bus.Failure) {
            if try isLocked { throw .vault(.locked) }
        }

        /// Unlocks the collection without a question to the user. One that the service would have to ask is taken back.
        private func unlock() throws(Bus.Failure) {
            let reply = try bus.call(Self.root, Self.serviceInterface, "Unlock") { message throws(Bus.Failure) in
                try message.write("a", "o") { () throws(Bus.Failure) in try message.write(collection, as: "o") }
            }
            try reply.skip("ao")
            let prompt = try reply.text("o")
            guard prompt != "/" else { return }
            _ = try? bus.call(prompt, "org.freedesktop.Secret.Prompt", "Dismiss")
        }

        private func property(
            _ name: String, of interface: String, at path: String
        ) throws(Bus.Failure) -> BusMessage {
            try bus.call(path, Self.properties, "Get") { message throws(Bus.Failure) in
                try message.write(interface)
                try message.write(name)
            }
        }

        private func attributes(_ key: CredentialKey?) -> [String: String] {
            guard let key else { return ["application": application] }
            return [
                "application": application, "service": key.service, "environment": key.environment,
                "origin": key.origin,
                "account": key.account,
            ]
        }

        /// What there is, the one that counts last.
        ///
        /// - Parameter key: `nil` for all keys.
        func entries(_ key: CredentialKey?) throws(Bus.Failure) -> [Entry] {
            let wanted = attributes(key)
            let paths = try bus.call(collection, Self.collectionInterface, "SearchItems") {
                message throws(Bus.Failure) in
                try message.write(wanted)
            }.paths()
            var entries: [Entry] = []
            for path in paths {
                let reply = try property("Attributes", of: Self.itemInterface, at: path)
                let found = try reply.read("v", "a{ss}") { () throws(Bus.Failure) in try reply.values() }
                // A service that finds more than it was asked for does not decide whose credential is used.
                guard wanted.allSatisfy({ found[$0.key]?.isWritten(as: $0.value) ?? false }) else { continue }
                if let entry = Entry(path: path, attributes: found) { entries.append(entry) }
            }
            if entries.isEmpty { try requireUnlocked() }
            return entries.sorted { ($0.revision, $0.path) < ($1.revision, $1.path) }
        }

        func secret(of entry: Entry) throws(Bus.Failure) -> [UInt8] {
            let reply = try bus.call(entry.path, Self.itemInterface, "GetSecret") { message throws(Bus.Failure) in
                try message.write(session, as: "o")
            }
            let bytes = try reply.read("r", "oayays") { () throws(Bus.Failure) in
                try reply.skip("oay")
                let bytes = try reply.bytes()
                try reply.skip("s")
                return bytes
            }
            guard bytes.count <= VaultItem.maximumSize else { throw .vault(.corrupt) }
            return bytes
        }

        func create(_ item: VaultItem, for key: CredentialKey, revision: Int) throws(Bus.Failure) {
            var all = attributes(key)
            all["xdg:schema"] = "org.freedesktop.Secret.Generic"
            all["version"] = item.version
            all["revision"] = String(revision)
            let who = key.account.isEmpty ? "" : " of \(key.account)"
            let label = "\(application): \(key.service)\(who) at \(key.origin)"
            let reply = try bus.call(collection, Self.collectionInterface, "CreateItem") {
                message throws(Bus.Failure) in
                try message.write("a", "{sv}") { () throws(Bus.Failure) in
                    try message.write("e", "sv") { () throws(Bus.Failure) in
                        try message.write("org.freedesktop.Secret.Item.Label")
                        try message.write("v", "s") { () throws(Bus.Failure) in try message.write(label) }
                    }
                    try message.write("e", "sv") { () throws(Bus.Failure) in
                        try message.write("org.freedesktop.Secret.Item.Attributes")
                        try message.write("v", "a{ss}") { () throws(Bus.Failure) in try message.write(all) }
                    }
                }
                try message.write("r", "oayays") { () throws(Bus.Failure) in
                    try message.write(session, as: "o")
                    try message.write([UInt8]())
                    try message.write([UInt8](item.content))
                    try message.write("text/plain")
                }
                try message.write(true)
            }
            // Where the user has to be asked, there is no item yet.
            guard try reply.text("o") != "/" else {
                try requireUnlocked()
                throw .vault(.denied)
            }
        }

        func delete(_ entry: Entry) throws(Bus.Failure) {
            do throws(Bus.Failure) {
                let reply = try bus.call(entry.path, Self.itemInterface, "Delete")
                guard try reply.text("o") == "/" else {
                    try requireUnlocked()
                    throw .vault(.denied)
                }
            } catch .gone {
                try requireUnlocked()
            }
        }
    }

    extension Keyring.Entry {
        /// The revisions of items that count.
        fileprivate static let revisions = 0..<(1 << 53)

        /// - Returns: `nil` for what lacks an attribute, or names a revision that none of ours has.
        init?(path: String, attributes: [String: String]) {
            guard let service = attributes["service"], let environment = attributes["environment"],
                let origin = attributes["origin"], let account = attributes["account"],
                let revision = Int(attributes["revision"] ?? "0"), Self.revisions.contains(revision)
            else { return nil }
            let key = CredentialKey(service: service, environment: environment, origin: origin, account: account)
            // What was put there by another program has none of ours. Its path is another one for each item.
            self.init(path: path, key: key, version: attributes["version"] ?? path, revision: revision)
        }
    }
#endif
