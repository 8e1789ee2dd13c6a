import Foundation

/// The services of an app, each made once, when it is first asked for. A value: what is registered in a copy is in that copy alone,
/// and a service that was in it before is the same in both, whichever of them it is first asked of.
///
/// ```swift
/// configuration.services = [shop, account]
/// let test = client.with { $0.services.register(.main) { Service(.main, "https://test.example.com") } }
/// ```
public struct ServiceRegistry: Sendable, ExpressibleByArrayLiteral {
    private var entries: [ServiceID: Entry]
    /// Names that the list of services had more than once.
    private var ambiguous: Set<ServiceID>

    /// A registry of services that are made already. A name that two of them have is refused when it is asked for. More can be
    /// added by ``register(_:_:)``.
    public init(_ services: [Service] = []) {
        let listed = Dictionary(grouping: services, by: \.id)
        ambiguous = Set(listed.filter { $0.value.count > 1 }.keys)
        entries = listed.compactMapValues { $0.last.map { Entry(made: $0) } }
    }

    /// A registry of services that are made already, written as a list; see ``init(_:)``.
    public init(arrayLiteral services: Service...) {
        self.init(services)
    }

    /// Adds a service, or replaces the one of that name. Clients that were made already keep what they have. `make` is called once,
    /// at the first look-up, however many callers ask at that moment, here and in the copies that are made from now on.
    public mutating func register(_ id: ServiceID, _ make: @escaping @Sendable () -> Service) {
        entries[id] = Entry(make)
        ambiguous.remove(id)
    }

    /// The service of that name, made now if it was not before.
    ///
    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` when no service has that name, or two of those that the registry
    ///   was made of.
    public func service(_ id: ServiceID) throws(APIError) -> Service {
        guard !ambiguous.contains(id) else {
            throw APIError(
                .invalidConfiguration(reason: "two services are named \(String(reflecting: id.name))"), stage: .prepare)
        }
        guard let entry = entries[id] else {
            throw APIError(
                .invalidConfiguration(reason: "no service is named \(String(reflecting: id.name))"), stage: .prepare)
        }
        return entry.service()
    }

    /// Whether a service is the one that another registry has: registered once, and made once for both.
    func hasSame(_ id: ServiceID, as other: ServiceRegistry) -> Bool { entries[id] === other.entries[id] }

    /// Names of the services, sorted.
    public var ids: [ServiceID] { entries.keys.sorted { $0.name < $1.name } }

    /// Whether a call could find a service in an environment: where one has a base URL there or might have, since it is read
    /// anew for every call or was not made yet, and where there are no services.
    func mayLive(in environment: ServerEnvironment) -> Bool {
        entries.isEmpty
            || entries.values.contains { entry in
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

extension ServiceRegistry: CustomStringConvertible, CustomReflectable {
    /// The names of the services. What they are made of is not printed.
    public var description: String { "services \(ids.map(\.name).joined(separator: ", "))" }

    public var customMirror: Mirror { Mirror(self, children: ["ids": ids], displayStyle: .struct) }
}
