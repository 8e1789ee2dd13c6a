import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What becomes of a write after each answer, as tables.
@Suite(.covers("X9"))
struct OutboxDeciderTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func row(attempts: Int = 1, conflicts: Int = 0, unanswered: Date? = nil) -> OutboxRow {
        var row = OutboxRow(
            id: OutboxID(), owner: OutboxOwner(identity: "anna", environment: "test"), lane: "a", payload: Data(),
            created: now, expires: now.addingTimeInterval(1_000))
        row.state = .sending
        row.attempts = attempts
        row.conflicts = conflicts
        row.started = now.addingTimeInterval(-5)
        row.unanswered = unanswered
        return row
    }

    private static func decide(
        _ outcome: OutboxOutcome, _ row: OutboxRow = row(), _ policy: OutboxPolicy = OutboxPolicy(),
        verdict: @escaping () -> OutboxVerdict? = { nil }
    ) -> OutboxStep {
        var random = Seeded(seed: 1)
        return OutboxDecider(policy).decide(outcome, for: row, at: now, random: &random, verdict: verdict)
    }

    private enum Fate { case done, kept, refused }

    private static func fate(_ step: OutboxStep) -> Fate {
        switch step {
        case .done: .done
        case .wait: .kept
        case .undeliverable: .refused
        }
    }

    @Test("Every status has the fate that is written down for it")
    func statuses() {
        let kept: Set<Int> = [401, 407, 408, 409, 425, 429]
        for status in 0...1_100 {
            let expected: Fate =
                (200...299).contains(status) || status == 303
                ? .done : status >= 500 || kept.contains(status) ? .kept : .refused
            #expect(Self.fate(Self.decide(.init(.answered(status)))) == expected, "\(status)")
        }
        #expect(OutboxFate.of(status: -1) == .undeliverable(.refused))
        #expect(OutboxFate.of(status: .max) == .keep)
        #expect(OutboxFate.of(status: 409) == .ask)
        #expect(OutboxFate.of(status: 422) == .ask)
        #expect(OutboxFate.table.allSatisfy { $0.why.count > 10 })
    }

    @Test("What did not get an answer is kept; what the app itself refuses to send is undeliverable")
    func withoutAnswer() {
        for result in [OutboxOutcome.Result.unreachable, .broken, .cancelled] {
            #expect(Self.fate(Self.decide(.init(result, sendState: .unsent))) == .kept, "\(result)")
        }
        #expect(Self.fate(Self.decide(.init(.unauthenticated))) == .kept, "what waits for a credential")
        #expect(
            Self.decide(.init(.blocked, sendState: .unsent)) == .undeliverable(OutboxFailure(.blocked)))
        #expect(Self.decide(.init(.accepted)) == .done)
    }

    @Test("A refusal names its status; where the server spoke about the key an earlier attempt is in doubt no more")
    func refusals() {
        let doubtful = Self.row(unanswered: Self.now)
        #expect(Self.decide(.init(.answered(404)), doubtful) == .undeliverable(OutboxFailure(.refused, status: 404)))
        #expect(Self.decide(.init(.answered(422)), doubtful) == .undeliverable(OutboxFailure(.refused, status: 422)))
        #expect(Self.decide(.init(.business), doubtful) == .undeliverable(OutboxFailure(.business)))
        #expect(
            Self.decide(.init(.blocked, sendState: .unsent), doubtful)
                == .undeliverable(OutboxFailure(.blocked, mayBeProcessed: true)))
    }

    @Test("409 is taken for a key in progress as often as the policy says, and then for a conflict")
    func conflicts() throws {
        let policy = OutboxPolicy(conflictLimit: 2)
        for (before, isKept) in [(0, true), (1, true), (2, false), (3, false)] {
            let step = Self.decide(.init(.answered(409)), Self.row(conflicts: before), policy)
            if case .wait(let wait) = step {
                #expect(isKept && wait.conflicts == before + 1, "\(before)")
                #expect(wait.unanswered == Self.now.addingTimeInterval(-5), "it is being processed")
            } else {
                let doubtful = OutboxFailure(.conflict, status: 409, mayBeProcessed: true)
                #expect(!isKept && step == .undeliverable(doubtful), "\(before): nobody has said what came of it")
            }
        }
        guard case .wait(let other) = Self.decide(.init(.answered(503)), Self.row(conflicts: 2), policy) else {
            Issue.record("503 was not kept")
            return
        }
        #expect(other.conflicts == 2, "another answer is no conflict")
    }

    @Test("The app's word goes before the table for 409, 422 and business codes, and is not asked for elsewhere")
    func verdicts() {
        for result in [OutboxOutcome.Result.answered(409), .answered(422), .business] {
            #expect(Self.decide(.init(result)) { .done } == .done)
            #expect(Self.fate(Self.decide(.init(result)) { .undeliverable }) == .refused)
            guard case .wait(let wait) = Self.decide(.init(result), verdict: { .again(after: .seconds(40)) }) else {
                Issue.record("\(result) was not kept")
                continue
            }
            #expect(wait.until == Self.now.addingTimeInterval(40))
            #expect(wait.isHinted)
            #expect(wait.conflicts == (result == .answered(409) ? 1 : 0))
        }
        #expect(Self.decide(.init(.answered(409))) { .undeliverable } == .undeliverable(.init(.conflict, status: 409)))
        #expect(Self.decide(.init(.answered(422))) { .undeliverable } == .undeliverable(.init(.refused, status: 422)))
        #expect(Self.decide(.init(.business)) { .undeliverable } == .undeliverable(.init(.business)))
        // Its own wait, where it names none: the server's hint, else the usual.
        guard
            case .wait(let hinted) = Self.decide(
                .init(.answered(422), hint: .seconds(9)), verdict: { .again(after: nil) })
        else {
            Issue.record("422 was not kept")
            return
        }
        #expect(hinted.until == Self.now.addingTimeInterval(9))
        for result in [
            OutboxOutcome.Result.accepted, .answered(200), .answered(404), .answered(503), .unauthenticated,
            .unreachable, .blocked,
        ] {
            _ = Self.decide(.init(result)) {
                Issue.record("\(result) was asked about")
                return .done
            }
        }
    }

    @Test("A hint is kept between the shortest wait and the longest that a server may ask for")
    func hints() {
        let policy = OutboxPolicy(baseDelay: .seconds(2), maximumHint: .seconds(3_600))
        for (hint, wait) in [
            (-5, 2), (0, 2), (1, 2), (2, 2), (3, 3), (3_599, 3_599), (3_600, 3_600), (3_601, 3_600), (Int64.max, 3_600),
        ] as [(Int64, Double)] {
            let step = Self.decide(.init(.answered(503), hint: .seconds(hint)), Self.row(), policy)
            #expect(
                step == .wait(OutboxWait(until: Self.now.addingTimeInterval(wait), isHinted: true)), "\(hint): \(step)")
        }
        // However long the policy allows: no wait is longer than what a clock that was set back is known by.
        let patient = OutboxPolicy(maximumHint: .seconds(1_000_000))
        let step = Self.decide(.init(.answered(503), hint: .seconds(900_000)), Self.row(), patient)
        #expect(step == .wait(OutboxWait(until: Self.now.addingTimeInterval(86_400), isHinted: true)))
    }

    @Test("The wait doubles up to the cap, over its second half")
    func delays() {
        let decider = OutboxDecider(OutboxPolicy(baseDelay: .seconds(2), maximumDelay: .seconds(100)))
        for (attempt, whole) in [
            (-1, 2.0), (1, 2), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 64), (8, 100), (9, 100), (1_000, 100),
            (.max, 100),
        ] {
            var (least, most, random) = (Double.infinity, 0.0, Seeded(seed: 7))
            for _ in 0..<500 {
                let delay = decider.delay(before: attempt, random: &random) / .seconds(1)
                (least, most) = (min(least, delay), max(most, delay))
            }
            #expect(least >= whole / 2 && least < whole * 0.52, "\(attempt): \(least)")
            #expect(most <= whole && most > whole * 0.98, "\(attempt): \(most)")
        }
        // Forty doublings at most, however short the first wait is.
        let short = OutboxDecider(OutboxPolicy(baseDelay: .nanoseconds(1), maximumDelay: .seconds(86_400)))
        var random = Seeded(seed: 7)
        for attempt in [42, 43, .max] {
            let delays = (0..<500).map { _ in short.delay(before: attempt, random: &random) / .nanoseconds(1 << 40) }
            #expect(delays.allSatisfy { $0 >= 0.499 && $0 <= 1.001 } && delays.contains { $0 > 0.98 }, "\(attempt)")
        }
        var highest = RandomSource { .max }
        #expect(decider.delay(before: 2, random: &highest) == .seconds(2), "the whole wait is one that is drawn")
        // A delay of less than nothing is none.
        for (base, most) in [(0, 100), (-2, 100), (2, 0), (2, -100), (-2, -100)] {
            let senseless = OutboxDecider(OutboxPolicy(baseDelay: .seconds(base), maximumDelay: .seconds(most)))
            for attempt in [2, 5, .max] {
                #expect(senseless.delay(before: attempt, random: &random) == .zero, "\(base) \(most)")
            }
        }
        // The first failure waits as the second attempt does.
        guard case .wait(let wait) = Self.decide(.init(.answered(500)), Self.row(attempts: 1)) else {
            Issue.record("500 was not kept")
            return
        }
        #expect(!wait.isHinted)
        #expect((1...2).contains(wait.until.timeIntervalSince(Self.now)))
        guard case .wait(let second) = Self.decide(.init(.answered(500)), Self.row(attempts: 2)) else {
            Issue.record("the second 500 was not kept")
            return
        }
        #expect((2...4).contains(second.until.timeIntervalSince(Self.now)))
    }

    @Test(
        "A write is in doubt since the first attempt that was begun and never answered, and no answer to a later one ends it"
    )
    func doubt() {
        let earlier = Self.now.addingTimeInterval(-100)
        for (state, before, after) in [
            (SendState.maybeProcessed, nil, Self.now.addingTimeInterval(-5)), (.maybeProcessed, earlier, earlier),
            (.unsent, nil, nil), (.unprocessed, nil, nil), (.unsent, earlier, earlier),
            // The head of an answer began, and was cut off.
            (.answered, nil, Self.now.addingTimeInterval(-5)),
            (.answered, earlier, earlier),
        ] as [(SendState, Date?, Date?)] {
            let step = Self.decide(.init(.broken, sendState: state), Self.row(unanswered: before))
            guard case .wait(let wait) = step else {
                Issue.record("\(state) was not kept")
                continue
            }
            #expect(wait.unanswered == after, "\(state)")
        }
        var row = Self.row()
        row.started = nil
        guard case .wait(let wait) = Self.decide(.init(.broken, sendState: .maybeProcessed), row) else {
            Issue.record("a write that was never begun was not kept")
            return
        }
        #expect(wait.unanswered == Self.now)
    }

    @Test("A write is in doubt after the answers behind which a server may be at work on it, and after no other")
    func doubtfulAnswers() {
        let doubtful = Set([408, 409, 500, 502, 504]).union(506...1_100)
        for status in 0...1_100 {
            guard case .wait(let wait) = Self.decide(.init(.answered(status))) else { continue }
            let begun = doubtful.contains(status) ? Self.now.addingTimeInterval(-5) : nil
            #expect(wait.unanswered == begun, "\(status)")
        }
        for result in [OutboxOutcome.Result.answered(422), .business, .unauthenticated] {
            guard case .wait(let wait) = Self.decide(.init(result), verdict: { .again(after: nil) }) else {
                Issue.record("\(result) was not kept")
                continue
            }
            #expect(wait.unanswered == nil, "\(result)")
        }
        // The first doubt stays, and the server's own word about the key ends it.
        let earlier = Self.now.addingTimeInterval(-100)
        guard case .wait(let wait) = Self.decide(.init(.answered(502)), Self.row(unanswered: earlier)) else {
            Issue.record("502 was not kept")
            return
        }
        #expect(wait.unanswered == earlier)
        #expect(
            Self.decide(.init(.answered(404)), Self.row(unanswered: earlier))
                == .undeliverable(OutboxFailure(.refused, status: 404)))
    }

    @Test("A row that would outlive its policy, since the clock was set back, ends with that")
    func lifetimeOfRow() {
        // Its own end is a thousand seconds from now.
        for (lifetime, end) in [(999, 999.0), (1_000, nil), (1_001, nil), (0, 0)] as [(Int, Double?)] {
            let policy = OutboxPolicy(lifetime: .seconds(lifetime))
            guard case .wait(let wait) = Self.decide(.init(.answered(503)), Self.row(), policy) else {
                Issue.record("503 was not kept")
                continue
            }
            #expect(wait.expires == end.map { Self.now.addingTimeInterval($0) }, "\(lifetime)")
        }
        guard case .wait(let wait) = Self.decide(.init(.answered(503)), Self.row(), UnknownWrite.outboxPolicy) else {
            Issue.record("503 was not kept")
            return
        }
        #expect(wait.expires == nil, "what is not known of a write does not end it")
    }

    @Test("A doubt that is still to come was before the clock was set back, and is no doubt of the last day")
    func clockSetBack() {
        for (lifetime, ahead, isSent) in [
            (86_400, 0.0, true), (86_400, 300, true), (86_400, 300.1, false), (86_400, 1e9, false),
            // The key of a server that forgets it sooner is forgotten sooner.
            (50, 50, true), (50, 50.1, false), (0, 0, false), (-50, 0, false),
        ] as [(Int, Double, Bool)] {
            let decider = OutboxDecider(OutboxPolicy(keyLifetime: .seconds(lifetime)))
            let row = Self.row(unanswered: Self.now.addingTimeInterval(ahead))
            let refusal = decider.refusal(to: row, at: Self.now)
            #expect(
                refusal == (isSent ? nil : OutboxFailure(.keyExpired, mayBeProcessed: true)), "\(lifetime) \(ahead)")
        }
    }

    @Test(
        "Nothing is sent after its lifetime, nor, when it may have been processed, after the server has forgotten its key"
    )
    func refusalsToBegin() {
        let decider = OutboxDecider(OutboxPolicy(keyLifetime: .seconds(50)))
        let row = Self.row()
        #expect(decider.refusal(to: row, at: Self.now) == nil)
        #expect(decider.refusal(to: row, at: Self.now.addingTimeInterval(999.9)) == nil)
        #expect(decider.refusal(to: row, at: Self.now.addingTimeInterval(1_000)) == OutboxFailure(.expired))
        let doubtful = Self.row(unanswered: Self.now)
        #expect(decider.refusal(to: doubtful, at: Self.now.addingTimeInterval(49.9)) == nil)
        #expect(
            decider.refusal(to: doubtful, at: Self.now.addingTimeInterval(50))
                == OutboxFailure(.keyExpired, mayBeProcessed: true))
        #expect(
            decider.refusal(to: doubtful, at: Self.now.addingTimeInterval(1_000))
                == OutboxFailure(.expired, mayBeProcessed: true))
    }

    @Test("A write that was answered with See Other is done, whatever becomes of the GET that follows")
    func seeOther() throws {
        let url = try HTTPURL("https://api.example.com/orders")
        func outcome(_ attempts: [(HTTPMethod, Int?)], _ kind: APIError.Kind = .httpStatus(404)) -> OutboxOutcome.Result
        {
            let status = attempts.last?.1
            var error = APIError(
                kind, stage: .transport, response: status.map { HTTPResponse(status: $0) }, sendState: .unsent)
            error.attempts = attempts.map { APIError.Attempt(method: $0.0, url: url, status: $0.1) }
            return OutboxOutcome(error, at: Self.now).result
        }
        #expect(outcome([(.post, 303), (.get, 404)]) == .accepted)
        #expect(outcome([(.put, 303), (.get, 500)]) == .accepted)
        #expect(outcome([(.post, 303), (.get, nil)], .unreachable(.offline)) == .accepted)
        #expect(outcome([(.post, 401), (.post, 303), (.get, 404)]) == .accepted)
        #expect(outcome([(.post, 303)]) == .answered(303), "it was not followed")
        #expect(OutboxFate.of(status: 303) == .done, "it was done, whether the GET is sent or not")
        #expect(outcome([(.post, 302), (.get, 404)]) == .answered(404))
        #expect(outcome([(.post, 307), (.post, 404)]) == .answered(404))
        #expect(outcome([(.post, 302), (.get, nil)], .blocked(reason: "")) == .answered(302), "its own answer counts")
        #expect(outcome([(.get, 303), (.get, 404)]) == .answered(404))
        #expect(outcome([]) == .unreachable)
        #expect(outcome([(.post, 303), (.get, 200)], .business(code: 1, message: "")) == .business)
        #expect(outcome([(.post, 303), (.get, 200)], .authentication(.lost)) == .accepted)
        #expect(outcome([(.post, 303)], .authentication(.lost)) == .unauthenticated)
    }

    @Test(
        "What the error does not tell of the answer its attempts do: a status is one, and whatever else was sent is in doubt"
    )
    func attempts() throws {
        let url = try HTTPURL("https://api.example.com/orders")
        func outcome(
            _ attempts: [(Int?, SendState)], _ kind: APIError.Kind = .blocked(reason: ""), _ state: SendState? = nil
        ) -> OutboxOutcome {
            var error = APIError(kind, stage: .callInterception, sendState: state)
            error.attempts = attempts.map {
                APIError.Attempt(method: .post, url: url, sendState: $0.1, status: $0.0)
            }
            return OutboxOutcome(error, at: Self.now, expiry: ExpiryRule(statuses: [401, 423]))
        }
        for kind in [
            APIError.Kind.blocked(reason: ""), .decryption, .validation(rule: "signature"), .cancelled,
            .timeout(.total),
            .authentication(.unavailable),
        ] {
            for status in [200, 201, 303, 404, 409, 500, 503] {
                #expect(outcome([(status, .answered)], kind) == .init(.answered(status)), "\(kind) \(status)")
            }
            #expect(outcome([(401, .answered)], kind).result == .unauthenticated, "\(kind)")
            #expect(outcome([(423, .answered), (200, .answered)], kind) == .init(.answered(200)), "\(kind)")
        }
        #expect(outcome([(200, .answered)], .business(code: 7, message: "")) == .init(.business))
        // What the connection lost is in doubt, whatever the error says of itself, and so is what no more than began to be answered.
        for sendState in [SendState.maybeProcessed, .answered] {
            for kind in [APIError.Kind.blocked(reason: ""), .validation(rule: ""), .unreachable(.offline), .cancelled] {
                for status in [nil, 102] {
                    let lost = outcome([(status, sendState)], kind)
                    #expect(lost.sendState == sendState, "\(kind)")
                    switch Self.decide(lost) {
                    case .wait(let wait): #expect(wait.unanswered != nil, "\(kind)")
                    case .undeliverable(let failure): #expect(failure.mayBeProcessed, "\(kind)")
                    case .done: Issue.record("\(kind): nobody has said that it was done")
                    }
                }
            }
        }
        for sendState in [SendState.unsent, .unprocessed] {
            let unsent = Self.decide(outcome([(nil, sendState)]))
            #expect(unsent == .undeliverable(OutboxFailure(.blocked)), "\(sendState)")
        }
        // An answer says nothing about what the transport had sent before it.
        guard case .wait(let wait) = Self.decide(outcome([(nil, .maybeProcessed), (503, .answered)])) else {
            Issue.record("503 was not kept")
            return
        }
        #expect(wait.unanswered != nil)
        #expect(outcome([(nil, .unprocessed), (503, .answered)]).sendState == .answered)
        #expect(
            Self.decide(outcome([(nil, .maybeProcessed), (404, .answered)]))
                == .undeliverable(OutboxFailure(.refused, status: 404)))
    }

    @Test("An answer that says the credential is not good keeps the write, whatever its status and its code")
    func unauthenticated() {
        func result(
            _ kind: APIError.Kind, _ status: Int?, found: APIError.Kind? = nil,
            _ rule: ExpiryRule? = ExpiryRule(statuses: [401, 423], codes: [40101])
        ) -> OutboxOutcome.Result {
            var error = APIError(kind, stage: .authenticate, response: status.map { HTTPResponse(status: $0) })
            if let found { error.judgement = found }
            return OutboxOutcome(error, at: Self.now, expiry: rule).result
        }
        let expired = APIError.Kind.business(code: 40101, message: "")
        for status in [200, 299, 401, 403, 423, 500] {
            #expect(result(.authentication(.unavailable), status) == .unauthenticated, "\(status)")
            #expect(result(.authentication(.unavailable), status, nil) == .unauthenticated, "\(status)")
            #expect(result(expired, status) == .unauthenticated, "\(status)")
            for ending in [APIError.Kind.cancelled, .timeout(.total), .dropped(.superseded)] {
                #expect(result(ending, status, found: expired) == .unauthenticated, "\(status) \(ending)")
            }
        }
        #expect(result(.httpStatus(423), 423) == .unauthenticated)
        #expect(result(.httpStatus(423), 423, nil) == .answered(423))
        #expect(result(.httpStatus(401), 401) == .unauthenticated)
        #expect(result(.httpStatus(403), 403) == .answered(403))
        #expect(result(expired, 200, nil) == .business)
        #expect(result(.business(code: 7, message: ""), 200) == .business)
        #expect(result(.authentication(.missing), nil) == .cancelled, "nothing was answered")
    }

    @Test("What was found in an answer stands, though the call was ended after that; what was not looked at is done")
    func endedAfterAnswer() {
        func outcome(_ found: APIError.Kind, _ status: Int?, _ state: SendState?) -> OutboxOutcome {
            var error = APIError(
                found, stage: .envelope, response: status.map { HTTPResponse(status: $0) }, sendState: state)
            (error.kind, error.judgement) = (.cancelled, error.judgement)
            return OutboxOutcome(error, at: Self.now)
        }
        #expect(outcome(.business(code: 7, message: ""), 200, .answered) == .init(.business))
        #expect(outcome(.business(code: 7, message: ""), 503, .answered) == .init(.answered(503)))
        #expect(outcome(.transport(.connectionLost), 200, .answered) == .init(.answered(200)))
        #expect(outcome(.decoding(path: "", reason: ""), 201, .answered) == .init(.answered(201)))
        #expect(outcome(.cancelled, 200, .answered) == .init(.answered(200)))
        #expect(outcome(.httpStatus(404), 404, .answered) == .init(.answered(404)))
        #expect(
            outcome(.unreachable(.offline), nil, .unsent) == .init(.cancelled, sendState: .unsent),
            "without an answer the end of the call is what counts")
    }

    @Test("A moment further away than any wait is due: the clock was set back")
    func clocks() {
        for (second, isDue) in [
            (-1.0, true), (0, true), (0.001, false), (86_400, false), (86_400.001, true), (1e9, true), (-1e9, true),
        ] {
            #expect(OutboxDecider.isDue(Self.now.addingTimeInterval(second), at: Self.now) == isDue, "\(second)")
        }
    }

    @Test("An error says what it says about the write: a status before everything else")
    func errors() {
        func error(_ kind: APIError.Kind, _ status: Int? = nil, _ state: SendState? = nil) -> OutboxOutcome {
            let response = status.map { HTTPResponse(status: $0, fields: ["Retry-After": "7"]) }
            return OutboxOutcome(
                APIError(kind, stage: .transport, response: response, sendState: state), at: Self.now)
        }
        #expect(error(.httpStatus(503), 503, .answered) == .init(.answered(503), hint: .seconds(7)))
        #expect(error(.decoding(path: "", reason: ""), 200) == .init(.answered(200), hint: .seconds(7)))
        #expect(error(.business(code: 1, message: ""), 200) == .init(.business, hint: .seconds(7)))
        #expect(error(.business(code: 1, message: ""), 299) == .init(.business, hint: .seconds(7)))
        #expect(error(.business(code: 1, message: ""), 300) == .init(.answered(300), hint: .seconds(7)))
        #expect(error(.business(code: 1, message: ""), 503) == .init(.answered(503), hint: .seconds(7)))
        #expect(error(.transport(.connectionLost), 201, .answered) == .init(.answered(201), hint: .seconds(7)))
        #expect(error(.unreachable(.offline), nil, .unsent) == .init(.unreachable, sendState: .unsent))
        #expect(error(.tls(.expired), nil, .unsent) == .init(.unreachable, sendState: .unsent))
        #expect(error(.timeout(.total), nil, .unsent) == .init(.unreachable, sendState: .unsent))
        #expect(error(.timeout(.total)) == .init(.unreachable, sendState: .unsent))
        #expect(error(.timeout(.total), nil, .maybeProcessed) == .init(.broken, sendState: .maybeProcessed))
        #expect(error(.transport(.connectionLost), nil, .unprocessed) == .init(.broken, sendState: .unprocessed))
        #expect(error(.cancelled, nil, .maybeProcessed) == .init(.cancelled, sendState: .maybeProcessed))
        #expect(error(.unavailable(reason: ""), nil, .unsent) == .init(.cancelled, sendState: .unsent))
        #expect(error(.unavailable(reason: "")) == .init(.cancelled, sendState: .unsent))
        #expect(error(.authentication(.rejected), nil, .unsent) == .init(.cancelled, sendState: .unsent))
        #expect(error(.authentication(.lost), 401) == .init(.unauthenticated, hint: .seconds(7)))
        #expect(error(.dropped(.alreadyLoading), nil, .unsent) == .init(.cancelled, sendState: .unsent))
        for kind in [
            APIError.Kind.blocked(reason: ""), .unsupported(feature: ""), .invalidParameter(field: "", reason: ""),
            .invalidConfiguration(reason: ""),
        ] {
            #expect(error(kind, nil, .unsent) == .init(.blocked, sendState: .unsent), "\(kind)")
        }
    }

    @Test("A lease goes to whoever asks first, until it ends, and its token rises with each new holder")
    func leases() {
        func decide(_ current: OutboxLease?, _ holder: String, _ second: Double) -> OutboxLease? {
            OutboxLease.decide(
                current, for: holder, at: Self.now.addingTimeInterval(second), duration: .seconds(15))
        }
        let first = OutboxLease(holder: "one", token: 1, expires: Self.now.addingTimeInterval(15))
        #expect(decide(nil, "one", 0) == first)
        #expect(
            decide(first, "one", 5)
                == OutboxLease(holder: "one", token: 1, expires: first.expires.addingTimeInterval(5)))
        #expect(decide(first, "two", 14.9) == nil)
        #expect(decide(first, "two", 15)?.token == 2)
        #expect(decide(first, "one", 14.9)?.token == 1)
        #expect(decide(first, "one", 15)?.token == 2, "what ran out may have been another's in between")
        #expect(decide(first, "two", -285) == nil, "five minutes ahead is the longest")
        #expect(decide(first, "two", -285.1)?.token == 2, "what is further ahead was made by a wrong clock")
        #expect(decide(first, "one", -285.1)?.token == 2)
    }

    @Test("Without a network one write at a time is tried, ever less often; an answer of any kind ends that")
    func throttling() {
        var throttle = OutboxThrottle()
        #expect(throttle.free(sending: 1, lanes: 4, at: .zero) == 3)
        #expect(throttle.free(sending: 5, lanes: 4, at: .zero) == 0)
        for (failures, pause) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30)] {
            throttle.note(.unreachable, at: .seconds(100))
            #expect(throttle.failures == failures)
            #expect(throttle.until == .seconds(100 + pause), "\(failures)")
        }
        for _ in 0..<40 { throttle.note(.unreachable, at: .seconds(100)) }
        #expect(throttle.until == .seconds(130))
        #expect(throttle.free(sending: 0, lanes: 4, at: .seconds(130) - .nanoseconds(1)) == 0)
        #expect(throttle.free(sending: 0, lanes: 4, at: .seconds(130)) == 1)
        #expect(throttle.free(sending: 1, lanes: 4, at: .seconds(130)) == 0)
        for result in [OutboxOutcome.Result.cancelled, .blocked] {
            throttle.note(result, at: .seconds(130))
            #expect(throttle.failures == 47, "\(result)")
        }
        for result in [OutboxOutcome.Result.accepted, .answered(500), .business, .unauthenticated, .broken] {
            var other = throttle
            other.note(result, at: .seconds(130))
            #expect(other == OutboxThrottle(), "\(result)")
        }
    }

    @Test("What a later write may replace: what waits without a doubt, and what failed")
    func replacing() {
        var row = Self.row()
        #expect(!row.mayBeReplaced)
        row.state = .queued
        #expect(row.mayBeReplaced)
        row.unanswered = Self.now
        #expect(!row.mayBeReplaced)
        row.state = .undeliverable(OutboxFailure(.refused))
        #expect(row.mayBeReplaced)
    }

    @Test("A number is a random UUID, the same for the same randomness, and is the key in lower case")
    func identifiers() {
        var (random, same) = (Seeded(seed: 3), Seeded(seed: 3))
        var seen: Set<OutboxID> = []
        for _ in 0..<200 {
            let id = OutboxID(from: &random)
            #expect(id == OutboxID(from: &same))
            #expect(
                id.key.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil,
                "\(id)")
            seen.insert(id)
        }
        #expect(seen.count == 200)
    }

    @Test("By default a write lives a week, its key a day, and waits of its own are 2 s to a quarter of an hour")
    func defaults() {
        let policy = OutboxPolicy()
        #expect(policy.lifetime == .seconds(604_800) && policy.keyLifetime == .seconds(86_400))
        #expect(policy.baseDelay == .seconds(2) && policy.maximumDelay == .seconds(900))
        #expect(policy.maximumHint == .seconds(3_600) && policy.conflictLimit == 5 && policy.numberField == nil)
        #expect(policy.afterFailure == .goOn && policy.signOut == .purge)
        let answer = OutboxAnswer(status: 409, payload: Payload(Data()))
        #expect(answer.attempt == 1 && answer.conflicts == 0 && answer.code == nil)
    }

    @Test("What stands on disk keeps its numbers and its digests")
    func onDisk() {
        let reasons: [OutboxFailure.Reason] = [
            .refused, .conflict, .business, .expired, .keyExpired, .unreadable, .blocked,
        ]
        #expect(reasons.map(\.rawValue) == Array(1...7))
        #expect(OutboxPolicy.AfterFailure.goOn.rawValue == 0 && OutboxPolicy.AfterFailure.stopLane.rawValue == 1)
        #expect(OutboxPolicy.SignOut.purge.rawValue == 0 && OutboxPolicy.SignOut.keep.rawValue == 1)
        // The first half of the SHA-256 of "4:anna".
        #expect(NameDigest.of("anna") == "a23effb1970dfa8e75d7f2069ba13a78")
    }

    @Test("A new write is queued, was never tried, and has no place yet")
    func newRow() {
        let row = OutboxRow(
            id: OutboxID(), owner: OutboxOwner(identity: "anna", environment: "test"), lane: "a", payload: Data(),
            created: Self.now, expires: Self.now)
        #expect(row.state == .queued && row.attempts == 0 && row.conflicts == 0 && row.position == 0)
        #expect(!row.isKept && !row.stopsLane && row.number == nil)
    }

    @Test("Owners, lanes and folds are digests of which no two are alike")
    func digests() {
        #expect(NameDigest.of("a", "bc") != NameDigest.of("ab", "c"))
        #expect(NameDigest.of("a") == NameDigest.of("a"))
        #expect(NameDigest.of("anna").count == 32)
        let owner = OutboxOwner(identity: "anna", environment: "test")
        let elsewhere = OutboxOwner(identity: "anna", environment: "production")
        #expect(owner.identity == elsewhere.identity)
        #expect(owner.digest != elsewhere.digest)
    }

    @Test("A write whose type is not known keeps the name of its service")
    func unknownWrite() throws {
        let data = try JSONEncoder().encode(UnknownWrite(service: "shop"))
        #expect(data == Data(#""shop""#.utf8))
        #expect(try JSONDecoder().decode(UnknownWrite.self, from: data).service.name == "shop")
    }
}
