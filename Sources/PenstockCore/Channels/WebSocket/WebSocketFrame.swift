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
    /// The most bytes that a head has: two, a length of eight, and a mask.
    static let mostBytes = 14

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
        let length = Int(clamping: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        guard length > (bytes.count == 2 ? 125 : 65_535) else {
            throw WebSocketFailure(.length, "a length is written in more bytes than it needs")
        }
        return length
    }

    /// Writes the head, in as few bytes as its length allows.
    func write(to output: inout Data) {
        let first = (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue
        let masked: UInt8 = mask == nil ? 0 : 0x80
        // All at once, since each change of data costs as much as the whole head.
        withUnsafeTemporaryAllocation(byteCount: Self.mostBytes, alignment: 1) { bytes in
            var count = 2
            func add(_ number: some FixedWidthInteger) {
                bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number))
                count += number.bitWidth / 8
            }
            bytes[0] = first
            switch length {
            case ...125: bytes[1] = masked | UInt8(truncatingIfNeeded: length)
            case ...65_535:
                bytes[1] = masked | 126
                add(UInt16(length))
            default:
                bytes[1] = masked | 127
                add(UInt64(length))
            }
            if let mask { add(mask.key) }
            output.append(contentsOf: bytes[..<count])
        }
    }
}

/// The key that a client's payload is mixed with (RFC 6455 §5.3).
struct WebSocketMask: Hashable, Sendable {
    /// The key as a number whose first byte on the wire is the highest.
    let key: UInt32

    /// - Returns: `nil` for anything but four bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        key = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// - Parameter random: of which half is used.
    init(random: UInt64) {
        key = UInt32(truncatingIfNeeded: random).byteSwapped
    }

    /// Mixes bytes with the key, or takes the key out of them.
    ///
    /// - Parameter offset: where in the payload the bytes begin.
    func apply(to bytes: UnsafeMutableRawBufferPointer, offset: Int) {
        // The key begins anew every four bytes, so it is turned by what the offset is past four.
        let turn = UInt32(offset & 3) * 8
        let turned = UInt64(key << turn | key >> ((32 - turn) & 31))
        let word = (turned << 32 | turned).bigEndian
        var index = 0
        while index + 8 <= bytes.count {
            let mixed = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
            bytes.storeBytes(of: mixed, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        withUnsafeBytes(of: word) { word in
            for rest in index..<bytes.count { bytes[rest] ^= word[rest - index] }
        }
    }
}
