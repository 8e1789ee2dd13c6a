#if os(Linux)
    import PenstockCore

    /// What must hold of every exchange, whatever went wrong with it.
    enum SoakChecks {
        /// What is put up with of a platform that misses a response now and then: once in a thousand exchanges.
        static let lateness = "a time-out where nothing stalled"

        /// - Returns: the rule that is broken; `nil` when all is well.
        static func breach(of plan: SoakPlan, _ outcome: SoakOutcome, seen: SoakLedger.Entry) -> String? {
            if seen.isWrong { return "the server got other content than was sent" }
            if outcome.leftOpen > 0 { return "its exchange is not over" }
            if let breach = breachOfContent(plan, outcome) { return breach }
            if let breach = breachOfEnd(plan, outcome) { return breach }
            return plan.wire.isReal ? breachOfRecord(plan, outcome, seen) : nil
        }

        private static func breachOfContent(_ plan: SoakPlan, _ outcome: SoakOutcome) -> String? {
            if !plan.content.starts(with: outcome.received) { return "the stream gave other bytes than were sent" }
            guard case .success(let content) = outcome.result, !outcome.isAbandoned else { return nil }
            return content == plan.content ? nil : "a success brought \(content.count) bytes that are not the whole"
        }

        private static func breachOfEnd(_ plan: SoakPlan, _ outcome: SoakOutcome) -> String? {
            guard let error = outcome.error else {
                if plan.mustFail { return "it succeeded" }
                return outcome.isLate ? "something was delivered after the cancellation" : nil
            }
            switch error.kind {
            case .cancelled: return outcome.isCancelled || plan.isHeld ? nil : "it was cancelled by nobody"
            case _ where outcome.isLate: return "a call that was cancelled failed otherwise: \(error.kind)"
            case _ where plan.mustSucceed: return "it failed: \(error.kind), \(error.debugMessage)"
            case .timeout: return plan.mayTimeOut ? nil : lateness
            case .transport(.connectionLost), .transport(.protocolViolation), .tls(.handshake), .unreachable: return nil
            default: return "an unlikely failure: \(error.kind), \(error.debugMessage)"
            }
        }

        /// What the failure says of the request against what the server saw of it.
        private static func breachOfRecord(
            _ plan: SoakPlan, _ outcome: SoakOutcome, _ seen: SoakLedger.Entry
        ) -> String? {
            if !plan.method.isIdempotent, plan.wire.isCurl, seen.requests > 1 {
                return "it was done \(seen.requests) times"
            }
            guard let error = outcome.error else {
                return seen.requests > 0 ? nil : "it succeeded though the server has not read it"
            }
            switch error.sendState {
            case .unsent where seen.heads > 0: return "the server saw what was not sent"
            case .unprocessed where seen.requests > 0: return "the server has done what was not processed"
            case .answered where seen.heads == 0 && plan.trouble != .handshake: return "an answer to what was not seen"
            default: return nil
            }
        }
    }

    extension SoakPlan {
        /// Whether a script holds it until it is cancelled.
        var isHeld: Bool { wire == .scripted && trouble.fault?.effect == .stall }
    }
#endif
