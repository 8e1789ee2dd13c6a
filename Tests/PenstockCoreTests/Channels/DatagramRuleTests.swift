import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// How many chunks may be on their way, measurement by measurement.
@Suite struct CongestionWindowTests {
    /// A round in which so many chunks came and were lost.
    private static func round(
        _ window: inout CongestionWindow, _ now: inout Duration, _ delivered: Int, _ lost: Int = 0
    ) {
        window.report(delivered: delivered, lost: lost, at: now)
        now += window.roundTrip
        window.report(delivered: 0, lost: 0, at: now)
    }

    /// Of which the shortest round trip is the one given, and the mean is longer by what is waited for.
    private static func measured(_ shortest: Duration, waiting: Duration) -> CongestionWindow {
        var window = CongestionWindow()
        window.measured(shortest)
        window.measured(shortest + waiting * 8)
        return window
    }

    @Test func `before anything is measured a round trip takes 100 ms, and 32 chunks may be on their way`() {
        let window = CongestionWindow()
        #expect(window.roundTrip == .milliseconds(100) && window.shortest == nil)
        #expect(window.packets == 32 && window.count == 32 && CongestionWindow.bounds == 8...1_024)
    }

    @Test func `the first measurement is believed whole, a later one by an eighth, and the shortest is kept`() {
        var window = CongestionWindow()
        let table: [(sample: Int, mean: Duration, shortest: Int)] = [
            (80, .milliseconds(80), 80), (160, .milliseconds(90), 80), (40, .microseconds(83_750), 40),
        ]
        for (sample, mean, shortest) in table {
            window.measured(.milliseconds(sample))
            #expect(window.roundTrip == mean && window.shortest == .milliseconds(shortest))
        }
    }

    @Test func `the window changes once a round trip has passed, and not before`() {
        var window = CongestionWindow()
        let start = Duration.seconds(7)
        window.report(delivered: 32, lost: 0, at: start)
        window.report(delivered: 0, lost: 0, at: start + .milliseconds(100) - .nanoseconds(1))
        #expect(window.packets == 32)
        window.report(delivered: 0, lost: 0, at: start + .milliseconds(100))
        #expect(window.packets == 64)
        // The next round begins there, and counts its own chunks alone.
        window.report(delivered: 15, lost: 0, at: start + .milliseconds(200) - .nanoseconds(1))
        #expect(window.packets == 64)
        window.report(delivered: 0, lost: 0, at: start + .milliseconds(200))
        #expect(window.packets == 64)
    }

    @Test func `it doubles until the path is full, is cut to seven tenths then, and grows by 16 from there`() {
        var (window, now) = (CongestionWindow(), Duration.zero)
        var seen: [Double] = []
        for (delivered, lost) in [(32, 0), (64, 0), (40, 60), (100, 0), (105, 0), (40, 60), (100, 0)] {
            Self.round(&window, &now, delivered, lost)
            seen.append(window.packets)
        }
        let expected = [64, 128, 89.6, 105.6, 121.6, 85.12, 101.12]
        #expect(zip(seen, expected).allSatisfy { abs($0 - $1) < 1e-9 } && seen.count == expected.count, "\(seen)")
    }

    @Test(
        "It grows where a quarter of it was used",
        arguments: [(7, 32), (8, 64), (9, 64)] as [(Int, Double)])
    func used(delivered: Int, packets: Double) {
        var (window, now) = (CongestionWindow(), Duration.zero)
        Self.round(&window, &now, delivered)
        #expect(window.packets == packets)
    }

    @Test(
        "More than 45 of 100 that are lost show that the path is full",
        arguments: [(44, 64), (45, 64), (46, 22.4)] as [(Int, Double)])
    func loss(lost: Int, packets: Double) {
        var (window, now) = (CongestionWindow(), Duration.zero)
        Self.round(&window, &now, 100 - lost, lost)
        #expect(abs(window.packets - packets) < 1e-9)
        // What was lost in one round is not counted in the next.
        (window, now) = (CongestionWindow(), .zero)
        Self.round(&window, &now, 32)
        Self.round(&window, &now, 100 - lost, lost)
        #expect(abs(window.packets - 2 * packets) < 1e-9)
    }

