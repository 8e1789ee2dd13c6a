/// The user for whom, and the environment in which, several calls were begun as one. What is begun as one user is never gone on with as
/// another, nor in another environment.
struct CallParty: Hashable, Sendable {
    let identity: ExactText
    let environment: ServerEnvironment

    /// The party of the calls that a client begins now.
    init(of client: APIClient) {
        identity = ExactText(client.configuration.identity())
        environment = client.environment
    }

    /// Ends a call that has begun, and not been sent, for another one. It is asked of the call itself, since user and environment
    /// may change at any moment before. One whose options name an environment is there in any case.
    func claim(_ call: CallContext) {
        let isOurs = ExactText(call.isolation.identity) == identity
        let isHere = call.environment == call.settings.environment ?? environment
        if !(isOurs && isHere) { call.end(.requested) }
    }
}
