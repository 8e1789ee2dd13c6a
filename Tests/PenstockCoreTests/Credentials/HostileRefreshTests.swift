import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// What goes wrong with a refresh, and what goes on besides data: uploads, downloads, other origins.
@Suite(.timeLimit(.minutes(5))) struct HostileRefreshTests {
    enum Trouble: CaseIterable { case hangs, isCancelled, isRejected }

    @Test(
        "Of a hundred refusals at the same time, with a refresh that hangs, is cancelled or is rejected: one refresh, an end, and the same error to all",
        .covers("H30"), arguments: Trouble.allCases)
    func hundred(trouble: Trouble) async throws {
        let (desk, clock) = (TokenDesk(), TestClock())
        let authenticator = BearerAuthenticator { old, _ in
            await desk.refresh(old)
            switch trouble {
            case .hangs: try await clock.sleep(for: .seconds(1_000_000))
            case .isCancelled: throw CancellationError()
            case .isRejected: throw AuthenticationFailure.rejected
            }
            return old
        }
        let rig = AuthRig(
            authenticator, desk: desk, clock: clock,
            configured: { $0.options.timeouts = Timeouts(total: .seconds(900_000)) })
        try await rig.signIn(lifetime: nil)
        desk.close()
        desk.gather(100)
        let kinds = await clock.ticking {
            async let results = rig.send(100)
            await desk.untilSent(100)
            await desk.untilRefreshed()
            desk.open()
            return Set(await results.map(\.failure?.kind))
        }
        #expect(kinds == [.authentication(trouble == .isRejected ? .rejected : .lost)])
        // What may have been processed is asked once more with the same token, as part of the same refresh; one that hangs only
        // where the clock, which ticks by itself here, has left it the time.
        let most = trouble == .isRejected ? 1 : 2
        #expect(trouble == .hangs ? (1...most).contains(desk.refreshed.count) : desk.refreshed.count == most)
        #expect(Set(desk.refreshed).count == 1)
        #expect(rig.reasons.filter { $0 == .renewing }.count == 1)
        #expect(desk.sent.count == 100)
        #expect(try await rig.client.credential()?.token == (trouble == .isRejected ? nil : "old"))
    }

    @Test("Cancelling all calls cancels the refresh as well, which is tried once more for who comes next")
    func cancelledInside() async throws {
        let (desk, clock) = (TokenDesk(), TestClock())
        let rig = AuthRig(
            BearerAuthenticator { old, context in
                await desk.refresh(old)
                _ = try await context.client.send(LogIn(account: "alice", password: "secret"))
                return Credential("new", obtained: clock.timeSource.date())
            }, desk: desk, clock: clock
        ) { request in request.url.path.hasSuffix("/login") ? .product : desk.answer(request) }
        try await rig.signIn()
        desk.close()
        let call = rig.client.start(GetProduct())
        await desk.untilRefreshed()
        call.cancel()
        desk.open()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(desk.refreshed.count == 1)
    }

    @Test("A call that waits for a refresh ends at its own deadline, and the refresh goes on")
    func deadline() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        rig.desk.close()
        async let failed = failure {
            try await rig.client.send(GetProduct(), options: .timeout(.seconds(3)))
        }
        await rig.desk.untilRefreshed()
        await rig.clock.waitForSleepers(count: 2)
        rig.clock.advance(by: .seconds(3))
        #expect(await failed?.kind == .timeout(.total))
        rig.desk.open()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(rig.desk.refreshed.count == 1)
    }

    @Test("A server that answers 401 for ever costs two requests a call, and a refresh now and then")
    func forever() async throws {
        let rig = AuthRig()
        rig.desk.accept("none")
        try await rig.signIn()
        for _ in 0..<10 { _ = await failure { try await rig.client.send(GetProduct()) } }
        #expect(rig.desk.refreshed.count == 1)
        #expect(rig.desk.sent.count == 11)
    }

    // MARK: Data, uploads and downloads

    @Test(
        "The hook for an expired token is asynchronous, on data, upload and download alike: it may replace, fail, and replay",
        .covers("S2.15"), arguments: ["data", "upload", "download", "file"])
    func hook(kind: String) async throws {
        for choice in ["replace", "fail", "replay"] {
            let hook = Intercepting { request, call, next in
                let exchange = try await next(request)
                guard exchange.response.status == 401 else { return exchange }
                await Task.yield()
                switch choice {
                case "replace": return Exchange(request: exchange.request, response: .product)
                case "fail": throw APIError(.business(code: 7, message: "sign in"), stage: .callInterception)
                default:
                    var again = request
                    again.fields[.authorization] = "Bearer new"
                    return try await next(again)
                }
            }
            let rig = AuthRig(configured: { $0.callInterceptors = [hook] })
            let outcome = await result { () async throws(APIError) in try await Self.send(kind, rig.client) }
            #expect(outcome.failure?.kind == (choice == "fail" ? .business(code: 7, message: "sign in") : nil))
            if choice != "fail" { #expect(try outcome.get().contains("tea")) }
            #expect(rig.desk.sent.count == (choice == "replay" ? 2 : 1))
        }
    }

    @Test(
        "An expired token is renewed for uploads and downloads as for data", .covers("S2.15"),
        arguments: ["data", "upload", "download", "file"])
    func renewed(kind: String) async throws {
        let rig = AuthRig()
        try await rig.signIn()
        #expect(try await Self.send(kind, rig.client).contains("tea"))
        #expect(rig.desk.refreshed.count == 1)
        #expect(rig.desk.sent.count == 2)
    }

    private struct Upload: Endpoint {
        typealias Output = String
        let content: HTTPBody
        var route: Route { .post("/upload") }
        var body: HTTPBody { content }
        var envelope: EnvelopeChoice { .none }
    }

    private static let pieces: @Sendable () -> HTTPBody.Chunks = {
        HTTPBody.Chunks { continuation in
            continuation.yield(Data("piece".utf8))
            continuation.finish()
        }
    }

    private static func send(_ kind: String, _ client: APIClient) async throws(APIError) -> String {
        switch kind {
        case "upload": return try await client.send(Upload(content: .stream(pieces)))
        case "download": return String(decoding: try await client.stream(GetProduct()).collect(), as: UTF8.self)
        case "file":
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("penstock-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: place) }
            let file = try await client.download(GetProduct(), to: .file(place)).value
            return (try? String(contentsOf: file.url, encoding: .utf8)) ?? ""
        default: return try await client.send(GetProduct()).name
        }
    }

    @Test(
        "What can be read only once is not sent again: the refusal is the caller's, and the next call has a new credential"
    )
    func onceOnly() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        let error = await failure { try await rig.client.send(Upload(content: .onceOnly(Self.pieces()))) }
        #expect(error?.kind == .httpStatus(401))
        #expect(rig.desk.sent.count == 1)
        _ = try await rig.client.send(Upload(content: .onceOnly(Self.pieces())))
        #expect(rig.desk.sent.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(rig.desk.refreshed.count == 1)
    }

    // MARK: Who sees the credential

    @Test(
        "A credential is shown to its own origin alone, also when a redirect leads elsewhere", arguments: [false, true])
    func origins(isTrusted: Bool) async throws {
        let seen = Box<[String: String]>([:])
        let other = try HTTPURL("https://cdn.example.com/tea")
        let rig = AuthRig(BearerAuthenticator(trustedOrigins: isTrusted ? [other.origin] : [])) { request in
            seen.update { $0[request.url.host] = request.fields[.authorization] ?? "none" }
            return request.url.host == "cdn.example.com" ? .product : .redirect(to: other.absoluteString)
        }
        try await rig.signIn("secret")
        _ = try await rig.client.send(GetProduct())
        #expect(seen.value["development.shop.example.com"] == "Bearer secret")
        #expect(seen.value["cdn.example.com"] == (isTrusted ? "Bearer secret" : "none"))
    }

    @Test("A 401 of another origin is not about the credential")
    func otherRefusal() async throws {
        let rig = AuthRig { request in
            request.url.host == "cdn.example.com" ? .unauthorised : .redirect(to: "https://cdn.example.com/tea")
        }
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .httpStatus(401))
        #expect(rig.desk.refreshed.isEmpty)
    }

    @Test("A login goes without the credential, and its refusal renews nothing")
    func optOut() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        #expect(
            await failure { try await rig.client.send(GetProduct(), options: .anonymous) }?.kind == .httpStatus(401))
        #expect(rig.desk.sent.map { $0.fields.contains(.authorization) } == [false])
        #expect(rig.desk.refreshed.isEmpty)
    }

    @Test("Several accounts have a credential each, as the client's identity says")
    func accounts() async throws {
        let rig = AuthRig()
        rig.desk.accept("alice's", "bob's")
        let (alice, bob) = (rig.client.with { $0.identity = { "alice" } }, rig.client.with { $0.identity = { "bob" } })
        try await alice.signIn(Credential("alice's"))
        try await bob.signIn(Credential("bob's"))
        _ = try await alice.send(GetProduct())
        _ = try await bob.send(GetProduct())
        #expect(rig.desk.sent.map { $0.fields[.authorization] } == ["Bearer alice's", "Bearer bob's"])
        #expect(try await rig.client.accounts() == ["alice", "bob"])
        #expect(await rig.client.signOut("alice"))
        #expect(try await rig.client.accounts() == ["bob"])
        #expect(try await alice.credential() == nil)
        #expect(try await bob.credential()?.token == "bob's")
    }

    @Test("A service without an authenticator has no such stage, and no credential to sign in with")
    func without() async throws {
        let recorder = EventRecorder()
        let rig = Rig([.shop()], { $0.sinks = [recorder] })
        _ = try await rig.client.send(GetProduct())
        #expect(!recorder.records.contains { if case .stageStarted(.authenticate) = $0.event { true } else { false } })
        let error = await failure { try await rig.client.signIn(Credential("x")) }
        guard case .invalidConfiguration? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "What is locked, denied or corrupt is told as such, and nothing is sent or written over it",
        arguments: [VaultError.locked, .denied, .corrupt])
    func vault(error: VaultError) async throws {
        let vault = FailingVault(error)
        let rig = AuthRig(vault: vault)
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.vault(error)))
        #expect(rig.desk.sent.isEmpty)
        #expect(await failure { try await rig.signIn() }?.kind == .authentication(.vault(error)))
        #expect(await failure { try await rig.client.accounts() }?.kind == .authentication(.vault(error)))
        #expect(await rig.client.signOut("") == false)
    }

    @Test("What the vault did not delete is told as left, also where it lists no key of it", arguments: [true, false])
    func left(deletes: Bool) async throws {
        let vault = BlindVault(deletes: deletes)
        let rig = AuthRig(vault: vault)
        try await rig.signIn()
        #expect(await rig.client.signOut("") == deletes)
    }

    @Test("A logout that overtakes a login in the vault wins")
    func overtaken() async throws {
        let vault = SlowVault()
        let rig = AuthRig(vault: vault)
        async let login: Void = rig.signIn()
        await vault.state.waitUnlessCancelled { $0.saves >= 1 }
        try await rig.client.signOut()
        vault.state.withLock { $0.isOpen = true }
        try await login
        #expect(try await vault.keys().isEmpty)
        #expect(try await rig.client.credential() == nil)
    }

    @Test(
        "A login that overtakes a logout in the vault wins, whether it is of a service or of an account",
        arguments: [false, true])
    func overtaking(isAccount: Bool) async throws {
        let vault = SlowVault()
        vault.state.withLock { $0.isOpen = true }
        let rig = AuthRig(vault: vault)
        try await rig.signIn()
        vault.state.withLock { $0.deletesAtOnce = false }
        let client = rig.client
        let logout = Task { if isAccount { _ = await client.signOut("") } else { try await client.signOut() } }
        await vault.state.waitUnlessCancelled { $0.deletes >= 1 }
        try await rig.client.signIn(Credential("new"))
        vault.state.withLock { $0.deletesAtOnce = true }
        try await logout.valueOfTest
        let key = try #require(try await vault.keys().first)
        let item = try #require(try await vault.load(key))
        #expect(try CredentialRecord(item).credential.token == "new")
        #expect(try await rig.client.credential()?.token == "new")
    }

    @Test("Of two logins the later one is in the vault, whichever is written last")
    func twoLogins() async throws {
        let vault = SlowVault()
        let rig = AuthRig(vault: vault)
        async let first: Void = rig.client.signIn(Credential("first"))
        await vault.state.waitUnlessCancelled { $0.saves >= 1 }
        vault.state.withLock { $0.letsThroughLater = true }
        try await rig.client.signIn(Credential("second"))
        vault.state.withLock { $0.isOpen = true }
        try await first
        let key = try #require(try await vault.keys().first)
        let item = try #require(try await vault.load(key))
        #expect(try CredentialRecord(item).credential.token == "second")
    }

    @Test("What a vault holds and nobody can read is corrupt, and stays")
    func damaged() async throws {
        let vault = MemoryVault()
        let rig = AuthRig(vault: vault)
        try await rig.signIn()
        let key = try #require(try await vault.keys().first)
        for text in ["", "{}", #"{"format":2,"version":"1","token":"t","obtained":0}"#] {
            let item = VaultItem(version: "x", content: Data(text.utf8))
            try await vault.save(item, for: key, over: .anything)
            let other = AuthRig(vault: vault)
            let error = await failure { try await other.client.send(GetProduct()) }
            #expect(error?.kind == .authentication(.vault(.corrupt)))
            #expect(try await vault.load(key) == item)
        }
    }
}

