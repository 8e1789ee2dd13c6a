import Foundation

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

    /// How long the answer to a challenge may take. An older cookie begins no connection.
    static let cookieLife = Duration.seconds(10)

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
        guard isSame(given, cookie("cookie", address, nonce, stamp)) else { return nil }
        let digits = cookie("token", address, nonce, stamp).prefix(16)
        let token = UInt64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        let peer = Peer(address: address, token: token)
        // One that was doubled on the way, or came again because the answer was lost, has its connection already, whatever its age:
        // the answer may have been lost for as long.
        if let isOver = machines[peer]?.isOver { return isOver ? nil : peer }
        let age = now - .microseconds(Int64(clamping: stamp))
        guard age >= .zero, age <= Self.cookieLife else { return nil }
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

    /// When a connection has something to send although nothing has come; the past where one that is over has something to tell.
    public var wakesAt: Duration? {
        machines.values.compactMap { $0.isOver && $0.hasEvents ? .zero : $0.wakesAt }.min()
    }
}
