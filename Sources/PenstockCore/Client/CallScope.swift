/// Owns calls: when the last reference to it goes, they end and nothing of them is delivered.
///
/// ```swift
/// final class ProductPage {
///     private let calls = CallScope()
///     func load() { client.start(Products(), in: calls) { [weak self] in self?.show($0) } }
/// }
/// ```
///
/// Calls started without a scope end by themselves, whoever goes.
public final class CallScope: Sendable {
    private let calls = CallTable()

    /// A scope without calls.
    public init() {}

    deinit {
        calls.end(.ownerGone) { _ in true }
    }

    /// Ends the calls of this scope; each is told so. New ones may be started.
    public func cancelAll() {
        calls.end { _ in true }
    }

    /// How many of its calls are under way.
    public var callCount: Int { calls.count }

    func add(_ call: CallContext) -> CallTable.Place {
        calls.add(call)
    }

    func remove(_ call: CallContext, at place: CallTable.Place) {
        calls.remove(call, at: place)
    }
}
