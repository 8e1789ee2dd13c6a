import Foundation

/// How two ends of a datagram connection behave.
public struct DatagramLimits: Hashable, Sendable {
    /// How many bytes one payload may have. 16 MiB by default, and at most.
    public var payloadBytes: Int {
        didSet { payloadBytes = Self.bounded(payloadBytes) }
    }
    /// How long a chunk that others have overtaken may still be on its way before it is asked for again. 20 ms by default: by
    /// less than that, paths that change and links that bundle packets put them out of order.
    public var reorderWindow: Duration
    /// How long the handshake may take. 10 s by default.
    public var connect: Duration
    /// How long no datagram comes before the other end counts as gone. 30 s by default; a third of it before, it is asked.
    public var idle: Duration

    /// The defaults, but for what is named.
    public init(
        payloadBytes: Int = 16 << 20, reorderWindow: Duration = .milliseconds(20), connect: Duration = .seconds(10),
        idle: Duration = .seconds(30)
    ) {
        self.payloadBytes = Self.bounded(payloadBytes)
        self.reorderWindow = reorderWindow
        self.connect = connect
        self.idle = idle
    }

    private static func bounded(_ bytes: Int) -> Int { min(max(bytes, 0), 16 << 20) }
}

/// One end of a connection over datagrams that may be lost, doubled, late and forged: payloads of up to 16 MiB go whole and in
/// their order, or the connection fails. Datagrams in, events and datagrams out; it waits for nothing and opens nothing.
///
/// ```swift
/// var end = DatagramMachine(at: now)
/// end.send(payload)
/// for datagram in end.takeDatagrams(at: now) { socket.send(datagram) }
/// end.receive(datagram, at: now)
/// while let event = end.next() { … }
/// sleep(until: end.wakesAt)
/// ```
///
/// A payload goes in numbered chunks, each with the total. The receiver tells what is missing once others have overtaken it by
/// ``DatagramLimits/reorderWindow``, and everything up to the total when nothing comes for a while, so that neither a lost tail
/// nor a lost report goes unnoticed; a sender that hears nothing sends its first and its last chunk again. One payload is on its
/// way in each direction at a time.
///
/// Nothing is encrypted. Who cannot see the datagrams can neither end the connection nor put anything into it, because each
/// carries 64 bits that the server has drawn; who can see them, can.
public struct DatagramMachine: Sendable {
    /// What has happened.
    public enum Event: Hashable, Sendable {
        /// The handshake is over.
        case connected
        /// A payload has come.
        case received(Data)
        /// The payload that was sent first of those under way has arrived.
        case delivered
        /// The other end has closed the connection.
        case closed
        /// The other end is gone: no handshake within its time, or nothing heard for too long.
        case timedOut
    }

    private enum Phase: Sendable {
        case asking
        case proving(stamp: UInt64, cookie: Data)
        case open(token: UInt64)
        case over
    }

    private static let firstRetry = Duration.milliseconds(250)
    private static let lastRetry = Duration.seconds(2)
    /// Chunks go in portions, so that no burst fills a queue on the way.
    private static let tick = Duration.milliseconds(5)

    /// What it was made with.
    public let limits: DatagramLimits
    /// Whether a payload may begin to come. While it may not, the other end has to wait.
    public var takesPayloads = true
    private let nonce: UInt64
    private var phase: Phase
    private var events: [Event] = []
    private var output: [Data] = []
    private let began: Duration
    private var retryAt: Duration
    private var retryDelay = firstRetry
    private var heard: Duration
    private var asked: Duration?
    private var queue: [Data] = []
    private var sender: DatagramSender?
    private var lastTransfer: UInt32 = 0
    private var receiver: DatagramReceiver?
    /// The payload that was received last.
    private var received: UInt32 = 0
    private var window = CongestionWindow()
    private var nextPortion: Duration
    private var counts = Counts()

