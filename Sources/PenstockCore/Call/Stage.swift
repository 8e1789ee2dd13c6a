/// One step of the request path that Penstock brings itself; the app's own steps are ``Interceptor``s.
///
/// A stage is made once for many calls and keeps nothing of them: what outlives a call is in ``SharedState``. It hands the
/// request to `next` any number of times, waits through its call (``CallContext/wait(for:)``, ``CallContext/sleep(for:)``)
/// so that it ends with it, and leaves a ``Settlement`` in the exchange where it wants to know what became of it.
protocol Stage: Sendable {
    /// The name of the stage in events and errors, which is also that of its file.
    static var name: StageName { get }

    func run(_ request: HTTPRequest, _ call: CallContext, _ next: Next) async throws(APIError) -> Exchange
}
