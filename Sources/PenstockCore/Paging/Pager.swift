/// Loads the pages of a list one after the other.
///
/// ```swift
/// let pager = Pager(client, .numbered(isLast: \.products.isEmpty) { ProductList(page: $0) })
/// while let page = try await pager.loadNextPage() { show(page.products) }
/// ```
///
/// However many ask at once, one request is sent, and all get its page. After a failure the same page is asked for again.
/// ``reset()`` begins anew; what was asked for before never arrives after it. A list is gone on with for the user and in the
/// environment of its first page alone.
public final class Pager<API: Endpoint>: Sendable {
    private typealias Flight = SharedTask<Result<API.Output, APIError>>

    private struct State: Sendable {
        var machine: PagingMachine
        var flight: Flight?
        /// The party that the first page was asked for, whose the list is.
        var party: CallParty?
        /// The service of the last page that was asked for.
        var service: ServiceID?

        /// - Parameter present: who asks.
        mutating func step(for present: CallParty) -> Step {
            if machine.hasNothing { party = present }
            guard let party, party.identity == present.identity else { return .isAnothers }
            switch machine.next() {
            case .end: return .end
            case .refuse(let error): return .refuse(error)
            case .begin(let load): return begin(load, for: party)
            case .join(let load):
                if let flight, flight.join() { return .flight(flight, begins: nil) }
                // Everybody has left it, and it has not come to its end yet.
                machine.fail(load)
                return step(for: present)
            }
        }

        private mutating func begin(_ load: PagingMachine.Load, for party: CallParty) -> Step {
            let new = Flight()
            _ = new.join()
            flight = new
            return .flight(new, begins: (load, party))
        }
    }

    private enum Step: Sendable {
        case flight(Flight, begins: (PagingMachine.Load, CallParty)?)
        case isAnothers
        case end
        case refuse(PagingError)
    }

    private let client: APIClient
    private let source: PageSource<API>
    private let options: CallOptions
    private weak let scope: CallScope?
    private let isOwned: Bool
    private let state: Locked<State>

    /// - Parameters:
    ///   - source: how the service counts its pages.
    ///   - options: what the calls for pages want different.
    ///   - scope: ends them when it goes; it is not kept alive.
    public init(
        _ client: APIClient, _ source: PageSource<API>, options: CallOptions = .init(), in scope: CallScope? = nil
    ) {
        self.client = client
        self.source = source
        self.options = options
        self.scope = scope
        isOwned = scope != nil
        state = Locked(State(machine: PagingMachine(start: source.start, limits: source.limits)))
    }

    /// Whether the last page has not come yet.
    public var hasMore: Bool { state.withLock { $0.machine.hasMore } }

    /// Whether a page is being loaded.
    public var isLoading: Bool { state.withLock { $0.machine.current != nil } }

    /// How many pages have come since the beginning or the last ``reset()``.
    public var pageCount: Int { state.withLock { $0.machine.pageCount } }

    /// How many wait for the load under way.
    package var waiterCount: Int { state.withLock { $0.flight?.waiterCount ?? 0 } }

    /// Loads the page after the last one that came; joins the load that is under way.
    ///
    /// A caller whose task is cancelled leaves; the load ends when the last one has left.
    ///
    /// - Returns: `nil` when there are no more pages.
    /// - Throws: what the call failed of; ``APIError/Kind/validation(rule:)`` with a ``PagingError`` underneath when the service
    ///   cannot be followed any further; ``APIError/Kind/cancelled`` after ``reset()``, and when the user or the environment is
    ///   another one than that of the first page, until ``reset()``.
    @discardableResult
    public func loadNextPage() async throws(APIError) -> API.Output? {
        guard let flight = try nextFlight() else { return nil }
        guard let result = await flight.value() else { throw presented(.notBegun) }
        return try result.get()
    }

    /// Begins with the first page again. A load under way is ended: whoever waits for it gets ``APIError/Kind/cancelled``,
    /// even if its page has just come.
    public func reset() {
        let flight = state.withLock { state in
            state.machine.reset()
            defer { state.flight = nil }
            return state.flight
        }
        flight?.cancel()
    }

    private func nextFlight() throws(APIError) -> Flight? {
        let present = CallParty(of: client)
        switch state.withLock({ $0.step(for: present) }) {
        case .end: return nil
        case .isAnothers: throw presented(.notBegun)
        case .refuse(let error): throw presented(APIError(error))
        case .flight(let flight, let new):
            if let (load, party) = new { flight.start { await self.run(load, for: party) } }
            return flight
        }
    }

