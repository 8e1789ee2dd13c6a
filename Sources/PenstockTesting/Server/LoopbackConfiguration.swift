import Foundation

extension LoopbackServer {
    /// What the server speaks, how much it accepts, and how much it remembers.
    public struct Configuration: Sendable {
        /// The most bytes of a request's line and header lines. 64 KiB by default; more is answered with 414 or 431.
        public var maximumHeadBytes = 64 << 10
        /// The most bytes of a request's content. 64 MiB by default; more is answered with 413.
        public var maximumBodyBytes = 64 << 20
        /// How many requests, from the first on, are kept in ``LoopbackServer/requests``; as many connections and faults.
        /// 10,000 by default.
        public var recordedRequests = 10_000
        /// How slowly each connection is written to, whatever is written. As fast as it can by default.
        public var sending: Throttle?
        /// How slowly each connection is read. As fast as it can by default. The system's buffers take some more: at
        /// least 2 KiB on Linux, and what the client's side holds.
        public var receiving: Throttle?
        /// TLS, on Linux only. None by default.
        public var tls: TLS?
        /// What the server asks of clients that speak HTTP/2.
        public var http2 = HTTP2Settings()

        /// What is spoken in place of HTTP: called for each connection on its thread, with its number counted from 1; the
        /// connection is closed when it returns. HTTP by default.
        public var serve: (@Sendable (LoopbackWire, Int) -> Void)?

        /// What is given at each property.
        public init(tls: TLS? = nil) {
            self.tls = tls
        }
    }

    /// What the server announces to clients that speak HTTP/2 (RFC 9113 §6.5.2).
    public struct HTTP2Settings: Hashable, Sendable {
        /// Streams at a time on one connection. 100 by default.
        public var concurrentStreams = 100
        /// How many bytes of a request's content may come before the server has read some. 65,535 by default.
        public var initialWindow = 65_535
        /// How many bytes the client may keep of the header fields it has sent; `nil`, the default, means 4,096.
        public var headerTableBytes: Int?
        /// How long a frame of the client may be, in bytes; `nil`, the default, means 16,384, which is also the least.
        public var frameBytes: Int?

        /// What is given at each property.
        public init() {}
    }

    /// How the server speaks TLS. **On Linux only**, by OpenSSL: elsewhere the server refuses to start with it.
    ///
    /// ```swift
    /// let authority = try TestCertificateAuthority()
    /// let server = try LoopbackServer(.init(tls: .init(try authority.issue()))) { _ in .text("ok") }
    /// let trust = TrustPolicy.authorities(authority.file)
    /// ```
    public struct TLS: Sendable {
        /// What a connection is spoken in; agreed on by ALPN (RFC 7301).
        public enum ApplicationProtocol: String, Sendable {
            /// HTTP/1.1.
            case http1 = "http/1.1"
            /// HTTP/2.
            case http2 = "h2"
        }

        /// A version of TLS.
        public enum Version: Int, Comparable, Sendable {
            /// RFC 5246.
            case tls12
            /// RFC 8446.
            case tls13

            /// Whether the left version is the older one.
            public static func < (left: Version, right: Version) -> Bool {
                left.rawValue < right.rawValue
            }
        }

        /// What the server shows.
        public var identity: TLSIdentity
        /// The protocols by preference. HTTP/1.1 alone by default. A client that offers none of them, or nothing, gets HTTP/1.1.
        public var protocols: [ApplicationProtocol] = [.http1]
        /// What every second connection is spoken in, where that is something else: a name behind which there are several servers.
        var others: [ApplicationProtocol]?
        /// 1.2 to 1.3 by default.
        public var versions: ClosedRange<Version> = .tls12 ... .tls13
        /// Where set, a client must show a certificate that one of these PEM certificates has signed.
        public var clientAuthorities: Data?

        /// TLS with a certificate.
        public init(_ identity: TLSIdentity, protocols: [ApplicationProtocol] = [.http1]) {
            self.identity = identity
            self.protocols = protocols
        }
    }

    /// The server cannot serve the TLS that it was asked for.
    public struct TLSFailure: Error, CustomStringConvertible {
        /// What is wrong.
        public let description: String
    }
}

/// A certificate with those that lead to its authority, and its private key.
public struct TLSIdentity: Hashable, Sendable {
    /// PEM: the certificate, then those that lead to the authority. What stands there is shown as it stands.
    public var certificates: Data
    /// PEM.
    public var privateKey: Data

    /// An identity from elsewhere, or one that ``TestCertificateAuthority`` has made, changed.
    public init(certificates: Data, privateKey: Data) {
        self.certificates = certificates
        self.privateKey = privateKey
    }
}
