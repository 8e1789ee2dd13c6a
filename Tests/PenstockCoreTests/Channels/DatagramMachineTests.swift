import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// The datagrams as they are on the wire.
@Suite struct DatagramPacketTests {
    private static let mark = "506e01"

    @Test func `a datagram is written as the table says, with the highest byte of a number first`() {
        let cookie = Data(0..<32)
        let digits = cookie.map { String(format: "%02x", $0) }.joined()
        let table: [(DatagramPacket, String)] = [
            (.syn(nonce: 0x0102_0304_0506_0708), "01" + "0102030405060708" + String(repeating: "00", count: 52)),
            (
                .challenge(nonce: 1, stamp: 0x0203, cookie: cookie),
                "02" + "0000000000000001" + "0000000000000203" + digits
            ),
            (.ack(nonce: 1, stamp: 2, cookie: cookie), "03" + "0000000000000001" + "0000000000000002" + digits),
            (.ready(nonce: 1, token: 2), "04" + "0000000000000001" + "0000000000000002"),
            (
                .data(token: 1, chunk: .init(transfer: 2, number: 3, total: 4, stamp: 5, bytes: Data([0xAA]))),
                "05" + "0000000000000001" + "00000002" + "00000003" + "00000004" + "00000005" + "aa"
            ),
            (
                .report(token: 1, report: .init(transfer: 2, upTo: 9, edge: 4, stamp: 5, held: 6, missing: [7..<8])),
                "06" + "0000000000000001" + "00000002" + "00000009" + "00000004" + "00000005" + "00000006" + "00000007"
                    + "00000008"
            ),
            (.done(token: 1, transfer: 2), "07" + "0000000000000001" + "00000002"),
            (.ping(token: 1), "08" + "0000000000000001"), (.pong(token: 1), "09" + "0000000000000001"),
            (.close(token: 0xFFFF_FFFF_FFFF_FFFF), "0a" + "ffffffffffffffff"),
        ]
        for (packet, text) in table {
            #expect(packet.bytes.map { String(format: "%02x", $0) }.joined() == Self.mark + text)
            #expect(DatagramPacket(packet.bytes) == packet)
            // One that stands within others' bytes is the same.
            #expect(DatagramPacket((Data([1, 2]) + packet.bytes).dropFirst(2)) == packet)
        }
    }

