import Foundation

/// What calls must have in common to share anything: a connection, a stored response, a cookie, an exchange under way.
///
/// It is made once for each call, and whatever the call leaves running behind it goes on with the same one. So nothing of
/// one user or environment reaches another, and nothing that came by one way is taken for what came by another.
public struct IsolationKey: Hashable, Sendable {
    /// Shared by all copies: a key is handed on many times, and compared with itself most of the time.
    private final class Storage: Sendable {
        let environment: String
        let identity: String
        let trust: TrustPolicy
        let proxy: ProxyPolicy
        /// No part of the partition: what came from a host is the host's, wherever that was found.
        let resolver: HostResolver
        let partition: CachePartition
        /// The hash of all that is compared, in this process: a key is looked for several times in each call.
        let fingerprint: Int

        init(
            _ environment: String, _ identity: String, _ trust: TrustPolicy, _ proxy: ProxyPolicy,
            _ resolver: HostResolver
        ) {
            self.environment = environment
            self.identity = identity
            self.trust = trust
            self.proxy = proxy
            self.resolver = resolver
            partition = CachePartition(environment: environment, identity: identity, way: Self.way(trust, proxy))
            var hasher = Hasher()
            hasher.combine(environment)
            hasher.combine(identity)
            hasher.combine(trust)
            hasher.combine(proxy)
            hasher.combine(resolver)
            fingerprint = hasher.finalize()
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
        storage = Storage(environment, identity, trust, proxy, resolver)
    }

    /// The environment's name.
    public var environment: String {
        get { storage.environment }
        set { storage = Storage(newValue, identity, trust, proxy, resolver) }
    }

    /// The user that the calls are made for; empty while nobody is signed in.
    public var identity: String {
        get { storage.identity }
        set { storage = Storage(environment, newValue, trust, proxy, resolver) }
    }

    /// Whom TLS trusts.
    public var trust: TrustPolicy {
        get { storage.trust }
        set { storage = Storage(environment, identity, newValue, proxy, resolver) }
    }

    /// By what way connections are made.
    public var proxy: ProxyPolicy {
        get { storage.proxy }
        set { storage = Storage(environment, identity, trust, newValue, resolver) }
    }

    /// Where the names of hosts lead.
    public var resolver: HostResolver {
        get { storage.resolver }
        set { storage = Storage(environment, identity, trust, proxy, newValue) }
    }

    /// What of it is kept with stored responses.
    public var partition: CachePartition { storage.partition }

    public static func == (left: IsolationKey, right: IsolationKey) -> Bool {
        left.storage === right.storage
            || left.storage.fingerprint == right.storage.fingerprint
                && left.identity == right.identity && left.environment == right.environment && left.trust == right.trust
                && left.proxy == right.proxy && left.resolver == right.resolver
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

/// Whose a stored response is: what of an ``IsolationKey`` outlives the process.
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

    /// Not the beginning of any digest.
    private static let sealedMark = "sealed "

    /// Whether it is the same user in the same environment, by whatever way. What is removed or made invalid for a user is
    /// so by every way.
    public func hasSameOwner(as other: CachePartition) -> Bool {
        identity == other.identity && environment == other.environment
    }
}
