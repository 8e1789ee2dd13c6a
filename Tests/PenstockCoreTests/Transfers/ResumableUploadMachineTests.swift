import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// What follows from what came, as tables.
@Suite struct ResumableUploadMachineTests {
    private typealias Machine = ResumableUploadMachine
    static let place = "https://a.example/uploads/1"

    private func machine(
        _ form: ResumableUploadProtocol, length: Int = 10, patience: Int = 2, restarts: Int = 3, confirmed: Int = 0,
        isBegun: Bool = true, sent: Int? = nil, mayBeComplete: Bool = false, hasSentEnd: Bool = true
    ) throws -> ResumableUploadMachine {
        ResumableUploadMachine(
            form, length: length, ResumableUploadPolicy(patience: patience, restarts: restarts),
            .init(
                location: isBegun ? try HTTPURL(Self.place) : nil, confirmed: confirmed, sent: sent,
                mayBeComplete: mayBeComplete, hasSentEnd: hasSentEnd))
    }

    @Test(arguments: [ResumableUploadProtocol.httpDraft, .tus])
    func `an upload that is not begun is created, and one that is begun asks before it sends`(
        form: ResumableUploadProtocol
    ) throws {
        var new = try machine(form, isBegun: false)
        #expect(new.decide(on: .begun) == .send(.create))
        var known = try machine(form)
        #expect(known.decide(on: .begun) == .send(.query))
        #expect(known.decide(on: .waited) == .send(.query))
    }

    // MARK: One answer

    struct Row: Sendable, CustomTestStringConvertible {
        var form: ResumableUploadProtocol
        var step: UploadStep
        var answer: UploadAnswer
        var decision: ResumableUploadMachine.Decision
        var mayBeComplete = false
        var hasSentEnd = true

        init(
            _ form: ResumableUploadProtocol, _ step: UploadStep, _ status: Int, at offset: Int? = nil,
            complete: Bool? = nil, length: Int? = nil, mayBeComplete: Bool = false,
            hasSentEnd: Bool = true, _ decision: ResumableUploadMachine.Decision,
            _ change: (inout UploadAnswer) -> Void = { _ in }
        ) {
            self.form = form
            self.step = step
            self.decision = decision
            self.mayBeComplete = mayBeComplete
            self.hasSentEnd = hasSentEnd
            answer = UploadAnswer(status: status, offset: offset, isComplete: complete, length: length)
            change(&answer)
        }

        var testDescription: String { "\(form) \(step) \(answer.status) at \(answer.offset ?? -1) → \(decision)" }
    }

    static let rest = UploadStep.append(4..<10, completes: true)
    static let part = UploadStep.append(0..<4, completes: false)

