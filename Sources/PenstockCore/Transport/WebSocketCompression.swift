import Foundation

/// Makes what compresses and expands the messages of a socket.
public protocol WebSocketCompression: Sendable {
    /// - Parameter windowBits: how far back it may refer, as a power of two: 8 to 15.
    /// - Returns: `nil` where it has no such window; messages are then sent as they are, which is always allowed.
    func deflater(windowBits: Int) -> (any MessageDeflater)?

    /// - Parameter windowBits: 8 to 15.
    /// - Returns: `nil` for want of memory.
    func inflater(windowBits: Int) -> (any MessageInflater)?
}

/// Compresses messages one after the other; each may use what was in those before (RFC 7692 §7.2.1). Zlib in a transport,
/// or the app's own.
public protocol MessageDeflater: AnyObject, Sendable {
    /// The message as raw DEFLATE, flushed to a whole byte and without the `00 00 FF FF` that such a flush ends with.
    ///
    /// - Returns: `nil` where that cannot be done; the message is then sent as it is, and the deflater must have forgotten it.
    func deflate(_ message: Data) -> Data?

    /// Forgets the messages before.
    func reset()
}

/// Expands what a ``MessageDeflater`` of the other end made.
public protocol MessageInflater: AnyObject, Sendable {
    /// Expands a piece of raw DEFLATE; the rest may come with the next.
    ///
    /// - Parameter limit: bytes, after which it stops.
    /// - Throws: ``WebSocketFailure`` of the kind `messageTooBig` past the limit, `compression` for what is no DEFLATE.
    func inflate(_ piece: Data, upTo limit: Int) throws(WebSocketFailure) -> Data

    /// Whether the message may end behind what was expanded: no block has begun that is not over.
    var isComplete: Bool { get }

    /// A message is over; what comes is of the next. Nothing by default: it is for what is counted of each message.
    func endMessage()

    /// Forgets the messages before.
    func reset()
}

extension MessageInflater {
    /// Does nothing, for inflaters that count nothing.
    public func endMessage() {}
}

/// What broke a WebSocket, as this end sees it.
public struct WebSocketFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable {
        /// A reserved bit is set that no agreed extension has a meaning for (RFC 6455 §5.2).
        case reservedBits
        /// An opcode that has no meaning.
        case reservedOpcode
        /// A control frame in pieces, or of more than 125 bytes (§5.5).
        case controlFrame
        /// A continuation of nothing, or a new message within another (§5.4).
        case fragmentation
        /// A client that does not mask, or a server that does (§5.1).
        case masking
        /// A length in more bytes than it needs, or with the highest bit set (§5.2).
        case length
        /// A Close frame of one byte, or with a code that may not be sent (§7.4).
        case closeFrame
        /// Text that is not UTF-8 (§8.1).
        case invalidText
        /// Content that is not what permessage-deflate makes (RFC 7692 §7.2.2).
        case compression
        /// More bytes than ``WebSocketLimits/messageBytes``.
        case messageTooBig
        /// More frames than ``WebSocketLimits/fragments``.
        case tooManyFragments
        /// Something was to be sent on a socket that is closing or closed.
        case notOpen
        /// Something was to be sent that cannot be: a ping or a reason that is too long, or a code that is not to be sent.
        case invalidRequest
        /// The answer to the opening handshake is not the one that was asked for (§4.1).
        case handshake
    }

    /// What was wrong.
    public let kind: Kind
    /// The reason, for people; holds nothing that came over the wire.
    public let reason: String

    /// A failure.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    public var description: String { reason }
}
