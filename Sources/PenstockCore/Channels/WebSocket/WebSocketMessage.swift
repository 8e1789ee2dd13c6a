import Foundation

/// What two ends of a WebSocket send each other (RFC 6455 §5.6).
public enum WebSocketMessage: Hashable, Sendable, ExpressibleByStringLiteral {
    /// Text, which is UTF-8 on the wire.
    case text(String)
    /// Bytes of any meaning.
    case binary(Data)

    /// A text, so that it can be written as one.
    public init(stringLiteral value: String) {
        self = .text(value)
    }

    /// The text; `nil` for a binary message.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var isText: Bool {
        if case .text = self { return true }
        return false
    }

    /// The bytes as they are on the wire before any compression.
    public var data: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}

extension WebSocketMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its kind and its length: what it says may be a secret.
    public var description: String { "\(isText ? "text" : "binary") of \(data.count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a WebSocket is closed (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// It has done what it was for.
    public static let normal = WebSocketCloseCode(rawValue: 1_000)
    /// The server shuts down, or the user has left the page.
    public static let goingAway = WebSocketCloseCode(rawValue: 1_001)
    /// The other end broke the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1_002)
    /// A kind of message that this end does not take.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1_003)
    /// The other end gave no code. Never on the wire.
    public static let none = WebSocketCloseCode(rawValue: 1_005)
    /// The connection ended without a closing handshake. Never on the wire.
    public static let abnormal = WebSocketCloseCode(rawValue: 1_006)
    /// Text that is not UTF-8, or content that cannot be decompressed.
    public static let invalidPayload = WebSocketCloseCode(rawValue: 1_007)
    /// A message that breaks a rule of this end.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1_008)
    /// A message larger than this end takes.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1_009)
    /// The server met something that it did not expect.
    public static let internalError = WebSocketCloseCode(rawValue: 1_011)

    /// Whether it may stand in a Close frame: those of the protocol, those that are registered, and an application's own.
    public var isSendable: Bool {
        switch rawValue {
        case 1_000...1_003, 1_007...1_014, 3_000...4_999: true
        default: false
        }
    }

    public var description: String { String(rawValue) }
}

/// How much of what comes a WebSocket accepts.
public struct WebSocketLimits: Hashable, Sendable {
    /// Of one message, after decompression. 16 MiB by default: what a screen full of pictures takes. A larger one closes the
    /// socket with ``WebSocketCloseCode/messageTooBig``, as soon as its length is announced.
    public var messageBytes: Int
    /// In how many frames one message may come. 131,072 by default: 16 MiB in frames of 128 bytes. More closes the socket
    /// with ``WebSocketCloseCode/policyViolation``.
    public var fragments: Int

    /// The defaults, but for what is named.
    public init(messageBytes: Int = 16 << 20, fragments: Int = 131_072) {
        self.messageBytes = messageBytes
        self.fragments = fragments
    }
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
    /// For people; holds nothing that came over the wire.
    public let reason: String

    /// A failure.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// The code that tells the other end; `nil` where the other end did nothing wrong.
    public var closeCode: WebSocketCloseCode? {
        switch kind {
        case .invalidText, .compression: .invalidPayload
        case .messageTooBig: .messageTooBig
        case .tooManyFragments: .policyViolation
        case .notOpen, .invalidRequest, .handshake: nil
        default: .protocolError
        }
    }

    public var description: String { reason }
}
