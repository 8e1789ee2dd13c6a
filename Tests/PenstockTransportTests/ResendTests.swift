import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Writes something, with a mark by which the server knows it.
private struct Write: Endpoint {
    typealias Output = Data
    let mark: String
    var method = HTTPMethod.post
    var size = 10
    var route: Route { Route(method, "/write") }
    var body: HTTPBody { .bytes(Data(repeating: 7, count: size)) }
    var headers: HeaderEdits { ["X-Mark": mark] }
}

/// How often each kind of wire goes through every pair of effect and trigger; with `PENSTOCK_SOAK=full`, 1,000 times.
private let rounds = ProcessInfo.processInfo.environment["PENSTOCK_SOAK"] == "full" ? 1_000 : 12

/// What is sent again, and that nothing is done twice, on real sockets.
@Suite("Resending on the wire", .timeLimit(.minutes(rounds > 12 ? 60 : 5)))
struct ResendTests {
    private typealias Fault = LoopbackServer.Fault

    /// Counts how often each request was processed.
    private final class Books: Sendable {
        private let counts = Locked<[String: Int]>([:])

        func book(_ request: LoopbackServer.Request) {
            counts.withLock { $0[request.fields["X-Mark"] ?? "", default: 0] += 1 }
        }

        func count(_ mark: String) -> Int { counts.withLock { $0[mark, default: 0] } }
    }

    private static let onceOnly = TransportUnderTest.withWire.filter { $0.capabilities.contains(.sendsOnce) }

    @Test(
        "A POST whose connection, used before, dies after it was sent is not sent again, unless it has a key",
        .covers("H15", "S3.31"),
        arguments: onceOnly)
    func reusedConnection(transport: TransportUnderTest) async throws {
        for (options, hits) in [(CallOptions(), 1), (.idempotency(.key), 2)] {
            let server = try LoopbackServer(faults: [nil, .init(.close, at: .responseStart)]) { _ in .text("ok") }
            try await Shop.run(transport, on: server) { server, client in
                _ = try await client.send(Page())
                let error = await client.failure(Write(mark: "a"), options: options)
                let writes = server.requests.filter { $0.path == "/write" }
                #expect(writes.count == hits)
                #expect(writes.first?.connection == 1)
                #expect((error == nil) == (hits == 2))
                if hits == 1 {
                    #expect(error?.kind == .transport(.connectionLost))
                    #expect(error?.sendState == .maybeProcessed)
                    #expect(error?.attempts.count == 1)
                } else {
                    #expect(Set(writes.map { $0.fields["Idempotency-Key"] }).count == 1)
                    #expect(writes.last?.connection != 1)
                }
            }
        }
    }

    #if os(Linux)
        /// A server of HTTP/2 that ends the first write in some way, and books all others.
        private static func server(
            _ authority: TestCertificateAuthority, ending effect: Fault.Effect, _ writes: Locked<Int>, _ books: Books
        ) throws -> LoopbackServer {
            try LoopbackServer(
                .init(tls: LoopbackServer.TLS(try authority.issue(), protocols: [.http2])),
                onHead: { request in
                    guard request.path == "/write" else { return .proceed }
                    let number = writes.withLock { writes in
                        writes += 1
                        return writes
                    }
                    // With everything read, so that the end of the connection does not overtake what is said before.
                    return number == 1 ? .fault(effect, at: .requestBody(after: 1_000)) : .proceed
                },
                handler: { request in
                    books.book(request)
                    return .text("ok")
                })
        }

