/// What was decided about the credential of a call, and why.
@nonexhaustive
public enum CredentialReason: Hashable, Sendable {
    /// It is due or was refused, and this call asks for a new one.
    case renewing
    /// Another call has asked already, and this one waits for the same answer.
    case joined
    /// The wait is over, and there is a new one.
    case renewed
    /// What was refused is an older one: a newer one is at hand, and nothing is asked for.
    case alreadyRenewed
    /// There is no credential to go with.
    case failed(AuthenticationFailure)
}
