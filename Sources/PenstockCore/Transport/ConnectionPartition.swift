/// What connections are shared within. Calls of two partitions never use the same connection, whatever their host.
public struct ConnectionPartition: Hashable, Sendable {
    /// The environment's name.
    public var environment: String
    /// Who the calls are made for; empty while nobody is signed in.
    public var identity: String

    public init(environment: String = "", identity: String = "") {
        self.environment = environment
        self.identity = identity
    }
}
