import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Two ends of a datagram connection and the path between them, under a clock that jumps from one event to the next.
struct DatagramPath {
    /// What the path does to each datagram.
    struct Weather {
        var loss = 0.0
        var reorder = 0.0
        var duplicates = 0.0
        /// Both ways together.
        var roundTrip = Duration.milliseconds(50)
        /// How much later one comes that others overtake.
        var lag = Duration.milliseconds(12)
        /// Datagrams a second that the path takes, and how many wait where more come; none of it by default.
        var bottleneck: (rate: Double, queue: Int)?
    }

    enum End { case client, server }

    var weather: Weather
    var random: Seeded
    var now = Duration.seconds(1_000)
    /// By how much the server's clock is ahead.
    var serverClock = Duration.zero
    var client: DatagramMachine
    var listener: DatagramListener
    static let address = Data([127, 0, 0, 1, 0x12, 0x34])
    /// What is on its way, by when it arrives.
    private var flying: [(at: Duration, order: Int, to: End, datagram: Data)] = []
    private var order = 0
    private var freeAt = Duration.zero
    var clientEvents: [DatagramMachine.Event] = []
    var serverEvents: [DatagramMachine.Event] = []
    /// Asked for each datagram by its number, whether it is lost whatever the weather.
    var drops: (End, DatagramPacket) -> Bool = { _, _ in false }
    /// Everything that was sent.
    var seen: [(to: End, packet: DatagramPacket)] = []

    init(_ weather: Weather = .init(), seed: UInt64 = 1, limits: DatagramLimits = .init()) {
        self.weather = weather
        random = Seeded(seed: seed)
        client = DatagramMachine(limits, at: now)
        listener = DatagramListener(limits, secret: Data("a secret".utf8))
    }

    mutating func send(_ datagram: Data, to end: End) {
        guard let packet = DatagramPacket(datagram) else { return }
        seen.append((end, packet))
        if drops(end, packet) || Double.random(in: 0..<1, using: &random) < weather.loss { return }
        var at = now + weather.roundTrip / 2
        if let bottleneck = weather.bottleneck, end == .server {
            let step = Duration.microseconds(Int64(1_000_000 / bottleneck.rate))
            freeAt = max(freeAt, now) + step
            if freeAt - now > step * bottleneck.queue {
                freeAt -= step
                return
            }
            at = freeAt + weather.roundTrip / 2
        }
        if Double.random(in: 0..<1, using: &random) < weather.reorder { at += weather.lag }
        let copies = Double.random(in: 0..<1, using: &random) < weather.duplicates ? 2 : 1
        for _ in 0..<copies {
            order += 1
            flying.append((at, order, end, datagram))
        }
    }

    /// Goes on until the condition holds, the moment comes, or nothing more will happen.
    mutating func run(for duration: Duration = .seconds(600), until isDone: (DatagramPath) -> Bool = { _ in false }) {
        let end = now + duration
        pump()
        while !isDone(self) {
            let serverWakesAt = listener.wakesAt.map { $0 - serverClock }
            let next = [flying.map(\.at).min(), client.wakesAt, serverWakesAt].compactMap(\.self).min()
            guard let next, next <= end else { return now = end }
            now = max(now, next)
            // In the order in which they were sent where they arrive together.
            let due = flying.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
            flying.removeAll { $0.at <= now }
            for item in due { arrive(item.datagram, item.to) }
            pump()
        }
    }

    private mutating func arrive(_ datagram: Data, _ end: End) {
        switch end {
        case .client: client.receive(datagram, at: now)
        case .server:
            for answer in listener.receive(datagram, from: Self.address, at: now + serverClock) {
                send(answer, to: .client)
            }
        }
    }

    private mutating func pump() {
        for datagram in client.takeDatagrams(at: now) { send(datagram, to: .server) }
        while let event = client.next() { clientEvents.append(event) }
        for peer in listener.peers {
            let now = now + serverClock
            let (datagrams, events) =
                listener.with(peer) { machine -> ([Data], [DatagramMachine.Event]) in
                    let datagrams = machine.takeDatagrams(at: now)
                    var events: [DatagramMachine.Event] = []
                    while let event = machine.next() { events.append(event) }
                    return (datagrams, events)
                } ?? ([], [])
            serverEvents += events
            for datagram in datagrams { send(datagram, to: .client) }
        }
    }

