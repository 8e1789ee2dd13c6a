import Foundation
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is sent to renew a credential that is needed to renew another one.
@Suite(.timeLimit(.minutes(5))) struct RefreshLaneTests {
    /// Renews by a function.
    private struct Renewing: Authenticator {
        let refreshes: Bool
        let renew: @Sendable (RefreshContext) async throws -> Void
        var canLogIn: Bool { true }

        func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest { request }
        func canRefresh(_ credential: Credential) -> Bool { refreshes }

        func refresh(_ credential: Credential, in context: RefreshContext) async throws -> Credential {
            try await renew(context)
            return Credential("new")
        }

        func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential {
            try await renew(context)
            return Credential("new")
        }
    }

    private static func key(_ service: String) -> CredentialKey {
        CredentialKey(service: service, environment: "test", origin: "https://\(service).example.com")
    }

    @Test("It goes without either, whether the inner one is refreshed or asked of the user", arguments: [true, false])
    func nested(refreshes: Bool) async throws {
        let seen = Box<[Set<CredentialKey>]>([])
        let vault = MemoryVault()
        let client = CallSupport.client(CallSupport.answering())
        let keepers = ["inner", "outer"].map {
            CredentialKeeper(
                Self.key($0), in: vault, RefreshPolicy(), .system, .system,
                ClientWork(calls: client.state.calls, client: client.state.lineage))
        }
        let (inner, outer) = (keepers[0], keepers[1])
        @Sendable func source(
            _ keeper: CredentialKeeper, _ renew: @escaping @Sendable (RefreshContext) async throws -> Void
        ) -> CredentialKeeper.Source {
            let context = RefreshContext(
                client: client, key: keeper.key, environment: .test, time: client.configuration.time)
            let authenticator = Renewing(refreshes: refreshes, renew: renew)
            return CredentialKeeper.Source(authenticator: authenticator, context: context)
        }
        for keeper in keepers { try await keeper.signIn(Credential("old")) }
        try await outer.insist(
            source(outer) { _ in
                seen.update { $0.append(RefreshLane.current?.keys ?? []) }
                try await inner.insist(
                    source(inner) { _ in seen.update { $0.append(RefreshLane.current?.keys ?? []) } })
                seen.update { $0.append(RefreshLane.current?.keys ?? []) }
            })
        let (one, both) = (Set([Self.key("outer")]), Set([Self.key("outer"), Self.key("inner")]))
        #expect(seen.value == [one, both, one])
    }

    @Test("What runs in a lane is known by it until that has ended, and after a revocation until it has returned")
    func revoked() async {
        let lane = RefreshLane(Self.key("outer"), isTimed: true)
        #expect(!lane.isPresent && !lane.isRevoked && RefreshLane.current == nil)
        await lane.run {
            #expect(lane.isPresent && RefreshLane.current === lane)
            let inner = RefreshLane(Self.key("inner"), isTimed: true)
            await inner.run {
                #expect(lane.isPresent && inner.isPresent)
                lane.revoke()
                #expect(lane.isRevoked && inner.isRevoked && RefreshLane.current === inner)
                inner.end()
                #expect(RefreshLane.current === lane)
            }
            #expect(!inner.isPresent)
            lane.end()
            #expect(lane.isOpen && RefreshLane.current === lane)
            lane.leave()
            #expect(!lane.isRevoked && !lane.isOpen && RefreshLane.current == nil)
            // Whoever has found it before may say so only now.
            lane.revoke()
            #expect(!lane.isRevoked)
        }
    }
}
