import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// Whom a resolver asks, how long it believes them, and when it leaves a name to the system.
@Suite(.timeLimit(.minutes(5))) struct HostResolverTests {
    private static let one = HostAddress(trusted: "1.0.0.1")
    private static let two = HostAddress(trusted: "1.0.0.2")

    /// A source that counts, and may be told to wait or fail.
    private final class Source: HostSource {
        private struct Failure: Error {}
        let asked = Monitor(0)
        private let answers: Locked<[HostAnswer?]>
        private let gate: Monitor<Bool>

        /// - Parameter answers: one for each time it is asked, the last for all that follow; `nil` for a failure.
        init(_ answers: HostAnswer?..., isOpen: Bool = true) {
            self.answers = Locked(answers)
            gate = Monitor(isOpen)
        }

        var count: Int { asked.withLock { $0 } }

        func open() { gate.withLock { $0 = true } }

        func answer(for host: String, port: Int) async throws -> HostAnswer? {
            asked.withLock { $0 += 1 }
            await gate.wait { $0 }
            let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            guard let answer else { throw Failure() }
            return answer
        }
    }

    private static func answer(_ addresses: HostAddress..., seconds: Int = 60) -> HostAnswer {
        HostAnswer(addresses, lifetime: .seconds(seconds))
    }

    // MARK: Sources

    @Test(
        "The first source that knows the name is believed; who fails, or knows nothing, is passed over",
        .covers("S3.28"))
    func order() async throws {
        let (failing, knowing) = (Source(nil), Source(Self.answer(Self.one)))
        let silent = try StaticHosts(["other.example": ["9.9.9.9"]])
        let (empty, later) = (Source(HostAnswer([])), Source(Self.answer(Self.two)))
        let resolver = HostResolver([silent, failing, empty, knowing, later])
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        #expect(failing.count == 1 && empty.count == 1 && later.count == 0)
        #expect(await resolver.addresses(of: "other.example", port: 443)?.map(\.text) == ["9.9.9.9"])
    }

    @Test(
        "localhost and the names below it are this machine, whatever a source says", .covers("H27"),
        arguments: ["localhost", "localhost.", "a.localhost", "a.b.localhost."])
    func loopback(_ host: String) async throws {
        let source = Source(Self.answer(Self.one))
        let mapped = try StaticHosts(["localhost": ["1.0.0.1"]])
        for fallsBack in [true, false] {
            let resolver = HostResolver([mapped, source], fallsBackToSystem: fallsBack)
            #expect(await resolver.addresses(of: host, port: 80)?.map(\.text) == ["127.0.0.1", "::1"])
            #expect(await resolver.addresses(of: "notlocalhost", port: 80) == [Self.one])
        }
        #expect(await HostResolver.system.addresses(of: host, port: 80) == [])
        #expect(source.count == 2)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        let own = HostResolver([try StaticHosts([name: ["1.0.0.1", "127.0.0.2"]])])
        #expect(await own.addresses(of: name, port: 80)?.map(\.text) == ["127.0.0.2"])
    }

    @Test("A name that no source knows is left to the system, unless that is switched off", .covers("X17"))
    func fallback() async {
        let (open, closed) = (
            HostResolver([Source(nil)]), HostResolver([Source(nil)], fallsBackToSystem: false)
        )
        #expect(await open.addresses(of: "a.example", port: 443) == [])
        #expect(await closed.addresses(of: "a.example", port: 443) == nil)
        #expect(await HostResolver.system.addresses(of: "a.example", port: 443) == [])
        #expect(HostResolver.system.isSystem && !open.isSystem && !HostResolver([], fallsBackToSystem: false).isSystem)
    }

    @Test func `a source that does not answer is given up in time, and the next one asked`() async {
        let clock = TestClock()
        let (hanging, next) = (Source(Self.answer(Self.one), isOpen: false), Source(Self.answer(Self.two)))
        let resolver = HostResolver([hanging, next], patience: .seconds(2), time: clock.timeSource)
        async let addresses = resolver.addresses(of: "a.example", port: 443)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(next.count == 0)
        clock.advance(by: .nanoseconds(1))
        #expect(await addresses == [Self.two])
        hanging.open()
    }

    @Test func `those who ask at the same time are given one answer`() async {
        let source = Source(Self.answer(Self.one), isOpen: false)
        let resolver = HostResolver([source])
        await withTaskGroup(of: [HostAddress]?.self) { group in
            for _ in 0..<20 { group.addTask { await resolver.addresses(of: "a.example", port: 443) } }
            await source.asked.waitUnlessCancelled { $0 >= 1 }
            source.open()
            for await addresses in group { #expect(addresses == [Self.one]) }
        }
        #expect(source.count == 1)
    }

    // MARK: Time

    @Test("An answer is asked for again when it has run out; until that has come the old one is used", .covers("X17"))
    func staleWhileRefresh() async {
        let clock = TestClock()
        let source = Source(Self.answer(Self.one), Self.answer(Self.two))
        let resolver = HostResolver([source], patience: .seconds(1_000_000), time: clock.timeSource)
        for _ in 0..<3 { #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one]) }
        clock.advance(by: .seconds(60) - .milliseconds(1))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        #expect(source.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        await source.asked.waitUnlessCancelled { $0 >= 2 }
        while !Task.isCancelled, await resolver.addresses(of: "a.example", port: 443) != [Self.two] {
            await Task.yield()
        }
        #expect(source.count == 2)
    }

    @Test func `a refresh that fails leaves the old answer for a while, and no longer`() async {
        let clock = TestClock()
        let source = Source(Self.answer(Self.one), nil)
        let resolver = HostResolver([source], cache: HostCache(staleness: .seconds(100)), time: clock.timeSource)
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        clock.advance(by: .seconds(159))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        clock.advance(by: .seconds(1))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [])
    }

    @Test(
        "What a source says now takes the place of what it said before, be it for no time or that the name is gone",
        .covers("X17"), arguments: [HostAnswer([two]), HostAnswer([])])
    func replaced(next: HostAnswer) async throws {
        try await withFolder { folder in
            let clock = TestClock()
            let file = folder.appendingPathComponent("hosts")
            let source = Source(Self.answer(Self.one), next)
            let resolver = HostResolver([source], file: file, time: clock.timeSource)
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            clock.advance(by: .seconds(60))
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            while !Task.isCancelled, await resolver.addresses(of: "a.example", port: 443) != next.addresses {
                await Task.yield()
            }
            // A later start knows no more of it.
            while !Task.isCancelled {
                await resolver.flush()
                let later = HostResolver([Source(nil)], file: file, time: clock.timeSource)
                if await later.addresses(of: "a.example", port: 443) == [] { break }
            }
        }
    }

    @Test("A name that one source does not know, and another one has not answered for, keeps its old answer")
    func unanswered() async {
        let clock = TestClock()
        let first = Source(Self.answer(Self.one), HostAnswer([]))
        let resolver = HostResolver([first, Source(nil)], time: clock.timeSource)
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        clock.advance(by: .seconds(60))
        for _ in 0..<3 {
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            await first.asked.waitUnlessCancelled { $0 > 1 }
            for _ in 0..<100 { await Task.yield() }
        }
    }

    @Test("A list that comes first is believed before what an earlier start has kept")
    func listFirst() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("hosts")
            let source = Source(Self.answer(Self.one))
            let earlier = HostResolver([source], file: file)
            #expect(await earlier.addresses(of: "a.example", port: 443) == [Self.one])
            await earlier.flush()
            let list = try StaticHosts(["a.example": ["1.0.0.2"]])
            let listed = HostResolver([list, source], file: file)
            #expect(await listed.addresses(of: "a.example", port: 443) == [Self.two])
            #expect(await listed.addresses(of: "b.example", port: 443) == [Self.one])
        }
    }

    @Test func `an answer for no time is asked for each time, and one for another network or port as well`() async {
        let network = Locked("home")
        let (each, once) = (Source(HostAnswer([Self.one])), Source(Self.answer(Self.one)))
        let unkept = HostResolver([each])
        let kept = HostResolver([once], network: { network.withLock { $0 } })
        for _ in 0..<3 {
            _ = await unkept.addresses(of: "a.example", port: 443)
            _ = await kept.addresses(of: "a.example", port: 443)
        }
        #expect(each.count == 3 && once.count == 1)
        network.withLock { $0 = "work" }
        _ = await kept.addresses(of: "a.example", port: 443)
        _ = await kept.addresses(of: "a.example", port: 80)
        #expect(once.count == 3)
        network.withLock { $0 = "home" }
        _ = await kept.addresses(of: "a.example", port: 443)
        #expect(once.count == 3)
    }

    // MARK: Rest

    @Test func `a source that did not answer rests for 30 s, and twice as long each further time, up to ten minutes`()
        async
    {
        let clock = TestClock()
        let (hanging, next) = (Source(Self.answer(Self.one), isOpen: false), Source(HostAnswer([Self.two])))
        let resolver = HostResolver([hanging, next], patience: .seconds(2), time: clock.timeSource)
        for (number, rest) in [30, 60, 120, 240, 480, 600, 600].enumerated() {
            async let first = resolver.addresses(of: "a.example", port: 443)
            await hanging.asked.waitUnlessCancelled { $0 >= number + 1 }
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(2))
            #expect(await first == [Self.two])
            // Nobody waits for it now, whatever the name.
            for name in ["a.example", "b.example"] {
                #expect(await resolver.addresses(of: name, port: 443) == [Self.two])
            }
            clock.advance(by: .seconds(rest) - .nanoseconds(1))
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.two])
            #expect(hanging.count == number + 1)
            clock.advance(by: .nanoseconds(1))
        }
        hanging.open()
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
    }

    @Test
    func `failures that come together count as one, and a source that failed is asked to the moment its rest is over`()
        async
    {
        let (clock, failing) = (TestClock(), Source(nil, isOpen: false))
        let resolver = HostResolver([failing], patience: .seconds(1_000_000), time: clock.timeSource)
        async let first = resolver.addresses(of: "a.example", port: 443)
        async let second = resolver.addresses(of: "b.example", port: 443)
        await failing.asked.waitUnlessCancelled { $0 >= 2 }
        failing.open()
        _ = await (first, second)
        for (number, rest) in [30, 60, 120, 240, 480, 600, 600].enumerated() {
            clock.advance(by: .seconds(rest) - .nanoseconds(1))
            _ = await resolver.addresses(of: "early\(number).example", port: 443)
            #expect(failing.count == number + 2)
            clock.advance(by: .nanoseconds(1))
            _ = await resolver.addresses(of: "late\(number).example", port: 443)
            #expect(failing.count == number + 3)
        }
    }

    @Test func `a source that failed rests, and one that knows nothing does not`() async {
        let clock = TestClock()
        let (failing, empty) = (Source(nil), Source(HostAnswer([])))
        let resolver = HostResolver([failing, empty], patience: .seconds(1_000_000), time: clock.timeSource)
        for number in 0..<3 { #expect(await resolver.addresses(of: "\(number).example", port: 443) == []) }
        #expect(failing.count == 1 && empty.count == 3)
        clock.advance(by: .seconds(30))
        _ = await resolver.addresses(of: "a.example", port: 443)
        #expect(failing.count == 2)
    }

    @Test func `without the system, who rests is asked behind the others rather than nobody`() async {
        let clock = TestClock()
        let source = Source(nil, nil, Self.answer(Self.one))
        let resolver = HostResolver(
            [source], fallsBackToSystem: false, patience: .seconds(1_000_000), time: clock.timeSource)
        for (name, count) in [("a.example", 1), ("b.example", 2)] {
            #expect(await resolver.addresses(of: name, port: 443) == nil)
            #expect(source.count == count)
        }
        #expect(await resolver.addresses(of: "c.example", port: 443) == [Self.one])
    }

    @Test func `that nobody knows a name is believed for 5 s, of that name and port alone`() async {
        let clock = TestClock()
        let source = Source(HostAnswer([]), HostAnswer([]), Self.answer(Self.one))
        let resolver = HostResolver([source], patience: .seconds(1_000_000), time: clock.timeSource)
        for _ in 0..<3 { #expect(await resolver.addresses(of: "a.example", port: 443) == []) }
        #expect(source.count == 1)
        _ = await resolver.addresses(of: "a.example", port: 80)
        #expect(source.count == 2)
        clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [])
        clock.advance(by: .nanoseconds(1))
        #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
        #expect(source.count == 3)
    }

    @Test func `of one name so many addresses are used as are kept, also at the first time`() async {
        let many = (1...40).map { HostAddress(trusted: "1.0.0.\($0)") }
        let resolver = HostResolver([Source(HostAnswer(many))])
        #expect(await resolver.addresses(of: "a.example", port: 443) == Array(many.prefix(32)))
    }

    // MARK: Ranking

    @Test(
        "The fastest address is first, a dead one rests, and where all are dead the system is asked")
    func ranking() async throws {
        let clock = TestClock()
        let list = try StaticHosts(["a.example": ["1.0.0.1", "1.0.0.2"]])
        let (open, closed) = (
            HostResolver([list], time: clock.timeSource),
            HostResolver([list], fallsBackToSystem: false, time: clock.timeSource)
        )
        for resolver in [open, closed] {
            resolver.connected(to: Self.one, in: .milliseconds(20))
            resolver.connected(to: Self.two, in: .milliseconds(10))
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.two, Self.one])
            resolver.failed(Self.two)
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one, Self.two])
            resolver.failed(Self.one)
        }
        #expect(await open.addresses(of: "a.example", port: 443) == [])
        #expect(await closed.addresses(of: "a.example", port: 443)?.count == 2)
        clock.advance(by: .seconds(30))
        #expect(await open.addresses(of: "a.example", port: 443)?.count == 2)
    }

    // MARK: On disk

    /// In a folder that goes when the body has ended.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hosts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func permit(_ mode: Int, _ file: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    @Test func `what was learnt is there after a new start, in a file for its owner alone`() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("hosts")
            let (first, second) = (Source(Self.answer(Self.one)), Source(Self.answer(Self.two)))
            let earlier = HostResolver([first], file: file)
            #expect(await earlier.addresses(of: "a.example", port: 443) == [Self.one])
            await earlier.flush()
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let resolver = HostResolver([second], file: file)
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            #expect(second.count == 0)
            // What others could have written is not believed.
            try permit(0o660, file)
            #expect(await HostResolver([second], file: file).addresses(of: "a.example", port: 443) == [Self.two])
        }
    }

    @Test func `a file that is broken, too large or no file is passed over`() async throws {
        try await withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for content in [Data(), Data("{".utf8), Data(repeating: 0x20, count: (1 << 20) + 1)] {
                let file = folder.appendingPathComponent(UUID().uuidString)
                try content.write(to: file)
                try permit(0o600, file)
                let resolver = HostResolver([Source(Self.answer(Self.one))], file: file)
                #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            }
            let other = folder.appendingPathComponent("folder")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            let resolver = HostResolver([Source(Self.answer(Self.one))], file: other)
            #expect(await resolver.addresses(of: "a.example", port: 443) == [Self.one])
            await resolver.flush()
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.path).isEmpty)
        }
    }

    // MARK: What transports are asked for

    private struct Ping: Endpoint {
        typealias Output = Data
        let route = Route.get("/ping")
    }

    @Test("A transport that cannot connect to where it is told is not given the request")
    func refusal() async throws {
        let resolver = HostResolver([try StaticHosts(["a.example": ["1.0.0.1"]])])
        let transport = ScriptedTransport([], capabilities: .all.subtracting(.hostResolvers))
        let client = APIClient("https://a.example", options: .resolver(resolver), transport: transport)
        let error = await #expect(throws: APIError.self) { try await client.send(Ping()) }
        #expect(error?.kind == .unsupported(feature: "a resolver of the client's own"))
        #expect(await !client.preconnect(to: .main))
        #expect(transport.requests.isEmpty)
    }

    @Test func `another resolver is another way, and the same store`() {
        let (one, other) = (HostResolver([]), HostResolver([]))
        let (first, second) = (IsolationKey(resolver: one), IsolationKey(resolver: other))
        #expect(first != second && first == IsolationKey(resolver: one))
        #expect(first.partition == second.partition)
        #expect(IsolationKey(environment: "a", resolver: one).resolver == one)
    }
}
