import Foundation
import PenstockCore
import PenstockCurl
import PenstockSQLite
import PenstockTestSupport
import PenstockTesting
import Testing

/// What a private HTTP cache does, as a caller and a server on the other end of a socket see it (RFC 9111, 9110, 5861,
/// 8246), with the store in memory and with the one on disk.
@Suite(.timeLimit(.minutes(5)), .covers("X6"))
struct CacheOnTheWireTests {
    /// A group or a case that is left out is a change that is seen here.
    @Test func `Each group has so many cases`() {
        #expect(
            CacheCase.groups.map { "\($0.0): \($0.1.count)" } == [
                "freshness: 27", "malformed: 36", "response directives: 16", "request directives: 11", "stale: 10",
                "statuses: 36", "methods: 21", "variants: 16", "validation: 15", "fields: 5", "parts: 10",
            ])
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.freshness)
    func `A response is reused for its lifetime, less its age`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.malformed)
    func `A value that is malformed gives nothing`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.responseDirectives)
    func `The directives of a response bind the cache`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.requestDirectives)
    func `The directives of a request bind the cache`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.stale)
    func `A stale answer is given only where it may be`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.statuses)
    func `A status says whether its response is reused`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.methods)
    func `A method says what it brings and what it invalidates`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.variants)
    func `A variant answers the requests it was chosen for`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.validation)
    func `What can be validated is not loaded again`(store: StoreUnderTest, each: CacheCase) async throws {
        try await each.run(store)
    }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.fields)
    func `Fields come back as they came, but those of the connection`(store: StoreUnderTest, each: CacheCase)
        async throws
    { try await each.run(store) }

    @Test(arguments: StoreUnderTest.allCases, CacheCase.parts)
    func `A part answers for what lies within it, and parts are joined where that is safe`(
        store: StoreUnderTest, each: CacheCase
    ) async throws { try await each.run(store) }
}

enum StoreUnderTest: String, CaseIterable, Sendable {
    case memory, disk

    /// - Parameter folder: where a store on disk has its file.
    func make(_ folder: URL, _ clock: TestClock) -> any CacheStore {
        switch self {
        case .memory: MemoryCacheStore(time: clock.timeSource)
        case .disk:
            TieredCacheStore(
                over: SQLiteCacheStore(
                    .init(file: folder.appendingPathComponent("http.sqlite"), time: clock.timeSource)),
                time: clock.timeSource)
        }
    }
}

extension CacheCase {
    /// Plays the server's part and the caller's, and looks at what both of them see.
    func run(_ kind: StoreUnderTest) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = TestClock()
        let store = kind.make(folder, clock)
        let answer = Locked(CacheStep.Answer.drop)
        let server = try LoopbackServer { request in
            answer.withLock { $0 }.response(to: request.number)
        }
        defer { server.stop() }
        var configuration = APIClient.Configuration(services: [])
        configuration.cache = .store(store)
        // One user, whatever the requests carry.
        configuration.identity = { "one" }
        configuration.time = clock.timeSource
        configuration.options.cache = .http
        // The server is told what each request of the caller's meets, and the clock is moved by the case alone.
        configuration.options.retry = RetryPolicy.none
        configuration.circuitBreaker = nil
        configuration.options.cleartext = .loopback
        let client = APIClient(configuration, transport: CurlTransport())
        for (index, step) in steps.enumerated() {
            clock.advance(by: .seconds(step.pause))
            answer.withLock { $0 = step.answer }
            try await step.perform(client, server, "\(rule), step \(index + 1)")
        }
        await client.transport.shutdown()
        await store.close()
    }
}

extension CacheStep {
    fileprivate func perform(_ client: APIClient, _ server: LoopbackServer, _ place: String) async throws {
        let before = server.requestCount
        let url = try server.url.resolving(path)
        let options = CallOptions.with { $0.redirects = .never }
        let request = HTTPRequest(method: method, url: url, fields: fields)
        let response = try? await client.send(request, options: options).http
        await client.untilIdle()
        switch self.server {
        case .silent: #expect(server.requestCount == before, "asked: \(place)")
        case .asked(let wanted, let unwanted):
            // A dropped connection may have been one that was kept: the request then goes once more.
            #expect(answer.isDrop ? server.requestCount > before : server.requestCount == before + 1, "asked: \(place)")
            let request = try #require(server.requests.last)
            #expect(request.method == method, "\(place)")
            try expect(request.fields, to: wanted, without: unwanted.filter { !fields.contains($0) }, place)
        }
        guard !fails else {
            #expect(response == nil, "answered: \(place)")
            return
        }
        try expect(try #require(response, "failed: \(place)"), of: server.requestCount, place)
    }

    private func expect(_ response: HTTPResponse, of number: Int, _ place: String) throws {
        #expect(response.status == status ?? answer.status, "\(place)")
        if method != .head, response.status != 304, response.status != 204 {
            #expect(String(decoding: response.body, as: UTF8.self) == body ?? answer.body ?? "\(number)", "\(place)")
        }
        try expect(response.fields, to: gets, without: lacks, place)
    }

    private func expect(
        _ fields: HTTPFields, to wanted: HTTPFields, without unwanted: [HTTPFieldName], _ place: String
    ) throws {
        for field in wanted { #expect(fields.combined(field.name) == field.value, "\(field.name): \(place)") }
        for name in unwanted { #expect(fields[name] == nil, "\(name): \(place)") }
    }
}

extension CacheStep.Answer {
    fileprivate var isDrop: Bool { if case .drop = self { true } else { false } }
    fileprivate var status: Int? { if case .reply(let status, _, _) = self { status } else { nil } }
    fileprivate var body: String? { if case .reply(_, _, let body) = self { body } else { nil } }

    fileprivate func response(to number: Int) -> LoopbackServer.Response {
        switch self {
        case .drop: return .close
        case .reply(let status, let fields, let body):
            return .init(status: status, fields: fields, body: Data((body ?? String(number)).utf8))
        }
    }
}

extension APIClient {
    /// Returns when no call is under way.
    fileprivate func untilIdle() async {
        while !Task.isCancelled, callCount > 0 { await Task.yield() }
    }
}
