/// A manager whatever its API: what a delegate of several managers is handed. Tell them apart by `===`.
@MainActor
public protocol AnyAPIManager: AnyObject {
    var isLoading: Bool { get }
    /// The raw payload of the last response.
    var payload: Payload? { get }
    /// The last failure, `nil` after a success.
    var error: APIError? { get }
    @discardableResult func load() -> CallID?
    func cancel()
    /// Removes what is stored of the API with the parameters of the moment.
    @discardableResult func clearCache() async throws -> Bool
}

extension AnyAPIManager {
    /// What a reformer makes of the kept payload, off the main actor, without another request. Any number may be asked
    /// for from one payload.
    ///
    /// - Returns: `nil` while nothing was loaded.
    public func reformed<R: Reformer>(with reformer: R) async throws(APIError) -> R.Output? {
        try await payload?.reformed(with: reformer)
    }
}

/// Who hears of a manager's results.
@MainActor
public protocol APIManagerDelegate: AnyObject {
    func managerDidSucceed(_ manager: any AnyAPIManager)
    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError)
}

/// Who knows the parameters of an API when it loads.
@MainActor
public protocol APIParameterSource<API>: AnyObject {
    associatedtype API: Endpoint
    /// - Returns: `nil` when there is nothing to load.
    func endpoint() throws -> API?
}

/// Hooks around one manager, from outside it; they run after the manager's own. `will` hooks may veto; `did` hooks
/// always run.
@MainActor
public protocol APIManagerInterceptor: AnyObject {
    func manager(_ manager: any AnyAPIManager, willLoad endpoint: any Endpoint) -> Bool
    /// `id` is `nil` when the load was vetoed.
    func manager(_ manager: any AnyAPIManager, didLoad endpoint: any Endpoint, as id: CallID?)
    /// `error` is `nil` for a success.
    func manager(_ manager: any AnyAPIManager, willDeliver error: APIError?) -> Bool
    func manager(_ manager: any AnyAPIManager, didDeliver error: APIError?)
}

extension APIManagerInterceptor {
    public func manager(_ manager: any AnyAPIManager, willLoad endpoint: any Endpoint) -> Bool { true }
    public func manager(_ manager: any AnyAPIManager, didLoad endpoint: any Endpoint, as id: CallID?) {}
    public func manager(_ manager: any AnyAPIManager, willDeliver error: APIError?) -> Bool { true }
    public func manager(_ manager: any AnyAPIManager, didDeliver error: APIError?) {}
}
