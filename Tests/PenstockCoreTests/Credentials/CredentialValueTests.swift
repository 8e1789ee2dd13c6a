import Foundation
import PenstockCore
import PenstockTesting
import Testing

/// What credentials are, how they print, and how they are kept.
@Suite(.timeLimit(.minutes(5)))
struct CredentialValueTests {
    @Test("By default a credential is renewed 30 s before its end, and a request for one may take 20 s")
    func refreshDefaults() {
        let policy = RefreshPolicy()
        #expect(policy.leeway == .seconds(30) && policy.minimumLifetime == .seconds(5))
        #expect(policy.timeout == .seconds(20) && policy.grace == .seconds(30) && policy.pause == .seconds(5))
        #expect(policy.pollInterval == .milliseconds(250))
    }

    private static let date = Date(timeIntervalSince1970: 1_000_000_000)

    @Test("An item is kept up to its limits, and not a byte beyond")
    func itemLimits() {
        #expect(VaultItem.maximumSize == 1 << 20)
        func isValid(
            version: Int = 1, content: Int = 0, service: String = "s", environment: String = "", origin: String = "",
            account: String = ""
        ) -> Bool {
            let item = VaultItem(version: String(repeating: "v", count: version), content: Data(count: content))
            let key = CredentialKey(service: service, environment: environment, origin: origin, account: account)
            return (try? item.validate(for: key)) != nil
        }
        #expect([0, 1, 256, 257].map { isValid(version: $0) } == [false, true, true, false])
        #expect([1 << 20, 1 << 20 | 1].map { isValid(content: $0) } == [true, false])
        let parts = [String(repeating: "p", count: 4_096), String(repeating: "p", count: 4_097), "p\0"]
        #expect(parts.map { isValid(service: $0) } == [true, false, false])
        #expect(parts.map { isValid(environment: $0) } == [true, false, false])
        #expect(parts.map { isValid(origin: $0) } == [true, false, false])
        #expect(parts.map { isValid(account: $0) } == [true, false, false])
        #expect(!isValid(service: ""))
        #expect(throws: VaultError.invalid) {
            try VaultItem(version: "a\u{7F}", content: Data())
                .validate(for: CredentialKey(service: "s", environment: "", origin: ""))
        }
    }

    @Test("Nothing that prints a credential, its record or its item shows what is in it")
    func printing() throws {
        let credential = Credential(
            "topsecrettoken", user: "alice", refreshToken: "topsecretrefresh", values: ["pin": "topsecretpin"])
        let record = CredentialRecord(credential, version: "1")
        for value in [credential, record, record.item, [credential], ["a": record]] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            let texts = ["\(value)", String(reflecting: value), String(describing: value), dumped]
            #expect(texts.allSatisfy { !$0.contains("topsecret") }, "\(texts)")
        }
        #expect("\(credential)".contains(credential.version.text))
    }

    @Test("A credential comes back from its item as it was, with its claim")
    func kept() throws {
        let credential = Credential(
            "t", user: "u", refreshToken: "r", expiresIn: .seconds(90), values: ["a": "b"], obtained: Self.date)
        let claim = RefreshClaim(holder: "h", tries: 2, since: Self.date, until: Self.date.addingTimeInterval(21))
        for record in [
            CredentialRecord(credential, claim: claim, version: "7"),
            CredentialRecord(Credential("t", obtained: Self.date), version: "8"),
        ] {
            #expect(try CredentialRecord(record.item) == record)
            #expect(record.item.version == record.version)
        }
    }

    @Test(
        "What cannot be understood is corrupt",
        arguments: ["", "[]", "{}", #"{"format":1}"#, #"{"format":2,"version":"v","token":"t","obtained":1}"#])
    func corrupt(text: String) {
        #expect(throws: VaultError.corrupt) {
            try CredentialRecord(VaultItem(version: "1", content: Data(text.utf8)))
        }
    }

    @Test("No lifetime is absurd", arguments: [(-5.0, 0.0), (0, 0), (60, 60), (1e300, 315_360_000)])
    func lifetime(seconds: Double, expected: Double) throws {
        let text = #"{"format":1,"version":"v","token":"t","obtained":0,"lifetime":\#(seconds)}"#
        let record = try CredentialRecord(VaultItem(version: "1", content: Data(text.utf8)))
        #expect(record.credential.lifetime == .seconds(expected))
        #expect(record.credential.expires == Date(timeIntervalSince1970: expected))
    }

    @Test("A credential has expired at the moment of its expiry")
    func expired() {
        let credential = Credential("t", expiresIn: .seconds(10), obtained: Self.date)
        #expect(!credential.isExpired(at: Self.date.addingTimeInterval(9.9)))
        #expect(credential.isExpired(at: Self.date.addingTimeInterval(10)))
        #expect(!Credential("t").isExpired(at: .distantFuture))
        #expect(Credential("t", expiresIn: .seconds(-1), obtained: Self.date).isExpired(at: Self.date))
        #expect(Credential("t", expiresIn: .seconds(-1), obtained: Self.date).lifetime == .zero)
        #expect(Credential("t", expiresIn: .seconds(Int64.max), obtained: Self.date).lifetime == .seconds(315_360_000))
    }

    @Test("Each credential has a version of its own")
    func versions() {
        #expect(Set((0..<1_000).map { _ in CredentialVersion.new() }).count == 1_000)
        #expect(Credential("t") != Credential("t"))
    }

    @Test("Every rule for vaults holds for the one in memory", .covers("S4.19"), arguments: VaultConformance.rules)
    func conformance(rule: VaultConformance.Rule) async throws {
        let vault = MemoryVault()
        try await rule.run { vault }
    }

    @Test("A condition allows what it says")
    func conditions() {
        #expect(VaultCondition.anything.allows(nil) && VaultCondition.anything.allows("1"))
        #expect(VaultCondition.absent.allows(nil) && !VaultCondition.absent.allows("1"))
        let one = VaultCondition.version("1")
        #expect(one.allows("1") && !one.allows("2") && !one.allows(nil))
    }

    @Test(
        "What an error says about a refresh",
        arguments: [
            (APIError(.httpStatus(401), stage: .status), AuthenticationFailure.rejected),
            (APIError(.httpStatus(403), stage: .status), .rejected),
            (APIError(.httpStatus(400), stage: .status), .unavailable),
            (APIError(.httpStatus(402), stage: .status), .unavailable),
            (APIError(.httpStatus(408), stage: .status), .lost),
            (APIError(.httpStatus(429), stage: .status), .unavailable),
            (APIError(.httpStatus(499), stage: .status), .unavailable),
            (APIError(.httpStatus(500), stage: .status), .lost),
            (APIError(.httpStatus(503), stage: .status), .unavailable),
            (APIError(.httpStatus(504), stage: .status), .lost),
            (APIError(.httpStatus(302), stage: .status), .unavailable),
            (APIError(.business(code: 1, message: ""), stage: .envelope), .unavailable),
            (APIError(.authentication(.loginCancelled), stage: .authenticate), .loginCancelled),
            (APIError(.unreachable(.offline), stage: .transport, sendState: .unsent), .unavailable),
            (APIError(.transport(.connectionLost), stage: .transport, sendState: .unprocessed), .unavailable),
            (APIError(.transport(.connectionLost), stage: .transport, sendState: .maybeProcessed), .lost),
            (APIError(.decoding(path: "", reason: ""), stage: .decoding, sendState: .answered), .lost),
            (APIError(.timeout(.total), stage: .transport), .lost),
            (APIError(.timeout(.connect), stage: .transport, sendState: .unsent), .unavailable),
            (APIError(.cancelled, stage: .transport), .lost),
            (APIError(.cancelled, stage: .transport, sendState: .unprocessed), .unavailable),
            (APIError(.blocked(reason: ""), stage: .transport), .unavailable),
        ])
    func refreshing(error: APIError, failure: AuthenticationFailure) {
        #expect(AuthenticationFailure(refreshing: error) == failure)
    }

    @Test(
        "A refresh that was answered is lost, whatever the app's own code makes of the answer",
        arguments: [
            ([(200, .answered)], AuthenticationFailure.lost), ([(nil, .maybeProcessed)], .lost),
            ([(nil, .answered)], .lost), ([(502, .answered)], .lost), ([(200, .answered), (nil, .unsent)], .lost),
            ([], .unavailable), ([(nil, .unsent)], .unavailable), ([(nil, .unprocessed)], .unavailable),
            // These have done nothing with it.
            ([(503, .answered), (nil, .unsent)], .unavailable), ([(429, .answered)], .unavailable),
        ] as [([(Int?, SendState)], AuthenticationFailure)])
    func refreshingAnswered(attempts: [(Int?, SendState)], failure: AuthenticationFailure) throws {
        let url = try HTTPURL("https://api.example.com/token")
        for kind in [APIError.Kind.blocked(reason: ""), .validation(rule: ""), .unreachable(.offline)] {
            var error = APIError(kind, stage: .callInterception)
            error.attempts = attempts.map {
                APIError.Attempt(method: .post, url: url, sendState: $0.1, status: $0.0)
            }
            #expect(AuthenticationFailure(refreshing: error) == failure, "\(kind)")
        }
        var ended = APIError(.cancelled, stage: .transport, sendState: .unsent)
        ended.attempts = attempts.map { APIError.Attempt(method: .post, url: url, sendState: $0.1, status: $0.0) }
        #expect(AuthenticationFailure(refreshing: ended) == failure)
    }

    @Test("A 400 deletes the credential where it says by the words of OAuth that the refresh token is of no more use")
    func invalidGrant() {
        for (status, text, failure) in [
            (400, #"{"error":"invalid_grant"}"#, AuthenticationFailure.rejected),
            (400, #"{"error":"invalid_client"}"#, .unavailable), (400, "<html>", .unavailable),
            (404, #"{"error":"invalid_grant"}"#, .unavailable),
        ] {
            let response = HTTPResponse(status: status, body: Data(text.utf8))
            let error = APIError(.httpStatus(status), stage: .status, response: response)
            #expect(AuthenticationFailure(refreshing: error) == failure, "\(status) \(text)")
        }
    }

    @Test("What another error says about a refresh, and about a login")
    func otherErrors() {
        struct Other: Error {}
        #expect(AuthenticationFailure(refreshing: AuthenticationFailure.rejected) == .rejected)
        #expect(AuthenticationFailure(refreshing: Other()) == .lost)
        #expect(AuthenticationFailure(refreshing: CancellationError()) == .lost)
        #expect(AuthenticationFailure(loggingIn: Other()) == .unavailable)
        #expect(AuthenticationFailure(loggingIn: CancellationError()) == .loginCancelled)
        #expect(AuthenticationFailure(loggingIn: AuthenticationFailure.rejected) == .rejected)
        #expect(AuthenticationFailure(loggingIn: APIError(.cancelled, stage: .transport)) == .loginCancelled)
        #expect(AuthenticationFailure(loggingIn: APIError(.httpStatus(500), stage: .status)) == .unavailable)
        #expect(AuthenticationFailure(loggingIn: APIError(.authentication(.lost), stage: .authenticate)) == .lost)
    }
}
