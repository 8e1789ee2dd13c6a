import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSecurity

/// What a client keeps in a vault.
@Suite(.timeLimit(.minutes(1)))
struct KeepingTests {
    private static func client(
        _ vault: any CredentialVault, as identity: String = "alice",
        _ authenticator: BearerAuthenticator = BearerAuthenticator()
    ) -> (client: APIClient, stub: StubTransport) {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        var configuration = APIClient.Configuration(services: [
            Service(.main, [.production: "https://a.example"], authenticator: authenticator)
        ])
        configuration.environment = .production
        configuration.cache = .none
        configuration.identity = { identity }
        configuration.vault = vault
        return (APIClient(configuration, transport: stub), stub)
    }

    @Test("Of a credential that is saved twice the latest value is found", .covers("S4.16"))
    func twice() async throws {
        let folder = try Folder()
        for vault in [MemoryVault(), folder.vault, FakeKeychainVault(FakeKeychain())] as [any CredentialVault] {
            try await Self.client(vault).client.signIn(Credential("first"))
            try await Self.client(vault).client.signIn(Credential("latest"))
            let (later, stub) = Self.client(vault)
            #expect(try await later.credential()?.token == "latest")
            try await later.get("/me")
            #expect(stub.requests.map { $0.fields[.authorization] } == ["Bearer latest"])
            #expect(try await vault.keys().count == 1)
        }
    }

    @Test("Of alice and bob each is found by name, and is signed out alone", .covers("S4.17"))
    func accounts() async throws {
        let folder = try Folder()
        for vault in [MemoryVault(), folder.vault, FakeKeychainVault(FakeKeychain())] as [any CredentialVault] {
            for name in ["alice", "bob"] {
                try await Self.client(vault, as: name).client.signIn(Credential("token of \(name)"))
            }
            #expect(try await Self.client(vault).client.accounts() == ["alice", "bob"])
            #expect(try await Self.client(vault, as: "alice").client.credential()?.token == "token of alice")
            #expect(try await Self.client(vault, as: "bob").client.credential()?.token == "token of bob")
            #expect(try await Self.client(vault, as: "carol").client.credential() == nil)
            try await Self.client(vault, as: "alice").client.signOut()
            #expect(try await Self.client(vault, as: "alice").client.credential() == nil)
            #expect(try await Self.client(vault, as: "bob").client.credential()?.token == "token of bob")
        }
    }

    @Test(
        "A credential that is none is not written, and the one before it stays in use", .covers("S4.20"),
        arguments: [
            Credential(""), Credential("", refreshToken: "r"), Credential("t", version: CredentialVersion("")),
            Credential("t", obtained: Date(timeIntervalSince1970: .nan)),
            Credential("t", expiresIn: .seconds(1), obtained: Date(timeIntervalSince1970: .infinity)),
        ])
    func invalid(credential: Credential) async throws {
        let folder = try Folder()
        for vault in [MemoryVault(), folder.vault] as [any CredentialVault] {
            let (client, stub) = Self.client(vault)
            try await client.signIn(Credential("good"))
            let key = try #require(try await vault.keys().first)
            let item = try await vault.load(key)
            let error = await #expect(throws: APIError.self) { try await client.signIn(credential) }
            #expect(error?.kind == .authentication(.vault(.invalid)))
            #expect(try await vault.load(key) == item)
            try await client.get("/me")
            #expect(stub.requests.map { $0.fields[.authorization] } == ["Bearer good"])
        }
    }

    @Test("The empty password of a user is a credential, and so is a token that has expired")
    func valid() async throws {
        let vault = MemoryVault()
        let (client, _) = Self.client(vault)
        for credential in [Credential("", user: "alice"), Credential("t", expiresIn: .zero)] {
            try await client.signIn(credential)
            let found = try await Self.client(vault).client.credential()
            #expect(found?.version == credential.version)
        }
    }

    @Test("What a renewal brings that is no credential does not take the old one's place", .covers("S4.20"))
    func renewal() async throws {
        let vault = MemoryVault()
        let (client, stub) = Self.client(vault, BearerAuthenticator { _, _ in Credential("") })
        try await client.signIn(Credential("old", refreshToken: "r", expiresIn: .zero))
        let error = await #expect(throws: APIError.self) { try await client.get("/me") }
        #expect(error?.kind == .authentication(.lost))
        #expect(stub.requests.isEmpty)
        let kept = try await Self.client(vault).client.credential()
        #expect(kept?.token == "old" && kept?.refreshToken == "r")
    }
}
