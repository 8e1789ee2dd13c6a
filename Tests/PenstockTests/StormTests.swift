#if os(Linux)
    import Foundation
    import Penstock
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Calls of every form at random, ended in every way at every moment, against servers that are well and servers that
    /// are not.
    ///
    /// The test has a process of its own, so that the descriptors and threads it counts are nobody else's. By default it
    /// makes 2,000 calls; with `PENSTOCK_SOAK=full` it makes 100,000. What is done follows from a seed, which is printed,
    /// and can be given as `PENSTOCK_SEED`.
    @Suite(.serialized, .timeLimit(.minutes(Storm.isFull ? 60 : 5)))
    struct StormTests {
        @Test(
            "Whatever the app does with its calls, a server that is well answers each rightly, and nothing is left",
            .covers("S1.8"))
        func storm() async throws {
            print("storm: seed \(Storm.seed)")
            setenv(Storm.seedVariable, "\(Storm.seed)", 1)
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await Storm(count: Storm.isFull ? 100_000 : 2_000).measure()
            }
            guard Storm.isFull, let result else { return }
            print(String(decoding: result.standardErrorContent, as: UTF8.self), terminator: "")
        }
    }

    /// The storm, run in a process of its own.
    private struct Storm {
        static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"
        static let seedVariable = "PENSTOCK_SEED"
        static let seed =
            ProcessInfo.processInfo.environment[seedVariable].flatMap(UInt64.init) ?? .random(in: 1...1_000_000)
        private static let workers = 40

        let count: Int

        func measure() async throws {
            try await run(400, seed: Self.seed &+ 1)
            let before = ProcessInventory()
            let begin = ContinuousClock.now
            let tally = try await run(count, seed: Self.seed)
            let taken = begin.duration(to: .now)
            let after = await ProcessInventory.settled(at: before)
            #expect(after.descriptors == before.descriptors, "before: \(before); after: \(after)")
            #expect(after.threads <= before.threads, "before: \(before); after: \(after)")
            let ends = tally.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            let text = "storm: seed \(Self.seed): \(count) calls in \(taken): \(ends)\n"
            FileHandle.standardError.write(Data(text.utf8))
        }

        /// One life of the servers.
        @discardableResult
        private func run(_ count: Int, seed: UInt64) async throws -> [String: Int] {
            let servers = try StormServers()
            let mortal = try MortalServer()
            let dying = Task { try await mortal.dieAgainAndAgain() }
            let tally = try await withThrowingTaskGroup(of: [String: Int].self) { group in
                for worker in 0..<Self.workers {
                    group.addTask {
                        var sailor = Sailor(servers, mortal, seed: seed &* 1_000 &+ UInt64(worker))
                        return try await sailor.sail(count / Self.workers)
                    }
                }
                return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            dying.cancel()
            _ = await dying.result
            mortal.stop()
            for server in servers.all {
                try await server.waitForOpenConnections(atMost: 0)
                server.stop()
            }
            return tally
        }
    }

    /// A server for each kind of weather. Each answers with what was asked for, if it answers at all.
    private struct StormServers: Sendable {
        let authority: TestCertificateAuthority
        let good: LoopbackServer
        let goodHTTP2: LoopbackServer
        let slow: LoopbackServer
        let dripping: LoopbackServer
        let resetting: LoopbackServer

        var all: [LoopbackServer] { [good, goodHTTP2, slow, dripping, resetting] }

        init() throws {
            authority = try TestCertificateAuthority()
            var secure = Self.plain
            secure.tls = .init(try authority.issue(), protocols: [.http2, .http1])
            good = try LoopbackServer(Self.plain) { Self.answer($0) }
            goodHTTP2 = try LoopbackServer(secure) { Self.answer($0) }
            slow = try LoopbackServer(Self.plain) { Self.answer($0).delayed(by: .milliseconds(20)) }
            dripping = try LoopbackServer(Self.plain) { Self.answer($0).throttled(to: 40, per: .milliseconds(2)) }
            resetting = try LoopbackServer(Self.plain) { request in
                switch request.number % 4 {
                case 0: Self.answer(request)
                case 1: Self.answer(request).fault(.reset, at: .responseBody(after: 10))
                case 2: Self.answer(request).fault(.close, at: .responseStart)
                default: Self.answer(request).fault(.reset, at: .responseEnd)
                }
            }
        }

        static var plain: LoopbackServer.Configuration {
            var configuration = LoopbackServer.Configuration()
            configuration.recordedRequests = 0
            return configuration
        }

        static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
            let id = request.path.dropFirst("/items/".count)
            return .json(#"{"retcode":0,"data":{"id":\#(id),"text":"\#(String(repeating: "x", count: 200))"}}"#)
        }
    }

    /// A server that goes away in the middle of everything, and comes back elsewhere.
    private final class MortalServer: Sendable {
        private let server: Locked<LoopbackServer>

        init() throws {
            let begun = try Self.begin()
            server = Locked(begun)
        }

        var url: HTTPURL { server.withLock(\.url) }

        private static func begin() throws -> LoopbackServer {
            try LoopbackServer(StormServers.plain) { StormServers.answer($0).delayed(by: .milliseconds(3)) }
        }

        func dieAgainAndAgain() async throws {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(50))
                let next = try Self.begin()
                let last = server.withLock { server in
                    defer { server = next }
                    return server
                }
                last.stop()
            }
        }

        func stop() {
            server.withLock { $0 }.stop()
        }
    }

    private struct StormItem: Decodable, Sendable {
        let id: Int
        let text: String
    }

    private struct GetStormItem: Endpoint {
        let id: Int
        let service: ServiceID
        var route: Route { .get("/items/\(id)") }
        typealias Output = StormItem
    }

    /// What one closure has heard. Of the main actor, as the closure and whoever ends the call are.
    @MainActor
    private final class Logbook {
        var results: [Result<Int, APIError>] = []
        /// Whether the call was told to end, or its owner went, before a result came.
        var isEnded = false
        /// Whether a result came afterwards that is not its cancellation.
        var heardTooMuch = false

        nonisolated init() {}

        func note(_ result: Result<StormItem, APIError>) {
            if isEnded, (try? result.get()) != nil { heardTooMuch = true }
            results.append(result.map(\.id))
        }
    }

    /// One worker: a client after another, and with each some calls of random forms.
    private struct Sailor {
        private let servers: StormServers
        private let mortal: MortalServer
        private var random: Seeded
        private var tally: [String: Int] = [:]
        private var number = 0

        init(_ servers: StormServers, _ mortal: MortalServer, seed: UInt64) {
            (self.servers, self.mortal) = (servers, mortal)
            random = Seeded(seed: seed)
        }

        mutating func sail(_ count: Int) async throws -> [String: Int] {
            while number < count {
                let client = try makeClient()
                for _ in 0..<Int.random(in: 1...60, using: &random) where number < count {
                    number += 1
                    try await call(client, number)
                }
                #expect(client.callCount == 0)
                number += try await end(client)
            }
            return tally
        }

        // MARK: The end of a client

        /// How a client ends while calls are under way.
        private enum ClientEnd: CaseIterable { case cancelled, letGo, shutDown }

        /// Starts handles, tasks and streams, ends the client at some moment of them, and waits for all to end: each rightly, or told
        /// that it was ended, which nobody is whose client was only let go of.
        ///
        /// - Returns: how many calls that were.
        private mutating func end(_ client: consuming APIClient) async throws -> Int {
            let end = ClientEnd.allCases.randomElement(using: &random) ?? .cancelled
            let pause = Duration.microseconds(Int.random(in: 0...8_000, using: &random))
            var calls: [(id: Int, isWell: Bool, result: Task<Result<Int, APIError>, Never>)] = []
            for id in number + 1...number + Int.random(in: 1...6, using: &random) {
                let kind = Int.random(in: 0..<10, using: &random)
                let endpoint = GetStormItem(id: id, service: ServiceID("\(kind)"))
                calls.append((id, url(kind).isWell, begin(endpoint, client)))
            }
            try? await Task.sleep(for: pause)
            switch end {
            case .cancelled:
                client.cancelAll()
                await collect(calls, "cancelled with all", mayEnd: true)
                #expect(client.callCount == 0, "seed \(Storm.seed)")
                _ = try await client.send(GetStormItem(id: 0, service: ServiceID("0")))
                await client.transport.shutdown()
            case .shutDown:
                await client.transport.shutdown()
                await collect(calls, "shut down", mayEnd: true)
                #expect(client.callCount == 0, "seed \(Storm.seed)")
                await #expect(throws: APIError.self) {
                    try await client.send(GetStormItem(id: 0, service: ServiceID("0")))
                }
            case .letGo:
                _ = consume client
                await collect(calls, "client let go of", mayEnd: false)
            }
            return calls.count
        }

        private mutating func begin(
            _ endpoint: GetStormItem, _ client: APIClient
        ) -> Task<Result<Int, APIError>, Never> {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let call = client.start(endpoint)
                return Task { await call.result.map(\.value.id) }
            case 1:
                return Task { await Self.outcome { () async throws(APIError) in try await client.send(endpoint) } }
            default:
                return Task {
                    await Self.outcome { () async throws(APIError) in
                        let data = try await client.stream(endpoint).collect()
                        let isRight = data.starts(with: Data(#"{"retcode":0,"data":{"id":\#(endpoint.id),"#.utf8))
                        return StormItem(id: isRight ? endpoint.id : -1, text: "")
                    }
                }
            }
        }

        private mutating func collect(
            _ calls: [(id: Int, isWell: Bool, result: Task<Result<Int, APIError>, Never>)], _ form: String, mayEnd: Bool
        ) async {
            for call in calls { note(form, await call.result.value, call.id, call.isWell, mayEnd: mayEnd) }
        }

        private func url(_ kind: Int) -> (HTTPURL, isWell: Bool) {
            switch kind {
            case 0...3: (servers.good.url, true)
            case 4, 5: (servers.goodHTTP2.url, true)
            case 6: (servers.slow.url, true)
            case 7: (servers.dripping.url, true)
            case 8: (servers.resetting.url, false)
            default: (mortal.url, false)
            }
        }

        private func makeClient() throws -> APIClient {
            var services: [Service] = []
            for kind in 0..<10 {
                services.append(
                    Service(
                        ServiceID("\(kind)"), BaseURLs { [self] _ in url(kind).0.absoluteString }, envelope: .retcode))
            }
            var configuration = APIClient.Configuration(services: services)
            configuration.options.cleartext = .loopback
            configuration.options.trust = .init(anchors: .file(servers.authority.file))
            configuration.options.retry = RetryPolicy.none
            configuration.circuitBreaker = nil
            configuration.cache = .none
            return APIClient(configuration)
        }

        // MARK: One call

        private mutating func call(_ client: APIClient, _ id: Int) async throws {
            let kind = Int.random(in: 0..<10, using: &random)
            let isWell = url(kind).isWell
            let endpoint = GetStormItem(id: id, service: ServiceID("\(kind)"))
            let pause = Duration.microseconds(Int.random(in: 0...8_000, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                note(
                    "sent", await Self.outcome { () async throws(APIError) in try await client.send(endpoint) }, id,
                    isWell, mayEnd: false)
            case 1: await cancelledTask(client, endpoint, id, isWell, pause)
            case 2: await closure(client, endpoint, id, isWell) { _, _ in }
            case 3:
                await closure(client, endpoint, id, isWell, isEnding: true) { call, _ in
                    try? await Task.sleep(for: pause)
                    await MainActor.run { call.cancel() }
                }
            case 4:
                await closure(client, endpoint, id, isWell) { call, _ in
                    for _ in 0..<3 {
                        call.suspend()
                        try? await Task.sleep(for: pause / 4)
                        call.resume()
                        await Task.yield()
                    }
                }
            case 5:
                await closure(client, endpoint, id, isWell, isEnding: true) { call, client in
                    try? await Task.sleep(for: pause)
                    client.cancel(call.id)
                }
            case 6: await scope(client, endpoint, id, isWell, pause)
            default: await stream(client, endpoint, id, isWell, pause)
            }
        }

        private static func outcome(
            _ body: () async throws(APIError) -> StormItem
        ) async -> Result<Int, APIError> {
            do throws(APIError) { return .success(try await body().id) } catch { return .failure(error) }
        }

        private mutating func note(
            _ form: String, _ result: Result<Int, APIError>, _ id: Int, _ isWell: Bool, mayEnd: Bool
        ) {
            switch result {
            case .success(let value):
                #expect(value == id, "seed \(Storm.seed)")
                tally["\(form)", default: 0] += 1
            case .failure(let error):
                if isWell, !(mayEnd && error.kind == .cancelled) {
                    Issue.record("seed \(Storm.seed), \(form): \(error)")
                }
                tally[error.kind == .cancelled ? "\(form) and ended" : "\(form) in vain", default: 0] += 1
            }
        }

        private mutating func cancelledTask(
            _ client: APIClient, _ endpoint: GetStormItem, _ id: Int, _ isWell: Bool, _ pause: Duration
        ) async {
            let task = Task { await Self.outcome { () async throws(APIError) in try await client.send(endpoint) } }
            try? await Task.sleep(for: pause)
            task.cancel()
            note("task", await task.value, id, isWell, mayEnd: true)
        }

        /// A call that tells a closure, while something is done with it.
        private mutating func closure(
            _ client: APIClient, _ endpoint: GetStormItem, _ id: Int, _ isWell: Bool, isEnding: Bool = false,
            _ handle: (Call<StormItem>, APIClient) async -> Void
        ) async {
            let book = Logbook()
            let call = client.start(endpoint) { book.note($0) }
            async let updates: Int = Self.follow(call)
            await handle(call, client)
            let result = await call.result.map(\.value.id)
            _ = await updates
            // What the closure hears is on its way to the main actor.
            for _ in 0..<10_000 where await book.results.isEmpty { await Task.yield() }
            #expect(await book.results.count == 1, "seed \(Storm.seed)")
            note("closure", result, id, isWell, mayEnd: isEnding)
        }

        private static func follow(_ call: Call<StormItem>) async -> Int {
            var count = 0
            do { for try await _ in call.updates { count += 1 } } catch { count = -1 }
            return count
        }

        /// A call whose owner goes.
        private mutating func scope(
            _ client: APIClient, _ endpoint: GetStormItem, _ id: Int, _ isWell: Bool, _ pause: Duration
        ) async {
            let book = Logbook()
            let owner = Locked<CallScope?>(CallScope())
            let call = client.start(endpoint, in: owner.withLock { $0 }) { book.note($0) }
            try? await Task.sleep(for: pause)
            await MainActor.run {
                owner.withLock { $0 = nil }
                book.isEnded = true
            }
            let result = await call.result.map(\.value.id)
            #expect(await book.results.count <= 1, "seed \(Storm.seed)")
            #expect(await !book.heardTooMuch, "seed \(Storm.seed)")
            note("owned", result, id, isWell, mayEnd: true)
        }

        /// Bytes as they come: read to the end, in part, or let go of.
        private mutating func stream(
            _ client: APIClient, _ endpoint: GetStormItem, _ id: Int, _ isWell: Bool, _ pause: Duration
        ) async {
            let reads = Int.random(in: 0...4, using: &random)
            do throws(APIError) {
                let response = try await client.stream(endpoint)
                guard reads > 1 else {
                    if reads == 0 { response.cancel() }
                    tally["streamed and let go of", default: 0] += 1
                    return
                }
                if reads == 2 { try? await Task.sleep(for: pause / 4) }
                let data = try await response.collect()
                let isRight = data.starts(with: Data(#"{"retcode":0,"data":{"id":\#(id),"#.utf8))
                #expect(isRight, "seed \(Storm.seed)")
                tally["streamed", default: 0] += 1
            } catch {
                if isWell { Issue.record("seed \(Storm.seed), stream: \(error)") }
                tally["streamed in vain", default: 0] += 1
            }
        }
    }
#endif
