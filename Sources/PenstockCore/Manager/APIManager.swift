import Foundation

/// The long-lived object of one API, for teams who work with objects: it asks its parameter source, loads, keeps the
/// raw payload for reformers, and tells its delegate.
///
/// ```swift
/// final class ProductPage: APIManagerDelegate {
///     private lazy var products = APIManager(client: client) { [unowned self] in ProductList(page: page) }
///     func appear() { products.delegate = self; products.load() }
///     func managerDidSucceed(_ manager: any AnyAPIManager) { … }
/// }
/// ```
///
/// Hooks run inner before outer: first this object's own open methods, then ``interceptor``. The calls end when the
/// object goes, unless it was made to let them finish.
@MainActor
open class APIManager<API: Endpoint>: AnyAPIManager {
    /// What happens to a call under way when its manager goes.
    public enum Lifetime: Sendable {
        /// It ends, and nothing is delivered.
        case endsWithManager
        /// It goes on to its end; nothing is delivered.
        case finishes
    }

    /// The delegate, which is called on the main actor and not kept alive.
    public weak var delegate: (any APIManagerDelegate)?
    /// The outer hooks; not kept alive.
    public weak var interceptor: (any APIManagerInterceptor)?
    /// The last response that came in full.
    public private(set) var response: APIResponse<API.Output>?
    public private(set) var error: APIError?

    private let client: APIClient
    private let source: @MainActor () throws -> API?
    private let scope: CallScope?
    private let options: CallOptions
    private var loading: [CallID: Call<API.Output>] = [:]

    /// A manager of one API, which sends nothing before ``load()``.
    ///
    /// - Parameters:
    ///   - inFlight: what becomes of a load while another one of this object is under way; the delegate is told of what is
    ///     dropped. `nil`, the default, leaves it to the API's own options.
    ///   - source: makes the endpoint from the parameters of the moment; `nil` when there is nothing to load.
    public init(
        client: APIClient, lifetime: Lifetime = .endsWithManager, inFlight: InFlightPolicy? = nil,
        source: @escaping @MainActor () throws -> API?
    ) {
        options = inFlight.map { .inFlight($0.per(.group("manager \(UUID().uuidString)"))) } ?? CallOptions()
        self.client = client
        self.source = source
        scope = lifetime == .endsWithManager ? CallScope() : nil
    }

    /// Asks an object for the endpoint; the object is not kept alive.
    public convenience init<Source: APIParameterSource>(
        client: APIClient, lifetime: Lifetime = .endsWithManager, inFlight: InFlightPolicy? = nil, source: Source
    ) where Source.API == API {
        self.init(client: client, lifetime: lifetime, inFlight: inFlight) { [weak source] in try source?.endpoint() }
    }

    /// Whether a call of this manager is under way. It is not any more when a hook or the delegate hears of the last
    /// result.
    public var isLoading: Bool { !loading.isEmpty }

    /// The raw payload of the last response.
    public var payload: Payload? { response?.payload }

    /// Starts a call with the parameters of the moment.
    ///
    /// - Returns: its number, or `nil` when a hook vetoed or there was nothing to load.
    @discardableResult
    public func load() -> CallID? {
        do {
            guard let endpoint = try source() else { return nil }
            return load(endpoint)
        } catch {
            end(nil, with: .failure(client.presented(.wrapping(error), of: nil)))
            return nil
        }
    }

    /// Ends this manager's calls and no others. The delegate hears of each.
    public func cancel() {
        for call in loading.values { call.cancel() }
    }

    /// Removes what is stored of the API with the parameters of the moment, for the user of the moment.
    ///
    /// - Returns: whether that is so for good; `true` when there is nothing to load either.
    /// - Throws: what the source throws, or what stands in the way of making the request.
    @discardableResult
    public func clearCache() async throws -> Bool {
        guard let endpoint = try source() else { return true }
        return try await client.clearCache(of: endpoint)
    }

    // MARK: Inner hooks

    /// Called before a call starts; `false` vetoes it.
    open func willLoad(_ endpoint: API) -> Bool { true }

    /// Called after a call was started, or vetoed (then `nil`).
    open func didLoad(_ endpoint: API, as id: CallID?) {}

    /// Called before a result goes to the delegate; `false` keeps it from there.
    open func willDeliver(_ result: Result<APIResponse<API.Output>, APIError>) -> Bool { true }

    /// Called after a result went to the delegate, or was kept from it.
    open func didDeliver(_ result: Result<APIResponse<API.Output>, APIError>) {}

    // MARK: One load

    private func load(_ endpoint: API) -> CallID? {
        let isAllowed = willLoad(endpoint) && interceptor?.manager(self, willLoad: endpoint) ?? true
        let id = isAllowed ? start(endpoint) : nil
        didLoad(endpoint, as: id)
        interceptor?.manager(self, didLoad: endpoint, as: id)
        return id
    }

    private func start(_ endpoint: API) -> CallID {
        let call = client.start(endpoint, options, in: scope, for: self) { manager, id, news in
            switch news {
            case .cached(let response): manager.show(response)
            case .result(let result): manager.end(id, with: result)
            }
        }
        loading[call.id] = call
        return call.id
    }

    private func end(_ id: CallID?, with result: Result<APIResponse<API.Output>, APIError>) {
        if let id { loading[id] = nil }
        switch result {
        case .success(let response): (self.response, error) = (response, nil)
        case .failure(let error): self.error = error
        }
        deliver(result)
    }

    /// A stored response has come before the one that is loaded.
    private func show(_ response: APIResponse<API.Output>) {
        (self.response, error) = (response, nil)
        deliver(.success(response), isStored: true)
    }
}

extension APIManager: DeliveringManager {}
