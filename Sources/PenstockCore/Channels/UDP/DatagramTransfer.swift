import Foundation

/// How many chunks may be on their way at a time, from how long they take and how many are lost.
///
/// It grows twofold each round trip until something shows that the path is full, and by 16 from then on. What shows it is the
/// time that chunks wait in somebody's queue: more than 40 ms over the shortest round trip, or more than half of that. Loss alone
/// does not, unless it is most of what is sent: on radio a third may be lost with nothing in the queue.
struct CongestionWindow: Hashable, Sendable {
    /// What a path that takes next to nothing still has to take, and what fills 100 Mbit/s at 90 ms.
    static let bounds = 8.0...1_024.0
    /// The tenths of a second that a first datagram may take are halfway round the world.
    private(set) var roundTrip = Duration.milliseconds(100)
    private(set) var shortest: Duration?
    private(set) var packets = 32.0
    private var isStarting = true
    private var roundEnd: Duration?
    private var delivered = 0
    private var lost = 0
    private static let patience = Duration.milliseconds(40)
    private static let mostLoss = 0.45

    var count: Int { Int(packets) }

    mutating func measured(_ sample: Duration) {
        let isFirst = shortest == nil
        shortest = min(shortest ?? sample, sample)
        roundTrip = isFirst ? sample : roundTrip * 7 / 8 + sample / 8
    }

    mutating func report(delivered: Int, lost: Int, at now: Duration) {
        self.delivered += delivered
        self.lost += lost
        let end = roundEnd ?? now + roundTrip
        roundEnd = end
        guard now >= end else { return }
        endRound()
        roundEnd = now + roundTrip
    }

    private mutating func endRound() {
        defer { (delivered, lost) = (0, 0) }
        let waiting = roundTrip - (shortest ?? roundTrip)
        let isFull = waiting > max(Self.patience, (shortest ?? .zero) / 2)
        if isFull || Double(lost) > Self.mostLoss * Double(delivered + lost) {
            isStarting = false
            packets = packets * 0.7
        } else if Double(delivered) >= packets / 4 {
            packets += isStarting ? packets : 16
        }
        packets = min(max(packets, Self.bounds.lowerBound), Self.bounds.upperBound)
    }
}

/// A payload on its way out.
struct DatagramSender: Sendable {
    private enum Chunk: UInt8, Sendable {
        case unsent
        case underWay
        case lost
        case delivered
    }

    let transfer: UInt32
    private let payload: Data
    let total: Int
    private var chunks: [Chunk]
    private var sentAt: [Duration]
    private var nextNew = 0
    /// Everything below has come.
    private var base = 0
    private var lost: [Int] = []
    private var underWay = 0
    private var heard: Duration
    private var silences = 0
    private(set) var resends = 0
    private(set) var sends = 0
    private static let leastPatience = Duration.milliseconds(200)

    init(_ transfer: UInt32, _ payload: Data, at now: Duration) {
        self.transfer = transfer
        self.payload = payload
        total = max(1, (payload.count + DatagramPacket.chunkBytes - 1) / DatagramPacket.chunkBytes)
        chunks = [Chunk](repeating: .unsent, count: total)
        sentAt = [Duration](repeating: .zero, count: total)
        heard = now
    }

    /// Chunks that may go now: those that were lost first.
    ///
    /// - Parameter budget: how many at most.
    mutating func take(_ budget: Int, window: CongestionWindow, at now: Duration) -> [DatagramPacket.Chunk] {
        var taken: [DatagramPacket.Chunk] = []
        while taken.count < budget, underWay < window.count, let number = nextNumber() {
            if chunks[number] == .lost { resends += 1 }
            taken.append(mark(number, now))
        }
        return taken
    }

    /// Whether there is a chunk that may go.
    func canSend(_ window: CongestionWindow) -> Bool {
        underWay < window.count && (nextNew < total || !lost.isEmpty)
    }

    private mutating func nextNumber() -> Int? {
        while let number = lost.popLast() { if chunks[number] == .lost { return number } }
        guard nextNew < total else { return nil }
        defer { nextNew += 1 }
        return nextNew
    }

    private mutating func mark(_ number: Int, _ now: Duration) -> DatagramPacket.Chunk {
        if chunks[number] != .underWay { underWay += 1 }
        chunks[number] = .underWay
        sentAt[number] = now
        sends += 1
        let start = payload.startIndex + number * DatagramPacket.chunkBytes
        let end = min(start + DatagramPacket.chunkBytes, payload.endIndex)
        return DatagramPacket.Chunk(
            transfer: transfer, number: number, total: total, stamp: now.stamp, bytes: Data(payload[start..<end]))
    }

    /// What the other end says of it.
    ///
    /// - Returns: how many chunks have come since, and how many are lost.
    mutating func take(
        _ report: DatagramPacket.Report, roundTrip: Duration, at now: Duration
    ) -> (delivered: Int, lost: Int) {
        heard = now
        silences = 0
        var (delivered, missed) = (0, 0)
        var ranges = report.missing[...]
        // What was never sent cannot have come.
        for number in base..<max(base, min(report.upTo, nextNew)) {
            while let range = ranges.first, range.upperBound <= number { ranges = ranges.dropFirst() }
            guard ranges.first?.contains(number) == true else {
                delivered += deliver(number)
                continue
            }
            // A chunk that went out less than a round trip ago cannot be reported on.
            guard number < report.edge, chunks[number] == .underWay, now - sentAt[number] >= roundTrip else { continue }
            lose(number)
            missed += 1
        }
        while base < total, chunks[base] == .delivered { base += 1 }
        lost.sort(by: >)
        return (delivered, missed)
    }

