/// What a shared exchange brings before its outcome, told to all who wait for that: the redirects, and the stored response that comes
/// before the one that is loaded. Who comes later is told what there was.
final class SharedNews: Sendable {
    private enum Item: Sendable {
        case redirected(HTTPURL)
        case cached(Exchange)

        func tell(_ call: CallContext) {
            switch self {
            case .redirected(let url): call.followed(to: url)
            case .cached(let exchange): call.cached(exchange)
            }
        }
    }

    private struct State: Sendable {
        var items: [Item] = []
        var listeners: [ObjectIdentifier: CallContext] = [:]
    }

    private let state = Locked(State())

    /// - Parameter context: of the exchange.
    init(of context: CallContext) {
        context.onRedirect { self.tell(.redirected($0)) }
        context.onCached { self.tell(.cached($0)) }
    }

    func add(_ call: CallContext) {
        let known = state.withLock { state in
            state.listeners[ObjectIdentifier(call)] = call
            return state.items
        }
        for item in known { item.tell(call) }
    }

    func remove(_ call: CallContext) {
        state.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(call)) }
    }

    private func tell(_ item: Item) {
        let listeners = state.withLock { state in
            state.items.append(item)
            return state.listeners.values
        }
        for listener in listeners { item.tell(listener) }
    }
}
