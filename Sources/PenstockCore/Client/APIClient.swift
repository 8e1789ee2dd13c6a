/// Sends endpoints: the one object between an app's business code and the wire.
///
/// ```swift
/// let client = APIClient(.init(services: [shop]), transport: transport)
/// let user = try await client.send(Login(account: "alice", password: "secret"))
/// ```
///
/// Make one and hand it to the module managers that need it; there is no hidden shared one. A client made by
/// ``with(_:)`` differs in its configuration and shares the transport, the environment and the table of calls.
public final class APIClient: Sendable {
    public let configuration: Configuration
    public let transport: any Transport
    let shared: Shared
    let cache: CacheAccess?
    private let runtimes = Locked(Runtimes())

    /// The services that were called.
    private struct Runtimes: Sendable {
        private var all: [ServiceID: ServiceRuntime] = [:]
        /// What was called last is mostly called next.
        private var last: (id: ServiceID, runtime: ServiceRuntime)?

        mutating func find(_ id: ServiceID) -> ServiceRuntime? {
            if let last, last.id == id { return last.runtime }
            guard let known = all[id] else { return nil }
            last = (id, known)
            return known
        }

        mutating func add(_ runtime: ServiceRuntime, for id: ServiceID) {
            all[id] = runtime
        }
    }

    public init(_ configuration: Configuration, transport: any Transport) {
        self.configuration = configuration
        self.transport = transport
        shared = Shared(configuration.environment)
        cache = CacheAccess.of(configuration.cache)
    }

    private init(_ configuration: Configuration, of client: APIClient) {
        self.configuration = configuration
        transport = client.transport
        shared = client.shared
        cache = CacheAccess.of(configuration.cache, reusing: client)
    }

    /// What a client and those derived from it have in common.
    final class Shared: Sendable {
        let environment: Locked<ServerEnvironment>
        let calls = CallTable()

        init(_ environment: ServerEnvironment) {
            self.environment = Locked(environment)
        }
    }

    /// A client for a module that wants its own interceptors, headers or options; the others stay as they are.
    public func with(_ change: (inout Configuration) -> Void) -> APIClient {
        var changed = configuration
        change(&changed)
        return APIClient(changed, of: self)
    }

    /// The service as this client calls it, made once.
    func runtime(for id: ServiceID) throws(APIError) -> ServiceRuntime {
        if let known = runtimes.withLock({ $0.find(id) }) { return known }
        let new = ServiceRuntime(try configuration.services.service(id), configuration, transport, cache)
        return runtimes.withLock { runtimes in
            if let other = runtimes.find(id) { return other }
            runtimes.add(new, for: id)
            return new
        }
    }
}

// MARK: Environment

extension APIClient {
    /// The environment of calls that begin now.
    public var environment: ServerEnvironment { shared.environment.withLock { $0 } }

    /// Sends the calls that begin from now on to another environment. Those under way stay where they are.
    ///
    /// - Throws: ``APIError/Kind/blocked(reason:)`` unless the configuration allows it: in a release build it must be
    ///   asked for.
    public func switchEnvironment(to environment: ServerEnvironment) throws(APIError) {
        guard configuration.allowsEnvironmentSwitch else {
            throw APIError(.blocked(reason: "this client does not allow switching environments"), stage: .prepare)
        }
        shared.environment.withLock { $0 = environment }
    }
}

// MARK: Cancellation

extension APIClient {
    /// Ends every call under way, also those of clients derived from this one. New calls work as before.
    public func cancelAll() {
        shared.calls.cancel { _ in true }
    }

    /// Ends one call.
    public func cancel(_ id: CallID) {
        shared.calls.cancel { $0.id == id }
    }

    /// Ends every call of one API that is under way.
    public func cancel<E: Endpoint>(_ endpoint: E.Type) {
        shared.calls.cancel { $0.endpointType == endpoint }
    }

    /// How many calls are under way.
    public var callCount: Int { shared.calls.count }
}