    @Test(
        "So does waiting for more than 40 ms, and for more than half of the shortest round trip",
        arguments: [(40, 40), (80, 40), (100, 50), (160, 80)])
    func waiting(shortest: Int, longest: Int) {
        for (more, packets) in [(Duration.zero, 64.0), (.nanoseconds(1), 22.4)] {
            var window = Self.measured(.milliseconds(shortest), waiting: .milliseconds(longest) + more)
            var now = Duration.zero
            Self.round(&window, &now, 32)
            #expect(abs(window.packets - packets) < 1e-9, "\(more)")
        }
    }

    @Test func `moments are told in microseconds, which begin anew after 2^32`() {
        let table: [(Duration, Int64, UInt32)] = [
            (.zero, 0, 0), (.nanoseconds(999), 0, 0), (.microseconds(1), 1, 1),
            (.seconds(2) + .microseconds(3), 2_000_003, 2_000_003),
            (.microseconds(0xFFFF_FFFF), 0xFFFF_FFFF, .max), (.microseconds(0x1_0000_0001), 0x1_0000_0001, 1),
        ]
        for (moment, microseconds, stamp) in table {
            #expect(moment.microseconds == microseconds && moment.stamp == stamp)
        }
    }
}

/// What a sender sends next, report by report.
@Suite struct DatagramSenderTests {
    private static let roundTrip = Duration.milliseconds(100)
    private static let start = Duration.seconds(5)

    private static func sender(_ chunks: Int) -> DatagramSender {
        DatagramSender(3, sampleBytes(seed: 1, count: chunks * DatagramPacket.chunkBytes), at: start)
    }

    private static func report(_ upTo: Int, edge: Int? = nil, _ missing: Range<Int>...) -> DatagramPacket.Report {
        .init(transfer: 3, upTo: upTo, edge: edge ?? upTo, stamp: 0, held: 0, missing: missing)
    }

    /// Sends what it may.
    private static func send(_ sender: inout DatagramSender, _ budget: Int = 100, at now: Duration = start) -> [Int] {
        sender.take(budget, window: CongestionWindow(), at: now).map(\.number)
    }

    private static func tell(
        _ sender: inout DatagramSender, _ report: DatagramPacket.Report, after time: Duration = roundTrip
    ) -> [Int] {
        let (delivered, lost) = sender.take(report, roundTrip: roundTrip, at: start + time)
        return [delivered, lost]
    }

    @Test(
        "A payload goes in chunks of 1,152 bytes, of which the last has the rest; nothing goes as one without bytes",
        arguments: [
            (0, [0]), (1, [1]), (1_151, [1_151]), (1_152, [1_152]), (1_153, [1_152, 1]), (2_304, [1_152, 1_152]),
        ])
    func chunks(count: Int, sizes: [Int]) {
        // Of bytes that stand behind others.
        let payload = sampleBytes(seed: 2, count: count + 7).dropFirst(7)
        var sender = DatagramSender(9, payload, at: Self.start)
        #expect(sender.total == sizes.count)
        let chunks = sender.take(10, window: CongestionWindow(), at: .microseconds(77))
        #expect(chunks.map(\.bytes.count) == sizes && chunks.map(\.number) == Array(sizes.indices))
        #expect(chunks.reduce(Data()) { $0 + $1.bytes } == payload)
        #expect(chunks.allSatisfy { $0.transfer == 9 && $0.total == sizes.count && $0.stamp == 77 })
    }

    @Test func `no more go than the budget and the window have room for`() {
        var sender = Self.sender(40)
        #expect(sender.canSend(CongestionWindow()))
        #expect(Self.send(&sender, 0) == [])
        #expect(Self.send(&sender, 5) == [0, 1, 2, 3, 4])
        #expect(Self.send(&sender) == Array(5..<32))
        #expect(!sender.canSend(CongestionWindow()) && Self.send(&sender) == [])
        #expect(Self.tell(&sender, Self.report(2)) == [2, 0])
        #expect(sender.canSend(CongestionWindow()) && Self.send(&sender) == [32, 33])
        #expect(Self.tell(&sender, Self.report(20)) == [18, 0])
        #expect(Self.send(&sender) == Array(34..<40))
        #expect(!sender.canSend(CongestionWindow()) && sender.sends == 40 && sender.resends == 0)
    }