    /// What was sent so far.
    public struct Counts: Hashable, Sendable {
        /// Datagrams of every kind.
        public internal(set) var datagrams = 0
        /// Chunks, those that were sent again included.
        public internal(set) var chunks = 0
        /// Chunks that were sent again.
        public internal(set) var resends = 0
        /// The most chunks that were allowed on their way at a time.
        public internal(set) var largestWindow = 0
    }

    /// The end that asks for a connection; it begins to at once.
    ///
    /// - Parameter now: on a clock that only goes forwards; so are all moments.
    public init(_ limits: DatagramLimits = .init(), at now: Duration, random: RandomSource = .system) {
        self.init(limits, nonce: random.next(), phase: .asking, at: now)
    }

    /// The end that was asked, from ``DatagramListener``.
    init(_ limits: DatagramLimits, token: UInt64, at now: Duration) {
        self.init(limits, nonce: 0, phase: .open(token: token), at: now)
    }

    private init(_ limits: DatagramLimits, nonce: UInt64, phase: Phase, at now: Duration) {
        (self.limits, self.nonce, self.phase) = (limits, nonce, phase)
        (began, retryAt, heard, nextPortion) = (now, now, now, now)
    }

    /// Whether payloads can go.
    public var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    /// Whether it is over.
    public var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// What was sent so far.
    public var sent: Counts {
        var counts = counts
        counts.chunks += sender?.sends ?? 0
        counts.resends += sender?.resends ?? 0
        return counts
    }

    // MARK: The app's side

    /// Puts a payload behind those that wait to be sent.
    ///
    /// - Returns: `false` for one larger than the limit, and once it is over.
    public mutating func send(_ payload: Data) -> Bool {
        guard !isOver, payload.count <= limits.payloadBytes else { return false }
        queue.append(payload)
        return true
    }

    /// Tells the other end that it is over, once.
    public mutating func close() {
        if case .open(let token) = phase { put(.close(token: token)) }
        finish()
    }

    /// What has come of a payload that is not whole will never be one.
    private mutating func finish() {
        phase = .over
        receiver = nil
    }

    /// Whether something has happened that nobody was told of.
    var hasEvents: Bool { !events.isEmpty }

    /// What happened next; `nil` where nothing has.
    public mutating func next() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    // MARK: What comes

    /// Takes a datagram. What is none, or is not of this connection, changes nothing.
    public mutating func receive(_ datagram: Data, at now: Duration) {
        if let packet = DatagramPacket(datagram) { receive(packet, at: now) }
    }

    mutating func receive(_ packet: DatagramPacket, at now: Duration) {
        switch (phase, packet) {
        case (.asking, .challenge(nonce, let stamp, let cookie)):
            phase = .proving(stamp: stamp, cookie: cookie)
            (retryAt, retryDelay) = (now, Self.firstRetry)
        case (.proving, .ready(nonce, let token)):
            phase = .open(token: token)
            heard = now
            events.append(.connected)
        case (.open(let token), _) where packet.token == token:
            (heard, asked) = (now, nil)
            take(packet, token, now)
        default: break
        }
    }

    private mutating func take(_ packet: DatagramPacket, _ token: UInt64, _ now: Duration) {
        switch packet {
        case .data(_, let chunk): take(chunk, token, now)
        case .report(_, let report): take(report, now)
        case .done(_, let transfer): take(done: transfer)
        case .ping: put(.pong(token: token))
        case .close:
            finish()
            events.append(.closed)
        case .syn, .challenge, .ack, .ready, .pong: break
        }
    }

    private mutating func take(_ chunk: DatagramPacket.Chunk, _ token: UInt64, _ now: Duration) {
        // The sender may not have heard yet that it is there.
        guard chunk.transfer != received else { return put(.done(token: token, transfer: received)) }
        guard chunk.transfer == received &+ 1,
            chunk.total <= max(1, (limits.payloadBytes + DatagramPacket.chunkBytes - 1) / DatagramPacket.chunkBytes)
        else { return }
        guard receiver != nil || takesPayloads else { return }
        // Never a copy of the receiver, which would make one of its table with each chunk.
        if receiver == nil { receiver = DatagramReceiver(chunk, reorderWindow: limits.reorderWindow, at: now) }
        receiver?.take(chunk, at: now)
        guard let payload = receiver?.payload else { return }
        receiver = nil
        received = chunk.transfer
        put(.done(token: token, transfer: received))
        events.append(.received(payload))
    }

