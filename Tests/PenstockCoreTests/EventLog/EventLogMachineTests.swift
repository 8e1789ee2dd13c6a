import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Which events are sent together, and when.
struct EventLogMachineTests {
    private typealias Seal = EventLogMachine.Seal

    private let policy = EventLogPolicy(
        count: 3, bytes: 100, age: .seconds(60), keptCount: 8, keptBytes: 200, firstDelay: .seconds(4),
        longestDelay: .seconds(10))

    private func machine(_ sizes: [Int] = [], at now: Duration = .zero) -> EventLogMachine {
        var machine = EventLogMachine(policy)
        for size in sizes { machine.add(Data(count: size), at: now) }
        return machine
    }

    private func numbers(_ decision: EventLogMachine.Decision) -> [UInt64]? {
        guard case .send(_, let records) = decision else { return nil }
        return records.map(\.number)
    }

    @Test("By default a batch is 30 events, 64 KiB or a minute, and 10,000 events or 4 MiB are kept")
    func defaults() {
        let policy = EventLogPolicy()
        #expect(policy.count == 30 && policy.bytes == 65_536 && policy.age == .seconds(60))
        #expect(policy.keptCount == 10_000 && policy.keptBytes == 4 << 20)
        #expect(policy.firstDelay == .seconds(5) && policy.longestDelay == .seconds(600))
    }

    @Test("A batch is made at its count, and not before")
    func count() {
        var machine = machine([1, 1])
        #expect(machine.decide(at: .zero) == .wait(.seconds(60)))
        machine.add(Data(count: 1), at: .zero)
        #expect(machine.decide(at: .zero) == .seal(upTo: 3))
    }

    @Test("A batch is made at its bytes, and not before", arguments: [99, 100, 101])
    func bytes(bytes: Int) {
        var machine = machine([bytes - 1, 1])
        #expect(machine.decide(at: .zero) == (bytes < 100 ? .wait(.seconds(60)) : .seal(upTo: bytes > 100 ? 1 : 2)))
    }

    @Test("A batch is made when its first event is old enough, and not before")
    func age() {
        var machine = machine([1], at: .seconds(10))
        machine.add(Data(count: 1), at: .seconds(50))
        #expect(machine.decide(at: .seconds(69)) == .wait(.seconds(1)))
        #expect(machine.decide(at: .seconds(70)) == .seal(upTo: 2))
    }

