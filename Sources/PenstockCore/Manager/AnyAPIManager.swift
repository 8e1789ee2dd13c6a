/// A manager whatever its API: what a delegate of several managers is handed. Tell them apart by `===`.
@MainActor
public protocol AnyAPIManager: AnyObject {
    /// Whether a call of this manager is under way.
    var isLoading: Bool { get }
    /// The raw payload of the last response.
    var payload: Payload? { get }
    /// The last failure, `nil` after a success.
    var error: APIError? { get }
    /// Starts a call with the parameters of the moment. Several may be under way at once.
    ///
    /// - Returns: its number, or `nil` when a hook vetoed or there was nothing to load.
    @discardableResult func load() -> CallID?
    /// Ends this manager's calls and no others. The delegate hears of each.
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

/// An object that hears of a manager's results.
@MainActor
public protocol APIManagerDelegate: AnyObject {
    /// A response came in full: the manager's ``AnyAPIManager/payload`` is the new one, and its ``AnyAPIManager/error``
    /// is `nil`.
    func managerDidSucceed(_ manager: any AnyAPIManager)
    /// A call failed, was cancelled, or could not be made. The manager keeps the payload of the last success.
    func managerDidFail(_ manager: any AnyAPIManager, _ error: APIError)
    /// A stored response has come before the one that is loaded (``CachePolicy/Mode/cacheThenNetwork``). Nothing is done by
    /// default.
    func managerDidLoadCached(_ manager: any AnyAPIManager)
}

extension APIManagerDelegate {
    public func managerDidLoadCached(_ manager: any AnyAPIManager) {}
}

/// An object that supplies the parameters of an API when it loads.
@MainActor
public protocol APIParameterSource<API>: AnyObject {
    /// The API whose parameters it knows.
    associatedtype API: Endpoint
    /// Makes the endpoint with the parameters of the moment. What it throws reaches the delegate as a failure of the
    /// load.
    ///
    /// - Returns: `nil` when there is nothing to load.
    func endpoint() throws -> API?
}

/// Hooks around one manager, from outside it; they run after the manager's own. `will` hooks may veto; `did` hooks
/// always run.
@MainActor
public protocol APIManagerInterceptor: AnyObject {
    /// Called before a call starts; `false` vetoes it. Not asked where the manager's own hook has vetoed it already.
    func manager(_ manager: any AnyAPIManager, willLoad endpoint: any Endpoint) -> Bool
    /// Called after a call was started, or vetoed: then `id` is `nil`.
    func manager(_ manager: any AnyAPIManager, didLoad endpoint: any Endpoint, as id: CallID?)
    /// Called before a result goes to the delegate; `false` keeps it from there. `error` is `nil` for a success. Not asked
    /// where the manager's own hook has kept it already.
    func manager(_ manager: any AnyAPIManager, willDeliver error: APIError?) -> Bool
    /// Called after a result went to the delegate, or was kept from it. `error` is `nil` for a success.
    func manager(_ manager: any AnyAPIManager, didDeliver error: APIError?)
}

extension APIManagerInterceptor {
    /// Lets every call start.
    public func manager(_ manager: any AnyAPIManager, willLoad endpoint: any Endpoint) -> Bool { true }
    /// Does nothing.
    public func manager(_ manager: any AnyAPIManager, didLoad endpoint: any Endpoint, as id: CallID?) {}
    /// Lets every result go to the delegate.
    public func manager(_ manager: any AnyAPIManager, willDeliver error: APIError?) -> Bool { true }
    /// Does nothing.
    public func manager(_ manager: any AnyAPIManager, didDeliver error: APIError?) {}
}

/// A manager that delivers: to its own hooks, to those from outside, and to its delegate where neither keeps it.
@MainActor
protocol DeliveringManager: AnyAPIManager {
    /// What its own hooks are handed of a success.
    associatedtype Delivered
    var delegate: (any APIManagerDelegate)? { get }
    var interceptor: (any APIManagerInterceptor)? { get }
    func willDeliver(_ result: Result<Delivered, APIError>) -> Bool
    func didDeliver(_ result: Result<Delivered, APIError>)
}

extension DeliveringManager {
    /// Delivers what the manager has kept already.
    ///
    /// - Parameter isStored: whether it has come before the response that is loaded.
    func deliver(_ result: Result<Delivered, APIError>, isStored: Bool = false) {
        let failure: APIError? = if case .failure(let error) = result { error } else { nil }
        let isAllowed = willDeliver(result) && interceptor?.manager(self, willDeliver: failure) ?? true
        if isAllowed { tellDelegate(failure, isStored) }
        didDeliver(result)
        interceptor?.manager(self, didDeliver: failure)
    }

    private func tellDelegate(_ failure: APIError?, _ isStored: Bool) {
        switch failure {
        case let failure?: delegate?.managerDidFail(self, failure)
        case nil where isStored: delegate?.managerDidLoadCached(self)
        case nil: delegate?.managerDidSucceed(self)
        }
    }
}