    var received: [Data] { serverEvents.compactMap { if case .received(let data) = $0 { data } else { nil } } }
    var chunksSent: Int { seen.count { if case .data = $0.packet { true } else { false } } }
}

@Suite(.timeLimit(.minutes(5))) struct DatagramTransferTests {
    /// A connection whose handshake is over.
    private func connected(_ weather: DatagramPath.Weather = .init(), seed: UInt64 = 1) -> DatagramPath {
        var path = DatagramPath(.init(), seed: seed)
        path.run { !$0.clientEvents.isEmpty }
        path.weather = weather
        return path
    }

    @Test(
        "10 MiB arrive as they were sent, of which 30 % are lost, 5 % late and 2 % doubled, at 50 ms", .covers("S3.41"),
        .serialized, arguments: [1, 2] as [UInt64])
    func storm(seed: UInt64) throws {
        var path = connected(.init(loss: 0.3, reorder: 0.05, duplicates: 0.02), seed: seed)
        let payload = sampleBytes(seed: seed, count: 10 << 20)
        let isSent = path.client.send(payload)
        #expect(isSent)
        let start = path.now
        path.run { $0.clientEvents.last == .delivered }
        let received = try #require(path.received.first)
        #expect(SHA256.hex(received) == SHA256.hex(payload))
        #expect(path.received.count == 1)
        let least = (payload.count + DatagramPacket.chunkBytes - 1) / DatagramPacket.chunkBytes
        let overhead = Double(path.chunksSent) / Double(least)
        // Each chunk that is lost has to go again: 1 / 0.7 is the least that could do.
        #expect(overhead < 1.6, "sent \(overhead) times")
        #expect(path.now - start < .seconds(20), "took \(path.now - start)")
        print("seed \(seed): \(overhead) × the chunks, \(path.now - start)")
    }

    @Test("Payloads of every size arrive, in their order, both ways", .covers("S3.41"))
    func sizes() {
        var path = connected(.init(loss: 0.2, reorder: 0.1, duplicates: 0.1), seed: 3)
        let sizes = [0, 1, 1_151, 1_152, 1_153, 2_304, 100_000]
        let payloads = sizes.map { sampleBytes(seed: UInt64($0), count: $0) }
        for payload in payloads {
            _ = path.client.send(payload)
            if let peer = path.listener.peers.first { _ = path.listener.with(peer) { $0.send(payload) } }
        }
        path.run { path in
            path.received.count == sizes.count && path.clientEvents.count { $0 == .delivered } == sizes.count
                && path.serverEvents.count { $0 == .delivered } == sizes.count
        }
        #expect(path.received == payloads)
        #expect(path.clientEvents.compactMap { if case .received(let data) = $0 { data } else { nil } } == payloads)
    }

    @Test(
        "What others overtake by less than the reorder window is not sent again, and by more it is", .covers("S3.41"),
        arguments: [(19, false), (21, true)])
    func reorderWindow(lag: Int, isResent: Bool) {
        var path = connected(.init(reorder: 0.2, lag: .milliseconds(lag)), seed: 5)
        // The round trip is known by now, so that a report can be believed at once.
        _ = path.client.send(sampleBytes(seed: 1, count: 3 << 20))
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received.count == 1)
        #expect((path.client.sent.resends > 0) == isResent)
    }

    @Test("A lost tail is found by the total and the timer", .covers("S3.41"), arguments: [1, 3, 20])
    func tail(count: Int) {
        var path = connected()
        var dropped = 0
        let total = 30
        path.drops = { _, packet in
            guard case .data(_, let chunk) = packet, chunk.number >= total - count, dropped < count else {
                return false
            }
            dropped += 1
            return true
        }
        _ = path.client.send(sampleBytes(seed: 1, count: total * 1_152))
        let start = path.now
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received.first == sampleBytes(seed: 1, count: total * 1_152))
        #expect(path.now - start < .milliseconds(500))
        #expect(path.client.sent.resends == count)
    }

    @Test("A report that is lost comes again, and so does the word that all has come", .covers("S3.41"))
    func lostReports() {
        var path = connected()
        var dropped = 0
        path.drops = { end, _ in
            guard end == .client, dropped < 5 else { return false }
            dropped += 1
            return true
        }
        var lost = false
        let inner = path.drops
        path.drops = { end, packet in
            if case .data(_, let chunk) = packet, chunk.number == 3, !lost {
                lost = true
                return true
            }
            return inner(end, packet)
        }
        _ = path.client.send(sampleBytes(seed: 1, count: 20_000))
        path.run { $0.clientEvents.last == .delivered }
        #expect(dropped == 5)
        #expect(path.received == [sampleBytes(seed: 1, count: 20_000)])
    }

    @Test("A payload of which nothing at all has come is noticed by its sender", .covers("S3.41"))
    func allLost() {
        var path = connected()
        let until = path.now + .seconds(2)
        path.weather.loss = 1
        _ = path.client.send(Data(count: 50_000))
        path.run(for: until - path.now)
        #expect(path.received.isEmpty)
        path.weather.loss = 0
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received == [Data(count: 50_000)])
    }

    @Test("Without loss each chunk goes once, and a doubled one is one")
    func clean() {
        var path = connected(.init(duplicates: 0.5))
        let payload = sampleBytes(seed: 9, count: 1 << 20)
        _ = path.client.send(payload)
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received == [payload])
        #expect(path.client.sent.resends == 0)
        #expect(path.client.sent.chunks == 911)
    }

    @Test("A payload of 16 MiB goes, and a byte more does not")
    func largest() {
        var machine = DatagramMachine(at: .zero)
        let answers = [16 << 20, 16 << 20 | 1].map { machine.send(Data(count: $0)) }
        #expect(answers == [true, false])
        #expect(DatagramLimits(payloadBytes: .max).payloadBytes == 16 << 20)
        #expect(DatagramLimits(payloadBytes: -1).payloadBytes == 0)
        #expect(
            DatagramLimits()
                == DatagramLimits(
                    payloadBytes: 16 << 20, reorderWindow: .milliseconds(20), connect: .seconds(10), idle: .seconds(30))
        )
    }

    // MARK: Congestion

    @Test("A narrow path is filled and not flooded: the queue stays short, and little is sent in vain")
    func bottleneck() throws {
        // 1,000 datagrams a second, of which 100 may wait: a tenth of a second.
        var path = connected(.init(bottleneck: (1_000, 100)), seed: 7)
        let payload = sampleBytes(seed: 4, count: 8 << 20)
        _ = path.client.send(payload)
        let start = path.now
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received == [payload])
        let took = path.now - start
        #expect(took < .seconds(12), "took \(took); the path alone takes 7.3 s")
        #expect(path.client.sent.largestWindow < 400)
        #expect(path.client.sent.resends < 800, "\(path.client.sent.resends) sent again")
    }

    @Test("The window has its bounds, whatever is measured")
    func windowBounds() {
        var window = CongestionWindow()
        var now = Duration.zero
        for _ in 0..<100 {
            window.measured(.milliseconds(10))
            window.report(delivered: 2_000, lost: 0, at: now)
            now += .milliseconds(20)
        }
        #expect(window.count == 1_024)
        for _ in 0..<100 {
            window.report(delivered: 0, lost: 2_000, at: now)
            now += .milliseconds(20)
        }
        #expect(window.count == 8)
    }

    @Test(
        "Most chunks lost narrows the window, a third of them does not, and neither does a window that is not used",
        arguments: [(44, 1), (46, -1), (0, 1)])
    func lossRule(lost: Int, direction: Int) {
        var window = CongestionWindow()
        window.measured(.milliseconds(50))
        window.report(delivered: 100 - lost, lost: lost, at: .zero)
        window.report(delivered: 0, lost: 0, at: .milliseconds(50))
        #expect((window.count - 32).signum() == direction)
        var idle = CongestionWindow()
        idle.measured(.milliseconds(50))
        idle.report(delivered: 7, lost: 0, at: .zero)
        idle.report(delivered: 0, lost: 0, at: .milliseconds(50))
        #expect(idle.count == 32)
    }

    @Test("Chunks that wait in a queue narrow the window", arguments: [(40, false), (41, true)])
    func queueRule(wait: Int, isNarrowed: Bool) {
        var window = CongestionWindow()
        window.measured(.milliseconds(50))
        for _ in 0..<2_000 { window.measured(.milliseconds(50 + wait)) }
        window.report(delivered: 32, lost: 0, at: .zero)
        window.report(delivered: 0, lost: 0, at: .milliseconds(100))
        #expect((window.count < 32) == isNarrowed)
    }
}