        @Test(
            "A request that the server left unprocessed, by GOAWAY or REFUSED_STREAM, is sent once more on a new connection, even a POST",
            .covers("H14", "S3.31"),
            arguments: TransportUnderTest.withTrust, [HTTPMethod.get, .post])
        func unprocessed(transport: TransportUnderTest, method: HTTPMethod) async throws {
            let authority = try TestCertificateAuthority()
            // A refusal on a connection that carried others libcurl takes for a lost answer.
            let effects: [(effect: Fault.Effect, isWarm: Bool)] = [
                (.closeStream(.refusedStream), false), (.goAway(lastStream: 0, .noError), false),
                (.goAway(lastStream: 0, .enhanceYourCalm), false), (.goAway(lastStream: 1, .noError), true),
                (.shutDown, false), (.shutDown, true),
            ]
            for (effect, isWarm) in effects {
                let (writes, books) = (Locked(0), Books())
                let server = try Self.server(authority, ending: effect, writes, books)
                try await Shop.run(
                    transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }
                ) { server, client in
                    if isWarm { _ = try await client.send(Page()) }
                    let error = await client.failure(Write(mark: "a", method: method))
                    #expect(error == nil, "\(effect), \(isWarm)")
                    #expect(books.count("a") == 1, "\(effect), \(isWarm)")
                    #expect(writes.withLock { $0 } == 2, "\(effect), \(isWarm)")
                    #expect(server.connectionCount == 2, "\(effect), \(isWarm)")
                }
            }
        }

        @Test(
            "What HTTP/1.1 is required for is made over it from the second write on, and by the repetition of one with a key",
            .covers("H15", "S3.31"), arguments: TransportUnderTest.withTrust.filter { $0.name == "libcurl" },
            [HTTPMethod.post, .patch])
        func requiringHTTP1(transport: TransportUnderTest, method: HTTPMethod) async throws {
            let authority = try TestCertificateAuthority()
            for options in [CallOptions(), .idempotency(.key)] {
                let (books, isKeyed) = (Books(), options.idempotency == .key)
                let server = try LoopbackServer(
                    .init(tls: .init(try authority.issue(), protocols: [.http2, .http1])),
                    onHead: { request in
                        let isRefused = request.stream != nil && request.path == "/write"
                        return isRefused ? .fault(.closeStream(.http11Required), at: .requestBody(after: 1)) : .proceed
                    },
                    handler: { request in
                        books.book(request)
                        return .text("ok")
                    })
                try await Shop.run(
                    transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }
                ) { server, client in
                    let first = await client.failure(Write(mark: "a", method: method), options: options)
                    #expect(first?.kind == (isKeyed ? nil : .transport(.connectionLost)))
                    #expect(first?.sendState == (isKeyed ? nil : .maybeProcessed))
                    #expect(books.count("a") == (isKeyed ? 1 : 0))
                    let second = await client.failure(Write(mark: "b", method: method), options: options)
                    #expect(second == nil && books.count("b") == 1)
                    // What is learned of one user's connections is not used for another's.
                    let other = client.with { $0.identity = { "bob" } }
                    #expect(await other.failure(Write(mark: "c", method: method))?.sendState == .maybeProcessed)
                    #expect(server.faults.count == 2)
                }
            }
        }

        @Test(
            "A request that is always refused is sent on a new connection each time, and no more often than is allowed",
            .covers("H14", "S3.31"),
            arguments: TransportUnderTest.withTrust, [HTTPMethod.get, .post])
        func alwaysRefused(transport: TransportUnderTest, method: HTTPMethod) async throws {
            let authority = try TestCertificateAuthority()
            for limit in 0...2 {
                let tls = LoopbackServer.TLS(try authority.issue(), protocols: [.http2])
                let (connections, books) = (Locked<[Int]>([]), Books())
                let server = try LoopbackServer(
                    .init(tls: tls),
                    onHead: { request in
                        connections.withLock { $0.append(request.connection) }
                        return .fault(.closeStream(.refusedStream), at: .requestBody(after: 1_000))
                    },
                    handler: { request in
                        books.book(request)
                        return .text("ok")
                    })
                try await Shop.run(
                    transport, on: server,
                    configured: { configuration in
                        configuration.options.trust = .authorities(authority.file)
                        configuration.options.retry = RetryPolicy(limit: limit, backoff: .init(base: .zero))
                    }
                ) { server, client in
                    let error = await client.failure(Write(mark: "a", method: method))
                    #expect(error?.kind == .transport(.connectionLost))
                    #expect(error?.attempts.prefix(2).map(\.sendState) == [.unprocessed, .unprocessed])
                    #expect(books.count("a") == 0)
                    let sent = connections.withLock { $0 }
                    #expect(Set(sent).count == sent.count)
                    #expect(error?.attempts.count == sent.count)
                    switch (limit, method) {
                    case (0, _): #expect(sent.count == 2 && error?.sendState == .unprocessed)
                    case (_, .post):
                        // The next attempt goes over a connection that the first one has made, where that is there by
                        // then, and there a refusal is no proof.
                        #expect((3...2 + 2 * limit).contains(sent.count))
                        #expect(sent.count > 3 || error?.sendState == .maybeProcessed)
                    default:
                        // The transport sends what is idempotent once more, and leaves the rest to the policy.
                        #expect(sent.count == 2 + 2 * limit)
                    }
                }
            }
        }

        @Test(
            "Refused on a connection that carried others, a GET is sent again, and a POST counts as maybe processed",
            .covers("H14", "S3.31"),
            arguments: TransportUnderTest.withTrust, [HTTPMethod.get, .post])
        func refusedOnWarmConnection(transport: TransportUnderTest, method: HTTPMethod) async throws {
            let authority = try TestCertificateAuthority()
            let (writes, books) = (Locked(0), Books())
            let server = try Self.server(authority, ending: .closeStream(.refusedStream), writes, books)
            try await Shop.run(
                transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }
            ) { server, client in
                _ = try await client.send(Page())
                let error = await client.failure(Write(mark: "a", method: method))
                // Nothing is done twice where the transport cannot tell a refusal from a lost answer.
                let isSentAgain = method == .get
                #expect(error?.kind == (isSentAgain ? nil : .transport(.connectionLost)))
                #expect(error?.sendState == (isSentAgain ? nil : .maybeProcessed))
                #expect(writes.withLock { $0 } == (isSentAgain ? 2 : 1))
                #expect(books.count("a") == (isSentAgain ? 1 : 0))
            }
        }

        @Test(
            "A refusal is no proof for the next request, also where there was no connection to send the refused one over",
            .covers("X8"),
            arguments: TransportUnderTest.withTrust)
        func staleRefusal(transport: TransportUnderTest) async throws {
            let authority = try TestCertificateAuthority()
            let tls = LoopbackServer.TLS(try authority.issue(), protocols: [.http2])
            let books = Books()
            let server = try LoopbackServer(
                .init(tls: tls), onConnect: { $0 == 2 ? .init(.reset, at: .firstBytes) : nil },
                onHead: { request in
                    switch request.fields["X-Mark"] {
                    case "refused": .fault(.closeStream(.refusedStream), at: .requestBody(after: 1_000))
                    case "lost": .fault(.reset, at: .responseStart)
                    default: .proceed
                    }
                },
                handler: { request in
                    books.book(request)
                    return .text("ok")
                })
            try await Shop.run(
                transport, on: server,
                configured: { configuration in
                    configuration.options.trust = .authorities(authority.file)
                    configuration.options.retry = RetryPolicy.none
                }
            ) { server, client in
                _ = try await client.send(Page())
                #expect(await client.failure(Write(mark: "refused")) != nil)
                #expect(server.connectionCount == 2)
                let error = await client.failure(Write(mark: "lost"))
                #expect(error?.sendState == .maybeProcessed)
                #expect(books.count("lost") == 1)
                #expect(server.connectionCount == 3)
            }
        }

        @Test(
            "What a GOAWAY left out before is no proof for the attempt that follows",
            .covers("X8", "H14"),
            arguments: TransportUnderTest.withTrust)
        func staleLeave(transport: TransportUnderTest) async throws {
            let authority = try TestCertificateAuthority()
            let tls = LoopbackServer.TLS(try authority.issue(), protocols: [.http2])
            let (books, writes) = (Books(), Locked(0))
            let server = try LoopbackServer(
                .init(tls: tls),
                onHead: { request in
                    guard request.path == "/write" else { return .proceed }
                    let number = writes.withLock { writes in
                        writes += 1
                        return writes
                    }
                    return switch number {
                    case 1: .fault(.goAway(lastStream: 1, .noError), at: .requestBody(after: 1_000))
                    case 2: .fault(.closeStream(.cancel), at: .responseStart)
                    default: .proceed
                    }
                },
                handler: { request in
                    books.book(request)
                    return .text("ok")
                })
            try await Shop.run(
                transport, on: server, configured: { $0.options.trust = .authorities(authority.file) }
            ) { server, client in
                _ = try await client.send(Page())
                let error = await client.failure(Write(mark: "a"))
                #expect(error?.sendState == .maybeProcessed)
                #expect(books.count("a") == 1)
                #expect(server.connectionCount == 2)
            }
        }
    #endif

    // MARK: Nothing is done twice

    /// One write and what goes wrong with it.
    private struct Plan: Sendable {
        let mark: String
        let method: HTTPMethod
        let size: Int
        /// One for each time that the server sees its head.
        let faults: [Fault]

        init(_ number: Int, _ seed: UInt64, multiplexed isMultiplexed: Bool) {
            var random = Seeded(seed: seed &* 0x9E37_79B9 &+ UInt64(number))
            mark = "\(seed)-\(number)"
            method = [.post, .patch, .put].randomElement(using: &random) ?? .post
            size = [0, 10, 5_000, 100_000].randomElement(using: &random) ?? 10
            // Each write has one of all pairs of effect and trigger first, then others by chance.
            var effects: [Fault.Effect] = [.close, .reset, .shutDown, .stall, .closeStream(.cancel)]
            // A GOAWAY speaks for the streams of others too, which the server may have processed already: what is left out is so by
            // `shutDown`, which tells the truth of all, and this one leaves nothing out.
            if isMultiplexed { effects += [.closeStream(.refusedStream), .goAway(lastStream: .max, .noError)] }
            func trigger(_ number: Int) -> Fault.Trigger {
                let triggers: [Fault.Trigger] = [
                    .requestStart, .requestBody(after: Int.random(in: 0...20_000, using: &random)), .responseStart,
                    .responseBody(after: Int.random(in: 0...9, using: &random)), .responseEnd,
                ]
                return triggers[number % triggers.count]
            }
            func fault(_ number: Int) -> Fault {
                let fault = Fault(effects[number / 5 % effects.count], at: trigger(number))
                // Who says that nothing was done after doing it lies, and no client can know.
                let isDenial = fault.effect == .closeStream(.refusedStream)
                switch fault.trigger {
                case .responseStart, .responseBody, .responseEnd:
                    return isDenial ? Fault(.reset, at: fault.trigger) : fault
                default: return fault
                }
            }
            let more = Int.random(in: 0...3, using: &random)
            faults = [fault(number)] + (0..<more).map { _ in fault(Int.random(in: 0..<35, using: &random)) }
        }
    }

    /// An effect and when it comes, without how many bytes later.
    private struct Pair: Hashable {
        let effect: Fault.Effect
        let trigger: Int

        init(_ fault: Fault) {
            effect = fault.effect
            trigger =
                switch fault.trigger {
                case .requestStart: 0
                case .requestBody: 1
                case .responseStart: 2
                case .responseBody: 3
                case .responseEnd: 4
                }
        }
    }

    private static let seed =
        ProcessInfo.processInfo.environment["PENSTOCK_SEED"].flatMap(UInt64.init) ?? .random(in: 1...1_000_000)

    /// What goes wrong with every seventh connection, before its first request.
    @Sendable private static func trouble(_ connection: Int) -> LoopbackServer.ConnectionFault? {
        guard connection.isMultiple(of: 7) else { return nil }
        let effects: [LoopbackServer.ConnectionFault.Effect] = [.close, .reset, .stall]
        return .init(effects[connection / 7 % 3], at: connection.isMultiple(of: 2) ? .accept : .firstBytes)
    }

    private func run(_ transport: TransportUnderTest, _ tls: LoopbackServer.TLS?, _ trust: TrustPolicy) async throws {
        let isMultiplexed = tls?.protocols == [.http2]
        let pairs = isMultiplexed ? 35 : 25
        let plans = (0..<rounds).flatMap { round in
            (0..<pairs).map { Plan($0, Self.seed &+ UInt64(round), multiplexed: isMultiplexed) }
        }
        let faults = Dictionary(uniqueKeysWithValues: plans.map { ($0.mark, $0.faults) })
        let books = Books()
        let heads = Locked<[String: Int]>([:])
        let server = try LoopbackServer(
            .init(tls: tls), onConnect: Self.trouble,
            onHead: { request in
                let mark = request.fields["X-Mark"] ?? ""
                let number = heads.withLock { heads in
                    heads[mark, default: 0] += 1
                    return heads[mark, default: 0]
                }
                guard let fault = faults[mark]?.dropFirst(number - 1).first else { return .proceed }
                return .fault(fault.effect, at: fault.trigger)
            },
            handler: { request in
                books.book(request)
                return .text("0123456789")
            })
        try await Shop.run(
            transport, on: server,
            configured: { configuration in
                configuration.options.trust = trust
                // Everything that may be sent again is, at once and as often as it takes.
                configuration.options.retry = RetryPolicy(
                    limit: 5, backoff: .init(base: .zero), timeouts: [.connect, .firstByte, .idle])
                configuration.options.timeouts = Timeouts(
                    connect: .seconds(1), firstByte: .milliseconds(500), idle: .milliseconds(500), total: .seconds(60))
                configuration.retryBudget = .unlimited
                configuration.circuitBreaker = nil
            }
        ) { server, client in
            let results = await withTaskGroup(of: (String, Bool, [APIError.Attempt]).self) { group in
                var results: [(String, Bool, [APIError.Attempt])] = []
                for (index, plan) in plans.enumerated() {
                    if index >= 16, let result = await group.next() { results.append(result) }
                    group.addTask {
                        let write = Write(mark: plan.mark, method: plan.method, size: plan.size)
                        do throws(APIError) {
                            return (plan.mark, true, try await client.response(for: write).attempts)
                        } catch {
                            return (plan.mark, false, error.attempts)
                        }
                    }
                }
                for await result in group { results.append(result) }
                return results
            }
            #expect(results.count == plans.count)
            let idempotent = Set(plans.filter(\.method.isIdempotent).map(\.mark))
            let twice = results.filter { books.count($0.0) > 1 && !idempotent.contains($0.0) }
            let places = twice.prefix(5).map { mark, _, attempts in
                let told = attempts.map { "\($0.outcome), \($0.sendState), \($0.connection)" }
                return
                    "\(mark): \(faults[mark] ?? []) \(told) \(server.requests.filter { $0.fields["X-Mark"] == mark })"
            }
            #expect(twice.isEmpty, "seed \(Self.seed): \(places)")
            // Each pair of effect and trigger that was planned has come about.
            let planned = Set(plans.compactMap(\.faults.first).map(Pair.init))
            let fired = Set(server.faults.map { Pair($0.fault) })
            // But for a refusal of what the server has done.
            #expect(planned.count == (isMultiplexed ? 32 : 25))
            #expect(planned.subtracting(fired).isEmpty, "seed \(Self.seed): \(planned.subtracting(fired))")
            // What succeeded was done.
            #expect(results.allSatisfy { !$0.1 || books.count($0.0) > 0 })
            let resent = heads.withLock { $0.filter { $0.value > 1 }.keys }
            // What is idempotent goes through the same, and is sent again, also where it was processed.
            #expect(idempotent.contains { books.count($0) > 1 })
            #expect(server.connectionCount >= 7)
            print(
                "resends: \(transport), HTTP/\(isMultiplexed ? 2 : 1.1), seed \(Self.seed): \(plans.count) writes,",
                "\(plans.count - idempotent.count) not idempotent; sent again \(resent.count), of which",
                "\(resent.count { !idempotent.contains($0) }) not idempotent; processed twice \(twice.count)")
            // A server that stalls has not seen that its clients have gone.
            server.stop()
        }
    }

    @Test(
        "Whatever goes wrong, and whenever, nothing that is not idempotent is processed twice",
        .covers("X8"),
        arguments: onceOnly)
    func nothingTwice(transport: TransportUnderTest) async throws {
        try await run(transport, nil, .system)
        #if os(Linux)
            guard transport.capabilities.contains(.trustPolicy) else { return }
            let authority = try TestCertificateAuthority()
            try await run(
                transport, .init(try authority.issue(), protocols: [.http2]), .authorities(authority.file))
        #endif
    }
}
