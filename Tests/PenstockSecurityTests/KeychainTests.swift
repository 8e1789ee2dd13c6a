import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// What the vault in Apple's keychain makes of the keychain's calls, over one that does as Apple documents.
@Suite(.timeLimit(.minutes(1)))
struct KeychainTests {
    @Test("Every rule for vaults holds over a keychain", .covers("S4.19"), arguments: VaultConformance.rules)
    func conformance(rule: VaultConformance.Rule) async throws {
        let keychain = FakeKeychain()
        try await rule.run { FakeKeychainVault(keychain) }
    }

    /// What Apple's system is told can be read here, and not run.
    @Test("Whatever its protection class, an item stays on its device", .covers("S4.18"))
    func staysOnItsDevice() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("../Sources/PenstockSecurity/Vaults/KeychainVault+Apple.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let classes = text.matches(of: /case \.(\w+): (kSecAttrAccessible\w+)/).map { [String($0.1), String($0.2)] }
        #expect(
            classes == [
                ["afterFirstUnlock", "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly"],
                ["whenUnlocked", "kSecAttrAccessibleWhenUnlockedThisDeviceOnly"],
                ["whenPasscodeSet", "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly"],
            ])
        #expect(
            text.matches(of: /kSecAttrSynchronizable\b.*/).map { String($0.0) } == [
                "kSecAttrSynchronizable as String: false, kSecUseDataProtectionKeychain as String: true,"
            ])
    }

    @Test("An item of another protection class gets the one that is asked for, when it is read and when it is written")
    func migration() throws {
        let keychain = FakeKeychain()
        let old = keychain.items(.whenUnlocked)
        #expect(try old.save(Sample.item("1"), for: Sample.key("read"), over: .absent))
        #expect(try old.save(Sample.item("1"), for: Sample.key("written"), over: .absent))
        let new = keychain.items(.afterFirstUnlock)
        #expect(try new.load(Sample.key("read")) == Sample.item("1"))
        #expect(keychain.protections == ["read": .afterFirstUnlock, "written": .whenUnlocked])
        #expect(try new.save(Sample.item("2"), for: Sample.key("written"), over: .version("1")))
        #expect(keychain.protections == ["read": .afterFirstUnlock, "written": .afterFirstUnlock])
        #expect(keychain.updates == 2)
        #expect(try new.load(Sample.key("read")) == Sample.item("1"))
        #expect(keychain.updates == 2, "what has the class already is left alone")
    }

    @Test("An item that was replaced while its class was changed keeps its new version")
    func migrationRace() throws {
        let keychain = FakeKeychain()
        #expect(try keychain.items(.whenUnlocked).save(Sample.item("1"), for: Sample.key, over: .absent))
        let items = keychain.items(.afterFirstUnlock)
        keychain.beforeUpdate { rows in
            for key in rows.keys { rows[key] = KeychainRow(version: "2", content: Data(), protection: .whenUnlocked) }
        }
        #expect(try items.load(Sample.key) == Sample.item("1"))
        #expect(keychain.protections == ["alice": .whenUnlocked])
        #expect(try items.load(Sample.key) == VaultItem(version: "2", content: Data()))
        #expect(keychain.protections == ["alice": .afterFirstUnlock])
    }

    @Test(
        "What the keychain refuses is what the vault throws",
        arguments: [VaultError.locked, .denied, .corrupt, .unavailable])
    func failures(error: VaultError) throws {
        let keychain = FakeKeychain()
        let items = keychain.items(.afterFirstUnlock)
        #expect(try items.save(Sample.item("1"), for: Sample.key, over: .absent))
        keychain.fail(.failed(error))
        #expect(throws: error) { try items.load(Sample.key) }
        #expect(throws: error) { try items.load(Sample.key("nobody")) }
        #expect(throws: error) { try items.keys() }
        for condition in [VaultCondition.anything, .absent, .version("1")] {
            #expect(throws: error) { try items.save(Sample.item("2"), for: Sample.key, over: condition) }
        }
        for condition in [VaultCondition.anything, .version("1")] {
            #expect(throws: error) { try items.delete(Sample.key, where: condition) }
        }
        keychain.fail(nil)
        #expect(try items.load(Sample.key) == Sample.item("1"))
    }

    @Test("What others have put under the same names is corrupt, and under other names is none of ours")
    func foreign() throws {
        let keychain = FakeKeychain()
        let items = keychain.items(.afterFirstUnlock)
        keychain.put(KeychainRow(version: nil, content: Data()), Sample.key.accountText)
        keychain.put(KeychainRow(version: "1", content: nil), Sample.key("bob").accountText)
        keychain.put(KeychainRow(version: "1", content: Data()), "somebody")
        #expect(throws: VaultError.corrupt) { try items.load(Sample.key) }
        #expect(throws: VaultError.corrupt) { try items.load(Sample.key("bob")) }
        #expect(try Set(items.keys()) == [Sample.key, Sample.key("bob")])
    }

    @Test("What is added and deleted by others again and again is given up in the end")
    func contention() throws {
        let keychain = FakeKeychain()
        keychain.isContended = true
        #expect(throws: VaultError.unavailable) {
            try keychain.items(.afterFirstUnlock).save(Sample.item("1"), for: Sample.key, over: .anything)
        }
    }

    @Test(
        "Tokens are kept, by service and account, on this device only, until they are deleted or the app is installed anew",
        .covers("S4.18"))
    func lifecycle() async throws {
        let keychain = FakeKeychain()
        let folder = try Folder()
        let marker = folder.url.appendingPathComponent("app/installed")
        func client(as identity: String) -> APIClient {
            let stub = StubTransport { _ in HTTPResponse(status: 200) }
            var configuration = APIClient.Configuration(services: [
                Service(.main, [.production: "https://a.example"], authenticator: BearerAuthenticator()),
                Service("pay", [.production: "https://pay.example"], authenticator: BearerAuthenticator()),
            ])
            configuration.environment = .production
            configuration.cache = .none
            configuration.identity = { identity }
            configuration.vault = PurgingVault(FakeKeychainVault(keychain), marker: marker)
            return APIClient(configuration, transport: stub)
        }
        for name in ["alice", "bob"] {
            try await client(as: name).signIn(Credential("token of \(name)", refreshToken: "renews"))
            try await client(as: name).signIn(Credential("payments of \(name)"), to: "pay")
        }
        let rows = keychain.rows
        let names = Set(rows.keys.map { "\($0.service) \($0.account) \($0.origin)" })
        #expect(
            names == [
                "main alice https://a.example", "main bob https://a.example", "pay alice https://pay.example",
                "pay bob https://pay.example",
            ])
        #expect(rows.values.allSatisfy { $0.protection == .afterFirstUnlock })
        let kept = try #require(rows.first { $0.key.service == "main" && $0.key.account == "alice" }?.value.content)
        let text = String(decoding: kept, as: UTF8.self)
        #expect(text.contains("token of alice") && !text.contains("token of bob"))

        for service in [ServiceID.main, "pay"] { try await client(as: "alice").signOut(of: service) }
        #expect(try await client(as: "alice").credential() == nil)
        #expect(keychain.rows.keys.contains { $0.account == "alice" } == false)
        #expect(try await client(as: "bob").credential()?.token == "token of bob")

        try FileManager.default.removeItem(at: marker)
        #expect(try await client(as: "bob").credential() == nil)
        #expect(keychain.rows.isEmpty)
    }

    @Test("A login with a password leaves its token, and no byte of the password", .covers("S4.18"))
    func password() async throws {
        let keychain = FakeKeychain()
        let stub = StubTransport { request in
            if request.url.path == "/login" { return .json(#"{"token":"token of alice"}"#) }
            return HTTPResponse(status: request.fields[.authorization] == nil ? 401 : 200)
        }
        let authenticator = BearerAuthenticator(logIn: { _, context in
            let answer = try await context.client.send(Login(account: "alice", password: "hunter2"))
            return Credential(answer.token, refreshToken: "renews")
        })
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: "https://a.example"], authenticator: authenticator)
        ])
        configuration.environment = .production
        configuration.cache = .none
        configuration.identity = { "alice" }
        configuration.vault = FakeKeychainVault(keychain)
        let client = APIClient(configuration, transport: stub)
        try await client.get("/me")
        let bodies = stub.requests.map { request in
            guard case .bytes(let data) = request.body.source else { return "" }
            return String(decoding: data, as: UTF8.self)
        }
        #expect(bodies.map { $0.contains("hunter2") } == [false, true, false])
        #expect(stub.requests.last?.fields[.authorization] == "Bearer token of alice")
        let rows = keychain.rows
        let texts = rows.map { "\($0.key) \(String(decoding: $0.value.content ?? Data(), as: UTF8.self))" }
        #expect(texts.count == 1 && texts[0].contains("token of alice"))
        #expect(!texts.contains { $0.contains("hunter2") || $0.contains(Data("hunter2".utf8).base64EncodedString()) })
    }

    private struct Login: Endpoint, Encodable {
        struct Output: Decodable, Sendable { let token: String }
        let account: String
        let password: String
        var route: Route { .post("/login") }
    }

    @Test("Services and groups have nothing to do with each other")
    func partition() throws {
        let keychain = FakeKeychain()
        let names: [(String, String?)] = [("a", nil), ("b", nil), ("a", "g")]
        let places = names.map { service, group in
            KeychainItems(access: keychain, service: service, group: group, protection: .afterFirstUnlock)
        }
        for (index, place) in places.enumerated() {
            #expect(try place.save(Sample.item("\(index)"), for: Sample.key, over: .absent))
        }
        for (index, place) in places.enumerated() {
            #expect(try place.load(Sample.key) == Sample.item("\(index)"))
            #expect(try place.keys() == [Sample.key])
        }
    }
}

