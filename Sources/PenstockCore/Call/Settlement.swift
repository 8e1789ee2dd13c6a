/// What a stage has left in an exchange, to learn what became of it once the call has judged the response.
///
/// Much is known only after the response has been decoded: that what is stored is of no use, that a code in the envelope
/// means an expired token. So a stage notes on the way up what is to be done in either case, and does it then.
protocol Settlement: AnyObject, Sendable {
    /// Whether each of the calls that share an exchange is to tell it what became of the response, and not just one.
    var isForEach: Bool { get }

    /// The response has passed all that the call asks of it. The call waits for this before it gives the response out.
    ///
    /// - Parameter request: as the call made it, above all stages.
    func accepted(by call: any JudgingCall, of request: HTTPRequest) async

    /// The same, asked first: where nothing has to be waited for, all is done on the spot.
    ///
    /// - Returns: `false` where something has to be, and ``accepted(by:of:)`` is to do all of it.
    func acceptedAtOnce(by call: any JudgingCall, of request: HTTPRequest) -> Bool

    /// The response has not passed.
    ///
    /// - Returns: a replay, where the stage knows how to do better; `nil` to let the call fail.
    func rejected(_ error: APIError, by call: any JudgingCall) async -> Replay?
}

extension Settlement {
    var isForEach: Bool { false }

    func acceptedAtOnce(by call: any JudgingCall, of request: HTTPRequest) -> Bool { false }
}

/// A call as a settlement sees it, whatever its endpoint.
protocol JudgingCall: AnyObject, Sendable {
    var context: CallContext { get }
    /// What the stored response is to be found by when it is cleared.
    var cacheTags: [String] { get }
    /// What the endpoint says is out of date once it has succeeded.
    var invalidates: [CacheSelection] { get }

    /// Sends the request once more for the same user in the same environment, in a call of its own that nobody waits for.
    /// Nothing is sent when this call has been cancelled.
    ///
    /// - Parameter didEnd: called when that call is over, or was never begun.
    func repeatInBackground(_ request: HTTPRequest, didEnd: @escaping @Sendable () -> Void)
}

/// One more pass of a call: from the making of the request through every stage.
struct Replay: Sendable {
    /// The stage that asks for it.
    let reason: StageName
    /// Why it cannot be made after all: what the call fails of, in place of the response's own error.
    var obstacle: APIError?
}

/// A response that did not pass.
struct Rejection: Error {
    let error: APIError
    let replay: Replay?
}

/// The replays of one call: each reason has one.
struct Replays {
    private var reasons: [StageName] = []

    /// Takes the replay that was offered in place of an error.
    ///
    /// - Throws: the error, where there is none, or it was taken before.
    mutating func take(_ rejection: Rejection) throws(APIError) -> Replay {
        guard let replay = rejection.replay, !reasons.contains(replay.reason) else { throw rejection.error }
        reasons.append(replay.reason)
        return replay
    }
}