    private mutating func take(_ report: DatagramPacket.Report, _ now: Duration) {
        guard var sender, report.transfer == sender.transfer else { return }
        let sample = now.stamp &- report.stamp
        if sample >= report.held, sample < UInt32.max / 2 {
            window.measured(.microseconds(Int64(sample - report.held)))
        }
        let (delivered, lost) = sender.take(report, roundTrip: window.roundTrip, at: now)
        window.report(delivered: delivered, lost: lost, at: now)
        self.sender = sender
    }

    private mutating func take(done transfer: UInt32) {
        guard let done = sender, done.transfer == transfer else { return }
        counts.chunks += done.sends
        counts.resends += done.resends
        sender = nil
        events.append(.delivered)
    }

    /// How many bytes of what comes it keeps, or has promised to: all of a payload whose first chunk has come, and those that
    /// nobody has asked for.
    var heldBytes: Int {
        events.reduce((receiver?.total ?? 0) * DatagramPacket.chunkBytes) { sum, event in
            if case .received(let payload) = event { sum + payload.count } else { sum }
        }
    }

    /// How many bytes it would keep for the payload that begins with a packet; zero where none does.
    func bytesBegun(by packet: DatagramPacket) -> Int {
        guard receiver == nil, case .data(_, let chunk) = packet, chunk.transfer == received &+ 1 else { return 0 }
        return chunk.total * DatagramPacket.chunkBytes
    }

    // MARK: What goes

    /// Datagrams that are to be sent now. To be called after anything else was, and at ``wakesAt``.
    public mutating func takeDatagrams(at now: Duration) -> [Data] {
        switch phase {
        case .asking: ask(.syn(nonce: nonce), now)
        case .proving(let stamp, let cookie): ask(.ack(nonce: nonce, stamp: stamp, cookie: cookie), now)
        case .open(let token): serve(token, now)
        case .over: break
        }
        defer { output = [] }
        return output
    }

    private mutating func ask(_ packet: DatagramPacket, _ now: Duration) {
        guard now - began < limits.connect else { return timeOut() }
        guard now >= retryAt else { return }
        put(packet)
        retryAt = now + retryDelay
        retryDelay = min(retryDelay * 2, Self.lastRetry)
    }

    private mutating func serve(_ token: UInt64, _ now: Duration) {
        guard now - heard < limits.idle else { return timeOut() }
        if now - heard >= limits.idle / 3, now - (asked ?? heard) >= limits.idle / 6 {
            asked = now
            put(.ping(token: token))
        }
        if let report = receiver?.report(at: now) { put(.report(token: token, report: report)) }
        if sender == nil, !queue.isEmpty {
            lastTransfer &+= 1
            sender = DatagramSender(lastTransfer, queue.removeFirst(), at: now)
        }
        sendChunks(token, now)
    }

    private mutating func sendChunks(_ token: UInt64, _ now: Duration) {
        guard var sender else { return }
        if let moment = sender.nextProbe(window.roundTrip), now >= moment {
            for chunk in sender.probe(at: now) { put(.data(token: token, chunk: chunk)) }
        }
        if now >= nextPortion {
            let share = Double(Self.tick.microseconds) / Double(window.roundTrip.microseconds)
            let portion = max(4, Int(window.packets * min(share * 1.25, 1)))
            let chunks = sender.take(portion, window: window, at: now)
            for chunk in chunks { put(.data(token: token, chunk: chunk)) }
            if !chunks.isEmpty { nextPortion = now + Self.tick }
            counts.largestWindow = max(counts.largestWindow, window.count)
        }
        self.sender = sender
    }

    private mutating func put(_ packet: DatagramPacket) {
        counts.datagrams += 1
        output.append(packet.bytes)
    }

