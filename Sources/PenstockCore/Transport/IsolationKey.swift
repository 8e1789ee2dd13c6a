import Foundation

/// What calls must have in common to share anything: a connection, a stored response, a cookie, an exchange under way.
///
/// It is made once for each call, and whatever the call leaves running behind it goes on with the same one. So nothing of
/// one user or environment reaches another, and nothing that came by one way is taken for what came by another. Names are
/// compared byte by byte, since Unicode may call those of two users equivalent.
public struct IsolationKey: Hashable, Sendable {
    private struct Parts: Hashable, Sendable {
        var identity: String
        var environment: String
        var trust: TrustPolicy
        var proxy: ProxyPolicy
        /// No part of the partition: what came from a host is the host's, wherever that was found.
        var resolver: HostResolver

        static func == (left: Parts, right: Parts) -> Bool {
            left.identity.isWritten(as: right.identity) && left.environment.isWritten(as: right.environment)
                && left.trust == right.trust && left.proxy == right.proxy && left.resolver == right.resolver
        }
    }

    /// Shared by all copies: a key is handed on many times, and compared with itself most of the time.
    private final class Storage: Sendable {
        let parts: Parts
        let partition: CachePartition
        /// The hash of all that is compared, in this process: a key is looked for several times in each call.
        let fingerprint: Int

        init(_ parts: Parts) {
            self.parts = parts
            partition = CachePartition(
                environment: parts.environment, identity: parts.identity, way: Self.way(parts.trust, parts.proxy))
            fingerprint = parts.hashValue
        }

        /// Where the policies are the usual ones, nothing has to be told apart.
        private static func way(_ trust: TrustPolicy, _ proxy: ProxyPolicy) -> String {
            if trust == .system, proxy == .none { return "" }
            return SHA256.hex("\(trust.fingerprint) \(proxy.route) \(proxy.credentials?.user ?? "")".utf8)
        }
    }

    private var storage: Storage

    /// A key; by default that of calls of nobody in particular, which go to the server directly.
    ///
    /// - Parameters:
    ///   - environment: the environment's name; empty by default, for calls that have none.
    ///   - identity: who the calls are made for; empty by default, while nobody is signed in.
    ///   - trust: whom TLS trusts: the system's authorities by default.
    ///   - proxy: the way to the server: none by default.
    ///   - resolver: where the names of hosts lead: wherever the system says by default.
    public init(
        environment: String = "", identity: String = "", trust: TrustPolicy = .system, proxy: ProxyPolicy = .none,
        resolver: HostResolver = .system
    ) {
        storage = Storage(
            Parts(identity: identity, environment: environment, trust: trust, proxy: proxy, resolver: resolver))
    }

    private mutating func change(_ body: (inout Parts) -> Void) {
        var parts = storage.parts
        body(&parts)
        storage = Storage(parts)
    }

    /// The environment's name.
    public var environment: String {
        get { storage.parts.environment }
        set { change { $0.environment = newValue } }
    }

    /// The user that the calls are made for; empty while nobody is signed in.
    public var identity: String {
        get { storage.parts.identity }
        set { change { $0.identity = newValue } }
    }

    /// Whom TLS trusts.
    public var trust: TrustPolicy {
        get { storage.parts.trust }
        set { change { $0.trust = newValue } }
    }

    /// The way by which connections are made.
    public var proxy: ProxyPolicy {
        get { storage.parts.proxy }
        set { change { $0.proxy = newValue } }
    }

    /// Where the names of hosts lead.
    public var resolver: HostResolver {
        get { storage.parts.resolver }
        set { change { $0.resolver = newValue } }
    }

    /// The part of it that is kept with stored responses.
    public var partition: CachePartition { storage.partition }

    public static func == (left: IsolationKey, right: IsolationKey) -> Bool {
        left.storage === right.storage
            || left.storage.fingerprint == right.storage.fingerprint && left.storage.parts == right.storage.parts
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.fingerprint)
    }
}

extension IsolationKey: CustomStringConvertible, CustomReflectable {
    /// The user and the environment; the policies print themselves.
    public var description: String { "\(partition)" }

    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["environment": environment, "identity": identity, "trust": trust, "proxy": proxy]
                as KeyValuePairs<
                    String, Any
                >)
    }
}

/// Whose a stored response is: what of an ``IsolationKey`` outlives the process. Two are equal where their names are, byte by
/// byte: Unicode may call the names of two users equivalent.
public struct CachePartition: Hashable, Sendable {
    /// The environment's name.
    public var environment: String
    /// The user that the call was made for; empty while nobody was signed in.
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

    /// What a sealed way begins with, which is not the beginning of any digest.
    private static let sealedMark = "sealed "

    public static func == (left: CachePartition, right: CachePartition) -> Bool {
        left.hasSameOwner(as: right) && left.way.isWritten(as: right.way)
    }

    /// Whether it is the same user in the same environment, by whatever way. What is removed or made invalid for a user is
    /// so by every way.
    public func hasSameOwner(as other: CachePartition) -> Bool {
        identity.isWritten(as: other.identity) && environment.isWritten(as: other.environment)
    }
}
