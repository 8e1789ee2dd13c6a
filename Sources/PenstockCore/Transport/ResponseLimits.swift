/// How much of a response is accepted. Past a limit the wire is closed and the call fails.
public struct ResponseLimits: Hashable, Sendable {
    /// Of content that is collected, after its codings are removed. 64 MiB by default. A streamed response has no such
    /// limit: what its reader does not take stays on the wire.
    public var bodyBytes: Int
    /// Of all header lines together, and again of all trailer lines. 256 KiB by default.
    public var headerBytes: Int
    /// Number of header lines. 1,000 by default.
    public var headerCount: Int
    /// Number of interim (1xx) responses before the final one. 32 by default.
    public var interimResponses: Int
    /// How many times its size on the wire the content may have after its codings are removed, beyond the first MiB.
    /// 200 by default: text that repeats itself reaches 100, bombs 1,000 and more. A transport without
    /// ``TransportCapabilities/expansionRatio`` keeps it for responses with a `Content-Length` alone.
    public var expansionRatio: Int
    /// How slowly content may come. ``Throughput/trickle`` by default; `nil` for content that comes when something
    /// happens, such as events.
    public var minimumThroughput: Throughput?

    public init(
        bodyBytes: Int = 64 << 20, headerBytes: Int = 256 << 10, headerCount: Int = 1_000, interimResponses: Int = 32,
        expansionRatio: Int = 200, minimumThroughput: Throughput? = .trickle
    ) {
        self.bodyBytes = bodyBytes
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.interimResponses = interimResponses
        self.expansionRatio = expansionRatio
        self.minimumThroughput = minimumThroughput
    }

    /// So many bytes on the wire within every such span of time, counted from the head of the response; time in which
    /// nobody asks for content, or the exchange is suspended, does not count.
    public struct Throughput: Hashable, Sendable {
        public var bytes: Int
        public var span: Duration

        public init(bytes: Int, per span: Duration) {
            self.bytes = bytes
            self.span = span
        }

        /// 300 bytes in 30 seconds: less is a server that only keeps the connection busy.
        public static let trickle = Throughput(bytes: 300, per: .seconds(30))
    }

    @nonexhaustive
    public enum Limit: String, Hashable, Sendable {
        case bodyBytes
        /// One event of an event stream.
        case eventBytes
        /// One line of an event stream, or of a response with one value on each line.
        case lineLength
        case headerBytes
        case headerCount
        case interimResponses
        /// More content codings, one over the other, than five.
        case contentCodings
        case expansionRatio
        case minimumThroughput
    }
}
