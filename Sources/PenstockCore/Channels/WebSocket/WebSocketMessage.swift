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
    /// How many bytes one message may have, after decompression. 16 MiB by default: what a screen full of pictures takes. A larger one
    /// closes the socket with ``WebSocketCloseCode/messageTooBig``, as soon as its length is announced.
    public var messageBytes: Int
    /// How many frames one message may come in. 131,072 by default: 16 MiB in frames of 128 bytes. More closes the socket
    /// with ``WebSocketCloseCode/policyViolation``.
    public var fragments: Int

    /// The defaults, but for what is named.
    public init(messageBytes: Int = 16 << 20, fragments: Int = 131_072) {
        self.messageBytes = messageBytes
        self.fragments = fragments
    }
}

extension WebSocketFailure {
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
}
