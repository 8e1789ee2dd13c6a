/// Whose a stored response is: what of an ``IsolationKey`` outlives the process.
public struct CachePartition: Hashable, Sendable {
    /// The environment's name.
    public var environment: String
    /// Who the call was made for; empty while nobody was signed in.
    public var identity: String
    /// A digest of the trust policy and the proxy that the response came by; empty for the system's authorities and no
    /// proxy.
    public var way: String

    /// A partition; by default that of calls of nobody in particular, in no environment.
    ///
    /// - Parameter way: as ``IsolationKey/partition`` has it.
    public init(environment: String = "", identity: String = "", way: String = "") {
        self.environment = environment
        self.identity = identity
        self.way = way
    }

    /// Whether it is for replies that came sealed, which are kept apart from those that came in plain. In the keys of a store
    /// it stands at the beginning of ``way``.
    public var isSealed: Bool {
        get { way.hasPrefix(Self.sealedMark) }
        set {
            guard newValue != isSealed else { return }
            way = newValue ? Self.sealedMark + way : String(way.dropFirst(Self.sealedMark.count))
        }
    }

    /// Not the beginning of any digest.
    private static let sealedMark = "sealed "

    /// Whether it is the same user in the same environment, by whatever way. What is removed or made invalid for a user is
    /// so by every way.
    public func hasSameOwner(as other: CachePartition) -> Bool {
        identity == other.identity && environment == other.environment
    }
}
