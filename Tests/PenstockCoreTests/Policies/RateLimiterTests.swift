import Testing

@testable import PenstockCore

@Suite("The rate limiter")
struct RateLimiterTests {
    @Test("As many go at once as the burst says, then one for each interval")
    func bucket() {
        var limiter = RateLimiter(.init(10, per: .seconds(1), burst: 3), at: .seconds(5))
        let start = Duration.seconds(5)
        for _ in 0..<3 { #expect(limiter.take(at: start) == nil) }
        #expect(limiter.take(at: start) == .milliseconds(100))
        #expect(limiter.take(at: start + .milliseconds(100) - .nanoseconds(1)) == .nanoseconds(1))
        #expect(limiter.take(at: start + .milliseconds(100)) == nil)
        #expect(limiter.take(at: start + .milliseconds(100)) == .milliseconds(100))
        // After a rest the burst is there again, and no more than that.
        for _ in 0..<3 { #expect(limiter.take(at: .seconds(60)) == nil) }
        #expect(limiter.take(at: .seconds(60)) == .milliseconds(100))
    }

    @Test("Over a long time the rate is kept to the request", arguments: [1, 3, 10, 60])
    func rate(_ permits: Int) {
        var limiter = RateLimiter(.init(permits, per: .seconds(1)), at: .zero)
        let taken = (0..<10_000).filter { limiter.take(at: .milliseconds($0)) == nil }.count
        #expect(abs(taken - (permits * 10 + permits)) <= 1)
    }

    @Test("Asking takes nothing")
    func asking() {
        var limiter = RateLimiter(.init(1, per: .seconds(1)), at: .zero)
        for _ in 0..<5 { #expect(limiter.wait(at: .zero) == nil) }
        #expect(limiter.take(at: .zero) == nil)
        for _ in 0..<5 { #expect(limiter.wait(at: .zero) == .seconds(1)) }
    }

    @Test("Without a rate of its own it knows only the pauses of the server, of which the longest counts")
    func pauses() {
        var limiter = RateLimiter(nil, at: .zero)
        for _ in 0..<1_000 { #expect(limiter.take(at: .zero) == nil) }
        limiter.pause(for: .seconds(10), at: .zero)
        limiter.pause(for: .seconds(5), at: .zero)
        #expect(limiter.take(at: .seconds(4)) == .seconds(6))
        #expect(limiter.take(at: .seconds(10) - .nanoseconds(1)) == .nanoseconds(1))
        #expect(limiter.take(at: .seconds(10)) == nil)
    }

    @Test("A server has nobody wait for longer than ten minutes by one answer")
    func longestPause() {
        for (said, waits) in [(599, 599), (600, 600), (601, 600), (Int64.max, 600)] as [(Int64, Int)] {
            var limiter = RateLimiter(nil, at: .zero)
            #expect(limiter.pause(at: .zero) == nil)
            limiter.pause(for: .seconds(said), at: .seconds(20))
            #expect(limiter.wait(at: .seconds(20)) == .seconds(waits))
            let end = Duration.seconds(20 + waits)
            #expect(limiter.pause(at: end - .nanoseconds(1)) == .nanoseconds(1))
            #expect(limiter.pause(at: end) == nil)
        }
    }

    @Test("A pause and an empty bucket are waited for together")
    func both() {
        var limiter = RateLimiter(.init(1, per: .seconds(8)), at: .zero)
        #expect(limiter.take(at: .zero) == nil)
        limiter.pause(for: .seconds(3), at: .zero)
        #expect(limiter.wait(at: .zero) == .seconds(8))
        limiter.pause(for: .seconds(9), at: .zero)
        #expect(limiter.wait(at: .zero) == .seconds(9))
    }

    @Test("A pause that is long over gives nothing: what is taken is taken from now on")
    func afterPause() {
        var limiter = RateLimiter(.init(1, per: .seconds(10)), at: .zero)
        limiter.pause(for: .seconds(1), at: .zero)
        #expect(limiter.take(at: .seconds(100)) == nil)
        #expect(limiter.take(at: .seconds(100)) == .seconds(10))
    }

    @Test("A bucket is full again when the last permit has come back, and the pause is over")
    func full() {
        var limiter = RateLimiter(.init(1, per: .seconds(10)), at: .zero)
        #expect(limiter.isFull(at: .zero))
        _ = limiter.take(at: .zero)
        #expect(!limiter.isFull(at: .seconds(10) - .nanoseconds(1)) && limiter.isFull(at: .seconds(10)))
        limiter.pause(for: .seconds(12), at: .zero)
        #expect(!limiter.isFull(at: .seconds(12) - .nanoseconds(1)) && limiter.isFull(at: .seconds(12)))
    }

    @Test("A wait behind others is theirs and its own, each after the pause")
    func behind() {
        var limiter = RateLimiter(.init(1, per: .seconds(10), burst: 3), at: .zero)
        let waits = { (limiter: RateLimiter) in (0...4).map { limiter.wait(at: .seconds(1), behind: $0) } }
        #expect(waits(limiter) == [nil, nil, nil, .seconds(10), .seconds(20)])
        #expect(limiter.take(at: .seconds(1)) == nil)
        #expect(waits(limiter) == [nil, nil, .seconds(10), .seconds(20), .seconds(30)])
        limiter.pause(for: .seconds(4), at: .seconds(1))
        #expect(waits(limiter) == [.seconds(4), .seconds(4), .seconds(10), .seconds(20), .seconds(30)])
        limiter.pause(for: .seconds(14), at: .seconds(1))
        #expect(waits(limiter) == [.seconds(14), .seconds(14), .seconds(14), .seconds(24), .seconds(34)])
        var pauses = RateLimiter(nil, at: .zero)
        #expect(waits(pauses) == [nil, nil, nil, nil, nil])
        pauses.pause(for: .seconds(4), at: .seconds(1))
        #expect(waits(pauses) == Array(repeating: .seconds(4), count: 5))
    }

    @Test("Numbers beyond all measure do not overflow")
    func enormous() {
        let year = Duration.seconds(365 * 86_400)
        var never = RateLimiter(.init(1, per: .seconds(Int64.max)), at: .zero)
        #expect(never.take(at: .zero) == nil)
        #expect(never.take(at: .zero) == year)
        #expect(RateLimiter.Policy(1, per: year + .seconds(1)).interval == year)
        #expect(RateLimiter.Policy(1, per: year - .seconds(1)).interval == year - .seconds(1))
        var free = RateLimiter(.init(.max, per: .seconds(Int64.max), burst: .max), at: .zero)
        for _ in 0..<100 { #expect(free.take(at: .zero) == nil) }
        var slow = RateLimiter(.init(1, per: .seconds(Int64.max), burst: .max), at: .zero)
        for _ in 0..<100 { #expect(slow.take(at: .zero) == nil) }
        let large = RateLimiter.Policy(1, per: .seconds(1), burst: 1_000_000_001)
        #expect(large.slack == .seconds(1_000_000_000 - 1))
        #expect(RateLimiter.Policy(1, per: .seconds(1), burst: 1_000_000_000).slack == large.slack)
        #expect(RateLimiter.Policy(1, per: .seconds(1), burst: 999_999_999).slack == .seconds(999_999_998))
        #expect(RateLimiter.Policy(1, per: .seconds(1), burst: 2).slack == .seconds(1))
        for burst in [1, 0, -7, .min] { #expect(RateLimiter.Policy(1, per: .seconds(1), burst: burst).slack == .zero) }
    }

    @Test("Numbers that make no sense neither crash nor stop everything")
    func senseless() {
        var limiter = RateLimiter(.init(0, per: .seconds(1), burst: -3), at: .zero)
        #expect(limiter.take(at: .zero) == nil)
        #expect(limiter.take(at: .zero) == .seconds(1))
        var free = RateLimiter(.init(5, per: .seconds(-1)), at: .zero)
        for _ in 0..<100 { #expect(free.take(at: .zero) == nil) }
    }
}

@Suite("RateLimit and RateLimit-Policy")
struct ServerRateLimitTests {
    private func limits(_ fields: HTTPFields) -> [ServerRateLimit] { ServerRateLimit.all(in: fields) }

    @Test("Of more policies than any server has the first are read")
    func many() {
        let all = (1...20).map { "\"p\($0)\";r=\($0)" }.joined(separator: ", ")
        let read = limits(["RateLimit": all])
        #expect(read.map(\.name) == (1...16).map { "p\($0)" })
        #expect(read.map(\.remaining) == (1...16).map { $0 })
    }

    @Test("Both fields are read, and joined by the names of the policies")
    func both() {
        let fields: HTTPFields = [
            "RateLimit-Policy": #""burst";q=100;w=60, "daily";q=1000;w=86400"#, "RateLimit": #""burst";r=0;t=12"#,
        ]
        #expect(
            limits(fields) == [
                .init("burst", quota: 100, window: .seconds(60), remaining: 0, reset: .seconds(12)),
                .init("daily", quota: 1_000, window: .seconds(86_400)),
            ])
    }

    @Test("Names may be tokens, hold what separates, and stand on several lines")
    func names() {
        var fields: HTTPFields = ["RateLimit": #"plain;r=1, "a;b,c\"";r=2;t=3"#]
        fields.append(#""more"; r=7;  t=0"#, for: "RateLimit")
        #expect(
            limits(fields) == [
                .init("plain", remaining: 1), .init(#"a;b,c""#, remaining: 2, reset: .seconds(3)),
                .init("more", remaining: 7, reset: .zero),
            ])
        // The quote after an escaped backslash ends the name.
        #expect(limits(["RateLimit": #""x\\";r=2"#]) == [.init(#"x\"#, remaining: 2)])
    }

    @Test("What does not follow the syntax is left out, and nothing overflows")
    func garbage() {
        for text in ["", "(a b);r=1", ":YQ==:;r=1", "?1;r=0"] {
            #expect(limits(["RateLimit": text]).isEmpty, "\(text)")
            #expect(limits(["RateLimit": text + (text.isEmpty ? "x" : ", x")]) == [.init("x")], "\(text)")
        }
        for text in ["x;r", "x;r=-1", "x;r=1.5", "x;r=a", "x;r=\"1\"", "x;rr=1", "x;r=1;r=?0"] {
            #expect(limits(["RateLimit": text]) == [.init("x")], "\(text)")
        }
        #expect(limits(["RateLimit": "x;r=1;r=2"]) == [.init("x", remaining: 2)])
        // A parameter that says nothing hides none that stands after it.
        for text in ["x;r;t=3", "x;r=-1;t=3"] {
            #expect(limits(["RateLimit": text]) == [.init("x", reset: .seconds(3))], "\(text)")
        }
        #expect(limits(["RateLimit": "x;t=999999999999999"]).first?.reset == .seconds(86_400))
        #expect(limits(["RateLimit": "x;t=86399"]).first?.reset == .seconds(86_399))
        let many = (0..<100).map { "p\($0);r=0;t=1" }.joined(separator: ",")
        #expect(limits(["RateLimit": many]).count == 16)
    }

    @Test(
        "A field that is no List says nothing, and the other one still does",
        arguments: [
            ";", ";r=1", "limit=100, remaining=0, reset=50", "\"open", "a b;r=1", "\"x\"y;r=0", "x;r=0;t=5,",
            "x;r=0;t=5, (",
            "x ;r=0;t=5", "x;r=0;t=5;", "x;r=", "x;r=+1", "x;r=1234567890123456", "x;R=1", "x;r=0;t=5, \"\u{E9}\"",
        ])
    func malformed(text: String) {
        #expect(limits(["RateLimit": text]).isEmpty)
        #expect(
            limits(["RateLimit": text, "RateLimit-Policy": "y;q=3;w=1"])
                == [.init("y", quota: 3, window: .seconds(1))])
    }

    @Test("A pause is asked for by what has nothing left, and lasts as long as the longest of them")
    func pause() {
        #expect(ServerRateLimit.pause(by: []) == nil)
        #expect(ServerRateLimit.pause(by: [.init("a", remaining: 1, reset: .seconds(5))]) == nil)
        #expect(ServerRateLimit.pause(by: [.init("a", reset: .seconds(5))]) == nil)
        #expect(ServerRateLimit.pause(by: [.init("a", remaining: 0)]) == nil)
        let both: [ServerRateLimit] = [
            .init("a", remaining: 0, reset: .seconds(5)), .init("b", remaining: 0, reset: .seconds(9)),
            .init("c", remaining: 3, reset: .seconds(60)),
        ]
        #expect(ServerRateLimit.pause(by: both) == .seconds(9))
    }
}
