import PenstockTesting
import Testing

@testable import PenstockCore

@Suite(.timeLimit(.minutes(5))) struct SignOutOrderTests {
    private func rig(_ user: Box<String>) -> Rig {
        Rig { $0.identity = { user.value } }
    }

    private static let refusal = APIError.Kind.blocked(
        reason: "this user has signed out, and the client's identity still names them")

    @Test func `a user who has signed out makes no more calls while the app still names them`() async throws {
        let user = Box("alice")
        let rig = rig(user)
        _ = try await rig.client.send(GetProduct())
        await rig.client.signOut("alice")
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == Self.refusal)
        let derived = rig.client.with { $0.headers = ["X": "1"] }
        #expect(await failure { try await derived.send(GetProduct()) }?.kind == Self.refusal)
        #expect(rig.sent.count == 1)
        user.value = ""
        _ = try await rig.client.send(GetProduct())
        user.value = "alice"
        _ = try await rig.client.send(GetProduct())
        _ = try await derived.send(GetProduct())
        #expect(rig.sent.count == 4)
    }

    @Test func `one whom the app has ceased to name may sign in again at once`() async throws {
        let user = Box("alice")
        let rig = rig(user)
        _ = try await rig.client.send(GetProduct())
        user.value = ""
        await rig.client.signOut("alice")
        user.value = "alice"
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.count == 2)
    }

    @Test func `one who signs in may make calls again, also where no call was made meanwhile`() async throws {
        let user = Box("alice")
        let rig = Rig([.shop { $0.authenticator = BearerAuthenticator() }]) { $0.identity = { user.value } }
        await rig.client.signOut("alice")
        user.value = ""
        user.value = "alice"
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == Self.refusal)
        try await rig.client.signIn(Credential("token"))
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.authorization] } == ["Bearer token"])
    }

    @Test func `one who signs in before the app names them is who it is said, and nobody has the credential`()
        async throws
    {
        let user = Box("")
        let rig = Rig([.shop { $0.authenticator = BearerAuthenticator() }]) { $0.identity = { user.value } }
        await rig.client.signOut("alice")
        try await rig.client.signIn(Credential("token"), as: "alice")
        _ = try await rig.client.send(GetProduct())
        user.value = "alice"
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.authorization] } == [nil, "Bearer token"])
        #expect(try await rig.client.credential()?.token == "token")
    }

    @Test func `a user signs out of what derived clients keep of them as well, and of what outlives these`()
        async throws
    {
        let vaults = [MemoryVault(), MemoryVault(), MemoryVault()]
        let cookies = MemoryCookieStore()
        let parent = Rig([.shop { $0.authenticator = BearerAuthenticator() }]) {
            $0.identity = { "alice" }
            $0.vault = vaults[0]
        } answering: { _ in
            var response = HTTPResponse.product
            response.fields.append("sid=secret; Max-Age=1000", for: .setCookie)
            response.fields["Cache-Control"] = "max-age=1000"
            return response
        }
        let derived = parent.client.with {
            $0.vault = vaults[1]
            $0.cookies = cookies
            $0.cache = .store(MemoryCacheStore())
        }
        let stored = CallOptions.cache(.http)
        for client in [parent.client, derived, parent.client.with { $0.vault = vaults[2] }] {
            try await client.signIn(Credential("token"))
            _ = try await client.send(GetProduct(), options: stored)
        }
        #expect(await parent.client.signOut("alice"))
        for vault in vaults { #expect(try await vault.keys().isEmpty) }
        #expect(try await derived.credential() == nil)
        try await derived.signIn(Credential("other"))
        let again = try await derived.response(for: GetProduct(), options: stored)
        #expect(again.source == .network)
        #expect(parent.sent.last?.fields[.cookie] == nil)
        try await parent.client.signIn(Credential("token"))
        #expect(await derived.signOut("alice"))
        #expect(try await parent.client.credential() == nil)
    }

    @Test func `another client's user of the same name is judged by the client that signed out`() async throws {
        let (user, worker) = (Box("alice"), Box("alice"))
        let rig = rig(user)
        let other = rig.client.with { $0.identity = { worker.value } }
        await rig.client.signOut("alice")
        #expect(await failure { try await other.send(GetProduct()) }?.kind == Self.refusal)
        user.value = "bob"
        _ = try await other.send(GetProduct())
    }

    @Test func `calls of nobody and of others go on`() async throws {
        let user = Box("")
        let rig = rig(user)
        await rig.client.signOut("")
        _ = try await rig.client.send(GetProduct())
        await rig.client.signOut("bob")
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.count == 2)
    }

    // MARK: Nobody's credentials

    private static func services(_ ids: ServiceID...) -> [Service] {
        ids.map { id in .shop(id) { $0.authenticator = BearerAuthenticator() } }
    }

    @Test func `a credential that was kept for nobody goes with whoever signs out`() async throws {
        let (user, vault) = (Box(""), MemoryVault())
        let rig = Rig(Self.services(.main, "other")) {
            $0.identity = { user.value }
            $0.vault = vault
        }
        for service: ServiceID in [.main, "other"] { try await rig.client.signIn(Credential("alice"), to: service) }
        try await rig.client.signIn(Credential("bob"), as: "bob")
        user.value = "alice"
        #expect(await rig.client.signOut("alice"))
        user.value = ""
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.authorization] } == [nil])
        #expect(try await vault.keys().map(\.account) == ["bob"])
    }

    @Test func `another client finds nothing of it either, where nobody had asked for it since`() async throws {
        let (user, vault) = (Box(""), MemoryVault())
        let make = {
            Rig(Self.services(.main)) {
                $0.identity = { user.value }
                $0.vault = vault
            }
        }
        try await make().client.signIn(Credential("alice"))
        #expect(await make().client.signOut("alice"))
        #expect(try await vault.keys().isEmpty)
    }

    @Test func `nobody's credentials of services that the client does not know stay`() async throws {
        let (user, vault) = (Box(""), MemoryVault())
        let other = Rig(Self.services("other")) { $0.vault = vault }
        try await other.client.signIn(Credential("key"), to: "other")
        let rig = Rig(Self.services(.main)) {
            $0.identity = { user.value }
            $0.vault = vault
        }
        try await rig.client.signIn(Credential("alice"))
        #expect(await rig.client.signOut("alice"))
        #expect(try await vault.keys().map(\.service) == ["other"])
    }

    @Test func `the credential of a client that names no users is not somebody's who signs out`() async throws {
        let rig = Rig(Self.services(.main))
        try await rig.client.signIn(Credential("only"))
        #expect(await rig.client.signOut("alice"))
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.map { $0.fields[.authorization] } == ["Bearer only"])
        #expect(await rig.client.signOut(""))
        #expect(try await rig.client.accounts().isEmpty)
    }

    @Test func `what renews the credential of a client that names no users names none either`() async throws {
        let rig = Rig(Self.services(.main))
        try await rig.client.signIn(Credential("only"))
        let stage = try #require(try rig.client.runtime(for: .main).authenticate)
        let context = stage.source(try stage.place(rig.client.environment, "")).context
        #expect(await context.client.signOut("alice"))
        #expect(try await rig.client.credential()?.token == "only")
    }
}
