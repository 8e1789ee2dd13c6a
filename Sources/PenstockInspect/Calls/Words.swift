import Foundation
import PenstockCore

/// What was decided about a call, in words for people: the log, the archive and the report say the same.
package enum Words {
    /// The sentence for an event that tells of a decision; `nil` for every other event.
    package static func decision(_ event: Event) -> String? {
        switch event {
        case .redirected(let status, let from, let to): "redirected by \(status) from \(from) to \(to)"
        case .replayed(let stage, let pass): "made anew because of \(stage): pass \(pass)"
        case .cacheDecided(let reason, let status): cache(reason, status)
        case .retried(let wait, let reason, let left):
            "retried after \(duration(wait)): \(retry(reason))\(budget(left))"
        case .notRetried(let refusal): "not retried: \(refused(refusal))"
        case .hedged: "a further attempt is sent beside the slow one"
        case .circuitChanged(let origin, let state): "the circuit breaker of \(origin) \(circuit(state))"
        case .queued(let reason): "waits for leave to be sent: \(queue(reason))"
        case .admitted(let wait): "may be sent, after \(duration(wait))"
        case .inFlightDecided(let reason): inFlight(reason)
        case .credentialDecided(let reason): credential(reason)
        case .defaultUsed(let path): "\(path) took its default"
        default: nil
        }
    }

    /// What kind of decision an event tells of, in one word; `nil` for every event that tells of none. There are few.
    static func kind(_ event: Event) -> String? {
        switch event {
        case .redirected: "redirect"
        case .replayed: "replay"
        case .cacheDecided: "cache"
        case .retried, .notRetried: "retry"
        case .hedged: "hedge"
        case .circuitChanged: "circuit_breaker"
        case .queued, .admitted: "admission"
        case .inFlightDecided: "in_flight"
        case .credentialDecided: "credential"
        case .defaultUsed: "default"
        default: nil
        }
    }

    /// Why the system could not do something. Foundation says of many of its errors no more than their number, and has the
    /// system's own beneath.
    package static func reason(_ error: any Error) -> String {
        let cause = error as NSError
        let system = [cause, cause.userInfo[NSUnderlyingErrorKey] as? NSError].compactMap(\.self)
            .first { $0.domain == NSPOSIXErrorDomain }
        return system.map { String(cString: strerror(Int32(truncatingIfNeeded: $0.code))) }
            ?? error.localizedDescription
    }

    /// How long, in the unit that reads best.
    static func duration(_ duration: Duration) -> String { LineWriter.line(room: 64) { $0.add(duration) } }

    /// What went wrong, without what may be secret in it.
    package static func failure(_ kind: APIError.Kind) -> String { Redaction.text("\(kind)") }

    /// Where an answer came from.
    static func source(_ answer: Event.Answer) -> String {
        source(answer.source, isStale: answer.isStale, isJoined: answer.isJoined)
    }

    static func source(_ source: ResponseSource, isStale: Bool, isJoined: Bool) -> String {
        let name =
            switch source {
            case .network: "network"
            case .memory: "cache, memory"
            case .disk: "cache, disk"
            case .revalidated: "cache, validated"
            case .interceptor: "interceptor"
            }
        guard isStale || isJoined else { return name }
        return name + (isStale ? ", stale" : "") + (isJoined ? ", joined" : "")
    }

    private static func cache(_ reason: CacheReason, _ status: CacheStatus) -> String {
        let joined = status.isCollapsed ? ", and waits for another call's answer" : ""
        return switch status.outcome {
        case .hit(let ttl) where ttl < 0: "served stale: \(why(reason)), \(-ttl) s past its freshness"
        case .hit(let ttl): "served from the cache: \(why(reason)), fresh for \(ttl) s"
        case .forward(let forward):
            status.reason == .validated || status.reason == .completed
                ? "served from the cache: \(why(reason))"
                : "the cache asks the server (\(forward.rawValue)): \(why(reason))\(joined)"
        case .none: "the cache has no answer: \(why(reason))"
        }
    }

    private static func why(_ reason: CacheReason) -> String {
        switch reason {
        case .fresh: "it is fresh"
        case .maxStale: "it is no staler than is allowed"
        case .staleWhileRevalidate: "it is refreshed behind the answer"
        case .staleIfError: "the server answered with an error"
        case .disconnected: "no answer could be had"
        case .validated: "the server says that it is the current one"
        case .completed: "the missing part was loaded"
        case .expired: "what is stored is no longer fresh"
        case .noCache: "what is stored must be validated each time"
        case .invalidated: "what is stored was invalidated"
        case .clockMovedBack: "the clock was set back, so its age is unknown"
        case .requestNoCache: "the request asks for it"
        case .requestMaxAge: "what is stored is older than the request wants"
        case .requestMinFresh: "what is stored is not fresh for as long as the request wants"
        case .policy: "the policy asks each time"
        case .uriMiss: "nothing is stored for this URL"
        case .varyMismatch: "what is stored was for other request fields"
        case .partial: "only another part is stored"
        case .method: "the method is not answered from a cache"
        case .noStoreRequest: "the request wants nothing stored"
        case .originCondition: "only the server can judge the condition"
        case .codedRange: "a range of coded content"
        case .onlyIfCached: "the request wants the cache alone"
        case .cacheOnly: "the policy wants the cache alone"
        }
    }

    private static func retry(_ reason: RetryReason) -> String {
        switch reason {
        case .status(let status): "\(status)"
        case .unreachable(let how): "no connection (\(how.rawValue))"
        case .timeout(let phase): "\(phase.rawValue) took too long"
        case .connectionLost: "the connection was lost"
        case .unprocessed: "the server did not look at it"
        }
    }

    /// Rounded down, so that it never seems enough for what was refused; nothing where the budget has no end.
    private static func budget(_ left: Double) -> String {
        guard left.isFinite else { return "" }
        let tenths = (left * 10 + 1e-5).rounded(.down)
        return "; the origin's budget has \(String(format: "%.10g", tenths / 10)) left"
    }

    private static func refused(_ refusal: RetryRefusal) -> String {
        switch refusal {
        case .final: "another attempt would end alike"
        case .mayHaveBeenProcessed: "the server may have done what was asked"
        case .limitReached: "as many attempts as are allowed"
        case .bodyNotReplayable: "the body can be read only once"
        case .hintTooLong(let wait): "the server wants to be left alone for \(duration(wait))"
        case .pastDeadline(let wait, let left): "the wait is \(duration(wait)), and \(duration(left)) are left"
        case .budgetUsedUp: "the origin's budget is used up"
        case .circuitOpen: "the circuit breaker is open"
        }
    }

    private static func circuit(_ state: CircuitBreaker.State) -> String {
        switch state {
        case .closed: "closes"
        case .open: "opens"
        case .halfOpen: "lets probes through"
        }
    }

    private static func queue(_ reason: AdmissionQueue.WaitReason) -> String {
        switch reason {
        case .total: "as many as may be are under way"
        case .host: "as many as may be are under way to this host"
        case .rate: "the rate is used up"
        case .paused: "its group is paused"
        case .turn: "others came before"
        }
    }

    private static func inFlight(_ reason: InFlightReason) -> String {
        switch reason {
        case .joined(let call): "joined \(call)"
        case .supersedes(let call): "takes the place of \(call)"
        case .waits(let wait): "waits \(duration(wait)) for newer calls of its kind"
        case .dropped(let reason): "dropped: \(dropped(reason))"
        }
    }

    private static func dropped(_ reason: DropReason) -> String {
        switch reason {
        case .alreadyLoading: "one of its kind is under way"
        case .superseded: "a newer one has taken its place"
        case .tooSoon: "too soon after the last one"
        }
    }

    private static func credential(_ reason: CredentialReason) -> String {
        switch reason {
        case .renewing: "asks for a new credential"
        case .joined: "waits for the credential that another call asks for"
        case .renewed: "has a new credential"
        case .alreadyRenewed: "takes the newer credential that is at hand"
        case .failed(let failure): "has no credential: \(failure)"
        }
    }
}