    @Test func `a datagram with another mark, or with more than it should have, is none`() {
        let packets: [DatagramPacket] = [
            .syn(nonce: 1), .challenge(nonce: 1, stamp: 2, cookie: Data(count: 32)),
            .ack(nonce: 1, stamp: 2, cookie: Data(count: 32)), .ready(nonce: 1, token: 2),
            .report(token: 1, report: .init(transfer: 1, upTo: 9, edge: 4, stamp: 3, held: 2, missing: [1..<2])),
            .done(token: 1, transfer: 2), .ping(token: 1), .pong(token: 2), .close(token: 3),
        ]
        for packet in packets {
            for more in 1...7 { #expect(DatagramPacket(packet.bytes + Data(count: more)) == nil, "\(packet) \(more)") }
            for index in 0..<3 {
                var other = packet.bytes
                other[index] ^= 1
                #expect(DatagramPacket(other) == nil)
            }
            var other = packet.bytes
            other[3] = 0
            #expect(DatagramPacket(other) == nil)
            other[3] = 11
            #expect(DatagramPacket(other) == nil)
        }
    }

    @Test func `all chunks but the last are full, and none stands behind the total`() {
        func isTaken(_ number: Int, of total: Int, _ count: Int) -> Bool {
            let chunk = DatagramPacket.Chunk(
                transfer: 1, number: number, total: total, stamp: 3, bytes: Data(count: count))
            return DatagramPacket(DatagramPacket.data(token: 1, chunk: chunk).bytes) != nil
        }
        let table: [(Int, Int, Int, Bool)] = [
            (0, 1, 0, true), (0, 1, 1_152, true), (0, 1, 1_153, false), (0, 2, 1_151, false), (0, 2, 1_152, true),
            (0, 2, 1_153, false), (1, 2, 1, true), (1, 2, 1_153, false), (2, 2, 1, false), (2, 2, 1_152, false),
            (0, 0, 0, false),
        ]
        for (number, total, count, isGood) in table {
            #expect(isTaken(number, of: total, count) == isGood, "\(number) of \(total): \(count)")
        }
    }

    @Test func `missing chunks stand in order, apart, below what is reported, in 140 ranges at most`() {
        func isTaken(_ ranges: [Range<Int>], upTo: Int = 1_000) -> Bool {
            let report = DatagramPacket.Report(transfer: 1, upTo: upTo, edge: 4, stamp: 3, held: 2, missing: ranges)
            return DatagramPacket(DatagramPacket.report(token: 1, report: report).bytes) != nil
        }
        let table: [([Range<Int>], Bool)] = [
            ([], true), ([0..<1], true), ([0..<1, 1..<2], true), ([0..<2, 1..<3], false), ([3..<4, 1..<2], false),
            ([1..<2, 1..<2], false), ([0..<1, 5..<6, 3..<4], false), ([2..<2], false), ([999..<1_000], true),
            ([999..<1_001], false),
        ]
        for (ranges, isGood) in table { #expect(isTaken(ranges) == isGood, "\(ranges)") }
        for (count, isGood) in [(139, true), (140, true), (141, false)] {
            #expect(isTaken((0..<count).map { $0 * 2..<$0 * 2 + 1 }) == isGood, "\(count)")
        }
    }
}

/// One end of a connection, moment by moment.
@Suite struct DatagramMachineTests {
    private static let start = Duration.seconds(50)

    /// The server's end of an open connection.
    private static func open(_ limits: DatagramLimits = .init()) -> DatagramMachine {
        DatagramMachine(limits, token: 6, at: start)
    }

    private static func taken(_ machine: inout DatagramMachine, _ now: Duration) -> [DatagramPacket] {
        machine.takeDatagrams(at: now).compactMap { DatagramPacket($0) }
    }

    private static func events(_ machine: inout DatagramMachine) -> [DatagramMachine.Event] {
        var events: [DatagramMachine.Event] = []
        while let event = machine.next() { events.append(event) }
        return events
    }

    private static func data(
        _ transfer: UInt32, _ number: Int = 0, of total: Int = 1, _ count: Int = 1_152
    ) -> DatagramPacket {
        .data(
            token: 6,
            chunk: .init(transfer: transfer, number: number, total: total, stamp: 9, bytes: Data(count: count)))
    }

    private static func report(_ upTo: Int, stamp: UInt32, held: UInt32 = 0, transfer: UInt32 = 1) -> DatagramPacket {
        .report(
            token: 6, report: .init(transfer: transfer, upTo: upTo, edge: upTo, stamp: stamp, held: held, missing: []))
    }

    // MARK: Asking

    @Test func `who asks waits for 250 ms, then twice as long each time, two seconds at most, and ten in all`() {
        var machine = DatagramMachine(at: Self.start, random: RandomSource { 7 })
        for moment in [0, 250, 750, 1_750, 3_750, 5_750, 7_750, 9_750] {
            let now = Self.start + .milliseconds(moment)
            #expect(machine.wakesAt == now)
            #expect(Self.taken(&machine, now - .nanoseconds(1)) == [])
            #expect(Self.taken(&machine, now) == [.syn(nonce: 7)])
            #expect(Self.taken(&machine, now) == [])
        }
        #expect(machine.wakesAt == Self.start + .seconds(10))
        #expect(Self.taken(&machine, Self.start + .seconds(10) - .nanoseconds(1)) == [])
        #expect(Self.events(&machine) == [])
        #expect(Self.taken(&machine, Self.start + .seconds(10)) == [])
        #expect(Self.events(&machine) == [.timedOut])
        #expect(machine.isOver && machine.wakesAt == nil && machine.sent.datagrams == 8)
        #expect(machine.sent.chunks == 0 && machine.sent.resends == 0 && machine.sent.largestWindow == 0)
    }

    @Test func `a challenge is answered at once, and from there the waiting begins anew, but for the ten seconds`() {
        var machine = DatagramMachine(at: Self.start, random: RandomSource { 7 })
        for moment in [0, 250, 750] { _ = Self.taken(&machine, Self.start + .milliseconds(moment)) }
        let cookie = Data(repeating: 4, count: 32)
        machine.receive(.challenge(nonce: 7, stamp: 3, cookie: cookie), at: Self.start + .seconds(1))
        for moment in [1_000, 1_250, 1_750, 2_750, 4_750, 6_750, 8_750] {
            #expect(machine.wakesAt == Self.start + .milliseconds(moment))
            #expect(
                Self.taken(&machine, Self.start + .milliseconds(moment))
                    == [.ack(nonce: 7, stamp: 3, cookie: cookie)])
        }
        #expect(machine.wakesAt == Self.start + .seconds(10))
        machine.receive(.ready(nonce: 7, token: 6), at: Self.start + .seconds(9))
        #expect(Self.events(&machine) == [.connected])
        #expect(machine.wakesAt == Self.start + .seconds(19))
    }

    // MARK: Silence

    @Test func `a silent end is asked after ten seconds, every five from then on, and is gone after thirty`() {
        var machine = Self.open()
        for moment in [10, 15, 20, 25] {
            let now = Self.start + .seconds(moment)
            #expect(machine.wakesAt == now)
            #expect(Self.taken(&machine, now - .nanoseconds(1)) == [])
            #expect(Self.taken(&machine, now) == [.ping(token: 6)])
        }
        #expect(machine.wakesAt == Self.start + .seconds(30))
        var other = machine
        #expect(Self.taken(&machine, Self.start + .seconds(30) - .nanoseconds(1)) == [])
        #expect(machine.isOpen)
        #expect(Self.taken(&machine, Self.start + .seconds(30)) == [])
        #expect(Self.events(&machine) == [.timedOut])
        // Whatever is heard of it begins the silence anew.
        other.receive(.pong(token: 6), at: Self.start + .seconds(29))
        #expect(other.wakesAt == Self.start + .seconds(39))
        #expect(Self.taken(&other, Self.start + .seconds(39)) == [.ping(token: 6)])
        #expect(Self.events(&other) == [])
    }

    @Test func `who is asked answers, and who is told that it is over says so once`() {
        var machine = Self.open()
        machine.receive(.ping(token: 6), at: Self.start)
        machine.receive(.ping(token: 7), at: Self.start)
        #expect(Self.taken(&machine, Self.start) == [.pong(token: 6)])
        #expect(Self.taken(&machine, Self.start) == [])
        var other = machine
        machine.receive(.close(token: 6), at: Self.start)
        #expect(Self.events(&machine) == [.closed] && machine.isOver && !machine.isOpen)
        other.close()
        other.close()
        #expect(Self.taken(&other, Self.start) == [.close(token: 6)])
        #expect(Self.taken(&other, Self.start) == [] && Self.events(&other) == [])
        let isSent = other.send(Data())
        #expect(!isSent && other.isOver)
    }

    // MARK: Payloads that come

    @Test func `a payload that has come is told to its sender, again and again where that goes on`() {
        var machine = Self.open()
        for _ in 0..<2 {
            machine.receive(Self.data(1), at: Self.start)
            #expect(Self.taken(&machine, Self.start) == [.done(token: 6, transfer: 1)])
        }
        #expect(Self.events(&machine) == [.received(Data(count: 1_152))])
        // The next one is the second; what is not its turn is not looked at.
        for transfer in [3, 0, .max] as [UInt32] { machine.receive(Self.data(transfer), at: Self.start) }
        #expect(Self.taken(&machine, Self.start) == [] && Self.events(&machine) == [])
        machine.receive(Self.data(2, 0, of: 1, 0), at: Self.start)
        #expect(Self.events(&machine) == [.received(Data())])
    }

    @Test(
        "A payload of more chunks than the limit has is not begun",
        arguments: [(0, 1), (1, 1), (1_152, 1), (1_153, 2), (16 << 20, 14_564)])
    func payloadLimit(bytes: Int, chunks: Int) {
        for (total, isBegun) in [(chunks, true), (chunks + 1, false)] {
            var machine = Self.open(.init(payloadBytes: bytes))
            machine.receive(Self.data(1, 0, of: total), at: Self.start)
            let isAnswered = !Self.taken(&machine, Self.start + .seconds(1)).isEmpty
            #expect(isAnswered == isBegun, "\(total)")
        }
        var machine = Self.open(.init(payloadBytes: bytes))
        let answers = [machine.send(Data(count: bytes)), machine.send(Data(count: bytes + 1))]
        #expect(answers == [true, false])
    }

    @Test func `while no payload may begin to come, one that has begun goes on`() {
        var machine = Self.open()
        machine.receive(Self.data(1, 0, of: 2), at: Self.start)
        machine.takesPayloads = false
        machine.receive(Self.data(1, 1, of: 2), at: Self.start)
        #expect(Self.events(&machine) == [.received(Data(count: 2_304))])
        machine.receive(Self.data(2), at: Self.start)
        #expect(Self.events(&machine) == [])
        machine.takesPayloads = true
        machine.receive(Self.data(2), at: Self.start)
        #expect(Self.events(&machine) == [.received(Data(count: 1_152))])
    }

    @Test func `what has come in part is reported on when it is time`() {
        var machine = Self.open()
        machine.receive(Self.data(1, 0, of: 2), at: Self.start)
        #expect(machine.wakesAt == Self.start + .milliseconds(10))
        #expect(Self.taken(&machine, Self.start + .milliseconds(9)) == [])
        let report = DatagramPacket.Report(transfer: 1, upTo: 1, edge: 1, stamp: 9, held: 10_000, missing: [])
        #expect(Self.taken(&machine, Self.start + .milliseconds(10)) == [.report(token: 6, report: report)])
        #expect(machine.wakesAt == Self.start + .milliseconds(60))
    }

    // MARK: Payloads that go

    private static func numbers(_ packets: [DatagramPacket]) -> [Int] {
        packets.compactMap { if case .data(_, let chunk) = $0 { chunk.number } else { nil } }
    }

    @Test func `chunks go in portions of what fills the window in a round trip, four at least, every 5 ms`() {
        // The round trip that was measured, and how many go at once of a window of 32.
        for (milliseconds, portion) in [(100, 4), (40, 5), (20, 10), (10, 20), (7, 28), (6, 32), (1, 32)] {
            var machine = Self.open()
            _ = machine.send(Data(count: 200 * 1_152))
            #expect(machine.wakesAt == Self.start)
            #expect(Self.numbers(Self.taken(&machine, Self.start)) == [0, 1, 2, 3])
            #expect(machine.wakesAt == Self.start + .milliseconds(5))
            #expect(Self.taken(&machine, Self.start + .milliseconds(5) - .nanoseconds(1)) == [])
            let now = Self.start + .milliseconds(5)
            let stamp = now.stamp - UInt32(milliseconds * 1_000)
            machine.receive(Self.report(1, stamp: stamp - 500, held: 500), at: now)
            #expect(Self.numbers(Self.taken(&machine, now)).count == min(portion, 29), "\(milliseconds) ms")
            #expect(machine.sent.largestWindow == 32)
        }
    }

    @Test func `a time that cannot be is not measured: one held for longer than it took, and half of all time`() {
        for (stamp, held, isMeasured) in [
            (1_000, 1_000, true), (1_000, 1_001, false), (UInt32.max / 2 - 1, UInt32.max / 2 - 11_000, true),
            (UInt32.max / 2, UInt32.max / 2 - 11_000, false),
        ] as [(UInt32, UInt32, Bool)] {
            var machine = Self.open()
            _ = machine.send(Data(count: 200 * 1_152))
            _ = Self.taken(&machine, Self.start)
            let now = Self.start + .milliseconds(5)
            machine.receive(Self.report(1, stamp: now.stamp &- stamp, held: held), at: now)
            #expect(Self.numbers(Self.taken(&machine, now)).count == (isMeasured ? (held == 1_000 ? 29 : 18) : 4))
        }
    }

    @Test func `one payload is on its way at a time, and the next goes when the other end has it`() {
        var machine = Self.open()
        _ = machine.send(Data([1]))
        _ = machine.send(Data([2]))
        let first = DatagramPacket.Chunk(transfer: 1, number: 0, total: 1, stamp: Self.start.stamp, bytes: Data([1]))
        #expect(Self.taken(&machine, Self.start) == [.data(token: 6, chunk: first)])
        machine.receive(.done(token: 6, transfer: 2), at: Self.start)
        machine.receive(Self.report(1, stamp: 0, transfer: 2), at: Self.start)
        #expect(Self.events(&machine) == [])
        // Nothing is heard: it goes again after twice the hundred milliseconds that a round trip takes at first.
        #expect(machine.wakesAt == Self.start + .milliseconds(200))
        #expect(Self.taken(&machine, Self.start + .milliseconds(200) - .nanoseconds(1)) == [])
        #expect(Self.numbers(Self.taken(&machine, Self.start + .milliseconds(200))) == [0])
        #expect(machine.sent.chunks == 2 && machine.sent.resends == 1)
        let now = Self.start + .milliseconds(250)
        machine.receive(.done(token: 6, transfer: 1), at: now)
        machine.receive(.done(token: 6, transfer: 1), at: now)
        #expect(Self.events(&machine) == [.delivered])
        #expect(machine.sent.chunks == 2 && machine.sent.resends == 1)
        #expect(machine.wakesAt == Self.start + .milliseconds(5))
        let second = DatagramPacket.Chunk(transfer: 2, number: 0, total: 1, stamp: now.stamp, bytes: Data([2]))
        #expect(Self.taken(&machine, now) == [.data(token: 6, chunk: second)])
        #expect(machine.sent.chunks == 3 && machine.sent.resends == 1 && machine.sent.datagrams == 3)
    }

    // MARK: The listener

    @Test func `a connection is forgotten once it is over, and wakes its listener until then`() throws {
        var listener = DatagramListener(secret: Data([1]))
        var peers: [DatagramListener.Peer] = []
        for (number, moment) in [Duration.zero, .seconds(3)].enumerated() {
            let address = Data([UInt8(number)])
            let syn = DatagramPacket.syn(nonce: 1).bytes
            let answer = try #require(listener.receive(syn, from: address, at: moment).first)
            guard case .challenge(1, let stamp, let cookie)? = DatagramPacket(answer) else {
                Issue.record("no challenge")
                return
            }
            #expect(stamp == UInt64(number * 3_000_000))
            _ = listener.receive(
                DatagramPacket.ack(nonce: 1, stamp: stamp, cookie: cookie).bytes, from: address, at: moment)
            peers += listener.peers.filter { !peers.contains($0) }
        }
        #expect(peers.map(\.address) == [Data([0]), Data([1])])
        #expect(listener.wakesAt == .seconds(10))
        let result = listener.with(peers[0]) { machine in
            machine.close()
            return machine.isOver
        }
        #expect(result == true && listener.peerCount == 1 && listener.wakesAt == .seconds(13))
        #expect(listener.with(peers[0]) { $0.isOver } == nil)
    }

    @Test func `a copy of what asked for a connection that is over asks for none, for as long as it could`() throws {
        var listener = DatagramListener(secret: Data([1]), mostPeers: 2)
        let address = Data([1])
        let answer = try #require(
            listener.receive(DatagramPacket.syn(nonce: 1).bytes, from: address, at: .zero).first)
        guard case .challenge(_, let stamp, let cookie)? = DatagramPacket(answer) else {
            Issue.record("no challenge")
            return
        }
        let ack = DatagramPacket.ack(nonce: 1, stamp: stamp, cookie: cookie).bytes
        #expect(listener.receive(ack, from: address, at: .zero).count == 1)
        let peer = try #require(listener.peers.first)
        _ = listener.with(peer) { $0.close() }
        #expect(listener.peerCount == 0)
        for second in [0, 5, 10, 11] {
            #expect(listener.receive(ack, from: address, at: .seconds(second)).isEmpty)
            #expect(listener.peerCount == 0)
        }
        // Another one from there is one, and however many have ended.
        for nonce in 2..<60 as Range<UInt64> {
            #expect(Self.admit(&listener, address, nonce) != nil)
            for peer in listener.peers { _ = listener.with(peer) { $0.close() } }
        }
        #expect(listener.peerCount == 0)
    }

