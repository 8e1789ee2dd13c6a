/// The leave of an attempt that is to find out whether its origin works again, which the others wait for. An attempt that is held back finds
/// out nothing: it gives the leave back, and asks for one anew when it goes on.
final class Probe: ProbingAttempt {
    private enum State: Sendable {
        case held(OriginTable.Leave)
        case givenBack
        case over
    }

    private let origin: HTTPURL.Origin
    private let stage: Retry
    private let state: Locked<State>

    private init(_ leave: OriginTable.Leave, _ origin: HTTPURL.Origin, _ stage: Retry) {
        state = Locked(.held(leave))
        self.origin = origin
        self.stage = stage
    }

    /// - Returns: `nil` for a leave like any other.
    static func of(_ leave: OriginTable.Leave, to origin: HTTPURL.Origin, _ stage: Retry) -> Probe? {
        leave.pass?.isProbe == true ? Probe(leave, origin, stage) : nil
    }

    /// Lets another attempt find out.
    func giveBack() {
        let leave = state.withLock { state -> OriginTable.Leave? in
            guard case .held(let leave) = state else { return nil }
            state = .givenBack
            return leave
        }
        guard let leave else { return }
        stage.origins.record(.failed(.unknown), of: leave, to: origin, took: .zero, drawing: stage.random.next)
    }

    /// Asks for a leave in place of one that was given back.
    ///
    /// - Returns: why there is none; `nil` where there is, or none was given back.
    func renew() -> String? {
        state.withLock { state in
            guard case .givenBack = state else { return nil }
            switch stage.origins.admit(to: origin, drawing: stage.random.next) {
            case .allowed(let leave):
                state = .held(leave)
                return nil
            case .refused(let reason): return reason
            }
        }
    }

    /// The attempt is over.
    ///
    /// - Returns: the leave, to be given back with what came of it; `nil` where it has none.
    func ended() -> OriginTable.Leave? {
        state.withLock { state in
            defer { state = .over }
            if case .held(let leave) = state { return leave }
            return nil
        }
    }
}

extension CallContext {
    /// The call is held back: what it was to find out of its server is for another one.
    func giveProbeBack() {
        state.withLock { $0.probe }?.giveBack()
    }

    /// The call goes on after it was held back.
    ///
    /// - Throws: ``APIError/Kind/unavailable(reason:)`` where its server is to be left alone by now.
    func renewProbe(for request: HTTPRequest, at stage: StageName) throws(APIError) {
        guard let reason = state.withLock({ $0.probe })?.renew() else { return }
        throw APIError(.unavailable(reason: reason), stage: stage, request: request, sendState: .unsent)
    }
}