/// A vault that does nothing it is asked.
private final class FailingVault: CredentialVault {
    private let error: VaultError

    init(_ error: VaultError) { self.error = error }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { throw error }
    func save(_ item: VaultItem, for key: CredentialKey, over: VaultCondition) async throws(VaultError) -> Bool {
        throw error
    }
    func delete(_ key: CredentialKey, where: VaultCondition) async throws(VaultError) -> Bool { throw error }
    func keys() async throws(VaultError) -> [CredentialKey] { throw error }
}

/// A vault that lists no key of what it holds, as a keychain does of what is locked.
private final class BlindVault: CredentialVault {
    private let vault = MemoryVault()
    private let deletes: Bool

    init(deletes: Bool) { self.deletes = deletes }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { try await vault.load(key) }
    func save(_ item: VaultItem, for key: CredentialKey, over: VaultCondition) async throws(VaultError) -> Bool {
        try await vault.save(item, for: key, over: over)
    }
    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        guard deletes else { throw .locked }
        return try await vault.delete(key, where: condition)
    }
    func keys() async throws(VaultError) -> [CredentialKey] { [] }
}

/// A vault that takes its time to write.
private final class SlowVault: CredentialVault {
    struct State: Sendable {
        var saves = 0
        var isOpen = false
        /// Whether what is saved after the first is not held up.
        var letsThroughLater = false
        var deletes = 0
        var deletesAtOnce = true
    }

    let state = Monitor(State())
    private let vault = MemoryVault()

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { try await vault.load(key) }

    func save(_ item: VaultItem, for key: CredentialKey, over: VaultCondition) async throws(VaultError) -> Bool {
        let number = state.withLock { state in
            state.saves += 1
            return state.saves
        }
        await state.wait { $0.isOpen || $0.letsThroughLater && number > 1 }
        return try await vault.save(item, for: key, over: over)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        state.withLock { $0.deletes += 1 }
        await state.wait(until: \.deletesAtOnce)
        return try await vault.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] { try await vault.keys() }
}
