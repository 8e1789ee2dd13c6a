import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Which failures are those of every call that waits for an exchange, and what becomes of the others.
@Suite(.timeLimit(.minutes(5))) struct SharedFailureTests {
    /// Holds the first calls that come, at least one, each until it is let go, and has them fail of an error of their own.
    private final class Gate: Interceptor {
        let entered = Monitor(0)
        private let released = Monitor(0)
        private let failing: Int
        private let failure: APIError

        init(failing: Int, _ failure: APIError = APIError(.blocked(reason: "mine"), stage: .attemptInterception)) {
            (self.failing, self.failure) = (failing, failure)
        }

        /// Lets the next one go.
        func release() { released.withLock { $0 += 1 } }

        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            let number = entered.withLock { count in
                count += 1
                return count
            }
            if number <= max(failing, 1) { await released.wait { $0 >= number } }
            guard number > failing else { throw failure }
            return try await next(request)
        }
    }

    /// A client with a gate before its server, which plays a script.
    private struct Gated: Sendable {
        let gate: Gate
        let script: ScriptedTransport
        let events = EventRecorder()
        let client: APIClient

        init(
            _ gate: Gate, _ steps: [ScriptedTransport.Step],
            _ change: (inout APIClient.Configuration) -> Void = { _ in }
        ) {
            self.gate = gate
            script = ScriptedTransport(steps)
            var configuration = APIClient.Configuration(services: [.shop()])
            configuration.cache = .store(MemoryCacheStore())
            configuration.options = CallOptions.cache(.http).retry(.none)
            configuration.attemptInterceptors = [gate]
            configuration.sinks = [events]
            change(&configuration)
            client = APIClient(configuration, transport: script)
        }

        /// Starts a call, and others once it is at the gate; returns when they wait for it.
        func start(_ count: Int) async -> [Call<Product>] {
            let first = client.start(Tea())
            await gate.entered.waitUnlessCancelled { $0 >= 1 }
            let others = (1..<count).map { _ in client.start(Tea()) }
            await events.whenJoined(count - 1)
            return [first] + others
        }
    }

    @Test("The mistake of one call is no other's: of all who waited for it, one asks in its place", .covers("S3.37"))
    func nextLeader() async throws {
        let gated = Gated(Gate(failing: 1), [.held(.respond(.tea(1))), .respond(.tea(2))])
        let calls = await gated.start(50)
        gated.gate.release()
        #expect(await failure { try await calls[0].value }?.kind == .blocked(reason: "mine"))
        await gated.events.whenJoined(49 + 48)
        await gated.script.waitForExchanges(count: 1)
        gated.script.release()
        for call in calls.dropFirst() { #expect(try await call.value.id == 1) }
        #expect(gated.script.requests.count == 1)
        #expect(gated.events.grammarViolations.isEmpty)
    }

    @Test(
        "A call waits for two exchanges of others at most that fail of their own, then it asks by itself",
        .covers("S3.37"), arguments: [1, 2])
    func mostLeaders(failing: Int) async throws {
        let steps = [ScriptedTransport.Step.held(.respond(.tea(1)))] + (0..<20).map { _ in .respond(.tea(2)) }
        let gated = Gated(Gate(failing: failing), steps)
        let calls = await gated.start(20)
        for joined in [19, 19 + 18] {
            await gated.events.whenJoined(joined)
            gated.gate.release()
        }
        await gated.script.waitForExchanges(count: failing == 1 ? 1 : 18)
        gated.script.release()
        var failed = 0
        for call in calls where await failure({ try await call.value }) != nil { failed += 1 }
        #expect(failed == failing)
        #expect(gated.script.requests.count == (failing == 1 ? 1 : 18))
    }

    static let kinds: [(APIError.Kind, StageName, isShared: Bool)] = [
        (.unreachable(.offline), .transport, true), (.timeout(.idle), .transport, true),
        (.tls(.handshake), .transport, true), (.transport(.connectionLost), .transport, true),
        (.limitExceeded(.bodyBytes), .transport, true), (.unavailable(reason: "a"), .admission, true),
        (.unavailable(reason: "a"), .retry, true), (.httpStatus(503), .retry, true), (.decryption, .seal, true),
        (.timeout(.total), .transport, false), (.transport(.requestBody), .transport, false),
        (.unreachable(.offline), .attemptInterception, false), (.httpStatus(403), .attemptInterception, false),
        (.decryption, .attemptInterception, false), (.blocked(reason: "a"), .transport, false),
        (.invalidParameter(field: "a", reason: "b"), .prepare, false),
        (.invalidConfiguration(reason: "a"), .sign, false), (.unsupported(feature: "a"), .transport, false),
        (.authentication(.signedOut), .authenticate, true), (.authentication(.loginCancelled), .authenticate, true),
        (.authentication(.rejected), .attemptInterception, false), (.cancelled, .transport, false),
    ]

    @Test("Shared are the failures that came of the exchange itself", .covers("S3.37"), arguments: kinds)
    func shared(kind: APIError.Kind, stage: StageName, isShared: Bool) async throws {
        let gated = Gated(Gate(failing: 1, APIError(kind, stage: stage)), [.respond(.tea(1))])
        let calls = await gated.start(2)
        gated.gate.release()
        #expect(await failure { try await calls[0].value }?.kind == kind)
        let second = await calls[1].result
        #expect(second.failure?.kind == (isShared ? kind : nil))
        #expect(gated.script.requests.count == (isShared ? 0 : 1))
    }

    /// Holds each login until it is let go, and cancels it then, as somebody does who closes its window.
    private final class CancelledLogin: Authenticator {
        let begun = Monitor(0)
        private let released = Monitor(0)
        var canLogIn: Bool { true }
        var logsInAhead: Bool { true }

        func release() { released.withLock { $0 += 1 } }

        func apply(_ credential: Credential, to request: HTTPRequest, call: CallContext) -> HTTPRequest { request }

        func refresh(_ credential: Credential, in context: RefreshContext) throws -> Credential {
            throw CancellationError()
        }

        func logIn(after credential: Credential?, in context: RefreshContext) async throws -> Credential {
            let number = begun.withLock { count in
                count += 1
                return count
            }
            await released.wait { $0 >= number }
            throw CancellationError()
        }
    }

    @Test("A login that is cancelled comes back to none of the calls that wait for one load", .covers("S3.37"))
    func cancelledLogin() async throws {
        let login = CancelledLogin()
        let script = ScriptedTransport([])
        let events = EventRecorder()
        var configuration = APIClient.Configuration(services: [.shop { $0.authenticator = login }])
        configuration.cache = .store(MemoryCacheStore())
        configuration.options = CallOptions.cache(.http).retry(.none)
        configuration.sinks = [events]
        let client = APIClient(configuration, transport: script)
        let calls = (0..<7).map { _ in client.start(Tea()) }
        await login.begun.wait { $0 == 1 }
        await events.whenJoined(6)
        // More than one is let go where more than one comes.
        for _ in 0..<7 { login.release() }
        for call in calls { #expect(await failure { try await call.value }?.kind == .authentication(.loginCancelled)) }
        #expect(login.begun.withLock { $0 } == 1)
        #expect(script.requests.isEmpty)
    }

    @Test(
        "A request that breaks HTTP's grammar is waited for by no other, and waits for none", .covers("S3.37"),
        arguments: [true, false])
    func rejected(isJoining: Bool) async throws {
        let gated = Gated(Gate(failing: 0), [.held(.respond(.tea(1)))]) { configuration in
            guard isJoining else { return }
            configuration.cache = .none
            configuration.options.inFlight = .join
        }
        let wrong = gated.client.start(Tea(), options: .headers(["X-Note": "line\nbreak"]))
        await gated.gate.entered.waitUnlessCancelled { $0 >= 1 }
        let right = gated.client.start(Tea())
        await gated.script.waitForExchanges(count: 1)
        let another = gated.client.start(Tea(), options: .headers(["X-Note": "line\nbreak"]))
        #expect(await another.result.failure?.kind.isInvalidParameter == true)
        gated.gate.release()
        #expect(await wrong.result.failure?.kind.isInvalidParameter == true)
        gated.script.release()
        #expect(try await right.value.id == 1)
        #expect(gated.script.requests.count == 1)
    }

    @Test("Where the time of one that others have joined is over, one of them asks in its place", .covers("S3.37"))
    func nextFlight() async throws {
        let late = APIError(.timeout(.total), stage: .transport)
        let gated = Gated(Gate(failing: 1, late), [.held(.respond(.tea(1))), .respond(.tea(2))]) {
            $0.cache = .none
            $0.options.inFlight = .join
        }
        let calls = await gated.start(9)
        gated.gate.release()
        #expect(await calls[0].result.failure?.kind == .timeout(.total))
        await gated.events.whenJoined(8 + 7)
        await gated.script.waitForExchanges(count: 1)
        gated.script.release()
        for call in calls.dropFirst() { #expect(try await call.value.id == 1) }
        #expect(gated.script.requests.count == 1)
    }
}

extension APIError.Kind {
    fileprivate var isInvalidParameter: Bool {
        if case .invalidParameter = self { true } else { false }
    }
}
