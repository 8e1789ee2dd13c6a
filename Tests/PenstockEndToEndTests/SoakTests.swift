#if os(Linux)
    import Foundation
    import Penstock
    import PenstockTestSupport
    import PenstockTesting
    import Testing

    /// Many calls through everything that a call passes by default, and nothing of them left afterwards.
    ///
    /// Each test has a process of its own, so that the descriptors and threads it counts are nobody else's. By default
    /// the first makes 10,000 calls; with `PENSTOCK_SOAK=full` it makes 100,000, and both print what they took.
    @Suite(.serialized, .timeLimit(.minutes(5)))
    struct SoakTests {
        @Test("Calls in sequence use one connection and leave nothing behind", .covers("S1.10"))
        func sequence() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await Soak.measure(calls: Soak.isFull ? 100_000 : 10_000, atOnce: 1)
            }
            Soak.show(result)
        }

        @Test("Calls at once, five hundred at a time, leave nothing behind", .covers("S2.7"))
        func crowd() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                try await Soak.measure(calls: 10_000, atOnce: 500)
            }
            Soak.show(result)
        }
    }

    /// The measurement, run in a process of its own.
    private enum Soak {
        static let isFull = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full"

        struct Item: Decodable, Sendable {
            let id: Int
        }

        struct GetItem: Endpoint {
            let id: Int
            var route: Route { .get("/items/\(id)") }
            typealias Output = Item
        }

        static func measure(calls: Int, atOnce: Int) async throws {
            // What is made once for the life of a process, as the timer of sleeping tasks, is made before anything is
            // counted. A sleep that is over before it is looked at needs no timer.
            try await run(calls: max(100, 2 * atOnce), atOnce: atOnce)
            try await Task.sleep(for: .milliseconds(100))
            let before = ProcessInventory()
            let begin = ContinuousClock.now
            let connections = try await run(calls: calls, atOnce: atOnce)
            let taken = begin.duration(to: .now)
            let after = await ProcessInventory.settled(at: before)
            #expect(after.descriptors == before.descriptors, "before: \(before); after: \(after)")
            #expect(after.threads <= before.threads, "before: \(before); after: \(after)")
            tell(
                "\(calls) calls, \(atOnce) at once: \(taken), \(connections) connections; before: \(before); after: \(after)"
            )
        }

        /// One life of a server and a client.
        ///
        /// - Returns: how many connections were made. One is enough for calls in sequence; of many that are idle at one
        ///   moment the pool keeps only some, so that a crowd may make more than it has calls at once.
        @discardableResult
        private static func run(calls: Int, atOnce: Int) async throws -> Int {
            var limits = LoopbackServer.Configuration()
            limits.recordedRequests = 0
            let server = try LoopbackServer(limits) { request in
                .json(#"{"retcode":0,"retdesc":"","data":{"id":\#(request.path.dropFirst("/items/".count))}}"#)
            }
            let client = client(of: server)
            let wrong = await withTaskGroup(of: Int.self) { group in
                for worker in 0..<atOnce {
                    group.addTask { await work(client, ids: stride(from: worker, to: calls, by: atOnce)) }
                }
                return await group.reduce(0, +)
            }
            #expect(wrong == 0)
            #expect(client.callCount == 0)
            #expect(server.requestCount == calls)
            if atOnce == 1 { #expect(server.connectionCount == 1) }
            #expect(server.openConnectionCount <= atOnce)
            await client.transport.shutdown()
            try await server.waitForOpenConnections(atMost: 0)
            server.stop()
            return server.connectionCount
        }

        private static func client(of server: LoopbackServer) -> APIClient {
            let service = Service(.main, [.test: server.url.absoluteString], envelope: .retcode)
            var configuration = APIClient.Configuration(services: [service])
            configuration.environment = .test
            configuration.options.cleartext = .loopback
            configuration.cookies = MemoryCookieStore()
            configuration.cache = .none
            return APIClient(configuration)
        }

        /// - Returns: how many calls did not bring what they asked for.
        private static func work(_ client: APIClient, ids: StrideTo<Int>) async -> Int {
            var wrong = 0
            for id in ids {
                let item = try? await client.send(GetItem(id: id))
                if item?.id != id { wrong += 1 }
            }
            return wrong
        }

        private static func tell(_ text: String) {
            FileHandle.standardError.write(Data("soak: \(text)\n".utf8))
        }

        static func show(_ result: ExitTest.Result?) {
            guard isFull, let result else { return }
            print(String(decoding: result.standardErrorContent, as: UTF8.self), terminator: "")
        }
    }
#endif
