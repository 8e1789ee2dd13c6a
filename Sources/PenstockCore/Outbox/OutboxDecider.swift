import Foundation

/// What came of one attempt to send a write.
public struct OutboxOutcome: Hashable, Sendable {
    /// How it ended.
    @nonexhaustive
    public enum Result: Hashable, Sendable {
        /// The call succeeded, whatever status its service takes for that.
        case accepted
        /// The server answered with this status.
        case answered(Int)
        /// The server answered 2xx, and its envelope holds a code that is no success.
        case business
        /// The server answered that the credential is not good, whatever status or code it says so by.
        case unauthenticated
        /// No answer came, and no connection to the server either.
        case unreachable
        /// No answer came over a connection that was made.
        case broken
        /// The attempt was ended here, or not begun for now.
        case cancelled
        /// Something in the app refused to send it.
        case blocked
    }

    /// What the attempt came to.
    public var result: Result
    /// How far the request got.
    public var sendState: SendState
    /// What the server asked to wait (RFC 9110 §10.2.3); `nil` where it did not.
    public var hint: Duration?

    /// What came of an attempt that was answered, unless `sendState` says otherwise.
    public init(_ result: Result, sendState: SendState = .answered, hint: Duration? = nil) {
        self.result = result
        self.sendState = sendState
        self.hint = hint
    }

    /// What an error of a call says about its write. The status of an answer goes before everything else: what cannot be read
    /// of a 2xx was written all the same, unless its code is no success or says that the credential is not good. So was what was
    /// answered with 303 (See Other, RFC 9110 §15.4.4), whatever became of the GET where that was followed.
    ///
    /// What the error does not tell of the answer, ``APIError/attempts`` do: a sealer that cannot open a reply, an interceptor that
    /// throws an error of its own and a connection that breaks leave no response.
    ///
    /// - Parameter expiry: what means that a credential is out of date; `nil`, as by default, for a service without them.
    public init(_ error: APIError, at now: Date, expiry: ExpiryRule? = nil) {
        let status = error.response?.status ?? error.answeredStatus
        let doubt = error.ownAttempts.filter { $0.finalStatus == nil }.map(\.sendState).max() ?? .unsent
        let state = max(error.sendState ?? .unsent, doubt)
        let hint = error.response.flatMap { RetryAfter.delay(in: $0.fields, at: now) }
        let wantsCredential = error.wantsCredential(by: expiry) || error.attemptWantsCredential(by: expiry)
        // An answer says what came of its own attempt, and not of one before it that the transport sent by itself.
        let answered = doubt > .unprocessed ? SendState.maybeProcessed : .answered
        // Of an answer it counts what was found in it, and not what the call was ended by after that.
        switch (status, status == nil ? error.kind : error.judgement) {
        case (let status?, .business) where (200..<300).contains(status) && !wantsCredential:
            self.init(.business, sendState: answered, hint: hint)
        case _ where error.followedSeeOther: self.init(.accepted)
        case _ where wantsCredential: self.init(.unauthenticated, sendState: answered, hint: hint)
        case (let status?, _): self.init(.answered(status), sendState: answered, hint: hint)
        case (nil, .unreachable), (nil, .tls): self.init(.unreachable, sendState: state)
        // An origin that the client spares for a while, a user who has to sign in and a call that gave way to another one say
        // nothing about the network.
        case (nil, .cancelled), (nil, .unavailable), (nil, .authentication), (nil, .dropped):
            self.init(.cancelled, sendState: state)
        case (nil, .blocked), (nil, .unsupported), (nil, .invalidParameter), (nil, .invalidConfiguration):
            self.init(.blocked, sendState: state)
        default: self.init(state == .unsent ? .unreachable : .broken, sendState: state)
        }
    }
}

extension APIError {
    /// Whether the server has led from what was to be done to a resource that tells what came of it.
    var followedSeeOther: Bool {
        attempts.dropLast().contains { $0.status == 303 && !$0.method.isSafe }
    }

    /// The attempts of the request itself, without those that a redirect made a GET of.
    fileprivate var ownAttempts: [Attempt] { attempts.filter { $0.method == attempts.first?.method } }

    /// What the request itself was answered with last; `nil` where it was not.
    var answeredStatus: Int? { ownAttempts.last?.finalStatus }

    /// The same as ``wantsCredential(by:)`` for an answer of which no more than the status is left.
    fileprivate func attemptWantsCredential(by expiry: ExpiryRule?) -> Bool {
        guard response == nil, let status = answeredStatus else { return false }
        return expiry?.matches(HTTPResponse(status: status)) ?? false
    }
}

extension APIError.Attempt {
    /// `nil` where no answer came, or no more than an interim one (RFC 9110 §15.2).
    fileprivate var finalStatus: Int? { status.flatMap { $0 < 200 ? nil : $0 } }
}

