import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// A service or a client may name the environment of its calls in its options: a sign-in is for those calls.
@Suite(.timeLimit(.minutes(5))) struct ServiceEnvironmentTests {
    @Test(arguments: [true, false])
    func `a sign-in is for the environment that the calls of the service go to`(isOfService: Bool) async throws {
        let pinned = CallOptions.with { $0.environment = .production }
        let vault = MemoryVault()
        let rig = Rig([
            .shop {
                $0.authenticator = BearerAuthenticator { _, _ in Credential("renewed", refreshToken: "r") }
                if isOfService { $0.options = pinned }
            }
        ]) {
            $0.identity = { "alice" }
            $0.vault = vault
            if !isOfService { $0.options = pinned }
        }
        #expect(rig.client.environment == .development)
        try await rig.client.signIn(Credential("token", refreshToken: "r"))
        _ = try await rig.client.send(GetProduct())
        try await rig.client.refreshCredential()
        _ = try await rig.client.send(GetProduct())
        #expect(rig.hosts == ["production.shop.example.com", "production.shop.example.com"])
        #expect(rig.sent.map { $0.fields[.authorization] } == ["Bearer token", "Bearer renewed"])
        #expect(try await vault.keys().map(\.environment) == ["production"])
        #expect(try await rig.client.accounts() == ["alice"])
        #expect(try await rig.client.credential()?.token == "renewed")
        try await rig.client.signOut(of: .main)
        _ = try await rig.client.send(GetProduct())
        #expect(rig.sent.last?.fields[.authorization] == nil)
        #expect(try await vault.keys().isEmpty)
    }

    @Test(.covers("S4.17")) func `the accounts are those of the environment, also where two have one server`()
        async throws
    {
        let urls = BaseURLs([.development: "https://a.example", .test: "https://a.example"])
        let rig = Rig([Service(.main, urls, authenticator: BearerAuthenticator())])
        try await rig.client.signIn(Credential("token"), as: "alice")
        try rig.client.switchEnvironment(to: .test)
        #expect(try await rig.client.accounts().isEmpty)
        try await rig.client.signIn(Credential("token"), as: "bob")
        #expect(try await rig.client.accounts() == ["bob"])
        try rig.client.switchEnvironment(to: .development)
        #expect(try await rig.client.accounts() == ["alice"])
    }
}