    @Test func `what is missing goes again, the first one first, before what is new`() {
        var sender = Self.sender(8)
        #expect(Self.send(&sender, 6) == Array(0..<6))
        #expect(Self.tell(&sender, Self.report(6, 0..<1, 3..<5)) == [3, 3])
        #expect(sender.canSend(CongestionWindow()))
        // What is lost already is not lost once more.
        #expect(Self.tell(&sender, Self.report(6, 0..<1, 3..<5)) == [0, 0])
        #expect(Self.send(&sender, 4) == [0, 3, 4, 6])
        #expect(sender.resends == 3 && sender.sends == 10)
    }

    @Test func `several reports' losses go in the order of their numbers`() {
        var sender = Self.sender(6)
        _ = Self.send(&sender)
        #expect(Self.tell(&sender, Self.report(6, edge: 5, 2..<3, 5..<6)) == [4, 1])
        #expect(Self.tell(&sender, Self.report(6, edge: 6, 2..<3, 5..<6)) == [0, 1])
        #expect(Self.send(&sender) == [2, 5])
        #expect(!sender.canSend(CongestionWindow()))
    }

    @Test("A chunk is lost that was sent a round trip ago and stands below the edge", arguments: [0, 1, 2])
    func edge(edge: Int) {
        for (time, isLost) in [(Self.roundTrip - .nanoseconds(1), false), (Self.roundTrip, true)] {
            var sender = Self.sender(3)
            _ = Self.send(&sender)
            let lost = isLost && edge > 1 ? 1 : 0
            #expect(Self.tell(&sender, Self.report(3, edge: edge, 1..<2), after: time) == [2, lost])
            #expect(Self.send(&sender) == (lost == 1 ? [1] : []))
        }
    }

    @Test func `what was never sent has not come, and what has come has come once`() {
        var sender = Self.sender(4)
        _ = Self.send(&sender, 2)
        #expect(Self.tell(&sender, Self.report(4)) == [2, 0])
        #expect(Self.tell(&sender, Self.report(4)) == [0, 0])
        #expect(Self.tell(&sender, Self.report(1)) == [0, 0])
        #expect(Self.tell(&sender, Self.report(4, 0..<4)) == [0, 0])
        #expect(Self.send(&sender) == [2, 3])
        #expect(Self.tell(&sender, Self.report(4)) == [2, 0])
        #expect(Self.tell(&sender, Self.report(4)) == [0, 0])
        #expect(!sender.canSend(CongestionWindow()) && sender.nextProbe(Self.roundTrip) == nil)
    }

    @Test func `a chunk that was taken for lost and has come is not sent again, and leaves the window as it is`() {
        var sender = Self.sender(34)
        #expect(Self.send(&sender).count == 32)
        #expect(Self.tell(&sender, Self.report(2, 0..<2)) == [0, 2])
        #expect(Self.tell(&sender, Self.report(1)) == [1, 0])
        // Thirty are on their way: the one that is lost, and one that is new.
        #expect(Self.send(&sender) == [1, 32])
        #expect(Self.send(&sender) == [])
    }

    @Test("A silent end is asked after twice the round trip, 200 ms at least, and then ever later, up to 16 times that")
    func probes() {
        for (roundTrip, first) in [(0, 200), (99, 200), (100, 200), (101, 202), (300, 600)] {
            var sender = Self.sender(5)
            #expect(sender.nextProbe(.milliseconds(roundTrip)) == nil)
            _ = Self.send(&sender)
            var now = Self.start
            for times in [1, 2, 4, 8, 16, 16] {
                let next = sender.nextProbe(.milliseconds(roundTrip))
                #expect(next == now + .milliseconds(first * times))
                now = next ?? now
                #expect(sender.probe(at: now).map(\.number) == [0, 4])
            }
            #expect(sender.resends == 12 && sender.sends == 17)
            _ = sender.take(Self.report(1), roundTrip: Self.roundTrip, at: now + .seconds(1))
            #expect(sender.nextProbe(.milliseconds(roundTrip)) == now + .seconds(1) + .milliseconds(first))
        }
    }

