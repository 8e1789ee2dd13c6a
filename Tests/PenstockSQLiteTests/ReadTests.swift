import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// Look-ups while others change the file.
@Suite(.timeLimit(.minutes(5)))
struct ReadTests {
    /// Looks something up a few times in a row.
    private func warm(_ rig: Rig) async throws {
        for _ in 0..<3 { _ = try await rig.seeds("/other") }
    }

    @Test("A look-up finds what another one has stored a moment ago, in this process or elsewhere", .covers("H29"))
    func othersChanges() async throws {
        let here = try Rig()
        let elsewhere = try Rig(here.folder)
        try await here.put("/other", seed: 1)
        for seed in 1...200 as ClosedRange<UInt64> {
            try await warm(here)
            try await (seed.isMultiple(of: 2) ? here : elsewhere).put("/a", seed: seed)
            #expect(try await here.seeds("/a") == [seed])
        }
        try await warm(here)
        await elsewhere.store.remove([.all])
        #expect(try await here.seeds("/a").isEmpty)
        await here.store.close()
        await elsewhere.store.close()
    }

    @Test("Nothing keeps another process from erasing while look-ups go on", .covers("H28"))
    func erasureElsewhere() async throws {
        let here = try Rig()
        let elsewhere = try Rig(here.folder)
        for round in 1...20 as ClosedRange<UInt64> {
            try await elsewhere.put("/a", seed: round, identity: "anna")
            try await warm(here)
            #expect(try await here.seeds("/a", identity: "anna") == [round])
            #expect(await elsewhere.store.remove([.identity("anna")]), "round \(round)")
            #expect(try await here.seeds("/a", identity: "anna").isEmpty)
        }
        #expect(elsewhere.events.all == [])
        await here.store.close()
        await elsewhere.store.close()
    }

    @Test("The log is emptied while look-ups go on", .covers("S2.20"))
    func logs() async throws {
        let rig = try Rig()
        try await rig.put("/other", seed: 1)
        try await warm(rig)
        await rig.store.flush()
        let log = rig.folder.file.path + "-wal"
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0)
        await rig.store.close()
    }

    @Test("Variants of a key are all found, whichever came first, and those alone", .covers("S2.19"))
    func variants() async throws {
        let rig = try Rig()
        for seed in 1...3 as ClosedRange<UInt64> {
            let response = Sample.response(try Sample.key("/a"), seed: seed, at: rig.clock.timeSource)
            let variant = CacheVariant(selectors: [.init(name: "foo", value: "\(seed)")])
            let other = CachedResponse(
                key: response.key, variant: variant, status: 200, fields: response.fields,
                requestTime: response.requestTime, responseTime: response.responseTime, bodyLength: 0)
            await rig.store.put(other, body: sampleBytes(seed: seed, count: 100))
            #expect(try await Set(rig.seeds("/a")) == Set(1...seed))
        }
        #expect(try await rig.seeds("/b").isEmpty)
        await rig.store.close()
    }
}
