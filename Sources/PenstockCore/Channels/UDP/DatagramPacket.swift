import Foundation

/// The datagrams of a ``DatagramMachine``. Each begins with two bytes of a mark, a version and a kind; numbers have their highest
/// byte first. Of 1,200 bytes at most, a datagram fits every path of the Internet (RFC 8200 §5, less what tunnels take).
///
/// ```
/// syn        nonce                              padded, so that no answer is larger than what asked for it
/// challenge  nonce stamp cookie                 the cookie proves the address; nothing is kept for it
/// ack        nonce stamp cookie
/// ready      nonce token
/// data       token transfer number total stamp  and the chunk
/// report     token transfer upTo edge stamp held, and ranges of missing chunks
/// done       token transfer
/// ping, pong, close  token
/// ```
enum DatagramPacket: Hashable, Sendable {
    case syn(nonce: UInt64)
    case challenge(nonce: UInt64, stamp: UInt64, cookie: Data)
    case ack(nonce: UInt64, stamp: UInt64, cookie: Data)
    case ready(nonce: UInt64, token: UInt64)
    case data(token: UInt64, chunk: Chunk)
    case report(token: UInt64, report: Report)
    case done(token: UInt64, transfer: UInt32)
    case ping(token: UInt64)
    case pong(token: UInt64)
    case close(token: UInt64)

    /// A piece of a payload. All but the last have ``chunkBytes``.
    struct Chunk: Hashable, Sendable {
        var transfer: UInt32
        var number: Int
        /// How many chunks there are.
        var total: Int
        /// When it was sent, in microseconds of the sender's clock.
        var stamp: UInt32
        var bytes: Data
    }

    /// A report on how much of a transfer has come.
    struct Report: Hashable, Sendable {
        var transfer: UInt32
        /// The number below which every chunk has come that is not in ``missing``.
        var upTo: Int
        /// What is missing from here on may only be late.
        var edge: Int
        /// The stamp of the chunk that came last; ``held`` is how many microseconds ago that was.
        var stamp: UInt32
        var held: UInt32
        var missing: [Range<Int>]
    }

    static let chunkBytes = 1_152
    static let cookieBytes = 32
    /// What a syn is padded to: more than a challenge has.
    static let synBytes = 64
    /// What fits beside the rest of a report.
    static let mostRanges = 140
    private static let mark: [UInt8] = [0x50, 0x6E, 1]

    // MARK: Reading

    /// - Returns: `nil` for what is no such datagram.
    init?(_ datagram: Data) {
        var input = DatagramReader(datagram)
        guard input.bytes(3) == Data(Self.mark), let kind = input.number(1) else { return nil }
        guard let packet = Self.read(UInt8(kind), &input) else { return nil }
        self = packet
    }

    private static func read(_ kind: UInt8, _ input: inout DatagramReader) -> DatagramPacket? {
        guard let first = input.number(8) else { return nil }
        switch kind {
        case 1: return input.count == synBytes - 12 ? .syn(nonce: first) : nil
        case 2, 3:
            guard let stamp = input.number(8), let cookie = input.bytes(cookieBytes), input.count == 0 else {
                return nil
            }
            return kind == 2
                ? .challenge(nonce: first, stamp: stamp, cookie: cookie)
                : .ack(nonce: first, stamp: stamp, cookie: cookie)
        case 4:
            guard let token = input.number(8), input.count == 0 else { return nil }
            return .ready(nonce: first, token: token)
        case 5: return chunk(&input).map { .data(token: first, chunk: $0) }
        case 6: return report(&input).map { .report(token: first, report: $0) }
        case 7:
            guard let transfer = input.number(4), input.count == 0 else { return nil }
            return .done(token: first, transfer: UInt32(truncatingIfNeeded: transfer))
        case 8 where input.count == 0: return .ping(token: first)
        case 9 where input.count == 0: return .pong(token: first)
        case 10 where input.count == 0: return .close(token: first)
        default: return nil
        }
    }

