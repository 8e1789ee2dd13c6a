import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// The policies, on calls.
@Suite(.timeLimit(.minutes(5))) struct CachePolicyCallTests {
    @Test("What is fresh is the answer, and nothing is sent", .covers("S3.10", "S3.37", "S4.14"))
    func fresh() async throws {
        let rig = CacheRig()
        #expect(try await rig.tea().source == .network)
        rig.pass(59)
        let second = try await rig.tea()
        #expect(second.value.id == 1)
        #expect(second.source == .memory)
        #expect(second.age == .seconds(59))
        #expect(second.http.fields["Age"] == "59")
        #expect(!second.isStale)
        #expect(second.cacheStatus?.description == "Penstock; hit; ttl=1; detail=fresh")
        #expect(rig.hits == 1)
    }

    @Test("A lifetime of the app's is kept to the second, whatever the server says", .covers("S2.8"))
    func lifetime() async throws {
        let policy = CachePolicy(.http, ttl: .seconds(300))
        let rig = CacheRig(policy) { _ in .tea(1, ["Cache-Control": "no-cache"]) }
        _ = try await rig.tea()
        rig.pass(299)
        #expect(try await rig.tea().source == .memory)
        rig.pass(2)
        #expect(try await rig.tea().source == .network)
        #expect(rig.hits == 2)
    }

    @Test(
        "A lifetime of zero or less turns the cache off", .covers("S2.8"), arguments: [0, -5],
        [CachePolicy.Mode.http, .networkElseCache, .cacheThenNetwork])
    func off(seconds: Int, mode: CachePolicy.Mode) async throws {
        let rig = CacheRig(CachePolicy(mode, ttl: .seconds(seconds)))
        for _ in 1...2 { #expect(try await rig.responses() == ["1 network"]) }
        #expect(try await rig.tea().source == .network)
        #expect(rig.hits == 3)
        #expect(await rig.store.statistics().entries == 0)
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
    }

    @Test("The policy is networkElseCache unless something else is set", .covers("S2.8", "S2.11"))
    func standard() async throws {
        let rig = CacheRig(nil)
        _ = try await rig.tea()
        _ = try await rig.tea()
        #expect(rig.hits == 2)
        rig.isOffline()
        #expect(try await rig.tea().value.id == 1)
    }

    @Test("cacheOnly reads and never loads; a miss throws", .covers("S2.9"))
    func cacheOnly() async throws {
        let rig = CacheRig()
        let miss = await failure { try await rig.tea(.cacheOnly) }
        #expect(miss?.kind == .cacheMiss)
        #expect(miss?.stage == .cache)
        #expect(rig.hits == 0)
        _ = try await rig.tea(.http)
        #expect(try await rig.tea(.cacheOnly).source == .memory)
        rig.pass(61)
        #expect(await failure { try await rig.tea(.cacheOnly) }?.kind == .cacheMiss)
        let old = try await rig.tea(CachePolicy(.cacheOnly, maxStale: .seconds(10)))
        #expect(old.isStale)
        #expect(rig.hits == 1)
    }

    @Test("networkElseCache loads, and reads what is stored when the load fails", .covers("S2.11", "S3.11"))
    func networkElseCache() async throws {
        let rig = CacheRig(CachePolicy(.networkElseCache, maxStale: .seconds(1_000)))
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
        rig.serves(.tea(1))
        _ = try await rig.tea()
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 2)
        rig.isOffline()
        rig.pass(1_059)
        let stale = try await rig.tea()
        #expect(stale.value.id == 2)
        #expect(stale.isStale)
        #expect(stale.cacheStatus?.reason == .disconnected)
        rig.pass(2)
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
    }

    @Test(
        "A server error that a call takes for a success is its answer, and what is stored stays for others",
        .covers("S2.11"), arguments: [500, 503, 555])
    func accepted(status: Int) async throws {
        let rig = CacheRig(nil)
        let first = try await rig.client.send(Leaves())
        rig.serves { _ in HTTPResponse(status: status, body: Data("own".utf8)) }
        for rule in [StatusRule.any, .codes(200..<300, status..<status + 1)] {
            let options = CallOptions.with { $0.status = rule }
            let answer = try await rig.client.response(for: Leaves(), options: options)
            #expect(answer.http.status == status && answer.value == Data("own".utf8) && !answer.isStale)
        }
        let stored = try await rig.client.response(for: Leaves())
        #expect(stored.value == first && stored.source == .memory)
    }

    @Test("What steps in says that the server was asked", .covers("S3.37"))
    func steppedIn() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.pass(61)
        rig.isOffline()
        #expect(try await rig.tea().cacheStatus?.description == "Penstock; fwd=stale; detail=disconnected")
    }

    @Test(
        "What the server refuses is not given from the store any more without asking", .covers("S2.11", "S3.37"),
        arguments: [403, 404, 410])
    func refused(status: Int) async throws {
        let rig = CacheRig(nil)
        _ = try await rig.tea()
        rig.serves(HTTPResponse(status: status))
        #expect(await failure { try await rig.tea() }?.kind == .httpStatus(status))
        #expect(await failure { try await rig.tea(.http) }?.kind == .httpStatus(status))
        #expect(rig.hits == 3)
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
        // What comes of it later is stored and given as ever.
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 2)
        #expect(try await rig.tea(.http).source == .memory)
    }

    @Test("networkOnly leaves what it writes to be asked about, and obeys only-if-cached", .covers("S2.11", "S3.37"))
    func networkOnlyObligations() async throws {
        let rig = CacheRig()
        let url = try HTTPURL("https://a.example/x")
        let read = HTTPRequest(method: .get, url: url)
        _ = try await rig.client.send(read)
        #expect(try await rig.client.send(read).source == .memory)
        let write = HTTPRequest(method: .post, url: url, body: .bytes(Data("x".utf8)))
        _ = try await rig.client.send(write, options: .cache(.networkOnly))
        #expect(try await rig.client.send(read).source == .network)
        let reads = rig.hits
        let bound = HTTPRequest(method: .get, url: url, fields: ["Cache-Control": "only-if-cached"])
        let answer = try await rig.client.send(bound, options: .cache(.networkOnly))
        #expect(answer.http.status == 504)
        #expect(rig.hits == reads)
    }

    @Test("What steps in for a failed load is one value, in a closure as in a sequence", .covers("S2.11"))
    @MainActor func oneValue() async throws {
        let rig = CacheRig(nil)
        let told = Mailbox<String>()
        let hear = { @MainActor () -> Void in
            rig.client.start(Tea()).onCached { told.put("cached \($0.value.id)") }.onResult {
                told.put("\((try? $0.get().id) == 1)")
            }
        }
        hear()
        await told.wait(for: 1)
        #expect(rig.hits == 1)
        rig.isOffline()
        for passed in [59, 61] {
            rig.pass(passed)
            let count = told.values.count
            hear()
            await told.wait(for: count + 1)
            await drainMainActor()
            #expect(told.values.dropFirst(count) == ["true"])
            var given: [String] = []
            for try await response in rig.client.start(Tea()).responses {
                given.append("\(response.summary)\(response.isStale ? " stale" : "")")
            }
            #expect(given == [passed == 59 ? "1 memory" : "1 memory stale"])
        }
    }

    /// What an outage looks like from here.
    enum Outage {
        case error(Int)
        case noConnection, noHead, noMore, tooLong

        /// 511 comes of a network that wants a login, and those from 520 on of networks for content delivery.
        static let all =
            [500, 502, 503, 504, 507, 511, 520, 522, 524, 529, 530, 599].map(Outage.error) + [
                .noConnection, .noHead, .noMore, .tooLong,
            ]

        var kind: APIError.Kind {
            switch self {
            case .error(let status): .httpStatus(status)
            case .noConnection: .timeout(.connect)
            case .noHead: .timeout(.firstByte)
            case .noMore: .timeout(.idle)
            case .tooLong: .timeout(.total)
            }
        }

        fileprivate func begin(_ rig: CacheRig) {
            switch kind {
            case .httpStatus(let status): rig.serves(.json("down", status: status))
            case .timeout(let phase):
                rig.serves { _ throws(TransportError) in
                    throw TransportError(.timeout(phase), sendState: .maybeProcessed)
                }
            default: break
            }
        }
    }

    @Test(
        "A server error and a time-out are answered by stale content, within the bound", .covers("S3.11"),
        arguments: Outage.all)
    func disaster(outage: Outage) async throws {
        let rig = CacheRig(CachePolicy(.networkElseCache, maxStale: .seconds(1_000)))
        _ = try await rig.tea()
        outage.begin(rig)
        for pause in [61, 998] {
            rig.pass(pause)
            let stale = try await rig.tea()
            #expect(stale.value.id == 1)
            #expect(stale.isStale)
            #expect(stale.source == .memory)
        }
        // It was good for a minute, and a thousand seconds more.
        rig.pass(2)
        #expect(await failure { try await rig.tea() }?.kind == outage.kind)
        rig.serves(.tea(2))
        let fresh = try await rig.tea()
        #expect(fresh.value.id == 2)
        #expect(!fresh.isStale)
    }

    @Test(
        "A server that knows no such method or version has no outage, and is heard", .covers("S3.11"),
        arguments: [501, 505])
    func noDisaster(status: Int) async throws {
        let rig = CacheRig(CachePolicy(.networkElseCache, maxStale: .seconds(1_000)))
        _ = try await rig.tea()
        rig.serves(.json("never", status: status))
        rig.pass(61)
        #expect(await failure { try await rig.tea() }?.kind == .httpStatus(status))
        #expect(await rig.store.statistics().entries == 1)
    }

    @Test("Unless something else is set, content a week past its lifetime is the last to be given", .covers("S3.11"))
    func standardBound() async throws {
        let rig = CacheRig(nil)
        _ = try await rig.tea()
        Outage.error(503).begin(rig)
        rig.pass(3_600)
        let first = try await rig.tea()
        #expect(first.isStale)
        #expect(first.cacheStatus?.reason == .policy || first.cacheStatus?.reason == .expired)
        rig.pass(6 * 86_400)
        #expect(try await rig.tea().isStale)
        rig.pass(86_400)
        #expect(await failure { try await rig.tea() }?.kind == .httpStatus(503))
    }

    @Test("What shows that the peer is not the server is never papered over", .covers("S2.11"))
    func tls() async throws {
        let rig = CacheRig(nil)
        _ = try await rig.tea()
        rig.serves { _ throws(TransportError) in throw TransportError(.tls(.untrusted), sendState: .unsent) }
        #expect(await failure { try await rig.tea() }?.kind == .tls(.untrusted))
    }

    @Test("networkOnly neither reads nor stores", .covers("S2.12"))
    func networkOnly() async throws {
        let rig = CacheRig(.networkOnly)
        _ = try await rig.tea()
        #expect(await rig.store.statistics().entries == 0)
        _ = try await rig.tea(.http)
        #expect(try await rig.tea().source == .network)
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
    }

    @Test("cacheThenNetwork gives what is stored and then what was loaded", .covers("S2.10", "S2.14"))
    func cacheThenNetwork() async throws {
        let rig = CacheRig(.cacheThenNetwork)
        #expect(try await rig.responses() == ["1 network"])
        rig.serves(.tea(2))
        #expect(try await rig.responses() == ["1 memory", "2 network"])
        #expect(rig.hits == 2)
        rig.isOffline()
        var given: [String] = []
        let error = await failure {
            for try await response in rig.client.responses(to: Tea()) { given.append(response.summary) }
        }
        #expect(given == ["2 memory"])
        #expect(error?.kind == .unreachable(.offline))
    }

    @Test(
        "Nobody need hear of what is stored, of the result, or of either", .covers("S2.14"), arguments: [true, false],
        [true, false])
    @MainActor func handlers(hearsCached: Bool, hearsResult: Bool) async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let told = Mailbox<String>()
        let call = rig.client.start(Tea(), options: .cache(.cacheThenNetwork))
        if hearsCached { call.onCached { told.put("cached \($0.value.id)") } }
        if hearsResult { call.onResult { told.put("result \((try? $0.get().id) ?? 0)") } }
        let expected = (hearsCached ? ["cached 1"] : []) + (hearsResult ? ["result 2"] : [])
        await told.wait(for: expected.count)
        #expect(try await call.value.id == 2)
        await drainMainActor()
        #expect(told.values == expected)
        #expect(call.state == .over)
        #expect(rig.hits == 2)
    }

    @Test("A manager of which nobody hears loads all the same", .covers("S2.14"))
    @MainActor func managerWithoutDelegate() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.serves(.tea(2))
        let manager = APIManager(client: rig.client, source: { Tea(options: .cache(.cacheThenNetwork)) })
        let call = try #require(manager.load())
        #expect(rig.client.callCount == 1)
        while !Task.isCancelled, manager.isLoading { await Task.yield() }
        #expect(manager.response?.value.id == 2)
        #expect(manager.error == nil)
        #expect(rig.hits == 2)
        #expect(rig.client.call(call) == nil)
    }

    @Test("cacheThenNetwork shows what is stale where the app says how stale, and marks it", .covers("S2.10"))
    func staleThenNetwork() async throws {
        let rig = CacheRig(CachePolicy(.cacheThenNetwork, maxStale: .seconds(100)))
        _ = try await rig.tea()
        rig.serves(.tea(2))
        rig.pass(159)
        var given: [String] = []
        for try await response in rig.client.responses(to: Tea()) {
            given.append("\(response.summary)\(response.isStale ? " stale" : "")")
        }
        #expect(given == ["1 memory stale", "2 network"])
        rig.pass(161)
        #expect(try await rig.responses() == ["2 network"])
    }

    @Test(
        "The lifetimes of a call's own policy count for what is stored and then loaded", .covers("S2.10"),
        arguments: [CachePolicy.Mode.http, .cacheThenNetwork])
    func ownLifetimes(mode: CachePolicy.Mode) async throws {
        let rig = CacheRig(nil) { _ in .tea(1, ["Cache-Control": "no-cache"]) }
        let hour = CallOptions.cache(CachePolicy(mode, ttl: .seconds(3_600)))
        #expect(try await rig.responses(hour) == ["1 network"])
        rig.pass(3_000)
        #expect(try await rig.responses(hour) == ["1 memory", "1 network"])
        rig.pass(3_700)
        #expect(try await rig.responses(hour) == ["1 network"])
        rig.pass(3_700)
        let stale = CallOptions.cache(CachePolicy(mode, ttl: .seconds(3_600), maxStale: .seconds(900)))
        #expect(try await rig.responses(stale) == ["1 memory", "1 network"])
    }

    @Test("A server error after what was stored is a failure, as no answer is", .covers("S2.10"))
    func cacheThenError() async throws {
        let rig = CacheRig(.cacheThenNetwork)
        _ = try await rig.tea()
        rig.serves(.json("down", status: 503))
        var given: [String] = []
        let error = await failure {
            for try await response in rig.client.responses(to: Tea()) { given.append(response.summary) }
        }
        #expect(given == ["1 memory"])
        #expect(error?.kind == .httpStatus(503))
    }

    @Test("reload loads and stores, and fails when the load fails", .covers("S3.11"))
    func reload() async throws {
        let rig = CacheRig(.http) { _ in .tea(1, ["Cache-Control": "max-age=60", "ETag": "\"1\""]) }
        _ = try await rig.tea()
        rig.serves(.notModified)
        let same = try await rig.tea(.reload)
        #expect(same.value.id == 1)
        #expect(same.source == .revalidated)
        #expect(rig.lastSent["If-None-Match"] == "\"1\"")
        rig.serves(.tea(2))
        #expect(try await rig.tea(.reload).value.id == 2)
        for (response, kind) in [(HTTPResponse.json("down", status: 503), APIError.Kind.httpStatus(503))] {
            rig.serves(response)
            #expect(await failure { try await rig.tea(.reload) }?.kind == kind)
        }
        rig.isOffline()
        #expect(await failure { try await rig.tea(.reload) }?.kind == .unreachable(.offline))
        rig.serves { _ throws(TransportError) in throw TransportError(.timeout(.firstByte), sendState: .maybeProcessed)
        }
        #expect(await failure { try await rig.tea(.reload) }?.kind == .timeout(.firstByte))
        // What was stored is still there for the others.
        #expect(try await rig.tea().value.id == 2)
        #expect(try await rig.tea().source == .memory)
    }

    @Test("With maxStale of zero nothing stale is given", .covers("S2.11"))
    func neverStale() async throws {
        let rig = CacheRig(CachePolicy(.networkElseCache, maxStale: .zero))
        _ = try await rig.tea()
        rig.serves(.json("down", status: 503))
        rig.pass(59)
        #expect(try await rig.tea().isStale == false)
        rig.pass(1)
        #expect(await failure { try await rig.tea() }?.kind == .httpStatus(503))
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
    }

    @Test("A plain call of cacheThenNetwork gives what was loaded", .covers("S2.10"))
    func plainCacheThenNetwork() async throws {
        let rig = CacheRig(.cacheThenNetwork)
        _ = try await rig.tea()
        rig.serves(.tea(2))
        #expect(try await rig.tea().value.id == 2)
    }

    @Test("Two APIs of one client have policies of their own", .covers("S3.24"))
    func perAPI() async throws {
        let rig = CacheRig()
        _ = try await rig.client.send(Prices())
        _ = try await rig.client.send(Shops())
        rig.pass(50)
        #expect(try await rig.client.response(for: Prices()).source == .network)
        #expect(try await rig.client.response(for: Shops()).source == .memory)
        rig.pass(51)
        #expect(try await rig.client.response(for: Shops()).source == .network)
    }
}

/// An API whose answers are soon out of date.
private struct Prices: Endpoint {
    typealias Output = Product
    var route: Route { .get("/prices") }
    var options: CallOptions { .cache(CachePolicy(.http, ttl: .seconds(10))) }
}

/// One whose answers last.
private struct Shops: Endpoint {
    typealias Output = Product
    var route: Route { .get("/shops") }
    var options: CallOptions { .cache(CachePolicy(.http, ttl: .seconds(100))) }
}

extension CacheRig {
    /// What the sequence of responses gives, in words.
    fileprivate func responses(_ options: CallOptions = .init()) async throws -> [String] {
        var all: [String] = []
        for try await response in client.responses(to: Tea(), options: options) { all.append(response.summary) }
        return all
    }
}

extension APIResponse<Product> {
    fileprivate var summary: String { "\(value.id) \(source.rawValue)" }
}