/// What each answer means for a write that waits to be delivered. Ask it as you like: it is a table and a few numbers.
public enum OutboxFate: Hashable, Sendable {
    /// The server has it.
    case done
    /// It stays where it is and is sent again.
    case keep
    /// The app's ``OutboxEndpoint/verdict(on:)`` decides, and where it has nothing to say: 409 is kept, the rest refused.
    case ask
    /// It goes to the list of the undeliverable.
    case undeliverable(OutboxFailure.Reason)

    /// A row of ``table``.
    public struct Rule: Sendable {
        /// The statuses that it is for, where no rule before it holds them.
        public let statuses: ClosedRange<Int>
        /// What they mean for the write.
        public let fate: OutboxFate
        /// Why it is so.
        public let why: String
    }

    /// The fate of every status, the first rule that holds it.
    public static let table: [Rule] = [
        Rule(statuses: 200...299, fate: .done, why: "the server has it"),
        Rule(
            statuses: 303...303, fate: .done,
            why: "the server has it, and names what tells of it (RFC 9110 §15.4.4), whether that was looked at or not"),
        Rule(
            statuses: 401...401, fate: .keep, why: "the write is right and the credential is not: it waits for another"),
        Rule(
            statuses: 407...407, fate: .keep,
            why: "a proxy of this network wants credentials; the server has seen nothing"),
        Rule(statuses: 408...408, fate: .keep, why: "the server did not wait for all of it"),
        Rule(statuses: 409...409, fate: .ask, why: "the same key is being processed, or the resource has changed"),
        Rule(statuses: 422...422, fate: .ask, why: "the key was used for other bytes, or the content has no sense"),
        Rule(statuses: 425...425, fate: .keep, why: "sent too early in a handshake (RFC 8470)"),
        Rule(statuses: 429...429, fate: .keep, why: "too many at this time"),
        Rule(statuses: 400...499, fate: .undeliverable(.refused), why: "the same bytes would be refused again"),
        Rule(statuses: 500...Int.max, fate: .keep, why: "the server's own trouble, which ends (RFC 9110 §15.6)"),
        Rule(
            statuses: Int.min...399, fate: .undeliverable(.refused),
            why: "a redirect that was not followed, or no status at all: nobody has taken it"),
    ]

    /// The fate of a write that was answered with a status.
    public static func of(status: Int) -> OutboxFate {
        table.first { $0.statuses.contains(status) }?.fate ?? .undeliverable(.refused)
    }

    /// The fate of a write by what its attempt came to.
    public static func of(_ result: OutboxOutcome.Result) -> OutboxFate {
        switch result {
        case .accepted: .done
        case .answered(let status): of(status: status)
        case .business: .ask
        case .unauthenticated, .unreachable, .broken, .cancelled: .keep
        case .blocked: .undeliverable(.blocked)
        }
    }

    /// Whether a server that answers with a status may have processed the write: behind a gateway that gave up on it, or, where
    /// it says that the key is in use, at this very time. 501, 503 and 505 come from servers that did nothing.
    static func leavesDoubt(status: Int) -> Bool {
        switch status {
        case 501, 503, 505: false
        case 408, 409, 500...: true
        default: false
        }
    }
}

/// What is done with a row after an attempt.
public enum OutboxStep: Hashable, Sendable {
    /// The server has it; the row goes.
    case done
    /// It is queued again.
    case wait(OutboxWait)
    /// It goes to the list of the undeliverable.
    case undeliverable(OutboxFailure)
}

/// How a row waits for its next attempt.
public struct OutboxWait: Hashable, Sendable {
    /// When it may be sent again, at the earliest.
    public var until: Date
    /// Whether the server has named the moment: no better network makes it earlier.
    public var isHinted: Bool
    /// How many 409 it was answered with.
    public var conflicts: Int
    /// When the first attempt was begun that may have been processed without a word of what came of it.
    public var unanswered: Date?
    /// When the row is sent no more, in place of what it says itself; `nil` leaves it at that.
    public var expires: Date?

    /// A wait until a moment of the client's own choice, unless `isHinted`.
    public init(
        until: Date, isHinted: Bool = false, conflicts: Int = 0, unanswered: Date? = nil, expires: Date? = nil
    ) {
        self.until = until
        self.isHinted = isHinted
        self.conflicts = conflicts
        self.unanswered = unanswered
        self.expires = expires
    }
}

/// Decides what becomes of rows: a pure function of the row, what came of it, and the time.
public struct OutboxDecider: Sendable {
    /// How long a write is tried, and how.
    public var policy: OutboxPolicy

    /// A decider by a policy; the standard one by default.
    public init(_ policy: OutboxPolicy = OutboxPolicy()) {
        self.policy = policy
    }