    @Test func `the first and the last of what is on its way are sent again, and take no more of the window`() {
        var sender = Self.sender(40)
        _ = Self.send(&sender)
        #expect(sender.probe(at: Self.start + .seconds(1)).map(\.number) == [0, 31])
        #expect(Self.send(&sender) == [])
        #expect(Self.tell(&sender, Self.report(1)) == [1, 0])
        #expect(sender.probe(at: Self.start + .seconds(2)).map(\.number) == [1, 31])
        #expect(Self.send(&sender) == [32])
        var single = Self.sender(1)
        _ = Self.send(&single)
        #expect(single.probe(at: Self.start).map(\.number) == [0])
        // Of that moment on, it is on its way again.
        var late = Self.sender(2)
        _ = Self.send(&late)
        _ = late.probe(at: Self.start + .milliseconds(50))
        #expect(Self.tell(&late, Self.report(2, 0..<2), after: .milliseconds(149)) == [0, 0])
        #expect(Self.tell(&late, Self.report(2, 0..<2), after: .milliseconds(150)) == [0, 2])
    }
}

/// What a receiver says of what has come, chunk by chunk.
@Suite struct DatagramReceiverTests {
    private static let start = Duration.seconds(5)

    private static func chunk(_ number: Int, of total: Int, stamp: UInt32 = 9) -> DatagramPacket.Chunk {
        .init(transfer: 3, number: number, total: total, stamp: stamp, bytes: Data([UInt8(truncatingIfNeeded: number)]))
    }

    /// One that these have come to, at the beginning.
    private static func receiver(_ numbers: [Int], of total: Int, window: Int = 20) -> DatagramReceiver {
        let first = chunk(numbers[0], of: total)
        var receiver = DatagramReceiver(first, reorderWindow: .milliseconds(window), at: start)
        for number in numbers { receiver.take(chunk(number, of: total), at: start) }
        return receiver
    }

    private static func report(
        _ upTo: Int, edge: Int? = nil, held: Int, _ missing: Range<Int>..., stamp: UInt32 = 9
    ) -> DatagramPacket.Report {
        .init(
            transfer: 3, upTo: upTo, edge: edge ?? upTo, stamp: stamp, held: UInt32(held * 1_000), missing: missing)
    }

    /// What it says at a moment, given that it has nothing to say just before that.
    private static func said(_ receiver: inout DatagramReceiver, at milliseconds: Int) -> DatagramPacket.Report? {
        let moment = start + .milliseconds(milliseconds)
        #expect(receiver.nextReport == moment)
        #expect(receiver.report(at: moment - .nanoseconds(1)) == nil)
        return receiver.report(at: moment)
    }

    @Test func `a payload is whole when each of its chunks has come, in whatever order, and stands in theirs`() {
        var receiver = Self.receiver([2, 0, 0], of: 4)
        #expect(receiver.total == 4 && receiver.transfer == 3 && receiver.payload == nil)
        // Those of another total, and those behind it, are none of it.
        for other in [Self.chunk(1, of: 5), Self.chunk(1, of: 3), Self.chunk(4, of: 4), Self.chunk(-1, of: 4)] {
            receiver.take(other, at: Self.start)
        }
        receiver.take(Self.chunk(3, of: 4), at: Self.start)
        #expect(receiver.payload == nil)
        receiver.take(Self.chunk(1, of: 4), at: Self.start)
        #expect(receiver.payload == Data([0, 1, 2, 3]))
    }

    @Test func `what comes is reported on after 10 ms, or with the tenth chunk`() {
        var receiver = Self.receiver([0], of: 100)
        receiver.take(Self.chunk(1, of: 100, stamp: 8), at: Self.start + .milliseconds(4))
        #expect(Self.said(&receiver, at: 10) == Self.report(2, held: 6, stamp: 8))
        // That was said; the silence began with the last chunk.
        #expect(receiver.nextReport == Self.start + .milliseconds(64))
        let now = Self.start + .milliseconds(30)
        for number in 2..<11 {
            receiver.take(Self.chunk(number, of: 100), at: now)
            #expect(receiver.nextReport == now + .milliseconds(10))
        }
        // One that has come already counts as well: its sender wants to know.
        receiver.take(Self.chunk(5, of: 100, stamp: 7), at: now)
        #expect(Self.said(&receiver, at: 30) == Self.report(11, held: 0, stamp: 7))
        receiver.take(Self.chunk(11, of: 100), at: now)
        #expect(receiver.nextReport == now + .milliseconds(10))
    }