    private mutating func timeOut() {
        finish()
        events.append(.timedOut)
    }

    /// When ``takeDatagrams(at:)`` has something to do although nothing has come; `nil` where it never has.
    public var wakesAt: Duration? {
        switch phase {
        case .over: return nil
        case .asking, .proving: return min(retryAt, began + limits.connect)
        case .open:
            let sign = (asked ?? heard) + (asked == nil ? limits.idle / 3 : limits.idle / 6)
            let moments: [Duration?] = [
                heard + limits.idle, sign, receiver?.nextReport,
                sender?.nextProbe(window.roundTrip), sender?.canSend(window) == true ? nextPortion : nil,
                sender == nil && !queue.isEmpty ? nextPortion : nil,
            ]
            return moments.compactMap(\.self).min()
        }
    }
}

/// The end that is asked for connections. It keeps nothing for who only asks: what it would have to keep is in a cookie, which
/// comes back from the address that it was sent to, or not at all.
public struct DatagramListener: Sendable {
    /// Whom a datagram came from, as the socket has it: the address and the port.
    public typealias Address = Data

    /// A connection of a listener.
    public struct Peer: Hashable, Sendable {
        /// Where it is.
        public let address: Address
        fileprivate let token: UInt64
    }

    /// How long the answer to a challenge may take; an older cookie is no good.
    private static let cookieLife = Duration.seconds(10)

    private let limits: DatagramLimits
    let mostPeers: Int
    let mostPeersPerHost: Int
    let mostBytes: Int
    private let secret: Data
    private var machines: [Peer: DatagramMachine] = [:]
    /// Connections that are over, and how long a copy of the datagram that asked for them could ask again. It would be a second
    /// connection, to which the copies of the first one's payloads are new.
    private var ended: [Peer: Duration] = [:]
    /// The connections that are over, of which that time is not known yet.
    private var justEnded: [Peer] = []

