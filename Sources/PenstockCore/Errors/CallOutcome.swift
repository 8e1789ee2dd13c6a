/// How a call, a stage or an attempt ended.
@nonexhaustive
public enum CallOutcome: Hashable, Sendable {
    /// It did what it was there for. Of an attempt: a response came, whatever its status.
    case success
    /// It failed of this.
    case failure(APIError.Kind)
    /// It was ended early.
    case cancelled
}

extension CallOutcome {
    init(_ error: APIError) {
        self = error.kind == .cancelled ? .cancelled : .failure(error.kind)
    }

    init(_ error: any Error) {
        switch error {
        case let error as APIError: self.init(error)
        case is CancellationError: self = .cancelled
        default: self = .failure(.blocked(reason: "an interceptor threw \(type(of: error))"))
        }
    }
}
