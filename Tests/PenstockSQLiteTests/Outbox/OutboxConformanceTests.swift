import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockSQLite

/// The rules for outbox stores, on each of those that there are.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxConformanceTests {
    @Test("In memory", arguments: OutboxStoreConformance.rules)
    func memory(_ rule: OutboxStoreConformance.Rule) async throws {
        try await rule.run { MemoryOutboxStore() }
    }

    @Test("In a file", arguments: OutboxStoreConformance.rules)
    func file(_ rule: OutboxStoreConformance.Rule) async throws {
        let folder = try Folder()
        try await rule.run { SQLiteOutboxStore(.init(file: folder.file)) }
    }

    @Test("What is put in a file is there when it is opened anew")
    func reopening() async throws {
        let folder = try Folder()
        var store = SQLiteOutboxStore(.init(file: folder.file))
        let row = OutboxRow.sample("1", fold: "f")
        let put = try await store.put(row, isNumbered: true).row
        await store.close()
        store = SQLiteOutboxStore(.init(file: folder.file))
        #expect(try await store.row(row.id) == put)
        #expect(try await store.put(.sample("2"), isNumbered: true).row.number == 2)
        await store.close()
    }
}

extension OutboxRow {
    static let sampleOwner = OutboxOwner(identity: "anna", environment: "test")
    static let sampleDate = Date(timeIntervalSince1970: 1_000_000)

    static func sample(_ mark: String, lane: String = "lane", fold: String? = nil) -> OutboxRow {
        OutboxRow(
            id: OutboxID(), owner: sampleOwner, lane: lane, fold: fold, payload: Data(mark.utf8), created: sampleDate,
            expires: sampleDate.addingTimeInterval(1_000_000))
    }
}