/// A keychain in memory, whose calls do as those of Apple's Security framework are documented to do.
final class FakeKeychain: KeychainAccess {
    struct Name: Hashable {
        let service: String
        let group: String?
        let account: String
    }

    private struct State {
        var rows: [Name: KeychainRow] = [:]
        var failure: KeychainFailure?
        var updates = 0
        var isContended = false
        var beforeUpdate: (@Sendable (inout [Name: KeychainRow]) -> Void)?
    }

    private let state = Locked(State())

    func items(_ protection: KeychainProtection) -> KeychainItems {
        KeychainItems(access: self, service: "shop", group: nil, protection: protection)
    }

    var updates: Int { state.withLock(\.updates) }

    var isContended: Bool {
        get { state.withLock(\.isContended) }
        set { state.withLock { $0.isContended = newValue } }
    }

    /// By account.
    var protections: [String: KeychainProtection] {
        rows.reduce(into: [:]) { all, row in all[row.key.account] = row.value.protection }
    }

    /// What is there, by key.
    var rows: [CredentialKey: KeychainRow] {
        state.withLock(\.rows).reduce(into: [:]) { all, row in
            if let key = CredentialKey(accountText: row.key.account) { all[key] = row.value }
        }
    }

    func fail(_ failure: KeychainFailure?) { state.withLock { $0.failure = failure } }

