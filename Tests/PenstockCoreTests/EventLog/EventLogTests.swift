import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// A log of events on disk.
@Suite(.timeLimit(.minutes(5))) final class EventLogTests {
    struct Tap: Codable, Hashable, Sendable {
        var button: String
    }

    struct SendTaps: Endpoint, Encodable {
        typealias Output = Void
        let id: String
        let taps: [Tap]
        var route: Route { .post("/taps") }
    }

    private struct Sent: Decodable {
        let id: String
        let taps: [Tap]
    }

    private typealias Log = EventLog<Tap, SendTaps>

    private let folder: URL
    private var file: URL { folder.appendingPathComponent("taps.log") }
    private let clock = TestClock()
    private let problems = Box<[EventLogError]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func open(
        _ transport: any Transport, policy: EventLogPolicy = .init(), services: ServiceRegistry? = nil,
        isFinal: @escaping @Sendable (APIError) -> Bool = { _ in false }
    ) async throws -> Log {
        let client = CallSupport.client(transport) { configuration in
            configuration.time = clock.timeSource
            if let services { (configuration.services, configuration.vault) = (services, MemoryVault()) }
        }
        return try await Log(
            file: file, client: client, policy: policy,
            onProblem: { [problems] problem in problems.update { $0.append(problem) } }, isFinal: isFinal,
            endpoint: { SendTaps(id: $0.id, taps: $0.events) })
    }

    /// A service whose answers have codes, of which one says that the token has expired.
    private static let coded = ServiceRegistry([
        Service(
            .main, "https://api.example.com", envelope: .retcode,
            authenticator: BearerAuthenticator(expiry: ExpiryRule(codes: [40101])))
    ])

    private static func answeringCodes(_ codes: Int...) -> StubTransport {
        let rest = Box(codes)
        return StubTransport { _ throws(TransportError) in
            .json(#"{"retcode":\#(rest.update { $0.isEmpty ? 0 : $0.removeFirst() }),"data":null}"#)
        }
    }

    private static func answering(_ statuses: Int...) -> StubTransport {
        let rest = Box(statuses)
        return StubTransport { _ throws(TransportError) in
            HTTPResponse(status: rest.update { $0.isEmpty ? 200 : $0.removeFirst() })
        }
    }

    private func sent(_ stub: StubTransport) throws -> [Sent] {
        try stub.requests.map { try JSONDecoder().decode(Sent.self, from: Data($0.text.utf8)) }
    }

    private func record(_ log: Log, _ numbers: Range<Int>) {
        for number in numbers { log.record(Tap(button: "\(number)")) }
    }

    private func names(_ numbers: Range<Int>) -> [Tap] { numbers.map { Tap(button: "\($0)") } }

    @Test("Thirty events are one hit, and what was left over is sent at the next launch", .covers("S3.43"))
    func thirtyAndTheRest() async throws {
        let stub = Self.answering()
        let first = try await open(stub)
        record(first, 0..<35)
        while !Task.isCancelled, await first.count > 5 { await Task.yield() }
        await first.close()
        #expect(try sent(stub).map(\.taps) == [names(0..<30)])
        let second = try await open(stub)
        while !Task.isCancelled, await second.count > 0 { await Task.yield() }
        #expect(try sent(stub).map(\.taps) == [names(0..<30), names(30..<35)])
        #expect(problems.value.isEmpty)
        await second.close()
    }

    @Test("Thirty events are one hit, in their order")
    func oneHit() async throws {
        let stub = Self.answering()
        let log = try await open(stub)
        record(log, 0..<29)
        #expect(await log.count == 29)
        #expect(stub.requests.isEmpty)
        record(log, 29..<30)
        while !Task.isCancelled, await log.count > 0 { await Task.yield() }
        let batches = try sent(stub)
        #expect(batches.map(\.taps) == [names(0..<30)])
        #expect(problems.value.isEmpty)
        await log.close()
    }

    @Test("A lone event is sent when it is old enough, and at once by a flush")
    func ageAndFlush() async throws {
        let stub = Self.answering()
        let log = try await open(stub)
        record(log, 0..<1)
        #expect(await log.count == 1)
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(60))
        while !Task.isCancelled, await log.count > 0 { await Task.yield() }
        record(log, 1..<2)
        await log.flush()
        #expect(await log.count == 0)
        #expect(try sent(stub).map(\.taps) == [names(0..<1), names(1..<2)])
        await log.flush()
        #expect(stub.requests.count == 2)
        await log.close()
    }

    @Test("What was left is sent at the next launch, each batch under its old id")
    func leftovers() async throws {
        let failing = Self.answering(503, 503, 503)
        let first = try await open(failing)
        record(first, 0..<3)
        await first.flush()
        record(first, 3..<5)
        #expect(await first.count == 5)
        await first.close()
        let stub = Self.answering()
        let second = try await open(stub)
        await second.flush()
        let (before, after) = (try sent(failing), try sent(stub))
        #expect(before.map(\.taps) == [names(0..<3)])
        #expect(after.map(\.taps) == [names(0..<3), names(3..<5)])
        #expect(after[0].id == before[0].id)
        #expect(after[1].id != before[0].id)
        #expect(await second.count == 0)
        await second.close()
        let third = Self.answering()
        let empty = try await open(third)
        await empty.flush()
        #expect(third.requests.isEmpty)
        await empty.close()
    }

    @Test("After a failure the same batch is sent again under its id, and later events wait behind it")
    func retried() async throws {
        let stub = Self.answering(500)
        let log = try await open(stub, policy: EventLogPolicy(count: 2))
        record(log, 0..<2)
        while !Task.isCancelled, stub.requests.isEmpty { await Task.yield() }
        record(log, 2..<4)
        // The later events may have come after the failure, and have begun the wait anew.
        while !Task.isCancelled, await log.count > 0 {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        let batches = try sent(stub)
        #expect(batches.map(\.taps) == [names(0..<2), names(0..<2), names(2..<4)])
        #expect(batches[0].id == batches[1].id && batches[1].id != batches[2].id)
        await log.close()
    }

    @Test("A redirect that makes a GET of a batch is no delivery; See Other is, whatever becomes of the GET")
    func redirected() async throws {
        for (status, isDelivered) in [(301, false), (302, false), (303, true)] {
            let stub = StubTransport { request in
                guard request.method == .post else { return HTTPResponse(status: status == 303 ? 410 : 200) }
                return .redirect(status, to: "/taps/")
            }
            let log = try await open(stub)
            record(log, 0..<2)
            await log.flush()
            #expect(await log.count == (isDelivered ? 0 : 2), "\(status)")
            #expect(stub.requests.contains { $0.method == .get } == isDelivered, "\(status)")
            #expect(problems.value == [], "\(status)")
            await log.close()
            try FileManager.default.removeItem(at: file)
        }
    }

    #if os(Linux)
        @Test("A batch that could not be noted on disk is made a while later, without anybody asking")
        func unsealed() async throws {
            let stub = Self.answering(200)
            let log = try await open(stub)
            record(log, 0..<1)
            while !Task.isCancelled, await log.count == 0 { await Task.yield() }
            let path = file.path
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(
                Int32.init)
            let own = try #require(
                descriptors.first { descriptor in
                    let target = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(descriptor)")
                    return target == path
                })
            // The disk is full until what the descriptor was is put back.
            let kept = dup(own)
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            #expect(dup2(full.fileDescriptor, own) == own)
            await log.flush()
            #expect(stub.requests.isEmpty && problems.value.count == 1)
            #expect(dup2(kept, own) == own)
            close(kept)
            try full.close()
            while !Task.isCancelled, await log.count > 0 {
                clock.advance(by: .seconds(5))
                await Task.yield()
            }
            #expect(try sent(stub).map(\.taps) == [names(0..<1)])
            await log.close()
        }
    #endif

    @Test("A batch that the server will never take is dropped and told of, and the next one goes on")
    func refused() async throws {
        let stub = Self.answering(422)
        let log = try await open(stub, policy: EventLogPolicy(count: 2))
        record(log, 0..<4)
        while !Task.isCancelled, await log.count > 0 { await Task.yield() }
        #expect(problems.value == [.refused(events: 2, .httpStatus(422))])
        #expect(try sent(stub).map(\.taps) == [names(0..<2), names(2..<4)])
        await log.close()
    }

    @Test("A batch whose credential is out of date, and one that a code refuses, are sent again under their ids")
    func refusedByCode() async throws {
        for code in [40101, 5] {
            let stub = Self.answeringCodes(code)
            let log = try await open(stub, policy: EventLogPolicy(count: 2), services: Self.coded)
            record(log, 0..<2)
            while !Task.isCancelled, await log.count > 0 {
                clock.advance(by: .seconds(5))
                await Task.yield()
            }
            let batches = try sent(stub)
            #expect(batches.map(\.taps) == [names(0..<2), names(0..<2)], "\(code)")
            #expect(batches.first?.id == batches.last?.id, "\(code)")
            #expect(problems.value.isEmpty, "\(code)")
            await log.close()
        }
    }

    @Test("The app says which codes are final, but for what says that the credential is out of date")
    func finalByCode() async throws {
        let stub = Self.answeringCodes(40101, 6, 5)
        let log = try await open(stub, policy: EventLogPolicy(count: 2), services: Self.coded) { error in
            if case .business(6, _) = error.kind { return false }
            return true
        }
        record(log, 0..<2)
        while !Task.isCancelled, await log.count > 0 {
            clock.advance(by: .seconds(5))
            await Task.yield()
        }
        #expect(try sent(stub).map(\.taps) == Array(repeating: names(0..<2), count: 3))
        #expect(problems.value == [.refused(events: 2, .business(code: 5, message: ""))])
        await log.close()
    }

    @Test("A batch that a code refuses goes when the log is full, and is told of; what waits behind it is sent")
    func refusedUntilFull() async throws {
        let stub = Self.answeringCodes(5)
        let log = try await open(stub, policy: EventLogPolicy(count: 2, keptCount: 4), services: Self.coded)
        record(log, 0..<2)
        await log.flush()
        record(log, 2..<4)
        #expect(await log.count == 4)
        #expect(problems.value.isEmpty)
        record(log, 4..<5)
        await log.flush()
        #expect(await log.count == 0)
        #expect(problems.value == [.refused(events: 2, .business(code: 5, message: ""))])
        #expect(try sent(stub).map(\.taps) == [names(0..<2), names(2..<4), names(4..<5)])
        await log.close()
        let rest = Self.answering()
        let again = try await open(rest)
        await again.flush()
        #expect(rest.requests.isEmpty, "what was given up is gone from the file")
        await again.close()
    }

    @Test("What is not kept is told of: beyond the limits, and after the log was closed")
    func full() async throws {
        let log = try await open(Self.answering(), policy: EventLogPolicy(count: 10, keptCount: 2))
        record(log, 0..<3)
        #expect(await log.count == 2)
        #expect(problems.value == [.full])
        await log.close()
        record(log, 3..<4)
        _ = await log.count
        #expect(problems.value == [.full, .closed])
    }

    @Test("A damaged file costs the damaged events alone, and that is told")
    func damaged() async throws {
        let first = try await open(Self.answering(503))
        record(first, 0..<3)
        _ = await first.count
        await first.close()
        var text = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").map(String.init)
        text[2] = "E 00000000 " + text[2].dropFirst(11)
        try Data((text.joined(separator: "\n") + "\nhalf a li").utf8).write(to: file)
        let stub = Self.answering()
        let second = try await open(stub)
        await second.flush()
        #expect(problems.value == [.damagedLines(2)])
        #expect(try sent(stub).map(\.taps) == [[Tap(button: "0"), Tap(button: "2")]])
        await second.close()
    }

    @Test("A file of a later version, a file of something else and a folder are left as they are")
    func foreign() async throws {
        for (text, error) in [("penstock-events 3\nQ\n", EventLogError.newerVersion), ("my diary\n", .foreignFile)] {
            try Data(text.utf8).write(to: file)
            #expect(chmod(file.path, 0o664) == 0)
            await #expect(throws: error) { try await self.open(Self.answering()) }
            #expect(try Data(contentsOf: file) == Data(text.utf8))
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == (error == .foreignFile ? 0o664 : 0o600))
            #expect(!FileManager.default.fileExists(atPath: file.path + ".lock"))
        }
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        let failure = await #expect(throws: EventLogError.self) { try await self.open(Self.answering()) }
        guard case .unusableFile = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
    }

    @Test("Nobody but its owner can read a log, nor one that others could read when it was opened")
    func permissions() async throws {
        try Data("penstock-events 1\n".utf8).write(to: file)
        #expect(chmod(file.path, 0o666) == 0)
        let log = try await open(Self.answering())
        log.record(Tap(button: "buy"))
        for name in ["taps.log", "taps.log.lock"] {
            let url = folder.appendingPathComponent(name)
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        await log.close()
    }

    @Test("A log has one owner at a time; letting go of it is enough to open it again")
    func oneOwner() async throws {
        var log: Log? = try await open(Self.answering())
        await #expect(throws: EventLogError.inUse) { try await self.open(Self.answering()) }
        log?.record(Tap(button: "x"))
        log = nil
        var again: Log?
        while again == nil { again = try? await open(Self.answering()) }
        await again?.close()
    }

    @Test("A file does not grow with what was delivered")
    func compacted() async throws {
        let log = try await open(Self.answering(), policy: EventLogPolicy(count: 5))
        for round in 0..<40 {
            record(log, round * 5..<round * 5 + 5)
            while !Task.isCancelled, await log.count > 0 { await Task.yield() }
        }
        await log.close()
        #expect(try Data(contentsOf: file) == Data(EventLogFormat.header.utf8))
    }

    @Test("An event that cannot be encoded is told of, and those around it are sent")
    func unencodable() async throws {
        struct Odd: Codable, Sendable {
            var value: Double
        }
        struct SendOdd: Endpoint, Encodable {
            typealias Output = Void
            let values: [Double]
            var route: Route { .post("/odd") }
        }
        let stub = Self.answering()
        let log = try await EventLog<Odd, SendOdd>(
            file: file, client: CallSupport.client(stub),
            onProblem: { [problems] problem in problems.update { $0.append(problem) } },
            endpoint: { SendOdd(values: $0.events.map(\.value)) })
        for value in [1, .nan, 3] { log.record(Odd(value: value)) }
        await log.flush()
        guard case .unencodable = problems.value.first else { return #expect(Bool(false), "\(problems.value)") }
        #expect(stub.requests.map(\.text) == [#"{"values":[1,3]}"#])
        await log.close()
    }

    @Test("A batch that could not be written off is no part of the next one")
    func notWrittenOff() async throws {
        let stub = Self.answering(200, 500)
        let log = try await open(stub)
        // No new file can be put in the log's place.
        let new = URL(fileURLWithPath: file.path + ".new")
        try FileManager.default.createDirectory(
            at: new.appendingPathComponent("x"), withIntermediateDirectories: true)
        record(log, 0..<3)
        await log.flush()
        #expect(await log.count == 0)
        #expect(problems.value.count == 1)
        record(log, 3..<5)
        await log.flush()
        await log.close()
        try FileManager.default.removeItem(at: new)
        let again = Self.answering()
        let second = try await open(again)
        await second.flush()
        let (before, after) = (try sent(stub), try sent(again))
        #expect(before.map(\.taps) == [names(0..<3), names(3..<5)])
        #expect(after.map(\.taps) == [names(3..<5)])
        #expect(after.first?.id == before.last?.id)
        await second.close()
    }

    @Test("A link in a log's place is not followed, and stays", arguments: [true, false])
    func linked(isThere: Bool) async throws {
        let target = folder.appendingPathComponent("other.log")
        if isThere { try Data("theirs".utf8).write(to: target) }
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        let stub = Self.answering()
        let failure = await #expect(throws: EventLogError.self) { try await self.open(stub) }
        guard case .unusableFile = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)) == target.path)
    }
}
