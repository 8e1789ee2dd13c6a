import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What the user did last counts, however slow or broken the vault is that it is written to.
@Suite(.timeLimit(.minutes(5)), .covers("S3.34")) struct CredentialWritingTests {
    /// Holds back or refuses what the user does, and nothing else.
    private final class Vault: CredentialVault {
        struct State: Sendable {
            var isHolding = false
            var isBroken = false
            var arrived = 0
        }

        let inner = MemoryVault()
        let state = Monitor(State())

        func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { try await inner.load(key) }

        func save(_ item: VaultItem, for key: CredentialKey, over condition: VaultCondition) async throws(VaultError)
            -> Bool
        {
            try await pass(condition)
            return try await inner.save(item, for: key, over: condition)
        }

        func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
            try await pass(condition)
            return try await inner.delete(key, where: condition)
        }

        func keys() async throws(VaultError) -> [CredentialKey] { try await inner.keys() }

        private func pass(_ condition: VaultCondition) async throws(VaultError) {
            guard condition == .anything else { return }
            state.withLock { $0.arrived += 1 }
            await state.wait { !$0.isHolding }
            if state.withLock(\.isBroken) { throw .unavailable }
        }
    }

    @Test("What the client says of credentials is seen as the app wants it", .covers("S2.23"))
    func mapped() async throws {
        let vault = Vault()
        vault.state.withLock { $0.isBroken = true }
        let asked = Box(0)
        let rig = AuthRig(
            vault: vault,
            configured: {
                $0.errorMapper = ErrorMapper { _ in
                    asked.value += 1
                    return .init(code: 9)
                }
            })
        let errors = [
            await failure { try await rig.client.signIn(Credential("new")) },
            await failure { try await rig.client.signOut() },
            await failure { try await rig.client.credential(of: "nobody") },
            await failure { try await rig.client.accounts(of: "nobody") },
            await failure { try await rig.client.refreshCredential(of: "nobody") },
            await failure { try rig.client.adoptCookies(of: "nobody") },
        ]
        #expect(errors.map { $0?.presentation?.code } == Array(repeating: 9, count: errors.count))
        #expect(asked.value == errors.count)
    }

    /// Somebody whose token has to be renewed before it is used.
    private static func due(_ rig: AuthRig, _ token: String) -> Credential {
        Credential(
            token, refreshToken: "r-\(token)", expiresIn: .seconds(60),
            obtained: rig.clock.timeSource.date().addingTimeInterval(-60))
    }

    /// A process in which Alice has signed in.
    private static func alice() async throws -> (rig: AuthRig, vault: Vault) {
        let vault = Vault()
        let rig = AuthRig(vault: vault)
        rig.desk.accept("alice", "new")
        try await rig.signIn("alice")
        return (rig, vault)
    }

    private static func tokens(_ desk: TokenDesk) -> [String?] { desk.sent.map { $0.fields[.authorization] } }

    @Test func `who signs in is never sent as the one before, though the vault is slow`() async throws {
        let (rig, vault) = try await Self.alice()
        let desk = rig.desk
        vault.state.withLock { $0.isHolding = true }
        let bob = Self.due(rig, "bob")
        let login = Task { try await rig.client.signIn(bob) }
        await vault.state.waitUnlessCancelled { $0.arrived >= 2 }
        let call = rig.client.start(GetProduct())
        while !Task.isCancelled, !rig.reasons.contains(.renewing) { await Task.yield() }
        for _ in 0..<200 { await Task.yield() }
        #expect(desk.sent.isEmpty)
        vault.state.withLock { $0.isHolding = false }
        try await login.valueOfTest
        _ = try await call.value
        #expect(Self.tokens(desk) == ["Bearer new"])
        #expect(desk.refreshed.map(\.token) == ["bob"])
        #expect(try await rig.client.credential()?.token == "new")
    }

    @Test func `a login that the vault refuses is written before the vault is believed again`() async throws {
        let (rig, vault) = try await Self.alice()
        let desk = rig.desk
        vault.state.withLock { $0.isBroken = true }
        let bob = Self.due(rig, "bob")
        let refusal = await failure { try await rig.client.signIn(bob) }
        #expect(refusal?.kind == .authentication(.vault(.unavailable)))
        vault.state.withLock { $0.isBroken = false }
        _ = try await rig.client.send(GetProduct())
        #expect(Self.tokens(desk) == ["Bearer new"])
        #expect(desk.refreshed.map(\.token) == ["bob"])
    }

    @Test func `what a vault could not delete of who has signed out is found by nobody in this process`() async throws {
        let (vault, desk) = (Vault(), TokenDesk())
        desk.accept("alice")
        try await AuthRig(desk: desk, vault: vault).signIn("alice")
        // A process that has not looked yet.
        let rig = AuthRig(desk: desk, vault: vault)
        vault.state.withLock { $0.isBroken = true }
        #expect(await failure { try await rig.client.signOut(of: .main) } != nil)
        vault.state.withLock { $0.isBroken = false }
        for _ in 0..<3 {
            _ = await failure { try await rig.client.send(GetProduct()) }
            rig.clock.advance(by: .seconds(60))
        }
        #expect(!desk.sent.isEmpty && Self.tokens(desk).allSatisfy { $0 == nil })
        // Who signs in again is somebody, whatever is left there.
        try await rig.signIn("alice")
        _ = try await rig.client.send(GetProduct())
        #expect(desk.sent.last?.fields[.authorization] == "Bearer alice")
    }

    // MARK: A vault that never answers

    @Test func `who waits for a login to be written may leave, and it is used and written all the same`() async throws {
        let (rig, vault) = try await Self.alice()
        rig.desk.accept("bob")
        vault.state.withLock { $0.isHolding = true }
        let login = Task { await failure { try await rig.signIn("bob") } }
        await vault.state.waitUnlessCancelled { $0.arrived >= 2 }
        login.cancel()
        #expect(await login.valueOfTest?.kind == .cancelled)
        _ = try await rig.client.send(GetProduct())
        #expect(Self.tokens(rig.desk) == ["Bearer bob"])
        vault.state.withLock { $0.isHolding = false }
        while !Task.isCancelled, try await AuthRig(vault: vault).client.credential()?.token != "bob" {
            await Task.yield()
        }
    }

    @Test(arguments: [true, false])
    func `who waits for a logout to be written may leave, and it is one and written all the same`(isOfAll: Bool)
        async throws
    {
        let (rig, vault) = try await Self.alice()
        vault.state.withLock { $0.isHolding = true }
        let logout = Task {
            if isOfAll { return await rig.client.signOut("") ? nil : APIError.Kind.cancelled }
            return await failure { try await rig.client.signOut() }?.kind
        }
        await vault.state.waitUnlessCancelled { $0.arrived >= 2 }
        logout.cancel()
        #expect(await logout.valueOfTest == .cancelled)
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(Self.tokens(rig.desk) == [nil])
        vault.state.withLock { $0.isHolding = false }
        while !Task.isCancelled, try await !vault.keys().isEmpty { await Task.yield() }
    }

    @Test func `a task that is cancelled already signs in and out`() async throws {
        let (rig, vault) = try await Self.alice()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(await failure { try await rig.signIn("bob") }?.kind == .cancelled)
            #expect(await rig.client.signOut("") == false)
        }.value
        _ = await failure { try await rig.client.send(GetProduct()) }
        #expect(Self.tokens(rig.desk) == [nil])
        while !Task.isCancelled, try await !vault.keys().isEmpty { await Task.yield() }
    }

    @Test func `one service whose logout is not written yet keeps no other in use`() async throws {
        let vault = Vault()
        let services = (1...3).map { number in
            Service.shop(ServiceID("\(number)")) { $0.authenticator = BearerAuthenticator() }
        }
        let cache = MemoryCacheStore()
        let rig = Rig(services) {
            $0.vault = vault
            $0.cache = .store(cache)
            $0.identity = { "alice" }
        }
        for service in services { try await rig.client.signIn(Credential("token"), to: service.id) }
        vault.state.withLock { $0.isHolding = true }
        let logout = Task { await rig.client.signOut("alice") }
        await vault.state.waitUnlessCancelled { $0.arrived >= 4 }
        for service in services {
            let stage = try #require(try rig.client.runtime(for: service.id).authenticate)
            let keeper = try stage.place(rig.client.environment, "alice").keeper
            #expect(keeper.ready() == .use(nil), "\(service.id)")
        }
        vault.state.withLock { $0.isHolding = false }
        #expect(await logout.valueOfTest)
        #expect(try await vault.keys().isEmpty)
    }
}
