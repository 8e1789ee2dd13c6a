import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What a client's end waits for besides its calls, and what it leaves to the others.
@Suite(.timeLimit(.minutes(5))) struct ShutdownWorkTests {
    private struct Renew: Endpoint {
        typealias Output = Product
        var route: Route { .post("/renew") }
    }

    /// A client that renews by a request of its own, which the desk holds on its way.
    private static func rig(_ vault: any CredentialVault = MemoryVault()) -> AuthRig {
        let desk = TokenDesk()
        let authenticator = BearerAuthenticator { _, context in
            _ = try await context.client.send(Renew())
            return Credential("new", refreshToken: "r2", expiresIn: .seconds(3_600), obtained: context.time.date())
        }
        return AuthRig(authenticator, desk: desk, vault: vault) { request in
            request.method == .post ? .product : desk.answer(request)
        } configured: { configuration in
            configuration.attemptInterceptors = [
                Intercepting { request, _, next in
                    if request.method == .post { await desk.refresh(Credential("sent")) }
                    return try await next(request)
                }
            ]
        }
    }

    /// Begins to end a client, and returns when that waits.
    private static func end(_ client: APIClient) async -> (end: Task<Bool, Never>, hasEnded: Box<Bool>) {
        let hasEnded = Box(false)
        let task = Task {
            let isWhole = await client.shutdown(draining: .seconds(10))
            hasEnded.value = true
            return isWhole
        }
        while !Task.isCancelled, !client.state.lineage.isShutDown { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        return (task, hasEnded)
    }

    enum Ending: CaseIterable {
        case shutdown, cancellation, letGo
    }

    @Test(arguments: Ending.allCases)
    func `a renewal that a derived client's call has begun goes on for the others when that client ends`(
        ending: Ending
    ) async throws {
        let rig = Self.rig()
        try await rig.signIn()
        rig.desk.close()
        var derived: APIClient? = rig.client.with { $0.headers = ["X": "1"] }
        let first = derived?.start(GetProduct())
        await rig.desk.untilRefreshed()
        let second = rig.client.start(GetProduct(id: "8"))
        while !Task.isCancelled, !rig.reasons.contains(.joined) { await Task.yield() }
        switch ending {
        case .shutdown: await derived?.shutdown(draining: .zero)
        case .cancellation: derived?.cancelAll()
        case .letGo: derived = nil
        }
        rig.desk.open()
        #expect(try await second.value == Product(id: 7, name: "tea"))
        #expect(await first?.result.failure?.kind == (ending == .letGo ? nil : .cancelled))
        #expect(rig.desk.refreshed.count == 1)
    }

    @Test func `a renewal of a derived client's own credential ends with it`() async throws {
        let rig = Self.rig()
        let derived = rig.client.with { $0.vault = MemoryVault() }
        try await derived.signIn(Credential("old", refreshToken: "r1", obtained: rig.clock.timeSource.date()))
        rig.desk.close()
        let renewal = Task { await failure { try await derived.refreshCredential() } }
        await rig.desk.untilRefreshed()
        #expect(await derived.shutdown(draining: .zero) == false)
        // What was sent without an answer is not sent once more, as it would be otherwise.
        #expect(await renewal.valueOfTest != nil)
        #expect(rig.desk.refreshed.count == 1)
        rig.desk.open()
    }

    enum Follower: CaseIterable {
        case root, derived, joining
    }

    @Test(arguments: Follower.allCases)
    func `a client's end waits for a renewal whose calls have given up, until the vault has it`(
        follower: Follower
    ) async throws {
        let vault = HoldingVault()
        let rig = Self.rig(vault)
        try await rig.signIn()
        rig.desk.close()
        let client = follower == .root ? rig.client : rig.client.with { $0.headers = ["X": "1"] }
        // What a call of another client's has begun is waited for as well, once a call of its own has waited for it.
        let other = follower == .joining ? rig.client.start(GetProduct(id: "8")) : nil
        if other != nil { await rig.desk.untilRefreshed() }
        let call = client.start(GetProduct())
        await rig.desk.untilRefreshed()
        while other != nil, !Task.isCancelled, !rig.reasons.contains(.joined) { await Task.yield() }
        call.cancel()
        _ = await call.result
        let (end, hasEnded) = await Self.end(client)
        #expect(!hasEnded.value)
        vault.hold()
        rig.desk.open()
        await vault.untilHeld()
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasEnded.value)
        vault.release()
        #expect(await end.valueOfTest)
        #expect(try await AuthRig(vault: vault).client.credential()?.token == "new")
        _ = await other?.result
    }

    @Test func `a renewal that the app has asked a derived client for is waited for when that ends`() async throws {
        let rig = Self.rig()
        try await rig.signIn()
        rig.desk.close()
        let derived = rig.client.with { $0.headers = ["X": "1"] }
        let renewal = Task { await failure { try await derived.refreshCredential() } }
        await rig.desk.untilRefreshed()
        renewal.cancel()
        _ = await renewal.valueOfTest
        let (end, hasEnded) = await Self.end(derived)
        #expect(!hasEnded.value)
        rig.desk.open()
        #expect(await end.valueOfTest)
    }

    @Test func `a renewal that does not end in time is ended, and that is said`() async throws {
        let rig = Self.rig()
        try await rig.signIn()
        rig.desk.close()
        let call = rig.client.start(GetProduct())
        await rig.desk.untilRefreshed()
        call.cancel()
        _ = await call.result
        #expect(await rig.client.shutdown(draining: .zero) == false)
        #expect(rig.client.callCount == 0)
        rig.desk.open()
    }

    enum Doing: CaseIterable {
        case signIn, signOut, signOutOfService
    }

    @Test(arguments: Doing.allCases, [true, false])
    func `a client's end waits for what the user did until the vault has it, also where nobody waits for that`(
        doing: Doing, isDerived: Bool
    ) async throws {
        let vault = HoldingVault()
        let rig = Self.rig(vault)
        try await rig.signIn()
        vault.hold()
        let client = isDerived ? rig.client.with { $0.headers = ["X": "1"] } : rig.client
        let change = Task {
            switch doing {
            case .signIn:
                try await client.signIn(
                    Credential("other", expiresIn: .seconds(3_600), obtained: rig.clock.timeSource.date()))
            case .signOut: await client.signOut("")
            case .signOutOfService: try await client.signOut()
            }
        }
        await vault.untilHeld()
        change.cancel()
        _ = await change.result
        let (end, hasEnded) = await Self.end(client)
        #expect(!hasEnded.value)
        vault.release()
        #expect(await end.valueOfTest)
        #expect(try await AuthRig(vault: vault).client.credential()?.token == (doing == .signIn ? "other" : nil))
    }

    // MARK: Cookies

    @Test func `a client's end waits for its cookies, a root's for those of derived clients too`() async throws {
        let (store, other) = (HoldingCookies(), HoldingCookies())
        let client = CallSupport.client(CallSupport.answering()) {
            $0.cookies = store
            $0.time = TestClock().timeSource
        }
        let derived = client.with { $0.cookies = other }
        let plain = client.with { $0.cookies = nil }
        // Nothing of theirs is to be written.
        #expect(await plain.shutdown(draining: .zero))
        #expect(store.asked == 0)
        let (derivedEnd, hasDerivedEnded) = await Self.end(derived)
        await other.untilAsked()
        #expect(!hasDerivedEnded.value && store.asked == 0)
        other.release(true)
        #expect(await derivedEnd.valueOfTest)
        let (end, hasEnded) = await Self.end(client)
        await store.untilAsked()
        #expect(!hasEnded.value)
        store.release(true)
        #expect(await end.valueOfTest)
        #expect(store.asked == 1 && other.asked == 2)
    }

    @Test func `cookies that could not be written make no whole end`() async throws {
        for isKept in [true, false] {
            let store = HoldingCookies()
            store.release(isKept)
            let client = CallSupport.client(CallSupport.answering()) {
                $0.cookies = store
                $0.time = TestClock().timeSource
            }
            #expect(await client.shutdown(draining: .seconds(10)) == isKept)
        }
    }

    @Test(arguments: [0, 1, 3]) func `cookies are waited for as long as calls are, and for a second at least`(
        seconds: Int
    ) async throws {
        let (clock, store) = (TestClock(), HoldingCookies())
        let client = CallSupport.client(CallSupport.answering()) {
            $0.cookies = store
            $0.time = clock.timeSource
        }
        let hasEnded = Box(false)
        let end = Task {
            let isWhole = await client.shutdown(draining: .seconds(seconds))
            hasEnded.value = true
            return isWhole
        }
        await store.untilAsked()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(max(seconds, 1)) - .nanoseconds(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasEnded.value)
        clock.advance(by: .nanoseconds(1))
        await store.untilEnded(end)
        #expect(await end.valueOfTest == false)
    }

    @Test(arguments: [true, false]) func `a task that is cancelled waits for cookies too, for a second`(
        isWritten: Bool
    ) async throws {
        let (clock, store) = (TestClock(), HoldingCookies())
        let client = CallSupport.client(CallSupport.answering()) {
            $0.cookies = store
            $0.time = clock.timeSource
        }
        let hasEnded = Box(false)
        let end = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let isWhole = await client.shutdown(draining: .seconds(3))
            hasEnded.value = true
            return isWhole
        }
        await store.untilAsked()
        for _ in 0..<100 { await Task.yield() }
        try #require(!hasEnded.value)
        // One for the second, and one for the time that was given.
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .seconds(1) - .nanoseconds(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasEnded.value)
        if isWritten { store.release(true) } else { clock.advance(by: .nanoseconds(1)) }
        await store.untilEnded(end)
        #expect(await end.valueOfTest == isWritten)
    }
}