    func put(_ row: KeychainRow, _ account: String) {
        state.withLock { $0.rows[Name(service: "shop", group: nil, account: account)] = row }
    }

    /// Once.
    func beforeUpdate(_ body: @escaping @Sendable (inout [Name: KeychainRow]) -> Void) {
        state.withLock { $0.beforeUpdate = body }
    }

    // MARK: The calls

    private func matches(_ query: KeychainQuery, _ rows: [Name: KeychainRow]) -> [Name] {
        rows.filter { name, row in
            name.service == query.service && name.group == query.group
                && (query.account == nil || query.account == name.account)
                && (query.version == nil || query.version == row.version)
        }.map(\.key)
    }

    private func change<Value: Sendable>(
        _ body: (inout State) throws(KeychainFailure) -> Value
    ) throws(KeychainFailure) -> Value {
        try state.withLock { state throws(KeychainFailure) in
            if let failure = state.failure { throw failure }
            return try body(&state)
        }
    }

    func add(
        _ item: VaultItem, _ protection: KeychainProtection, _ query: KeychainQuery
    ) throws(KeychainFailure) {
        try change { state throws(KeychainFailure) in
            guard let account = query.account, !state.isContended else { throw .duplicate }
            let name = Name(service: query.service, group: query.group, account: account)
            guard state.rows[name] == nil else { throw .duplicate }
            state.rows[name] = KeychainRow(version: item.version, content: item.content, protection: protection)
        }
    }

    func update(
        _ query: KeychainQuery, to item: VaultItem?, _ protection: KeychainProtection
    ) throws(KeychainFailure) {
        try change { state throws(KeychainFailure) in
            state.beforeUpdate?(&state.rows)
            state.beforeUpdate = nil
            let names = matches(query, state.rows)
            guard !names.isEmpty else { throw .missing }
            for name in names {
                if let item { state.rows[name] = KeychainRow(version: item.version, content: item.content) }
                state.rows[name]?.protection = protection
            }
            state.updates += 1
        }
    }

    func find(_ query: KeychainQuery) throws(KeychainFailure) -> KeychainRow {
        try change { state throws(KeychainFailure) in
            guard let name = matches(query, state.rows).first, let row = state.rows[name] else { throw .missing }
            return row
        }
    }

    func accounts(_ query: KeychainQuery) throws(KeychainFailure) -> [String] {
        try change { state throws(KeychainFailure) in
            let names = matches(query, state.rows)
            guard !names.isEmpty else { throw .missing }
            return names.map(\.account)
        }
    }

    func delete(_ query: KeychainQuery) throws(KeychainFailure) {
        try change { state throws(KeychainFailure) in
            let names = matches(query, state.rows)
            guard !names.isEmpty else { throw .missing }
            for name in names { state.rows[name] = nil }
        }
    }
}

/// The vault as it is on Apple's systems, over another keychain.
final class FakeKeychainVault: CredentialVault {
    private let items: KeychainItems

    init(_ keychain: FakeKeychain) { items = keychain.items(.afterFirstUnlock) }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { try items.load(key) }

    func save(
        _ item: VaultItem, for key: CredentialKey, over condition: VaultCondition
    ) async throws(VaultError) -> Bool {
        try item.validate(for: key)
        return try items.save(item, for: key, over: condition)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        try items.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] { try items.keys() }
}
