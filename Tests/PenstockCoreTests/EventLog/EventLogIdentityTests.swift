import Foundation
import PenstockCore
import PenstockTestSupport
import PenstockTesting
import Testing

/// Whose events a log sends, and with whose credential.
@Suite(.timeLimit(.minutes(5))) final class EventLogIdentityTests {
    private typealias Log = EventLog<EventLogTests.Tap, EventLogTests.SendTaps>

    private let folder: URL
    private var file: URL { folder.appendingPathComponent("taps.log") }
    private let clock = TestClock()
    private let problems = Box<[EventLogError]>([])
    private let user = Box("")
    private let isOnline = Box(false)
    /// What has arrived: the credential, and the buttons.
    private let arrived = Box<[String]>([])

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func client(_ vault: MemoryVault = MemoryVault()) -> APIClient {
        let stub = StubTransport { [isOnline, arrived] request throws(TransportError) in
            guard isOnline.value else { throw TransportError(.unreachable(.offline), sendState: .unsent) }
            let sent = try? JSONDecoder().decode(Sent.self, from: Data(request.text.utf8))
            let buttons = sent?.taps.map(\.button).joined(separator: ",") ?? "?"
            arrived.update { $0.append("\(request.fields[.authorization] ?? "nobody"): \(buttons)") }
            return HTTPResponse(status: 200)
        }
        return CallSupport.client(stub) { [user, clock] configuration in
            configuration.time = clock.timeSource
            configuration.identity = { user.value }
            configuration.services = ServiceRegistry([
                Service(.main, "https://api.example.com", authenticator: BearerAuthenticator())
            ])
            configuration.vault = vault
        }
    }

    private struct Sent: Decodable {
        let taps: [EventLogTests.Tap]
    }

    private func open(
        _ client: APIClient, policy: EventLogPolicy = .init(), options: CallOptions = .init(),
        meanwhile: @escaping @Sendable () -> Void = {}
    ) async throws -> Log {
        try await Log(
            file: file, client: client, policy: policy, options: options,
            onProblem: { [problems] problem in problems.update { $0.append(problem) } },
            endpoint: { batch in
                meanwhile()
                return EventLogTests.SendTaps(id: batch.id, taps: batch.events)
            })
    }

    @Test("One user's events are not sent with the next user's credential; they wait until their user is back")
    func nextUser() async throws {
        let client = client()
        try await client.signIn(Credential("A"), as: "anna")
        try await client.signIn(Credential("B"), as: "ben")
        user.value = "anna"
        let log = try await open(client)
        log.record(.init(button: "a1"))
        await log.flush()
        log.record(.init(button: "a2"))
        user.value = "ben"
        isOnline.value = true
        await log.flush()
        #expect(arrived.value.isEmpty)
        log.record(.init(button: "b1"))
        await log.flush()
        #expect(arrived.value == ["Bearer B: b1"])
        #expect(await log.count == 2)
        user.value = "anna"
        await log.flush()
        #expect(arrived.value == ["Bearer B: b1", "Bearer A: a1", "Bearer A: a2"])
        #expect(await log.count == 0)
        #expect(problems.value.isEmpty)
        await log.close()
    }

    @Test("A batch is not sent where another user is named just when its call begins")
    func changedMeanwhile() async throws {
        let client = client()
        try await client.signIn(Credential("A"), as: "anna")
        try await client.signIn(Credential("B"), as: "ben")
        user.value = "anna"
        isOnline.value = true
        let next = Box(["ben"])
        let log = try await open(client) { [user] in
            if let name = next.update({ $0.popLast() }) { user.value = name }
        }
        log.record(.init(button: "a1"))
        await log.flush()
        #expect(arrived.value.isEmpty && next.value.isEmpty)
        user.value = "anna"
        await log.flush()
        #expect(arrived.value == ["Bearer A: a1"])
        #expect(problems.value.isEmpty)
        await log.close()
    }

    @Test("An event is of who was named when it was recorded; those of two users are two batches, also after a launch")
    func twoBatches() async throws {
        let client = client()
        try await client.signIn(Credential("A"), as: "anna")
        try await client.signIn(Credential("B"), as: "ben")
        let first = try await open(client)
        for (number, name) in ["anna", "ben", "anna", "ben"].enumerated() {
            user.value = name
            first.record(.init(button: "\(name)\(number)"))
        }
        #expect(await first.count == 4)
        await first.close()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(!text.contains("anna") && !text.contains("ben"))
        isOnline.value = true
        user.value = ""
        let second = try await open(client)
        await second.flush()
        #expect(arrived.value.isEmpty)
        for name in ["anna", "ben"] {
            user.value = name
            await second.flush()
        }
        #expect(arrived.value == ["Bearer A: anna0,anna2", "Bearer B: ben1,ben3"])
        await second.close()
    }

    @Test("What nobody has recorded, and what an earlier version has kept, goes as nobody's, whoever is named by then")
    func nobody() async throws {
        try Data("penstock-events 1\nE 326019ae 1 eyJidXR0b24iOiJvbGQifQ==\n".utf8).write(to: file)
        let client = client()
        try await client.signIn(Credential("A"), as: "anna")
        (user.value, isOnline.value) = ("anna", true)
        let log = try await open(client)
        await log.flush()
        #expect(arrived.value == ["nobody: old"])
        user.value = ""
        log.record(.init(button: "new"))
        user.value = "anna"
        log.record(.init(button: "hers"))
        await log.flush()
        #expect(arrived.value.count == 3)
        #expect(Set(arrived.value) == ["nobody: old", "nobody: new", "Bearer A: hers"])
        #expect(await log.count == 0)
        #expect(problems.value.isEmpty)
        await log.close()
    }

    @Test("Who is forgotten has no events left in the log or in its file, and everybody else has theirs")
    func forgotten() async throws {
        let client = client()
        try await client.signIn(Credential("A"), as: "anna")
        try await client.signIn(Credential("B"), as: "ben")
        var log = try await open(client)
        for name in ["anna", "ben", "anna"] {
            user.value = name
            log.record(.init(button: name))
            await log.flush()
        }
        user.value = "ben"
        #expect(try await log.forget(identity: "carl") == 0)
        #expect(try await log.forget(identity: "anna") == 2)
        #expect(try await log.forget(identity: "anna") == 0)
        #expect(await log.count == 1)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(!text.contains(EventLogFormat.owner("anna")) && text.contains(EventLogFormat.owner("ben")))
        await log.close()
        await #expect(throws: EventLogError.closed) { try await log.forget(identity: "ben") }
        isOnline.value = true
        log = try await open(client)
        for name in ["anna", "ben"] {
            user.value = name
            await log.flush()
        }
        #expect(arrived.value == ["Bearer B: ben"])
        await log.close()
    }

    @Test("A full log of one user has room for the next")
    func roomForEach() async throws {
        let log = try await open(client(), policy: EventLogPolicy(keptCount: 1))
        for name in ["anna", "anna", "ben"] {
            user.value = name
            log.record(.init(button: name))
        }
        #expect(await log.count == 2)
        #expect(problems.value == [.full])
        await log.close()
    }
}