    private func run(_ load: PagingMachine.Load, for party: CallParty) async -> Result<API.Output, APIError> {
        guard let call = start(load, for: party) else { return failed(load, presented(.notBegun)) }
        let result = await call.result
        switch result {
        case .failure(let error): return failed(load, error)
        case .success(let response): return arrived(load, response)
        }
    }

    /// - Returns: `nil` when the scope has gone.
    private func start(_ load: PagingMachine.Load, for party: CallParty) -> Call<API.Output>? {
        let scope = scope
        guard scope != nil || !isOwned else { return nil }
        let page = source.request(load.position)
        state.withLock { $0.service = page.endpoint.service }
        // By its handle, since a call that is awaited with its scope would keep the scope alive.
        return client.start(page.endpoint, .endpoint, page.options(over: options), in: scope) {
            party.claim($0.context)
        }
    }

    private func arrived(
        _ load: PagingMachine.Load, _ response: APIResponse<API.Output>
    ) -> Result<API.Output, APIError> {
        do throws(PagingError) {
            let following = try source.following(response, load.position)
            let counts = state.withLock { $0.machine.finish(load, from: response.request.url, following: following) }
            return counts ? .success(response.value) : .failure(presented(.notBegun))
        } catch {
            return failed(load, presented(APIError(error, of: response)))
        }
    }

    private func presented(_ error: APIError) -> APIError {
        client.presented(error, of: state.withLock { $0.service })
    }

    private func failed(_ load: PagingMachine.Load, _ error: APIError) -> Result<API.Output, APIError> {
        state.withLock { $0.machine.fail(load) }
        return .failure(error)
    }
}

extension APIError {
    /// The error of a page that came and cannot be taken.
    init(_ error: PagingError, of response: APIResponse<some Sendable>) {
        self.init(error)
        request = response.request
        self.response = response.http
        sendState = .answered
        attempts = response.attempts
    }
}

// MARK: Sequences

extension APIClient {
    /// The pages of a list, each loaded when it is asked for.
    ///
    /// ```swift
    /// for try await page in client.pages(.cursor(\.next) { ProductList(after: $0) }) { show(page) }
    /// ```
    ///
    /// Each iteration begins at the first page. Ending it ends what it waits for. It throws what ``Pager/loadNextPage()`` throws.
    public func pages<API: Endpoint>(
        _ source: PageSource<API>, options: CallOptions = .init(), in scope: CallScope? = nil
    ) -> Pages<API> {
        Pages { Pager(self, source, options: options, in: scope) }
    }

    /// The items of all pages of a list, one after the other. A page is loaded when the items before it are used up.
    ///
    /// ```swift
    /// for try await product in client.items(\.products, of: .numbered(isLast: \.isLast) { ProductList(page: $0) }) { … }
    /// ```
    public func items<API: Endpoint, Item: Sendable>(
        _ items: @escaping @Sendable (API.Output) -> [Item], of source: PageSource<API>, options: CallOptions = .init(),
        in scope: CallScope? = nil
    ) -> PagedItems<API, Item> {
        PagedItems(pages: pages(source, options: options, in: scope), items: items)
    }
}

/// The pages of a list, loaded as they are asked for.
public struct Pages<API: Endpoint>: AsyncSequence, Sendable {
    public typealias Element = API.Output

    let makePager: @Sendable () -> Pager<API>

    /// Begins at the first page; nothing is sent before a page is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(pager: makePager()) }

    /// One way through the list.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pager: Pager<API>

        /// - Throws: what ``Pager/loadNextPage()`` throws. Asking again asks for the same page again.
        public mutating func next() async throws(APIError) -> API.Output? {
            try await pager.loadNextPage()
        }
    }
}

/// The items of all pages of a list, one after the other.
public struct PagedItems<API: Endpoint, Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Item

    let pages: Pages<API>
    let items: @Sendable (API.Output) -> [Item]

    /// Begins at the first item; nothing is sent before an item is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), items: items) }

    /// One way through the list.
    public struct Iterator: AsyncIteratorProtocol {
        private var pages: Pages<API>.Iterator
        private let items: @Sendable (API.Output) -> [Item]
        private var rest: ArraySlice<Item> = []

        fileprivate init(pages: Pages<API>.Iterator, items: @escaping @Sendable (API.Output) -> [Item]) {
            self.pages = pages
            self.items = items
        }

        /// - Throws: what ``Pager/loadNextPage()`` throws. Asking again asks for the same page again.
        public mutating func next() async throws(APIError) -> Item? {
            while true {
                if let item = rest.popFirst() { return item }
                guard let page = try await pages.next() else { return nil }
                rest = items(page)[...]
            }
        }
    }
}