    /// Of a file of ten bytes.
    static let rows: [Row] = [
        // Where the server is, is where it goes on.
        Row(.httpDraft, .query, 204, at: 0, .send(.append(0..<10, completes: true))),
        Row(.httpDraft, .query, 200, at: 4, complete: false, .send(rest)),
        Row(.httpDraft, .query, 299, at: 9, .send(.append(9..<10, completes: true))),
        Row(.httpDraft, .query, 204, at: 10, complete: false, .send(.append(10..<10, completes: true))),
        Row(.httpDraft, .query, 204, at: 10, complete: true, .finish(isAnswer: false)),
        Row(.httpDraft, .query, 204, at: 9, complete: true, .fail(.impossibleOffset)),
        Row(.httpDraft, .query, 204, at: 11, .fail(.impossibleOffset)),
        Row(.httpDraft, .query, 204, at: 4, length: 10, .send(rest)),
        Row(.httpDraft, .query, 204, at: 4, length: 11, .fail(.impossibleOffset)),
        Row(.httpDraft, .query, 204, .fail(.notResumable)),
        Row(.tus, .query, 200, at: 4, .send(rest)),
        Row(.tus, .query, 200, at: 10, .finish(isAnswer: false)),
        Row(.tus, .query, 200, at: 11, .fail(.impossibleOffset)),
        // Appends.
        Row(.httpDraft, part, 204, .send(rest)),
        Row(.httpDraft, part, 204, at: 2, .send(.append(2..<10, completes: true))),
        Row(.httpDraft, part, 204, at: 11, .fail(.impossibleOffset)),
        Row(.httpDraft, rest, 200, complete: true, .finish(isAnswer: true)),
        Row(.httpDraft, rest, 299, complete: true, .finish(isAnswer: true)),
        Row(.httpDraft, rest, 422, complete: true, .conclude),
        Row(.httpDraft, rest, 500, complete: true, .conclude),
        Row(.httpDraft, rest, 200, .send(.query)),
        Row(.httpDraft, rest, 200, complete: false, .send(.query)),
        Row(.tus, part, 204, at: 4, .send(rest)),
        Row(.tus, part, 204, .send(.query)),
        Row(.tus, rest, 204, at: 10, .finish(isAnswer: true)),
        Row(.tus, rest, 204, at: 9, .send(.append(9..<10, completes: true))),
        Row(.tus, rest, 204, at: 11, .fail(.impossibleOffset)),
        // What no server can have: more than was sent, or all before the end was.
        Row(.httpDraft, part, 204, at: 5, .fail(.impossibleOffset)),
        Row(.tus, part, 204, at: 5, .fail(.impossibleOffset)),
        Row(.httpDraft, .query, 204, at: 9, hasSentEnd: false, .send(.append(9..<10, completes: true))),
        Row(.httpDraft, .query, 204, at: 10, hasSentEnd: false, .fail(.impossibleOffset)),
        Row(.httpDraft, .query, 204, at: 10, complete: true, hasSentEnd: false, .fail(.impossibleOffset)),
        Row(.tus, .query, 200, at: 9, hasSentEnd: false, .send(.append(9..<10, completes: true))),
        Row(.tus, .query, 200, at: 10, hasSentEnd: false, .fail(.impossibleOffset)),
        Row(.tus, rest, 204, at: 10, hasSentEnd: false, .fail(.impossibleOffset)),
        Row(.httpDraft, rest, 200, complete: true, hasSentEnd: false, .fail(.impossibleOffset)),
        // It has taken nothing, or has lost some of it.
        Row(.tus, rest, 204, at: 5, .send(.append(5..<10, completes: true))),
        Row(.tus, rest, 204, at: 4, .send(.query)), Row(.tus, rest, 204, at: 0, .send(.query)),
        Row(.httpDraft, part, 204, at: 0, .send(.query)),
        // What the server refuses for the moment.
        Row(.tus, rest, 409, at: 7, .send(.query)), Row(.httpDraft, rest, 409, at: 7, .send(.query)),
        Row(.httpDraft, rest, 400, .send(.query)) { $0.isCompletedProblem = true },
        Row(.httpDraft, rest, 400, .giveUp),
        Row(.tus, rest, 423, .wait(try: 1, hint: nil)), Row(.tus, .query, 423, .wait(try: 1, hint: nil)),
        Row(.tus, rest, 429, .wait(try: 1, hint: .seconds(3))) { $0.retryAfter = .seconds(3) },
        Row(.tus, rest, 408, .wait(try: 1, hint: nil)), Row(.tus, rest, 425, .wait(try: 1, hint: nil)),
        Row(.tus, rest, 500, .wait(try: 1, hint: nil)), Row(.tus, rest, 502, .wait(try: 1, hint: nil)),
        Row(.tus, rest, 504, .wait(try: 1, hint: nil)), Row(.tus, rest, 506, .wait(try: 1, hint: nil)),
        Row(.tus, rest, 501, .giveUp), Row(.tus, rest, 505, .giveUp), Row(.tus, rest, 405, .giveUp),
        Row(.tus, .query, 405, .giveUp), Row(.httpDraft, .create, 501, .giveUp),
        Row(.tus, rest, 599, .wait(try: 1, hint: nil)),
        Row(.httpDraft, .query, 503, .wait(try: 1, hint: .seconds(9))) { $0.retryAfter = .seconds(9) },
        Row(.httpDraft, .create, 503, .wait(try: 1, hint: nil)),
        // For good.
        Row(.tus, rest, 400, .giveUp), Row(.tus, rest, 403, .giveUp), Row(.tus, rest, 499, .giveUp),
        Row(.tus, rest, 300, .giveUp), Row(.tus, .query, 403, .giveUp), Row(.httpDraft, .create, 403, .giveUp),
        Row(.httpDraft, .query, 199, .giveUp), Row(.httpDraft, .query, 300, .giveUp),
        Row(.httpDraft, rest, 413, .giveUp),
        Row(.httpDraft, rest, 413, .send(.query)) { $0.limits = UploadLimits(maximumAppend: 5) },
        Row(.httpDraft, rest, 413, .giveUp) { $0.limits = UploadLimits(maximumAppend: 6) },
        // The server has forgotten it.
        Row(.tus, .query, 404, .send(.create)), Row(.httpDraft, .query, 410, .send(.create)),
        Row(.tus, rest, 404, .send(.create)), Row(.tus, part, 410, .send(.create)),
        Row(.tus, .query, 404, mayBeComplete: true, .fail(.outcomeUnknown)),
        Row(.httpDraft, rest, 410, mayBeComplete: true, .fail(.outcomeUnknown)),
    ]