    private static func chunk(_ input: inout DatagramReader) -> Chunk? {
        guard let transfer = input.number(4), let number = input.number(4), let total = input.number(4),
            let stamp = input.number(4), let bytes = input.bytes(input.count), number < total,
            let number = Int(exactly: number), let total = Int(exactly: total),
            number + 1 == total ? 0...chunkBytes ~= bytes.count : bytes.count == chunkBytes
        else { return nil }
        return Chunk(
            transfer: UInt32(truncatingIfNeeded: transfer), number: number, total: total,
            stamp: UInt32(truncatingIfNeeded: stamp), bytes: bytes)
    }

    private static func report(_ input: inout DatagramReader) -> Report? {
        guard let transfer = input.number(4), let upTo = input.number(4), let edge = input.number(4),
            let stamp = input.number(4), let held = input.number(4), input.count % 8 == 0,
            input.count / 8 <= mostRanges, let most = Int(exactly: upTo), let edge = Int(exactly: edge)
        else { return nil }
        var missing: [Range<Int>] = []
        while let start = input.number(4), let end = input.number(4) {
            // In their order and apart, so that nobody can have the same chunk counted twice.
            guard start < end, end <= upTo, Int(start) >= missing.last?.upperBound ?? 0 else { return nil }
            missing.append(Int(start)..<Int(end))
        }
        return Report(
            transfer: UInt32(truncatingIfNeeded: transfer), upTo: most, edge: edge,
            stamp: UInt32(truncatingIfNeeded: stamp), held: UInt32(truncatingIfNeeded: held), missing: missing)
    }

    // MARK: Writing

    var bytes: Data {
        var output = Data(Self.mark)
        func add(_ number: UInt64, _ count: Int) {
            for index in (0..<count).reversed() {
                output.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
            }
        }
        func begin(_ kind: UInt64, _ first: UInt64) {
            add(kind, 1)
            add(first, 8)
        }
        switch self {
        case .syn(let nonce):
            begin(1, nonce)
            output.append(Data(count: Self.synBytes - output.count))
        case .challenge(let nonce, let stamp, let cookie), .ack(let nonce, let stamp, let cookie):
            if case .challenge = self { begin(2, nonce) } else { begin(3, nonce) }
            add(stamp, 8)
            output.append(cookie)
        case .ready(let nonce, let token):
            begin(4, nonce)
            add(token, 8)
        case .data(let token, let chunk):
            begin(5, token)
            for number in [UInt64(chunk.transfer), UInt64(chunk.number), UInt64(chunk.total), UInt64(chunk.stamp)] {
                add(number, 4)
            }
            output.append(chunk.bytes)
        case .report(let token, let report):
            begin(6, token)
            let head = [
                UInt64(report.transfer), UInt64(report.upTo), UInt64(report.edge), UInt64(report.stamp),
                UInt64(report.held),
            ]
            for number in head { add(number, 4) }
            for range in report.missing {
                add(UInt64(range.lowerBound), 4)
                add(UInt64(range.upperBound), 4)
            }
        case .done(let token, let transfer):
            begin(7, token)
            add(UInt64(transfer), 4)
        case .ping(let token): begin(8, token)
        case .pong(let token): begin(9, token)
        case .close(let token): begin(10, token)
        }
        return output
    }

    /// Which connection it is of; `nil` in the handshake.
    var token: UInt64? {
        switch self {
        case .syn, .challenge, .ack, .ready: nil
        case .data(let token, _), .report(let token, _), .done(let token, _), .ping(let token), .pong(let token),
            .close(let token):
            token
        }
    }
}

private struct DatagramReader {
    private let all: Data
    private var place: Int

    init(_ datagram: Data) {
        (all, place) = (datagram, datagram.startIndex)
    }

    var count: Int { all.endIndex - place }

    mutating func number(_ count: Int) -> UInt64? {
        bytes(count).map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    mutating func bytes(_ count: Int) -> Data? {
        guard count <= self.count else { return nil }
        defer { place += count }
        return Data(all[place..<(place + count)])
    }
}
