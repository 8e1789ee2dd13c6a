/// Makes of an error of a call the one that is told: with the attempts of the call, and with what the app makes of it.
struct ToldErrors: Sendable {
    let context: CallContext
    /// The service's before the client's: the first that has something to say is heard.
    let mappers: [ErrorMapper]

    /// - Parameter ending: why the call was ended early, which is then what it failed of.
    func completed(_ error: APIError, _ ending: CallContext.Ending?) -> APIError {
        var error = error
        // Kept beside it: an answer that was no success before the call was ended is none after that either.
        if let ending { (error.kind, error.judgement) = (ending.kind, error.judgement) }
        error.attempts = context.attempts
        error.modelFormat = context.settings.modelFormat
        error.presentation = nil
        error.presentation = mappers.lazy.compactMap { $0.presentation(of: error) }.first
        return error
    }

    /// The error of a call that was ended while its result waited to be delivered.
    ///
    /// - Parameter error: what it had failed of; `nil` for a success.
    func undelivered(_ error: APIError?, _ ending: CallContext.Ending) -> APIError {
        var error = error ?? APIError(ending.kind, stage: .delivery)
        error.stage = .delivery
        return completed(error, ending)
    }
}
