/// How much of a response is accepted. Past a limit the connection is closed and the call fails.
public struct ResponseLimits: Hashable, Sendable {
    /// Of the content after its codings are removed. 64 MiB by default.
    public var bodyBytes: Int
    /// Of all header lines together. 256 KiB by default.
    public var headerBytes: Int
    /// Number of header lines. 1,000 by default.
    public var headerCount: Int

    public init(bodyBytes: Int = 64 << 20, headerBytes: Int = 256 << 10, headerCount: Int = 1_000) {
        self.bodyBytes = bodyBytes
        self.headerBytes = headerBytes
        self.headerCount = headerCount
    }

    @nonexhaustive
    public enum Limit: String, Hashable, Sendable {
        case bodyBytes
        case headerBytes
        case headerCount
    }
}
