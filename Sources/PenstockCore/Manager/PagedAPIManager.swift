/// The long-lived object of one list, for teams who work with objects: it loads page after page, keeps them, and tells its
/// delegate of each.
///
/// ```swift
/// final class ProductPage: APIManagerDelegate {
///     private lazy var products = PagedAPIManager(client: client, .numbered(isLast: \.products.isEmpty) { ProductList(page: $0) })
///     func reachedEnd() { products.loadNextPage() }
///     func pulledDown() { products.reset(); products.loadNextPage() }
///     func managerDidSucceed(_ manager: any AnyAPIManager) { show(products.pages) }
/// }
/// ```
///
/// Hooks run inner before outer, as those of ``APIManager`` do. The call under way ends when the object goes. For another user, or in
/// another environment, than that of the first page every load fails with ``APIError/Kind/cancelled`` until ``reset()``.
@MainActor
open class PagedAPIManager<API: Endpoint>: AnyAPIManager {
    /// The delegate, which is called on the main actor and not kept alive.
    public weak var delegate: (any APIManagerDelegate)?
    /// The outer hooks; not kept alive.
    public weak var interceptor: (any APIManagerInterceptor)?
    /// The pages that came since the beginning or the last ``reset()``, in their order.
    public private(set) var pages: [API.Output] = []
    /// The response of the last page that came.
    public private(set) var response: APIResponse<API.Output>?
    /// What the last load failed of; `nil` once a page has come.
    public private(set) var error: APIError?

    private let client: APIClient
    private let source: PageSource<API>
    private let options: CallOptions
    private let scope = CallScope()
    private var machine: PagingMachine
    /// The party that the first page was asked for, whose the list is.
    private var party: CallParty?
    private var call: Call<API.Output>?
    private var urls: Set<HTTPURL> = []
    /// The service of the last page that was asked for.
    private var service: ServiceID?

    /// - Parameters:
    ///   - source: how the service counts its pages.
    ///   - options: what the calls for pages want different.
    public init(client: APIClient, _ source: PageSource<API>, options: CallOptions = .init()) {
        self.client = client
        self.source = source
        self.options = options
        machine = PagingMachine(start: source.start, limits: source.limits)
    }

    /// Whether a page is being loaded.
    public var isLoading: Bool { machine.current != nil }

    /// Whether the last page has not come yet.
    public var hasMore: Bool { machine.hasMore }

    /// The raw payload of the last page that came.
    public var payload: Payload? { response?.payload }

    /// Starts a call for the page after the last one that came. One that is under way is not started again.
    ///
    /// - Returns: the number of the call under way; `nil` when there are no more pages, when a hook vetoed, or when the
    ///   service cannot be followed any further, of which the delegate is told.
    @discardableResult
    public func loadNextPage() -> CallID? {
        switch machine.next() {
        case .begin(let load): return begin(load)
        case .join: return call?.id
        case .end: return nil
        case .refuse(let error):
            tell(.failure(client.presented(APIError(error), of: service)))
            return nil
        }
    }

    /// The same as ``loadNextPage()``.
    @discardableResult
    public func load() -> CallID? { loadNextPage() }

    /// Ends the call under way. The delegate hears of it, and the next load is for the same page.
    public func cancel() {
        call?.cancel()
    }

    /// Forgets the pages and begins with the first one again. A call under way is ended, and nobody hears of it.
    public func reset() {
        machine.reset()
        call?.cancel()
        call = nil
        (pages, response, error) = ([], nil, nil)
    }

    /// Removes what is stored of the first page and of all pages that came, for the user of the moment.
    ///
    /// - Returns: whether that is so for good.
    /// - Throws: what stands in the way of making the request for the first page.
    @discardableResult
    public func clearCache() async throws -> Bool {
        let first = source.request(source.start)
        var isGone = try await client.clearCache(of: first.endpoint, options: first.options(over: options))
        let owner = options.environment.map { environment in
            CacheSelection.Owner.partition(
                CachePartition(environment: environment.name, identity: client.configuration.identity()))
        }
        for url in urls { isGone = await client.clearCache(.url(url, in: owner ?? .current)) && isGone }
        return isGone
    }

    // MARK: Inner hooks

    /// Called before a call for a page starts; `false` vetoes it.
    open func willLoad(_ position: PagePosition) -> Bool { true }

    /// Called after a call was started, or vetoed (then `nil`).
    open func didLoad(_ position: PagePosition, as id: CallID?) {}

    /// Called before a page or a failure goes to the delegate; `false` keeps it from there.
    open func willDeliver(_ result: Result<API.Output, APIError>) -> Bool { true }

    /// Called after a page or a failure went to the delegate, or was kept from it.
    open func didDeliver(_ result: Result<API.Output, APIError>) {}

    // MARK: One load

    private func begin(_ load: PagingMachine.Load) -> CallID? {
        let page = source.request(load.position)
        let isAllowed = willLoad(load.position) && interceptor?.manager(self, willLoad: page.endpoint) ?? true
        let id = isAllowed ? start(load, page) : nil
        if !isAllowed { machine.fail(load) }
        didLoad(load.position, as: id)
        interceptor?.manager(self, didLoad: page.endpoint, as: id)
        return id
    }

    private func start(_ load: PagingMachine.Load, _ page: PageRequest<API>) -> CallID {
        let party = owner()
        let call = client.start(page.endpoint, .endpoint, page.options(over: options), in: scope) { audience in
            party.claim(audience.context)
            audience.add(self) { manager, news in
                if let result = news.result { manager.end(load, result) }
            }
        }
        self.call = call
        service = page.endpoint.service
        return call.id
    }

    /// The party that the list is for: with its first page it is the present user's.
    private func owner() -> CallParty {
        if machine.pageCount > 0, let party { return party }
        let new = CallParty(of: client)
        party = new
        return new
    }

    private func end(_ load: PagingMachine.Load, _ result: Result<APIResponse<API.Output>, APIError>) {
        guard machine.current == load else { return }
        call = nil
        switch result {
        case .failure(let error): fail(load, error)
        case .success(let response): take(load, response)
        }
    }

    private func take(_ load: PagingMachine.Load, _ response: APIResponse<API.Output>) {
        do throws(PagingError) {
            let following = try source.following(response, load.position)
            guard machine.finish(load, from: response.request.url, following: following) else { return }
            pages.append(response.value)
            urls.insert(response.request.url)
            self.response = response
            tell(.success(response.value))
        } catch {
            fail(load, client.presented(APIError(error, of: response), of: service))
        }
    }

    private func fail(_ load: PagingMachine.Load, _ error: APIError) {
        machine.fail(load)
        tell(.failure(error))
    }

    private func tell(_ result: Result<API.Output, APIError>) {
        if case .failure(let error) = result { self.error = error } else { error = nil }
        deliver(result)
    }
}

extension PagedAPIManager: DeliveringManager {}