    /// - Parameters:
    ///   - secret: what cookies are made with; drawn anew by default.
    ///   - mostPeers: connections at a time. 1,024 by default; who asks for one more gets no answer.
    ///   - mostPeersPerHost: of those, connections of one host, whatever its ports. 64 by default: as many as there may be behind
    ///     one address of a provider.
    ///   - mostBytes: of the payloads that are coming, of all connections together. 64 MiB by default, and one payload at least.
    ///     Who begins with one for which there is no room has to wait.
    public init(
        _ limits: DatagramLimits = .init(), secret: Data? = nil, mostPeers: Int = 1_024, mostPeersPerHost: Int = 64,
        mostBytes: Int = 64 << 20
    ) {
        self.limits = limits
        self.mostPeers = mostPeers
        self.mostPeersPerHost = mostPeersPerHost
        self.mostBytes = mostBytes
        self.secret = secret ?? Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// How many connections there are, with those that are over and have something to tell yet. Who has not proved their address
    /// has none.
    public var peerCount: Int { machines.count }

    /// Takes a datagram.
    ///
    /// - Returns: what is to be sent back to the address at once.
    public mutating func receive(_ datagram: Data, from address: Address, at now: Duration) -> [Data] {
        guard let packet = DatagramPacket(datagram) else { return [] }
        switch packet {
        case .syn(let nonce):
            let stamp = UInt64(clamping: now.microseconds)
            let proof = cookie("cookie", address, nonce, stamp)
            return [DatagramPacket.challenge(nonce: nonce, stamp: stamp, cookie: proof).bytes]
        case .ack(let nonce, let stamp, let cookie):
            guard let peer = admit(nonce, stamp, cookie, address, now) else { return [] }
            return [DatagramPacket.ready(nonce: nonce, token: peer.token).bytes]
        default:
            guard let token = packet.token else { return [] }
            receive(packet, Peer(address: address, token: token), now)
            return []
        }
    }

    private mutating func receive(_ packet: DatagramPacket, _ peer: Peer, _ now: Duration) {
        // Never a copy of the machine, which would make one of all that it holds.
        guard let takes = machines[peer]?.takesPayloads else { return }
        let begun = machines[peer]?.bytesBegun(by: packet) ?? 0
        if begun > 0, takes {
            let held = machines.values.reduce(0) { $0 + $1.heldBytes }
            machines[peer]?.takesPayloads = held == 0 || begun <= mostBytes - held
        }
        machines[peer]?.receive(packet, at: now)
        machines[peer]?.takesPayloads = takes
    }

    /// The address without its port, as the system has those of IPv4 and IPv6; any other as it is.
    private static func host(of address: Address) -> Data {
        [MemoryLayout<sockaddr_in>.size, MemoryLayout<sockaddr_in6>.size].contains(address.count)
            ? address.dropFirst(4) : address
    }

    private mutating func admit(
        _ nonce: UInt64, _ stamp: UInt64, _ given: Data, _ address: Address, _ now: Duration
    ) -> Peer? {
        let age = now - .microseconds(Int64(clamping: stamp))
        guard age >= .zero, age <= Self.cookieLife, isSame(given, cookie("cookie", address, nonce, stamp)) else {
            return nil
        }
        let digits = cookie("token", address, nonce, stamp).prefix(16)
        let token = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        let peer = Peer(address: address, token: token)
        // One that was doubled on the way, or came again because the answer was lost, has its connection already.
        if let isOver = machines[peer]?.isOver { return isOver ? nil : peer }
        noteEnds(now)
        guard ended[peer].map({ $0 < now }) ?? true else { return nil }
        let host = Self.host(of: address)
        guard hasRoom(mostPeers), hasRoom(mostPeersPerHost, where: { Self.host(of: $0.address) == host }) else {
            return nil
        }
        machines[peer] = DatagramMachine(limits, token: token, at: now)
        return peer
    }

    /// Whether there may be one more of these connections. One that is over takes nobody's place; but where as many have something
    /// to tell, nobody asks for it, and they would become ever more.
    private func hasRoom(_ most: Int, where isMeant: (Peer) -> Bool = { _ in true }) -> Bool {
        var (open, over) = (0, 0)
        for (peer, machine) in machines where isMeant(peer) {
            if machine.isOver { over += 1 } else { open += 1 }
        }
        return open < most && over <= most
    }

    /// Keeps of those that are over as many as eight times as there may be at a time, the last ones.
    private mutating func noteEnds(_ now: Duration) {
        for peer in justEnded { ended[peer] = now + Self.cookieLife }
        justEnded = []
        guard ended.count > mostPeers * 8 else { return }
        ended = ended.filter { now <= $0.value }
        let surplus = ended.count - mostPeers * 8
        guard surplus > 0 else { return }
        for (peer, _) in ended.sorted(by: { $0.value < $1.value }).prefix(surplus + mostPeers) { ended[peer] = nil }
    }

    private func cookie(_ purpose: String, _ address: Address, _ nonce: UInt64, _ stamp: UInt64) -> Data {
        let text = Array("\(purpose) \(nonce) \(stamp) ".utf8) + Array(address)
        return Data(SHA256.hex(text, key: Array(secret)).utf8.prefix(DatagramPacket.cookieBytes))
    }

    /// Whether both have the same bytes. However much of them is the same, it takes as long.
    private func isSame(_ left: Data, _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The connections there are, with those that are over and have something to tell yet.
    public var peers: [Peer] { Array(machines.keys) }

    /// Works on a connection; nothing where there is none. One that is over is forgotten behind it, as soon as
    /// ``DatagramMachine/next()`` has told all that has happened.
    public mutating func with<Result>(_ peer: Peer, _ body: (inout DatagramMachine) -> Result) -> Result? {
        guard let place = machines.index(forKey: peer) else { return nil }
        let result = body(&machines.values[place])
        let machine = machines.values[place]
        if machine.isOver, !machine.hasEvents {
            machines.remove(at: place)
            justEnded.append(peer)
        }
        return result
    }

    /// When a connection has something to send although nothing has come.
    public var wakesAt: Duration? { machines.values.compactMap(\.wakesAt).min() }
}
