import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Expired credentials in the request path: one refresh, and every call once more.
@Suite(.timeLimit(.minutes(5))) struct AuthenticateTests {
    // MARK: One refresh

    @Test(
        "Of twenty calls that are refused at the same time one renews the credential, and each is replayed once",
        .covers("S3.34"))
    func twenty() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        rig.desk.close()
        rig.desk.gather(20)
        async let results = rig.send(20)
        await rig.desk.untilSent(20)
        await rig.desk.untilRefreshed()
        // Each has been refused, and has come so far as to wait.
        while !Task.isCancelled, rig.reasons.filter({ $0 == .joined }).count < 19 { await Task.yield() }
        rig.desk.open()
        #expect(await results.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(rig.desk.refreshed.map(\.token) == ["old"])
        #expect(rig.desk.sent.map { $0.fields[.authorization] == "Bearer old" }.filter(\.self).count == 20)
        #expect(rig.desk.sent.map { $0.fields[.authorization] == "Bearer new" }.filter(\.self).count == 20)
        #expect(rig.reasons.filter { $0 == .renewing }.count == 1)
        #expect(rig.reasons.filter { $0 == .joined }.count == 19)
        #expect(rig.reasons.filter { $0 == .renewed }.count == 20)
        #expect(rig.events.grammarViolations == [])
    }

    @Test("Of a thousand calls that are refused at the same time one renews the credential")
    func thousand() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        rig.desk.close()
        rig.desk.gather(1_000)
        async let results = rig.send(1_000)
        await rig.desk.untilSent(1_000)
        rig.desk.open()
        #expect(await results.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(rig.desk.refreshed.count == 1)
        #expect(rig.desk.sent.count == 2_000)
    }

    @Test("A login is shown once to twenty calls, and when the user cancels it all fail the same way", .covers("S3.34"))
    func login() async throws {
        for isCancelled in [false, true] {
            let desk = TokenDesk()
            let authenticator = BearerAuthenticator(logIn: { _, _ in
                await desk.logIn()
                if isCancelled { throw CancellationError() }
                return Credential("new")
            })
            let rig = AuthRig(authenticator, desk: desk)
            desk.close()
            desk.gather(20)
            async let results = rig.send(20)
            await desk.untilSent(20)
            await desk.untilLogin()
            desk.open()
            let kinds = Set(await results.map(\.failure?.kind))
            #expect(kinds == [isCancelled ? .authentication(.loginCancelled) : nil])
            #expect(desk.logins == 1)
            #expect(desk.sent.count == (isCancelled ? 20 : 40))
        }
    }

    @Test("A second refusal stops: the call fails with the server's answer", .covers("S3.34"))
    func second() async throws {
        let rig = AuthRig()
        rig.desk.accept("none")
        try await rig.signIn()
        let error = await failure { try await rig.client.send(GetProduct()) }
        #expect(error?.kind == .httpStatus(401))
        #expect(rig.desk.sent.count == 2)
        #expect(rig.desk.refreshed.count == 1)
        // And what is refused at once is not renewed again by the next call.
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.notRenewed))
        #expect(rig.desk.refreshed.count == 1)
    }

    @Test("The replay carries parameters that are computed anew, and the new token", .covers("S3.35"))
    func anew() async throws {
        let token = Box("old")
        let desk = TokenDesk()
        let clock = TestClock()
        let authenticator = BearerAuthenticator { old, _ in
            await desk.refresh(old)
            token.value = "new"
            return Credential("new", obtained: clock.timeSource.date())
        }
        let count = Box(0)
        let rig = AuthRig(
            authenticator, desk: desk, clock: clock,
            configured: { configuration in
                configuration.parameters = CommonParameters {
                    let number = count.update { value in
                        value += 1
                        return value
                    }
                    return ["loginToken": token.value, "number": number]
                }
            })
        try await rig.signIn()
        _ = try await rig.client.send(GetProduct())
        #expect(desk.sent.map(\.url.query) == ["loginToken=old&number=1", "loginToken=new&number=2"])
        #expect(desk.sent.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test("An expiry that the envelope or another status tells is replayed as a 401 is", arguments: [423, 200])
    func told(status: Int) async throws {
        let desk = TokenDesk()
        let clock = TestClock()
        let rig = AuthRig(
            AuthRig.bearer(desk, clock, expiry: ExpiryRule(statuses: [401, 423], codes: [40101])), desk: desk,
            clock: clock
        ) { request in
            let answer = desk.answer(request)
            return answer.status == 401
                ? .json(#"{"retcode":40101,"retdesc":"expired","data":null}"#, status: status) : answer
        }
        try await rig.signIn()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(desk.refreshed.count == 1)
        #expect(desk.sent.count == 2)
        let replays = rig.events.records.compactMap { record -> StageName? in
            if case .replayed(let stage, pass: 2) = record.event { stage } else { nil }
        }
        #expect(replays == [.authenticate])
    }

    @Test("A call that takes every status for an answer, and one that streams, are replayed as well")
    func everyStatus() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        var stream = try await rig.client.stream(GetProduct())
        #expect(stream.http.status == 200)
        stream.cancel()
        rig.desk.accept("newer")
        try await rig.signIn("old again")
        stream = try await rig.client.stream(GetProduct(), options: .with { $0.status = .any })
        #expect(stream.http.status == 401)
        stream.cancel()
        #expect(rig.desk.sent.count == 4)
        #expect(rig.desk.refreshed.count == 2)
        try await rig.signIn("old once more")
        _ = await failure { try await rig.client.send(GetProduct(), options: .with { $0.status = .any }) }
        #expect(rig.desk.sent.count == 6)
        #expect(rig.desk.refreshed.count == 3)
    }

    @Test("A refusal with content that could be read is no answer either, for a call that takes every status for one")
    func readableRefusal() async throws {
        let desk = TokenDesk()
        let rig = AuthRig(desk: desk) { request in
            var answer = desk.answer(request)
            if answer.status == 401 { answer.body = Data(#"{"retcode":0,"data":{"id":1,"name":"none"}}"#.utf8) }
            return answer
        }
        try await rig.signIn()
        #expect(try await rig.client.send(GetProduct(), options: .with { $0.status = .any }).id == 7)
        #expect(desk.sent.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test(
        "What has a body that can be read only once is not sent again: its refusal is the answer, and has its content",
        .covers("S3.34"), arguments: [true, false])
    func onceOnly(isReplayable: Bool) async throws {
        let transport = HeadStub { $0.fields[.authorization] == "Bearer new" ? .product : .refusal }
        var configuration = APIClient.Configuration(services: [
            .shop { $0.authenticator = BearerAuthenticator { _, _ in Credential("new", refreshToken: "r") } }
        ])
        configuration.cache = .none
        let client = APIClient(configuration, transport: transport)
        func upload(_ status: StatusRule) async throws -> APIError? {
            try await client.signIn(Credential("old", refreshToken: "r"))
            let body = isReplayable ? HTTPBody.bytes(Data([1])) : .onceOnly(HTTPBody.Chunks { $0.finish() })
            return await failure { try await client.send(StoreFile(body: body), options: .with { $0.status = status }) }
        }
        let error = try await upload(.success)
        #expect(error?.kind == (isReplayable ? nil : .httpStatus(401)))
        #expect(error?.response?.body == (isReplayable ? nil : HTTPResponse.refusal.body))
        #expect(try await upload(.any) == nil)
        #expect(transport.sent.value == (isReplayable ? 4 : 2))
    }

    // MARK: The failures that are known from elsewhere

    @Test("A credential that is due is renewed ahead of its expiry, by the same coordinator as after a refusal")
    func ahead() async throws {
        let rig = AuthRig()
        try await rig.signIn(lifetime: .seconds(100))
        rig.clock.advance(by: .seconds(71))
        rig.desk.close()
        async let results = rig.send(5)
        await rig.desk.untilRefreshed()
        rig.desk.open()
        #expect(await results.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(rig.desk.refreshed.count == 1)
        #expect(rig.desk.sent.map { $0.fields[.authorization] } == Array(repeating: "Bearer new", count: 5))
    }

    @Test("A late 401 for an older version refreshes nothing")
    func late() async throws {
        let gate = Monitor(false)
        let desk = TokenDesk()
        let slow = Intercepting { request, _, next in
            let exchange = try await next(request)
            if request.fields["X-Slow"] != nil, request.fields[.authorization] == "Bearer old" {
                await gate.wait(until: \.self)
            }
            return exchange
        }
        let rig = AuthRig(desk: desk, configured: { $0.attemptInterceptors = [slow] })
        try await rig.signIn()
        async let late = rig.client.send(GetProduct(), options: .headers(["X-Slow": "1"]))
        await desk.untilSent(1)
        _ = try await rig.client.send(GetProduct())
        #expect(desk.refreshed.count == 1)
        gate.withLock { $0 = true }
        #expect(try await late.id == 7)
        #expect(desk.refreshed.count == 1)
        #expect(rig.reasons.contains(.alreadyRenewed))
    }

    @Test("A credential is deleted only if the stored version is the one that was refused")
    func deleted() async throws {
        for isReplaced in [false, true] {
            let desk = TokenDesk()
            let vault = MemoryVault()
            let other = AuthRig(desk: desk, vault: vault)
            let rig = AuthRig(
                BearerAuthenticator { old, _ in
                    await desk.refresh(old)
                    if isReplaced { try await other.signIn("new") }
                    throw AuthenticationFailure.rejected
                }, desk: desk, vault: vault)
            try await rig.signIn()
            let error = await failure { try await rig.client.send(GetProduct()) }
            #expect(error?.kind == (isReplaced ? nil : .authentication(.rejected)))
            #expect(try await vault.keys().count == (isReplaced ? 1 : 0))
        }
    }

    @Test("The refresh has a lane of its own: calls that fill a cap while they wait for it do not hold it back")
    func lane() async throws {
        let desk = TokenDesk()
        let clock = TestClock()
        let rig = AuthRig(
            BearerAuthenticator { old, context in
                await desk.refresh(old)
                _ = try await context.client.send(LogIn(account: "alice", password: "secret"))
                return Credential("new", obtained: clock.timeSource.date())
            }, desk: desk, clock: clock,
            answering: { request in request.url.path.hasSuffix("/login") ? .product : desk.answer(request) },
            configured: { $0.admission = AdmissionPolicy(perHost: 4) })
        try await rig.signIn(lifetime: .seconds(100))
        clock.advance(by: .seconds(90))
        desk.close()
        async let results = rig.send(10)
        await desk.untilRefreshed()
        desk.open()
        #expect(await results.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(desk.refreshed.count == 1)
    }

    @Test(
        "A call that waits for a login holds no place, also where its turn comes then: a login that the app sends by itself is sent",
        arguments: [false, true])
    func loginBesides(isQueued: Bool) async throws {
        // Products are answered from the first step on, and logins from the second.
        let (desk, step) = (TokenDesk(), Monitor(isQueued ? 0 : 2))
        let authenticator = BearerAuthenticator(logIn: { _, _ in
            await desk.logIn()
            return Credential("new")
        })
        let rig = AuthRig(
            authenticator, desk: desk,
            answering: { request in request.url.path.hasSuffix("/login") ? .product : desk.answer(request) },
            configured: { configuration in
                configuration.admission = AdmissionPolicy(total: 1)
                configuration.attemptInterceptors = [
                    Intercepting { request, _, next in
                        let exchange = try await next(request)
                        let isLogin = request.url.path.hasSuffix("/login")
                        await step.wait { $0 >= (isLogin ? 2 : 1) }
                        return exchange
                    }
                ]
            })
        desk.close()
        let first = rig.client.start(GetProduct())
        if isQueued { await desk.untilSent(1) } else { await desk.untilLogin() }
        let second = rig.client.start(GetProduct())
        if isQueued {
            // The turn of the second comes when the first has been refused, and an anonymous call after it answered.
            await rig.untilQueued(1)
            let between = rig.client.start(
                LogIn(account: "bob", password: "secret"),
                options: CallOptions.anonymous.priority(.high))
            await rig.untilQueued(2)
            step.withLock { $0 = 1 }
            await desk.untilLogin()
            step.withLock { $0 = 2 }
            _ = try await between.value
        }
        while !Task.isCancelled, !rig.reasons.contains(.joined) { await Task.yield() }
        _ = try await rig.client.send(LogIn(account: "alice", password: "secret"), options: .anonymous)
        #expect(desk.logins == 1 && desk.sent.count == 1)
        desk.open()
        #expect(try await first.value.id == 7)
        #expect(try await second.value.id == 7)
        #expect(desk.sent.map { $0.fields[.authorization] } == [nil, "Bearer new", "Bearer new"])
        #expect(rig.events.grammarViolations == [])
    }

    @Test("The refresh does not carry the dead header, and may use the same client")
    func sameClient() async throws {
        let desk = TokenDesk()
        let client = Box<APIClient?>(nil)
        let clock = TestClock()
        let rig = AuthRig(
            BearerAuthenticator { old, _ in
                await desk.refresh(old)
                _ = try await client.value?.send(LogIn(account: "alice", password: "secret"))
                return Credential("new", obtained: clock.timeSource.date())
            }, desk: desk, clock: clock
        ) { request in request.url.path.hasSuffix("/login") ? .product : desk.answer(request) }
        client.value = rig.client
        try await rig.signIn()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        let login = try #require(rig.rig.sent.first { $0.url.path.hasSuffix("/login") })
        #expect(!login.fields.contains(.authorization))
        client.value = nil
    }

    @Test("A refresh that is refused itself fails, and waits for nobody")
    func refusedRefresh() async throws {
        let desk = TokenDesk()
        let rig = AuthRig(
            BearerAuthenticator { old, context in
                await desk.refresh(old)
                _ = try await context.client.send(LogIn(account: "alice", password: "secret"))
                return Credential("new")
            }, desk: desk)
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.rejected))
        #expect(desk.refreshed.count == 1)
        #expect(try await rig.client.credential() == nil)
    }

    @Test(
        "A refresh whose answer is lost is sent once more and no oftener, whatever its method, what is declared of it, and the retries of its call",
        .covers("X8"), arguments: [Idempotency.byMethod, .declared, .key])
    func noRetries(idempotency: Idempotency) async throws {
        let (desk, clock, renewals) = (TokenDesk(), TestClock(), Box(0))
        let rig = AuthRig(
            BearerAuthenticator { old, context in
                await desk.refresh(old)
                let options = CallOptions.headers(["X-Renew": "1"]).idempotency(idempotency)
                if idempotency == .byMethod {
                    _ = try await context.client.send(GetProduct(), options: options)
                } else {
                    _ = try await context.client.send(PlaceOrder(), options: options)
                }
                return Credential("new")
            }, desk: desk, clock: clock,
            answering: { $0.fields.contains("X-Renew") ? HTTPResponse(status: 502) : desk.answer($0) },
            configured: {
                $0.options.retry = RetryPolicy(limit: 5, hedging: HedgingPolicy(after: .seconds(1)))
                $0.attemptInterceptors = [
                    Intercepting { request, call, next in
                        if request.fields.contains("X-Renew") {
                            renewals.update { $0 += 1 }
                            try await call.sleep(for: .seconds(3))
                        }
                        return try await next(request)
                    }
                ]
            })
        try await rig.signIn()
        let error = await clock.ticking { await failure { try await rig.client.send(GetProduct()) } }
        #expect(error?.kind == .authentication(.lost))
        #expect(renewals.value == 2)
    }

    @Test("A refresh whose answer is slow has no other beside it: its token is good for one use", .covers("X8"))
    func noHedges() async throws {
        let rig = RetryRig([.held(.product), .product, .product]) { configuration in
            configuration.options.retry = RetryPolicy(limit: 0, hedging: HedgingPolicy(after: .milliseconds(400)))
            let authenticator = BearerAuthenticator { _, context in
                _ = try await context.client.send(GetProduct())
                return Credential("new")
            }
            configuration.services = ServiceRegistry([.shop { $0.authenticator = authenticator }])
        }
        try await rig.client.signIn(
            Credential("old", refreshToken: "r1", expiresIn: .zero, obtained: rig.clock.timeSource.date()))
        let call = rig.client.start(GetProduct())
        await rig.script.waitForExchanges(count: 1)
        for _ in 1...5 {
            await rig.settle()
            rig.clock.advance(by: .seconds(1))
        }
        await rig.settle()
        #expect(rig.hits == 1)
        rig.script.release()
        _ = try await call.value
        #expect(rig.script.requests.map { $0.request.fields[.authorization] } == [nil, "Bearer new"])
    }

    @Test("The caller that started the refresh may be cancelled without harm")
    func starterCancelled() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        rig.desk.close()
        let first = rig.client.start(GetProduct())
        await rig.desk.untilRefreshed()
        async let second = rig.client.send(GetProduct())
        while !Task.isCancelled, !rig.reasons.contains(.joined) { await Task.yield() }
        first.cancel()
        #expect(await failure { try await first.value }?.kind == .cancelled)
        rig.desk.open()
        #expect(try await second.id == 7)
        #expect(rig.desk.refreshed.count == 1)
    }

    @Test("Everybody may be cancelled, and the new credential is there for who comes next")
    func everybodyCancelled() async throws {
        let rig = AuthRig()
        try await rig.signIn()
        rig.desk.close()
        let call = rig.client.start(GetProduct())
        await rig.desk.untilRefreshed()
        rig.client.cancelAll()
        _ = await failure { try await call.value }
        rig.desk.open()
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(rig.desk.refreshed.count == 1)
    }

    @Test("Logout during a refresh wins")
    func logout() async throws {
        let vault = MemoryVault()
        let rig = AuthRig(vault: vault)
        try await rig.signIn()
        rig.desk.close()
        rig.desk.gather(5)
        async let results = rig.send(5)
        await rig.desk.untilSent(5)
        await rig.desk.untilRefreshed()
        try await rig.client.signOut()
        #expect(Set(await results.map(\.failure?.kind)) == [.authentication(.signedOut)])
        rig.desk.open()
        for _ in 0..<100 { await Task.yield() }
        #expect(try await vault.keys().isEmpty)
        #expect(try await rig.client.credential() == nil)
        #expect(rig.desk.sent.count == 5)
    }

    @Test(
        "A refresh that gives the same or an almost dead token ends in an error, not in a loop",
        arguments: ["old", "short"])
    func noBetter(token: String) async throws {
        let desk = TokenDesk()
        let clock = TestClock()
        let rig = AuthRig(
            BearerAuthenticator { old, _ in
                await desk.refresh(old)
                return Credential(
                    token, refreshToken: "r2", expiresIn: token == "old" ? .seconds(3_600) : .seconds(1),
                    obtained: clock.timeSource.date())
            }, desk: desk, clock: clock)
        try await rig.signIn()
        let results = await rig.send(10)
        #expect(Set(results.map(\.failure?.kind)) == [.authentication(.notRenewed)])
        #expect(desk.refreshed.count == 1)
        #expect(try await rig.client.credential()?.refreshToken == "r2")
    }

    @Test(
        "A refresh whose answer is lost is tried once more with the same refresh token, then reported, with nothing wiped"
    )
    func lost() async throws {
        let desk = TokenDesk()
        let vault = MemoryVault()
        let lost = APIError(.transport(.connectionLost), stage: .transport, sendState: .maybeProcessed)
        let rig = AuthRig(
            BearerAuthenticator { old, _ in
                await desk.refresh(old)
                throw lost
            }, desk: desk, vault: vault)
        try await rig.signIn()
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.lost))
        #expect(desk.refreshed.map(\.refreshToken) == ["r1", "r1"])
        #expect(try await rig.client.credential()?.token == "old")
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.lost))
        #expect(desk.refreshed.count == 2)
        #expect(try await vault.keys().count == 1)
        #expect(await failure { try await rig.client.refreshCredential() }?.kind == .authentication(.lost))
        #expect(desk.refreshed.count == 4)
    }

    @Test("A failure goes to all alike, and is remembered for that credential")
    func alike() async throws {
        let desk = TokenDesk()
        let isUp = Box(false)
        let clock = TestClock()
        let rig = AuthRig(
            BearerAuthenticator { old, _ in
                await desk.refresh(old)
                guard isUp.value else { throw APIError(.unreachable(.offline), stage: .transport, sendState: .unsent) }
                return Credential("new", obtained: clock.timeSource.date())
            }, desk: desk, clock: clock)
        try await rig.signIn()
        desk.close()
        desk.gather(10)
        async let results = rig.send(10)
        await desk.untilSent(10)
        desk.open()
        #expect(Set(await results.map(\.failure?.kind)) == [.authentication(.unavailable)])
        #expect(desk.refreshed.count == 1)
        isUp.value = true
        #expect(await failure { try await rig.client.send(GetProduct()) }?.kind == .authentication(.unavailable))
        #expect(desk.refreshed.count == 1)
        clock.advance(by: .seconds(5))
        #expect(try await rig.client.send(GetProduct()).id == 7)
        #expect(desk.refreshed.count == 2)
    }

    @Test("Two processes that share a vault do not both refresh")
    func twoProcesses() async throws {
        let (desk, vault, clock) = (TokenDesk(), MemoryVault(), TestClock())
        let (one, other) = (
            AuthRig(desk: desk, vault: vault, clock: clock), AuthRig(desk: desk, vault: vault, clock: clock)
        )
        try await one.signIn()
        #expect(try await other.client.credential()?.token == "old")
        desk.close()
        // The other process looks again and again, by the clock.
        let all = await clock.ticking {
            async let first = one.send(5)
            await desk.untilRefreshed()
            async let second = other.send(5)
            while !Task.isCancelled, !other.reasons.contains(.renewing) { await Task.yield() }
            desk.open()
            return await first + second
        }
        #expect(all.allSatisfy { (try? $0.get())?.id == 7 })
        #expect(desk.refreshed.count == 1)
    }

    @Test("Another process's new credential is used without a refresh")
    func foundInVault() async throws {
        let (desk, vault) = (TokenDesk(), MemoryVault())
        let (one, other) = (AuthRig(desk: desk, vault: vault), AuthRig(desk: desk, vault: vault))
        try await one.signIn()
        try await other.signIn("new")
        #expect(try await one.client.send(GetProduct()).id == 7)
        #expect(desk.refreshed.isEmpty)
        #expect(desk.sent.map { $0.fields[.authorization] } == ["Bearer old", "Bearer new"])
    }

    @Test("A replay counts against the retry budget of the origin")
    func budget() async throws {
        for isExpired in [false, true] {
            let desk = TokenDesk()
            let clock = TestClock()
            let fails = Box(false)
            let rig = AuthRig(
                desk: desk, clock: clock,
                answering: { fails.value ? HTTPResponse(status: 503) : desk.answer($0) },
                configured: {
                    $0.retryBudget = RetryBudget.Policy(ratio: 0, reserve: 1, refill: nil)
                    $0.options.timeouts.total = .seconds(100_000)
                })
            try await rig.signIn(isExpired ? "old" : "new")
            _ = try await rig.client.send(GetProduct())
            fails.value = true
            let before = rig.rig.sent.count
            let error = await clock.ticking { await failure { try await rig.client.send(GetProduct()) } }
            #expect(error?.kind == .httpStatus(503))
            #expect(rig.rig.sent.count - before >= (isExpired ? 1 : 2))
            if isExpired { #expect(rig.rig.sent.count - before == 1) }
        }
    }
}

private struct StoreFile: Endpoint {
    typealias Output = Payload
    let body: HTTPBody
    var route: Route { .post("/files") }
}

extension HTTPResponse {
    fileprivate static let refusal = HTTPResponse(status: 401, body: HTTPResponse.product.body)
}

/// Answers without the content that nobody wants, as a transport does.
private final class HeadStub: Transport {
    let capabilities = TransportCapabilities.all
    let sent = Box(0)
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) {
        self.answer = answer
    }

    func perform(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        sent.update { $0 += 1 }
        var response = answer(request.request)
        if request.isContentSkipped(response.status, response) { response.body = Data() }
        return TransportResponse(response)
    }

    func shutdown() async {}
}
