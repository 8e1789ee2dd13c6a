/// How much of a response is accepted. Past a limit the wire is closed and the call fails.
///
/// A field that is not set has its default, unless a wider level of options has set it.
public struct ResponseLimits: Sendable {
    private struct Fields: Sendable {
        var bodyBytes: Int?
        var headerBytes: Int?
        var headerCount: Int?
        var interimResponses: Int?
        var expansionRatio: Int?
        var minimumThroughput: Throughput??
    }

    private var fields = Fields()

    /// How many bytes content that is collected may have, after its codings are removed. 64 MiB by default. A streamed response has no such
    /// limit: what its reader does not take stays on the wire.
    public var bodyBytes: Int {
        get { fields.bodyBytes ?? 64 << 20 }
        set { fields.bodyBytes = newValue }
    }
    /// How many bytes all header lines may have together, and again all trailer lines. 256 KiB by default.
    public var headerBytes: Int {
        get { fields.headerBytes ?? 256 << 10 }
        set { fields.headerBytes = newValue }
    }
    /// Number of header lines. 1,000 by default.
    public var headerCount: Int {
        get { fields.headerCount ?? 1_000 }
        set { fields.headerCount = newValue }
    }
    /// Number of interim (1xx) responses before the final one. 32 by default.
    public var interimResponses: Int {
        get { fields.interimResponses ?? 32 }
        set { fields.interimResponses = newValue }
    }
    /// How many times its size on the wire the content may have after its codings are removed, beyond the first MiB.
    /// 200 by default: text that repeats itself reaches 100, bombs 1,000 and more. A transport without
    /// ``TransportCapabilities/expansionRatio`` keeps it for responses with a `Content-Length` alone.
    public var expansionRatio: Int {
        get { fields.expansionRatio ?? 200 }
        set { fields.expansionRatio = newValue }
    }
    /// How slowly content may come. ``Throughput/trickle`` by default; `nil` for content that comes when something
    /// happens, such as events.
    public var minimumThroughput: Throughput? {
        get { fields.minimumThroughput ?? .trickle }
        set { fields.minimumThroughput = .some(newValue) }
    }

    /// Sets the fields that are named.
    public init(
        bodyBytes: Int? = nil, headerBytes: Int? = nil, headerCount: Int? = nil, interimResponses: Int? = nil,
        expansionRatio: Int? = nil, minimumThroughput: Throughput? = unset
    ) {
        fields = Fields(
            bodyBytes: bodyBytes, headerBytes: headerBytes, headerCount: headerCount,
            interimResponses: interimResponses,
            expansionRatio: expansionRatio)
        if minimumThroughput != Self.unset { self.minimumThroughput = minimumThroughput }
    }

    /// Stands for an argument that is left out: no throughput that anybody means, so that `nil` can be said.
    @usableFromInline static var unset: Throughput? { Throughput(bytes: .min, per: .zero) }

    /// Whether ``minimumThroughput`` was set, at this level or at one that was merged into it.
    var setsMinimumThroughput: Bool { fields.minimumThroughput != nil }

    /// So many bytes on the wire within every such span of time, counted from the head of the response; time in which
    /// nobody asks for content, or the exchange is suspended, does not count.
    public struct Throughput: Hashable, Sendable {
        /// How many bytes must come over the wire, content codings included.
        public var bytes: Int
        /// The time within which they must come.
        public var span: Duration

        /// A throughput: so many bytes on the wire within every such span of time.
        public init(bytes: Int, per span: Duration) {
            self.bytes = bytes
            self.span = span
        }

        /// 300 bytes in 30 seconds: less is a server that only keeps the connection busy.
        public static let trickle = Throughput(bytes: 300, per: .seconds(30))
    }

    /// Which limit was broken.
    @nonexhaustive
    public enum Limit: String, Hashable, Sendable {
        /// ``ResponseLimits/bodyBytes``, or the limit that a streamed response was collected up to.
        case bodyBytes
        /// One event of an event stream.
        case eventBytes
        /// One line of an event stream, or of a response with one value on each line.
        case lineLength
        /// ``ResponseLimits/headerBytes``, or what the transport's own parser takes, where that is less.
        case headerBytes
        /// ``ResponseLimits/headerCount``.
        case headerCount
        /// ``ResponseLimits/interimResponses``.
        case interimResponses
        /// More content codings, one over the other, than five.
        case contentCodings
        /// ``ResponseLimits/expansionRatio``: what a decompression bomb breaks.
        case expansionRatio
        /// ``ResponseLimits/minimumThroughput``: the content came too slowly.
        case minimumThroughput
    }
}

extension ResponseLimits: LayeredOption {
    /// The fields that are set here, and those of `wider` that are not.
    public func over(_ wider: ResponseLimits) -> ResponseLimits {
        var merged = self
        merged.fields.bodyBytes = fields.bodyBytes ?? wider.fields.bodyBytes
        merged.fields.headerBytes = fields.headerBytes ?? wider.fields.headerBytes
        merged.fields.headerCount = fields.headerCount ?? wider.fields.headerCount
        merged.fields.interimResponses = fields.interimResponses ?? wider.fields.interimResponses
        merged.fields.expansionRatio = fields.expansionRatio ?? wider.fields.expansionRatio
        merged.fields.minimumThroughput = fields.minimumThroughput ?? wider.fields.minimumThroughput
        return merged
    }
}

extension ResponseLimits: Hashable {
    /// Whether both accept the same, by whatever was set.
    public static func == (left: ResponseLimits, right: ResponseLimits) -> Bool {
        left.bodyBytes == right.bodyBytes && left.headerBytes == right.headerBytes
            && left.headerCount == right.headerCount && left.interimResponses == right.interimResponses
            && left.expansionRatio == right.expansionRatio && left.minimumThroughput == right.minimumThroughput
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine([bodyBytes, headerBytes, headerCount, interimResponses, expansionRatio])
        hasher.combine(minimumThroughput)
    }
}