    @Test func `however many have ended, a copy of what asked for the last ones asks for none`() throws {
        var listener = DatagramListener(secret: Data([1]), mostPeers: 1)
        var last = Data()
        for nonce in 1...40 as ClosedRange<UInt64> {
            let moment = Duration.milliseconds(Int(nonce))
            let syn = DatagramPacket.syn(nonce: nonce).bytes
            let answer = try #require(listener.receive(syn, from: Data([1]), at: moment).first)
            guard case .challenge(_, let stamp, let cookie)? = DatagramPacket(answer) else {
                Issue.record("no challenge")
                return
            }
            #expect(last.isEmpty || listener.receive(last, from: Data([1]), at: moment).isEmpty, "\(nonce)")
            last = DatagramPacket.ack(nonce: nonce, stamp: stamp, cookie: cookie).bytes
            #expect(listener.receive(last, from: Data([1]), at: moment).count == 1)
            for peer in listener.peers { _ = listener.with(peer) { $0.close() } }
            #expect(listener.receive(last, from: Data([1]), at: moment).isEmpty, "\(nonce)")
        }
    }

    @Test func `a connection that is over is forgotten once it has told all, and keeps nobody out until then`() throws {
        var listener = DatagramListener(secret: Data([1]), mostPeers: 1)
        func receive(_ packet: DatagramPacket, from address: Data) {
            _ = listener.receive(packet.bytes, from: address, at: .zero)
        }
        let addresses = (0..<3).map { Data([$0]) }
        let token = try #require(Self.admit(&listener, addresses[0]))
        let peer = try #require(listener.peers.first)
        let chunk = DatagramPacket.Chunk(transfer: 1, number: 0, total: 1, stamp: 0, bytes: Data([7]))
        receive(.data(token: token, chunk: chunk), from: addresses[0])
        receive(.close(token: token), from: addresses[0])
        let next = try #require(Self.admit(&listener, addresses[1]))
        receive(.close(token: next), from: addresses[1])
        // There are not ever more of those that nobody has asked.
        let early = Self.admit(&listener, addresses[2])
        #expect(early == nil)
        _ = listener.with(peer) { $0.takeDatagrams(at: .zero) }
        for event in [DatagramMachine.Event.received(Data([7])), .closed] {
            let told: DatagramMachine.Event? = listener.with(peer) { $0.next() } ?? nil
            #expect(told == event)
        }
        #expect(listener.peers.map(\.address) == [addresses[1]])
        let late = Self.admit(&listener, addresses[2])
        #expect(late != nil)
    }

