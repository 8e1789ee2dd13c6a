/// A request that was made long ago, and for whom.
struct FrozenWrite: Sendable {
    let request: HTTPRequest
    /// Whether a call with this key is for the same user in the same environment.
    let isFor: @Sendable (IsolationKey) -> Bool
}

extension APIClient {
    /// A request that was kept, with what every request carries.
    ///
    /// - Throws: ``APIError/Kind/cancelled`` where the call is made for another user or environment than the write.
    func thawed<E: Endpoint>(_ write: FrozenWrite, for call: ActiveCall<E>) throws(APIError) -> HTTPRequest {
        let runtime = try call.runtime.get()
        return try call.context.stage(.prepare) { () throws(APIError) in
            let isolation = call.context.isolation
            guard write.isFor(isolation) else {
                throw APIError(.cancelled, stage: .prepare, sendState: .unsent)
            }
            var fields = commonFields(accepting: call.endpoint.decoding.accepts)
            fields.merge(runtime.service.headers.read())
            call.resolved.settings.headers.apply(to: &fields)
            fields.merge(write.request.fields)
            var request = write.request
            request.fields = fields
            return request
        }
    }
}
