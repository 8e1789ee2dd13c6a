import Foundation

/// The kinds of frames (RFC 6455 §5.2).
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue >= 8 }
}

/// What stands before the payload of a frame.
struct WebSocketFrameHead: Hashable, Sendable {
    var isFinal: Bool
    /// The bit that permessage-deflate has a meaning for.
    var isCompressed: Bool
    var opcode: WebSocketOpcode
    var length: Int
    /// The key's four bytes in their order on the wire; `nil` where the payload is as it is.
    var mask: WebSocketMask?

    /// The most that a control frame may carry.
    static let controlBytes = 125

    /// Reads a head, and refuses it with the first byte that is wrong, also where the others have not come.
    ///
    /// - Parameters:
    ///   - isMasked: whether the other end has to mask.
    ///   - knowsCompression: whether permessage-deflate was agreed on.
    /// - Returns: the head and its own length; `nil` where more bytes are needed.
    static func read(
        _ bytes: ArraySlice<UInt8>, isMasked: Bool, knowsCompression: Bool
    ) throws(WebSocketFailure) -> (head: WebSocketFrameHead, bytes: Int)? {
        guard let first = bytes.first else { return nil }
        guard first & 0x30 == 0, first & 0x40 == 0 || knowsCompression else {
            throw WebSocketFailure(.reservedBits, "a reserved bit is set")
        }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketFailure(.reservedOpcode, "the opcode \(first & 0x0F) has no meaning")
        }
        var head = WebSocketFrameHead(
            isFinal: first & 0x80 != 0, isCompressed: first & 0x40 != 0, opcode: opcode, length: 0)
        // Only the first frame of a message says that it is compressed (RFC 7692 §6.1).
        guard !head.isCompressed || opcode == .text || opcode == .binary else {
            throw WebSocketFailure(.reservedBits, "a frame that cannot be compressed says that it is")
        }
        guard head.isFinal || !opcode.isControl else {
            throw WebSocketFailure(.controlFrame, "a control frame is in pieces")
        }
        guard let second = bytes.dropFirst().first else { return nil }
        guard (second & 0x80 != 0) == isMasked else {
            throw WebSocketFailure(.masking, isMasked ? "a client's frame is not masked" : "a server's frame is masked")
        }
        let short = Int(second & 0x7F)
        guard short <= controlBytes || !opcode.isControl else {
            throw WebSocketFailure(.controlFrame, "a control frame has more than 125 bytes")
        }
        let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
        guard bytes.count >= 2 + lengthBytes else { return nil }
        head.length = try length(short, bytes.dropFirst(2).prefix(lengthBytes))
        guard isMasked else { return (head, 2 + lengthBytes) }
        guard let mask = WebSocketMask(bytes.dropFirst(2 + lengthBytes).prefix(4)) else { return nil }
        head.mask = mask
        return (head, 6 + lengthBytes)
    }

    private static func length(_ short: Int, _ bytes: ArraySlice<UInt8>) throws(WebSocketFailure) -> Int {
        guard !bytes.isEmpty else { return short }
        guard let first = bytes.first, bytes.count < 8 || first & 0x80 == 0 else {
            throw WebSocketFailure(.length, "the highest bit of a length is set")
        }
        let length = bytes.reduce(0) { $0 << 8 | Int($1) }
        guard length > (bytes.count == 2 ? 125 : 65_535) else {
            throw WebSocketFailure(.length, "a length is written in more bytes than it needs")
        }
        return length
    }

    /// Writes the head, in as few bytes as its length allows.
    func write(to output: inout Data) {
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let masked: UInt8 = mask == nil ? 0 : 0x80
        switch length {
        case ...125: output.append(masked | UInt8(truncatingIfNeeded: length))
        case ...65_535:
            output.append(masked | 126)
            for shift in [8, 0] { output.append(UInt8(truncatingIfNeeded: length >> shift)) }
        default:
            output.append(masked | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: length >> shift))
            }
        }
        if let mask { output.append(contentsOf: mask.bytes) }
    }
}

/// The key that a client's payload is mixed with (RFC 6455 §5.3).
struct WebSocketMask: Hashable, Sendable {
    let bytes: [UInt8]
    /// Twice over, as it lies in memory.
    private let word: UInt64

    /// - Returns: `nil` for anything but four bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        self.bytes = Array(bytes)
        word = (self.bytes + self.bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// - Parameter random: of which half is used.
    init(random: UInt64) {
        bytes = stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: random >> UInt64($0)) }
        word = (bytes + bytes).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// Mixes bytes with the key, or takes the key out of them.
    ///
    /// - Parameter offset: where in the payload the bytes begin.
    func apply(to bytes: UnsafeMutableRawBufferPointer, offset: Int) {
        var key = word
        // The key begins anew every four bytes, so a whole one of eight is turned by what the offset is past four.
        let turn = UInt64(offset & 3) * 8
        key = UInt64(littleEndian: key.littleEndian >> turn | key.littleEndian << (64 - turn))
        var index = 0
        while index + 8 <= bytes.count {
            let mixed = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ key
            bytes.storeBytes(of: mixed, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= self.bytes[(offset + index) & 3]
            index += 1
        }
    }
}