    @Test(arguments: rows) func `the answer decides`(row: Row) throws {
        var machine = try machine(row.form, mayBeComplete: row.mayBeComplete, hasSentEnd: row.hasSentEnd)
        #expect(machine.decide(on: .answered(row.answer, to: row.step)) == row.decision)
    }

    @Test func `a creation needs a place, and goes on from there`() throws {
        for form in [ResumableUploadProtocol.httpDraft, .tus] {
            var machine = try machine(form, isBegun: false)
            #expect(machine.decide(on: .answered(UploadAnswer(status: 201), to: .create)) == .fail(.notResumable))
            let answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place))
            #expect(
                machine.decide(on: .answered(answer, to: .create)) == .send(.append(0..<10, completes: true)))
            #expect(machine.progress.location?.absoluteString == Self.place)
        }
    }

    @Test func `an empty file is complete for tus once it is created, and for the draft once that is said`() throws {
        let answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place))
        var tus = try machine(.tus, length: 0, isBegun: false)
        #expect(tus.decide(on: .answered(answer, to: .create)) == .finish(isAnswer: true))
        var draft = try machine(.httpDraft, length: 0, isBegun: false)
        #expect(draft.decide(on: .answered(answer, to: .create)) == .send(.append(0..<0, completes: true)))
    }

    // MARK: Limits

    /// The limit of an append, where the server is, and what is sent.
    static let appends: [(Int, Int, Range<Int>, Bool)] = [
        (4, 0, 0..<4, false), (4, 4, 4..<8, false), (4, 6, 6..<10, true), (4, 5, 5..<9, false), (10, 0, 0..<10, true),
        (9, 0, 0..<9, false), (11, 0, 0..<10, true), (0, 3, 3..<4, false), (1, 9, 9..<10, true),
    ]

    @Test(arguments: appends) func `an append is no larger than the server takes`(
        limit: Int, offset: Int, bytes: Range<Int>, completes: Bool
    ) throws {
        var machine = try machine(.httpDraft)
        var answer = UploadAnswer(status: 204, offset: offset)
        answer.limits = UploadLimits(maximumAppend: limit)
        #expect(machine.decide(on: .answered(answer, to: .query)) == .send(.append(bytes, completes: completes)))
    }

    @Test(arguments: [(9, nil, true), (10, nil, false), (nil, 11, true), (nil, 10, false), (nil, nil, false)])
    func `a file of another size than the server takes is not sent`(maximum: Int?, minimum: Int?, isRefused: Bool)
        throws
    {
        for step in [UploadStep.create, .query] {
            var machine = try machine(.httpDraft)
            var answer = UploadAnswer(status: 200, location: try HTTPURL(Self.place), offset: 0)
            answer.limits = UploadLimits(maximumSize: maximum, minimumSize: minimum)
            let refusal = Machine.Decision.fail(.sizeRefused(minimum: minimum, maximum: maximum))
            #expect((machine.decide(on: .answered(answer, to: step)) == refusal) == isRefused)
        }
    }

    // MARK: In a row

    @Test(arguments: [(Machine.headway - 1, nil), (Machine.headway, 1)] as [(Int, Int?)])
    func `patience is counted anew when the server has taken 64 KiB more, in one answer or in several`(
        taken: Int, tries: Int?
    ) throws {
        for confirmed in [0, 1_000] {
            for pieces in [[taken], [1, taken]] {
                var machine = try machine(.tus, length: 1 << 20, confirmed: confirmed)
                #expect(machine.decide(on: .failed) == .wait(try: 1, hint: nil))
                #expect(machine.decide(on: .failed) == .wait(try: 2, hint: nil))
                for piece in pieces {
                    let answer = UploadAnswer(status: 200, offset: confirmed + piece)
                    _ = machine.decide(on: .answered(answer, to: .query))
                }
                #expect(machine.decide(on: .failed) == (tries.map { .wait(try: $0, hint: nil) } ?? .giveUp))
            }
        }
        #expect(Machine.headway == 65_536)
    }

    /// How many parts are sent of a file that the server takes so much of at a time, 3,000 at most, and what ends it.
    private func parts(taking count: Int, of length: Int) throws -> (parts: Int, last: Machine.Decision) {
        var machine = try machine(.tus, length: length)
        var decision = machine.decide(on: .answered(UploadAnswer(status: 200, offset: 0), to: .query))
        for number in 0..<3_000 {
            guard case .send(.append(let bytes, let completes)) = decision else { return (number, decision) }
            let answer = UploadAnswer(status: 204, offset: min(bytes.lowerBound + count, length))
            decision = machine.decide(on: .answered(answer, to: .append(bytes, completes: completes)))
        }
        return (3_000, decision)
    }

    @Test func `short answers are no failures, and only crumbs without end are too many`() throws {
        #expect(try parts(taking: 1_024, of: 1 << 30).parts == 3_000)
        // One more for each KiB that they have come to.
        let crumbs = try parts(taking: 1, of: 1 << 30)
        #expect(crumbs.parts == 1_026 && crumbs.last == .fail(.stalled))
        let small = try parts(taking: 1, of: 1_026)
        #expect(small.parts == 1_026 && small.last == .finish(isAnswer: true))
        #expect(Machine.mostAnswers == 1_024)
    }

    @Test func `an upload that is begun anew has its answers anew`() throws {
        var machine = try machine(.tus, length: 1 << 20, hasSentEnd: false)
        var decision = machine.decide(on: .answered(UploadAnswer(status: 200, offset: 0), to: .query))
        for round in 0...1 {
            for _ in 1...1_000 {
                guard case .send(.append(let bytes, _)) = decision else { break }
                let answer = UploadAnswer(status: 204, offset: bytes.lowerBound + 1)
                decision = machine.decide(on: .answered(answer, to: .append(bytes, completes: true)))
            }
            #expect(machine.progress.confirmed == 1_000)
            guard round == 0 else { break }
            #expect(machine.decide(on: .answered(UploadAnswer(status: 404), to: .query)) == .send(.create))
            let answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place))
            decision = machine.decide(on: .answered(answer, to: .create))
        }
    }

    @Test func `patience is counted in failures in a row`() throws {
        var machine = try machine(.tus)
        #expect(machine.decide(on: .failed) == .wait(try: 1, hint: nil))
        #expect(machine.decide(on: .failed) == .wait(try: 2, hint: nil))
        let same = UploadAnswer(status: 200, offset: 0)
        _ = machine.decide(on: .answered(same, to: .query))
        #expect(machine.decide(on: .failed) == .giveUp)
        var none = try self.machine(.tus, patience: 0)
        #expect(none.decide(on: .failed) == .giveUp)
    }

    @Test func `a server that refuses the offset it has named is asked once at once, then after a while, then no more`()
        throws
    {
        var machine = try machine(.tus)
        for expected in [Machine.Decision.send(.query), .wait(try: 2, hint: nil), .fail(.stalled)] {
            _ = machine.decide(on: .answered(UploadAnswer(status: 200, offset: 0), to: .query))
            #expect(machine.decide(on: .answered(UploadAnswer(status: 409), to: Self.part)) == expected)
        }
    }

    @Test func `an upload that the server forgets is begun anew three times`() throws {
        var machine = try machine(.tus)
        for expected in [Machine.Decision.send(.create), .send(.create), .send(.create), .fail(.gone)] {
            #expect(machine.decide(on: .answered(UploadAnswer(status: 404), to: .query)) == expected)
            #expect(machine.progress.location == nil || expected == .fail(.gone))
            let answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place))
            _ = machine.decide(on: .answered(answer, to: .create))
        }
    }

    @Test(arguments: [ResumableUploadProtocol.httpDraft, .tus])
    func `a server that goes back and forth is left, however far it says that it is in between`(
        form: ResumableUploadProtocol
    ) throws {
        var machine = try machine(form, hasSentEnd: false)
        var decision = machine.decide(on: .answered(UploadAnswer(status: 200, offset: 0), to: .query))
        var rounds = 0
        while rounds < 100, case .send(let step) = decision {
            rounds += 1
            var answer = UploadAnswer(status: 204, offset: 0)
            // It takes the first bytes each time, and loses them with the next.
            if case .append(let bytes, completes: _) = step { answer.offset = bytes.lowerBound == 0 ? 6 : 0 }
            decision = machine.decide(on: .answered(answer, to: step))
            if case .wait = decision { decision = machine.decide(on: .waited) }
        }
        // Of the draft, an answer to the last bytes says that they were taken, or nothing.
        #expect(decision == .fail(.stalled))
        #expect(rounds < 12)
    }

    @Test func `how often an upload is begun anew is the policy's, and never less than not at all`() throws {
        for (restarts, expected) in [(0, [.fail(.gone)]), (-1, [.fail(.gone)]), (1, [.send(.create), .fail(.gone)])]
            as [(Int, [Machine.Decision])]
        {
            var machine = try machine(.httpDraft, restarts: restarts)
            for decision in expected {
                #expect(machine.decide(on: .answered(UploadAnswer(status: 410), to: .query)) == decision)
            }
        }
        var impatient = try machine(.tus, patience: -1)
        #expect(impatient.decide(on: .failed) == .giveUp)
        #expect(ResumableUploadPolicy.standard.patience == 8 && ResumableUploadPolicy.standard.restarts == 3)
    }

    @Test func `a creation that says that something is there already is a lie`() throws {
        for (offset, isComplete) in [(1, nil), (nil, true), (0, true)] as [(Int?, Bool?)] {
            var machine = try machine(.httpDraft, isBegun: false, hasSentEnd: false)
            var answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place), offset: offset)
            answer.isComplete = isComplete
            #expect(machine.decide(on: .answered(answer, to: .create)) == .fail(.impossibleOffset))
        }
    }

    @Test func `what may be complete is known to be incomplete once the server says where it is`() throws {
        for (form, isComplete) in [(ResumableUploadProtocol.tus, nil), (.httpDraft, false)] {
            var machine = try machine(form)
            machine.expectCompletion()
            #expect(machine.progress.mayBeComplete && machine.progress.hasSentEnd)
            let answer = UploadAnswer(status: 200, offset: 4, isComplete: isComplete)
            _ = machine.decide(on: .answered(answer, to: .query))
            #expect(!machine.progress.mayBeComplete && machine.progress.hasSentEnd)
            #expect(machine.decide(on: .answered(UploadAnswer(status: 404), to: Self.rest)) == .send(.create))
        }
    }

    @Test func `what is confirmed never goes back, and what the server has lost is sent again`() throws {
        var machine = try machine(.tus)
        _ = machine.decide(on: .answered(UploadAnswer(status: 200, offset: 8), to: .query))
        #expect(machine.progress.confirmed == 8)
        let back = UploadAnswer(status: 200, offset: 4)
        #expect(machine.decide(on: .answered(back, to: .query)) == .send(Self.rest))
        #expect(machine.progress.confirmed == 8)
    }

    // MARK: What was sent

    @Test(arguments: [ResumableUploadProtocol.httpDraft, .tus])
    func `a server has no more than any request was to bring, unless nobody noted how much that was`(
        form: ResumableUploadProtocol
    ) throws {
        for (sent, offset, isPossible) in [
            (4, 4, true), (4, 5, false), (0, 0, true), (0, 1, false), (9, 10, false), (10, 10, true), (nil, 9, true),
            (nil, 11, false),
        ] as [(Int?, Int, Bool)] {
            var machine = try machine(form, sent: sent)
            let decision = machine.decide(on: .answered(UploadAnswer(status: 200, offset: offset), to: .query))
            #expect((decision != .fail(.impossibleOffset)) == isPossible, "\(sent ?? -1), \(offset)")
        }
    }

    @Test func `what a request is to bring is noted before it is sent, and forgotten with the resource`() throws {
        var machine = try machine(.tus, isBegun: false, sent: 0)
        var answer = UploadAnswer(status: 201, location: try HTTPURL(Self.place))
        answer.limits = UploadLimits(maximumAppend: 4)
        #expect(machine.decide(on: .answered(answer, to: .create)) == .send(Self.part))
        #expect(machine.progress.sent == 4)
        #expect(
            machine.decide(on: .answered(UploadAnswer(status: 204, offset: 4), to: Self.part))
                == .send(.append(4..<8, completes: false)))
        #expect(machine.progress.sent == 8)
        // What was lost is sent again.
        #expect(machine.decide(on: .answered(UploadAnswer(status: 200, offset: 0), to: .query)) == .send(Self.part))
        #expect(machine.progress.sent == 8)
        #expect(machine.decide(on: .answered(UploadAnswer(status: 404), to: .query)) == .send(.create))
        #expect(machine.progress.sent == 0)
        var unknown = try self.machine(.tus)
        _ = unknown.decide(on: .answered(UploadAnswer(status: 200, offset: 4), to: .query))
        #expect(unknown.progress.sent == nil)
    }

    // MARK: Interim responses

    @Test func `an interim response names the place, the limits and the offset`() throws {
        var machine = try machine(.httpDraft, isBegun: false)
        var answer = UploadAnswer(status: 104, location: try HTTPURL(Self.place))
        answer.limits = UploadLimits(maximumAppend: 4)
        machine.note(answer, during: .create)
        #expect(machine.progress.location?.absoluteString == Self.place)
        #expect(machine.decide(on: .failed) == .wait(try: 1, hint: nil))
        #expect(machine.decide(on: .waited) == .send(.query))
        let offset = UploadAnswer(status: 204, offset: 0)
        #expect(machine.decide(on: .answered(offset, to: .query)) == .send(.append(0..<4, completes: false)))
        machine.note(
            UploadAnswer(status: 104, location: try HTTPURL("https://b.example/"), offset: 3), during: Self.part)
        #expect(machine.progress.location?.absoluteString == Self.place)
        #expect(machine.progress.confirmed == 3)
        machine.note(UploadAnswer(status: 104, offset: 5), during: Self.part)
        #expect(machine.progress.confirmed == 3, "so much was never sent")
        machine.note(UploadAnswer(status: 104, offset: 4), during: .query)
        #expect(machine.progress.confirmed == 3)
        machine.note(UploadAnswer(status: 104, offset: 4), during: Self.part)
        #expect(machine.progress.confirmed == 4)
    }

    // MARK: The wire

    @Test(arguments: [
        (["5"], 5), (["0"], 0), ([" 7 "], 7), (["999999999999999"], 999_999_999_999_999), (["1000000000000000"], nil),
        (["-1"], nil), (["+1"], nil), (["1.0"], nil), ([""], nil), (["1", "1"], nil), (["1;a"], nil), (["1, 1"], nil),
        ([], nil), (["٣"], nil),
    ]) func `an offset of tus is a number of at most fifteen digits`(values: [String], number: Int?) {
        #expect(ResumableUploadProtocol.number(values) == number)
    }

    @Test(arguments: [
        (["5"], 5), (["0"], 0), ([" 7 "], 7), (["5;a=1"], 5), (["5; a; b=\"x;y\""], 5), (["-0"], 0), (["-1"], nil),
        (["5;"], nil), (["5 a"], nil), (["5.0"], nil), (["\"5\""], nil), (["?1"], nil), (["a"], nil), ([""], nil),
        ([], nil),
        (["1", "1"], nil), (["1, 1"], nil), (["999999999999999"], 999_999_999_999_999), (["1000000000000000"], nil),
    ]) func `an offset of the draft is an integer of a structured field, and its parameters do not matter`(
        values: [String], number: Int?
    ) {
        #expect(ResumableUploadProtocol.integer(values) == number)
    }

    @Test(arguments: [
        (["?1"], true), (["?0"], false), ([" ?1;x=2 "], true), (["?2"], nil), (["1"], nil), (["true"], nil),
        (["?1", "?1"], nil),
        (["?"], nil), ([], nil), (["?1,"], nil),
    ]) func `whether an upload is complete is a boolean of a structured field`(values: [String], isComplete: Bool?) {
        #expect(ResumableUploadProtocol.boolean(values) == isComplete)
    }

    static let limits: [(String, UploadLimits?)] = [
        ("max-size=5", UploadLimits(maximumSize: 5)),
        ("max-size=5, min-size=2,max-append-size=3", UploadLimits(maximumSize: 5, minimumSize: 2, maximumAppend: 3)),
        ("max-age=60", nil), ("", nil), ("other=\"x\", max-size=1", UploadLimits(maximumSize: 1)),
        ("max-size=x, min-size=1", nil), ("max-size", nil), ("max-size=-1", nil),
        ("other=\"a, max-size=7\"", nil), ("other=(1 2);a, max-size=5;b", UploadLimits(maximumSize: 5)),
        ("max-size=5, max-size=6", UploadLimits(maximumSize: 6)), ("max-size=5,", nil), ("Max-Size=5", nil),
        ("max-size=5 min-size=1", nil),
    ]

    @Test(arguments: limits) func `limits are read, and what cannot be read is as if it were not there`(
        text: String, limits: UploadLimits?
    ) {
        #expect(ResumableUploadProtocol.limits(text) == limits)
    }

    @Test func `answers are read by the rules of each protocol`() throws {
        let url = try HTTPURL("https://a.example/files?x=1")
        let body = Data(#"{"type":"https://iana.org/assignments/http-problem-types#completed-upload"}"#.utf8)
        let response = HTTPResponse(
            status: 400,
            fields: [
                .location: "abc", "Upload-Offset": "5", "Upload-Length": "9", "Upload-Complete": "?1",
                "Upload-Limit": "max-size=9", "Retry-After": "3", "Tus-Max-Size": "7",
            ], body: body)
        let draft = ResumableUploadProtocol.httpDraft.answer(response, from: url, at: .now)
        #expect(draft.location?.absoluteString == "https://a.example/abc")
        #expect(draft.offset == 5 && draft.length == 9 && draft.isComplete == true && draft.retryAfter == .seconds(3))
        #expect(draft.limits == UploadLimits(maximumSize: 9) && draft.isCompletedProblem)
        let tus = ResumableUploadProtocol.tus.answer(response, from: url, at: .now)
        #expect(tus.offset == 5 && tus.isComplete == nil && tus.limits == UploadLimits(maximumSize: 7))
        #expect(!tus.isCompletedProblem)
        // Of several, which one counts would be a guess.
        var several = response
        several.fields.append("abd", for: .location)
        #expect(ResumableUploadProtocol.tus.answer(several, from: url, at: .now).location == nil)
        // What is longer could be kept and not read again.
        for (length, isTaken) in [(16 << 10, true), ((16 << 10) + 1, false)] {
            let response = HTTPResponse(
                status: 201, fields: [.location: "/" + String(repeating: "x", count: length - 1)])
            #expect((ResumableUploadProtocol.tus.answer(response, from: url, at: .now).location != nil) == isTaken)
        }
        for (value, isComplete) in [("?0", false), ("?2", nil), ("1", nil), ("true", nil)] as [(String, Bool?)] {
            let response = HTTPResponse(status: 200, fields: ["Upload-Complete": value])
            #expect(ResumableUploadProtocol.httpDraft.answer(response, from: url, at: .now).isComplete == isComplete)
        }
        let other = HTTPResponse(status: 400, body: Data(#"{"type":"#.utf8))
        #expect(!ResumableUploadProtocol.httpDraft.answer(other, from: url, at: .now).isCompletedProblem)
    }

    @Test func `a refusal says that the upload is complete by the type of its problem, in up to 16 KiB`() throws {
        let url = try HTTPURL("https://a.example/")
        func isCompleted(_ status: Int, _ type: String, length: Int? = nil) -> Bool {
            var body = Data(#"{"type":"\#(type)"}"#.utf8)
            if let length { body += Data(repeating: UInt8(ascii: " "), count: length - body.count) }
            let response = HTTPResponse(status: status, body: body)
            return ResumableUploadProtocol.httpDraft.answer(response, from: url, at: .now).isCompletedProblem
        }
        for (status, isRefusal) in [(200, false), (399, false), (400, true), (409, true), (599, true)] {
            #expect(isCompleted(status, "https://x.example/y#completed-upload") == isRefusal, "\(status)")
        }
        #expect(!isCompleted(400, "#completed-uploads") && !isCompleted(400, "completed-upload"))
        #expect(isCompleted(400, "#completed-upload", length: 16_384))
        #expect(!isCompleted(400, "#completed-upload", length: 16_385))
    }

    // MARK: Where it is

    static let ways: [(String, String, RedirectPolicy, UploadWay?)] = [
        ("https://a.example", "https://a.example/u/1", .never, .ofService),
        ("https://a.example", "https://a.example:443/u/1", .follow, .ofService),
        ("https://a.example", "https://b.example/u/1", .follow, nil),
        ("https://a.example", "https://a.example:444/u/1", .follow, nil),
        ("https://a.example", "https://b.example/u/1", RedirectPolicy(sendsBodyAcrossOrigins: true), .bare),
        (
            "https://a.example", "https://b.example/u/1",
            RedirectPolicy(isFollowing: false, sendsBodyAcrossOrigins: true), nil
        ),
        ("https://a.example", "http://a.example/u/1", RedirectPolicy(sendsBodyAcrossOrigins: true), nil),
        ("http://a.example", "https://a.example/u/1", RedirectPolicy(sendsBodyAcrossOrigins: true), .bare),
        ("http://a.example", "http://b.example/u/1", RedirectPolicy(sendsBodyAcrossOrigins: true), .bare),
    ]

    @Test(arguments: ways) func `an upload goes where a redirect of its content may lead`(
        service: String, place: String, redirects: RedirectPolicy, way: UploadWay?
    ) throws {
        let decision = UploadWay(to: try HTTPURL(place), from: try HTTPURL(service).origin, redirects)
        if let way {
            #expect(decision == way)
        } else {
            guard case .refused(let reason) = decision else {
                Issue.record("\(place) is gone to from \(service)")
                return
            }
            let origin = try HTTPURL(place).origin
            #expect(reason.contains("\(origin)"))
        }
    }

    @Test func `names of files go whole in both forms`() {
        let metadata = UploadMetadata(
            fileName: "a b/ü%'*\"\r\n.mov", contentType: "video/quicktime", others: ["key": "ü"])
        #expect(metadata.disposition == "inline; filename*=UTF-8''a%20b%2F%C3%BC%25%27%2A%22%0D%0A.mov")
        #expect(
            metadata.tus == "filename YSBiL8O8JScqIg0KLm1vdg==,filetype dmlkZW8vcXVpY2t0aW1l,key w7w=")
        #expect(UploadMetadata(fileName: nil, contentType: "a/b").disposition == nil)
        #expect(UploadMetadata(fileName: nil, contentType: "a/b").tus == "filetype YS9i")
    }
}