    private mutating func deliver(_ number: Int) -> Int {
        if chunks[number] == .delivered { return 0 }
        if chunks[number] == .underWay { underWay -= 1 }
        chunks[number] = .delivered
        return 1
    }

    private mutating func lose(_ number: Int) {
        chunks[number] = .lost
        underWay -= 1
        lost.append(number)
    }

    /// When the other end has been silent for too long.
    func nextProbe(_ roundTrip: Duration) -> Duration? {
        guard underWay > 0 else { return nil }
        return heard + max(Self.leastPatience, roundTrip * 2) * (1 << min(silences, 4))
    }

    /// The other end is silent: what was sent first, and what was sent last, goes once more.
    mutating func probe(at now: Duration) -> [DatagramPacket.Chunk] {
        heard = now
        silences += 1
        let waiting = (base..<nextNew).filter { chunks[$0] == .underWay }
        return Set([waiting.first, waiting.last].compactMap(\.self)).sorted().map { number in
            resends += 1
            return mark(number, now)
        }
    }
}

/// A payload on its way in.
struct DatagramReceiver: Sendable {
    let transfer: UInt32
    let total: Int
    private var chunks: [Data?]
    private var received = 0
    private var base = 0
    private var highest = -1
    /// Gaps that may only be late, by where they begin and when they showed.
    private var young: [(gap: Range<Int>, since: Duration)] = []
    private var unreported = 0
    private var reportAt: Duration?
    private var last: (stamp: UInt32, at: Duration)
    private var tailDelay: Duration
    private let reorderWindow: Duration
    /// How many chunks are reported on at once: a third of the smallest window that is not close to its bound.
    private static let batch = 10
    private static let interval = Duration.milliseconds(10)
    private static let firstTail = Duration.milliseconds(60)
    private static let lastTail = Duration.seconds(1)

    init(_ first: DatagramPacket.Chunk, reorderWindow: Duration, at now: Duration) {
        transfer = first.transfer
        total = first.total
        chunks = [Data?](repeating: nil, count: first.total)
        self.reorderWindow = reorderWindow
        last = (first.stamp, now)
        tailDelay = max(Self.firstTail, reorderWindow * 2)
    }

    /// The whole; `nil` while chunks are missing.
    var payload: Data? {
        guard received == total else { return nil }
        var payload = Data(capacity: total * DatagramPacket.chunkBytes)
        for chunk in chunks { if let chunk { payload.append(chunk) } }
        return payload
    }

    mutating func take(_ chunk: DatagramPacket.Chunk, at now: Duration) {
        guard chunk.total == total, chunks.indices.contains(chunk.number) else { return }
        last = (chunk.stamp, now)
        tailDelay = max(Self.firstTail, reorderWindow * 2)
        unreported += 1
        let due = unreported >= Self.batch ? now : now + Self.interval
        reportAt = min(reportAt ?? due, due)
        guard chunks[chunk.number] == nil else { return }
        chunks[chunk.number] = chunk.bytes
        received += 1
        if chunk.number > highest + 1 { young.append((highest + 1..<chunk.number, now)) }
        highest = max(highest, chunk.number)
        while base < total, chunks[base] != nil { base += 1 }
    }

    /// When there is something to say.
    var nextReport: Duration {
        [reportAt, young.first.map { $0.since + reorderWindow }].compactMap(\.self)
            .reduce(last.at + tailDelay) { min($0, $1) }
    }

    /// What to say now; `nil` where it is not the time.
    mutating func report(at now: Duration) -> DatagramPacket.Report? {
        guard now >= nextReport else { return nil }
        // Where nothing has come for a while, what is behind the highest is missing as well.
        let isTail = now >= last.at + tailDelay
        if isTail { tailDelay = min(tailDelay * 2, Self.lastTail) + (now - last.at) }
        young.removeAll { $0.since + reorderWindow <= now || $0.gap.upperBound <= base }
        let end = isTail ? total : highest + 1
        let (missing, upTo) = missing(below: end)
        (unreported, reportAt) = (0, nil)
        return DatagramPacket.Report(
            transfer: transfer, upTo: upTo, edge: min(young.first?.gap.lowerBound ?? end, upTo), stamp: last.stamp,
            held: UInt32(clamping: (now - last.at).microseconds), missing: missing)
    }

    private func missing(below end: Int) -> ([Range<Int>], upTo: Int) {
        var ranges: [Range<Int>] = []
        var number = base
        while number < end {
            guard chunks[number] == nil else {
                number += 1
                continue
            }
            var behind = number
            while behind < end, chunks[behind] == nil { behind += 1 }
            guard ranges.count < DatagramPacket.mostRanges else { return (ranges, number) }
            ranges.append(number..<behind)
            number = behind
        }
        return (ranges, end)
    }
}

extension Duration {
    /// The duration in whole microseconds.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }

    /// The microseconds as a datagram has them: the number begins anew every 71 minutes.
    var stamp: UInt32 { UInt32(truncatingIfNeeded: microseconds) }
}
