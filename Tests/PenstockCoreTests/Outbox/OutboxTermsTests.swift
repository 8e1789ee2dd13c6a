import Foundation
import PenstockTestSupport
import PenstockTesting
import Testing

@testable import PenstockCore

/// What a write is sent with when the app cannot read its endpoint any more.
@Suite(.timeLimit(.minutes(5)), .covers("X9"))
struct OutboxTermsTests {
    /// The next version of ``Secret`` has one property more, which what was kept does not have.
    private struct Secret: OutboxEndpoint {
        typealias Output = Payload
        var card = "4111"
        var route: Route { .post("/pay") }
        var body: HTTPBody { .text(card) }
        var parameters: NoParameters { NoParameters() }
        var options: CallOptions { .sealed.with { $0.authentication = .anonymous } }
        static var outboxName: String { "Secret" }
        static var outboxPolicy: OutboxPolicy { OutboxPolicy(keyLifetime: .seconds(3_600)) }
    }

    private struct NextSecret: OutboxEndpoint {
        typealias Output = Payload
        var card = "4111"
        var added: Int
        var route: Route { .post("/pay") }
        var body: HTTPBody { .text(card) }
        var parameters: NoParameters { NoParameters() }
        static var outboxName: String { "Secret" }
        static var outboxPolicy: OutboxPolicy { OutboxPolicy(keyLifetime: .seconds(3_600)) }
    }

    private struct Wrapper: Sealer {
        func seal(_ request: HTTPRequest, call: CallContext) -> HTTPRequest {
            var request = request
            request.body = .text("sealed")
            return request
        }
        func open(_ response: HTTPResponse, call: CallContext) -> HTTPResponse { response }
    }

    private static func rig(
        _ transport: any Transport, _ store: MemoryOutboxStore, _ types: [any OutboxEndpoint.Type],
        sealer: (any Sealer)? = Wrapper()
    ) async throws -> OutboxRig {
        let rig = OutboxRig(transport, store: store, types: types, cipher: TestCipher()) { configuration in
            configuration.vault = MemoryVault()
            configuration.services = ServiceRegistry([
                Service(
                    .main, [.development: "https://api.example.com"], options: .plain,
                    sealer: sealer,
                    authenticator: BearerAuthenticator())
            ])
        }
        try await rig.client.signIn(Credential("secret"))
        return rig
    }

    /// The type is another one, or is gone: an extension does not list it.
    private static let later: [[any OutboxEndpoint.Type]] = [[NextSecret.self], []]

    @Test(
        "What was sealed is sealed, and what went without a credential does, where the endpoint is not to be read",
        arguments: [0, 1])
    func unreadable(types: Int) async throws {
        let store = MemoryOutboxStore()
        _ = try await Self.rig(StubTransport(), store, [Secret.self]).outbox.put(Secret())
        let stub = StubTransport { _ in .json("{}") }
        let rig = try await Self.rig(stub, store, Self.later[types])
        rig.outbox.start()
        await rig.advance { !stub.requests.isEmpty }
        await rig.outbox.close()
        #expect(stub.requests.map(\.text) == ["sealed"])
        #expect(stub.requests.allSatisfy { !$0.fields.contains(.authorization) })
    }

    @Test("What was sealed is on the list of the undeliverable where nothing seals it any more, and is not sent")
    func noSealer() async throws {
        for types in [[Secret.self] as [any OutboxEndpoint.Type]] + Self.later {
            let store = MemoryOutboxStore()
            let id = try await Self.rig(StubTransport(), store, [Secret.self]).outbox.put(Secret()).id
            let stub = StubTransport { _ in .json("{}") }
            let rig = try await Self.rig(stub, store, types, sealer: nil)
            let receipt = try #require(try await rig.outbox.receipt(for: id, Secret.self))
            rig.outbox.start()
            await rig.advance(until: receipt)
            #expect(receipt.state == .undeliverable(OutboxFailure(.blocked)))
            #expect(stub.requests.isEmpty)
            await #expect { try await receipt.value } throws: { "\($0)".contains("no sealer") }
            await rig.outbox.close()
        }
    }

    @Test(
        "A write in doubt is not sent after its key is forgotten, where its endpoint is not to be read",
        arguments: [0, 1])
    func keyLifetime(types: Int) async throws {
        let store = MemoryOutboxStore()
        let lost = StubTransport { _ throws(TransportError) in
            throw TransportError(.connectionLost, sendState: .maybeProcessed)
        }
        let first = try await Self.rig(lost, store, [Secret.self])
        let receipt = try await first.outbox.put(Secret())
        first.outbox.start()
        await first.advance { receipt.state.isWaiting }
        await first.outbox.close()
        let rig = try await Self.rig(StubTransport { _ in .json("{}") }, store, Self.later[types])
        rig.clock.advance(by: .seconds(7_200))
        let second = try #require(try await rig.outbox.receipt(for: receipt.id, Secret.self))
        rig.outbox.start()
        await rig.advance(until: second)
        #expect(second.state == .undeliverable(OutboxFailure(.keyExpired, mayBeProcessed: true)))
        await rig.outbox.close()
    }

