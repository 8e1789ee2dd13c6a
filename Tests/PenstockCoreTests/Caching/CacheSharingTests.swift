import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Calls that ask for the same at the same time.
@Suite(.timeLimit(.minutes(5))) struct CacheSharingTests {
    private static let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    /// A client whose server plays a script, and its clock.
    private struct Shared: Sendable {
        let script: ScriptedTransport
        let clock = TestClock()
        let events = EventRecorder()
        let store: MemoryCacheStore
        let client: APIClient

        init(_ steps: [ScriptedTransport.Step]) {
            script = ScriptedTransport(steps)
            store = MemoryCacheStore(time: clock.timeSource)
            var configuration = APIClient.Configuration(services: [.shop()])
            configuration.cache = .store(store)
            configuration.time = clock.timeSource
            configuration.options.cache = .http
            configuration.sinks = [events]
            client = APIClient(configuration, transport: script)
        }

        /// Starts a call that asks the server, and others once it does; returns when they wait for it.
        func start(_ count: Int, exchange: Int = 1, _ endpoint: Tea = Tea()) async -> [Call<Product>] {
            let first = client.start(endpoint)
            await script.waitForExchanges(count: exchange)
            let others = (1..<count).map { _ in client.start(endpoint) }
            while !Task.isCancelled, joined < count - 1 { await Task.yield() }
            return [first] + others
        }

        /// How many calls wait for another one's answer, or have.
        var joined: Int {
            events.records.count { record in
                if case .cacheDecided(_, let status) = record.event { status.isCollapsed } else { false }
            }
        }
    }

    @Test("However many wait for the same load, the server is asked once", .covers("S3.37"))
    func load() async throws {
        let shared = Shared([.held(.respond(.tea(1, Self.fields)))])
        let calls = await shared.start(20)
        shared.script.release()
        var collapsed = 0
        for call in calls {
            let response = try await call.response
            #expect(response.value.id == 1)
            if response.cacheStatus?.isCollapsed == true { collapsed += 1 }
        }
        #expect(shared.script.requests.count == 1)
        #expect(collapsed == 19)
        #expect(await shared.store.statistics().entries == 1)
        #expect(shared.events.grammarViolations.isEmpty)
    }

    /// Fields of two calls that are not answered alike.
    static let deciding: [(HeaderEdits, HeaderEdits)] = [
        (["Range": "bytes=0-1"], ["Range": "bytes=2-3"]),
        (["Range": "bytes=0-1", "If-Range": "\"1\""], ["Range": "bytes=0-1", "If-Range": "\"2\""]),
        (["Accept-Encoding": "gzip"], ["Accept-Encoding": "identity"]),
        (["Cache-Control": "max-age=5"], ["Cache-Control": "max-age=9"]),
    ]

    @Test("Calls that differ in what decides on the answer each get their own", .covers("S3.37"), arguments: deciding)
    func differing(first: HeaderEdits, second: HeaderEdits) async throws {
        let shared = Shared([.held(.respond(.tea(1, Self.fields))), .respond(.tea(2, Self.fields))])
        let one = shared.client.start(Tea(), options: .headers(first))
        await shared.script.waitForExchanges(count: 1)
        let other = shared.client.start(Tea(), options: .headers(second))
        while !Task.isCancelled, shared.joined == 0, shared.script.requests.count < 2 { await Task.yield() }
        #expect(shared.joined == 0)
        if shared.joined == 0 { #expect(try await other.value.id == 2) }
        shared.script.release()
        #expect(try await one.value.id == 1)
        #expect(shared.script.requests.count == 2)
    }

    @Test("A reload waits for no answer to another call", .covers("S3.37"))
    func reload() async throws {
        let shared = Shared([
            .respond(.tea(1, Self.fields)), .held(.respond(.notModified)), .respond(.tea(2, Self.fields)),
        ])
        _ = try await shared.client.send(Tea())
        shared.clock.advance(by: .seconds(61))
        let call = shared.client.start(Tea())
        await shared.script.waitForExchanges(count: 2)
        #expect(try await shared.client.send(Tea(), options: .cache(.reload)).id == 2)
        shared.script.release()
        #expect(try await call.value.id == 1)
    }

    @Test("What several calls share is stored with the tags of all", .covers("S3.37"), arguments: ["a", "b", "c"])
    func tags(tag: String) async throws {
        let shared = Shared([.held(.respond(.tea(1, Self.fields)))])
        let first = shared.client.start(Tea(cacheTags: ["a"]))
        await shared.script.waitForExchanges(count: 1)
        let others = [["b"], ["a"], ["c", "a"]].map { shared.client.start(Tea(cacheTags: $0)) }
        while !Task.isCancelled, shared.joined < 3 { await Task.yield() }
        shared.script.release()
        for call in [first] + others { _ = try await call.value }
        #expect(await shared.store.statistics().entries == 1)
        await shared.client.clearCache(.tag(tag))
        #expect(await shared.store.statistics().entries == 0)
    }

    @Test("However many wait for the same validation, the server is asked once", .covers("S3.37"))
    func validation() async throws {
        let shared = Shared([.respond(.tea(1, Self.fields)), .held(.respond(.notModified))])
        _ = try await shared.client.send(Tea())
        shared.clock.advance(by: .seconds(61))
        let calls = await shared.start(20, exchange: 2)
        shared.script.release()
        for call in calls { #expect(try await call.value.id == 1) }
        #expect(shared.script.requests.count == 2)
    }

    @Test("A load whose first caller is cancelled goes on for the others", .covers("S3.37"))
    func cancelledLeader() async throws {
        let shared = Shared([.held(.respond(.tea(1, Self.fields)))])
        let calls = await shared.start(4)
        calls[0].cancel()
        #expect(await failure { try await calls[0].value }?.kind == .cancelled)
        #expect(shared.script.openExchangeCount == 1)
        shared.script.release()
        for call in calls.dropFirst() { #expect(try await call.value.id == 1) }
        #expect(await shared.store.statistics().entries == 1)
        #expect(shared.events.grammarViolations.isEmpty)
    }

    @Test("A load that nobody waits for any more ends", .covers("S3.37"))
    func abandoned() async throws {
        let shared = Shared([.held(.respond(.tea(1, Self.fields))), .respond(.tea(2, Self.fields))])
        let calls = await shared.start(3)
        for call in calls { call.cancel() }
        for call in calls { #expect(await failure { try await call.value }?.kind == .cancelled) }
        while !Task.isCancelled, shared.script.openExchangeCount > 0 { await Task.yield() }
        #expect(try await shared.client.send(Tea()).id == 2)
        #expect(shared.events.grammarViolations.isEmpty)
    }

    @Test("What may not be stored answers the call that asked for it alone", .covers("S3.37"))
    func notStorable() async throws {
        let secret = HTTPFields([HTTPField(name: "Cache-Control", value: "no-store")])
        let shared = Shared([.held(.respond(.tea(1, secret))), .respond(.tea(2, secret)), .respond(.tea(3, secret))])
        let calls = await shared.start(3)
        shared.script.release()
        #expect(try await calls[0].value.id == 1)
        var ids: [Int] = []
        for call in calls.dropFirst() { ids.append(try await call.value.id) }
        #expect(ids.sorted() == [2, 3])
    }

    @Test("What varies by a field answers calls with the same value alone", .covers("S3.37"))
    func varying() async throws {
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
        let shared = Shared([.held(.respond(.tea(1, fields))), .respond(.tea(2, fields))])
        let first = shared.client.start(Tea(), options: .headers(["Accept-Language": "nl"]))
        await shared.script.waitForExchanges(count: 1)
        let second = shared.client.start(Tea(), options: .headers(["Accept-Language": "en"]))
        while !Task.isCancelled, shared.joined < 1 { await Task.yield() }
        shared.script.release()
        #expect(try await first.value.id == 1)
        #expect(try await second.value.id == 2)
    }

    @Test("A 304 answers calls alone that agree in what the stored response varies by", .covers("S3.37"))
    func varyingValidation() async throws {
        let fields: HTTPFields = [
            "Cache-Control": "max-age=60", "Vary": "Accept-Language", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        let unchanged = HTTPResponse(status: 304, fields: ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"])
        let shared = Shared([
            .respond(.tea(1, fields)), .respond(.tea(2, fields)), .held(.respond(unchanged)), .respond(.tea(3, fields)),
        ])
        let (dutch, english) = (
            CallOptions.headers(["Accept-Language": "nl"]), CallOptions.headers(["Accept-Language": "en"])
        )
        _ = try await shared.client.send(Tea(), options: dutch)
        _ = try await shared.client.send(Tea(), options: english)
        shared.clock.advance(by: .seconds(61))
        let first = shared.client.start(Tea(), options: dutch)
        await shared.script.waitForExchanges(count: 3)
        let second = shared.client.start(Tea(), options: english)
        while !Task.isCancelled, shared.joined < 1 { await Task.yield() }
        shared.script.release()
        #expect(try await first.value.id == 1)
        #expect(try await second.value.id == 3)
    }
}
