import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Tokens that a client asks for by its own secret (RFC 6749 §4.4).
@Suite(.timeLimit(.minutes(5))) struct ClientCredentialsTests {
    private static let tokens = "https://id.example.com/token"

    /// A client whose token endpoint gives `t1`, `t2` and so on, and whose service takes the last of them.
    private struct Desk {
        let rig: AuthRig
        let desk = TokenDesk()
        let clock = TestClock()
        let asked = Monitor<[HTTPRequest]>([])

        init(
            scope: String? = nil, _ respond: @escaping @Sendable (Int) -> HTTPResponse = { Desk.grant($0) }
        ) {
            rig = AuthRig(
                OAuth2Authenticator.clientCredentials(
                    tokenURL: ClientCredentialsTests.tokens, clientID: "night ly", clientSecret: "s3:cret", scope: scope
                ),
                desk: desk, clock: clock
            ) { [asked, desk] request in
                guard request.url.host == "id.example.com" else { return desk.answer(request) }
                let count = asked.withLock { asked in
                    asked.append(request)
                    return asked.count
                }
                desk.accept("t\(count)")
                return respond(count)
            }
        }

        static func grant(_ number: Int, lifetime: Int = 3_600) -> HTTPResponse {
            .json(
                #"{"access_token":"t\#(number)","token_type":"Bearer","expires_in":\#(lifetime),"refresh_token":"r\#(number)"}"#
            )
        }

        var askedCount: Int { asked.withLock(\.count) }
        var sent: [String?] { desk.sent.map { $0.fields[.authorization] } }
        func send() async throws(APIError) { _ = try await rig.client.send(GetProduct()) }
    }

    @Test func `a token is asked for ahead of the first call, by the secret alone, and kept`() async throws {
        let desk = Desk(scope: "reports read")
        try await desk.send()
        try await desk.send()
        #expect(desk.sent == ["Bearer t1", "Bearer t1"])
        let requests = desk.asked.withLock { $0 }
        #expect(requests.map(\.text) == ["grant_type=client_credentials&scope=reports%20read"])
        let secret = Data("night%20ly:s3%3Acret".utf8).base64EncodedString()
        #expect(requests.map { $0.fields[.authorization] } == ["Basic \(secret)"])
        #expect(try await desk.rig.client.credential()?.token == "t1")
    }

    @Test func `without a scope none is sent`() async throws {
        let desk = Desk()
        try await desk.send()
        #expect(desk.asked.withLock { $0.map(\.text) } == ["grant_type=client_credentials"])
    }

    @Test func `many calls ask for one token`() async throws {
        let desk = Desk()
        let results = await desk.rig.send(20)
        #expect(results.allSatisfy { (try? $0.get()) != nil })
        #expect(desk.askedCount == 1)
        #expect(desk.sent == Array(repeating: "Bearer t1", count: 20))
    }

    @Test func `one that has expired is followed by another before anything is sent with it, by no refresh token`()
        async throws
    {
        let desk = Desk()
        try await desk.send()
        desk.clock.advance(by: .seconds(3_599))
        try await desk.send()
        desk.clock.advance(by: .seconds(1))
        try await desk.send()
        #expect(desk.sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
        #expect(desk.asked.withLock { $0.map(\.text) } == Array(repeating: "grant_type=client_credentials", count: 2))
    }

    @Test func `one that is refused before its time is followed by another`() async throws {
        let desk = Desk()
        try await desk.send()
        desk.clock.advance(by: .seconds(60))
        desk.desk.accept("nothing of ours")
        try await desk.send()
        #expect(desk.sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    @Test(arguments: [1, 4]) func `one that lives for a moment only is used for that moment`(lifetime: Int) async throws
    {
        let desk = Desk { Desk.grant($0, lifetime: lifetime) }
        try await desk.send()
        try await desk.send()
        desk.clock.advance(by: .seconds(lifetime))
        try await desk.send()
        #expect(desk.sent == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    @Test func `one that dies on its way is followed by another, and one that is refused alive is not`() async throws {
        let desk = Desk { Desk.grant($0, lifetime: 4) }
        try await desk.send()
        desk.desk.accept("nothing of ours")
        #expect(await failure { try await desk.send() }?.kind == .authentication(.notRenewed))
        #expect(desk.askedCount == 1)
        var coordinator = RefreshCoordinator()
        let abilities = RefreshCoordinator.Abilities(canLogIn: true, logsInAhead: true) { _ in false }
        let date = Date(timeIntervalSince1970: 0)
        func at(_ seconds: Int) -> RefreshCoordinator.Moment {
            .init(now: .seconds(seconds), date: date.addingTimeInterval(Double(seconds)))
        }
        #expect(coordinator.ask(.nothing, begun: .zero, by: abilities, at: at(0)) == .begin)
        #expect(coordinator.next(.begun, cycle: 1, at: at(0)) == .load)
        #expect(coordinator.next(.loaded(nil), cycle: 1, at: at(0)) == .logIn(nil))
        let token = Credential("short", expiresIn: .seconds(4), obtained: date)
        guard case .save = coordinator.next(.obtained(token), cycle: 1, at: at(0)) else {
            Issue.record("it was not kept")
            return
        }
        #expect(coordinator.next(.saved(true), cycle: 1, at: at(0)) == .end(.use(token)))
        var early = coordinator
        #expect(early.ask(.version(token.version), begun: .zero, by: abilities, at: at(3)) == .fail(.notRenewed))
        #expect(coordinator.ask(.version(token.version), begun: .zero, by: abilities, at: at(4)) == .begin)
    }

    @Test(arguments: [
        (401, #"{"error":"invalid_client"}"#), (503, ""), (200, "{}"), (400, #"{"error":"invalid_grant"}"#),
    ])
    func `where none comes the calls fail, and it is asked again after a pause`(status: Int, body: String) async throws
    {
        let desk = Desk { $0 == 1 ? .json(body, status: status) : Desk.grant($0) }
        for _ in 0..<2 {
            let error = await failure { try await desk.send() }
            #expect(error?.kind == .authentication(.unavailable))
            #expect((error?.underlying as? APIError)?.debugMessage.contains("\(status)") == true)
        }
        #expect(desk.askedCount == 1)
        desk.clock.advance(by: RefreshPolicy().pause)
        try await desk.send()
        #expect(desk.sent == ["Bearer t2"])
    }

    @Test func `whoever logs in by other means is asked when a request was refused, and not before`() async throws {
        let desk = TokenDesk()
        let rig = AuthRig(
            BearerAuthenticator(logIn: { _, _ in
                await desk.logIn()
                return Credential("new")
            }), desk: desk)
        _ = try await rig.client.send(GetProduct())
        #expect(desk.sent.map { $0.fields[.authorization] } == [nil, "Bearer new"])
    }

    @Test func `a process that shares the vault uses the token that is there`() async throws {
        let (vault, desk) = (MemoryVault(), TokenDesk())
        let asked = Monitor(0)
        for _ in 0..<2 {
            let authenticator = OAuth2Authenticator.clientCredentials(
                tokenURL: Self.tokens, clientID: "a", clientSecret: "b")
            let rig = AuthRig(authenticator, desk: desk, vault: vault) { request in
                guard request.url.host == "id.example.com" else { return desk.answer(request) }
                asked.withLock { $0 += 1 }
                return .json(#"{"access_token":"new","token_type":"Bearer","expires_in":3600}"#)
            }
            _ = try await rig.client.send(GetProduct())
        }
        #expect(asked.withLock { $0 } == 1)
        #expect(desk.sent.map { $0.fields[.authorization] } == ["Bearer new", "Bearer new"])
    }
}