    @Test func `a chunk costs no more where its payload has more of them`() {
        LinearWork.expect("chunks", unit: "xx", limit: 6) { input in
            let total = input.utf8.count / 2
            var machine = Self.open()
            for number in 0..<total - 1 { machine.receive(Self.data(1, number, of: total), at: Self.start) }
        }
    }

    /// A connection from an address.
    private static func admit(_ listener: inout DatagramListener, _ address: Data, _ nonce: UInt64 = 1) -> UInt64? {
        let answer = listener.receive(DatagramPacket.syn(nonce: nonce).bytes, from: address, at: .zero).first
        guard case .challenge(_, let stamp, let cookie)? = answer.flatMap({ DatagramPacket($0) }) else { return nil }
        let ack = DatagramPacket.ack(nonce: nonce, stamp: stamp, cookie: cookie).bytes
        let ready = listener.receive(ack, from: address, at: .zero).first
        guard case .ready(_, let token)? = ready.flatMap({ DatagramPacket($0) }) else { return nil }
        return token
    }

    @Test func `a host has so many connections and no more, whatever its ports`() {
        var listener = DatagramListener(secret: Data([1]), mostPeersPerHost: 2)
        func address(_ host: UInt8, _ port: UInt8) -> Data {
            var address = Data(count: MemoryLayout<sockaddr_in>.size)
            (address[0], address[3], address[7]) = (2, port, host)
            (address[2], address[4]) = (port, host)
            return address
        }
        let admitted = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 1), (2, 2), (1, 1)].enumerated().map { number, place in
            Self.admit(&listener, address(place.0, place.1), UInt64(number)) != nil
        }
        #expect(admitted == [true, true, false, true, true, false, false])
        #expect(listener.peerCount == 4)
        #expect(DatagramListener().mostPeersPerHost == 64)
    }

    @Test func `only the port is no part of a host: neither more nor less is`() {
        for (index, isOther) in [(2, false), (3, false), (4, true), (7, true)] {
            var listener = DatagramListener(secret: Data([1]), mostPeersPerHost: 1)
            var address = Data(count: MemoryLayout<sockaddr_in>.size)
            let first = Self.admit(&listener, address)
            address[index] = 9
            let second = Self.admit(&listener, address, 2)
            #expect(first != nil && (second != nil) == isOther, "byte \(index)")
        }
    }

    @Test func `each connection has a token of its own, which nobody can guess`() {
        var listener = DatagramListener(secret: Data([1]))
        let tokens = (0..<40).compactMap { Self.admit(&listener, Data([UInt8($0)]), UInt64($0 / 2)) }
        #expect(Set(tokens).count == 40 && !tokens.contains(0))
        #expect(tokens.contains { $0 > 1 << 60 } && tokens.contains { $0 & 0xFFFF > 1 << 12 })
        var other = DatagramListener(secret: Data([2]))
        #expect(Self.admit(&other, Data([0]), 0) != tokens.first)
        #expect(Self.admit(&listener, Data([0]), 0) == tokens.first)
    }

    @Test func `payloads for which there is no room have to wait until there is, and one always has`() throws {
        var listener = DatagramListener(secret: Data([1]), mostBytes: 5 * DatagramPacket.chunkBytes)
        let tokens = try (0..<3).map { try #require(Self.admit(&listener, Data([UInt8($0)]))) }
        func chunk(_ peer: Int, _ number: Int, of total: Int) {
            let count = number + 1 == total ? 1 : DatagramPacket.chunkBytes
            let chunk = DatagramPacket.Chunk(
                transfer: 1, number: number, total: total, stamp: 0, bytes: Data(count: count))
            let packet = DatagramPacket.data(token: tokens[peer], chunk: chunk)
            _ = listener.receive(packet.bytes, from: Data([UInt8(peer)]), at: .zero)
        }
        func received(_ peer: Int) -> Int {
            let peers = listener.peers.filter { $0.address == Data([UInt8(peer)]) }
            return peers.reduce(0) { count, peer in
                let events = listener.with(peer) { machine in
                    var count = 0
                    while case .received? = machine.next() { count += 1 }
                    return count
                }
                return count + (events ?? 0)
            }
        }
        // More than there is room for, but nobody else has any.
        chunk(0, 0, of: 6)
        for _ in 0..<2 { chunk(1, 0, of: 1) }
        #expect(received(1) == 0)
        for number in 1..<6 { chunk(0, number, of: 6) }
        // What nobody has taken is still kept.
        chunk(1, 0, of: 1)
        #expect(received(0) == 1 && received(1) == 0)
        chunk(1, 0, of: 3)
        chunk(2, 0, of: 3)
        chunk(2, 0, of: 2)
        #expect(received(1) == 0 && received(2) == 0)
        for number in 1..<3 { chunk(1, number, of: 3) }
        for number in 0..<2 { chunk(2, number, of: 2) }
        #expect(received(1) == 1 && received(2) == 1)
        #expect(DatagramListener().mostBytes == 64 << 20)
    }

    @Test func `a limit of payloads is 16 MiB at most, also where it is set later`() throws {
        var limits = DatagramLimits(payloadBytes: .max)
        #expect(limits.payloadBytes == 16 << 20)
        for (given, kept) in [(Int.max, 16 << 20), (Int.min, 0), (7, 7)] {
            limits.payloadBytes = given
            #expect(limits.payloadBytes == kept)
        }
        limits.payloadBytes = .max
        var listener = DatagramListener(limits, secret: Data([1]))
        let token = try #require(Self.admit(&listener, Data([1])))
        let chunk = DatagramPacket.Chunk(
            transfer: 1, number: 0, total: Int(UInt32.max), stamp: 0, bytes: Data(count: DatagramPacket.chunkBytes))
        let answers = listener.receive(
            DatagramPacket.data(token: token, chunk: chunk).bytes, from: Data([1]), at: .zero)
        #expect(answers.isEmpty && listener.peerCount == 1)
    }

    @Test func `there are 1,024 connections by default`() {
        #expect(DatagramListener().mostPeers == 1_024 && DatagramListener(mostPeers: 2).mostPeers == 2)
    }
}
