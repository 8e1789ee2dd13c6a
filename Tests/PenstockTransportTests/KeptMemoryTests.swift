#if os(Linux)
    import CHeap
    import Foundation
    import PenstockCore
    import PenstockCurl
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// No call leaves an object behind, whatever form it had and however it ended.
    ///
    /// The leak sanitizer does not see memory that Swift manages, so objects that hold each other would go unnoticed
    /// there. Here the bytes of the heap are counted: one object kept by each call would be more than is allowed.
    @Suite(.timeLimit(.minutes(5)))
    struct KeptMemoryOwnProcessTests {
        /// Calls of each form in a round.
        private static let calls = 300
        /// Bytes for each of them. The smallest object there is takes 32, and a call has dozens.
        private static let allowed = 16
        /// Longer than a refresh takes that is made of nothing.
        private static let refreshTimeout = Duration.seconds(1)

        @Test(
            "Whatever the form of a call, nothing of it is kept: no object, no task", .serialized, .covers("H13"),
            arguments: Form.complete)
        func nothingIsKept(form: Form) async throws {
            await #expect(processExitsWith: .success) { [form] in
                try await Self.compare(form)
            }
        }

        @Test(
            "Whatever the end of a call, nothing of it is kept either, nor of what it comes by", .serialized,
            .covers("H13"), arguments: Form.allCases.filter { !Form.complete.contains($0) })
        func nothingIsKeptOfTheRest(form: Form) async throws {
            await #expect(processExitsWith: .success) { [form] in
                try await Self.compare(form)
            }
        }

        /// Whoever breaks this test's own rule: an object that holds itself is more than is allowed.
        @Test("The count sees one small object for each call")
        func seesCycles() async throws {
            await #expect(processExitsWith: .success) {
                let before = Self.heap
                for _ in 0..<Self.calls {
                    let cycle = Cycle()
                    cycle.other = cycle
                }
                #expect(Self.heap - before > Self.calls * Self.allowed)
            }
        }

        private final class Cycle {
            var other: Cycle?
        }

        private static func compare(_ form: Form) async throws {
            var configuration = LoopbackServer.Configuration()
            configuration.recordedRequests = 0
            let failures = Locked(0)
            let server = try LoopbackServer(configuration) { request in
                answer(request) {
                    failures.withLock { failures in
                        failures += 1
                        return !failures.isMultiple(of: 2)
                    }
                }
            }
            defer { server.stop() }
            let client = client(of: server)
            // What is made once, and what tables and pools of memory grow to, comes in leaps. What calls keep comes in
            // every round, so that the least growth of several tells. On a busy machine they settle late.
            try await round(form, client, server)
            var least = Int.max
            for _ in 0..<120 where least > calls * allowed {
                let before = heap
                try await round(form, client, server)
                least = min(least, heap - before)
            }
            #expect(least <= calls * allowed, "\(form): \(least) bytes for \(calls) calls")
            await client.transport.shutdown()
        }

        /// - Parameter isFailing: whether a server that fails every other time does so now.
        private static func answer(
            _ request: LoopbackServer.Request, _ isFailing: () -> Bool
        ) -> LoopbackServer.Response {
            switch request.path {
            case "/held": .hold
            case "/held-in-head": .raw(Data("HTTP/1.1 200 OK\r\nContent-Le".utf8), ending: .hold)
            case "/held-in-content": .short(Data("hel".utf8), declared: 5, ending: .hold)
            case "/fresh": .text("fresh", fields: ["Cache-Control": "max-age=10000"])
            case "/stale" where request.fields["If-None-Match"] == "\"a\"":
                .text("", status: 304, fields: ["Cache-Control": "no-cache", "ETag": "\"a\""])
            case "/stale": .text("stale", fields: ["Cache-Control": "no-cache", "ETag": "\"a\""])
            case "/flaky" where isFailing(): .text("", status: 503)
            case "/members" where request.fields[.authorization] != "Bearer new": .text("", status: 401)
            case "/socket": .webSocket(request, serve: { $0.echo() })
            default: .json(#"{"id":1}"#)
            }
        }

        private static func client(of server: LoopbackServer) -> APIClient {
            var configuration = APIClient.Configuration(
                services: [Service(.main, [.development: server.url.absoluteString]), members(of: server)],
                build: .debug)
            configuration.vault = MemoryVault()
            configuration.cache = .store(MemoryCacheStore())
            configuration.retryBudget = .unlimited
            configuration.circuitBreaker = nil
            configuration.options.cleartext = .loopback
            configuration.options.cache = .networkOnly
            return APIClient(
                configuration, transport: CurlTransport(configuration: .init(maxConnectionsPerHost: 8)))
        }

        /// What each call to it is refused at first, and gets with the token that is renewed.
        private static func members(of server: LoopbackServer) -> Service {
            var service = Service("members", [.development: server.url.absoluteString])
            service.authenticator = BearerAuthenticator(policy: RefreshPolicy(timeout: refreshTimeout)) { _, _ in
                Credential("new", refreshToken: "r", expiresIn: .seconds(3_600), obtained: Date())
            }
            return service
        }

        private static func round(_ form: Form, _ client: APIClient, _ server: LoopbackServer) async throws {
            for _ in 0..<calls { try await form.call(client, server) }
            // Swift keeps the wake-up of a sleep that was cancelled until it would have ended.
            try await Task.sleep(for: form == .refreshed ? refreshTimeout * 1.2 : .milliseconds(100))
            if form.leavesConnections { try await server.waitForOpenConnections(atMost: 1) }
        }

        /// Bytes that are allocated.
        private static var heap: Int {
            malloc_trim(0)
            return Int(mallinfo2().uordblks)
        }
    }

    /// The ways in which a call is made and ends.
    enum Form: String, CaseIterable, Codable, Sendable {
        case sent, failed, started, delegated, updates, cachedThenNetwork, streamed, streamLeft, raw, cancelled,
            scopeEnded
        case stalledBeforeHead, stalledInHead, stalledInContent
        case derivedClient
        case cacheHit, notModified, joined, refreshed, retried, intercepted, downloaded, webSocket

        /// Calls that come to their end. With the others they are two halves, which take turns on two processors.
        static let complete: [Form] = [
            .sent, .failed, .started, .delegated, .updates, .cachedThenNetwork, .streamed, .streamLeft, .raw,
            .derivedClient, .cacheHit, .notModified,
        ]

        /// Whether each call closes its connection, which the server hears of later.
        var leavesConnections: Bool {
            switch self {
            case .cancelled, .scopeEnded, .stalledBeforeHead, .stalledInHead, .stalledInContent: true
            default: false
            }
        }

        /// A time that a server exceeds that stands still.
        private static let moment = Duration.milliseconds(1)

        func call(_ client: APIClient, _ server: LoopbackServer) async throws {
            switch self {
            case .sent: _ = try await client.send(Page())
            case .failed: _ = await client.failure(Page(), options: .with { $0.status = .codes(999..<1_000) })
            case .started: _ = await client.start(Page()) { _ in }.result
            case .delegated:
                let page = PageDelegate()
                _ = await client.start(Page(), delegate: page).result
            case .updates: for try await _ in client.updates(of: Page()) {}
            case .cachedThenNetwork: for try await _ in client.responses(to: Page()) {}
            case .streamed: _ = try await client.stream(Page()).collect()
            case .streamLeft: _ = try await client.stream(Page())
            case .raw:
                _ = try await client.send(HTTPRequest(method: .get, url: server.url.resolving("/page")))
            case .cancelled:
                let call = client.start(Page("/held"))
                call.cancel()
                _ = await call.result
            case .scopeEnded:
                let call = client.start(Page("/held"), in: CallScope())
                _ = await call.result
            case .stalledBeforeHead:
                _ = await client.failure(Page("/held"), options: .with { $0.timeouts.firstByte = Self.moment })
            case .stalledInHead:
                _ = await client.failure(Page("/held-in-head"), options: .with { $0.timeouts.idle = Self.moment })
            case .stalledInContent:
                _ = await client.failure(Page("/held-in-content"), options: .with { $0.timeouts.idle = Self.moment })
            case .cacheHit: _ = try await client.send(Page("/fresh"), options: .cache(.http))
            case .notModified: _ = try await client.send(Page("/stale"), options: .cache(.http))
            case .joined:
                async let one = client.send(Page(), options: .inFlight(.join))
                async let other = client.send(Page(), options: .inFlight(.join))
                _ = try await (one, other)
            case .refreshed:
                try await client.signIn(Credential("old", refreshToken: "r"), to: "members")
                _ = try await client.send(Members())
            case .retried:
                let policy = RetryPolicy(limit: 1, backoff: .init(base: .zero))
                _ = try await client.send(Page("/flaky"), options: .retry(policy))
            case .intercepted:
                let intercepted = client.with {
                    $0.callInterceptors = [Passing()]
                    $0.attemptInterceptors = [Passing()]
                }
                _ = try await intercepted.send(Page())
            case .downloaded:
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(getpid())")
                _ = try await client.download(Page(), to: .file(file)).value
                try FileManager.default.removeItem(at: file)
            case .webSocket:
                let socket = client.webSocket("/socket")
                try await socket.open()
                var messages = socket.messages.makeAsyncIterator()
                try await socket.send(.text("hello"))
                _ = try await messages.next()
                await socket.close()
            case .derivedClient: _ = try await client.with { $0.options.timeouts.idle = .seconds(9) }.send(Page())
            }
        }
    }

    @MainActor private final class PageDelegate: CallDelegate {
        func call(_ id: CallID, didFinishWith result: Result<Data, APIError>) {}
    }

    private struct Members: Endpoint {
        typealias Output = Data
        var service: ServiceID { "members" }
        var route: Route { .get("/members") }
    }

    private struct Passing: Interceptor {
        func intercept(_ request: HTTPRequest, call: CallContext, next: Next) async throws -> Exchange {
            try await next(request)
        }
    }
#endif
