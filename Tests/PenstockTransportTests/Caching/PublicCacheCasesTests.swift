import PenstockTestSupport
import Testing

/// That what the public suite of HTTP caches looks at is looked at here, case by case.
@Suite(.covers("X6"))
struct PublicCacheCasesTests {
    private let shown = PublicCacheCases.shown.map(\.id)

    @Test func `Each title of the table is that of one case that runs`() {
        let titles = Dictionary(grouping: CacheCase.groups.flatMap(\.1), by: \.rule)
        for (id, cases) in PublicCacheCases.shown {
            #expect(!cases.isEmpty, "\(id)")
            for title in cases { #expect(titles[title]?.count == 1, "\(title), of \(id)") }
        }
    }

    @Test func `Each required case is shown, or its excuse is told`() {
        let required = PublicCacheCases.required
        #expect(required.count == 95 && Set(required).count == 95)
        let shown = Set(shown).subtracting(PublicCacheCases.optional)
        #expect(shown.isDisjoint(with: PublicCacheCases.excused.keys))
        #expect(shown.union(PublicCacheCases.excused.keys) == Set(required))
    }

    /// The suite's default set has 58 of them; of what other private caches reach there, 47 is the most.
    @Test func `All optional cases but four are shown`() {
        let optional = PublicCacheCases.optional
        #expect(optional.count == 71 && Set(optional).count == 71)
        let shown = Set(shown).subtracting(PublicCacheCases.required)
        #expect(shown.count == 67 && shown.isDisjoint(with: PublicCacheCases.leftOut.keys))
        #expect(shown.union(PublicCacheCases.leftOut.keys) == Set(optional))
    }

    @Test func `No case of the suite is in the table twice`() {
        #expect(shown.count == Set(shown).count)
        #expect(Set(PublicCacheCases.required).isDisjoint(with: PublicCacheCases.optional))
    }
}
