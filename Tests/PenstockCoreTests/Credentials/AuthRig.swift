import Foundation
import PenstockCore
import PenstockTesting

/// A service whose products are for those with a valid token, and a desk that renews tokens.
final class TokenDesk: Sendable {
    private struct State: Sendable {
        var valid: Set<String> = ["new"]
        var sent: [HTTPRequest] = []
        var refreshed: [Credential] = []
        var logins = 0
        var isOpen = true
        /// No request is answered before so many were sent.
        var gathering = 0
    }

    private let state = Monitor(State())

    /// The requests for products.
    var sent: [HTTPRequest] { state.withLock(\.sent) }
    /// What was asked to be renewed.
    var refreshed: [Credential] { state.withLock(\.refreshed) }
    var logins: Int { state.withLock(\.logins) }

    func accept(_ tokens: String...) { state.withLock { $0.valid = Set(tokens) } }
    func close() { state.withLock { $0.isOpen = false } }
    func open() { state.withLock { $0.isOpen = true } }
    func gather(_ count: Int) { state.withLock { $0.gathering = count } }
    func untilGathered() async { await state.waitUnlessCancelled { $0.sent.count >= $0.gathering } }
    func untilRefreshed(_ count: Int = 1) async { await state.waitUnlessCancelled { $0.refreshed.count >= count } }
    func untilSent(_ count: Int) async { await state.waitUnlessCancelled { $0.sent.count >= count } }
    func untilLogin() async { await state.waitUnlessCancelled { $0.logins >= 1 } }

    /// Counts a refresh, and returns when the desk is open.
    func refresh(_ old: Credential) async {
        state.withLock { $0.refreshed.append(old) }
        await state.wait(until: \.isOpen)
    }

    func logIn() async {
        state.withLock { $0.logins += 1 }
        await state.wait(until: \.isOpen)
    }

    /// The product, or a refusal.
    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let isValid = state.withLock { state in
            state.sent.append(request)
            return state.valid.contains { request.fields[.authorization] == "Bearer \($0)" }
        }
        return isValid ? .product : .unauthorised
    }
}

extension HTTPResponse {
    static let unauthorised = HTTPResponse(
        status: 401, fields: [.wwwAuthenticate: #"Bearer realm="shop", error="invalid_token""#])
}

/// A client whose service has an authenticator, over a stub.
struct AuthRig: Sendable {
    let desk: TokenDesk
    let rig: Rig
    let clock: TestClock
    let events: EventRecorder

    var client: APIClient { rig.client }

    init(
        _ authenticator: (any Authenticator)? = nil, desk: TokenDesk = TokenDesk(),
        vault: any CredentialVault = MemoryVault(),
        clock: TestClock = TestClock(), answering respond: StubTransport.Responder? = nil,
        configured change: (inout APIClient.Configuration) -> Void = { _ in }
    ) {
        self.desk = desk
        self.clock = clock
        events = EventRecorder()
        let authenticator = authenticator ?? Self.bearer(desk, clock)
        rig = Rig(
            [.shop { $0.authenticator = authenticator }],
            { [events] configuration in
                configuration.vault = vault
                configuration.time = clock.timeSource
                configuration.sinks = [events]
                configuration.cache = .none
                configuration.attemptInterceptors = [
                    Intercepting { request, _, next in
                        let exchange = try await next(request)
                        await desk.untilGathered()
                        return exchange
                    }
                ]
                change(&configuration)
            },
            answering: respond ?? { desk.answer($0) })
    }

    /// Renews every token by `new`.
    static func bearer(
        _ desk: TokenDesk, _ clock: TestClock, expiry: ExpiryRule = ExpiryRule(scheme: "bearer"), token: String = "new"
    ) -> BearerAuthenticator {
        BearerAuthenticator(expiry: expiry) { old, _ in
            await desk.refresh(old)
            return Credential(
                token, refreshToken: "r2", expiresIn: .seconds(3_600), obtained: clock.timeSource.date())
        }
    }

    func signIn(_ token: String = "old", lifetime: Duration? = .seconds(3_600)) async throws {
        try await client.signIn(
            Credential(token, refreshToken: "r1", expiresIn: lifetime, obtained: clock.timeSource.date()))
    }

    /// What was decided about credentials, of all calls.
    var reasons: [CredentialReason] {
        events.records.compactMap { if case .credentialDecided(let reason) = $0.event { reason } else { nil } }
    }

    /// Returns when so many attempts have had to wait for a place.
    func untilQueued(_ count: Int) async {
        func queued() -> Int { events.records.count { if case .queued = $0.event { true } else { false } } }
        while !Task.isCancelled, queued() < count { await Task.yield() }
    }

    /// The outcome of so many calls that are made at the same time.
    func send(_ count: Int) async -> [Result<Product, APIError>] {
        await withTaskGroup(of: Result<Product, APIError>.self) { group in
            for _ in 0..<count {
                group.addTask { await result { () async throws(APIError) in try await client.send(GetProduct()) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

func result<Value: Sendable>(_ body: () async throws(APIError) -> Value) async -> Result<Value, APIError> {
    do throws(APIError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

extension TestClock {
    /// Lets time pass while something is waited for, slowly enough for all that is ready to run.
    func ticking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async rethrows -> Value {
        let ticks = Task {
            while !Task.isCancelled {
                advance(by: .milliseconds(50))
                // What waits for a thread that runs no tasks is ready only when that thread has run.
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { ticks.cancel() }
        return try await body()
    }
}
