#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore
    import PenstockTestSupport
    import Testing

    @testable import PenstockCurl

    /// Answers for names out of a table. A name that is not in it is looked up for ever.
    private final class TableResolver: HostFinder {
        private struct Share: HostLookup {
            let cancelled: Locked<Int>

            func cancel() {
                cancelled.withLock { $0 += 1 }
            }
        }

        private struct State {
            var asked: [String] = []
            var waiting: [String: [HostCompletion]] = [:]
        }

        let cancelled = Locked(0)
        private let table: [String: HostResult]
        private let state = Locked(State())

        init(_ table: [String: HostResult]) {
            self.table = table
        }

        var asked: [String] { state.withLock(\.asked) }

        func lookUp(_ name: String, _ completion: @escaping HostCompletion) -> any HostLookup {
            state.withLock { $0.asked.append(name) }
            if let result = table[name] {
                completion(result)
            } else {
                state.withLock { $0.waiting[name, default: []].append(completion) }
            }
            return Share(cancelled: cancelled)
        }

        /// Ends the look-ups of a name that is not in the table.
        func answer(_ name: String, _ result: HostResult) {
            for completion in state.withLock({ $0.waiting.removeValue(forKey: name) ?? [] }) { completion(result) }
        }
    }

    private let loopback = HostResult.success([HostAddress(trusted: "127.0.0.1")])

    /// What an exchange makes of a name.
    @Suite(.timeLimit(.minutes(5))) struct LookupTests {
        private func with(
            _ table: [String: HostResult], _ server: WireServer? = nil,
            _ body: (CurlTransport, TableResolver, WireServer) async throws -> Void
        ) async throws {
            let server = try server ?? .answering(okay)
            defer { server.stop() }
            let resolver = TableResolver(table)
            let transport = CurlTransport(.init(), finder: resolver)
            do {
                try await body(transport, resolver, server)
            } catch {
                await transport.shutdown()
                throw error
            }
            await transport.shutdown()
        }

        private func get(_ host: String, _ server: WireServer, _ timeouts: Timeouts = .init()) throws
            -> TransportRequest
        {
            let url = try HTTPURL("http://\(host):\(server.port)/")
            return TransportRequest(HTTPRequest(method: .get, url: url), timeouts: timeouts)
        }

        private func until(_ condition: () -> Bool) async throws {
            while !condition() { try await Task.sleep(for: .milliseconds(2)) }
        }

        // MARK: Names that are answered

        @Test(arguments: ["good.test", "good.test.", "with_underscore.test", "xn--bcher-kva.test"])
        func `A name is looked up once for a connection, and never for one that is kept alive`(_ host: String)
            async throws
        {
            try await with([host: loopback]) { transport, resolver, server in
                for number in 0..<5 {
                    let answer = try await transport.perform(get(host, server))
                    #expect(answer.connection.isReused == (number > 0))
                    #expect(answer.connection.remoteAddress == "127.0.0.1")
                    #expect((answer.timings.nameLookup != nil) == (number == 0))
                }
                #expect(resolver.asked == [host])
                #expect(server.connections == 1)
            }
        }

        @Test(arguments: ["127.0.0.1", "localhost", "any.localhost"])
        func `What needs no look-up is not looked up`(_ host: String) async throws {
            try await with([:]) { transport, resolver, server in
                let answer = try await transport.perform(get(host, server))
                #expect(answer.response.status == 200)
                #expect(resolver.asked.isEmpty)
            }
        }

        @Test func `Every address is tried, those of either family`() async throws {
            let addresses = ["::1", "127.0.0.2", "2001:db8::1", "127.0.0.1"].map { HostAddress(trusted: $0) }
            try await with(["many.test": .success(addresses)]) { transport, _, server in
                let answer = try await transport.perform(get("many.test", server, .init(connect: .seconds(20))))
                #expect(answer.connection.remoteAddress == "127.0.0.1")
            }
        }

        @Test func `A thousand addresses are no too many`() async throws {
            let addresses = (0..<1_000).map { HostAddress(trusted: "127.0.\($0 / 250).\($0 % 250 + 2)") }
            let result = HostResult.success([HostAddress(trusted: "127.0.0.1")] + addresses)
            try await with(["many.test": result]) { transport, _, server in
                let answer = try await transport.perform(get("many.test", server))
                #expect(answer.response.status == 200)
            }
        }

        @Test func `The times of an exchange count from its start, the look-up included`() async throws {
            try await with([:]) { transport, resolver, server in
                async let answer = transport.perform(get("late.test", server))
                try await until { resolver.asked == ["late.test"] }
                try await Task.sleep(for: .milliseconds(80))
                resolver.answer("late.test", loopback)
                let timings = try await answer.timings
                let phases = [timings.nameLookup, timings.connected, timings.requestStart, timings.responseStart]
                let known = (phases + [timings.total]).compactMap { $0 }
                #expect(known.count == 5)
                #expect(known == known.sorted())
                #expect(known[0] >= .milliseconds(80))
            }
        }

        @Test func `A body that can be read once survives the look-up`() async throws {
            try await with(["good.test": loopback]) { transport, _, server in
                let (chunks, continuation) = HTTPBody.Chunks.makeStream()
                continuation.yield(Data("once".utf8))
                continuation.finish()
                let url = try HTTPURL("http://good.test:\(server.port)/")
                let request = HTTPRequest(method: .post, url: url, body: .onceOnly(length: 4, chunks))
                #expect(try await transport.perform(TransportRequest(request)).response.status == 200)
                #expect(server.requests.map(\.body) == ["once"])
            }
        }

        @Test func `Through a proxy the name of the proxy is looked up, and no other`() async throws {
            try await with(["proxy.test": loopback]) { transport, resolver, server in
                var order = try get("origin.test", server)
                order.proxy = .http(try HTTPURL("http://proxy.test:\(server.port)"))
                #expect(try await transport.perform(order).response.status == 200)
                order.proxy = .socks5("PROXY.test", port: Int(server.port))
                order.timeouts.connect = .milliseconds(100)
                #expect(try await failure(transport, order).kind == .timeout(.connect))
                #expect(resolver.asked == ["proxy.test", "proxy.test"])
            }
        }

        @Test func `An exchange that is suspended while its name is looked up goes on when it is resumed`() async throws
        {
            try await with([:]) { transport, resolver, server in
                let order = try get("late.test", server)
                async let answer = transport.perform(order)
                try await until { !resolver.asked.isEmpty }
                order.control.suspend()
                resolver.answer("late.test", loopback)
                try await goAround(transport)
                #expect(server.requests.isEmpty)
                order.control.resume()
                let status = try await answer.response.status
                #expect(status == 200)
                #expect(resolver.asked.count == 1)
            }
        }

        @Test func `Resuming begins no second look-up`() async throws {
            try await with([:]) { transport, resolver, server in
                let order = try get("late.test", server)
                async let answer = transport.perform(order)
                try await until { !resolver.asked.isEmpty }
                order.control.suspend()
                order.control.resume()
                try await goAround(transport)
                resolver.answer("late.test", loopback)
                let status = try await answer.response.status
                #expect(status == 200)
                #expect(resolver.asked.count == 1)
            }
        }

        @Test func `A name without an address is not found, and a proxy's is the proxy's failure`() async throws {
            try await with(["none.test": .failure(.notFound("no such name"))]) { transport, _, server in
                var order = try get("none.test", server)
                var error = try await failure(transport, order)
                #expect(error.kind == .unreachable(.nameNotResolved))
                #expect(error.sendState == .unsent)
                #expect(error.message.contains("none.test"))
                order.proxy = .http(try HTTPURL("http://none.test:1"))
                error = try await failure(transport, order)
                #expect(error.kind == .unreachable(.proxy))
            }
        }

        // MARK: Names that are not

        @Test(
            "A look-up that does not end is ended by the time to connect, and nobody waits for it",
            .covers("H13", "H31"))
        func stall() async throws {
            try await with([:]) { transport, resolver, server in
                let start = ContinuousClock.now
                let timeouts = Timeouts(connect: .milliseconds(200), firstByte: nil, idle: nil, total: .seconds(30))
                let error = try await failure(transport, get("slow.test", server, timeouts))
                #expect(ContinuousClock.now - start >= .milliseconds(200))
                #expect(error.kind == .timeout(.connect))
                #expect(error.sendState == .unsent)
                #expect(error.timings.nameLookup == nil)
                #expect(error.timings.total.map { $0 >= .milliseconds(190) } == true)
                #expect(error.message.contains("look-up"))
                #expect(resolver.cancelled.withLock { $0 } == 1)
            }
        }

        @Test("A look-up that does not end is over at once when its exchange is cancelled", .covers("H31"))
        func cancelled() async throws {
            try await with([:]) { transport, resolver, server in
                let order = try get("slow.test", server)
                async let error = failure(transport, order)
                try await until { !resolver.asked.isEmpty }
                order.control.cancel()
                let end = try await error
                #expect(end.kind == .cancelled)
                #expect(end.sendState == .unsent)
                #expect(resolver.cancelled.withLock { $0 } == 1)
                resolver.answer("slow.test", loopback)
                try await goAround(transport)
                #expect(server.connections == 0)
            }
        }

        @Test("Shutting down waits for no look-up", .covers("H31"))
        func shutdown() async throws {
            let (asking, asked) = (Gate(), Locked(0))
            defer { asking.open() }
            let resolver = SystemResolver(ask: { _ in
                asked.withLock { $0 += 1 }
                asking.wait()
                return loopback
            })
            let transport = CurlTransport(.init(), finder: resolver)
            let request = HTTPRequest(method: .get, url: try HTTPURL("http://slow.test/"))
            async let error = failure(transport, TransportRequest(request))
            try await until { asked.withLock { $0 } == 1 }
            await transport.shutdown()
            let end = try await error
            #expect(end.kind == .cancelled)
        }

        /// Counts what another resolver is asked for.
        private struct CountingResolver: HostFinder {
            let other: SystemResolver
            let count = Locked(0)

            func lookUp(_ name: String, _ completion: @escaping HostCompletion) -> any HostLookup {
                count.withLock { $0 += 1 }
                return other.lookUp(name, completion)
            }
        }

        @Test("Five hundred names that are never answered hold up nobody else, and take few threads", .covers("H31"))
        func flood() async throws {
            let (asking, asked, threads) = (Gate(), Locked(0), Locked((now: 0, most: 0)))
            defer { asking.open() }
            let system = SystemResolver(
                ask: { name in
                    guard name.hasPrefix("slow") else { return loopback }
                    asked.withLock { $0 += 1 }
                    asking.wait()
                    return loopback
                },
                startThread: { body in
                    threads.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    return SystemThread.start("penstock.names") {
                        body()
                        threads.withLock { $0.now -= 1 }
                    }
                })
            let resolver = CountingResolver(other: system)
            let server = try WireServer.answering(okay)
            defer { server.stop() }
            let transport = CurlTransport(.init(), finder: resolver)
            let timeouts = Timeouts(connect: .seconds(60), firstByte: nil, idle: nil, total: .seconds(60))
            let orders = try (0..<500).map { try get("slow\($0).test", server, timeouts) }
            let calls = orders.map { order in Task { try await failure(transport, order).kind } }
            try await until { resolver.count.withLock { $0 } == 500 }
            try await until { asked.withLock { $0 } >= SystemResolver.mostWorkers }
            // Connections that are there serve meanwhile.
            for _ in 0..<50 { _ = try await transport.perform(get("127.0.0.1", server)) }
            // Everybody still waits for the slow ones, and new names are looked up all the same.
            for name in ["good.test", "fine.test"] {
                let start = ContinuousClock.now
                #expect(try await transport.perform(get(name, server)).response.status == 200)
                #expect(ContinuousClock.now - start < .seconds(5))
            }
            for order in orders { order.control.cancel() }
            for call in calls { #expect(try await call.value == .cancelled) }
            #expect(try await transport.perform(get("last.test", server)).response.status == 200)
            #expect(threads.withLock { $0.most } <= SystemResolver.mostThreads)
            await transport.shutdown()
        }
    }

    /// Who looks what up, and how many at a time.
    @Suite(.timeLimit(.minutes(5))) struct SystemResolverTests {
        /// A resolver whose look-ups last until they are let go, on threads that are counted.
        private final class Rig: Sendable {
            private struct State {
                var asked: [String] = []
                var threads = 0
                var refusesThreads = false
                var mostThreads = 0
            }

            /// Holds back names that begin with "slow", and those that begin with "late".
            let (gate, lateGate) = (Gate(), Gate())
            private let pauses = DispatchSemaphore(value: 0)
            private let state = Locked(State())
            let answers = Locked<[HostResult]>([])

            var asked: [String] { state.withLock(\.asked) }
            var threads: Int { state.withLock(\.threads) }
            /// How many there were at once.
            var mostThreads: Int { state.withLock(\.mostThreads) }

            /// Lets threads beyond the first bound begin that pause, or will.
            func passPauses(_ count: Int) {
                for _ in 0..<count { pauses.signal() }
            }

            func refuseThreads() {
                state.withLock { $0.refusesThreads = true }
            }

            func resolver() -> SystemResolver {
                SystemResolver(
                    ask: { name in
                        self.state.withLock { $0.asked.append(name) }
                        if name.hasPrefix("slow") { self.gate.wait() }
                        if name.hasPrefix("late") { self.lateGate.wait() }
                        return loopback
                    },
                    startThread: { body in
                        guard !self.state.withLock(\.refusesThreads) else { return false }
                        self.state.withLock {
                            $0.threads += 1
                            $0.mostThreads = max($0.mostThreads, $0.threads)
                        }
                        return SystemThread.start("penstock.names") {
                            body()
                            self.state.withLock { $0.threads -= 1 }
                        }
                    },
                    sleep: { duration in
                        guard duration == SystemResolver.reliefPause else { return _ = usleep(duration) }
                        _ = self.pauses.wait(timeout: .now() + 120)
                    })
            }

            func lookUp(_ name: String, _ resolver: SystemResolver) -> any HostLookup {
                resolver.lookUp(name) { result in self.answers.withLock { $0.append(result) } }
            }

            func until(_ condition: () -> Bool) async throws {
                while !condition() { try await Task.sleep(for: .milliseconds(2)) }
            }
        }

        @Test func `Those who ask for one name share its look-up`() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            for _ in 0..<10 { _ = rig.lookUp("slow.test", resolver) }
            try await rig.until { rig.asked.count == 1 }
            rig.gate.open()
            try await rig.until { rig.answers.withLock(\.count) == 10 }
            #expect(rig.asked == ["slow.test"])
            try await rig.until { rig.threads == 0 }
        }

        @Test func `A look-up that was given up serves the next who asks for the name`() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            for _ in 0..<100 {
                let lookup = rig.lookUp("slow.test", resolver)
                try await rig.until { rig.asked.count == 1 }
                lookup.cancel()
                lookup.cancel()
            }
            #expect(rig.threads == 1)
            _ = rig.lookUp("slow.test", resolver)
            rig.gate.open()
            try await rig.until { rig.answers.withLock(\.count) == 1 }
            #expect(rig.asked.count == 1)
        }

        @Test("Names beyond the 32 that are looked up at a time stand in line", .covers("H31"))
        func line() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            for number in 0..<100 { _ = rig.lookUp("slow\(number).test", resolver) }
            // The threads are counted before the names that they ask for. One of them pauses.
            #expect(rig.threads == 33)
            try await rig.until { rig.asked.count >= 32 }
            #expect(rig.threads == 33 && rig.asked.count == 32)
            _ = rig.lookUp("good.test", resolver)
            #expect(!rig.asked.contains("good.test"))
            rig.gate.open()
            rig.passPauses(100)
            try await rig.until { rig.answers.withLock(\.count) == 101 }
            #expect(Set(rig.asked).count == 101)
            try await rig.until { rig.threads == 0 }
        }

        @Test(
            "A name is late by one pause where those before it are never answered, and is asked for first",
            .covers("H31"))
        func relief() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            for number in 0..<100 { _ = rig.lookUp("slow\(number).test", resolver) }
            try await rig.until { rig.asked.count == 32 }
            for number in 0..<20 { _ = rig.lookUp("good\(number).test", resolver) }
            rig.passPauses(1)
            // A thread whose names are answered promptly goes on, until it meets one that is not.
            try await rig.until { rig.answers.withLock(\.count) == 20 && rig.asked.count == 53 }
            #expect(rig.asked[32..<52].allSatisfy { $0.hasPrefix("good") })
            #expect(rig.threads == 34)
            rig.gate.open()
            rig.passPauses(100)
            try await rig.until { rig.answers.withLock(\.count) == 120 }
            try await rig.until { rig.threads == 0 }
        }

        @Test(
            "However many names are never answered, there are spare threads for new ones, and no more than 64 in all",
            .covers("H31"))
        func reliefBound() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            let most = SystemResolver.mostThreads
            for number in 0..<100 { _ = rig.lookUp("slow\(number).test", resolver) }
            rig.passPauses(SystemResolver.spare)
            try await rig.until { rig.asked.count == most - SystemResolver.spare }
            #expect(rig.threads == most - SystemResolver.spare)
            for number in 0..<5 {
                _ = rig.lookUp("good\(number).test", resolver)
                rig.passPauses(1)
                try await rig.until { rig.answers.withLock(\.count) == number + 1 }
            }
            for number in 100..<200 { _ = rig.lookUp("slow\(number).test", resolver) }
            rig.passPauses(SystemResolver.spare)
            try await rig.until { rig.asked.count == most + 5 }
            _ = rig.lookUp("good.test", resolver)
            #expect(!rig.asked.contains("good.test"))
            #expect(rig.mostThreads == most)
            rig.gate.open()
            rig.passPauses(100)
            try await rig.until { rig.answers.withLock(\.count) == 206 }
            try await rig.until { rig.threads == 0 }
        }

        @Test("Threads beyond the first bound end with what they were started for", .covers("H31"))
        func reliefEnd() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            for number in 0..<60 { _ = rig.lookUp("slow\(number).test", resolver) }
            rig.passPauses(8)
            try await rig.until { rig.asked.count == 40 && rig.threads == 41 }
            for number in 0..<100 { _ = rig.lookUp("late\(number).test", resolver) }
            rig.gate.open()
            try await rig.until { rig.asked.count >= 72 && rig.threads <= 33 }
            #expect(rig.asked.count == 72 && rig.threads == 33)
            rig.lateGate.open()
            rig.passPauses(100)
            try await rig.until { rig.answers.withLock(\.count) == 160 }
            try await rig.until { rig.threads == 0 }
        }

        @Test("Threads that nobody waits for make room for others, up to a bound of their own", .covers("H31"))
        func abandoned() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            let first = (0..<200).map { rig.lookUp("slow1-\($0).test", resolver) }
            try await rig.until { rig.asked.count == SystemResolver.mostWorkers }
            for lookup in first { lookup.cancel() }
            rig.passPauses(1)
            _ = rig.lookUp("good.test", resolver)
            try await rig.until { rig.answers.withLock(\.count) == 1 }
            rig.answers.withLock { $0 = [] }
            for wave in 2...3 {
                let lookups = (0..<200).map { rig.lookUp("slow\(wave)-\($0).test", resolver) }
                try await rig.until { rig.asked.count == SystemResolver.mostThreads + 1 }
                for lookup in lookups { lookup.cancel() }
            }
            #expect(rig.threads == SystemResolver.mostThreads)
            _ = rig.lookUp("good.test", resolver)
            rig.gate.open()
            rig.passPauses(100)
            try await rig.until { rig.answers.withLock(\.count) == 1 }
            try await rig.until { rig.threads == 0 }
            // What was given up in line was never asked for.
            #expect(rig.asked.count == SystemResolver.mostThreads + 2)
        }

        @Test func `Without a thread a look-up fails at once`() async throws {
            let rig = Rig()
            rig.refuseThreads()
            let resolver = rig.resolver()
            _ = rig.lookUp("good.test", resolver)
            #expect(rig.answers.withLock { $0 } == [.failure(.noThread)])
        }

        @Test func `Without a further thread those that there are do the work`() async throws {
            let rig = Rig()
            let resolver = rig.resolver()
            _ = rig.lookUp("slow.test", resolver)
            try await rig.until { rig.asked.count == 1 }
            rig.refuseThreads()
            _ = rig.lookUp("good.test", resolver)
            #expect(rig.answers.withLock(\.isEmpty))
            rig.gate.open()
            try await rig.until { rig.answers.withLock(\.count) == 2 }
        }

        @Test(arguments: [("fe80::1", 7), ("fe80::2", 0), ("2001:db8::1", 0)])
        func `A link-local address is connected to by its own interface`(_ text: String, _ zone: Int) throws {
            let size = MemoryLayout<curl_sockaddr>.size + MemoryLayout<sockaddr_in6>.size
            let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            defer { memory.deallocate() }
            memset(memory, 0, size)
            let target = memory.assumingMemoryBound(to: curl_sockaddr.self)
            target.pointee.family = AF_INET6
            target.pointee.addrlen = UInt32(MemoryLayout<sockaddr_in6>.size)
            let place = memory + (try #require(MemoryLayout<curl_sockaddr>.offset(of: \.addr)))
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = 80
            #expect(inet_pton(AF_INET6, text, &address.sin6_addr) == 1)
            place.copyMemory(from: &address, byteCount: MemoryLayout<sockaddr_in6>.size)
            HostAddress.restoreZone(of: target, ["fe80::1": 7])
            let result = place.loadUnaligned(as: sockaddr_in6.self)
            #expect(Int(result.sin6_scope_id) == zone)
            #expect(result.sin6_port == 80)
        }

        @Test func `The system's own names are found, and others are not`() throws {
            let addresses = try SystemResolver.addresses(of: "localhost").get()
            #expect(addresses.contains(HostAddress(trusted: "127.0.0.1")))
            #expect(throws: HostFailure.self) { try SystemResolver.addresses(of: "no-such-name.invalid").get() }
        }
    }
#endif
