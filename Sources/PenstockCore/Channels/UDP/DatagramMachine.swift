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
        case proving(stamp: UInt64, cookie: Data, since: Duration)
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
            prove(stamp, cookie, now)
        // One of a server that has begun anew since may have any moment, and comes only where it was asked for.
        case (.proving(let last, _, let since), .challenge(nonce, let stamp, let cookie))
        where stamp > last || stamp != last && now - since >= DatagramListener.cookieLife:
            prove(stamp, cookie, now)
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

    private mutating func prove(_ stamp: UInt64, _ cookie: Data, _ now: Duration) {
        phase = .proving(stamp: stamp, cookie: cookie, since: now)
        (retryAt, retryDelay) = (now, Self.firstRetry)
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
        case .asking: ask([.syn(nonce: nonce)], now)
        case .proving(let stamp, let cookie, let since):
            let proof = DatagramPacket.ack(nonce: nonce, stamp: stamp, cookie: cookie)
            // A cookie that is no good any more has no answer. It may be good all the same, for a connection that is there.
            ask(now - since < DatagramListener.cookieLife ? [proof] : [proof, .syn(nonce: nonce)], now)
        case .open(let token): serve(token, now)
        case .over: break
        }
        defer { output = [] }
        return output
    }

    private mutating func ask(_ packets: [DatagramPacket], _ now: Duration) {
        guard now - began < limits.connect else { return timeOut() }
        guard now >= retryAt else { return }
        for packet in packets { put(packet) }
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
