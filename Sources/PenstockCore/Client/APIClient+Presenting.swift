extension APIClient {
    /// The mappers of a service's errors: the first that has something to say is heard.
    func mappers(of service: Service?) -> [ErrorMapper] {
        [service?.errorMapper, configuration.errorMapper].compactMap(\.self)
    }

    /// An error that is none of a call, as the app wants it to be seen. One that was mapped already stays as it is.
    ///
    /// - Parameter service: whose mapper is asked before the client's; `nil` where it is not known.
    func presented(_ error: APIError, of service: ServiceID?) -> APIError {
        guard error.presentation == nil else { return error }
        let mappers = mappers(of: service.flatMap { try? configuration.services.service($0) })
        return mappers.reduce(error) { $0.presentation == nil ? $0.presented(by: $1) : $0 }
    }

    /// What `body` returns, or the error that it throws as the app wants it to be seen.
    func presenting<Value>(
        of service: ServiceID, _ body: () async throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        do throws(APIError) {
            return try await body()
        } catch {
            throw presented(error, of: service)
        }
    }
}