    /// Whether a row may be sent now.
    ///
    /// - Returns: why not; `nil` when it may.
    public func refusal(to row: OutboxRow, at now: Date) -> OutboxFailure? {
        let isDoubtful = row.unanswered != nil
        if row.expires <= now { return failure(.expired, isDoubtful) }
        if let first = row.unanswered, !isRemembered(since: first, at: now) { return failure(.keyExpired, isDoubtful) }
        return nil
    }

    /// Whether the server still has a key that it may have got first at this moment. A moment that is still to come was written
    /// before the clock was set back, so that nobody knows how long ago it was, unless the clock was only corrected a little.
    private func isRemembered(since first: Date, at now: Date) -> Bool {
        let (passed, lifetime) = (now.timeIntervalSince(first), policy.keyLifetime.seconds)
        return passed < lifetime && passed >= -min(lifetime, Self.correction)
    }

    /// What becomes of a row after an attempt.
    ///
    /// - Parameters:
    ///   - row: as it was when the attempt began, which ``OutboxRow/attempts`` counts.
    ///   - verdict: of the app; asked only where the table says so.
    public func decide(
        _ outcome: OutboxOutcome, for row: OutboxRow, at now: Date, random: inout some RandomNumberGenerator,
        verdict: () -> OutboxVerdict? = { nil }
    ) -> OutboxStep {
        let unanswered = unanswered(after: outcome, row, now)
        switch OutboxFate.of(outcome.result) {
        case .done: return .done
        case .keep: return keep(outcome, row, now, unanswered, row.conflicts, &random)
        case .undeliverable(let reason): return refuse(reason, outcome, unanswered)
        case .ask: break
        }
        let isConflict = outcome.result == .answered(409)
        let conflicts = row.conflicts + (isConflict ? 1 : 0)
        switch verdict() {
        case .done: return .done
        case .undeliverable: return refuse(isConflict ? .conflict : reason(of: outcome), outcome, unanswered)
        case .again(let delay):
            var outcome = outcome
            outcome.hint = delay ?? outcome.hint
            return keep(outcome, row, now, unanswered, conflicts, &random)
        case nil:
            guard isConflict else { return refuse(reason(of: outcome), outcome, unanswered) }
            // Nobody has said what became of the key: it is only waited for no longer.
            if conflicts > policy.conflictLimit { return .undeliverable(failure(.conflict, true, 409)) }
            return keep(outcome, row, now, unanswered, conflicts, &random)
        }
    }

    /// The moment since which the server may have processed it without a word of what came of it. An answer settles its own attempt where
    /// it is the server's last word, and none before it.
    private func unanswered(after outcome: OutboxOutcome, _ row: OutboxRow, _ now: Date) -> Date? {
        row.unanswered ?? (isDoubtful(outcome) ? row.started ?? now : nil)
    }

    private func isDoubtful(_ outcome: OutboxOutcome) -> Bool {
        switch outcome.result {
        case .answered(let status):
            OutboxFate.leavesDoubt(status: status) || outcome.sendState == .maybeProcessed
        case .accepted, .business, .unauthenticated: outcome.sendState == .maybeProcessed
        // An answer that began and was cut off before its status says that the request had arrived.
        case .unreachable, .broken, .cancelled, .blocked: outcome.sendState >= .maybeProcessed
        }
    }

    private func reason(of outcome: OutboxOutcome) -> OutboxFailure.Reason {
        outcome.result == .business ? .business : .refused
    }

    private func refuse(
        _ reason: OutboxFailure.Reason, _ outcome: OutboxOutcome, _ unanswered: Date?
    ) -> OutboxStep {
        let status: Int? = if case .answered(let status) = outcome.result { status } else { nil }
        // The server has said what it did with this key, so an earlier attempt is in doubt no more. What was refused here
        // says nothing about it, nor about this attempt where the app has refused what came of it.
        let isDoubtful = reason == .blocked && unanswered != nil
        return .undeliverable(failure(reason, isDoubtful, status))
    }

    private func failure(_ reason: OutboxFailure.Reason, _ isDoubtful: Bool, _ status: Int? = nil) -> OutboxFailure {
        OutboxFailure(reason, status: status, mayBeProcessed: isDoubtful)
    }

    private func keep(
        _ outcome: OutboxOutcome, _ row: OutboxRow, _ now: Date, _ unanswered: Date?, _ conflicts: Int,
        _ random: inout some RandomNumberGenerator
    ) -> OutboxStep {
        let delay = delay(before: row.attempts + 1, random: &random)
        let hint = outcome.hint.map { min(max($0, policy.baseDelay), policy.maximumHint) }
        let wait = min((hint ?? delay).seconds, Self.farthest)
        return .wait(
            OutboxWait(
                until: now.addingTimeInterval(wait), isHinted: hint != nil, conflicts: conflicts,
                unanswered: unanswered, expires: earlierEnd(of: row, at: now)))
    }

