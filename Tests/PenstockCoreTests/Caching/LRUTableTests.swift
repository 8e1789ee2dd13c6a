import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Values in the order of their last use.
@Suite struct LRUTableTests {
    /// The same as a list that is searched, the most recently used value first.
    struct Model {
        var entries: [(key: Int, value: Int, cost: Int)] = []

        func place(of key: Int) -> Int? { entries.firstIndex { $0.key == key } }

        mutating func use(_ key: Int) -> Int? {
            guard let place = place(of: key) else { return nil }
            entries.insert(entries.remove(at: place), at: 0)
            return entries[0].value
        }

        mutating func set(_ key: Int, _ value: Int, _ cost: Int) {
            entries.removeAll { $0.key == key }
            entries.insert((key, value, cost), at: 0)
        }
    }

    private final class Probe: Sendable {}

    @Test func `what is removed or replaced is let go of`() {
        var table = LRUTable<Int, Probe>()
        weak var first: Probe?
        weak var second: Probe?
        do {
            let (one, two) = (Probe(), Probe())
            (first, second) = (one, two)
            table.set(1, to: one, cost: 1)
            table.set(2, to: two, cost: 1)
        }
        #expect(first != nil && second != nil)
        table.set(1, to: Probe(), cost: 1)
        table.remove(2)
        #expect(first == nil && second == nil)
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `it does what a list that is searched would do`(seed: UInt64) {
        var random = Seeded(seed: seed)
        var (table, model) = (LRUTable<Int, Int>(), Model())
        for step in 0..<300 {
            let key = Int.random(in: 0..<8, using: &random)
            let cost = Int.random(in: 1...9, using: &random)
            let place = model.place(of: key)
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                table.set(key, to: step, cost: cost)
                model.set(key, step, cost)
            case 2:
                #expect(table.use(key) == model.use(key))
            case 3:
                #expect(table.remove(key) == place.map { model.entries.remove(at: $0).value })
            case 4:
                table.modify(key) { $0 += 1_000 }
                if let place { model.entries[place].value += 1_000 }
            case 5:
                let isChanged = table.replace(key) { value in
                    value += 1
                    return cost
                }
                #expect(isChanged == (place != nil))
                if let place { model.set(key, model.entries[place].value + 1, cost) }
            default:
                #expect(!table.replace(key) { _ in nil })
            }
            #expect(table.count == model.entries.count)
            #expect(table.totalCost == model.entries.reduce(0) { $0 + $1.cost })
            #expect(table.oldestKey == model.entries.last?.key)
            #expect(Set(table.keys) == Set(model.entries.map(\.key)))
            #expect(
                (0..<8).map { table.peek($0) }
                    == (0..<8).map { key in model.place(of: key).map { model.entries[$0].value } })
        }
        // Taken from the end, it is empty in the order of use.
        var order: [Int] = []
        while let key = table.oldestKey, table.remove(key) != nil { order.insert(key, at: 0) }
        #expect(order == model.entries.map(\.key))
        #expect(table.count == 0 && table.totalCost == 0)
    }
}
