/// Owns calls: when the last reference to it goes, they end and nothing of them is delivered.
///
/// ```swift
/// @MainActor final class ProductPage {
///     private let client: APIClient
///     private let calls = CallScope()
///
///     init(client: APIClient) { self.client = client }
///     func load() { client.start(Products(), in: calls) { [weak self] in self?.show($0) } }
///     func show(_ result: Result<[Product], APIError>) {}
/// }
/// ```
///
/// Calls started without a scope end by themselves, whoever goes.
public final class CallScope: Sendable {
    private let calls = CallTable()
    private let cancellations = Locked(0)

    /// A scope without calls.
    public init() {}

    deinit {
        calls.end(.ownerGone) { _ in true }
    }

    /// Ends the calls of this scope; each is told so. New ones may be started.
    public func cancelAll() {
        cancellations.withLock { $0 += 1 }
        calls.end { _ in true }
    }

    /// How often all calls were ended: what has begun none of its calls yet sees by it that it must not.
    var cancellationCount: Int { cancellations.withLock { $0 } }

    /// How many of its calls are under way.
    public var callCount: Int { calls.count }

    func add(_ call: CallContext) -> CallTable.Place {
        calls.add(call)
    }

    func remove(_ call: CallContext, at place: CallTable.Place) {
        calls.remove(call, at: place)
    }
}
