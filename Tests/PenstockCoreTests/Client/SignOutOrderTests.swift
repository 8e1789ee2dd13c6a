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
}
