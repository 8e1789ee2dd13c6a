import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What is taken for an address, and what for a list of them.
@Suite(.timeLimit(.minutes(5))) struct HostAddressTests {
    @Test(
        "An address is written in one form",
        arguments: [
            ("127.0.0.1", "127.0.0.1", false), ("::1", "::1", true), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1", true),
            ("::ffff:1.2.3.4", "::ffff:1.2.3.4", true), ("0.0.0.0", "0.0.0.0", false),
        ])
    func forms(text: String, form: String, isIPv6: Bool) {
        #expect(HostAddress(text)?.text == form)
        #expect(HostAddress(text)?.isIPv6 == isIPv6)
    }

    @Test(
        "What is no address is none",
        arguments: [
            "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.0.0.1", "1.2.3.4:80", "[::1]", "::1%eth0",
            "fe80::1%1",
            "1.2.3.4,5.6.7.8", "1.2.3.4\0", " 1.2.3.4", "1.2.3.4\r\n", "::g", "1.2.3.04x",
        ])
    func noAddress(text: String) {
        #expect(HostAddress(text) == nil)
    }

    @Test func `bytes are an address where there are 4 or 16 of them`() {
        #expect(HostAddress(bytes: [1, 2, 3, 4])?.text == "1.2.3.4")
        #expect(HostAddress(bytes: [UInt8](repeating: 0, count: 15) + [1])?.text == "::1")
        for count in [0, 3, 5, 15, 17] { #expect(HostAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    // MARK: Lists

    @Test func `a list knows its names alone, and the port where one is written`() async throws {
        let list = try StaticHosts([
            "a.example": ["1.1.1.1", "::1"], "a.example:8443": ["2.2.2.2"], "B.example:80": ["3.3.3.3"],
        ])
        #expect(await list.answer(for: "a.example", port: 443)?.addresses.map(\.text) == ["1.1.1.1", "::1"])
        #expect(await list.answer(for: "a.example.", port: 443)?.addresses.count == 2)
        #expect(await list.answer(for: "a.example", port: 8_443)?.addresses.map(\.text) == ["2.2.2.2"])
        #expect(await list.answer(for: "b.example", port: 80)?.addresses.map(\.text) == ["3.3.3.3"])
        #expect(await list.answer(for: "b.example", port: 81) == nil)
        #expect(await list.answer(for: "c.a.example", port: 443) == nil)
        #expect(await list.answer(for: "a.example", port: 443)?.lifetime == .zero)
    }

    @Test func `a list that cannot be meant is refused`() {
        #expect(throws: HostSourceError.malformedAddress("1.2.3")) { try StaticHosts(["a.example": ["1.2.3"]]) }
        for error in [
            HostSourceError.malformedHost("token=hunter2x"), .malformedAddress("https://u:hunter2x@a.example"),
            .malformedHost("user:hunter2x@db.example.com"), .malformedAddress("user:hunter2x@1.2.3.4"),
            .noAddress("a@user:hunter2x@db.example.com"), .unanswered("hunter2x@db.example.com"),
        ] {
            #expect(PrintedForms.texts(of: error).filter { $0.contains("hunter2x") }.isEmpty)
        }
        #expect(throws: HostSourceError.noAddress("a.example")) { try StaticHosts(["a.example": []]) }
        for name in [
            "", "a b", "a.example:0x", "a.example:99999", "https://a.example", "a.example/", "1.2.3.4", "[::1]", "::1",
            "a.example.", "u@a.example", "a.example:080",
        ] {
            #expect(throws: HostSourceError.malformedHost(name)) { try StaticHosts([name: ["1.1.1.1"]]) }
        }
    }
}

/// In which order addresses are tried.
@Suite struct AddressRankingTests {
    private let a = HostAddress(trusted: "1.0.0.1")
    private let b = HostAddress(trusted: "1.0.0.2")
    private let c = HostAddress(trusted: "1.0.0.3")

    @Test func `the fastest is first, of equals the one that was given first`() {
        var ranking = AddressRanking()
        #expect(ranking.ranked([a, b, c], at: .zero) == [a, b, c])
        ranking.connected(a, in: .milliseconds(30), at: .seconds(1))
        ranking.connected(b, in: .milliseconds(20), at: .seconds(1))
        ranking.connected(c, in: .milliseconds(20), at: .seconds(1))
        #expect(ranking.ranked([a, b, c], at: .seconds(1)) == [b, c, a])
        #expect(ranking.ranked([c, a, b], at: .seconds(1)) == [c, b, a])
    }

    @Test func `what was never measured is tried first, what is measured again counts by the mean`() {
        var ranking = AddressRanking()
        ranking.connected(a, in: .milliseconds(1), at: .zero)
        #expect(ranking.ranked([a, b, c], at: .zero) == [b, c, a])
        ranking.connected(b, in: .milliseconds(10), at: .zero)
        ranking.connected(c, in: .milliseconds(12), at: .zero)
        ranking.connected(b, in: .milliseconds(14), at: .zero)
        #expect(ranking.ranked([a, b, c], at: .zero) == [a, b, c])
        ranking.connected(b, in: .milliseconds(13), at: .zero)
        #expect(ranking.ranked([a, b, c], at: .zero) == [a, c, b])
    }

    @Test func `a measurement is forgotten when its memory ends, and not before`() {
        var ranking = AddressRanking(memory: .seconds(600))
        ranking.connected(a, in: .milliseconds(1), at: .seconds(5))
        ranking.connected(b, in: .milliseconds(2), at: .seconds(6))
        let almost = Duration.seconds(605) - .nanoseconds(1)
        #expect(ranking.ranked([b, a], at: almost) == [a, b])
        #expect(ranking.ranked([b, a], at: .seconds(605)) == [a, b])
        #expect(ranking.ranked([b, c, a], at: .seconds(605)) == [c, a, b])
        // What is forgotten has no part in the mean.
        ranking.connected(a, in: .milliseconds(9), at: .seconds(605))
        ranking.connected(b, in: .milliseconds(8), at: .seconds(606))
        #expect(ranking.ranked([a, b], at: .seconds(606)) == [b, a])
    }

    @Test func `an address that failed rests, twice as long each time, and is last while it does`() {
        var ranking = AddressRanking(rest: .seconds(30), longestRest: .seconds(100))
        ranking.connected(a, in: .milliseconds(1), at: .zero)
        ranking.connected(b, in: .milliseconds(50), at: .zero)
        var now = Duration.zero
        for length in [30, 60, 100, 100] {
            ranking.failed(a, at: now)
            let end = now + .seconds(length)
            #expect(ranking.isResting(a, at: end - .nanoseconds(1)) && !ranking.isResting(a, at: end))
            #expect(ranking.ranked([a, b], at: end - .nanoseconds(1)) == [b, a])
            #expect(ranking.ranked([b, a], at: end) == [a, b])
            now = end
        }
        ranking.connected(a, in: .milliseconds(1), at: now)
        ranking.failed(a, at: now)
        #expect(!ranking.isResting(a, at: now + .seconds(30)))
        ranking.connected(a, in: .milliseconds(1), at: now)
        #expect(!ranking.isResting(a, at: now))
    }

    @Test func `what an address took before it failed is forgotten, so that it is measured anew`() {
        var ranking = AddressRanking()
        ranking.connected(a, in: .milliseconds(20), at: .zero)
        ranking.connected(b, in: .milliseconds(10), at: .zero)
        ranking.failed(a, at: .zero)
        #expect(ranking.ranked([b, a], at: .seconds(30)) == [a, b])
        ranking.connected(a, in: .milliseconds(2), at: .seconds(30))
        ranking.connected(c, in: .milliseconds(5), at: .seconds(30))
        #expect(ranking.ranked([c, b, a], at: .seconds(30)) == [a, c, b])
    }

    @Test func `of those at rest the one that wakes first is first`() {
        var ranking = AddressRanking()
        ranking.failed(a, at: .seconds(2))
        ranking.failed(b, at: .seconds(1))
        #expect(ranking.ranked([a, b], at: .seconds(3)) == [b, a])
    }

    @Test func `by default an address rests for half a minute to ten, and 512 are known for ten minutes`() {
        let ranking = AddressRanking()
        #expect(ranking.rest == .seconds(30) && ranking.longestRest == .seconds(600))
        #expect(ranking.memory == .seconds(600) && ranking.maxAddresses == 512)
    }

    @Test func `numbers that make no sense are the nearest that do`() {
        let ranking = AddressRanking(rest: .seconds(-1), longestRest: .seconds(-2), maxAddresses: 0)
        #expect(ranking.rest == .zero && ranking.longestRest == .zero && ranking.maxAddresses == 1)
        #expect(AddressRanking(rest: .seconds(5), longestRest: .seconds(4)).longestRest == .seconds(5))
        // Twenty doublings, however short the first rest is.
        var short = AddressRanking(rest: .nanoseconds(1), longestRest: .seconds(600))
        for _ in 0..<21 { short.failed(a, at: .zero) }
        let full = Duration.nanoseconds(1 << 20)
        #expect(short.isResting(a, at: full - .nanoseconds(1)) && !short.isResting(a, at: full))
        short.failed(a, at: .zero)
        #expect(short.isResting(a, at: full - .nanoseconds(1)) && !short.isResting(a, at: full))
    }

    @Test func `a failure repeated for ever overflows nothing, and of too many the oldest is forgotten`() {
        var ranking = AddressRanking(rest: .seconds(1), longestRest: .seconds(1), maxAddresses: 2)
        for _ in 0..<200 { ranking.failed(a, at: .zero) }
        #expect(!ranking.isResting(a, at: .seconds(1)))
        ranking.failed(a, at: .seconds(10))
        ranking.failed(b, at: .seconds(11))
        ranking.failed(b, at: .seconds(9))
        ranking.failed(c, at: .seconds(10))
        #expect(!ranking.isResting(b, at: .seconds(9)) && ranking.isResting(c, at: .seconds(10)))
        #expect(ranking.isResting(a, at: .seconds(10)))
    }
}

/// How long answers are used.
@Suite struct HostCacheTests {
    private static let key = HostCache.Key(host: "a.example", port: 443)
    private static let addresses = [HostAddress(trusted: "1.0.0.1")]
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private static func answer(_ seconds: Int) -> HostAnswer { HostAnswer(addresses, lifetime: .seconds(seconds)) }
    private static func key(_ number: Int) -> HostCache.Key { HostCache.Key(host: "\(number).example", port: 443) }

    @Test("An answer holds for as long as it says, is stale for a while, and is then forgotten", .covers("X17"))
    func ages() {
        let finds: [(Double, HostCache.Finding)] = [
            (0, .fresh(Self.addresses)), (59.999, .fresh(Self.addresses)), (60, .stale(Self.addresses)),
            (159.999, .stale(Self.addresses)), (160, .nothing), (-0.001, .nothing),
        ]
        for (age, finding) in finds {
            var cache = HostCache(staleness: .seconds(100))
            cache.keep(Self.answer(60), for: Self.key, at: Self.start)
            #expect(cache.look(up: Self.key, at: Self.start + age) == finding, "after \(age) s")
            #expect(cache.count == (finding == .nothing ? 0 : 1))
        }
    }

    @Test func `what holds for no time, or has no address, is not kept`() {
        let empty = [
            HostAnswer(Self.addresses), HostAnswer(Self.addresses, lifetime: .seconds(-1)),
            HostAnswer([], lifetime: .seconds(60)),
        ]
        for answer in empty {
            var cache = HostCache()
            cache.keep(answer, for: Self.key, at: Self.start)
            #expect(cache.count == 0)
            // It takes the place of what was known before all the same.
            cache.keep(Self.answer(60), for: Self.key, at: Self.start)
            cache.keep(answer, for: Self.key, at: Self.start)
            #expect(cache.count == 0)
        }
        var none = HostCache(maxHosts: 0)
        none.keep(Self.answer(60), for: Self.key, at: Self.start)
        #expect(none.count == 0)
        var one = HostCache(maxHosts: 1)
        for number in 1...2 { one.keep(Self.answer(60), for: Self.key(number), at: Self.start) }
        #expect(one.count == 1 && one.look(up: Self.key(2), at: Self.start) == .fresh(Self.addresses))
    }

    @Test func `nothing holds for more than a week, and no more than 32 addresses are kept`() {
        var cache = HostCache(staleness: .zero)
        let many = (0..<33).map { HostAddress(trusted: "1.0.0.\($0)") }
        cache.keep(HostAnswer(many, lifetime: .seconds(Int64.max)), for: Self.key, at: Self.start)
        #expect(cache.look(up: Self.key, at: Self.start + 7 * 86_400 - 1) == .fresh(Array(many.prefix(32))))
        #expect(cache.look(up: Self.key, at: Self.start + 7 * 86_400) == .nothing)
    }

    @Test func `of too many hosts the one that was used longest ago goes`() {
        var cache = HostCache(maxHosts: 2)
        cache.keep(Self.answer(60), for: Self.key(1), at: Self.start)
        cache.keep(Self.answer(60), for: Self.key(2), at: Self.start)
        _ = cache.look(up: Self.key(1), at: Self.start)
        cache.keep(Self.answer(60), for: Self.key(2), at: Self.start)
        _ = cache.look(up: Self.key(1), at: Self.start)
        cache.keep(Self.answer(60), for: Self.key(3), at: Self.start)
        #expect(cache.count == 2 && cache.look(up: Self.key(2), at: Self.start) == .nothing)
        #expect(cache.look(up: Self.key(1), at: Self.start) == .fresh(Self.addresses))
    }

    @Test func `hosts go in the order in which they were used, whether they were read or kept`() {
        for isRead in [false, true] {
            var cache = HostCache(maxHosts: 20)
            for number in 1...20 { cache.keep(Self.answer(60), for: Self.key(number), at: Self.start) }
            // Backwards, the first one last.
            if isRead { for number in (1...20).reversed() { _ = cache.look(up: Self.key(number), at: Self.start) } }
            for number in 21...30 { cache.keep(Self.answer(60), for: Self.key(number), at: Self.start) }
            let left = (1...30).filter { cache.look(up: Self.key($0), at: Self.start) != .nothing }
            #expect(left == Array(isRead ? 1...10 : 11...20) + Array(21...30))
        }
    }

    @Test func `by default 128 hosts are known, and an answer is stale for a day`() {
        #expect(HostCache().maxHosts == 128 && HostCache().staleness == .seconds(86_400))
        let senseless = HostCache(maxHosts: -1, staleness: .seconds(-1))
        #expect(senseless.maxHosts == 0 && senseless.staleness == .zero)
    }

    @Test func `an answer that holds for a second is read back from disk`() throws {
        var (cache, other) = (HostCache(), HostCache())
        cache.keep(Self.answer(1), for: Self.key, at: Self.start)
        other.restore(try cache.encoded())
        #expect(other.look(up: Self.key, at: Self.start + 0.9) == .fresh(Self.addresses))
    }

    @Test func `networks, hosts and ports are told apart, a trailing dot is not`() {
        var cache = HostCache()
        cache.keep(Self.answer(60), for: Self.key, at: Self.start)
        for key in [
            HostCache.Key(host: "a.example", port: 443, network: "home"), HostCache.Key(host: "a.example", port: 80),
            HostCache.Key(host: "b.example", port: 443),
        ] { #expect(cache.look(up: key, at: Self.start) == .nothing) }
        #expect(cache.look(up: .init(host: "a.example.", port: 443), at: Self.start) == .fresh(Self.addresses))
    }

    // MARK: On disk

    @Test func `what was written is read back, with its age and its order of use`() throws {
        var cache = HostCache(maxHosts: 3)
        for number in 1...3 { cache.keep(Self.answer(60), for: Self.key(number), at: Self.start + Double(number)) }
        _ = cache.look(up: Self.key(1), at: Self.start + 3)
        var other = HostCache(maxHosts: 2)
        other.restore(try cache.encoded())
        #expect(other.look(up: Self.key(2), at: Self.start + 3) == .nothing)
        #expect(other.look(up: Self.key(1), at: Self.start + 60.9) == .fresh(Self.addresses))
        #expect(other.look(up: Self.key(3), at: Self.start + 63) == .stale(Self.addresses))
    }

    @Test func `what is known already is not replaced by what was on disk`() throws {
        var (cache, other) = (HostCache(), HostCache())
        cache.keep(Self.answer(60), for: Self.key, at: Self.start)
        other.keep(Self.answer(600), for: Self.key, at: Self.start)
        other.restore(try cache.encoded())
        #expect(other.look(up: Self.key, at: Self.start + 599) == .fresh(Self.addresses))
    }

    @Test(
        "What breaks the format is left out",
        arguments: [
            "", "[]", "{}", #"{"version":2,"hosts":[]}"#,
            #"{"version":2,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"lifetime":60,"told":0}]}"#,
            #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["evil"],"lifetime":60,"told":0}]}"#,
            #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"lifetime":-1,"told":0}]}"#,
            #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"lifetime":-1e300,"told":0}]}"#,
            #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"lifetime":0,"told":0}]}"#,
            #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"told":0}]}"#,
        ])
    func damaged(text: String) {
        var cache = HostCache()
        cache.restore(Data(text.utf8))
        #expect(cache.count == 0)
    }

    @Test func `a lifetime on disk beyond all bounds is cut`() {
        var cache = HostCache(staleness: .zero)
        let told = Self.start.timeIntervalSinceReferenceDate
        cache.restore(
            Data(
                #"{"version":1,"hosts":[{"key":{"host":"a.example","port":443,"network":""},"addresses":["1.0.0.1"],"lifetime":1e300,"told":\#(told)}]}"#
                    .utf8))
        #expect(cache.look(up: Self.key, at: Self.start + 7 * 86_400 - 1) == .fresh(Self.addresses))
        #expect(cache.look(up: Self.key, at: Self.start + 7 * 86_400) == .nothing)
    }
}
