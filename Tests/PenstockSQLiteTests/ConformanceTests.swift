import Foundation
import PenstockCore
import PenstockSQLite
import PenstockTestSupport
import PenstockTesting
import Testing

/// Every rule on every store.
@Suite(.timeLimit(.minutes(5)), .covers("S3.45"))
struct ConformanceTests {
    enum StoreUnderTest: String, CaseIterable {
        case memory, sqlite, layered, layeredOverCustom, custom

        func run(_ rule: CacheStoreConformance.Rule) async throws {
            let folder = try Folder()
            try await rule.run { limits, time in
                switch self {
                case .memory: MemoryCacheStore(limits: limits, time: time)
                case .sqlite: Self.sqlite(folder, limits, time)
                case .layered: TieredCacheStore(over: Self.sqlite(folder, limits, time), limits: limits, time: time)
                case .layeredOverCustom:
                    TieredCacheStore(over: CustomStore(limits: limits, time: time), limits: limits, time: time)
                case .custom: CustomStore(limits: limits, time: time)
                }
            }
        }

        private static func sqlite(_ folder: Folder, _ limits: CacheLimits, _ time: TimeSource) -> SQLiteCacheStore {
            var configuration = SQLiteCacheConfiguration(file: folder.file, limits: limits, time: time) { event in
                // A look-up waits 50 ms for others and then finds nothing, which is for the rule to judge.
                if case .failed(.read, .busy, _) = event { return }
                Issue.record("the store told: \(event)")
            }
            // As long as the suite may last: under a sanitizer, beside tests that wait for the disk, a change takes what it takes.
            configuration.patience = .seconds(300)
            return SQLiteCacheStore(configuration)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let rule: CacheStoreConformance.Rule
        let store: StoreUnderTest

        var testDescription: String { "\(store): \(rule)" }

        static func all(_ rules: [CacheStoreConformance.Rule]) -> [Case] {
            StoreUnderTest.allCases.flatMap { store in rules.map { Case(rule: $0, store: store) } }
        }

        func run() async throws {
            try await store.run(rule)
        }
    }

    @Test("What was put in is found", .covers("S2.20"), arguments: Case.all(CacheStoreConformance.finding))
    func finding(example: Case) async throws { try await example.run() }

    @Test("A body comes back whole", arguments: Case.all(CacheStoreConformance.bodies))
    func bodies(example: Case) async throws { try await example.run() }

    @Test(
        "What is known of a response changes, its body does not", .covers("S4.21"),
        arguments: Case.all(CacheStoreConformance.changing))
    func changing(example: Case) async throws { try await example.run() }

    @Test(
        "What is selected goes, the rest stays", .covers("S2.16", "S2.17", "S4.21"),
        arguments: Case.all(CacheStoreConformance.removing))
    func removing(example: Case) async throws { try await example.run() }

    @Test(
        "Limits of bytes, number and age hold", .covers("S2.20", "S4.12"),
        arguments: Case.all(CacheStoreConformance.limiting))
    func limiting(example: Case) async throws { try await example.run() }

    @Test(
        "Everybody may use the store at once", .covers("S4.12"), arguments: Case.all(CacheStoreConformance.sharing))
    func sharing(example: Case) async throws { try await example.run() }
}
