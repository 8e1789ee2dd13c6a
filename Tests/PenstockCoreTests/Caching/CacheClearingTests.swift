import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Clearing, signing out, and writes that make reads out of date.
@Suite(.timeLimit(.minutes(5))) struct CacheClearingTests {
    @Test("Clearing a URL removes that one with its parameters and no other", .covers("S2.16", "S2.17"))
    func byURL() async throws {
        let rig = CacheRig()
        for page in [2, 20, 3] { _ = try await rig.tea(page: page) }
        let url = try #require(rig.rig.sent.first?.url)
        #expect(await rig.client.clearCache(.url(url)))
        #expect(try await rig.sources([2, 20, 3]) == [.network, .memory, .memory])
        #expect(await rig.client.clearCache(.path(url)))
        #expect(try await rig.sources([2, 20, 3]) == [.network, .network, .network])
    }

    @Test("Clearing an endpoint removes what has exactly its parameters", .covers("S2.17", "S2.32"))
    func byEndpoint() async throws {
        let rig = CacheRig()
        for page in [2, 20] { _ = try await rig.tea(page: page) }
        #expect(try await rig.client.clearCache(of: Tea(page: 2)))
        #expect(try await rig.sources([2, 20]) == [.network, .memory])
        #expect(rig.client.callCount == 0)
    }

    @Test("A manager clears what it would load", .covers("S2.32"))
    @MainActor func byManager() async throws {
        let rig = CacheRig()
        for page in [2, 20] { _ = try await rig.tea(page: page) }
        let manager = APIManager(client: rig.client) { Tea(page: 2) }
        #expect(try await manager.clearCache())
        #expect(try await rig.sources([2, 20]) == [.network, .memory])
    }

    @Test("Clearing by tag and clearing all", .covers("S2.18"))
    func byTagAndAll() async throws {
        let rig = CacheRig()
        _ = try await rig.client.send(Tea(page: 1, cacheTags: ["a"]))
        _ = try await rig.client.send(Tea(page: 2, cacheTags: ["b"]), options: .with { $0.cacheTags = ["c"] })
        _ = try await rig.client.send(Tea(page: 3, cacheTags: ["d"]))
        await rig.client.clearCache(.tag("a"), .tag("c"))
        #expect(try await rig.sources([1, 2, 3]) == [.network, .network, .memory])
        await rig.client.clearCache(.all)
        #expect(await rig.store.statistics().entries == 0)
    }

    @Test("A tag, a URL and a path mean the present user's, and everyone's where that is said", .covers("S4.13"))
    func owners() async throws {
        let rig = CacheRig()
        func keep() async throws {
            for name in ["alice", "bob"] {
                rig.user.value = name
                _ = try await rig.tea()
            }
        }
        try await keep()
        let url = try #require(rig.rig.sent.first?.url)
        for selection in [CacheSelection.tag("tea"), .url(url), .path(url)] {
            try await keep()
            await rig.client.clearCache(selection)
            #expect(try await rig.tea().source == .network)
            rig.user.value = "alice"
            #expect(try await rig.tea().source == .memory)
        }
        for selection in [
            CacheSelection.tag("tea", in: .everyone), .url(url, in: .everyone), .path(url, in: .everyone),
        ] {
            try await keep()
            await rig.client.clearCache(selection)
            #expect(await rig.store.statistics().entries == 0)
        }
    }

    @Test("A write that succeeds makes the reads it names out of date, in one step", .covers("S4.21"))
    func write() async throws {
        let rig = CacheRig { request in request.method == .post ? .tea(9) : .tea(1) }
        _ = try await rig.tea(page: 1)
        _ = try await rig.tea(page: 2)
        _ = try await rig.client.send(Tea(page: 3, cacheTags: []))
        _ = try await rig.client.send(Pour())
        #expect(try await rig.sources([1, 2, 3]) == [.network, .network, .memory])
    }

    @Test("A write that fails leaves reads alone", .covers("S4.21"))
    func failedWrite() async throws {
        let rig = CacheRig { request in
            request.method == .post ? .json(#"{"retcode":5,"retdesc":"no","data":null}"#) : .tea(1)
        }
        _ = try await rig.tea()
        #expect(await failure { try await rig.client.send(Pour()) } != nil)
        #expect(try await rig.tea().source == .memory)
    }

    @Test("What is out of date is not used offline either", .covers("S4.21"))
    func writeThenOffline() async throws {
        let rig = CacheRig(nil) { request in request.method == .post ? .tea(9) : .tea(1) }
        _ = try await rig.tea()
        _ = try await rig.client.send(Pour())
        rig.isOffline()
        #expect(await failure { try await rig.tea() }?.kind == .unreachable(.offline))
    }

    @Test("Signing out removes that user's responses and no other's", .covers("S4.13", "H28"))
    func forget() async throws {
        let rig = CacheRig()
        _ = try await rig.tea()
        rig.user.value = "bob"
        _ = try await rig.tea()
        #expect(await rig.client.signOut("alice"))
        #expect(try await rig.tea().source == .memory)
        rig.user.value = "alice"
        #expect(try await rig.tea().source == .network)
    }

    @Test(
        "What was loading when the user signed out ends, and is not stored", .covers("S4.13", "H28"),
        .timeLimit(.minutes(5)))
    func forgetWhileLoading() async throws {
        let script = ScriptedTransport([.held(.respond(.tea(1)))])
        let store = MemoryCacheStore()
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        configuration.identity = { "alice" }
        let client = APIClient(configuration, transport: script)
        let call = client.start(Tea())
        await script.waitForExchanges(count: 1)
        await client.signOut("alice")
        #expect(await failure { try await call.value }?.kind == .cancelled)
        #expect(await store.statistics().entries == 0)
    }

    @Test("What was asked before a removal is not stored after it", .covers("S4.13", "S2.16"), .timeLimit(.minutes(5)))
    func clearWhileLoading() async throws {
        let script = ScriptedTransport([.held(.respond(.tea(1)))])
        let store = MemoryCacheStore()
        var configuration = APIClient.Configuration(services: [.shop()])
        configuration.cache = .store(store)
        let client = APIClient(configuration, transport: script)
        let call = client.start(Tea())
        await script.waitForExchanges(count: 1)
        await client.clearCache(.tag("tea"))
        script.release()
        #expect(try await call.value.id == 1)
        #expect(await store.statistics().entries == 0)
    }
}

extension CacheRig {
    /// Where pages come from now, one after the other.
    fileprivate func sources(_ pages: [Int]) async throws -> [ResponseSource] {
        var sources: [ResponseSource] = []
        for page in pages { sources.append(try await tea(page: page).source) }
        return sources
    }
}
