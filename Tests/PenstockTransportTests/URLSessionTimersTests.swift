import PenstockCore
import Testing

@testable import PenstockURLSession

/// Which limit of an exchange is reached next, by a clock that stands still.
@Suite struct URLSessionTimersTests {
    private static let start = ContinuousClock.now
    private static let never = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil)

    private static func at(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    private static func timers(_ throughput: ResponseLimits.Throughput?, _ timeouts: Timeouts = never)
        -> URLSessionTimers
    {
        URLSessionTimers(timeouts, throughput, at: start)
    }

    /// When the limit is reached, in whole seconds from the start, and which it is.
    private static func next(_ timers: inout URLSessionTimers, at seconds: Int) -> (Int64, TransportError.Kind)? {
        timers.next(at: at(seconds)).map { (start.duration(to: $0.deadline).components.seconds, $0.end) }
    }

    private static func isTooSlow(_ timers: inout URLSessionTimers, at seconds: Int) -> Bool {
        guard let (end, kind) = next(&timers, at: seconds) else { return false }
        return end <= Int64(seconds) && kind == .limitExceeded(.minimumThroughput)
    }

    @Test func `of the times the nearest ends the exchange`() {
        let timeouts = Timeouts(connect: .seconds(2), firstByte: .seconds(3), idle: .seconds(7), total: .seconds(20))
        var timers = Self.timers(nil, timeouts)
        #expect(Self.next(&timers, at: 0)! == (5, .timeout(.firstByte)))
        timers.answered(at: Self.at(4))
        #expect(Self.next(&timers, at: 4)! == (11, .timeout(.idle)))
        timers.touch(at: Self.at(10))
        #expect(Self.next(&timers, at: 10)! == (17, .timeout(.idle)))
        timers.pause()
        #expect(Self.next(&timers, at: 10)! == (20, .timeout(.total)))
        timers.resume(at: Self.at(12))
        #expect(Self.next(&timers, at: 12)! == (19, .timeout(.idle)))
        timers.endTotal()
        timers.touch(at: Self.at(18))
        #expect(Self.next(&timers, at: 18)! == (25, .timeout(.idle)))
    }

    @Test func `so many bytes must come within every span, counted from the head`() {
        var timers = Self.timers(.init(bytes: 100, per: .seconds(10)))
        #expect(Self.next(&timers, at: 50) == nil, "there is no response yet")
        timers.answered(at: Self.at(50))
        timers.received(100, at: Self.at(59))
        #expect(!Self.isTooSlow(&timers, at: 60))
        timers.received(99, at: Self.at(61))
        #expect(!Self.isTooSlow(&timers, at: 69))
        #expect(Self.isTooSlow(&timers, at: 70))
    }

    @Test func `what came in one span does not count in the next`() {
        var timers = Self.timers(.init(bytes: 100, per: .seconds(10)))
        timers.answered(at: Self.at(0))
        timers.received(100_000, at: Self.at(1))
        #expect(!Self.isTooSlow(&timers, at: 10))
        #expect(Self.isTooSlow(&timers, at: 20))
    }

    @Test func `time in which the exchange is suspended, or nobody asks for content, does not count`() {
        var timers = Self.timers(.init(bytes: 100, per: .seconds(10)))
        timers.answered(at: Self.at(0))
        timers.pause()
        #expect(!Self.isTooSlow(&timers, at: 100))
        timers.resume(at: Self.at(100))
        #expect(!Self.isTooSlow(&timers, at: 109))
        timers.hold()
        #expect(!Self.isTooSlow(&timers, at: 200))
        timers.release(at: Self.at(200))
        #expect(!Self.isTooSlow(&timers, at: 209))
        #expect(Self.isTooSlow(&timers, at: 210))
    }

    @Test func `without a minimum nothing is too slow`() {
        var timers = Self.timers(nil)
        timers.answered(at: Self.at(0))
        #expect(Self.next(&timers, at: 1_000) == nil)
    }
}
