/// Values by key, with a cost each, in the order of their last use. Every operation takes constant time.
struct LRUTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var cost: Int

        mutating func modify(_ change: (inout Value) -> Void) { change(&value) }

        /// - Returns: how much more the value costs now; `nil` where it was left as it was.
        mutating func replace(_ change: (inout Value) -> Int?) -> Int? {
            guard let new = change(&value) else { return nil }
            defer { cost = new }
            return new - cost
        }
    }

    /// The place of a node. Half the size of an `Int`, since a look-up among a million takes as long as memory takes to come.
    private typealias Place = Int32

    /// The neighbours of a place in the order of use. Apart from the nodes, so that a use touches little memory.
    private struct Links: Sendable {
        var newer = none
        var older = none
    }

    /// Stands in place of a neighbour that is not there.
    private static var none: Place { -1 }

    private var places: [Key: Place] = [:]
    private var nodes: [Node?] = []
    private var links: [Links] = []
    private var free: [Place] = []
    private var newest = none
    private var oldest = none
    private(set) var totalCost = 0

    var count: Int { places.count }
    var keys: some Collection<Key> { places.keys }

    /// The value, which is now the most recently used.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        moveToFront(place)
        return nodes[Int(place)]?.value
    }

    /// The value, without counting as a use.
    func peek(_ key: Key) -> Value? {
        places[key].flatMap { nodes[Int($0)]?.value }
    }

    /// Changes a value that is there, without counting as a use.
    mutating func modify(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key] else { return }
        nodes[Int(place)]?.modify(change)
    }

    /// Changes a value that is there, which is now the most recently used.
    ///
    /// - Parameter change: gives what the value costs now; `nil` where it has left it as it was.
    /// - Returns: whether there was a value and it was changed.
    mutating func replace(_ key: Key, _ change: (inout Value) -> Int?) -> Bool {
        guard let place = places[key], let more = nodes[Int(place)]?.replace(change) else { return false }
        totalCost += more
        moveToFront(place)
        return true
    }

    /// The key that was used least recently.
    var oldestKey: Key? { oldest == Self.none ? nil : nodes[Int(oldest)]?.key }

    /// Stores a value, which is now the most recently used.
    mutating func set(_ key: Key, to value: Value, cost: Int) {
        let node = Node(key: key, value: value, cost: cost)
        if let place = places[key], let old = nodes[Int(place)] {
            totalCost += cost - old.cost
            nodes[Int(place)] = node
            moveToFront(place)
        } else {
            let place = free.popLast() ?? Place(nodes.count)
            if place == nodes.count {
                nodes.append(node)
                links.append(Links())
            } else {
                nodes[Int(place)] = node
            }
            places[key] = place
            totalCost += cost
            attach(place)
        }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = nodes[Int(place)] else { return nil }
        detach(place)
        nodes[Int(place)] = nil
        free.append(place)
        totalCost -= node.cost
        return node.value
    }

    private mutating func moveToFront(_ place: Place) {
        guard place != newest else { return }
        detach(place)
        attach(place)
    }

    private mutating func attach(_ place: Place) {
        links[Int(place)] = Links(newer: Self.none, older: newest)
        if newest != Self.none { links[Int(newest)].newer = place }
        newest = place
        if oldest == Self.none { oldest = place }
    }

    private mutating func detach(_ place: Place) {
        let link = links[Int(place)]
        if link.newer == Self.none { newest = link.older } else { links[Int(link.newer)].older = link.older }
        if link.older == Self.none { oldest = link.newer } else { links[Int(link.older)].newer = link.newer }
    }
}