    @Test("The first event after a batch is as old as itself, and not as what is in the batch")
    func ageBehindBatch() {
        var machine = machine([1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        machine.add(Data(count: 1), at: .seconds(50))
        machine.add(Data(count: 1), at: .seconds(55))
        #expect(numbers(machine.decide(at: .seconds(55))) == [1, 2, 3])
        machine.delivered()
        #expect(machine.decide(at: .seconds(55)) == .wait(.seconds(55)))
        #expect(machine.decide(at: .seconds(110)) == .seal(upTo: 5))
    }

    @Test("A flush of nothing does not hurry what comes after")
    func emptyFlush() {
        var machine = machine()
        machine.flush()
        machine.add(Data(count: 1), at: .zero)
        #expect(machine.decide(at: .zero) == .wait(.seconds(60)))
    }

    @Test("A count below 1 makes batches of one event", arguments: [1, 0, -1])
    func senselessCount(count: Int) {
        var machine = EventLogMachine(EventLogPolicy(count: count))
        #expect(machine.decide(at: .zero) == .rest)
        for _ in 0..<2 { machine.add(Data(count: 1), at: .zero) }
        #expect(machine.decide(at: .zero) == .seal(upTo: 1))
    }

    @Test("A flush makes batches of all that is there, and of nothing that comes after")
    func flush() {
        var machine = machine([1, 1, 1, 1])
        machine.flush()
        #expect(machine.decide(at: .zero) == .seal(upTo: 3))
        machine.seal(Seal(id: "a", last: 3))
        #expect(numbers(machine.decide(at: .zero)) == [1, 2, 3])
        machine.delivered()
        #expect(machine.decide(at: .zero) == .seal(upTo: 4))
        machine.seal(Seal(id: "b", last: 4))
        #expect(numbers(machine.decide(at: .zero)) == [4])
        machine.delivered()
        #expect(machine.decide(at: .zero) == .rest)
        machine.add(Data(count: 1), at: .zero)
        #expect(machine.decide(at: .zero) == .wait(.seconds(60)))
    }

    @Test("A batch holds as many as its count and its bytes allow, and at least one")
    func batchSize() {
        for (sizes, last) in [([1, 1, 1, 1], 3), ([60, 40, 1], 2), ([60, 41, 1], 1), ([150, 1, 1], 1)]
            as [([Int], UInt64)]
        {
            var machine = machine(sizes)
            #expect(machine.decide(at: .zero) == .seal(upTo: last), "\(sizes)")
        }
    }

    @Test("One batch is sent at a time, with the same id and events at every attempt")
    func oneAtATime() {
        var machine = machine([1, 1, 1])
        let seal = Seal(id: "a", last: 3)
        machine.seal(seal)
        let first = machine.decide(at: .zero)
        #expect(numbers(first) == [1, 2, 3])
        for _ in 0..<4 { machine.add(Data(count: 1), at: .zero) }
        #expect(machine.decide(at: .seconds(99)) == .rest)
        machine.failed(.passing, at: .seconds(100), spread: 1)
        #expect(machine.decide(at: .seconds(100)) == .wait(.seconds(4)))
        #expect(machine.decide(at: .seconds(104)) == first)
        machine.delivered()
        #expect(machine.records.map(\.number) == [4, 5, 6, 7])
        #expect(machine.decide(at: .seconds(104)) == .seal(upTo: 6))
    }

    @Test("The wait after the n-th failure", arguments: [(1, 4), (2, 8), (3, 10), (4, 10), (60, 10)])
    func delays(failures: Int, seconds: Int) {
        for (spread, share) in [(1, 1), (0, 0.5), (0.5, 0.75), (9, 1), (-9, 0.5)] as [(Double, Double)] {
            var machine = machine([1, 1, 1])
            machine.seal(Seal(id: "a", last: 3))
            for _ in 0..<failures { machine.failed(.passing, at: .zero, spread: spread) }
            #expect(machine.decide(at: .zero) == .wait(.seconds(Double(seconds) * share)))
        }
        var machine = machine([1, 1, 1, 1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        for _ in 0..<failures { machine.failed(.passing, at: .zero, spread: 1) }
        _ = machine.decide(at: .seconds(100))
        machine.delivered()
        machine.seal(Seal(id: "b", last: 6))
        machine.failed(.passing, at: .zero, spread: 1)
        #expect(machine.decide(at: .zero) == .wait(.seconds(4)))
    }

    @Test(
        "The wait doubles thirty times at most, however short it was first",
        arguments: [(30, 29), (31, 30), (32, 30), (99, 30)])
    func doublings(failures: Int, doublings: Int) {
        var machine = EventLogMachine(
            EventLogPolicy(count: 1, firstDelay: .nanoseconds(1), longestDelay: .seconds(86_400)))
        machine.add(Data(count: 1), at: .zero)
        machine.seal(Seal(id: "a", last: 1))
        for _ in 0..<failures { machine.failed(.passing, at: .zero, spread: 1) }
        #expect(machine.decide(at: .zero) == .wait(.nanoseconds(1 << doublings)))
    }

    @Test("A flush does not wait out a failure, and ends with the next one")
    func flushAfterFailure() {
        var machine = machine([1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        _ = machine.decide(at: .zero)
        machine.failed(.passing, at: .zero, spread: 1)
        machine.flush()
        #expect(numbers(machine.decide(at: .zero)) == [1, 2, 3])
        machine.failed(.passing, at: .zero, spread: 1)
        #expect(machine.decide(at: .zero) == .wait(.seconds(8)))
    }

    @Test("A flush beside an attempt that fails without having been refused is worth one of its own")
    func flushMeanwhile() {
        var machine = machine([1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        #expect(numbers(machine.decide(at: .zero)) == [1, 2, 3])
        machine.flush()
        #expect(machine.decide(at: .zero) == .rest)
        machine.failed(.passing, at: .zero, spread: 1)
        #expect(numbers(machine.decide(at: .zero)) == [1, 2, 3])
        machine.failed(.passing, at: .zero, spread: 1)
        #expect(machine.decide(at: .zero) == .wait(.seconds(8)))
        _ = machine.decide(at: .seconds(8))
        machine.flush()
        machine.delivered()
        for _ in 1...3 { machine.add(Data(count: 1), at: .seconds(8)) }
        machine.seal(Seal(id: "b", last: 6))
        _ = machine.decide(at: .seconds(8))
        machine.failed(.passing, at: .seconds(8), spread: 1)
        #expect(machine.decide(at: .seconds(8)) == .wait(.seconds(4)))
        _ = machine.decide(at: .seconds(12))
        machine.flush()
        machine.failed(.refused(.business(code: 5, message: "")), at: .seconds(12), spread: 1)
        #expect(machine.decide(at: .seconds(12)) == .wait(.seconds(8)))
    }

    @Test(
        "What an earlier launch has left beyond the first batch is as old as this launch, and sent once that is enough")
    func restOfLaunch() {
        let records = (1...5).map { EventLogMachine.Record(number: UInt64($0), data: Data(count: 1)) }
        var machine = EventLogMachine(policy, records: records)
        #expect(machine.decide(at: .zero) == .seal(upTo: 3))
        machine.seal(Seal(id: "a", last: 3))
        #expect(numbers(machine.decide(at: .zero)) == [1, 2, 3])
        machine.failed(.passing, at: .zero, spread: 1)
        #expect(numbers(machine.decide(at: .seconds(4))) == [1, 2, 3])
        machine.delivered()
        #expect(machine.decide(at: .seconds(10)) == .wait(.seconds(50)))
        #expect(machine.decide(at: .seconds(59)) == .wait(.seconds(1)))
        #expect(machine.decide(at: .seconds(60)) == .seal(upTo: 5))
    }

    @Test("What an earlier launch has left counts among what is kept")
    func leftoversCount() {
        let records = (1...3).map { EventLogMachine.Record(number: UInt64($0), data: Data(count: 10)) }
        let machine = EventLogMachine(EventLogPolicy(keptCount: 10, keptBytes: 40), records: records)
        #expect(machine.refusal(of: 10) == nil)
        #expect(machine.refusal(of: 11) == .tooManyBytes)
        let full = EventLogMachine(EventLogPolicy(keptCount: 3, keptBytes: 40), records: records)
        #expect(full.refusal(of: 1) == .tooManyEvents)
    }

    @Test("The file grows to four times what may be kept, however much that is")
    func fileBytes() {
        for (kept, most) in [
            (4 << 20, 16 << 20), (0, 0), (.max / 4, .max - 3), (.max / 4 + 1, .max), (.max, .max),
        ] {
            #expect(EventLogPolicy(keptBytes: kept).mostFileBytes == most, "\(kept)")
        }
    }

    @Test("A batch that is refused for good is dropped, and the next one goes on at once")
    func refused() {
        var machine = machine([1, 1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        _ = machine.decide(at: .zero)
        machine.failed(.final, at: .zero, spread: 1)
        #expect(machine.records.map(\.number) == [4])
        #expect(machine.batch == nil)
        machine.flush()
        #expect(machine.decide(at: .zero) == .seal(upTo: 4))
    }

    @Test("What the log held is sent at the next launch without waiting for more")
    func leftovers() {
        let records = [5, 6, 9].map { EventLogMachine.Record(number: $0, data: Data()) }
        var machine = EventLogMachine(policy, records: records, batch: Seal(id: "old", last: 6), nextNumber: 7)
        #expect(machine.number == 10)
        #expect(machine.decide(at: .zero) == .send(Seal(id: "old", last: 6), Array(records.prefix(2))))
        machine.delivered()
        #expect(machine.decide(at: .zero) == .seal(upTo: 9))
    }

    @Test("A batch whose events were all lost is forgotten")
    func emptyBatch() {
        let records = [EventLogMachine.Record(number: 9, data: Data())]
        var machine = EventLogMachine(policy, records: records, batch: Seal(id: "old", last: 6))
        #expect(machine.decide(at: .zero) == .seal(upTo: 9))
        #expect(machine.batch == nil)
        var empty = EventLogMachine(policy, batch: Seal(id: "old", last: 6), nextNumber: 7)
        #expect(empty.decide(at: .zero) == .rest)
        #expect(empty.number == 7)
        #expect(empty.batch == nil)
    }

    @Test("What is recorded after a batch whose events were all lost is none of it, also before anything was decided")
    func eventsBehindEmptyBatch() {
        var machine = EventLogMachine(policy, batch: Seal(id: "old", last: 6))
        #expect(machine.number == 7)
        machine.add(Data(count: 1), at: .zero)
        #expect(machine.decide(at: .zero) == .wait(.seconds(60)))
        #expect(machine.records.map(\.number) == [7])
    }

    @Test("A new log begins with event 1")
    func firstNumber() {
        #expect(EventLogMachine(policy).number == 1)
        #expect(EventLogMachine(policy, nextNumber: 5).number == 5)
    }

    @Test("No more is kept than the policy allows, in events and in bytes; what was delivered makes room")
    func bounded() {
        var machine = machine(Array(repeating: 10, count: 7))
        #expect(machine.refusal(of: 130) == nil)
        #expect(machine.refusal(of: 131) == .tooManyBytes)
        machine.add(Data(count: 10), at: .zero)
        #expect(machine.refusal(of: 1) == .tooManyEvents)
        machine.seal(Seal(id: "a", last: 3))
        machine.delivered()
        #expect(machine.refusal(of: 150) == nil)
        #expect(machine.refusal(of: 151) == .tooManyBytes)
        #expect(machine.refusal(of: .max) == .tooManyBytes)
    }

    private func judge(
        _ kind: APIError.Kind, _ status: Int? = nil, expiry: ExpiryRule? = nil, isFinal: Bool = false
    ) -> EventLogMachine.Failure {
        let error = APIError(kind, stage: .status, response: status.map { HTTPResponse(status: $0) })
        return EventLogRule.judge(error, expiry: expiry) { asked in
            #expect(asked.kind == kind)
            return isFinal
        }
    }

    @Test("A server's no is final when it is about the request itself; else the app says so, who alone knows the codes")
    func finality() {
        let final: [APIError.Kind] =
            [400, 405, 406, 410, 411, 413, 414, 415, 422].map { .httpStatus($0) }
            + [.invalidParameter(field: "", reason: "")]
        let passing: [APIError.Kind] =
            [401, 403, 404, 408, 409, 425, 429, 500, 503].map { .httpStatus($0) }
            + [.cancelled, .timeout(.total), .unreachable(.offline), .tls(.expired), .transport(.connectionLost)]
        for kind in final { #expect(judge(kind) == .final, "\(kind)") }
        for kind in passing {
            #expect(judge(kind) == .passing, "\(kind)")
            #expect(judge(kind, isFinal: true) == .final, "\(kind)")
        }
        let code = APIError.Kind.business(code: 1, message: "")
        #expect(judge(code, 200) == .refused(code))
        #expect(judge(code, 200, isFinal: true) == .final)
    }

    @Test("What says that the credential is out of date says nothing about the batch, by whatever status or code")
    func expiredCredential() {
        let rule = ExpiryRule(statuses: [401, 410], codes: [40101])
        let code = APIError.Kind.business(code: 40101, message: "")
        #expect(judge(code, 200, expiry: rule, isFinal: true) == .passing)
        #expect(judge(code, 200) == .refused(code), "a service without credentials has no such code")
        #expect(judge(.httpStatus(410), 410, expiry: rule) == .passing)
        #expect(judge(.httpStatus(410), 410) == .final)
        #expect(judge(.authentication(.lost), 200, isFinal: true) == .passing)
    }

    private static let code = APIError.Kind.business(code: 5, message: "")

    @Test("A batch that the server refuses is given up for an event that has room without it alone")
    func givenUp() throws {
        // Eight events or 200 bytes are kept.
        func refused(_ sizes: [Int]) -> EventLogMachine {
            var machine = machine(sizes)
            machine.seal(Seal(id: "a", last: 3))
            _ = machine.decide(at: .zero)
            machine.failed(.refused(Self.code), at: .zero, spread: 1)
            return machine
        }
        var full = refused([1, 1, 1, 1, 1, 1, 1])
        #expect(full.giveUp(for: 1) == nil, "there is room")
        full.add(Data(count: 1), at: .zero)
        let given = full.giveUp(for: 1)
        let gone = try #require(given)
        #expect(gone.seal == Seal(id: "a", last: 3) && gone.count == 3 && gone.kind == Self.code)
        #expect(full.records.map(\.number) == [4, 5, 6, 7, 8] && full.batch == nil && full.refusal(of: 1) == nil)
        #expect(full.decide(at: .zero) == .seal(upTo: 6), "the next one goes on at once")
        full.seal(Seal(id: "b", last: 6))
        _ = full.decide(at: .zero)
        for _ in 0..<3 { full.add(Data(count: 1), at: .zero) }
        #expect(full.giveUp(for: 1) == nil, "what is being sent may arrive")
        full.failed(.passing, at: .zero, spread: 1)
        #expect(full.giveUp(for: 1) == nil, "it was not refused")
        var large = refused([30, 30, 30, 100])
        #expect(large.giveUp(for: 10) == nil)
        #expect(large.giveUp(for: 101) == nil, "there is no room without it either")
        #expect(large.giveUp(for: 100)?.count == 3)
    }

    @Test("A batch is given up for its last refusal alone, and not once a later attempt was not refused")
    func lastWord() {
        var machine = machine([1, 1, 1, 1, 1, 1, 1, 1])
        machine.seal(Seal(id: "a", last: 3))
        _ = machine.decide(at: .zero)
        #expect(machine.giveUp(for: 1) == nil)
        machine.failed(.refused(Self.code), at: .zero, spread: 1)
        #expect(machine.decide(at: .zero) == .wait(.seconds(4)), "it is sent again like any other")
        #expect(numbers(machine.decide(at: .seconds(4))) == [1, 2, 3])
        #expect(machine.giveUp(for: 1) == nil)
        machine.failed(.passing, at: .seconds(4), spread: 1)
        #expect(machine.giveUp(for: 1) == nil)
        #expect(machine.decide(at: .seconds(4)) == .wait(.seconds(8)))
        machine.flush()
        _ = machine.decide(at: .seconds(4))
        machine.failed(.refused(Self.code), at: .seconds(4), spread: 1)
        #expect(machine.giveUp(for: 1)?.count == 3)
    }
}

/// How a log is written, and read after whatever has happened to it.
struct EventLogFormatTests {
    private typealias Record = EventLogMachine.Record

    private let records = (1...4).map { Record(number: UInt64($0), data: Data("event \($0)".utf8)) }
    private var events: [String] { records.map(EventLogFormat.event) }
    private let seal = EventLogFormat.seal(.init(id: "a", last: 2))
    private let done = EventLogFormat.done("a")

    private func read(_ lines: String...) throws -> EventLogFormat.Content {
        try EventLogFormat.read(Data((EventLogFormat.header + lines.joined()).utf8))
    }

    @Test("What was written is read: events, the batch under way, and what has arrived")
    func roundTrip() throws {
        let open = try read(events.joined(), seal)
        #expect(open.records == records)
        #expect(open.batches.first == .init(id: "a", last: 2))
        #expect(open.nextNumber == 5)
        let closed = try read(events.joined(), seal, done)
        #expect(closed.records == Array(records.dropFirst(2)))
        #expect(closed.batches.first == nil)
        #expect(closed.nextNumber == 5)
        let whole = try EventLogFormat.read(Data(EventLogFormat.whole(records, [.init(id: "a", last: 2)]).utf8))
        #expect(whole.records == records && whole.batches.first == .init(id: "a", last: 2) && whole.damagedLines == 0)
    }

    @Test("Cut short at any byte, a log has every event whose line is whole, and no other")
    func cutShort() throws {
        let text = EventLogFormat.header + events.joined() + seal + done
        for length in 0...text.utf8.count {
            let prefix = Data(text.utf8.prefix(length))
            let content = try EventLogFormat.read(prefix)
            let ends = events.indices.filter { index in
                EventLogFormat.header.utf8.count + events[...index].joined().utf8.count <= length
            }
            let isDone = length == text.utf8.count
            #expect(content.records == Array(records.prefix(ends.count).dropFirst(isDone ? 2 : 0)), "\(length)")
        }
    }

    @Test("A damaged line costs itself and no other")
    func damagedLines() throws {
        let lines = [EventLogFormat.header] + events
        for index in lines.indices {
            for offset in 0..<lines[index].utf8.count {
                var damaged = lines
                var bytes = Array(damaged[index].utf8)
                bytes[offset] = bytes[offset] == UInt8(ascii: "#") ? UInt8(ascii: "!") : UInt8(ascii: "#")
                damaged[index] = String(decoding: bytes, as: UTF8.self)
                let content = try EventLogFormat.read(Data(damaged.joined().utf8))
                // Without the end of its line, an event takes the next line along; the last one was cut short.
                let isJoined = offset == bytes.count - 1
                let lost = Set([index, isJoined ? index + 1 : index])
                let kept = records.indices.filter { !lost.contains($0 + 1) }.map { records[$0] }
                #expect(content.records == kept, "line \(index), byte \(offset)")
                #expect(content.damagedLines == 1)
            }
        }
    }

    @Test("A damaged mark of a batch leaves its events to be sent again, and those after it untouched")
    func damagedMarks() throws {
        let bad = "S 00000000 a 2\n"
        let unsealed = try read(events.joined(), bad, done)
        #expect(unsealed.records == records && unsealed.batches.first == nil)
        let unfinished = try read(events.joined(), seal, "D 00000000 a\n")
        #expect(unfinished.records == records && unfinished.batches.first?.id == "a")
        let next = EventLogFormat.seal(.init(id: "b", last: 4))
        #expect(try read(events.joined(), seal, next, EventLogFormat.done("b")).records.isEmpty)
        #expect(try read(events.joined(), seal, EventLogFormat.done("z")).records == records)
    }

    @Test("Events that come again, or out of their order, count once")
    func repeatedEvents() throws {
        let content = try read(events[0], events[2], events[1], events[2])
        #expect(content.records.map(\.number) == [1, 3])
        #expect(content.damagedLines == 2)
        #expect(content.nextNumber == 4)
    }

    @Test("What stands on disk keeps its form: a sum of eight digits over the kind and the text")
    func onDisk() {
        #expect(EventLogFormat.header == "penstock-events 2\n")
        #expect(events[0] == "E dddc8911 1 21aaf64ec0cec87a25da06569250162d ZXZlbnQgMQ==\n")
        #expect(seal == "S 6674fad1 a 2 21aaf64ec0cec87a25da06569250162d\n")
        #expect(done == "D e5c2af41 a\n")
    }

    @Test("What the first version has written, without an identity, is nobody's")
    func firstVersion() throws {
        let text = "penstock-events 1\nE 53cd88c4 1 ZXZlbnQgMQ==\nS d537aa9e a 2\n"
        let content = try EventLogFormat.read(Data(text.utf8))
        #expect(content.records == [records[0]] && content.damagedLines == 0)
        #expect(content.batches == [.init(id: "a", last: 2)])
        for length in 0..<18 {
            #expect(try EventLogFormat.read(Data(text.utf8.prefix(length))).records.isEmpty, "\(length)")
        }
    }

    @Test("A batch ends its own identity's events and batch, and no other's")
    func identities() throws {
        let (anna, ben) = (EventLogFormat.owner("anna"), EventLogFormat.owner("ben"))
        let mixed = [anna, ben, anna, ben].enumerated().map {
            Record(number: UInt64($0 + 1), owner: $1, data: Data("x".utf8))
        }
        let seals = [EventLogMachine.Seal(id: "a", last: 3, owner: anna), .init(id: "b", last: 2, owner: ben)]
        let text = EventLogFormat.whole(mixed, seals)
        #expect(!text.contains("anna") && !text.contains("ben"))
        let open = try EventLogFormat.read(Data(text.utf8))
        #expect(open.records == mixed && open.batches == seals)
        let done = try EventLogFormat.read(Data((text + EventLogFormat.done("a")).utf8))
        #expect(done.records == [mixed[1], mixed[3]] && done.batches == [seals[1]])
        let both = try EventLogFormat.read(Data((text + EventLogFormat.done("a") + EventLogFormat.done("b")).utf8))
        #expect(both.records == [mixed[3]] && both.batches.isEmpty)
    }

    @Test("A number that none can follow is none, of an event and of a batch")
    func lastNumber() throws {
        for (number, isRead) in [(UInt64.max, false), (.max - 1, true)] {
            let content = try read(EventLogFormat.event(Record(number: number, data: Data("x".utf8))))
            #expect(content.records.map(\.number) == (isRead ? [number] : []))
            #expect(content.damagedLines == (isRead ? 0 : 1))
            let sealed = try read(EventLogFormat.seal(.init(id: "a", last: number)))
            #expect(sealed.batches.first?.last == (isRead ? number : nil))
            #expect(EventLogMachine(.init(), batch: sealed.batches.first).number == (isRead ? .max : 1))
        }
    }

    @Test("A file of a later version and a file of something else are told apart from a damaged log")
    func foreignFiles() throws {
        #expect(throws: EventLogFormat.Problem.newerVersion) {
            try EventLogFormat.read(Data("penstock-events 3\nX\n".utf8))
        }
        for text in [
            "hello\n", "x", "penstock-events 0\n", "penstock-events x\n", "\n\n", "penstock-eventsX\n",
            "penstock-events 01\n", "another-program 2\n", "penstock-eventz 3\n",
        ] {
            #expect(throws: EventLogFormat.Problem.foreign, "\(text)") { try EventLogFormat.read(Data(text.utf8)) }
            #expect(!EventLogFormat.isOurs(Data(text.utf8)), "\(text)")
        }
        #expect(!EventLogFormat.isOurs(Data()))
        for text in ["penstock-events 3\nX\n", "penst", EventLogFormat.header, "garbage\n" + events[0]] {
            #expect(EventLogFormat.isOurs(Data(text.utf8)), "\(text)")
        }
        #expect(try EventLogFormat.read(Data()).records.isEmpty)
        #expect(try EventLogFormat.read(Data("penst".utf8)).records.isEmpty)
        #expect(try EventLogFormat.read(Data(("garbage\n" + events[0]).utf8)).records == [records[0]])
    }

    @Test("Bytes of chance are refused or read, and never crash")
    func chance() {
        var random = Seeded(seed: 20_264)
        let text = Array((EventLogFormat.header + events.joined() + seal + done).utf8)
        for _ in 0..<2_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let content = try? EventLogFormat.read(Data(bytes))
            #expect(content?.records.allSatisfy(records.contains) != false)
        }
    }
}