    @Test("After 60 ms of silence, or twice the window, all up to the total is missing; then ever later, by a second")
    func tail() {
        for (window, first) in [(0, 60), (30, 60), (31, 62), (50, 100)] {
            var receiver = Self.receiver([0, 1], of: 5, window: window)
            #expect(Self.said(&receiver, at: 10) == Self.report(2, held: 10))
            var (delay, moment) = (first, first)
            for _ in 0..<7 {
                #expect(Self.said(&receiver, at: moment) == Self.report(5, held: moment, 2..<5))
                delay = min(moment * 2, 1_000)
                moment += delay
            }
            // With a chunk it begins anew.
            receiver.take(Self.chunk(2, of: 5), at: Self.start + .seconds(20))
            #expect(Self.said(&receiver, at: 20_010) == Self.report(3, held: 10))
            #expect(receiver.nextReport == Self.start + .milliseconds(20_000 + first))
        }
        // Where it was not asked for long, everything is said at once.
        var late = Self.receiver([1], of: 3)
        #expect(late.report(at: Self.start + .milliseconds(60)) == Self.report(3, held: 60, 0..<1, 2..<3))
        #expect(late.nextReport == Self.start + .milliseconds(180))
    }

    @Test func `a gap may be late for as long as the window is, and stands above the edge until then`() {
        var receiver = Self.receiver([0, 2], of: 9)
        receiver.take(Self.chunk(5, of: 9), at: Self.start + .milliseconds(5))
        #expect(Self.said(&receiver, at: 10) == Self.report(6, edge: 1, held: 5, 1..<2, 3..<5))
        #expect(Self.said(&receiver, at: 20) == Self.report(6, edge: 3, held: 15, 1..<2, 3..<5))
        #expect(Self.said(&receiver, at: 25) == Self.report(6, held: 20, 1..<2, 3..<5))
        #expect(receiver.nextReport == Self.start + .milliseconds(65))
        // The first one may be missing as well.
        var other = Self.receiver([1], of: 2)
        #expect(Self.said(&other, at: 10) == Self.report(2, edge: 0, held: 10, 0..<1))
        #expect(Self.said(&other, at: 20) == Self.report(2, held: 20, 0..<1))
    }

    @Test func `a gap that was filled is spoken of no more`() {
        var receiver = Self.receiver([0, 3], of: 9)
        receiver.take(Self.chunk(2, of: 9), at: Self.start + .milliseconds(1))
        var half = receiver
        #expect(Self.said(&half, at: 10) == Self.report(4, edge: 1, held: 9, 1..<2))
        receiver.take(Self.chunk(1, of: 9), at: Self.start + .milliseconds(2))
        #expect(Self.said(&receiver, at: 10) == Self.report(4, held: 8))
        #expect(receiver.nextReport == Self.start + .milliseconds(62))
        // What comes late opens no gap, and what follows at once does not either.
        receiver.take(Self.chunk(4, of: 9), at: Self.start + .milliseconds(20))
        #expect(Self.said(&receiver, at: 30) == Self.report(5, held: 10))
        #expect(receiver.nextReport == Self.start + .milliseconds(80))
    }

    @Test("A report has 140 gaps at most, and says how far it goes", arguments: [139, 140, 141, 150])
    func manyGaps(count: Int) {
        // Every second chunk, so that there are so many gaps, all of them too old to be late.
        let total = 2 * count + 1
        var receiver = Self.receiver((0...count).map { $0 * 2 }, of: total + 5)
        let report = receiver.report(at: Self.start + .milliseconds(30))
        let (gaps, upTo) = (min(count, 140), count <= 140 ? total : 281)
        #expect(report?.missing == (0..<gaps).map { 2 * $0 + 1..<2 * $0 + 2 })
        #expect(report?.upTo == upTo && report?.edge == upTo)
        var young = Self.receiver((0...count).map { $0 * 2 }, of: total + 5)
        #expect(young.report(at: Self.start)?.edge == 1)
    }
}
