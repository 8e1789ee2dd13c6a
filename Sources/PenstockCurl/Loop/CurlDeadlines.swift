#if os(Linux)
    /// Every exchange under way, ordered by when it must next be looked at.
    ///
    /// A binary heap in which each exchange knows its place, so that ending one costs O(log n). Progress never moves an
    /// exchange: it is looked at no later than any of its time-outs could fire, and goes back with a later moment when
    /// none has.
    struct CurlDeadlines {
        private struct Item {
            var moment: UInt64
            let exchange: CurlExchange
        }

        private var items: [Item] = []

        var isEmpty: Bool { items.isEmpty }
        var count: Int { items.count }
        /// Nanoseconds of the monotonic clock; `.max` when there is nothing to look at.
        var nextMoment: UInt64 { items.first?.moment ?? .max }
        var first: CurlExchange? { items.first?.exchange }
        /// In no order.
        var exchanges: [CurlExchange] { items.map(\.exchange) }

        mutating func insert(_ exchange: CurlExchange, at moment: UInt64) {
            exchange.place = items.count
            items.append(Item(moment: moment, exchange: exchange))
            siftUp(items.count - 1)
        }

        mutating func remove(_ exchange: CurlExchange) {
            guard let place = exchange.place else { return }
            exchange.place = nil
            let last = items.removeLast()
            guard place < items.count else { return }
            put(last, at: place)
            siftDown(siftUp(place))
        }

        mutating func move(_ exchange: CurlExchange, to moment: UInt64) {
            guard let place = exchange.place else { return }
            items[place].moment = moment
            siftDown(siftUp(place))
        }

        private mutating func put(_ item: Item, at place: Int) {
            item.exchange.place = place
            items[place] = item
        }

        @discardableResult
        private mutating func siftUp(_ start: Int) -> Int {
            var place = start
            while place > 0, items[place].moment < items[(place - 1) / 2].moment {
                exchangeItems(place, (place - 1) / 2)
                place = (place - 1) / 2
            }
            return place
        }

        private mutating func siftDown(_ start: Int) {
            var place = start
            while true {
                var least = place
                for child in (2 * place + 1)...(2 * place + 2) where child < items.count {
                    if items[child].moment < items[least].moment { least = child }
                }
                guard least != place else { return }
                exchangeItems(place, least)
                place = least
            }
        }

        private mutating func exchangeItems(_ one: Int, _ other: Int) {
            items.swapAt(one, other)
            items[one].exchange.place = one
            items[other].exchange.place = other
        }
    }
#endif