    /// When a row ends that would live longer than any may: it was put before the clock was set back. `nil` for any other.
    private func earlierEnd(of row: OutboxRow, at now: Date) -> Date? {
        let latest = now.addingTimeInterval(policy.lifetime.seconds)
        return row.expires > latest ? latest : nil
    }

    /// The wait before an attempt that the server has said nothing about: doubled each time, up to the cap, and spread over
    /// its second half, so that those who failed together do not come back together. A delay of less than nothing is none.
    ///
    /// - Parameter attempt: 2 for the first that is waited for.
    public func delay(before attempt: Int, random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(attempt - 2, 0), 40)
        let whole = max(min(policy.baseDelay.seconds * Double(1 << doublings), policy.maximumDelay.seconds), 0)
        return .seconds(Double.random(in: whole / 2...whole, using: &random))
    }

    /// When a clock was set back, what waits would wait for that much longer: a moment further away than any wait is now.
    ///
    /// - Parameter until: when it may be sent.
    public static func isDue(_ until: Date, at now: Date) -> Bool {
        until <= now || until > now.addingTimeInterval(farthest)
    }

    /// No wait that is kept is longer: a day.
    package static let farthest: TimeInterval = 86_400

    /// How far a clock is corrected without anybody having set it: five minutes, as for ``OutboxLease``.
    static let correction: TimeInterval = 300
}

/// How many lanes are tried at once: all that may be while the network is there, one at a time while it is not, so that ten
/// thousand writes do not each find out for themselves. A pure value.
public struct OutboxThrottle: Hashable, Sendable {
    /// How many attempts in a row have found no server.
    public private(set) var failures = 0
    /// The moment before which nothing is tried, on the clock of ``TimeSource/now``.
    public private(set) var until: Duration?

    /// The first pause and the longest. 1 s, since one refused connection is nothing yet; 30 s, since one small attempt costs
    /// a radio that is on anyway next to nothing, and ``Outbox/wake()`` makes it shorter.
    public static let shortest = Duration.seconds(1)
    /// The longest pause: 30 s.
    public static let longest = Duration.seconds(30)

    /// A throttle that has seen no failure.
    public init() {}

    /// Notes what came of an attempt.
    public mutating func note(_ result: OutboxOutcome.Result, at now: Duration) {
        switch result {
        case .unreachable:
            failures += 1
            until = now + min(Self.shortest * (1 << min(failures - 1, 10)), Self.longest)
        case .cancelled, .blocked: break
        case .accepted, .answered, .business, .unauthenticated, .broken: self = OutboxThrottle()
        }
    }

    /// Tries nothing for a while, which is no failure; one alone finds out whether it is over.
    mutating func spare(for pause: Duration, at now: Duration) {
        until = max(until ?? .zero, now + max(pause, Self.shortest))
    }

    /// How many more may be begun.
    ///
    /// - Parameters:
    ///   - sending: how many are under way.
    ///   - lanes: how many may be at once.
    public func free(sending: Int, lanes: Int, at now: Duration) -> Int {
        if let until, now < until { return 0 }
        return max((until == nil ? lanes : 1) - sending, 0)
    }
}

/// The right of one among several processes to send. It is decided the same way by every store.
public struct OutboxLease: Hashable, Sendable {
    /// Names the process and its outbox.
    public let holder: String
    /// One more each time that another one takes it: what an earlier holder asks a store to do is refused by it.
    public let token: Int64
    /// When it ends, unless it is renewed.
    public let expires: Date

    /// A lease as it is stored.
    public init(holder: String, token: Int64, expires: Date) {
        self.holder = holder
        self.token = token
        self.expires = expires
    }

    /// The lease after somebody asked for it.
    ///
    /// - Parameters:
    ///   - current: what is stored, taken or let go of; `nil` where there never was one.
    ///   - duration: how long it is held without being renewed.
    /// - Returns: `nil` while another one holds it. A lease that ends later than any can was made by a clock that was
    ///   wrong, and holds nothing.
    public static func decide(
        _ current: OutboxLease?, for holder: String, at now: Date, duration: Duration
    ) -> OutboxLease? {
        let end = now.addingTimeInterval(duration.seconds)
        guard let current else { return OutboxLease(holder: holder, token: 1, expires: end) }
        let isHeld = current.isHeld(at: now)
        if current.holder == holder, isHeld { return OutboxLease(holder: holder, token: current.token, expires: end) }
        guard !isHeld else { return nil }
        return OutboxLease(holder: holder, token: current.token &+ 1, expires: end)
    }

    /// Whether somebody may be sending under it.
    public func isHeld(at now: Date) -> Bool {
        expires > now && expires <= now.addingTimeInterval(Self.longest)
    }

    /// No lease is longer: five minutes.
    package static let longest: TimeInterval = 300
}
