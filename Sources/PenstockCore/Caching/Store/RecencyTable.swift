/// Values by key, with a cost each, in the order of their last use. Every operation takes constant time.
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var cost: Int
        var newer: Int
        var older: Int
    }

    /// In place of a neighbour that is not there.
    private static var none: Int { -1 }

    private var places: [Key: Int] = [:]
    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none
    private(set) var totalCost = 0

    var count: Int { places.count }
    var keys: some Collection<Key> { places.keys }

    /// The value, which is now the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        moveToFront(place)
        return nodes[place]?.value
    }

    /// The value, without counting as a use.
    func peek(_ key: Key) -> Value? {
        places[key].flatMap { nodes[$0]?.value }
    }

    /// Changes a value that is there, without counting as a use.
    mutating func modify(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key], nodes[place] != nil else { return }
        change(&nodes[place]!.value)
    }

    /// The key that was used least recently.
    var oldestKey: Key? { oldest == Self.none ? nil : nodes[oldest]?.key }

    /// Stores a value, which is now the most recently used.
    mutating func set(_ key: Key, to value: Value, cost: Int) {
        if let place = places[key], let old = nodes[place] {
            totalCost += cost - old.cost
            nodes[place] = Node(key: key, value: value, cost: cost, newer: old.newer, older: old.older)
            moveToFront(place)
        } else {
            let node = Node(key: key, value: value, cost: cost, newer: Self.none, older: Self.none)
            let place = free.popLast() ?? nodes.count
            if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
            places[key] = place
            totalCost += cost
            attach(place)
        }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
        detach(place)
        nodes[place] = nil
        free.append(place)
        totalCost -= node.cost
        return node.value
    }

    private mutating func moveToFront(_ place: Int) {
        guard place != newest else { return }
        detach(place)
        attach(place)
    }

    private mutating func attach(_ place: Int) {
        nodes[place]?.newer = Self.none
        nodes[place]?.older = newest
        if newest != Self.none { nodes[newest]?.newer = place }
        newest = place
        if oldest == Self.none { oldest = place }
    }

    private mutating func detach(_ place: Int) {
        guard let node = nodes[place] else { return }
        if node.newer == Self.none { newest = node.older } else { nodes[node.newer]?.older = node.older }
        if node.older == Self.none { oldest = node.newer } else { nodes[node.older]?.newer = node.newer }
    }
}
