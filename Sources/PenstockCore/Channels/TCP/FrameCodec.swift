import Foundation

/// How an app's own protocol cuts a stream of bytes into frames. It keeps nothing between two frames that it does not need: each
/// connection begins with a copy of the codec that the channel was given.
///
/// ```swift
/// struct QuoteCodec: FrameCodec {
///     var lengths = LengthPrefixCodec()
///     mutating func decode(_ input: inout FrameInput) throws -> Quote? {
///         try lengths.decode(&input).map { try JSONDecoder().decode(Quote.self, from: $0) }
///     }
///     func encode(_ quote: Quote) throws -> Data { try lengths.encode(JSONEncoder().encode(quote)) }
/// }
/// ```
public protocol FrameCodec: Sendable {
    /// What is sent and received.
    associatedtype Frame: Sendable

    /// Takes a frame off the beginning of what has come.
    ///
    /// - Returns: `nil` where more bytes are needed; nothing may be taken then but what is not looked at again.
    /// - Throws: what is wrong with the bytes. The connection is closed, since nobody knows where the next frame begins.
    mutating func decode(_ input: inout FrameInput) throws -> Frame?

    /// A frame as bytes.
    func encode(_ frame: Frame) throws -> Data
}

/// The bytes of a connection that no frame has been made of yet.
public struct FrameInput: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    /// An input without a byte.
    public init() {}

    /// How many bytes there are.
    public var count: Int { bytes.count - start }

    /// The byte so many behind the beginning; `nil` where it has not come.
    public subscript(offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? bytes[start + offset] : nil
    }

    /// The first bytes, which stay; `nil` where there are not so many.
    public func prefix(_ count: Int) -> Data? {
        count >= 0 && count <= self.count ? Data(bytes[start..<(start + count)]) : nil
    }

    /// Takes the first bytes off; `nil`, and nothing taken, where there are not so many.
    public mutating func take(_ count: Int) -> Data? {
        guard let taken = prefix(count) else { return nil }
        start += count
        return taken
    }

    /// How far behind the beginning a byte stands; `nil` where it has not come.
    ///
    /// - Parameter offset: where to begin to look.
    public func offset(of byte: UInt8, from offset: Int = 0) -> Int? {
        guard offset >= 0, offset <= count else { return nil }
        return bytes[(start + offset)...].firstIndex(of: byte).map { $0 - start }
    }

    /// Adds what has come.
    public mutating func append(_ more: some Collection<UInt8>) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 65_536 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }
}

/// What is wrong with a frame.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable {
        /// A frame that is longer than the codec takes.
        case tooLong
        /// A frame that is not what the codec makes.
        case malformed
        /// The connection ended within a frame.
        case truncated
    }

    /// What was wrong.
    public let kind: Kind
    /// What was wrong, in words for people; holds nothing that came over the wire.
    public let description: String

    /// An error of a codec.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// Frames of bytes, each behind its length.
public struct LengthPrefixCodec: FrameCodec, Hashable {
    /// How many bytes the length is written in.
    public enum Width: Int, Hashable, Sendable {
        /// One byte, for frames of up to 255 bytes.
        case one = 1
        /// Two bytes, for frames of up to 65,535 bytes.
        case two = 2
        /// Four bytes, for frames of up to 4 GiB.
        case four = 4
        /// Eight bytes, for whatever the limit allows.
        case eight = 8
    }

    /// How many bytes the length has; four by default.
    public var width: Width
    /// Whether the first byte of the length is the highest; it is by default, as everywhere on the Internet.
    public var isBigEndian: Bool
    /// Whether the length counts its own bytes as well; it does not by default.
    public var countsItself: Bool
    /// How many bytes may follow the length. 16 MiB by default. A longer frame is refused as soon as its length has come.
    public var maxFrameBytes: Int

    /// The defaults, but for what is named.
    public init(
        width: Width = .four, isBigEndian: Bool = true, countsItself: Bool = false, maxFrameBytes: Int = 16 << 20
    ) {
        self.width = width
        self.isBigEndian = isBigEndian
        self.countsItself = countsItself
        self.maxFrameBytes = maxFrameBytes
    }

    public mutating func decode(_ input: inout FrameInput) throws -> Data? {
        guard let prefix = input.prefix(width.rawValue) else { return nil }
        let ordered = isBigEndian ? Array(prefix) : prefix.reversed()
        let own: UInt64 = countsItself ? UInt64(width.rawValue) : 0
        let length = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length >= own else { throw FrameError(.malformed, "a length is less than its own bytes") }
        guard length - own <= UInt64(clamping: maxFrameBytes) else { throw tooLong }
        // Compared without a sum: a limit of `.max` takes lengths that no sum has room for.
        guard input.count - width.rawValue >= Int(length - own) else { return nil }
        _ = input.take(width.rawValue)
        return input.take(Int(length - own))
    }

    public func encode(_ frame: Data) throws -> Data {
        let length = UInt64(frame.count + (countsItself ? width.rawValue : 0))
        guard frame.count <= maxFrameBytes, width == .eight || length >> UInt64(8 * width.rawValue) == 0 else {
            throw tooLong
        }
        let bytes = (0..<width.rawValue).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * $0)) }
        return Data(isBigEndian ? bytes.reversed() : bytes) + frame
    }

    private var tooLong: FrameError {
        FrameError(.tooLong, "a frame is longer than \(maxFrameBytes) bytes, or than its length can say")
    }
}

/// Lines of UTF-8, each ended by LF, or by CR and LF.
public struct LineCodec: FrameCodec, Hashable {
    /// How many bytes a line may have, without its end. 64 KiB by default: a line that somebody may still read.
    public var maxLineBytes: Int
    /// What a line is ended with when it is sent; LF by default.
    public var endsWithCRLF: Bool
    /// How far the line that has begun was looked at.
    private var searched = 0

    /// The defaults, but for what is named.
    public init(maxLineBytes: Int = 64 << 10, endsWithCRLF: Bool = false) {
        self.maxLineBytes = maxLineBytes
        self.endsWithCRLF = endsWithCRLF
    }

    public mutating func decode(_ input: inout FrameInput) throws -> String? {
        guard let end = input.offset(of: 0x0A, from: min(searched, input.count)) else {
            searched = input.count
            // One byte more may be the CR of its end.
            guard searched - 1 <= maxLineBytes else { throw tooLong }
            return nil
        }
        searched = 0
        guard var line = input.take(end) else { return nil }
        _ = input.take(1)
        if line.last == 0x0D { line.removeLast() }
        guard line.count <= maxLineBytes else { throw tooLong }
        guard let text = String(utf8: line) else {
            throw FrameError(.malformed, "a line is not UTF-8")
        }
        return text
    }

    public func encode(_ line: String) throws -> Data {
        guard line.utf8.count <= maxLineBytes else { throw tooLong }
        guard !line.utf8.contains(0x0A), !line.utf8.contains(0x0D) else {
            throw FrameError(.malformed, "a line holds the end of a line")
        }
        return Data((line + (endsWithCRLF ? "\r\n" : "\n")).utf8)
    }

    private var tooLong: FrameError { FrameError(.tooLong, "a line is longer than \(maxLineBytes) bytes") }
}
