import Foundation

/// The services of an app, each made once, when it is first asked for.
public final class ServiceRegistry: Sendable {
    private let entries = Locked<[ServiceID: Entry]>([:])
    /// Names that the list of services had more than once.
    private let ambiguous: Locked<Set<ServiceID>>

    /// A registry of services that are made already. A name that two of them have is refused when it is asked for. More can be
    /// added by ``register(_:_:)``.
    public init(_ services: [Service] = []) {
        let listed = Dictionary(grouping: services, by: \.id)
        ambiguous = Locked(Set(listed.filter { $0.value.count > 1 }.keys))
        entries.withLock { $0 = listed.compactMapValues { $0.last.map { Entry(made: $0) } } }
    }

    /// Adds a service, or replaces the one of that name for the clients made afterwards. `make` is called once, at the
    /// first look-up, however many callers ask at that moment.
    public func register(_ id: ServiceID, _ make: @escaping @Sendable () -> Service) {
        entries.withLock { $0[id] = Entry(make) }
        ambiguous.withLock { _ = $0.remove(id) }
    }

    /// The service of that name, made now if it was not before.
    ///
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` when no service has that name, or two of those that the registry
    ///   was made of.
    public func service(_ id: ServiceID) throws(APIError) -> Service {
        guard !ambiguous.withLock({ $0.contains(id) }) else {
            throw APIError(
                .invalidConfiguration(reason: "two services are named \(String(reflecting: id.name))"), stage: .prepare)
        }
        guard let entry = entries.withLock({ $0[id] }) else {
            throw APIError(
                .invalidConfiguration(reason: "no service is named \(String(reflecting: id.name))"), stage: .prepare)
        }
        return entry.service()
    }

    /// Names of the services, sorted.
    public var ids: [ServiceID] {
        entries.withLock { $0.keys.sorted { $0.name < $1.name } }
    }

    /// Whether a call could find a service in an environment: where one has a base URL there or might have, since it is read
    /// anew for every call or was not made yet, and where there are no services.
    func mayLive(in environment: ServerEnvironment) -> Bool {
        let entries = entries.withLock { Array($0.values) }
        return entries.isEmpty
            || entries.contains { entry in
                guard let urls = entry.madeService?.baseURLs else { return true }
                return urls.isLive || urls.text(in: environment) != nil
            }
    }

    /// `make` runs under a lock of its own, which may be entered again by a factory that asks for other services.
    private final class Entry: @unchecked Sendable {
        // Safe: `made` is touched only while `lock` is held.
        private let lock = NSRecursiveLock()
        private let make: @Sendable () -> Service
        private var made: Service?

        init(_ make: @escaping @Sendable () -> Service) {
            self.make = make
        }

        init(made: Service) {
            make = { made }
            self.made = made
        }

        /// The service; `nil` while nobody has asked for it.
        var madeService: Service? { lock.withLock { made } }

        func service() -> Service {
            lock.withLock {
                if let made { return made }
                let new = make()
                made = new
                return new
            }
        }
    }
}
