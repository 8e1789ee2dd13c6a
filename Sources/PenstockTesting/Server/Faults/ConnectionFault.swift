import Foundation

extension LoopbackServer {
    /// One thing that goes wrong with a connection before its first request.
    ///
    /// ```swift
    /// let server = try LoopbackServer(.init(tls: tls), onConnect: { $0 == 1 ? .init(.stall, at: .firstBytes) : nil }) { … }
    /// ```
    public struct ConnectionFault: Hashable, Sendable {
        /// What happens.
        public enum Effect: Hashable, Sendable {
            /// The socket is closed without a word.
            case close
            /// The socket is reset (TCP RST).
            case reset
            /// Nothing is sent, until the client goes or the server stops.
            case stall
            /// These bytes are sent as they are, then the socket is closed.
            case send(Data)

            /// A fatal alert of TLS, such as 40 (`handshake_failure`) or 112 (`unrecognized_name`); RFC 8446 §6.
            public static func alert(_ description: UInt8) -> Effect {
                .send(Data([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, description]))
            }
        }

        /// When it happens.
        public enum Trigger: Hashable, Sendable {
            /// The fault comes at once, with nothing read.
            case accept
            /// When the client's first bytes have come: with TLS its ClientHello, else its request.
            case firstBytes
        }

        /// What happens.
        public var effect: Effect
        /// When it happens.
        public var trigger: Trigger

        /// A fault for one connection.
        public init(_ effect: Effect, at trigger: Trigger) {
            self.effect = effect
            self.trigger = trigger
        }
    }
}