/// A vault in memory that keeps those who write to it waiting.
private final class HoldingVault: CredentialVault {
    private struct State: Sendable {
        var isHolding = false
        var held = 0
    }

    private let inner = MemoryVault()
    private let state = Monitor(State())

    func hold() { state.withLock { $0.isHolding = true } }
    func release() { state.withLock { $0.isHolding = false } }
    func untilHeld() async { await state.waitUnlessCancelled { $0.held > 0 } }

    private func pass() async {
        state.withLock { if $0.isHolding { $0.held += 1 } }
        await state.wait { !$0.isHolding }
    }

    func load(_ key: CredentialKey) async throws(VaultError) -> VaultItem? { try await inner.load(key) }

    func save(_ item: VaultItem, for key: CredentialKey, over condition: VaultCondition) async throws(VaultError)
        -> Bool
    {
        await pass()
        return try await inner.save(item, for: key, over: condition)
    }

    func delete(_ key: CredentialKey, where condition: VaultCondition) async throws(VaultError) -> Bool {
        await pass()
        return try await inner.delete(key, where: condition)
    }

    func keys() async throws(VaultError) -> [CredentialKey] { try await inner.keys() }
}

/// A store without cookies that writes when it is told to.
private final class HoldingCookies: CookieStore {
    private struct State: Sendable {
        var isKept: Bool?
        var asked = 0
    }

    private let state = Monitor(State())

    var asked: Int { state.withLock(\.asked) }
    func untilAsked() async { await state.waitUnlessCancelled { $0.asked > 0 } }
    func release(_ isKept: Bool) { state.withLock { $0.isKept = isKept } }

    /// Waits for the end of a client that has it. Nothing is waited for any more once the test is cancelled.
    func untilEnded(_ end: Task<Bool, Never>) async {
        await withTaskCancellationHandler {
            _ = await end.value
        } onCancel: {
            release(false)
        }
    }

    func settle() async -> Bool {
        state.withLock { $0.asked += 1 }
        return await state.wait(for: \.isKept)
    }

    func field(for url: HTTPURL, in isolation: IsolationKey) -> String? { nil }
    func receive(_ setCookie: [String], from url: HTTPURL, in isolation: IsolationKey) {}
    func removeAll(in isolation: IsolationKey?) {}
    func removeAll(ofIdentity identity: String) {}
    func moveAll(ofIdentity identity: String, to heir: String, in environment: String) {}
}