@Suite(.covers("S3.42"), .timeLimit(.minutes(5))) struct DatagramHandshakeTests {
    private static func kind(_ packet: DatagramPacket) -> String { "\(packet)".prefix { $0 != "(" }.description }

    @Test("Three datagrams make a connection, and the fourth says so")
    func handshake() {
        var path = DatagramPath()
        path.run { !$0.clientEvents.isEmpty }
        #expect(path.seen.map { Self.kind($0.packet) } == ["syn", "challenge", "ack", "ready"])
        #expect(path.clientEvents == [.connected])
        #expect(path.client.isOpen)
        #expect(path.listener.peerCount == 1)
    }

    @Test(
        "Each datagram of the handshake may be lost, and is sent again",
        arguments: ["syn", "challenge", "ack", "ready"], [1, 2])
    func lost(kind: String, times: Int) {
        var path = DatagramPath()
        var dropped = 0
        path.drops = { _, packet in
            guard Self.kind(packet) == kind, dropped < times else { return false }
            dropped += 1
            return true
        }
        let start = path.now
        path.run { !$0.clientEvents.isEmpty }
        #expect(dropped == times)
        #expect(path.clientEvents == [.connected])
        #expect(path.listener.peerCount == 1)
        #expect(path.now - start == (times == 1 ? .milliseconds(350) : .milliseconds(850)))
    }

    @Test("Who asks only costs nothing: nothing is kept, and the answer is no larger than the question")
    func halfOpen() throws {
        var listener = DatagramListener()
        for number in 0..<10_000 {
            let syn = DatagramPacket.syn(nonce: UInt64(number)).bytes
            let answers = listener.receive(syn, from: Data("\(number)".utf8), at: .seconds(5))
            #expect(answers.count == 1)
            #expect(try #require(answers.first).count <= syn.count)
        }
        #expect(listener.peerCount == 0)
    }

    @Test(
        "A half-open connection expires: its cookie is good for ten seconds, and the client gives up after as many",
        arguments: [(10, true), (11, false)])
    func expiry(seconds: Int, isGood: Bool) throws {
        var listener = DatagramListener()
        let address = Data("here".utf8)
        let answer = try #require(
            listener.receive(DatagramPacket.syn(nonce: 7).bytes, from: address, at: .seconds(100)).first)
        guard case .challenge(7, let stamp, let cookie) = try #require(DatagramPacket(answer)) else {
            return #expect(Bool(false))
        }
        let ack = DatagramPacket.ack(nonce: 7, stamp: stamp, cookie: cookie).bytes
        #expect(listener.receive(ack, from: address, at: .seconds(100 + seconds)).isEmpty != isGood)
        #expect(listener.peerCount == (isGood ? 1 : 0))
        var path = DatagramPath()
        path.weather.loss = 1
        let start = path.now
        path.run { !$0.clientEvents.isEmpty }
        #expect(path.clientEvents == [.timedOut])
        #expect(path.now - start == .seconds(10))
        #expect(path.client.isOver)
    }

    @Test(
        "Where no word of a handshake comes through for longer than a cookie is good, it goes on behind it",
        arguments: ["challenge", "ack", "ready"], [14, 28])
    func longLoss(kind: String, times: Int) {
        var path = DatagramPath(limits: .init(connect: .seconds(60)))
        var dropped = 0
        path.drops = { _, packet in
            guard Self.kind(packet) == kind, dropped < times else { return false }
            dropped += 1
            return true
        }
        let start = path.now
        path.run { !$0.clientEvents.isEmpty }
        #expect(path.clientEvents == [.connected])
        #expect(dropped == times)
        #expect(path.now - start > .seconds(times == 14 ? 15 : 30))
        let isSent = path.client.send(Data("here".utf8))
        #expect(isSent)
        path.run { $0.clientEvents.last == .delivered }
        #expect(path.received == [Data("here".utf8)])
    }

    @Test("A server that begins anew during the handshake, with its clock at zero, is reached all the same")
    func restart() {
        var path = DatagramPath(limits: .init(connect: .seconds(60)))
        path.drops = { _, packet in Self.kind(packet) == "ack" }
        path.run(for: .seconds(5))
        #expect(path.seen.contains { Self.kind($0.packet) == "challenge" })
        path.drops = { _, _ in false }
        path.listener = DatagramListener(secret: Data("another secret".utf8))
        path.serverClock = .zero - path.now
        path.run { !$0.clientEvents.isEmpty }
        #expect(path.clientEvents == [.connected])
    }

    @Test("An ack whose answer was lost is answered for as long as its connection is there, and makes no second one")
    func lateAck() throws {
        var listener = DatagramListener(.init(idle: .seconds(30)))
        let address = Data("here".utf8)
        let answer = try #require(
            listener.receive(DatagramPacket.syn(nonce: 7).bytes, from: address, at: .seconds(100)).first)
        guard case .challenge(7, let stamp, let cookie) = try #require(DatagramPacket(answer)) else {
            return #expect(Bool(false))
        }
        let ack = DatagramPacket.ack(nonce: 7, stamp: stamp, cookie: cookie).bytes
        let ready = listener.receive(ack, from: address, at: .seconds(101))
        #expect(ready.count == 1)
        #expect(listener.receive(ack, from: address, at: .seconds(129)) == ready)
        #expect(listener.peerCount == 1)
        let peer = try #require(listener.peers.first)
        listener.with(peer) { machine in
            _ = machine.takeDatagrams(at: .seconds(131))
            while machine.next() != nil {}
        }
        #expect(listener.receive(ack, from: address, at: .seconds(132)).isEmpty)
        #expect(listener.peerCount == 0)
    }

    @Test("A forged ack is ignored: another cookie, address, nonce or moment, or one from the future")
    func forged() throws {
        var listener = DatagramListener()
        let address = Data("here".utf8)
        let now = Duration.seconds(100)
        let answer = try #require(listener.receive(DatagramPacket.syn(nonce: 7).bytes, from: address, at: now).first)
        guard case .challenge(_, let stamp, let cookie) = try #require(DatagramPacket(answer)) else {
            return #expect(Bool(false))
        }
        var broken = cookie
        broken[broken.startIndex] ^= 1
        let forgeries: [(UInt64, UInt64, Data, Data)] = [
            (7, stamp, broken, address), (8, stamp, cookie, address), (7, stamp + 1, cookie, address),
            (7, stamp, cookie, Data("there".utf8)), (7, stamp, Data(count: 32), address),
            (7, UInt64.max, cookie, address),
        ]
        for (nonce, stamp, cookie, address) in forgeries {
            let ack = DatagramPacket.ack(nonce: nonce, stamp: stamp, cookie: cookie).bytes
            #expect(listener.receive(ack, from: address, at: now).isEmpty)
        }
        var other = DatagramListener()
        let ack = DatagramPacket.ack(nonce: 7, stamp: stamp, cookie: cookie).bytes
        #expect(other.receive(ack, from: address, at: now).isEmpty)
        #expect(listener.receive(ack, from: address, at: now - .seconds(1)).isEmpty)
        #expect(listener.peerCount == 0)
        #expect(listener.receive(ack, from: address, at: now).count == 1)
        #expect(listener.receive(ack, from: address, at: now).count == 1)
        #expect(listener.peerCount == 1)
    }

    @Test("A client takes no answer that does not know its nonce")
    func forgedAnswers() {
        var client = DatagramMachine(at: .zero, random: RandomSource { 7 })
        _ = client.takeDatagrams(at: .zero)
        client.receive(DatagramPacket.challenge(nonce: 8, stamp: 1, cookie: Data(count: 32)).bytes, at: .zero)
        client.receive(DatagramPacket.ready(nonce: 7, token: 1).bytes, at: .zero)
        #expect(client.takeDatagrams(at: .milliseconds(1)).isEmpty)
        client.receive(DatagramPacket.challenge(nonce: 7, stamp: 1, cookie: Data(count: 32)).bytes, at: .zero)
        #expect(client.takeDatagrams(at: .milliseconds(1)).count == 1)
        client.receive(DatagramPacket.ready(nonce: 8, token: 1).bytes, at: .zero)
        #expect(!client.isOpen)
        client.receive(DatagramPacket.ready(nonce: 7, token: 1).bytes, at: .zero)
        #expect(client.isOpen)
    }

    @Test("Who does not know the token changes nothing, from whatever address")
    func strangers() throws {
        var path = DatagramPath()
        path.run { !$0.clientEvents.isEmpty }
        let peer = try #require(path.listener.peers.first)
        for datagram in [DatagramPacket.close(token: 1).bytes, Data(), Data([1, 2, 3]), Data(count: 2_000)] {
            _ = path.listener.receive(datagram, from: DatagramPath.address, at: path.now)
            path.client.receive(datagram, at: path.now)
        }
        guard case .ready(_, let token) = try #require(path.seen.last?.packet) else { return #expect(Bool(false)) }
        _ = path.listener.receive(DatagramPacket.close(token: token).bytes, from: Data("there".utf8), at: path.now)
        path.run(for: .milliseconds(1))
        #expect(path.client.isOpen)
        let isOpen = path.listener.with(peer) { $0.isOpen }
        #expect(isOpen == true)
    }

    @Test("There are so many connections and no more")
    func mostPeers() throws {
        var listener = DatagramListener(mostPeers: 2)
        for number in 0..<4 {
            let address = Data("\(number)".utf8)
            let answer = listener.receive(DatagramPacket.syn(nonce: 1).bytes, from: address, at: .zero).first
            guard case .challenge(_, let stamp, let cookie)? = answer.flatMap({ DatagramPacket($0) }) else {
                return #expect(Bool(false))
            }
            let ack = DatagramPacket.ack(nonce: 1, stamp: stamp, cookie: cookie).bytes
            #expect(listener.receive(ack, from: address, at: .zero).isEmpty == (number >= 2))
        }
        #expect(listener.peerCount == 2)
    }

    @Test("A silent end is asked, and is gone after 30 seconds; one that answers stays")
    func silence() {
        var path = DatagramPath()
        path.run { !$0.clientEvents.isEmpty }
        path.run(for: .seconds(100))
        #expect(path.client.isOpen)
        #expect(path.serverEvents.isEmpty)
        path.weather.loss = 1
        let start = path.now
        path.run { $0.clientEvents.last == .timedOut && $0.serverEvents.last == .timedOut }
        #expect(path.clientEvents.last == .timedOut)
        #expect(path.now - start <= .seconds(30))
        #expect(path.now - start >= .seconds(18))
        #expect(path.listener.peerCount == 0)
    }

    @Test("A close is told, and forgotten by the other end")
    func closing() {
        var path = DatagramPath()
        path.run { !$0.clientEvents.isEmpty }
        path.client.close()
        let isSent = path.client.send(Data())
        #expect(!isSent)
        path.run(for: .seconds(1))
        #expect(path.serverEvents == [.closed])
        #expect(path.listener.peerCount == 0)
    }

    @Test("What is cut, or claims what cannot be, is no datagram")
    func parsing() {
        let packets: [DatagramPacket] = [
            .syn(nonce: 1), .challenge(nonce: 1, stamp: 2, cookie: Data(count: 32)),
            .ack(nonce: 1, stamp: 2, cookie: Data(count: 32)), .ready(nonce: 1, token: 2),
            .data(token: 1, chunk: .init(transfer: 1, number: 0, total: 1, stamp: 3, bytes: Data([1, 2, 3]))),
            .data(token: 1, chunk: .init(transfer: 1, number: 0, total: 2, stamp: 3, bytes: Data(count: 1_152))),
            .report(
                token: 1, report: .init(transfer: 1, upTo: 9, edge: 4, stamp: 3, held: 2, missing: [1..<2, 5..<9])),
            .done(token: 1, transfer: 2), .ping(token: 1), .pong(token: 2), .close(token: 3),
        ]
        for packet in packets {
            let bytes = packet.bytes
            #expect(bytes.count <= 1_200)
            #expect(DatagramPacket(bytes) == packet)
            for count in 0..<min(bytes.count, 40) where Self.kind(packet) != "data" || count < 28 {
                if Self.kind(packet) == "report", (count - 32) % 8 == 0, count >= 32 { continue }
                #expect(DatagramPacket(bytes.prefix(count)) == nil)
            }
        }
        let bad: [DatagramPacket] = [
            .data(token: 1, chunk: .init(transfer: 1, number: 1, total: 1, stamp: 3, bytes: Data())),
            .data(token: 1, chunk: .init(transfer: 1, number: 0, total: 2, stamp: 3, bytes: Data(count: 1_151))),
            .data(token: 1, chunk: .init(transfer: 1, number: 0, total: 1, stamp: 3, bytes: Data(count: 1_153))),
            .report(token: 1, report: .init(transfer: 1, upTo: 9, edge: 4, stamp: 3, held: 2, missing: [5..<10])),
            .report(
                token: 1, report: .init(transfer: 1, upTo: 9, edge: 4, stamp: 3, held: 2, missing: [5..<6, 1..<2])),
        ]
        for packet in bad { #expect(DatagramPacket(packet.bytes) == nil) }
    }
}