    @Test("What an endpoint says of whom it trusts cannot be kept: without its type it is not sent, and it is said why")
    func trust() async throws {
        struct Picky: OutboxEndpoint {
            typealias Output = Payload
            var route: Route { .post("/pay") }
            var options: CallOptions { .with { $0.proxy = ProxyPolicy.none } }
        }
        let store = MemoryOutboxStore()
        let id = try await Self.rig(StubTransport(), store, [Picky.self]).outbox.put(Picky()).id
        let stub = StubTransport { _ in .json("{}") }
        let rig = try await Self.rig(stub, store, [])
        let receipt = try #require(try await rig.outbox.receipt(for: id, Picky.self))
        rig.outbox.start()
        await rig.advance(until: receipt)
        #expect(receipt.state == .undeliverable(OutboxFailure(.blocked)) && stub.requests.isEmpty)
        await #expect { try await receipt.value } throws: { "\($0)".contains("Picky says whom it trusts") }
        await rig.outbox.close()
    }

    @Test(
        "The options that are kept come back as they were, and those of an earlier version, which kept none, are none")
    func roundTrip() throws {
        struct Full: OutboxEndpoint {
            typealias Output = Payload
            var route: Route { .post("/pay") }
            var envelope: EnvelopeChoice { .none }
            var options: CallOptions {
                .with { options in
                    options.sealing = .plain
                    options.authentication = .automatic
                    options.redirects = RedirectPolicy(limit: 3, crossOriginFields: ["X-Trace"])
                    options.status = .codes(200..<300, 409..<410).openingEnvelopeOfFailures()
                    options.tags = ["a", "b"]
                    options.priority = .background
                }
            }
            static var outboxPolicy: OutboxPolicy {
                OutboxPolicy(
                    lifetime: .seconds(Int64.max), keyLifetime: .seconds(1), baseDelay: .milliseconds(250),
                    maximumDelay: .seconds(3), maximumHint: .seconds(4), conflictLimit: 5)
            }
        }
        let terms = OutboxTerms(of: Full(), isSealed: false, environment: "test")
        let read = try JSONDecoder().decode(OutboxTerms.self, from: try JSONEncoder().encode(terms))
        #expect(read == terms)
        let (options, own) = (UnknownWrite(service: "main", read).options, Full().options)
        #expect(options.sealing == .plain && options.authentication == .automatic)
        #expect(options.redirects == own.redirects && options.status == own.status)
        #expect(options.tags == ["a", "b"] && options.priority == .background)
        #expect(UnknownWrite(service: "main", read).envelope == .none)
        #expect(read.ownOptions(in: .development).environment == .test)
        let policy = read.policy?.whole
        #expect(policy?.keyLifetime == .seconds(1) && policy?.baseDelay == .milliseconds(250))
        #expect(policy?.conflictLimit == 5 && policy.map { $0.lifetime > .seconds(1e9) } == true)
        #expect(UnknownWrite(service: "main").options.isEmpty)
        #expect(UnknownWrite(service: "main").envelope == .ofService)
        let wild =
            #"{"isSealed":false,"status":{"accepted":[[0,9223372036854775807]],"opensEnvelopeOfFailures":false}}"#
        let hostile = try JSONDecoder().decode(OutboxTerms.self, from: Data(wild.utf8))
        #expect(hostile.options.status?.accepts(200) == false, "no number in a file ends the app")
    }

    // MARK: Environments

    private struct Report: OutboxEndpoint {
        typealias Output = Void
        var environment: String
        var text = "a"
        var route: Route { .put("/reports") }
        var parameters: NoParameters { NoParameters() }
        var options: CallOptions { .with { $0.environment = .custom(environment) } }
        var fold: OutboxFold? { "report" }
    }

    @Test(
        "A write whose options name an environment is on the lists and is sent there, in the lane of that environment")
    func environment() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let rig = OutboxRig(stub, types: [Report.self])
        let test = try await rig.outbox.put(Report(environment: "test"))
        let own = try await rig.outbox.put(Report(environment: "development"))
        #expect(try await rig.outbox.counts() == OutboxCounts(pending: 2), "neither takes the other's place")
        #expect(try await rig.outbox.pending().map(\.id) == [test.id, own.id])
        rig.outbox.start()
        try await test.value
        try await own.value
        #expect(Set(stub.requests.map(\.url.host)) == ["test.example.com", "api.example.com"])
        #expect(try await rig.outbox.counts() == OutboxCounts())
        await rig.outbox.close()
    }

    @Test("A toggle whose write names an environment finds what waits of it")
    func toggle() async throws {
        struct SetMark: OutboxEndpoint {
            typealias Output = Void
            var isOn: Bool
            var route: Route { .put("/mark") }
            var options: CallOptions { .with { $0.environment = .test } }
            var fold: OutboxFold? { "mark" }
        }
        let store = MemoryOutboxStore()
        for isOn in [false, true] {
            let stub = StubTransport { _ in HTTPResponse(status: 200) }
            let rig = OutboxRig(stub, store: store, types: [SetMark.self])
            let mark = try await OutboxToggle("mark", initially: false, in: rig.outbox) { SetMark(isOn: $0) }
            #expect(mark.value == isOn)
            mark.set(true)
            try await mark.stored()
        }
    }

    @Test("A write that names an environment waits while another user is there")
    func environmentOfAnother() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let rig = OutboxRig(stub, types: [Report.self])
        let receipt = try await rig.outbox.put(Report(environment: "test"))
        rig.user.withLock { $0 = "bert" }
        rig.outbox.start()
        try await rig.outbox.put(Report(environment: "test", text: "b")).value
        #expect(receipt.state == .queued && stub.requests.count == 1)
        rig.user.withLock { $0 = "anna" }
        rig.outbox.wake()
        try await receipt.value
        await rig.outbox.close()
    }
}
