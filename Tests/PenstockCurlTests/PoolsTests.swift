#if os(Linux)
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    /// Which pools are kept, and which are looked at.
    @Suite struct PoolsTests {
        private let second: UInt64 = 1_000_000_000
        private let loop = CurlLoop(.init())

        private func pool(_ identity: Int, isShared: Bool = true) throws -> CurlPool {
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://a.example/"))
            let order = TransportRequest(request, isolation: IsolationKey(identity: "\(identity)"))
            return try #require(
                CurlPool(CurlPools.key(order, isShared: isShared), CurlTrust(order.trust), loop: loop))
        }

        private func busy(_ pool: CurlPool) throws -> CurlTransfer {
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://a.example/"))
            let transfer = CurlTransfer(TransportRequest(request), loop: loop)
            transfer.state.heapIndex = 0
            _ = pool.admit(transfer)
            return transfer
        }

        private func order(_ host: String, _ identity: String = "anna") throws -> TransportRequest {
            let request = HTTPRequest(method: .post, url: try HTTPURL("https://\(host)/"))
            return TransportRequest(request, isolation: IsolationKey(identity: identity))
        }

        @Test("That an origin wants HTTP/1.1 is known of that origin, for that user, until the user signs out")
        func http1Origins() throws {
            var origins = CurlHTTP1Origins()
            #expect(!origins.contains(try order("a.example")))
            for _ in 1...2 { origins.insert(try order("a.example")) }
            origins.insert(try order("a.example", "bert"))
            #expect(origins.contains(try order("a.example")))
            #expect(!origins.contains(try order("b.example")))
            #expect(!origins.contains(try order("a.example:444")))
            #expect(!origins.contains(try order("a.example", "carl")))
            origins.forget("anna")
            #expect(!origins.contains(try order("a.example")))
            #expect(origins.contains(try order("a.example", "bert")))
        }

        @Test("Of more origins than are remembered the oldest are forgotten")
        func manyHTTP1Origins() throws {
            var origins = CurlHTTP1Origins()
            for number in 0..<CurlHTTP1Origins.most { origins.insert(try order("h\(number).example")) }
            // One that is known already takes no place.
            origins.insert(try order("h0.example"))
            #expect(origins.contains(try order("h0.example")))
            origins.insert(try order("last.example"))
            #expect(!origins.contains(try order("h0.example")))
            #expect(origins.contains(try order("h1.example")))
            #expect(origins.contains(try order("last.example")))
        }

        @Test("A round looks at the pools that have work, however many there are", .covers("H36"))
        func working() throws {
            var pools = CurlPools(life: 90 * second, descriptors: 20_000)
            var transfers: [CurlTransfer] = []
            for number in 0..<200 {
                let pool = try pool(number)
                pools.add(pool, 1)
                pools.work(pool)
                pools.work(pool)
                if number % 50 == 0 { transfers.append(try busy(pool)) }
            }
            #expect(pools.working.count == 200)
            pools.tidy(2)
            #expect(pools.working.map(\.isolation.identity) == ["0", "50", "100", "150"])
            _ = pools.working[1].leave(transfers[1])
            pools.tidy(3)
            #expect(pools.working.count == 3)
            pools.closeAll()
        }

        @Test("The pools of a user who has signed out close as soon as they are at rest, and nobody else's do")
        func forgotten() throws {
            var pools = CurlPools(life: 90 * second, descriptors: 20_000)
            var exchanges: [CurlTransfer] = []
            var all: [CurlPool] = []
            for number in 0..<4 {
                // Two of each user: one for requests that may share a connection, and one for those that may not.
                let pool = try pool(number / 2, isShared: number % 2 == 0)
                if number % 2 == 0 { exchanges.append(try busy(pool)) }
                pools.add(pool, 1)
                pools.work(pool)
                all.append(pool)
            }
            pools.forget("1")
            #expect(all.map(\.isClosed) == [false, false, false, true])
            #expect(all.map(\.isRetired) == [false, false, true, false])
            let order = TransportRequest(
                HTTPRequest(method: .get, url: try HTTPURL("http://a.example/")), isolation: IsolationKey(identity: "1")
            )
            let (shared, alone) = (pools.find(order, isShared: true), pools.find(order, isShared: false))
            #expect(shared == nil && alone == nil)
            pools.tidy(2)
            #expect(all.map(\.isClosed) == [false, false, false, true])
            // A second time it finds nothing.
            pools.forget("1")
            _ = all[2].leave(exchanges[1])
            _ = all[0].leave(exchanges[0])
            pools.tidy(3)
            #expect(all.map(\.isClosed) == [false, false, true, true])
            #expect(pools.working.allSatisfy { !$0.isClosed })
            pools.closeAll()
        }

        @Test("Of too many pools the idle ones are closed that were used longest ago", .covers("H36"))
        func bound() throws {
            var pools = CurlPools(life: 90 * second, descriptors: 60)
            var all: [CurlPool] = []
            var transfers: [CurlTransfer] = []
            for number in 0..<30 {
                let pool = try pool(number)
                pool.lastUse = UInt64(number)
                if number % 5 == 0 { transfers.append(try busy(pool)) }
                pools.add(pool, 1)
                all.append(pool)
            }
            let open = all.filter { !$0.isClosed }.map(\.isolation.identity)
            #expect(open == ["0", "5", "10", "15", "20", "25", "26", "27", "28", "29"])
            pools.closeIdle(1)
            #expect(all[26].isClosed && !all[27].isClosed)
            pools.closeAll()
        }

        @Test func `An idle pool is closed at the end of its life, and no other`() throws {
            var pools = CurlPools(life: 90 * second)
            let (old, young, working) = (try pool(1), try pool(2), try pool(3))
            for pool in [old, young, working] {
                pool.lastUse = 0
                pools.add(pool, 0)
            }
            young.lastUse = 30 * second
            let transfer = try busy(working)
            #expect(pools.nextSweep == 90 * second)
            pools.tidy(90 * second - 1)
            #expect(!old.isClosed)
            pools.tidy(90 * second)
            #expect([old, young, working].map(\.isClosed) == [true, false, false])
            _ = working.leave(transfer)
            pools.tidy(180 * second)
            #expect(young.isClosed && working.isClosed)
            #expect(pools.nextSweep == .max)
        }
    }

    /// Who waits for descriptors, and when one tries again.
    @Suite struct DescriptorQueueTests {
        private let loop = CurlLoop(.init())

        private func transfer(_ began: UInt64) throws -> CurlTransfer {
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://a.example/"))
            let transfer = CurlTransfer(TransportRequest(request), loop: loop)
            transfer.state.heapIndex = 0
            transfer.state.clock.begin(began)
            return transfer
        }

        @Test("One tries again when an exchange has ended, and one after a while, in their order", .covers("H36"))
        func order() throws {
            var queue = CurlDescriptorQueue()
            let waiting = try [3, 1, 2, 4].map { try transfer($0) }
            queue.noteEnd()
            for one in waiting { queue.add(one, 0) }
            #expect(queue.take(1).isEmpty)
            queue.noteEnd()
            #expect(queue.take(2).map(\.state.clock.began) == [1])
            #expect(queue.moment == 20_000_002)
            #expect(queue.take(20_000_001).isEmpty)
            waiting[2].state.heapIndex = nil
            #expect(queue.take(20_000_002).map(\.state.clock.began) == [3], "who has ended is passed over")
            queue.noteEnd()
            queue.noteEnd()
            #expect(queue.take(30_000_000).map(\.state.clock.began) == [4])
            #expect(queue.isEmpty && queue.moment == .max)
        }
    }
#endif
