/// What a call yields, one after the other. It throws ``APIError`` alone, and says so: `catch` has one.
public struct CallStream<Element: Sendable>: AsyncSequence, Sendable {
    /// An element on its way.
    struct Item: Sendable {
        let element: Element
        /// Whether the call yields nothing after it.
        let isLast: Bool

        init(_ element: Element, isLast: Bool = false) {
            (self.element, self.isLast) = (element, isLast)
        }
    }

    typealias Base = AsyncThrowingStream<Item, any Error>

    private let base: Base
    /// Ends the call that the sequence owns; `nil` where it owns none.
    private let onLeave: (@Sendable () -> Void)?

    /// What makes of an error of the sequence's own the one that is told.
    private let told: ToldErrors

    private init(_ base: Base, _ told: ToldErrors, onLeave: (@Sendable () -> Void)? = nil) {
        self.base = base
        self.told = told
        self.onLeave = onLeave
    }

    /// - Parameter told: of the call that it hears of.
    static func make(for told: ToldErrors) -> (stream: CallStream, continuation: Base.Continuation) {
        let (base, continuation) = Base.makeStream()
        return (CallStream(base, told), continuation)
    }

    /// Begins the iteration. There is to be one at a time.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), told: told, hold: onLeave.map(CallHold.init))
    }

    /// Yields the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: Base.Iterator
        private let told: ToldErrors
        fileprivate let hold: CallHold?
        /// Whether the last element was given, or an error in its place.
        private var isOver = false

        fileprivate init(base: Base.Iterator, told: ToldErrors, hold: CallHold?) {
            (self.base, self.told, self.hold) = (base, told, hold)
        }

        /// The next element; `nil` at the end.
        ///
        /// - Throws: what the call has failed of; ``APIError/Kind/cancelled`` when the task is cancelled before the last element has come.
        public mutating func next() async throws(APIError) -> Element? {
            defer { withExtendedLifetime(hold) {} }
            // What is below throws its error twice to who was waiting for it.
            guard !isOver else { return nil }
            let item: Item?
            do {
                item = try await base.next()
            } catch {
                isOver = true
                throw .wrapping(error)
            }
            // What is below ends with its task as if everything had come.
            let isCutOff = item == nil && Task.isCancelled
            isOver = item?.isLast ?? true
            if isCutOff { throw told.completed(APIError(.cancelled, stage: .delivery), nil) }
            return item?.element
        }
    }
}

/// What an iteration has of the call that its sequence owns: the call ends with it, whoever holds the sequence.
private final class CallHold: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}

/// The sequence of what a call yields.
public typealias CallUpdates<Output: Sendable> = CallStream<CallUpdate<Output>>

/// One response or two: what is stored, and what the server says; see ``Call/responses``.
public typealias CachedResponses<Output: Sendable> = CallStream<APIResponse<Output>>

extension CallStream {
    /// A sequence that owns the call it hears of: ending the iteration ends the call, and so does letting go of the sequence.
    ///
    /// - Parameter element: what is yielded of an update; `nil` for nothing.
    static func owning<Output>(
        _ call: Call<Output>, _ element: @escaping @Sendable (CallUpdate<Output>) -> Element?
    ) -> CallStream {
        let (stream, continuation) = make(for: call.audience.told)
        let relay = call.relay(to: continuation, element)
        let end: @Sendable () -> Void = {
            call.cancel()
            relay.cancel()
        }
        continuation.onTermination = { _ in end() }
        return CallStream(stream.base, stream.told, onLeave: end)
    }
}

extension Call {
    /// What the call yields: progress, redirects, and last its response or its error. One who comes late gets the
    /// cached response, the latest progress and the end. Ending the iteration does not end the call.
    ///
    /// ```swift
    /// for try await update in call.updates { if case .progress(let bytes) = update { show(bytes) } }
    /// ```
    public var updates: CallUpdates<Output> { audience.feed.subscribe(told: audience.told) }

    /// The stored response of a call by ``CachePolicy/Mode/cacheThenNetwork``, if there is one, and then the one that was
    /// loaded; of any other call its response. One who comes late gets both. Ending the iteration does not end the call.
    ///
    /// ```swift
    /// for try await cart in client.start(GetCart(), options: .cache(.cacheThenNetwork)).responses { show(cart.value) }
    /// ```
    public var responses: CachedResponses<Output> {
        let (stream, continuation) = CachedResponses<Output>.make(for: audience.told)
        let relay = relay(to: continuation, \.arrival)
        continuation.onTermination = { _ in relay.cancel() }
        return stream
    }

    fileprivate func relay<Element: Sendable>(
        to continuation: CallStream<Element>.Base.Continuation,
        _ element: @escaping @Sendable (CallUpdate<Output>) -> Element?
    ) -> Task<Void, Never> {
        let updates = updates
        return Task {
            do throws(APIError) {
                for try await update in updates {
                    if let element = element(update) { continuation.yield(.init(element, isLast: update.isLast)) }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }
}

extension CallUpdate {
    /// Whether it is the end of a call that has succeeded.
    var isLast: Bool {
        if case .response = self { true } else { false }
    }

    /// A response that came, stored or loaded.
    var arrival: APIResponse<Output>? {
        switch self {
        case .cached(let response), .response(let response): response
        default: nil
        }
    }
}
