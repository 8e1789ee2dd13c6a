/// Which keys are asked for together: a state machine without tasks and without time.
///
/// Keys are collected in one open batch for each group, and never with those of another group. A key that is asked for twice
/// is in it once; one that nobody waits for any more leaves it. A full batch takes in nothing more, even before it is closed.
package struct MergeQueue<Group: Hashable & Sendable, Key: Hashable & Sendable>: Sendable {
    /// Where a key has gone.
    package struct Place: Hashable, Sendable {
        package let batch: Int
        /// Whether it is the batch's first.
        package let isFirst: Bool
        /// Whether the batch holds as many as it may, so that it is to be closed now.
        package let isFull: Bool
    }

    private struct Batch: Sendable {
        let group: Group
        var keys: [Key] = []
        var waiting: [Key: Int] = [:]
    }

    private let limit: Int
    private var open: [Group: Int] = [:]
    private var batches: [Int: Batch] = [:]
    private var last = 0

    /// - Parameter limit: how many keys a batch holds; less than one counts as one.
    package init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// How many batches are not closed.
    package var openCount: Int { batches.count }

    /// Somebody waits for a key.
    package mutating func add(_ key: Key, of group: Group) -> Place {
        let number = open[group] ?? begin(group)
        var batch = batches[number] ?? Batch(group: group)
        let isFirst = batch.keys.isEmpty
        if batch.waiting[key] == nil { batch.keys.append(key) }
        batch.waiting[key, default: 0] += 1
        batches[number] = batch
        let isFull = batch.keys.count >= limit
        if isFull { open[group] = nil }
        return Place(batch: number, isFirst: isFirst, isFull: isFull)
    }

    /// Somebody waits no more. Nothing where the batch has been closed.
    package mutating func leave(_ key: Key, in number: Int) {
        guard var batch = batches[number], let count = batch.waiting[key] else { return }
        batch.waiting[key] = count > 1 ? count - 1 : nil
        if count == 1 { batch.keys.removeAll { $0 == key } }
        batches[number] = batch
    }

    /// Closes a batch, which is to be sent now.
    ///
    /// - Returns: its keys, in the order in which they were first asked for; none when nobody waits any more; `nil` when it
    ///   was closed before.
    package mutating func close(_ number: Int) -> [Key]? {
        guard let batch = batches.removeValue(forKey: number) else { return nil }
        if open[batch.group] == number { open[batch.group] = nil }
        return batch.keys
    }

    private mutating func begin(_ group: Group) -> Int {
        last += 1
        open[group] = last
        return last
    }
}
