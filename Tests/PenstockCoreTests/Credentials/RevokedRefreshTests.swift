import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What becomes of a renewal whose credential is deleted, or replaced by another one, while it is under way.
@Suite(.timeLimit(.minutes(5))) struct RevokedRefreshTests {
    private struct Renew: Endpoint {
        typealias Output = Product
        var route: Route { .post("/renew") }
    }

    enum Doing: CaseIterable { case signOut, signOutOfService, signIn }

    private static let refusal = APIError.Kind.blocked(
        reason: "the credential that it renews was deleted, or another one took its place")
    private static let due = Credential("old", refreshToken: "r1", expiresIn: .zero)

    private func rig(_ user: Box<String>, _ bearer: BearerAuthenticator) -> Rig {
        Rig([.shop { $0.authenticator = bearer }]) {
            $0.identity = { user.value }
            $0.cache = .none
        }
    }

    /// - Parameter isStarted: whether the renewing code sends in another task, which is not cancelled with its own.
    @Test(
        "Once the user has signed out or in, the renewing code sends nothing more, whether it heeds its end or not",
        arguments: Doing.allCases, [true, false])
    func sendsNothing(after doing: Doing, isStarted: Bool) async throws {
        let (entered, leave, tried) = (Latch(), Latch(), Latch())
        let outcome = Box<APIError.Kind?>(nil)
        let user = Box("alice")
        let rig = rig(
            user,
            BearerAuthenticator { _, context in
                entered.open()
                await leave.wait()
                outcome.value =
                    if isStarted {
                        await Task { await context.client.start(Renew()).result.failure?.kind }.value
                    } else {
                        await failure { try await context.client.send(Renew()) }?.kind
                    }
                tried.open()
                return Credential("new", refreshToken: "r2")
            })
        try await rig.client.signIn(Self.due)
        let call = rig.client.start(GetProduct())
        await entered.wait()
        switch doing {
        case .signOut:
            user.value = ""
            #expect(await rig.client.signOut("alice"))
        case .signOutOfService: try await rig.client.signOut()
        case .signIn: try await rig.client.signIn(Credential("mine"))
        }
        leave.open()
        await tried.wait()
        #expect(outcome.value == (isStarted ? Self.refusal : .cancelled))
        let error = await call.result.failure
        switch doing {
        case .signOut: #expect(error?.kind == .cancelled)
        case .signOutOfService: #expect(error?.kind == .authentication(.signedOut))
        case .signIn: #expect(error == nil)
        }
        #expect(rig.sent.map { $0.fields[.authorization] } == (doing == .signIn ? ["Bearer mine"] : []))
    }

    @Test("A renewal that has run out of time sends nothing after a logout either")
    func sendsNothingWhenLate() async throws {
        let (entered, leave, tried) = (Latch(), Latch(), Latch())
        let outcome = Box<APIError.Kind?>(nil)
        let clock = TestClock()
        let bearer = BearerAuthenticator { _, context in
            entered.open()
            await leave.wait()
            outcome.value = await Task { await context.client.start(Renew()).result.failure?.kind }.value
            tried.open()
            return Credential("new", refreshToken: "r2")
        }
        let rig = Rig([.shop { $0.authenticator = bearer }]) {
            $0.time = clock.timeSource
            $0.cache = .none
        }
        try await rig.client.signIn(
            Credential("old", refreshToken: "r1", expiresIn: .zero, obtained: clock.timeSource.date()))
        let call = rig.client.start(GetProduct())
        await entered.wait()
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(3_600))
        _ = await call.result
        try await rig.client.signOut()
        leave.open()
        await tried.wait()
        #expect(outcome.value == Self.refusal)
        #expect(rig.sent.isEmpty)
    }

    @Test("Renewing code that signs in or out by itself goes on", arguments: [true, false])
    func byItself(signsIn: Bool) async throws {
        let client = Box<APIClient?>(nil)
        let returned = Latch()
        let user = Box("alice")
        let rig = rig(
            user,
            BearerAuthenticator { _, context in
                defer { returned.open() }
                if signsIn {
                    try await client.value?.signIn(Credential("mine"))
                } else {
                    try await client.value?.signOut()
                }
                _ = try await context.client.send(Renew())
                return Credential("new", refreshToken: "r2")
            })
        client.value = rig.client
        defer { client.value = nil }
        try await rig.client.signIn(Self.due)
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(error?.kind == (signsIn ? nil : .authentication(.signedOut)))
        await returned.wait()
        #expect(rig.sent.filter { $0.url.path.hasSuffix("/renew") }.count == 1)
        #expect(try await rig.client.credential()?.token == (signsIn ? "mine" : nil))
    }
}
